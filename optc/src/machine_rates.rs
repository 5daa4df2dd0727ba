//! Reference rates of this machine, for comparison with the speed of a step.

use std::time::Instant;

use codegen::Cpu;

use crate::arrays::Array;
use crate::compile::CompileOptions;
use crate::failure::Failure;
use crate::load::parse;
use crate::model::Model;

/// The best rates of programs with one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MachineRates {
    /// Floating-point operations per second, of a matrix product with operands in the caches.
    pub(crate) flops: f64,
    /// Bytes read and written per second, of a relu on tensors far larger than the caches.
    pub(crate) bytes: f64,
}

/// Rows and columns of the product's matrices.
const SIDE: u64 = 448;
/// Elements of the relu's tensors, 128 MiB each.
const MANY: u64 = 32 << 20;

impl MachineRates {
    /// Measures the rates with a processor's kernels on `threads` threads, in some tenths of a second.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn measure(cpu: Cpu, threads: usize) -> Result<MachineRates, Failure> {
        let options = &CompileOptions { cpu, threads, ..CompileOptions::default() };
        let square = format!("tensor<{SIDE}x{SIDE}xf32>");
        let product = format!(
            "func.func @main(%x: {square}, %w: {square}) -> {square} {{
                %0 = nn.matmul %x, %w : ({square}, {square}) -> {square}
                return %0 : {square}
            }}"
        );
        let many = format!("tensor<{MANY}xf32>");
        let stream = format!(
            "func.func @main(%x: {many}) -> {many} {{
                %0 = nn.relu %x : {many}
                return %0 : {many}
            }}"
        );
        let matrix = |name: &str| Array::f32(name, &[SIDE, SIDE], &vec![1.0; (SIDE * SIDE) as usize]);
        let product_seconds = fastest(&product, &mut [matrix("arg0"), matrix("arg1")], 60, options)?;
        let vector = Array::f32("arg0", &[MANY], &vec![1.0; MANY as usize]);
        let stream_seconds = fastest(&stream, &mut [vector], 5, options)?;
        let flops = (2 * SIDE * SIDE * SIDE) as f64;
        Ok(MachineRates { flops: flops / product_seconds, bytes: (8 * MANY) as f64 / stream_seconds })
    }
}

/// The fastest run of a program, in seconds.
fn fastest(text: &str, inputs: &mut [Array], runs: usize, options: &CompileOptions) -> Result<f64, Failure> {
    let mut module = parse("rates.mlir", text.into(), None, &Default::default())?;
    let mut model = Model::compile(&mut module, options)?;
    let mut outputs = model.empty_outputs()?;
    let mut seconds = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        model.run_donating(inputs, &mut outputs)?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}
