//! What the importer promises, in one test program.

#[cfg(test)]
mod bad_input;
mod boxes;
mod control;
mod doubles;
mod edit;
#[cfg(test)]
mod elementwise;
#[cfg(test)]
mod external;
#[cfg(test)]
mod fixture;
mod flex;
#[cfg(test)]
mod functions;
mod fuzz;
#[cfg(test)]
mod images;
mod learned;
#[cfg(test)]
mod model;
mod networks;
mod numbers;
mod open;
mod operators;
mod random;
#[cfg(test)]
mod reading;
mod required;
mod resize;
mod sequences;
mod shapes;
mod sizes;
#[cfg(test)]
mod strings;
#[cfg(test)]
mod synth;
#[cfg(test)]
mod text;
#[cfg(test)]
mod values;
mod windows;
#[cfg(test)]
mod writer;
