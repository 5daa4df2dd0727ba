//! Programs that ask for much: the command plans them, or ends at its limits.

use std::fmt::Write;
use std::process::{Command, Output};

use crate::scratch;

/// KiB that the command may map: far more than its limit of resident memory.
const MOST_MAPPED_KIB: u64 = 4 << 20;

/// `optc plan` of a program with these limits.
fn planned(name: &str, text: &str, limits: &[&str]) -> Output {
    let file = scratch::file(&format!("{name}.mlir"), text.as_bytes());
    let script = format!("ulimit -v {MOST_MAPPED_KIB} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_optc"), "plan"]).arg(file).args(limits);
    command.output().expect("the shell starts")
}

/// A sum over each of `count` vectors, whose sizes have names of their own.
fn many_names(count: usize) -> String {
    let ty = |index| format!("tensor<?xf32, #optc.dims<N{index}>>");
    let arguments: Vec<String> = (0..count).map(|index| format!("%a{index}: {}", ty(index))).collect();
    let mut text = format!("func.func @main({}) -> tensor<f32> {{\n", arguments.join(", "));
    let mut sum = "%r0".to_owned();
    for index in 0..count {
        let ty = ty(index);
        writeln!(
            text,
            "  %r{index} = nn.reduce_sum %a{index} {{axes = array<i64: 0>}} : ({ty}) -> tensor<f32>"
        )
        .expect("writing to a string");
        if index > 0 {
            writeln!(text, "  %s{index} = nn.add {sum}, %r{index} : tensor<f32>")
                .expect("writing to a string");
            sum = format!("%s{index}");
        }
    }
    text + &format!("  return {sum} : tensor<f32>\n}}\n")
}

/// A concatenation of `count` values.
fn many_parts(count: usize) -> String {
    let whole = format!("tensor<{}xf32>", 64 * count);
    let mut text =
        format!("func.func @main(%x: tensor<64xf32>) -> {whole} {{\n  %0 = nn.exp %x : tensor<64xf32>\n");
    for part in 1..count {
        writeln!(text, "  %{part} = nn.tanh %{} : tensor<64xf32>", part - 1).expect("writing to a string");
    }
    let parts: Vec<String> = (0..count).map(|part| format!("%{part}")).collect();
    let types = vec!["tensor<64xf32>"; count].join(", ");
    let parts = parts.join(", ");
    text + &format!(
        "  %c = nn.concat {parts} {{axis = 0 : i64}} : ({types}) -> {whole}\n  return %c : {whole}\n}}\n"
    )
}

/// Steps that all read the first value too.
fn long_chain(count: usize) -> String {
    let mut text = "func.func @main(%0: tensor<64xf32>) -> tensor<64xf32> {\n".to_owned();
    for step in 1..count {
        writeln!(text, "  %{step} = nn.add %{}, %{} : tensor<64xf32>", step - 1, step / 2)
            .expect("writing to a string");
    }
    text + &format!("  return %{} : tensor<64xf32>\n}}\n", count - 1)
}

const LARGE_CONSTANTS: &str = "func.func @main() -> tensor<f32> {
  %c = nn.constant dense<0.5> : tensor<100000x100000xf32>
  %0 = nn.exp %c : tensor<100000x100000xf32>
  %1 = nn.matmul %0, %c : (tensor<100000x100000xf32>, tensor<100000x100000xf32>) -> tensor<100000x100000xf32>
  %2 = nn.reduce_sum %1 {axes = array<i64: 0, 1>} : (tensor<100000x100000xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}
";

#[test]
fn programs_with_many_sizes_steps_or_parts_are_planned() {
    let programs = [("many_names", many_names(400)), ("many_parts", many_parts(1500))];
    for (name, text) in programs {
        let output = planned(name, &text, &["--time-limit=60"]);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_hostile_program_ends_at_the_limits_of_its_compilation() {
    let programs = [
        ("hostile_names", many_names(1500)),
        ("hostile_parts", many_parts(4000)),
        ("hostile_chain", long_chain(30_000)),
        ("hostile_constants", LARGE_CONSTANTS.to_owned()),
    ];
    let mut ended = 0;
    for (name, text) in &programs {
        for limits in [["--time-limit=0.3", "--memory-limit=1GB"], ["--time-limit=60", "--memory-limit=40MB"]]
        {
            let output = planned(name, text, &limits);
            let errors = String::from_utf8_lossy(&output.stderr);
            let is_told = errors.contains("--time-limit of") || errors.contains("--memory-limit of");
            assert!(
                output.status.success() || output.status.code() == Some(1) && is_told,
                "{name}: {errors}"
            );
            ended += usize::from(is_told);
        }
    }
    assert!(ended >= 3, "{ended} limits were reached: the programs ask for little");
}
