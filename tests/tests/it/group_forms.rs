//! Groups of all forms around each contraction and normalization: machine code computes the meaning of their
//! bodies, or the program is refused.
//!
//! `fuse` makes only groups of the kernels' forms; a program's text may have others.

use std::sync::Arc;

use ir::interp;
use ir::{Context, Module};
use optc::{CompileOptions, DeadMemory};
use tests::layouts::Content;
use tests::programs::{array, execute, floats, interpret};
use tests::random::Random;
use tests::workspace::root;

use crate::kernel_layouts::{compare, inputs};

const IMAGE: &str = "tensor<1x4x5x16xf32>";

/// An operand of a step of a body in addition to the value before it: an argument of the group, with its
/// sizes.
#[derive(Clone, Copy)]
struct Other {
    name: &'static str,
    shape: &'static [u64],
}

const OTHERS: [Other; 6] = [
    Other { name: "channels", shape: &[16] },
    Other { name: "one", shape: &[1] },
    Other { name: "columns", shape: &[5, 1] },
    Other { name: "rows", shape: &[4, 1, 1] },
    Other { name: "whole", shape: &[1, 4, 5, 16] },
    Other { name: "thin", shape: &[1, 1, 1, 16] },
];

impl Other {
    fn ty(self) -> String {
        let sizes: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        format!("tensor<{}xf32>", sizes.join("x"))
    }
}

/// A step: a function of the value before it, or of that and another on either side.
#[derive(Clone, Copy)]
enum Step {
    Unary(&'static str),
    Right(&'static str, Other),
    Left(&'static str, Other),
}

impl Step {
    fn text(self, to: &str, from: &str) -> String {
        match self {
            Step::Unary(op) => format!("    {to} = {op} {from} : {IMAGE}\n"),
            Step::Right(op, other) => {
                format!("    {to} = {op} {from}, %{} : ({IMAGE}, {}) -> {IMAGE}\n", other.name, other.ty())
            }
            Step::Left(op, other) => {
                format!("    {to} = {op} %{}, {from} : ({}, {IMAGE}) -> {IMAGE}\n", other.name, other.ty())
            }
        }
    }
}

/// The root operation of the group, with the type of its weights.
const ROOTS: [(&str, &str); 5] = [
    (
        r#"nn.conv2d FROM, %w {layout = "NHWC"} : (IMAGE, tensor<16x16x1x1xf32>) -> IMAGE"#,
        "tensor<16x16x1x1xf32>",
    ),
    (
        r#"nn.conv2d FROM, %w {layout = "NHWC", pads = array<i64: 1, 1, 1, 1>}
      : (IMAGE, tensor<16x16x3x3xf32>) -> IMAGE"#,
        "tensor<16x16x3x3xf32>",
    ),
    ("nn.matmul FROM, %w : (IMAGE, tensor<16x16xf32>) -> IMAGE", "tensor<16x16xf32>"),
    (
        "nn.group_norm FROM, %w, %w {axis = 3 : i64, axes = array<i64>, groups = 1 : i64}
      : (IMAGE, tensor<16xf32>, tensor<16xf32>) -> IMAGE",
        "tensor<16xf32>",
    ),
    (
        "nn.group_norm FROM, %w, %w {axis = 3 : i64, axes = array<i64: 1, 2>, groups = 4 : i64}
      : (IMAGE, tensor<16xf32>, tensor<16xf32>) -> IMAGE",
        "tensor<16xf32>",
    ),
];

/// The values that a group yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Yields {
    Last,
    LastAndFirst,
}

fn program(root: usize, before: &[Step], after: &[Step], yields: Yields) -> String {
    let (root, weights) = ROOTS[root];
    let mut body = String::new();
    let mut value = "%x".to_owned();
    let mut push = |step: &dyn Fn(&str, &str) -> String| {
        let next = format!("%v{}", body.len());
        body.push_str(&step(&next, &value));
        value = next;
    };
    before.iter().for_each(|step| push(&|to, from| step.text(to, from)));
    push(&|to, from| format!("    {to} = {}\n", root.replace("FROM", from).replace("IMAGE", IMAGE)));
    after.iter().for_each(|step| push(&|to, from| step.text(to, from)));
    let first = if before.is_empty() { "%x" } else { "%v0" };
    let (yielded, count) = match yields {
        Yields::Last => (value.clone(), 1),
        Yields::LastAndFirst => (format!("{value}, {first}"), 2),
    };
    let list = |what: &str| vec![what; count].join(", ");
    let args: Vec<String> = OTHERS.iter().map(|other| format!("%a_{}: {}", other.name, other.ty())).collect();
    let operands: Vec<String> = OTHERS.iter().map(|other| format!("%{0} = %a_{0}", other.name)).collect();
    let types: Vec<String> = OTHERS.iter().map(|other| other.ty()).collect();
    let results = if count == 1 { "%r" } else { "%r, %s" };
    format!(
        "func.func @main(%arg: {IMAGE}, {}) -> ({}) {{
  %c = nn.constant dense<0.1> : {weights}
  {results} = optc.group(%x = %arg, %w = %c, {}) : ({IMAGE}, {weights}, {}) -> ({}) {{
{body}    optc.yield {yielded} : {}
  }}
  return {results} : {}
}}",
        args.join(", "),
        list(IMAGE),
        operands.join(", "),
        types.join(", "),
        list(IMAGE),
        list(IMAGE),
        list(IMAGE),
    )
}

/// The steps before or after the root: none, one, or two.
fn steps() -> Vec<Vec<Step>> {
    let [channels, .., whole, thin] = OTHERS;
    let mut found = vec![Vec::new()];
    found.extend([Step::Unary("nn.relu"), Step::Unary("nn.neg")].map(|step| vec![step]));
    for op in ["nn.mul", "nn.add"] {
        found.extend(OTHERS.map(|other| vec![Step::Right(op, other)]));
        found.extend([channels, whole, thin].map(|other| vec![Step::Left(op, other)]));
    }
    let scale = Step::Right("nn.mul", channels);
    let shift = Step::Right("nn.add", channels);
    let relu = Step::Unary("nn.relu");
    found.extend([vec![scale, shift], vec![shift, scale], vec![scale, relu], vec![relu, relu]]);
    found.extend([vec![shift, relu], vec![Step::Right("nn.add", whole), shift], vec![relu, shift]]);
    found
}

/// Whether machine code supports a program and computes the interpreter's results.
fn is_computed(text: &str, random: &mut Random) -> bool {
    let ctx = Arc::new(Context::new());
    let parsed = ir::text::parse(&ctx, "group.mlir", text.to_owned());
    let module: Module = parsed.unwrap_or_else(|faults| panic!("{text}\n{}", faults[0].render(&ctx)));
    let whole = [Other { name: "arg", shape: &[1, 4, 5, 16] }];
    let inputs: Vec<_> = whole
        .iter()
        .chain(&OTHERS)
        .map(|other| array(other.name, other.shape, &random.floats(other.shape.iter().product())))
        .collect();
    let expected = interpret(&module, &inputs);
    let options = CompileOptions { threads: 1, ..CompileOptions::default() };
    let Ok(found) = execute(&mut module.clone(), &inputs, &options) else { return false };
    for (found, expected) in found.iter().zip(&expected) {
        let pairs = floats(found).into_iter().zip(floats(expected));
        for (found, expected) in pairs {
            assert!(
                (found - expected).abs() < 1e-4 * (1.0 + expected.abs()),
                "{found}, not {expected}: {text}"
            );
        }
    }
    true
}

#[test]
fn a_group_of_any_form_is_computed_as_its_body_says_or_refused() {
    let mut random = Random::new(1);
    let mut computed = [0; ROOTS.len()];
    for (root, computed) in computed.iter_mut().enumerate() {
        for (before, after) in steps().iter().flat_map(|steps| [(&steps[..], &[][..]), (&[][..], &steps[..])])
        {
            for yields in [Yields::Last, Yields::LastAndFirst] {
                *computed += usize::from(is_computed(&program(root, before, after, yields), &mut random));
            }
        }
    }
    println!("groups that are computed, by their roots: {computed:?}");
    assert!(computed.iter().all(|computed| *computed > 0), "{computed:?}");
    assert!(computed.iter().sum::<usize>() > 30, "{computed:?}");
}

/// Programs that once caused accesses outside of operands, wrong results, or a panic of the compiler: each
/// has the interpreter's results, or is refused.
const FOLDER: &str = "tests/data/groups";

#[test]
fn programs_that_were_computed_wrongly_are_computed_or_refused() {
    let mut computed = Vec::new();
    let mut faults = Vec::new();
    let mut files = 0;
    for entry in std::fs::read_dir(root().join(FOLDER)).expect("there are some") {
        let path = entry.expect("a file").path();
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let ctx = Arc::new(Context::new());
        let text = std::fs::read_to_string(&path).expect("a text");
        files += 1;
        let Ok(module) = ir::text::parse(&ctx, &name, text) else { continue };
        let main = module.function("main").expect("it is called so");
        let count = main.args(main.entry(main.root()).expect("it has a body")).len();
        let inputs = inputs(&module, &vec![Content::Numbers; count], 1);
        let expected =
            interp::run(&module, "main", &inputs).unwrap_or_else(|fault| panic!("{}", fault.message));
        for threads in [1, 2] {
            let options = CompileOptions { threads, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
            if let Ok(found) = crate::kernel_layouts::execute(&module, &inputs, &options) {
                faults.extend(compare(&found, &expected, &ctx).err().map(|why| format!("{name}: {why}")));
                computed.push(name.clone());
            }
        }
    }
    println!("of {files} files, these are computed: {computed:?}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(files > 20, "only {files} files");
    let natural = computed.iter().filter(|name| name.starts_with("natural")).count();
    assert_eq!(natural, 2 * 7, "programs without groups are computed: {computed:?}");
}
