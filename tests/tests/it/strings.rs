//! That programs move and compare strings, in machine code and in the interpreter, and that their results are
//! text again.

use optc::interpret::interpret;
use optc::{Array, CompileOptions, Model};
use runtime::ElementKind;

/// The results of a program, equal in both.
fn run(text: &str, inputs: &[Array]) -> Vec<Array> {
    let mut module = parse(text);
    let expected = interpret(&module, "main", inputs).unwrap_or_else(|failure| panic!("{failure}"));
    let model = Model::compile(&mut module, &CompileOptions::default());
    let found = model.unwrap_or_else(|failure| panic!("{failure}")).run(inputs);
    let found = found.unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(found, expected);
    found
}

fn parse(text: &str) -> ir::Module {
    let module = optc::parse("strings.mlir", text.to_owned(), None, &Default::default());
    module.unwrap_or_else(|failure| panic!("{failure}"))
}

const WORDS: &str = r#"func.func @main(%x: tensor<3x!optc.string>, %i: tensor<2xi64>)
    -> (tensor<4x!optc.string>, tensor<3xi1>) {
  %w = nn.constant dense<["", "other"]> : tensor<2x!optc.string>
  %g = nn.gather %x, %i : (tensor<3x!optc.string>, tensor<2xi64>) -> tensor<2x!optc.string>
  %y = nn.concat %g, %w {axis = 0} : (tensor<2x!optc.string>, tensor<2x!optc.string>) -> tensor<4x!optc.string>
  %a = nn.constant dense<"a"> : tensor<3x!optc.string>
  %xb = nn.bitcast %x {to = i64} : (tensor<3x!optc.string>) -> tensor<3xi64>
  %ab = nn.bitcast %a {to = i64} : (tensor<3x!optc.string>) -> tensor<3xi64>
  %e = nn.eq %xb, %ab : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  return %y, %e : tensor<4x!optc.string>, tensor<3xi1>
}"#;

#[test]
fn strings_are_moved_and_compared() {
    let x = Array::strings("x", &[3], &["a", "的", "a"]).unwrap();
    let outputs = run(WORDS, &[x, Array::of("i", &[2], &[1i64, 0])]);
    assert_eq!(outputs[0].to_strings().unwrap(), ["的", "a", "", "other"]);
    assert_eq!(outputs[1].bytes, [1, 0, 1]);
}

#[test]
fn a_program_with_strings_is_read_as_it_was_printed() {
    let printed = ir::text::print(&parse(WORDS));
    assert!(printed.contains(r#"dense<["", "other"]> : tensor<2x!optc.string>"#), "{printed}");
    assert_eq!(ir::text::print(&parse(&printed)), printed);
}

#[test]
fn constants_of_strings_are_folded_to_strings() {
    let text = r#"func.func @main() -> tensor<3x!optc.string> {
  %w = nn.constant dense<["p", "q", "r"]> : tensor<3x!optc.string>
  %i = nn.constant dense<[2, 0, 1]> : tensor<3xi64>
  %y = nn.gather %w, %i : (tensor<3x!optc.string>, tensor<3xi64>) -> tensor<3x!optc.string>
  return %y : tensor<3x!optc.string>
}"#;
    assert_eq!(run(text, &[])[0].to_strings().unwrap(), ["r", "p", "q"]);
    let mut module = parse(text);
    optc::compile(&mut module, &CompileOptions::default()).unwrap_or_else(|failure| panic!("{failure}"));
    let printed = ir::text::print(&module);
    assert!(printed.contains(r#"dense<["r", "p", "q"]>"#), "{printed}");
}

#[test]
fn strings_are_not_passed_as_memory() {
    let model = Model::compile(&mut parse(WORDS), &CompileOptions::default()).unwrap();
    let refused = model.without_strings().err().expect("it takes strings").to_string();
    assert!(refused.contains("`x` holds strings"), "{refused}");
}

#[test]
fn an_output_that_is_an_input_is_copied_whatever_its_elements_are() {
    for (name, element, bytes) in [
        ("f8E5M2", ElementKind::F8E5M2, 1),
        ("f8E4M3FNUZ", ElementKind::F8E4M3FNUZ, 1),
        ("bf16", ElementKind::BF16, 2),
        ("ui16", ElementKind::U16, 2),
        ("f64", ElementKind::F64, 8),
    ] {
        let ty = format!("tensor<3x{name}>");
        let text = format!("func.func @main(%x: {ty}) -> {ty} {{\n  return %x : {ty}\n}}");
        let bytes: Vec<u8> = (1..=3 * bytes).collect();
        let input = Array { name: "x".to_owned(), element, shape: vec![3], bytes: bytes.clone() };
        assert_eq!(run(&text, &[input])[0].bytes, bytes, "{name}");
    }
}
