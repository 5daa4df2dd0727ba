//! That bad text is refused with a location, on a small stack, in at most ten times its own memory.

use std::sync::Arc;

use ir::Context;
use ir::text::{ParseOptions, Unregistered, parse_with};

use crate::ALLOCATOR;

/// An allowance for the memory of an empty context, in bytes.
const FREE_BYTES: u64 = 1 << 20;

/// Reads a text on a stack of 2 MiB, and returns its first fault with its location, or the verifier's first
/// fault.
fn first_fault(text: String) -> String {
    let read = move || {
        let ctx = Arc::new(Context::new());
        let options = ParseOptions { unregistered: Unregistered::Allow };
        let faults = match parse_with(&ctx, "t", text, &options) {
            Ok(module) => ir::verify::verify(&module).err().unwrap_or_default(),
            Err(faults) => faults,
        };
        faults.first().map_or_else(String::new, |fault| fault.render(&ctx))
    };
    let reader = std::thread::Builder::new().stack_size(2 << 20).spawn(read);
    reader.expect("a thread can be had").join().expect("no text makes the reader panic")
}

/// Reads a text of many repetitions; its fault must contain `expected` and a location. Returns the deviation.
fn wrong(start: &str, repeated: &str, end: &str, expected: &str) -> Option<String> {
    let count = 1_000_000 / repeated.len().max(1);
    let text = [start, &repeated.repeat(count), end].concat();
    wrong_text(&format!("{start}{repeated}...{end}"), text, expected)
}

/// The deviation of the fault of a text.
fn wrong_text(what: &str, text: String, expected: &str) -> Option<String> {
    let length = text.len() as u64;
    let (fault, used) = ALLOCATOR.measure(|| first_fault(text));
    let is_told = fault.contains(expected) && fault.contains("t:");
    let is_small = used.peak_bytes <= 10 * length + FREE_BYTES;
    let bytes = used.peak_bytes;
    (!is_told || !is_small).then(|| format!("{what}: {bytes} bytes for a text of {length}: {fault:.300}"))
}

const DEEP: &str = "nests deeper than 256";

/// Nested constructs that never end.
const NESTS: [(&str, &str); 13] = [
    ("\"t\"() {a = ", "["),
    ("\"t\"() {a = ", "{a = "),
    ("\"t\"() : () -> ", "tuple<"),
    ("\"t\"() : () -> ", "("),
    ("\"t\"() {a = ", "tensor<4x"),
    ("\"t\"() {a = ", "#d.x<#d.y<"),
    ("\"t\"() {a = dense<", "["),
    ("\"t\"() {a = affine_map<(d0) -> (", "("),
    ("\"t\"() {a = loc(", "callsite("),
    ("\"t\"() {a = loc(", "fused["),
    ("", "\"t\"() ({\n"),
    ("", "module {\n"),
    ("func.func @f() {\n", "\"t\"() ({\n^a:\n"),
];

/// A prefix, the repeated text, a suffix, and the expected fault.
const TEXTS: [(&str, &str, &str, &str); 32] = [
    ("\"t\"() {a = #d.x<", "(", "", "a bracket that is never closed"),
    ("\"t\"() {a = \"", "b", "", "a string without its end"),
    ("\"t\"() {a = \"", "\\\"", "", "a string without its end"),
    ("\"t\"() : () -> tensor<", "9", "xf32>", "a size is at most 2^63 - 1"),
    ("\"t\"() : () -> tensor<", "9x", "f32>", "a shape has at most"),
    ("\"t\"() : () -> i", "9", "", "integers have at most 16777215 bits"),
    ("\"t\"() {a = ", "9", "}", "this integer does not fit `i64`"),
    (
        "\"t\"() {a = dense<[",
        "1,",
        "1]> : tensor<500001xi16777215>} : () -> ()",
        "more than the text has room for",
    ),
    ("", "\0", "", "a NUL byte"),
    ("", "\r\n", "@", "expected an operation, found `@`"),
    ("", "\u{e9}", "", "expected an operation, found `\\u{e9}`"),
    (
        "",
        "\"func.func\"() <{function_type = () -> (), sym_name = \"f\", sym_visibility = \"private\"}> ({\n}) : () -> ()\n",
        "",
        "`@f` is defined twice",
    ),
    ("", "func.func private @f()\n", "", "`@f` is defined twice"),
    ("", "func.func @f(){}\n", "", "`@f` is defined twice"),
    ("", "func.func@f(){return}", "", "`@f` is defined twice"),
    ("", "func.func@f(){^a:^b:}", "", "`@f` is defined twice"),
    ("", "func.func@f(){func.func@f(){}}", "", "ends with a terminator, found `func.func`"),
    ("", "module@f{}", "", "`@f` is defined twice"),
    ("", "module@a{module{module{module@b{}}}}", "", "`@a` is defined twice"),
    ("", "\"func.func\"()({}):()->()", "", "lacks its attribute"),
    ("", "module{func.func@f(){}}", "", "without a body is not public"),
    ("", "func.func@f(){\"a\"(%x):(i1)->()}", "", "`%x` is not defined"),
    ("", "\"t\"(%a):(i1)->()", "", "`%a` is not defined"),
    ("", "zz = []\n", "", "no operation is called `zz`"),
    ("\"t\"()({", "^a:", "}):()->()", "`^a` is defined twice"),
    ("", "\"t\"()({}):()->()", "@", "expected an operation, found `@`"),
    ("func.func@f(){", "call@g():()->()", "return}", "nothing is called `@g`"),
    ("func.func @f() {\n", "  %x = \"t\"() : () -> i8\n", "  return\n}", "`%x` is defined twice"),
    ("\"t\"(", "%x, ", "%x) : () -> ()", "operations have at most 65535 operands"),
    ("#a = [#a]\n", "#a = [#a]\n", "", "nothing is called `#a`"),
    ("module {\n", "  \"t\"(%u) : (i8) -> ()\n", "}", "`%u` is not defined"),
    ("module {\n", "  \"u.\"() : () -> ()\n", "", "the end of the text"),
];

/// All in one test, since allocations are counted for all threads together.
#[test]
fn bad_text_is_refused_in_ten_times_its_memory() {
    let nests = NESTS.into_iter().map(|(start, open)| (start, open, "", DEEP));
    let mut found: Vec<String> = nests
        .chain(TEXTS)
        .filter_map(|(start, repeated, end, expected)| wrong(start, repeated, end, expected))
        .collect();
    // No symbol is defined twice, but each breaks a rule of the IR.
    let functions: String = (0..50_000).map(|i| format!("func.func@f{i}(){{}}")).collect();
    found.extend(wrong_text("functions", functions, "without a body is not public"));
    assert!(found.is_empty(), "{found:#?}");
}

/// Each alias contains the one before twice: expanded, they would have 2^120 parts.
#[test]
fn aliases_that_double_cost_what_they_are_written_with() {
    let double = |i: usize| format!("#a{} = [#a{i}, #a{i}]\n", i + 1);
    let text = "#a0 = [1]\n".to_owned() + &(0..120).map(double).collect::<String>();
    assert_eq!(first_fault(text.clone() + "\"t\"() {a = #a120} : () -> ()"), "");
    assert!(
        first_fault(text + "\"t\"() {a = [[[[[[[[[[[[[[[[[[[[#a120]]]]]]]]]]]]]]]]]]]]} : () -> ()")
            .contains(DEEP)
    );
}
