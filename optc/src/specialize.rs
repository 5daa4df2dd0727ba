//! Specialization: a function with named sizes is planned once for all sizes, compiled once, and specialized
//! to the sizes that occur.
//!
//! All size-independent decisions are made once ([`passes::memory`]): groups, order, ties, buffers. Machine
//! code is generated for a few *samples*. A specialization places the buffers at its sizes and gives that
//! code a frame; nothing is compiled again.

#[cfg(feature = "cli")]
use std::collections::BTreeMap;
use std::sync::Arc;

use ir::dims::{self, Atom, Monomial, Ranges};
use ir::memory_pools::add_pools;
use ir::plan::attrs;
use ir::plan::signature::Signature;
use ir::{Body, Context, Dim, DimExpr, Ident, Module, Type};
use passes::manager::{BEFORE_STAGES, Registry, Remark, Stage, after_schedule};
use passes::memory::bound::Bound;
use passes::memory::buffers::Buffers;
use passes::memory::specialize::Specializer;
use passes::precision::SIZES_ARE_NOT_KNOWN;
use passes::tradeoff::Goal;
use runtime::{
    Extent, NamedSizes, Program, ProgramParts, SizeExpr, SizeStep, Symbol, TensorSpec, Weights, undetermined,
};

use crate::budget;
use crate::compile::{CompileOptions, MACHINE_CODE, Precision, donate, entry, signature};
use crate::failure::Failure;
use crate::size_ranges::{declare, forget_decisions};
use crate::specializations::Specializations;

/// The stages that need no sizes.
const FRONT: [Stage; 5] = [Stage::Simplify, Stage::Layout, Stage::Fuse, Stage::Schedule, Stage::Inplace];

/// The passes that a function at this stage lacks, among those that need no sizes.
///
/// # Errors
/// If the registry inserts passes at a stage where sizes are known only at run time: no pass runs there.
fn front(registry: &Registry, reached: Option<Stage>, goal: Goal) -> Result<String, Failure> {
    let late = [Stage::Select, Stage::Schedule, Stage::Inplace, Stage::Plan];
    let late = late.map(|stage| registry.extensions(Some(stage)).next().map(|passes| (stage, passes)));
    if let Some((stage, passes)) = late.into_iter().flatten().next() {
        return Err(Failure::input(format!(
            "`{passes}` is to run after `{}`, which is not done by a pass at named sizes; put it before \
             that, or give the sizes numbers",
            stage.name()
        )));
    }
    let before = registry.extensions(None).chain([BEFORE_STAGES]).filter(|_| reached.is_none());
    let missing = FRONT.into_iter().filter(|stage| Some(*stage) > reached);
    let passes_of = |stage: Stage| {
        let after = after_schedule(goal).filter(|_| stage == Stage::Schedule);
        std::iter::once(stage.name()).chain(after.map(|pass| pass.name))
    };
    let stages = missing.flat_map(|stage| passes_of(stage).chain(registry.extensions(Some(stage))));
    Ok(before.chain(stages).collect::<Vec<&str>>().join(","))
}

/// Whether arguments of a function have named sizes.
pub fn has_named_sizes(ctx: &Context, body: &Body) -> bool {
    let args = body.entry(body.root()).map_or(&[][..], |block| body.args(block));
    let is_named = |ty: Type| {
        let shape = ctx.type_data(ty).tensor_shape().unwrap_or(&[]);
        shape.iter().any(|dim| matches!(dim, Dim::Symbolic(_)))
    };
    args.iter().any(|arg| is_named(body.ty(*arg)))
}

/// Compiles a function that was planned for all sizes.
///
/// # Errors
/// All errors of the first stage that finds any.
pub(crate) fn compile(all: AllSizes, options: &CompileOptions) -> Result<Program, Failure> {
    options.begins(MACHINE_CODE)?;
    let made = Specializations::compile(all, &options.code())?;
    let all = made.all();
    let parts = ProgramParts { weights: Arc::new(Weights::none()), threads: options.threads };
    let open = codegen::open_outputs(&all.module.ctx, &signature(&all.module, &all.entry)?);
    let sample = all.sample.clone();
    let states = made.states().to_vec();
    let sizes = NamedSizes {
        symbols: all.symbols.clone(),
        inputs: all.inputs.clone(),
        outputs: all.outputs.clone(),
        bound_bytes: all.bound().ok().map(|bound| bound.size_bytes() as usize),
        cached: options.sizes.cached,
        specialize: Box::new(made),
    };
    let program = Program::with_sizes(parts, sizes).with_open(open).with_states(states);
    // Weights are packed now rather than at the first request.
    program.at(&sample).map_err(|error| Failure::input(error.to_string()))?;
    Ok(program)
}

/// A module whose entry is planned for all sizes.
pub struct AllSizes {
    /// The module with all decisions; at each size its entry is specialized.
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
    variants: Vec<Variant>,
    /// The remarks of the passes.
    remarks: Vec<Remark>,
}

/// A variant of a function for some sizes.
pub struct Variant {
    /// The sizes.
    pub guard: Guard,
    /// The variant.
    pub all: AllSizes,
}

/// The guard of a variant: the sizes at which it runs.
pub struct Guard {
    /// The symbols that must have these sizes, by their indices in the function.
    pub equal: Vec<(usize, u64)>,
    /// For each of the variant's own symbols, its index in the function.
    symbols: Vec<usize>,
}

impl Guard {
    /// The sizes of the variant's own symbols at these sizes of the function; none if the variant does not
    /// run.
    pub(crate) fn sizes(&self, sizes: &[u64]) -> Option<Vec<u64>> {
        let holds = self.equal.iter().all(|(symbol, size)| sizes[*symbol] == *size);
        holds.then(|| self.symbols.iter().map(|symbol| sizes[*symbol]).collect())
    }
}

impl AllSizes {
    /// Runs all passes that need no sizes on the entry of a module.
    ///
    /// # Errors
    /// All errors of the first stage that finds any; a named size that the shapes of inputs do not determine.
    pub fn decide(module: &mut Module, options: &CompileOptions) -> Result<AllSizes, Failure> {
        let CompileOptions { donated, pools, entry: wanted, sizes, .. } = options;
        if options.precision != Precision::F32 {
            return Err(Failure::input(SIZES_ARE_NOT_KNOWN));
        }
        declare(module, &sizes.ranges)?;
        let entry = entry(module, wanted.as_deref())?;
        donate(module, &entry, donated)?;
        let ctx = module.ctx.clone();
        let body = module.function_mut(&entry).expect("the entry was just found");
        add_pools(&ctx, body, pools).map_err(Failure::input)?;
        forget_decisions(module);
        match options.budget_bytes {
            None => AllSizes::for_goal(module, &entry, options),
            Some(budget_bytes) => budget::meet_at_all_sizes(module, &entry, options, budget_bytes),
        }
    }

    /// The same for a module with its ranges, pools and donated inputs, for the options' goal whatever the
    /// budget is.
    ///
    /// # Errors
    /// As for [`AllSizes::decide`].
    pub(crate) fn for_goal(
        module: &mut Module,
        entry: &str,
        options: &CompileOptions,
    ) -> Result<AllSizes, Failure> {
        let reached = module.function(entry).and_then(|body| Stage::of(&module.ctx, body));
        let passes = front(&options.passes(), reached, options.goal)?;
        let remarks = options.run_passes(module, &passes)?.remarks;
        let mut all = AllSizes { remarks, ..AllSizes::of(module, entry.to_owned(), options)? };
        all.variants = all.variants_of(module, options)?;
        Ok(all)
    }

    /// A function whose structure is decided, ready for placement at any sizes; without variants.
    fn of(module: &Module, entry: String, options: &CompileOptions) -> Result<AllSizes, Failure> {
        let CompileOptions { threads, goal, sizes, .. } = options;
        let threads = *threads;
        let ctx = module.ctx.clone();
        let body = module.function(&entry).expect("the function was just found");
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
        check_sample(&symbols, &sample)?;
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
        Ok(AllSizes {
            module,
            entry,
            names,
            symbols,
            inputs,
            outputs,
            sample,
            compile,
            plans,
            bound,
            variants: Vec::new(),
            remarks: Vec::new(),
        })
    }

    /// The function's variants with at least a twentieth fewer steps and no larger arena. Since a variant
    /// with a larger arena is left out, an arena that suffices for all sizes keeps sufficing.
    fn variants_of(&self, module: &Module, options: &CompileOptions) -> Result<Vec<Variant>, Failure> {
        let (ctx, body) = self.decided();
        let mut variants = Vec::new();
        for name in passes::variants::variants_of(ctx, body) {
            let Some(function) = module.function(&name) else {
                return Err(Failure::input(format!(
                    "`{}` has no variant `{name}` in the module",
                    self.entry
                )));
            };
            let guard = passes::variants::guard(ctx, function);
            let all = AllSizes::of(module, name, options)?;
            let number = |name: &Ident| self.names.iter().position(|known| known == name);
            let equal: Option<Vec<(usize, u64)>> =
                guard.iter().map(|(name, size)| Some((number(name)?, *size))).collect();
            let symbols: Option<Vec<usize>> = all.names.iter().map(number).collect();
            let (Some(equal), Some(symbols)) = (equal, symbols) else {
                let what = format!("the variant `{}` has sizes that `{}` has not", all.entry, self.entry);
                return Err(Failure::input(what));
            };
            let is_within = self.bound.as_ref().map_or(true, |bound| {
                all.bound.as_ref().is_ok_and(|own| own.size_bytes() <= bound.size_bytes())
            });
            let is_shorter = all.steps() + self.steps().div_ceil(20) <= self.steps();
            if !equal.is_empty() && is_shorter && is_within {
                variants.push(Variant { guard: Guard { equal, symbols }, all });
            }
        }
        Ok(variants)
    }

    /// The number of operations that run.
    pub fn steps(&self) -> usize {
        self.plans.buffers().runs.len()
    }

    /// The variants for some sizes, of which the first with a matching guard runs.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// The variant that runs at these sizes, with its own.
    fn variant_at(&self, sizes: &[u64]) -> Option<(&AllSizes, Vec<u64>)> {
        self.variants.iter().find_map(|variant| Some((&variant.all, variant.guard.sizes(sizes)?)))
    }

    /// Removes and returns the variants.
    pub(crate) fn take_variants(&mut self) -> Vec<Variant> {
        std::mem::take(&mut self.variants)
    }

    /// The name of the entry function.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The goal of its plans: that of the options, or the smallest arena, if a budget needs it.
    pub(crate) fn goal(&self) -> Goal {
        self.compile.goal
    }

    /// The remarks of the passes, including those about variants.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// The sizes for which code is made first, one for each symbol.
    pub fn sample(&self) -> &[u64] {
        &self.sample
    }

    /// All sizes for which code is made, if the function allows them.
    pub(crate) fn samples(&self) -> Vec<Vec<u64>> {
        samples(&self.symbols, &self.sample)
    }

    /// The context of the function, and the names of its sizes in the order of their indices.
    pub(crate) fn named(&self) -> (&Arc<Context>, &[Ident]) {
        (&self.module.ctx, &self.names)
    }

    #[cfg(test)]
    pub(crate) fn with_plans(self, plans: Specializer) -> AllSizes {
        AllSizes { plans, ..self }
    }

    /// The signature of the function.
    pub(crate) fn signature(&self) -> Result<Signature, Failure> {
        signature(&self.module, &self.entry)
    }

    /// The buffers of the function.
    #[cfg(feature = "cli")]
    pub(crate) fn buffers(&self) -> &Buffers {
        self.plans.buffers()
    }

    /// Its plans.
    pub(crate) fn plans(&self) -> &Specializer {
        &self.plans
    }

    /// The module planned for all sizes (see [`passes::symbolic`]).
    ///
    /// # Errors
    /// Every result whose size no symbol determines.
    pub fn planned(&self) -> Result<Module, Failure> {
        let mut module = self.module.clone();
        self.compile.run_passes(&mut module, &format!("plan{{optimize={}}}", self.goal().name()))?;
        Ok(module)
    }

    /// The function, with everything decided for all sizes, and its context.
    pub fn decided(&self) -> (&Context, &Body) {
        (&self.module.ctx, self.module.function(&self.entry).expect("the entry was found before"))
    }

    /// The arena that suffices at all sizes.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn bound(&self) -> Result<&Bound, &str> {
        self.bound.as_ref().map_err(String::as_str)
    }

    /// The named sizes, in the order in which [`AllSizes::at`] takes them.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The inputs of the function.
    pub fn inputs(&self) -> &[TensorSpec] {
        &self.inputs
    }

    /// The outputs of the function.
    pub fn outputs(&self) -> &[TensorSpec] {
        &self.outputs
    }

    /// The planned module at these sizes, one for each symbol in order.
    ///
    /// # Errors
    /// The reason why the function can't have these sizes.
    pub fn at(&self, sizes: &[u64]) -> Result<Module, Failure> {
        let (all, sizes) = self.variant_at(sizes).unwrap_or_else(|| (self, sizes.to_vec()));
        let ctx = &self.module.ctx;
        let body = all.plans.plan(ctx, self.compile.target(), &sizes, all.bound.as_ref().ok());
        let mut body = body.map_err(|faults| Failure::diagnostics(ctx, &faults))?;
        let own = self.decided().1.properties;
        body.properties = ["sym_name", "sym_visibility"].iter().fold(body.properties, |properties, name| {
            let name = ctx.ident(name);
            let properties = ctx.dict_remove(properties, name);
            ctx.dict_get(own, name).map_or(properties, |value| ctx.dict_set(properties, name, value))
        });
        for name in [attrs::OPTC_VARIANTS, attrs::OPTC_GUARD] {
            body.attrs = ctx.dict_remove(body.attrs, ctx.ident(name));
        }
        let mut module = self.module.clone();
        passes::variants::remove_all(&mut module);
        *module.function_mut(&self.entry).expect("the entry was found before") = body;
        Ok(module)
    }
}

/// Checks that all symbols allow the sizes of a sample.
fn check_sample(symbols: &[Symbol], sample: &[u64]) -> Result<(), Failure> {
    let outside = |(symbol, size): (&Symbol, &u64)| {
        let Symbol { name, .. } = symbol;
        let expected = symbol.range_text();
        let is_outside = !symbol.may_be(*size);
        is_outside.then(|| format!("code can't be made first for `{name}` = {size}, expected {expected}"))
    };
    Failure::unless_none(symbols.iter().zip(sample).filter_map(outside))
}

/// A sample, the least sizes, and sizes next to the sample. Loops with one iteration give other code than
/// loops with many, and a window that covers its whole operand is no copy.
fn samples(symbols: &[Symbol], sample: &[u64]) -> Vec<Vec<u64>> {
    let mut samples = vec![sample.to_vec()];
    for also in [symbols.iter().map(|symbol| symbol.least).collect(), odd(symbols, sample)] {
        if !samples.contains(&also) {
            samples.push(also);
        }
    }
    samples
}

/// The sizes next to a sample: even ones for odd, odd ones for even.
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

/// The size of each symbol of a function for these shapes of its inputs; none is missing.
///
/// # Errors
/// If no sizes give these shapes, or the expression of an input's size can't be read.
#[cfg(feature = "cli")]
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

/// An input or output in terms of the named sizes; new names are added to `names`.
fn tensor_spec(
    ctx: &Context,
    side: &str,
    name: &str,
    ty: Type,
    names: &mut Vec<Ident>,
) -> Result<TensorSpec, Failure> {
    let shape = ctx.type_data(ty).tensor_shape().unwrap_or(&[]);
    let element = codegen::element_kind(ctx, ty);
    let element = element
        .ok_or_else(|| Failure::input(format!("{side} `{name}` has elements that no caller can pass")))?;
    let extents = shape.iter().map(|dim| {
        extent(ctx, *dim, names).ok_or_else(|| {
            let size = dims::SizeArithmetic(ctx).text(*dim);
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

/// Appends the steps of an expression: a sum of terms, each a product of factors.
fn push_expr(ctx: &Context, expr: DimExpr, names: &mut Vec<Ident>, steps: &mut Vec<SizeStep>) {
    let terms = ctx.dim_expr(expr).terms();
    if terms.is_empty() {
        steps.push(SizeStep::Number(0));
    }
    for (index, Monomial { factor, atoms }) in terms.iter().enumerate() {
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
