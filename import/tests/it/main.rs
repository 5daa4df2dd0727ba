//! What the importer promises, in one test program.

mod bad_input;
mod elementwise;
mod external;
mod fixture;
mod fuzz;
mod model;
mod open;
mod operators;
mod required;
mod sizes;
mod synth;
mod text;
mod values;
mod writer;
