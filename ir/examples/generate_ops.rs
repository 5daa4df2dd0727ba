//! What text do the speed figures stand for?
//!
//! `cargo run --release -p optc-ir --example generate_ops -- FUNCTIONS OPS` prints a module of FUNCTIONS
//! functions, each of OPS operations of `arith` in generic form, which read their neighbours.

use std::io::{BufWriter, Result, Write};

fn main() -> Result<()> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|number| number.parse().ok()).collect();
    let [functions, ops] = numbers[..] else { panic!("usage: generate_ops FUNCTIONS OPS") };
    let mut out = BufWriter::new(std::io::stdout().lock());
    writeln!(out, "\"builtin.module\"() ({{")?;
    for function in 0..functions {
        let name = if function == 0 { "f".to_owned() } else { format!("f{function}") };
        write_function(&mut out, &name, ops)?;
    }
    writeln!(out, "}}) : () -> ()")
}

fn write_function(out: &mut impl Write, name: &str, ops: usize) -> Result<()> {
    writeln!(out, "  \"func.func\"() <{{function_type = (f32, f32) -> f32, sym_name = \"{name}\"}}> ({{")?;
    writeln!(out, "  ^bb0(%arg0: f32, %arg1: f32):")?;
    for i in 0..ops {
        let near = if i > 0 { format!("%{}", i - 1) } else { "%arg0".to_owned() };
        let far = if i > 7 { format!("%{}", i - 7) } else { "%arg1".to_owned() };
        let op = if i % 3 == 0 { "mulf" } else { "addf" };
        let fastmath = "<{fastmath = #arith.fastmath<none>}>";
        writeln!(out, "    %{i} = \"arith.{op}\"({near}, {far}) {fastmath} : (f32, f32) -> f32")?;
    }
    writeln!(out, "    \"func.return\"(%{}) : (f32) -> ()\n  }}) : () -> ()", ops - 1)
}
