//! The `optc` command.

fn main() {}
