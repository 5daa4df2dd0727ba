//! What the importer promises, in one test program.

#[cfg(test)]
mod model;
#[cfg(test)]
mod writer;
