//! From a function that can be planned at any sizes to a program that runs at any sizes.
//!
//! ```
//! use optc::shaped::{ShapedOptions, compile_shaped};
//! use runtime::{ElementKind, Extent, InputSpec, Symbol, as_bytes, as_bytes_mut};
//! use std::sync::Arc;
//!
//! let ctx = Arc::new(ir::Context::new());
//! // What is planned at some sizes; here from text, which is the same but for them.
//! let variant = move |sizes: &[u64]| {
//!     let ty = format!("tensor<{}xf32>", sizes[0]);
//!     let text = format!("func.func @main(%x: {ty}) -> {ty} {{\n  %0 = nn.relu %x : {ty}\n  return %0 : {ty}\n}}");
//!     let mut module = ir::text::parse(&ctx, "relu.mlir", text).expect("the text is right");
//!     optc::compile::complete(&mut module, "main", 1, optc::Goal::default())?;
//!     Ok(module)
//! };
//! let symbols = vec![Symbol { name: "N".to_owned(), least: 1, most: 512, default: None }];
//! let inputs = vec![InputSpec { name: "x".to_owned(), element: ElementKind::F32, extents: vec![Extent::Symbol(0)] }];
//! let options = ShapedOptions { threads: 1, ..ShapedOptions::new("main", vec![vec![1]]) };
//! let program = Arc::new(compile_shaped(symbols, inputs, variant, &options)?);
//!
//! let mut context = program.context(1).expect("it is planned for one thread");
//! for x in [vec![-1.0f32, 2.0], vec![3.0, -4.0, 5.0]] {
//!     context.set_shape("x", &[x.len() as u64]).expect("the length is at most 512");
//!     let mut y = vec![0.0f32; x.len()];
//!     context.run(&[as_bytes(&x)], &mut [as_bytes_mut(&mut y)]).expect("the buffers are of these sizes");
//!     assert!(y.iter().zip(&x).all(|(y, x)| *y == x.max(0.0)));
//! }
//! # Ok::<(), optc::Failure>(())
//! ```

use codegen::{DeadMemory, FramedCode};
use ir::{Diagnostic, Module};
use runtime::{InputSpec, Instance, Instantiate, ShapedParts, ShapedProgram, Symbol};

use crate::failure::Failure;
use crate::open::OpenOutputs;
use crate::replan::{Decided, Replan};

/// What gives a program's function planned at sizes of one's choice.
pub trait Variants: Send + Sync {
    /// The function at these sizes, one for each symbol in order. All modules are of one context, and differ in sizes only.
    ///
    /// # Errors
    /// Why there is no such function.
    fn at(&self, sizes: &[u64]) -> Result<Module, Failure>;

    /// The same module for one question: what it alone needs of its context is forgotten some time after it is dropped.
    ///
    /// # Errors
    /// As for [`Variants::at`].
    fn at_once(&self, sizes: &[u64]) -> Result<Module, Failure> {
        self.at(sizes)
    }

    /// The function before its sizes, if all that does not depend on them is decided: then instances may be made without a plan in the IR.
    fn before_sizes(&self) -> Option<Decided<'_>> {
        None
    }
}

impl<F: Fn(&[u64]) -> Result<Module, Failure> + Send + Sync> Variants for F {
    fn at(&self, sizes: &[u64]) -> Result<Module, Failure> {
        self(sizes)
    }
}

/// How a program without sizes is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapedOptions {
    /// The function that is the program.
    pub entry: String,
    /// The sizes at which it is compiled: for each sample, one for each symbol. At sizes whose loops are like a sample's it runs fastest.
    pub samples: Vec<Vec<u64>>,
    /// The threads that the variants are planned for.
    pub threads: usize,
    /// What happens to memory that no later step reads.
    pub dead: DeadMemory,
    /// The most sizes whose instances are kept.
    pub cached: usize,
    /// The bytes of arena that are enough at all sizes, if that is known.
    pub chunk_bytes: Option<u64>,
}

impl ShapedOptions {
    /// All processors, at most two; dead memory is left as it is; 64 instances are kept.
    pub fn new(entry: &str, samples: Vec<Vec<u64>>) -> ShapedOptions {
        let threads = runtime::available_threads().min(2);
        ShapedOptions {
            entry: entry.to_owned(),
            samples,
            threads,
            dead: DeadMemory::Kept,
            cached: 64,
            chunk_bytes: None,
        }
    }
}

/// Compiles a function once, to be run at any sizes: at each, `variants` is asked for the plan, and nothing is compiled again.
///
/// # Errors
/// Every fault of the first sample that has some, or if the samples are not the same function.
pub fn compile_shaped(
    symbols: Vec<Symbol>,
    inputs: Vec<InputSpec>,
    variants: impl Variants + 'static,
    options: &ShapedOptions,
) -> Result<ShapedProgram, Failure> {
    let samples: Result<Vec<Module>, Failure> =
        options.samples.iter().map(|sizes| variants.at(sizes)).collect();
    let samples = samples?;
    let ShapedOptions { entry, threads, dead, cached, .. } = options;
    let code_options = codegen::Options { dead: *dead, ..codegen::Options::new(*threads) };
    let modules: Vec<&Module> = samples.iter().collect();
    let compiled = FramedCode::compile(&modules, entry, &code_options);
    let code = compiled.map_err(|faults| match samples.first() {
        Some(module) => Failure::diagnostics(&module.ctx, &faults),
        None => Failure::input(faults[0].message.clone()),
    })?;
    let replan = variants.before_sizes().and_then(|decided| Replan::of(&decided, &code, &options.samples));
    let open = samples.first().map(|module| OpenOutputs::of(module, entry)).transpose()?.unwrap_or_default();
    let program = ShapedProgram::new(ShapedParts {
        code: code.code(),
        threads: *threads,
        symbols,
        inputs,
        outputs: code.outputs(),
        faults: code.faults().to_vec(),
        instances: Box::new(Maker { code, variants, replan }),
        cached: *cached,
        chunk_bytes: options.chunk_bytes.map(|bytes| bytes as usize),
    });
    Ok(program.with_open(open.outputs().to_vec()))
}

/// Makes instances of the variants.
struct Maker<V> {
    code: FramedCode,
    variants: V,
    replan: Option<Replan>,
}

impl<V: Variants> Instantiate for Maker<V> {
    fn instance(&self, sizes: &[u64]) -> Result<Instance, String> {
        if let Some(instance) = self.replan.as_ref().and_then(|replan| replan.instance(&self.code, sizes)) {
            return Ok(instance);
        }
        let module = self.variants.at_once(sizes).map_err(|failure| failure.to_string())?;
        let said = |faults: Vec<Diagnostic>| Failure::diagnostics(&module.ctx, &faults).to_string();
        self.code.instance(&module).map_err(said)
    }
}
