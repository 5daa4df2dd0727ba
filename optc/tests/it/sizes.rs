//! What the command does with named sizes: from a model, from its arguments, from its inputs.

use std::path::Path;
use std::process::{Command, Output};

use optc::Array;
use optc::arrays::write_npz;

use crate::scratch::{file, path};

const PROGRAM: &str = "func.func @main(%x: tensor<?x2xf32, #optc.dims<N>> {optc.name = \"x\"}, \
                       %y: tensor<?xf32, #optc.dims<2 * N>> {optc.name = \"y\"}) -> tensor<?x2xf32, #optc.dims<N>> {
  %0 = nn.reshape %y {shape = #optc.dims<N, 2>} : (tensor<?xf32, #optc.dims<2 * N>>) -> tensor<?x2xf32, #optc.dims<N>>
  %1 = nn.add %x, %0 : tensor<?x2xf32, #optc.dims<N>>
  return %1 : tensor<?x2xf32, #optc.dims<N>>
}
";

/// A file of `f32`, numbered from 1.
fn array(name: &str, shape: &[usize]) -> String {
    let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({sizes}), }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    let count: usize = shape.iter().product();
    bytes.extend((1..=count).flat_map(|number| (number as f32).to_le_bytes()));
    file(name, &bytes).display().to_string()
}

fn optc(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_optc")).args(arguments).output().expect("the command starts")
}

#[track_caller]
fn printed(arguments: &[&str]) -> String {
    let output = optc(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("what is printed is text")
}

/// What is said where the input is at fault.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = optc(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).expect("what is said is text")
}

#[test]
fn a_run_takes_its_sizes_from_its_inputs() {
    let program = file("program.mlir", PROGRAM.as_bytes()).display().to_string();
    let (x, y) = (array("x3.npy", &[3, 2]), array("y6.npy", &[6]));
    let arguments = ["run", &program, "--input", "x", &x, "--input", "y", &y];
    let expected = "output `result0` [3, 2]: 2.00000, 4.00000, 6.00000, 8.00000, 10.00000, 12.00000\n";
    assert!(printed(&arguments).starts_with(expected), "{}", printed(&arguments));
    let interpreted = printed(&[&arguments[..], &["--interpret"]].concat());
    assert_eq!(interpreted, expected);
}

#[test]
fn inputs_that_contradict_sizes_are_told_with_input_dimension_and_constraint() {
    let program = file("contradicted.mlir", PROGRAM.as_bytes()).display().to_string();
    let (x, y) = (array("x.npy", &[3, 2]), array("y.npy", &[8]));
    let of = |more: &[&'static str], y: &str| {
        let said = refused(&[&["run", &program, "--input", "x", &x, "--input", "y", y], more].concat());
        said.trim_end().to_owned()
    };
    let conflict = "error: axis 0 of input `y` is 8, expected 2 * N = 6, which follows from axis 0 of \
                    input `x`";
    assert_eq!(of(&[], &y), conflict);
    let range = "error: axis 0 of input `x` is 3, expected 1 <= N <= 2";
    assert_eq!(of(&["--dim", "N<=2"], &y), range);
    let odd = array("y7.npy", &[7]);
    assert_eq!(of(&[], &odd), "error: axis 0 of input `y` is 7, expected 2 * N with N >= 1");
    let given = of(&["--dim", "N=4"], &y);
    assert!(given.contains("input `x` has shape [3, 2]") && given.contains("expected [4, 2]"), "{given}");
}

#[test]
fn a_model_is_planned_for_all_sizes_that_are_symbolized() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/squeezenet1_1.onnx");
    let model = model.display().to_string();
    let plan = file("plan.json", b"").display().to_string();
    let arguments = ["plan", &model, "--synthesize-weights", "--symbolize", "input:0=N", "--dim"];
    let all = printed(&[&arguments[..], &["N<=2", "--json", &plan]].concat());
    assert!(all.starts_with("sizes 1 <= N <= 2: offsets are computed for each size"), "{all}");
    let arena = all.lines().last().and_then(|line| line.strip_prefix("at all sizes: arena "));
    let arena = arena.and_then(|rest| rest.strip_suffix(" bytes), the joint maximum"));
    let arena = arena.and_then(|rest| Some(rest.split_once(" MB (")?.1));
    let arena: u64 = arena.and_then(|bytes| bytes.parse().ok()).expect("the last line says the arena");
    let json = std::fs::read_to_string(&plan).expect("the plan is written");
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(json["pools"][0]["size_bytes"], arena);
    assert_eq!(json["symbols"][0]["most"], 2);
    assert!(json["values"].as_array().is_some_and(|values| values.len() > 10), "{json}");
    let two = printed(&[&arguments[..], &["N=2"]].concat());
    let line = two.lines().next().expect("the first line says the arena");
    assert!(line.starts_with("arena ") && line.contains(&format!(" MB ({arena} bytes), ")), "{two}");
}

/// `x: [N, M]` and `y: [N * M]`, and half of what is left of `z: [N floordiv 2]`.
const PRODUCT: &str = "func.func @main(%x: tensor<?x?xf32, #optc.dims<N, M>> {optc.name = \"x\"}, \
                       %y: tensor<?xf32, #optc.dims<N * M>> {optc.name = \"y\"}, \
                       %z: tensor<?xf32, #optc.dims<N floordiv 2>> {optc.name = \"z\"}) -> \
                       (tensor<?x?xf32, #optc.dims<N, M>>, tensor<?xf32, #optc.dims<N floordiv 2>>) {
  %0 = nn.reshape %y {shape = #optc.dims<N, M>} : (tensor<?xf32, #optc.dims<N * M>>) -> tensor<?x?xf32, #optc.dims<N, M>>
  %1 = nn.add %x, %0 : tensor<?x?xf32, #optc.dims<N, M>>
  %2 = nn.neg %z : tensor<?xf32, #optc.dims<N floordiv 2>>
  return %1, %2 : tensor<?x?xf32, #optc.dims<N, M>>, tensor<?xf32, #optc.dims<N floordiv 2>>
}
";

#[test]
fn products_and_quotients_of_sizes_are_held_to_the_others() {
    let program = file("product.mlir", PRODUCT.as_bytes()).display().to_string();
    let x = array("px.npy", &[3, 2]);
    let with = |y: &str, z: &str| {
        let arrays = ["--input", "x", &x, "--input", "y", y, "--input", "z", z];
        let arrays = arrays.map(str::to_owned);
        let arguments: Vec<String> = ["run".to_owned(), program.clone()].into_iter().chain(arrays).collect();
        arguments
    };
    let said = |y: &str, z: &str| {
        let arguments = with(y, z);
        refused(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).trim_end().to_owned()
    };
    let (y, z) = (array("py6.npy", &[6]), array("pz1.npy", &[1]));
    let arguments = with(&y, &z);
    let text = printed(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let expected = "output `result0` [3, 2]: 2.00000, 4.00000, 6.00000, 8.00000, 10.00000, 12.00000\n";
    assert!(text.starts_with(expected), "{text}");
    let place = "which follows from axis 0 of input `x`";
    let product = format!("error: axis 0 of input `y` is 7, expected M * N = 6, {place}");
    assert_eq!(said(&array("py7.npy", &[7]), &z), product);
    let quotient = format!("error: axis 0 of input `z` is 2, expected N floordiv 2 = 1, {place}");
    assert_eq!(said(&y, &array("pz2.npy", &[2])), quotient);
}

/// A file of both inputs of `PROGRAM` at `N` = `rows`: `x` is numbered from 0, `y` is all ones.
fn inputs(rows: u64) -> String {
    let path = file(&format!("inputs{rows}.npz"), b"");
    let count = 2 * rows;
    let x: Vec<f32> = (0..count).map(|number| number as f32).collect();
    let arrays = [Array::f32("x", &[rows, 2], &x), Array::f32("y", &[count], &vec![1.0; count as usize])];
    write_npz(&path, &arrays).expect("the test's file can be written");
    path.display().to_string()
}

/// What `PROGRAM` prints of its output at two, four and two rows, without times.
#[track_caller]
fn check_three(program: &str, more: &[&str]) {
    let (two, four) = (inputs(2), inputs(4));
    let sizes = ["--inputs", &two, "--inputs", &four, "--inputs", &two];
    let said = printed(&[&["run", program], &sizes[..], more].concat());
    let lines: Vec<&str> = said.lines().collect();
    let [first, at, _, second, at_second, cost, third, at_third, again, all] = lines[..] else {
        panic!("three lines for each run, and one for all: {said}")
    };
    assert_eq!(first, "output `result0` [2, 2]: 1.00000, 2.00000, 3.00000, 4.00000");
    let of_four =
        "output `result0` [4, 2]: 1.00000, 2.00000, 3.00000, 4.00000, 5.00000, 6.00000, 7.00000, 8.00000";
    assert_eq!((second, third), (of_four, first));
    let sizes = [(at, "N = 2"), (at_second, "N = 4"), (at_third, "N = 2")];
    for (line, size) in sizes {
        assert!(line.starts_with(&format!("at {size}: arena ")), "{said}");
    }
    assert!(cost.starts_with("specialized in ") && cost.contains(" us, first run in "), "{said}");
    assert!(again.starts_with("specialized before, first run in "), "{said}");
    assert!(all.starts_with("the arena grows with the sizes; weights "), "{said}");
}

#[test]
fn one_program_runs_at_the_sizes_of_each_file_of_inputs() {
    let program = file("several.mlir", PROGRAM.as_bytes()).display().to_string();
    check_three(&program, &[]);
    check_three(&program, &["--poison"]);
}

#[test]
fn fixed_sizes_are_those_of_the_inputs() {
    let program = file("fixed.mlir", PROGRAM.as_bytes()).display().to_string();
    let (two, four) = (inputs(2), inputs(4));
    let fixed = printed(&["run", &program, "--fix-sizes", "--inputs", &two, "--inputs", &two]);
    let expected = "output `result0` [2, 2]: 1.00000, 2.00000, 3.00000, 4.00000";
    assert_eq!(fixed.lines().filter(|line| *line == expected).count(), 2, "{fixed}");
    assert!(fixed.contains("optimal for this order") && !fixed.contains("specialized in"), "{fixed}");
    let said = refused(&["run", &program, "--fix-sizes", "--inputs", &two, "--inputs", &four]);
    assert_eq!(said, "error: a program of fixed sizes can't be run on inputs of several sizes\n");
}

#[test]
fn each_run_has_its_own_expected_and_written_outputs() {
    let program = file("checked.mlir", PROGRAM.as_bytes()).display().to_string();
    let (two, four) = (inputs(2), inputs(4));
    let out = ["out2.npz", "out4.npz"].map(|name| file(name, b"").display().to_string());
    let run = ["run", &program, "--inputs", &two, "--inputs", &four];
    printed(&[&run[..], &["--out", &out[0], "--out", &out[1]]].concat());
    printed(&[&run[..], &["--check", &out[0], "--check", &out[1]]].concat());
    refused(&[&run[..], &["--check", &out[1], "--check", &out[0]]].concat());
    let once = optc(&[&run[..], &["--out", &out[0]]].concat());
    assert_eq!(once.status.code(), Some(2));
    let said = String::from_utf8_lossy(&once.stderr).into_owned();
    assert!(said.contains("--out is given 1 times, expected 2: one for each --inputs"), "{said}");
}

#[test]
fn bench_takes_sizes_from_its_inputs() {
    let program = file("bench.mlir", PROGRAM.as_bytes()).display().to_string();
    let (two, four) = (inputs(2), inputs(4));
    let said =
        printed(&["bench", &program, "--inputs", &two, "--inputs", &four, "--runs", "2", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
    assert_eq!((&json["sizes"]["N"], &json["inputs"][1]["sizes"]["N"]), (&2.into(), &4.into()));
    assert!(json["specialize_us"].is_null(), "the code is made for the first sizes");
    assert!(json["inputs"][1]["specialize_us"].as_f64().is_some_and(|us| us > 0.0), "{said}");
    assert_eq!(json["inputs"][1]["allocations_per_run"], 0);
}

#[test]
fn bench_prints_a_table_and_compares_with_older_figures() {
    let program = file("table.mlir", PROGRAM.as_bytes()).display().to_string();
    let two = inputs(2);
    let old = path("old.json").display().to_string();
    let bench = ["bench", &program, "--inputs", &two, "--runs", "3"];
    let table = printed(&[&bench[..], &["--json", &old]].concat());
    assert!(table.contains("at           N=2\n") && table.contains("the median of 3 runs"), "{table}");
    let compared = printed(&[&bench[..], &["--compare", &old]].concat());
    assert!(compared.contains(" times the old latency: "), "{compared}");
    let json = printed(&[&bench[..], &["--compare", &old, "--json=-"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert!(json["compare"]["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{json}");
    let other = file("other.json", b"{}").display().to_string();
    assert!(
        refused(&[&bench[..], &["--compare", &other]].concat())
            .contains("it is not what `optc bench --json` writes")
    );
}

#[test]
fn bench_times_each_step() {
    const STEPS: &str = "#n = #optc.dims<N>
    func.func @main(%x: tensor<?x8xf32, #n>) -> tensor<?x8xf32, #n> {
      %w = arith.constant dense<1.0> : tensor<8x8xf32>
      %0 = nn.cum_sum %x {axis = 0} : tensor<?x8xf32, #n>
      %1 = nn.matmul %0, %w : (tensor<?x8xf32, #n>, tensor<8x8xf32>) -> tensor<?x8xf32, #n>
      %2 = nn.softmax %1 {axis = 1} : tensor<?x8xf32, #n>
      return %2 : tensor<?x8xf32, #n>
    }";
    let program = file("steps.mlir", STEPS.as_bytes()).display().to_string();
    let four = path("steps.npz");
    write_npz(&four, &[Array::f32("x", &[4, 8], &[0.5; 32])]).expect("the test's file can be written");
    let four = four.display().to_string();
    let trace = path("trace.json").display().to_string();
    let bench = ["bench", &program, "--inputs", &four, "--runs=3", "--profile", &trace];
    let table = printed(&bench);
    assert!(table.contains("\n3 steps, ") && table.contains(" GFLOP/s (a matrix product)"), "{table}");
    let trace = std::fs::read_to_string(trace).expect("the trace is there");
    let trace: serde_json::Value = serde_json::from_str(&trace).expect("it is JSON");
    let events = trace["traceEvents"].as_array().expect("a list of events");
    let ops: Vec<&str> = events.iter().filter_map(|event| event["args"]["op"].as_str()).collect();
    assert_eq!(ops, ["nn.cum_sum", "nn.matmul", "nn.softmax"]);
    let work = |event: usize| (&events[event]["args"]["flops"], &events[event]["args"]["bytes"]);
    assert_eq!(work(1), (&(2 * 4 * 8 * 8).into(), &(4 * (4 * 8 + 8 * 8 + 4 * 8)).into()));
    assert_eq!(work(2), (&32.into(), &256.into()));
    let number = |event: usize, of: &str| events[event][of].as_f64().expect("a number");
    assert_eq!(number(0, "ts"), 0.0);
    for event in 0..2 {
        let end = number(event, "ts") + number(event, "dur");
        assert!((number(event + 1, "ts") - end).abs() < 1e-3 && number(event, "dur") > 0.0, "{events:?}");
    }
}

/// Every verb that takes `--dim` holds a number to what the program declares of the name.
#[test]
fn a_number_outside_of_a_declared_range_is_told_with_the_range() {
    const BOUNDED: &str = "#n = #optc.dims<N>
    func.func @main(%x: tensor<?x4xf32, #n>) -> tensor<?x4xf32, #n>
        attributes {optc.dims = {M = #optc.dims<2 * N>, N = [4, 40]}} {
      %0 = nn.exp %x : tensor<?x4xf32, #n>
      return %0 : tensor<?x4xf32, #n>
    }";
    let program = file("bounded.mlir", BOUNDED.as_bytes()).display().to_string();
    let built = path("bounded.optc").display().to_string();
    let verbs: [&[&str]; 5] =
        [&["plan"], &["run", "--random"], &["bench", "--random"], &["explain"], &["build", "-o", &built]];
    let said = |verb: &[&str], dims: &[&str]| {
        let output = optc(&[&verb[..1], &[&program], &verb[1..], dims].concat());
        (output.status.code(), String::from_utf8(output.stderr).expect("what is said is text"))
    };
    for verb in verbs {
        for (dims, expected) in [
            (&["--dim=N=41"][..], "`N` = 41, expected 4 <= N <= 40"),
            (&["--dim=N=3"], "`N` = 3, expected 4 <= N <= 40"),
            (&["--dim=N..3"], "`1 <= N <= 3`, expected 4 <= N <= 40"),
            (&["--dim=N=5", "--dim=M=11"], "`M` = 11, expected M = 2 * N = 10"),
        ] {
            let (status, found) = said(verb, dims);
            assert!(status != Some(0) && found.contains(expected), "{verb:?} {dims:?}: {status:?} {found}");
        }
        for dims in [&["--dim=N=40"][..], &["--dim=N=4", "--dim=M=8"], &["--dim=N..4"]] {
            let (status, found) = said(verb, dims);
            // A verb may need its inputs' sizes.
            assert!(status == Some(0) || !found.contains("expected"), "{verb:?} {dims:?}: {found}");
        }
    }
}

#[test]
fn an_array_that_is_no_input_is_refused() {
    let program = file("misnamed.mlir", PROGRAM.as_bytes()).display().to_string();
    let path = file("misnamed.npz", b"");
    write_npz(&path, &[Array::f32("xx", &[1, 2], &[0.0; 2])]).expect("the test's file can be written");
    let path = path.display().to_string();
    let said = refused(&["run", &program, "--inputs", &path, "--random"]);
    assert_eq!(said, "error: the program has no input `xx` (did you mean `x`?)\n");
}

#[test]
fn a_dash_is_standard_output_and_a_full_disk_is_one_error() {
    let program = file("dash.mlir", PROGRAM.as_bytes()).display().to_string();
    let two = inputs(2);
    let output = optc(&["run", &program, "--inputs", &two, "--out", "-"]);
    assert!(output.status.success() && output.stdout.starts_with(b"PK"), "an archive and nothing else");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("output `result0` [2, 2]: "));
    assert!(printed(&[&program, "-o", "-"]).contains("func.func @main"));
    assert!(printed(&["plan", &program, "--dim", "N=2", "-o", "-"]).starts_with("arena "));
    let both = optc(&["plan", &program, "--dim", "N=2", "--json", "-", "--csv", "-"]);
    assert_eq!(both.status.code(), Some(2));
    let full = "error: /dev/full: No space left on device (os error 28)\n";
    assert_eq!(refused(&["run", &program, "--inputs", &two, "--out", "/dev/full"]), full);
}

#[test]
fn what_is_for_known_sizes_is_refused_for_named_ones() {
    let program = file("known.mlir", PROGRAM.as_bytes()).display().to_string();
    let two = inputs(2);
    let run = ["run", &program, "--inputs", &two, "--pool", "vtcm"];
    printed(&run);
    let said = refused(&[&run[..5], &["vtcm:pitch=128"]].concat());
    assert!(said.contains("the pool `vtcm` has a pitch, which is for known sizes"), "{said}");
    let run = ["run", &program, "--inputs", &two, "--budget", "1MB"];
    let said = refused(&run);
    assert!(
        said.starts_with("error: no arena of 1000000 bytes, or of any size, is enough at all sizes: "),
        "{said}"
    );
    printed(&[&run[..], &["--fix-sizes"]].concat());
}
