//! From a module with named sizes to a program that runs at any of them.
//!
//! ```
//! use optc::{CompileOptions, symbolic::{SymbolicOptions, compile_symbolic}};
//! use runtime::{as_bytes, as_bytes_mut};
//! use std::sync::Arc;
//!
//! let text = "func.func @main(%x: tensor<?x2xf32, #optc.dims<N>>) -> tensor<?x2xf32, #optc.dims<N>> {
//!     %0 = nn.relu %x : tensor<?x2xf32, #optc.dims<N>>
//!     return %0 : tensor<?x2xf32, #optc.dims<N>>
//! }";
//! let module = optc::parse("relu.mlir", text.into(), None, &Default::default())?;
//! let options = SymbolicOptions::new(CompileOptions { threads: 1, ..Default::default() });
//! let program = Arc::new(compile_symbolic(&module, &options)?);
//!
//! let mut context = program.context(1).expect("it is planned for one thread");
//! for rows in [1, 3] {
//!     context.set_shape("arg0", &[rows, 2]).expect("any number of rows will do");
//!     let (x, mut y) = (vec![-1.0f32; 2 * rows as usize], vec![1.0f32; 2 * rows as usize]);
//!     context.run(&[as_bytes(&x)], &mut [as_bytes_mut(&mut y)]).expect("the buffers are of these sizes");
//!     assert!(y.iter().all(|y| *y == 0.0));
//! }
//! # Ok::<(), optc::Failure>(())
//! ```
//!
//! What does not depend on sizes is decided once ([`passes::symbolic`]): groups, order, ties. At sizes that
//! come up, the function is placed and bound to the machine code that is there; nothing is compiled again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use codegen::Cpu;
use ir::dims::{self, Atom, Ranges, Term};
use ir::weights::WeightSet;
use ir::{Body, Context, Dim, DimExpr, Ident, Module};
use passes::memory::bound::Bound;
use passes::memory::buffers::Buffers;
use passes::memory::specialize::Specializer;
use passes::symbolic::has_sized_weights;
use runtime::{Extent, Factor, InputSpec, Product, ShapedProgram, Sum, Symbol, undetermined};

use passes::manager::RunOptions;

use crate::compile::{CompileOptions, INLINE_ALL, donate, entry, input_names, run_pipeline};
use crate::failure::Failure;
use crate::replan::Decided;
use crate::shaped::{ShapedOptions, Variants, compile_shaped};
use crate::sizes::declare;

/// How a module with named sizes is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicOptions {
    /// Threads, entry, donated inputs, goal. A budget and pools are for static programs.
    pub compile: CompileOptions,
    /// Sizes for which code is made, by symbol, beside the least ones; a symbol that is not named has its
    /// nominal size (see [`ir::dims::nominal`]).
    pub sample: Vec<(String, u64)>,
    /// The least and the greatest number of symbols, by name, beside what the function says. Where every
    /// symbol has a greatest one, the arena has from the beginning what is enough for all sizes.
    pub ranges: BTreeMap<String, (u64, u64)>,
    /// The most sizes whose instances are kept.
    pub cached: usize,
}

/// The stages that need no sizes.
const FRONT: &str = "simplify,layout,fuse,schedule,inplace";

impl SymbolicOptions {
    /// No sample, no ranges; 64 instances are kept.
    pub fn new(compile: CompileOptions) -> SymbolicOptions {
        SymbolicOptions { compile, sample: Vec::new(), ranges: BTreeMap::new(), cached: 64 }
    }
}

/// Compiles the entry of a module once, to be run at any sizes that its inputs can have.
///
/// # Errors
/// Every fault of the first stage that finds some.
pub fn compile_symbolic(module: &Module, options: &SymbolicOptions) -> Result<ShapedProgram, Failure> {
    let variants = Symbolic::decide(module, options)?;
    let (symbols, inputs) = (variants.symbols.clone(), variants.inputs.clone());
    let CompileOptions { threads, dead, .. } = options.compile;
    // Not every program can have its least sizes, or others.
    let mut samples = samples(&symbols, &variants.sample);
    let others = samples.split_off(1).into_iter().filter(|sizes| variants.at(sizes).is_ok());
    samples.extend(others);
    let shaped = ShapedOptions {
        samples,
        threads,
        dead,
        cached: options.cached,
        chunk_bytes: variants.bound().ok().map(Bound::size_bytes),
        ..ShapedOptions::new(&variants.entry, Vec::new())
    };
    compile_shaped(symbols, inputs, variants, &shaped)
}

/// A sample, the least sizes, and some next to the sample: loops of one round are others than loops of many,
/// and a window that is all of what it looks on is no copy.
fn samples(symbols: &[Symbol], sample: &[u64]) -> Vec<Vec<u64>> {
    let mut samples = vec![sample.to_vec()];
    for also in [symbols.iter().map(|symbol| symbol.least).collect(), odd(symbols, sample)] {
        if !samples.contains(&also) {
            samples.push(also);
        }
    }
    samples
}

/// The sizes next to a sample: even where it is odd, odd where it is even.
fn odd(symbols: &[Symbol], sample: &[u64]) -> Vec<u64> {
    let next = |(symbol, size): (&Symbol, &u64)| {
        if *size < symbol.most { size + 1 } else { size.saturating_sub(1).max(symbol.least) }
    };
    symbols.iter().zip(sample).map(next).collect()
}

/// A module whose entry is decided but for its sizes.
pub struct Symbolic {
    /// The module with all that is decided for all sizes; its entry is another at each.
    module: Module,
    entry: String,
    names: Vec<Ident>,
    symbols: Vec<Symbol>,
    inputs: Vec<InputSpec>,
    sample: Vec<u64>,
    threads: usize,
    plans: Arc<Specializer>,
    bound: Result<Bound, String>,
    /// Contexts for modules of one use, if no weight depends on sizes: whoever keeps weights knows them by
    /// their handles.
    spare: Option<Mutex<Vec<Arc<Context>>>>,
}

impl Symbolic {
    /// Takes a module as far as it goes without sizes.
    ///
    /// # Errors
    /// Every fault of the first stage that finds some.
    pub fn decide(module: &Module, options: &SymbolicOptions) -> Result<Symbolic, Failure> {
        let mut module = module.clone();
        declare(&mut module, &options.ranges)?;
        let CompileOptions { threads, goal, donated, entry: wanted, .. } = &options.compile;
        let entry = entry(&module, wanted.as_deref())?;
        donate(&mut module, &entry, donated)?;
        run_pipeline(
            &mut module,
            &format!("{INLINE_ALL},{FRONT}"),
            &RunOptions {
                threads: *threads,
                reproducer: options.compile.reproducer.clone(),
                ..RunOptions::new(&Cpu)
            },
        )?;
        let ctx = module.ctx.clone();
        let body = module.function(&entry).expect("the entry was just found");
        let (names, inputs) = signature(&ctx, body)?;
        let (ranges, nominal) = (Ranges::of_function(&ctx, body), dims::nominal(&ctx, body));
        let sample_of = |name: &Ident| {
            let said = options.sample.iter().find(|(known, _)| known == ctx.str(*name));
            said.map_or(nominal[name], |(_, size)| *size)
        };
        let sample: Vec<u64> = names.iter().map(sample_of).collect();
        let symbols: Vec<Symbol> = names.iter().map(|name| symbol(&ctx, *name, &ranges)).collect();
        if let Some(open) = undetermined(&symbols, &inputs) {
            let name = &symbols[open].name;
            let what = format!(
                "the shapes of the inputs do not say what `{name}` is, expected an input of that size"
            );
            return Err(Failure::input(what));
        }
        let buffers = Buffers::of(&ctx, &Cpu, body, *threads);
        let buffers = buffers.map_err(|faults| Failure::diagnostics(&ctx, &faults))?;
        let bound = Bound::of(&ctx, &Cpu, &buffers, *threads);
        let samples = samples(&symbols, &sample);
        let plans = Specializer::new(&ctx, &Cpu, buffers, &names, *threads, *goal, &samples);
        let threads = *threads;
        let spare = (!has_sized_weights(&ctx, body, &WeightSet::of(&ctx, body))).then(Mutex::default);
        Ok(Symbolic {
            module,
            entry,
            names,
            symbols,
            inputs,
            sample,
            threads,
            plans: Arc::new(plans),
            bound,
            spare,
        })
    }

    /// The function that is the program.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The sizes for which code is made, one for each symbol.
    pub fn sample(&self) -> &[u64] {
        &self.sample
    }

    /// The module with the recipe of its plan (see [`passes::symbolic`]).
    ///
    /// # Errors
    /// Every result whose size no symbol says.
    pub fn recipe(&self) -> Result<Module, Failure> {
        let mut module = self.module.clone();
        run_pipeline(&mut module, "plan", &RunOptions { threads: self.threads, ..RunOptions::new(&Cpu) })?;
        Ok(module)
    }

    /// The function with all that is decided for all sizes, and its context.
    pub fn decided(&self) -> (&Context, &Body) {
        (&self.module.ctx, self.module.function(&self.entry).expect("the entry was found before"))
    }

    /// The arena that is enough at all sizes.
    ///
    /// # Errors
    /// Why there is none.
    pub fn bound(&self) -> Result<&Bound, &str> {
        self.bound.as_ref().map_err(String::as_str)
    }

    /// The module at some sizes, of this context.
    fn module_at(&self, ctx: Arc<Context>, sizes: &[u64]) -> Result<Module, Failure> {
        let body = self.plans.plan(&ctx, &Cpu, sizes, self.bound.as_ref().ok());
        let body = body.map_err(|faults| Failure::diagnostics(&ctx, &faults))?;
        let mut module = Module { ctx, ..self.module.clone() };
        *module.function_mut(&self.entry).expect("the entry was found before") = body;
        Ok(module)
    }

    /// A context in which all handles of the module's mean the same, and that nobody else uses.
    fn spare_context(&self) -> Option<Arc<Context>> {
        let mut spare = self.spare.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        for known in spare.iter_mut() {
            if let Some(free) = Arc::get_mut(known) {
                free.forget();
                return Some(known.clone());
            }
        }
        spare.push(Arc::new(self.module.ctx.copy()));
        spare.last().cloned()
    }

    /// The sizes' names, in the order in which [`Variants::at`] takes numbers for them.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }
}

impl Variants for Symbolic {
    fn at(&self, sizes: &[u64]) -> Result<Module, Failure> {
        self.module_at(self.module.ctx.clone(), sizes)
    }

    fn at_once(&self, sizes: &[u64]) -> Result<Module, Failure> {
        self.module_at(self.spare_context().unwrap_or_else(|| self.module.ctx.clone()), sizes)
    }

    fn before_sizes(&self) -> Option<Decided<'_>> {
        let bound = self.bound.as_ref().ok();
        Some(Decided { ctx: &self.module.ctx, symbols: &self.names, plans: &self.plans, bound })
    }
}

fn symbol(ctx: &Context, name: Ident, ranges: &Ranges) -> Symbol {
    let (least, most) = ranges.of(name);
    Symbol { name: ctx.str(name).to_owned(), least, most, default: None }
}

/// The sizes that a function's symbols have where its inputs have the shapes that are given.
///
/// # Errors
/// If no sizes give these shapes, or what a size of an input follows from can't be read; none are missing.
pub(crate) fn sizes_of(
    ctx: &Context,
    body: &Body,
    shapes: &[(&str, &[u64])],
) -> Result<BTreeMap<String, u64>, Failure> {
    let (names, inputs) = signature(ctx, body)?;
    let ranges = Ranges::of_function(ctx, body);
    let symbols = names.iter().map(|name| symbol(ctx, *name, &ranges)).collect();
    let sizes = runtime::sizes_of(symbols, inputs, shapes);
    let sizes = sizes.map_err(|error| Failure::input(error.to_string()))?;
    Ok(names.iter().map(|name| ctx.str(*name).to_owned()).zip(sizes).collect())
}

/// The symbols of a function's inputs, in the order in which they come up, and its inputs by them.
fn signature(ctx: &Context, body: &Body) -> Result<(Vec<Ident>, Vec<InputSpec>), Failure> {
    let args = body.entry(body.root()).map_or(&[][..], |block| body.args(block));
    let mut names: Vec<Ident> = Vec::new();
    let mut inputs = Vec::new();
    for (name, arg) in input_names(ctx, body).into_iter().zip(args) {
        let data = ctx.type_data(body.ty(*arg));
        let shape = data.tensor_shape().unwrap_or(&[]);
        let element = codegen::element_kind(ctx.type_data(ctx.elem(body.ty(*arg))));
        let element = element
            .ok_or_else(|| Failure::input(format!("input `{name}` has elements that no caller can pass")))?;
        let extents = shape.iter().map(|dim| {
            extent(ctx, *dim, &mut names).ok_or_else(|| {
                let size = dims::Sizes(ctx).text(*dim);
                Failure::input(format!("the size {size} of input `{name}` follows from no symbols"))
            })
        });
        let extents = extents.collect::<Result<_, _>>()?;
        inputs.push(InputSpec { name, element, extents });
    }
    Ok((names, inputs))
}

fn extent(ctx: &Context, dim: Dim, names: &mut Vec<Ident>) -> Option<Extent> {
    let expr = match dim {
        Dim::Known(size) => return Some(Extent::Known(size)),
        Dim::Symbolic(expr) => expr,
        Dim::Unknown => return None,
    };
    let products = products(ctx, expr, names);
    if let [Product { number: 1, factors }] = &products[..]
        && let [Factor::Symbol(symbol)] = factors[..]
    {
        return Some(Extent::Symbol(symbol));
    }
    Some(Extent::Sum(Arc::new(Sum { products, text: dims::print(ctx, expr) })))
}

fn products(ctx: &Context, expr: DimExpr, names: &mut Vec<Ident>) -> Vec<Product> {
    let mut factor = |atom: &Atom| match atom {
        Atom::Symbol(name) => Factor::Symbol(number(names, *name)),
        Atom::FloorDiv { dividend, divisor } => Factor::FloorDiv {
            dividend: products(ctx, *dividend, names),
            divisor: products(ctx, *divisor, names),
        },
        Atom::Min(all) => Factor::Min(all.iter().map(|expr| products(ctx, *expr, names)).collect()),
        Atom::Max(all) => Factor::Max(all.iter().map(|expr| products(ctx, *expr, names)).collect()),
    };
    let terms = ctx.dim_expr(expr).terms().iter();
    let product =
        |term: &Term| Product { number: term.factor, factors: term.atoms.iter().map(&mut factor).collect() };
    terms.map(product).collect()
}

fn number(names: &mut Vec<Ident>, name: Ident) -> usize {
    names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}
