//! How a function of named sizes becomes a program: decided once for all sizes, compiled once, and
//! specialized at sizes that come up.
//!
//! What does not depend on sizes is decided once ([`passes::memory`]): groups, order, ties, buffers. Machine
//! code is made from a few *samples*. A specialization places the buffers at its sizes and gives that code a
//! frame; nothing is compiled again.

use std::collections::BTreeMap;
use std::sync::Arc;

use ir::dims::{self, Atom, Ranges, Term};
use ir::plan::signature::Signature;
use ir::{Body, Context, Dim, DimExpr, Ident, Module, Type};
use passes::manager::{RunOptions, Stage};
use passes::memory::bound::Bound;
use passes::memory::buffers::Buffers;
use passes::memory::specialize::Specializer;
use runtime::{
    Extent, NamedSizes, Program, ProgramParts, SizeExpr, SizeStep, Symbol, TensorSpec, Weights, undetermined,
};

use crate::budget;
use crate::compile::{CompileOptions, INLINE_ALL, donate, entry, for_known_sizes, run_pipeline, signature};
use crate::failure::Failure;
use crate::sizes::{declare, forget_decisions};
use crate::specializations::Specializations;

/// The stages that need no sizes.
const FRONT: [Stage; 5] = [Stage::Simplify, Stage::Layout, Stage::Fuse, Stage::Schedule, Stage::Inplace];

/// Whether arguments of a function have named sizes.
pub fn has_named_sizes(ctx: &Context, body: &Body) -> bool {
    let args = body.entry(body.root()).map_or(&[][..], |block| body.args(block));
    let is_named = |ty: Type| {
        let shape = ctx.type_data(ty).tensor_shape().unwrap_or(&[]);
        shape.iter().any(|dim| matches!(dim, Dim::Symbolic(_)))
    };
    args.iter().any(|arg| is_named(body.ty(*arg)))
}

/// Compiles a function that was decided for all sizes.
///
/// # Errors
/// Every fault of the first stage that finds some.
pub(crate) fn compile(all: AllSizes, options: &CompileOptions) -> Result<Program, Failure> {
    let CompileOptions { threads, cpu, dead, .. } = *options;
    if all.plans.buffers().has_pools {
        return Err(for_known_sizes("a pool"));
    }
    let made = Specializations::compile(all, &codegen::Options { threads, cpu, dead })?;
    let (all, code) = (made.all(), made.code());
    let parts = ProgramParts {
        code: code.code(),
        weights: Arc::new(Weights::none()),
        threads,
        faults: code.faults().to_vec(),
    };
    let open = codegen::open_outputs(&all.module.ctx, &signature(&all.module, &all.entry)?);
    let sample = all.sample.clone();
    let sizes = NamedSizes {
        symbols: all.symbols.clone(),
        inputs: all.inputs.clone(),
        outputs: all.outputs.clone(),
        bound_bytes: all.bound().ok().map(|bound| bound.size_bytes() as usize),
        cached: options.sizes.cached,
        specialize: Box::new(made),
    };
    let program = Program::with_sizes(parts, sizes).with_open(open);
    // So that weights are packed now, and not in the first request.
    program.at(&sample).map_err(|error| Failure::input(error.to_string()))?;
    Ok(program)
}

/// A module whose entry is decided for all sizes.
pub struct AllSizes {
    /// The module with all that is decided; its entry is another at each size.
    module: Module,
    entry: String,
    names: Vec<Ident>,
    symbols: Vec<Symbol>,
    inputs: Vec<TensorSpec>,
    outputs: Vec<TensorSpec>,
    sample: Vec<u64>,
    compile: CompileOptions,
    plans: Specializer,
    bound: Result<Bound, String>,
}

impl AllSizes {
    /// Takes the entry of a module as far as it goes without sizes.
    ///
    /// # Errors
    /// Every fault of the first stage that finds some; a named size that the shapes of inputs do not say.
    pub fn decide(module: &mut Module, options: &CompileOptions) -> Result<AllSizes, Failure> {
        let CompileOptions { threads, goal, donated, entry: wanted, sizes, reproducer, .. } = options;
        declare(module, &sizes.ranges)?;
        let entry = entry(module, wanted.as_deref())?;
        donate(module, &entry, donated)?;
        forget_decisions(module);
        let reached = module.function(&entry).and_then(|body| Stage::of(&module.ctx, body));
        let missing = FRONT.into_iter().filter(|stage| Some(*stage) > reached).map(Stage::name);
        let pipeline: Vec<&str> =
            reached.is_none().then_some(INLINE_ALL).into_iter().chain(missing).collect();
        let (threads, reproducer) = (*threads, reproducer.clone());
        let run_options = RunOptions { threads, reproducer, ..RunOptions::new(options.target()) };
        run_pipeline(module, &pipeline.join(","), &run_options)?;
        let ctx = module.ctx.clone();
        let body = module.function(&entry).expect("the entry was just found");
        let (mut names, mut inputs) = (Vec::new(), Vec::new());
        let taken = signature(module, &entry)?;
        for input in taken.inputs() {
            inputs.push(tensor_spec(&ctx, "input", &input.name, input.ty, &mut names)?);
        }
        let ranges = Ranges::of_function(&ctx, body);
        let nominal = dims::nominal(&ctx, body);
        let said = |name: &Ident| sizes.sample.iter().find(|(known, _)| known == ctx.str(*name));
        let sample: Vec<u64> =
            names.iter().map(|name| said(name).map_or(nominal[name], |(_, size)| *size)).collect();
        let symbol =
            |name: &Ident| Symbol { default: said(name).map(|said| said.1), ..symbol(&ctx, *name, &ranges) };
        let symbols: Vec<Symbol> = names.iter().map(symbol).collect();
        let beyond = dims::symbols_in(&ctx, body).into_iter().find(|name| !names.contains(name));
        let open = undetermined(&symbols, &inputs).map(|open| names[open]);
        if let Some(open) = open.or(beyond) {
            let name = ctx.str(open);
            return Err(Failure::input(format!(
                "the shapes of the inputs do not say what `{name}` is, expected an input of that size"
            )));
        }
        let output = |result: &ir::plan::signature::Returned| {
            tensor_spec(&ctx, "output", &result.name, result.ty, &mut names.clone())
        };
        let outputs = taken.outputs().map(output).collect::<Result<_, _>>()?;
        let target = options.target();
        let buffers = Buffers::of(&ctx, target, body, threads);
        let buffers = buffers.map_err(|faults| Failure::diagnostics(&ctx, &faults))?;
        let bound = Bound::of(&ctx, target, &buffers, threads, *goal);
        let samples = samples(&symbols, &sample);
        let plans = Specializer::new(&ctx, target, buffers, &names, threads, *goal, &samples);
        let module = module.clone();
        let compile = options.clone();
        let all = AllSizes { module, entry, names, symbols, inputs, outputs, sample, compile, plans, bound };
        if let Some(budget_bytes) = options.budget_bytes {
            budget::meet_at_all_sizes(&all, budget_bytes)?;
        }
        Ok(all)
    }

    /// The function that is the program.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The sizes for which code is made first, one for each symbol.
    pub fn sample(&self) -> &[u64] {
        &self.sample
    }

    /// All sizes for which code is made, where the function can have them.
    pub(crate) fn samples(&self) -> Vec<Vec<u64>> {
        samples(&self.symbols, &self.sample)
    }

    /// The context of the function, and the names of its sizes in the order of their numbers.
    pub(crate) fn named(&self) -> (&Arc<Context>, &[Ident]) {
        (&self.module.ctx, &self.names)
    }

    #[cfg(test)]
    pub(crate) fn with_plans(self, plans: Specializer) -> AllSizes {
        AllSizes { plans, ..self }
    }

    /// Its plans.
    pub(crate) fn plans(&self) -> &Specializer {
        &self.plans
    }

    /// The module with the plan for all sizes (see [`passes::symbolic`]).
    ///
    /// # Errors
    /// Every result whose size no symbol says.
    pub fn planned(&self) -> Result<Module, Failure> {
        let mut module = self.module.clone();
        let run_options =
            RunOptions { threads: self.compile.threads, ..RunOptions::new(self.compile.target()) };
        run_pipeline(&mut module, "plan", &run_options)?;
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

    /// The named sizes, in the order in which [`AllSizes::at`] takes numbers for them.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The planned module at these sizes, one for each symbol in order.
    ///
    /// # Errors
    /// Why the function can't have these sizes.
    pub fn at(&self, sizes: &[u64]) -> Result<Module, Failure> {
        let ctx = &self.module.ctx;
        let body = self.plans.plan(ctx, self.compile.target(), sizes, self.bound.as_ref().ok());
        let body = body.map_err(|faults| Failure::diagnostics(ctx, &faults))?;
        let mut module = self.module.clone();
        *module.function_mut(&self.entry).expect("the entry was found before") = body;
        Ok(module)
    }
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
    taken: &Signature,
    shapes: &[(&str, &[u64])],
) -> Result<BTreeMap<String, u64>, Failure> {
    let mut names = Vec::new();
    let inputs = taken.inputs().map(|input| tensor_spec(ctx, "input", &input.name, input.ty, &mut names));
    let inputs = inputs.collect::<Result<_, _>>()?;
    let ranges = Ranges::of_function(ctx, body);
    let symbols = names.iter().map(|name| symbol(ctx, *name, &ranges)).collect();
    let sizes = runtime::sizes_of(symbols, inputs, shapes);
    let sizes = sizes.map_err(|error| Failure::input(error.to_string()))?;
    Ok(names.iter().map(|name| ctx.str(*name).to_owned()).zip(sizes).collect())
}

/// An input or output by the named sizes, of which those that come up first are added to `names`.
fn tensor_spec(
    ctx: &Context,
    side: &str,
    name: &str,
    ty: Type,
    names: &mut Vec<Ident>,
) -> Result<TensorSpec, Failure> {
    let shape = ctx.type_data(ty).tensor_shape().unwrap_or(&[]);
    let element = codegen::element_kind(ctx.type_data(ctx.elem(ty)));
    let element = element
        .ok_or_else(|| Failure::input(format!("{side} `{name}` has elements that no caller can pass")))?;
    let extents = shape.iter().map(|dim| {
        extent(ctx, *dim, names).ok_or_else(|| {
            let size = dims::Sizes(ctx).text(*dim);
            Failure::input(format!("the size {size} of {side} `{name}` follows from no symbols"))
        })
    });
    let extents = extents.collect::<Result<_, _>>()?;
    Ok(TensorSpec { name: name.to_owned(), element, extents })
}

fn extent(ctx: &Context, dim: Dim, names: &mut Vec<Ident>) -> Option<Extent> {
    let expr = match dim {
        Dim::Known(size) => return Some(Extent::Known(size)),
        Dim::Symbolic(expr) => expr,
        Dim::Unknown => return None,
    };
    let mut steps = Vec::new();
    push_expr(ctx, expr, names, &mut steps);
    if let [SizeStep::Symbol(symbol)] = steps[..] {
        return Some(Extent::Symbol(symbol));
    }
    Some(Extent::Expr(Arc::new(SizeExpr { steps, text: dims::print(ctx, expr) })))
}

/// Appends the steps of an expression: its terms are added, the factors of a term multiplied.
fn push_expr(ctx: &Context, expr: DimExpr, names: &mut Vec<Ident>, steps: &mut Vec<SizeStep>) {
    let terms = ctx.dim_expr(expr).terms();
    if terms.is_empty() {
        steps.push(SizeStep::Number(0));
    }
    for (index, Term { factor, atoms }) in terms.iter().enumerate() {
        if index + 1 < terms.len() {
            steps.push(SizeStep::Add);
        }
        if *factor != 1 || atoms.is_empty() {
            steps.extend((!atoms.is_empty()).then_some(SizeStep::Multiply));
            steps.push(SizeStep::Number(*factor));
        }
        for (index, atom) in atoms.iter().enumerate() {
            if index + 1 < atoms.len() {
                steps.push(SizeStep::Multiply);
            }
            push_atom(ctx, atom, names, steps);
        }
    }
}

fn push_atom(ctx: &Context, atom: &Atom, names: &mut Vec<Ident>, steps: &mut Vec<SizeStep>) {
    let mut push_all = |step: SizeStep, all: &[DimExpr]| {
        for (index, expr) in all.iter().enumerate() {
            if index + 1 < all.len() {
                steps.push(step);
            }
            push_expr(ctx, *expr, names, steps);
        }
    };
    match atom {
        Atom::FloorDiv { dividend, divisor } => push_all(SizeStep::FloorDivide, &[*dividend, *divisor]),
        Atom::Min(all) => push_all(SizeStep::Min, all),
        Atom::Max(all) => push_all(SizeStep::Max, all),
        Atom::Symbol(name) => {
            let known = names.iter().position(|known| known == name);
            let index = known.unwrap_or_else(|| {
                names.push(*name);
                names.len() - 1
            });
            steps.push(SizeStep::Symbol(index));
        }
    }
}
