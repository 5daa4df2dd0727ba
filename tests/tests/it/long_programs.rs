//! That programs are planned in time that grows as their length does: chains, fans, values that grow, slices
//! of one value, and many branches, blocks and loops.

use std::sync::Arc;
use std::time::Duration;

use codegen::Cpu;
use ir::text::parse;
use ir::{Context, Module};
use optc::compile::complete;
use optc::{Failure, Goal, run_pipeline};
use passes::manager::{Report, RunOptions};

use crate::{cpu_time, slow_in_each};

const ROWS: &str = "tensor<4x16xf32>";
const MOST: &str = "tensor<4x1xf32>";

/// A function of `count` repetitions of lines.
struct Program {
    args: String,
    lines: String,
    result: String,
    ty: String,
}

impl Program {
    fn of(count: usize, line: impl Fn(usize) -> String, result: String) -> Program {
        let args = format!("%c: i1, %x: {ROWS}");
        Program { args, lines: (0..count).map(line).collect(), result, ty: ROWS.to_owned() }
    }

    fn text(&self) -> String {
        let Program { args, lines, result, ty } = self;
        format!("func.func @main({args}) -> {ty} {{\n{lines}  return {result} : {ty}\n}}\n")
    }
}

/// A program with that number of repetitions.
type Family = fn(usize) -> Program;

/// The value before the one with a number: `%3` for 4.
fn before(i: usize) -> String {
    i.checked_sub(1).map_or_else(|| "%x".to_owned(), |i| format!("%{i}"))
}

fn chain(count: usize) -> Program {
    let names = ["neg", "tanh", "exp"];
    Program::of(count, |i| format!("  %{i} = nn.{} {} : {ROWS}\n", names[i % 3], before(i)), before(count))
}

fn steps(count: usize) -> Program {
    let line = |i: usize| format!("  %{i} = nn.softmax {} {{axis = 1 : i64}} : {ROWS}\n", before(i));
    Program::of(count, line, before(count))
}

/// Values that are all live at once, and their sum.
fn fan(count: usize) -> Program {
    let line = |i: usize| format!("  %a{i} = nn.softmax %x {{axis = {} : i64}} : {ROWS}\n", i % 2);
    let mut program = Program::of(count, line, before(count));
    let sums = (0..count).map(|i| format!("  %{i} = nn.add {}, %a{i} : {ROWS}\n", before(i)));
    program.lines.extend(sums);
    program
}

fn slices(count: usize) -> Program {
    let all = format!("tensor<{}x16xf32>", 4 * count);
    let line = |i: usize| {
        let start = 4 * i;
        format!(
            "  %s{i} = nn.slice %all {{starts = array<i64: {start}, 0>, sizes = array<i64: 4, 16>, \
             strides = array<i64: 1, 1>}} : ({all}) -> {ROWS}\n  %{i} = nn.add {}, %s{i} : {ROWS}\n",
            before(i)
        )
    };
    let program = Program::of(count, line, before(count));
    Program { args: format!("{}, %all: {all}", program.args), ..program }
}

/// The same of a value that is computed.
fn slices_of_a_result(count: usize) -> Program {
    let program = slices(count);
    let all = format!("tensor<{}x16xf32>", 4 * count);
    let lines = program.lines.replace("nn.slice %all", "nn.slice %most");
    Program { lines: format!("  %most = nn.exp %all : {all}\n{lines}"), ..program }
}

/// Values of which a part is read again.
fn parts(count: usize) -> Program {
    let row = "tensor<1x16xf32>";
    let line = |i: usize| {
        format!(
            "  %t{i} = nn.softmax {} {{axis = 1 : i64}} : {ROWS}\n  \
             %s{i} = nn.slice %t{i} {{starts = array<i64: 1, 0>, sizes = array<i64: 1, 16>, \
             strides = array<i64: 1, 1>}} : ({ROWS}) -> {row}\n  \
             %u{i} = nn.softmax %t{i} {{axis = 0 : i64}} : {ROWS}\n  \
             %{i} = nn.add %u{i}, %s{i} : ({ROWS}, {row}) -> {ROWS}\n",
            before(i)
        )
    };
    Program::of(count, line, before(count))
}

/// Values that are stored as bytes, which the passes turn into tables at the start of the function.
fn bytes(count: usize) -> Program {
    let [scalar, bytes] = ["tensor<f32>", "tensor<4x16xui8>"];
    let line = |i: usize| {
        format!(
            "  %d{i} = nn.div {}, %scale : ({ROWS}, {scalar}) -> {ROWS}\n  \
             %r{i} = nn.round %d{i} : {ROWS}\n  \
             %l{i} = nn.clip %r{i} {{hi = 2.550000e+02 : f32, lo = 0.000000e+00 : f32}} : {ROWS}\n  \
             %b{i} = nn.cast %l{i} {{to = ui8}} : ({ROWS}) -> {bytes}\n  \
             %f{i} = nn.cast %b{i} {{to = f32}} : ({bytes}) -> {ROWS}\n  \
             %m{i} = nn.mul %f{i}, %scale : ({ROWS}, {scalar}) -> {ROWS}\n  \
             %{i} = nn.tanh %m{i} : {ROWS}\n",
            before(i)
        )
    };
    let program = Program::of(count, line, before(count));
    let scale = format!("  %scale = nn.constant dense<1.000000e-01> : {scalar}\n");
    Program { lines: scale + &program.lines, ..program }
}

/// A value that grows, row by row.
fn concats(count: usize) -> Program {
    let ty = |i: usize| format!("tensor<{}x16xf32>", 4 * (i + 1));
    let line = |i: usize| {
        let (from, to) = (ty(i), ty(i + 1));
        format!("  %{i} = nn.concat {}, %x {{axis = 0 : i64}} : ({from}, {ROWS}) -> {to}\n", before(i))
    };
    Program { ty: ty(count), ..Program::of(count, line, before(count)) }
}

/// One concatenation of many values, which are computed in place in its result; every second one has rows of
/// another length, and every third is an argument, which is copied.
fn wide_concat(count: usize) -> Program {
    let columns = |i: usize| 16 + 16 * (i % 2);
    let all = (0..count).map(columns).sum::<usize>();
    let ty = |i: usize| format!("tensor<4x{}xf32>", columns(i));
    let line = |i: usize| format!("  %v{i} = nn.softmax %p{i} {{axis = 1 : i64}} : {}\n", ty(i));
    let name = |i: usize| if i % 3 == 2 { format!("%p{i}") } else { format!("%v{i}") };
    let list = |of: &dyn Fn(usize) -> String| (0..count).map(of).collect::<Vec<_>>().join(", ");
    let mut program = Program::of(count, line, "%r".to_owned());
    program.args += &(0..count).map(|i| format!(", %p{i}: {}", ty(i))).collect::<String>();
    program.lines += &format!(
        "  %all = nn.concat {} {{axis = 1 : i64}} : ({}) -> tensor<4x{all}xf32>\n  \
         %r = nn.reduce_max %all {{axes = array<i64: 1>, keepdims}} : (tensor<4x{all}xf32>) -> {MOST}\n",
        list(&name),
        list(&ty)
    );
    Program { ty: MOST.to_owned(), ..program }
}

fn branches(count: usize) -> Program {
    let line = |i: usize| {
        let before = before(i);
        format!(
            "  %{i} = scf.if %c -> ({ROWS}) {{\n    %a = nn.tanh {before} : {ROWS}\n    \
             scf.yield %a : {ROWS}\n  }} else {{\n    scf.yield {before} : {ROWS}\n  }}\n"
        )
    };
    Program::of(count, line, before(count))
}

/// Blocks that may all leave to the last one.
fn early_ends(count: usize) -> Program {
    let line = |i: usize| {
        format!("  %v{i} = nn.tanh %x : {ROWS}\n  cf.cond_br %c, ^b{i}, ^e(%v{i} : {ROWS})\n^b{i}:\n")
    };
    let mut program = Program::of(count, line, "%r".to_owned());
    program.lines += &format!("  cf.br ^e(%x : {ROWS})\n^e(%r: {ROWS}):\n");
    program
}

fn loops(count: usize) -> Program {
    let line = |i: usize| {
        let next = i + 1;
        format!(
            "^b{i}(%a{i}: {ROWS}):\n  %t{i} = nn.tanh %a{i} : {ROWS}\n  \
             cf.cond_br %c, ^b{next}(%t{i} : {ROWS}), ^b{i}(%t{i} : {ROWS})\n"
        )
    };
    let mut program = Program::of(count, line, "%r".to_owned());
    program.lines = format!("  cf.br ^b0(%x : {ROWS})\n{}^b{count}(%r: {ROWS}):\n", program.lines);
    program
}

/// The time to read a program and to change it.
fn time(program: &Program, change: impl Fn(&mut Module) -> Result<Report, Failure>) -> Duration {
    let begin = cpu_time();
    let ctx = Arc::new(Context::new());
    let mut module =
        parse(&ctx, "t", program.text()).unwrap_or_else(|faults| panic!("{}", faults[0].message));
    change(&mut module).unwrap_or_else(|failure| panic!("{failure}"));
    cpu_time() - begin
}

/// The time to plan a program, and the time of passes that are not on the way to its plan.
fn times(program: &Program) -> [Duration; 2] {
    [
        time(program, |module| complete(module, "main", 1, Goal::Balanced)),
        time(program, |module| run_pipeline(module, "canonicalize,cse,dce", &RunOptions::new(Cpu::native()))),
    ]
}

/// Eight times the length may take 24 times as long, as a machine is not always as fast; what is searched
/// whole for each of its operations takes 64 times as long.
#[test]
fn programs_are_planned_in_time_that_grows_as_their_length() {
    const LEAST: Duration = Duration::from_millis(10);
    let families: [(&str, Family); 12] = [
        ("a chain", chain),
        ("steps", steps),
        ("a fan", fan),
        ("slices", slices),
        ("slices of a result", slices_of_a_result),
        ("parts", parts),
        ("bytes", bytes),
        ("concatenations", concats),
        ("a wide concatenation", wide_concat),
        ("branches", branches),
        ("early ends", early_ends),
        ("loops", loops),
    ];
    let slow = families.into_iter().filter_map(|(what, family)| {
        slow_in_each(|| {
            let [short, long] = [500, 4000].map(|count| times(&family(count)));
            let is_slow = |(short, long): (&Duration, &Duration)| *long > 24 * (*short).max(LEAST);
            short.iter().zip(&long).any(is_slow).then(|| format!("{what}: {short:?}, then {long:?}"))
        })
    });
    let slow: Vec<String> = slow.collect();
    assert!(slow.is_empty(), "{slow:#?}");
}
