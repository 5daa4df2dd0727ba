//! Where the system gives less memory than a program takes, the command ends with an error that says so, and
//! no signal but that of Rust's own allocator, which can't go on where a list does not grow.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

use crate::scratch;

const TEXT: &str = "func.func @main(%x: tensor<1x64x96x96xf32>) -> tensor<1x64x96x96xf32> {
  %w = nn.constant dense<0.01> : tensor<64x64x3x3xf32>
  %0 = nn.conv2d %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x96x96xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x96x96xf32>
  %1 = nn.cum_sum %0 {axis = 1 : i64} : tensor<1x64x96x96xf32>
  return %1 : tensor<1x64x96x96xf32>
}
";
/// How many limits are tried between what the command needs to start and what the program needs.
const LIMITS: u64 = 24;
const SIGABRT: i32 = 6;

/// The command with so many KiB of memory to map.
fn limited(kib: u64, arguments: &[&str]) -> Output {
    let script = format!("ulimit -v {kib} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_optc")]).args(arguments);
    command.output().expect("the shell starts")
}

/// The least KiB, to 1/64, with which the command succeeds.
fn needed(arguments: &[&str]) -> u64 {
    let (mut less, mut enough) = (0, 1 << 22);
    assert!(limited(enough, arguments).status.success(), "{arguments:?} needs more than 4 GiB");
    while enough - less > enough / 64 {
        let middle = less.midpoint(enough);
        *if limited(middle, arguments).status.success() { &mut enough } else { &mut less } = middle;
    }
    enough
}

#[test]
fn a_program_that_has_too_little_memory_ends_with_an_error() {
    let file = scratch::file("large.mlir", TEXT.as_bytes());
    let file = file.to_str().expect("a path of text");
    let run = ["run", file, "--random", "--threads=2"];
    let (start, end) = (needed(&["--version"]), needed(&run));
    assert!(start < end, "{start} KiB to start, {end} to run");
    let mut refused = 0;
    for step in 0..=LIMITS {
        let kib = start + (end - start) * step / LIMITS;
        let output = limited(kib, &run);
        let errors = String::from_utf8_lossy(&output.stderr);
        match (output.status.code(), output.status.signal()) {
            (Some(0), _) => {}
            (Some(1), _) if !errors.is_empty() => refused += 1,
            (_, Some(SIGABRT)) if errors.contains("memory allocation of ") => {}
            _ => panic!("{kib} KiB: {}: {errors}", output.status),
        }
        println!("{kib} KiB: {}: {}", output.status, errors.lines().next().unwrap_or_default());
    }
    assert!(refused > 0, "no limit was told of");
}
