//! What the importer promises, in one test program.

mod attention;
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
mod going_back;
mod graphs;
#[cfg(test)]
mod images;
mod known;
mod learned;
#[cfg(test)]
mod model;
mod networks;
mod numbers;
mod open;
mod operators;
mod picking;
mod random;
#[cfg(test)]
mod reading;
mod recurrent;
mod required;
mod resize;
mod sampled;
mod sequences;
mod shapes;
mod signals;
mod sizes;
mod sliding;
mod small_numbers;
#[cfg(test)]
mod strings;
#[cfg(test)]
mod synth;
#[cfg(test)]
mod text;
#[cfg(test)]
mod values;
mod walks;
mod windows;
#[cfg(test)]
mod writer;
