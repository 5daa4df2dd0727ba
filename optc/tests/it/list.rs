//! What `optc passes NAME` and `optc ops NAME` say.

use std::process::Command;

#[test]
fn the_rules_of_canonicalize_are_listed_with_what_they_do() {
    let output = Command::new(env!("CARGO_BIN_EXE_optc")).args(["passes", "canonicalize"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let line =
        |name: &str| printed.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
    assert!(line("negf-negf").ends_with("(arith.negf (arith.negf ?x)) => ?x"), "{printed}");
    assert!(
        line("for-of-one-turn").ends_with("A loop with one iteration is replaced by its body."),
        "{printed}"
    );
}

/// What `optc ops NAME` prints, on either stream.
fn ops(name: &str) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_optc")).args(["ops", name]).output().expect("the command runs");
    String::from_utf8([output.stdout, output.stderr].concat()).expect("it prints text")
}

#[test]
fn an_operation_is_found_without_its_dialect_and_a_dialect_lists_its_operations() {
    assert_eq!(ops("conv2d"), "error: there is no operation `conv2d` (did you mean `nn.conv2d`?)\n");
    let listed = ops("cf");
    assert!(listed.lines().all(|line| line.starts_with("cf.")) && listed.contains("cf.cond_br"), "{listed}");
}

#[test]
fn types_of_operands_are_told_in_words() {
    let described = ops("arith.addf");
    assert!(described.contains("operand lhs: a float, or a vector or tensor of floats"), "{described}");
}

#[test]
fn operators_of_onnx_are_listed_with_versions_and_attributes() {
    let onnx = |names: &[&str]| {
        let args = [&["ops", "--onnx"], names].concat();
        let output = Command::new(env!("CARGO_BIN_EXE_optc")).args(args).output().expect("the command runs");
        String::from_utf8([output.stdout, output.stderr].concat()).expect("it prints text")
    };
    assert!(onnx(&["Gemm"]).starts_with("Gemm  "), "{}", onnx(&["Gemm"]));
    assert!(onnx(&["Gemm"]).trim_end().ends_with("alpha, beta, broadcast, transA, transB"));
    assert_eq!(onnx(&["gemm"]), "error: there is no operator of ONNX `gemm` (did you mean `Gemm`?)\n");
    assert!(onnx(&[]).lines().count() > 150, "all are listed");
}
