//! That bad text is refused with a location, on a small stack, in at most ten times its own memory, and that
//! any text, good or bad, is read in time that grows as its length does.

use std::sync::Arc;
use std::time::Duration;

use ir::Context;
use ir::text::{ParseOptions, Unregistered, parse_with};

use crate::{ALLOCATOR, cpu_time, slow_in_each};

/// An allowance for the memory of an empty context, in bytes.
const FREE_BYTES: u64 = 1 << 20;

/// The first fault of a text with its location, or the verifier's first fault; empty without faults.
fn first_fault(text: String) -> String {
    read(text).0
}

/// Reads and verifies a text on a stack of 2 MiB; its first fault, and the time that it took.
fn read(text: String) -> (String, Duration) {
    let read = move || {
        let begin = cpu_time();
        let ctx = Arc::new(Context::new());
        let options = ParseOptions { unregistered: Unregistered::Allow };
        let faults = match parse_with(&ctx, "t", text, &options) {
            Ok(module) => ir::verify::verify(&module).err().unwrap_or_default(),
            Err(faults) => faults,
        };
        let said: Vec<String> = faults.iter().map(|fault| fault.render(&ctx)).collect();
        let time = cpu_time() - begin;
        (said.into_iter().next().unwrap_or_default(), time)
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

/// Functions of many blocks, with what they show.
fn many_blocks(count: usize) -> [(&'static str, String); 3] {
    let blocks = |of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<String>();
    let early_ends = blocks(&|i| format!("cf.cond_br %c, ^b{i}, ^e\n^b{i}:\n"));
    let late_starts = blocks(&|i| format!("^b{i}:\ncf.cond_br %c, ^b{}, ^b0\n", i + 1));
    let rows = blocks(&|i| {
        let next = i + 1;
        format!("^a{i}:\ncf.cond_br %c, ^a{next}, ^b{next}\n^b{i}:\ncf.cond_br %c, ^b{next}, ^a{next}\n")
    });
    let start = "func.func @f(%c: i1) {\n";
    let end = "return\n}";
    [
        ("blocks that leave to one", format!("{start}{early_ends}cf.br ^e\n^e:\n{end}")),
        ("blocks that return to one", format!("{start}cf.br ^b0\n{late_starts}^b{count}:\n{end}")),
        (
            "blocks in two rows",
            format!("{start}cf.cond_br %c, ^a0, ^b0\n{rows}^a{count}:\nreturn\n^b{count}:\n{end}"),
        ),
    ]
}

/// Right texts of many parts that differ, with what they show.
fn many_parts(count: usize) -> [(&'static str, String); 7] {
    let lines = |of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<String>();
    let list = |of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<Vec<_>>().join(", ");
    let elements = list(&|i| i.to_string() + ".5");
    let uses = lines(&|i| format!("\"u\"(%a{i}) : (i32) -> ()\n"));
    let definitions = lines(&|i| format!("%a{i} = \"d\"() : () -> i32\n"));
    [
        ("attributes", format!("\"t\"() {{{}}} : () -> ()", list(&|i| format!("a{i} = {i}")))),
        ("arguments", format!("func.func @f({}) {{\nreturn\n}}", list(&|i| format!("%a{i}: i32")))),
        ("aliases", lines(&|i| format!("#a{i} = [{i}]\n"))),
        ("functions", lines(&|i| format!("func.func @f{i}() {{\ncall @f0() : () -> ()\nreturn\n}}\n"))),
        ("types", lines(&|i| format!("\"t\"() : () -> tensor<{i}xf32>\n"))),
        ("elements", format!("\"t\"() {{a = dense<[{elements}]> : tensor<{count}xf32>}} : () -> ()")),
        ("uses before definitions", format!("\"r\"() ({{\n{uses}{definitions}}}) : () -> ()")),
    ]
}

/// The texts that are repeated above, and right ones, in which each operation or block costs little only if
/// nothing is searched from the start, or to the end, for it.
fn long_texts(length: usize) -> Vec<(String, String)> {
    let repeat = |start: &str, repeated: &str, end: &str| {
        let text = [start, &repeated.repeat(length / repeated.len()), end].concat();
        (format!("{start}{repeated}...{end}"), text)
    };
    let nests = NESTS.map(|(start, open)| repeat(start, open, ""));
    let texts = TEXTS.map(|(start, repeated, end, _)| repeat(start, repeated, end));
    let lines = [
        repeat("\"r\"() ({ %a = \"d\"() : () -> i32 ", "\"u\"(%a) : (i32) -> () ", "}) : () -> ()"),
        repeat("", "\"t\"() : () -> () ", ""),
        repeat("\"t\"() : () -> () ", "loc(\"", ""),
        repeat("\"t\"() : () -> () ", "@\"\\", ""),
        repeat("\"t\"() : () -> () ", "#d.x<\"", ""),
    ];
    let count = length / 40;
    let named = many_blocks(count).into_iter().chain(many_parts(count));
    let named = named.map(|(what, text)| (what.to_owned(), text));
    nests.into_iter().chain(texts).chain(lines).chain(named).collect()
}

/// Eight times the length may take 24 times as long, as a machine is not always as fast; a search through all
/// of the text for each of its parts takes 64 times as long.
#[test]
fn text_is_read_in_time_that_grows_as_its_length() {
    const LEAST: Duration = Duration::from_millis(10);
    let pairs = long_texts(100_000).into_iter().zip(long_texts(800_000));
    let slow = pairs.filter_map(|((what, short), (_, long))| {
        slow_in_each(|| {
            let short_time = read(short.clone()).1;
            let (said, long_time) = read(long.clone());
            let is_slow = long_time > 24 * short_time.max(LEAST);
            is_slow.then(|| format!("{what}: {short_time:?}, then {long_time:?}: {said:.100}"))
        })
    });
    let slow: Vec<String> = slow.collect();
    assert!(slow.is_empty(), "{slow:#?}");
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
