//! The results of programs of the language, and the messages about faulty programs.

use optc::prelude::*;
use toy_tensors::{build, compile};

const PROGRAM: &str = "
input x [2, 3]
let w = [[1, 0], [0, 1], [1, 1]]
let h = relu(x @ w - 0.5)       # sizes broadcast
output softmax(h, 1)
output sum(h * h, 0) / 2
";

#[test]
fn a_program_computes_what_it_says() {
    let mut model = compile(PROGRAM, &CompileOptions::default()).expect("the program is right");
    let x = Array::of("x", &[2, 3], &[1.0f32, 2.0, 3.0, -1.0, -2.0, 0.0]);
    let outputs = model.run(&[x]).expect("it runs");
    // h = [[3.5, 4.5], [0, 0]].
    let first = 1.0 / (1.0 + 1.0f64.exp());
    let expected = [vec![first, 1.0 - first, 0.5, 0.5], vec![3.5 * 3.5 / 2.0, 4.5 * 4.5 / 2.0]];
    for (output, expected) in outputs.iter().zip(expected) {
        let found = output.to_f64();
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?} {expected:?}");
    }
}

#[test]
fn the_plan_is_in_the_module() {
    let mut module = build(PROGRAM).expect("the program is right");
    optc::run_pipeline(&mut module, "fuse,inplace,plan", &RunOptions::new(Cpu::native()))
        .expect("it is planned");
    let body = module.function("main").expect("the function");
    let plan = optc::codegen::ReadPlan::of(&module.ctx, body).expect("the plan is whole");
    assert!(plan.arena_bytes > 0);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let fault = |text: &str| build(text).map(|_| ()).expect_err(text);
    assert_eq!(fault("input x [2, 3]\noutput y"), "line 2: nothing is called `y`");
    assert_eq!(fault("input x 2"), "line 1: expected `input NAME [SIZE, ...]`");
    assert_eq!(fault("output [[1, 2], [3]]"), "line 1: the rows of an array are equally long");
    assert!(fault("input x [2, 3]\noutput x @ x").starts_with("line 2: "));
    assert!(fault("input x [2]\noutput cos(x)").contains("no function `cos`"));
}

#[test]
fn the_example_is_short() {
    assert!(include_str!("../src/lib.rs").lines().count() <= 250);
}
