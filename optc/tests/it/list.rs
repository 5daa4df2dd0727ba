//! What `optc passes NAME` says.

use std::process::Command;

#[test]
fn the_rules_of_canonicalize_are_listed_with_what_they_do() {
    let output = Command::new(env!("CARGO_BIN_EXE_optc")).args(["passes", "canonicalize"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let line =
        |name: &str| printed.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
    assert!(line("negf-negf").ends_with("(arith.negf (arith.negf ?x)) => ?x"), "{printed}");
    assert!(line("for-of-one-turn").ends_with("A loop that runs once is what it runs."), "{printed}");
}
