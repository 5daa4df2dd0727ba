//! Trials of modules: the results after passes in any order, and in machine code, must equal the first
//! results.
//!
//! Dead memory is poisoned, and the checker checks each plan. Machine code rounds sums in another order, and
//! later operations may amplify tiny differences. So if an element is off, the interpreter runs the module
//! again with noise after each operation (`noisy`), and the element may be off by a multiple of the noise's
//! effect (Monte Carlo arithmetic: Parker, 1997).

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use codegen::{Cpu, Isa};
use ir::dims::{Bindings, substitute, symbols_of};
use ir::{Blob, Body, Builder, Context, FloatKind, Module, Op, Type, TypeData, Value};
use optc::expect::elements_agree;
use optc::interpret::interpret;
use optc::{Array, CompileOptions, DeadMemory, Failure, Goal, Model};
use passes::manager::RunOptions;
use passes::reduce::{ReduceOptions, reduce};

use crate::modules::{content, random_module};
use crate::random::Random;

/// Passes that inline all calls, except of functions with blocks in loops.
const INLINE: &str = "inline{max-ops=1000000}";
/// The number of noisy runs, and the allowed multiple of the noise's effect.
const NOISY_RUNS: u64 = 6;
const NOISE_FACTOR: f64 = 16.0;

/// The number of failures that are reduced, and the time for each.
const MOST_REDUCED: usize = 4;
const PATIENCE: Duration = Duration::from_secs(20);

/// The outcomes for the modules of some seeds.
#[derive(Default)]
pub struct Tried {
    /// The number of modules with each outcome, and the first seed.
    ends: BTreeMap<Outcome, (usize, u64)>,
    /// The faults, each with a small program and the command that reproduces it.
    pub faults: Vec<String>,
}

/// The configuration of a compilation.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Passes before the compiler's own.
    pub passes: String,
    /// Threads.
    pub threads: usize,
    /// The instructions that it may use.
    pub isa: Isa,
    /// The goal of the plan.
    pub goal: Goal,
    /// Whether named sizes have an upper bound.
    pub is_bounded: bool,
    /// The seed of the inputs.
    pub seed: u64,
}

/// The outcome for a module without a wrong result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It computes the same.
    Same,
    /// The compiler refuses it, with this reason.
    Refused(String),
    /// The interpreter has no result, for this reason.
    Meaningless(String),
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trial { passes, threads, isa, goal, .. } = self;
        let bounded = if self.is_bounded { ", sizes are bounded" } else { "" };
        write!(f, "passes `{passes}`, {threads} threads, {}, {}{bounded}", isa.name(), goal.name())
    }
}

/// Passes of any stage, in any order.
const ANYWHERE: [&str; 7] =
    ["inline", "symbol-dce", "canonicalize", "cse", "dce", "simplify", "inline{max-ops=8}"];
/// Passes in a fixed order, some of them omitted.
const IN_ORDER: [&[&str]; 6] = [
    &["layout"],
    &["fuse", "fuse{max-ops=2}", "fuse{max-ops=5}"],
    &["select"],
    &["schedule"],
    &["inplace"],
    &["plan", "plan{optimize=memory}", "plan{planner=size}", "plan{planner=birth}", "plan{optimize=speed}"],
];

impl Trial {
    /// The trial of a seed.
    pub fn new(seed: u64) -> Trial {
        let mut random = Random::new(seed ^ 0x7A11);
        let mut passes: Vec<&str> = (0..random.below(5)).map(|_| random.pick(&ANYWHERE)).collect();
        if random.below(2) == 0 {
            passes.push(INLINE);
            let stages = random.below(IN_ORDER.len() + 1);
            for stage in &IN_ORDER[..stages] {
                if random.below(4) > 0 {
                    passes.push(random.pick(stage));
                }
                if random.below(6) == 0 && ["layout", "fuse", "select"].iter().any(|name| stage[0] == *name) {
                    passes.push(random.pick(&["cse", "dce"]));
                }
            }
        }
        let levels: Vec<Isa> = Isa::ALL.into_iter().filter(|isa| isa.missing().is_none()).collect();
        Trial {
            passes: passes.join(","),
            threads: 1 + random.below(4),
            isa: random.pick(&levels),
            goal: random.pick(&[Goal::Balanced, Goal::Memory, Goal::Speed]),
            is_bounded: random.below(2) == 0,
            seed,
        }
    }

    /// Like [`Trial::check`]; a panic is a fault.
    ///
    /// # Errors
    /// As there.
    pub fn outcome(&self, module: &Module) -> Result<Outcome, String> {
        catch_unwind(AssertUnwindSafe(|| self.check(module))).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            Err(format!("it panics: {}", text.unwrap_or_default()))
        })
    }

    /// Writes a failure as a small program to a file, and returns the command that reproduces it.
    pub fn report(&self, module: Module, fault: &str) -> String {
        let options = ReduceOptions { deadline: Some(Instant::now() + PATIENCE), ..ReduceOptions::default() };
        let mut fails =
            |module: &Module| self.outcome(module).is_err_and(|other| kind(&other) == kind(fault));
        let smaller = catch_unwind(AssertUnwindSafe(|| reduce(module.clone(), &options, &mut fails).program));
        let text = ir::text::print(&smaller.unwrap_or(module));
        let path = std::env::var_os("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let path = path.join(format!("optc-module-{}-{}.mlir", std::process::id(), self.seed));
        let written = match std::fs::write(&path, &text) {
            Ok(()) => path.display().to_string(),
            Err(error) => error.to_string(),
        };
        let seeds = format!("OPTC_SEEDS={}..{}", self.seed, self.seed + 1);
        let command = "cargo test --release -p optc-tests --test it random_modules";
        let repeat = format!("OPTC_MODULE={written} {seeds} {command}");
        format!("seed {}, {self}: {fault}\n{repeat}\n{text}", self.seed)
    }

    fn options(&self, module: &Module) -> CompileOptions {
        let mut options = CompileOptions {
            cpu: *Cpu::level(self.isa),
            threads: self.threads,
            goal: self.goal,
            dead: DeadMemory::Poisoned,
            ..CompileOptions::default()
        };
        if self.is_bounded {
            let names = symbols_of(module).into_iter().map(|name| module.ctx.str(name).to_owned());
            options.sizes.ranges = names.map(|name| (name, (1, 12))).collect();
        }
        options
    }

    /// Compares what a module computes before and after passes, and in machine code.
    ///
    /// # Errors
    /// If it computes something else, or does not run.
    pub fn check(&self, module: &Module) -> Result<Outcome, String> {
        let mut module = module.clone();
        // Unread values may have impossible sizes.
        run(&mut module, "dce", &RunOptions::new(Cpu::native())).map_err(|failure| failure.to_string())?;
        let is_sized = !symbols_of(&module).is_empty();
        let sizes: &[u64] = if is_sized { &[5, 1, 12, 5] } else { &[0] };
        let mut cases = Vec::new();
        for size in sizes {
            match self.case(&module, *size) {
                Ok(case) => cases.extend(case),
                Err(reason) => return Ok(Outcome::Meaningless(reason)),
            }
        }
        let passes = RunOptions { threads: self.threads, ..RunOptions::new(Cpu::level(self.isa)) };
        let mut changed = module.clone();
        if let Err(failure) = run(&mut changed, &self.passes, &passes) {
            return refused(&failure);
        }
        for case in cases.iter().filter(|case| !is_sized || case.size == 5) {
            let Some(after) = at(&changed, case.size) else { continue };
            let found = interpret(&after, "main", &case.inputs);
            let found = found.map_err(|failure| format!("interpreted after the passes: {failure}"))?;
            case.agree(&found).map_err(|why| format!("interpreted after the passes: {why}"))?;
        }
        let options = self.options(&module);
        let mut model = match Model::compile(&mut changed, &options) {
            Ok(model) => model,
            Err(failure) => return refused(&failure),
        };
        for case in &cases {
            let found = model.run(&case.inputs).map_err(|failure| format!("it does not run: {failure}"))?;
            case.agree(&found).map_err(|why| format!("size {}: {why}", case.size))?;
        }
        Ok(Outcome::Same)
    }

    /// The results of the module at a size; none if that size is impossible.
    fn case(&self, module: &Module, size: u64) -> Result<Option<Case>, String> {
        let Some(fixed) = at(module, size) else { return Ok(None) };
        let ctx = &fixed.ctx;
        let body = fixed.function("main").ok_or("there is no `main`")?;
        let args = body.args(body.entry(body.root()).ok_or("`main` has no body")?);
        let mut random = Random::new(self.seed.wrapping_mul(31) + size);
        let inputs = args.iter().enumerate().map(|(index, arg)| {
            let ty = body.ty(*arg);
            let element = codegen::element_kind(ctx, ty)?;
            let shape = ctx.static_shape(ty).unwrap_or_default();
            let tensor = ctx.tensor(&shape, ctx.elem(ty));
            Some(Array {
                name: format!("arg{index}"),
                element,
                shape,
                bytes: content(ctx, tensor, &mut random),
            })
        });
        let inputs: Vec<Array> = inputs
            .collect::<Option<_>>()
            .ok_or_else(|| format!("no array is an argument of {}", types(ctx, body, args)))?;
        let expected = interpret(&fixed, "main", &inputs).map_err(|failure| failure.to_string())?;
        Ok(Some(Case { size, fixed, inputs, expected }))
    }
}

fn types(ctx: &Context, body: &Body, values: &[Value]) -> String {
    let types = values.iter().map(|value| format!("{:?}", ctx.type_data(body.ty(*value))));
    types.collect::<Vec<String>>().join(", ")
}

impl Tried {
    /// Tries the modules of these seeds, or instead the one in a file.
    pub fn of(seeds: impl Iterator<Item = u64>, file: Option<&str>) -> Tried {
        let mut tried = Tried::default();
        for seed in seeds {
            let trial = Trial::new(seed);
            let made = catch_unwind(|| file.map_or_else(|| random_module(&mut Random::new(seed)), read));
            match made.map(|module| (trial.outcome(&module), module)) {
                Ok((Ok(end), _)) => tried.ends.entry(end).or_insert((0, seed)).0 += 1,
                Ok((Err(fault), module)) if tried.faults.len() < MOST_REDUCED => {
                    tried.faults.push(trial.report(module, &fault));
                }
                Ok((Err(fault), _)) => tried.faults.push(format!("seed {seed}, {trial}: {fault}")),
                Err(_) => tried.faults.push(format!("seed {seed}: the module can't be written")),
            }
        }
        tried
    }

    /// The number of modules that were compiled and compute the same.
    pub fn same(&self) -> usize {
        self.ends.get(&Outcome::Same).map_or(0, |(count, _)| *count)
    }

    /// The number of modules that were tried.
    pub fn count(&self) -> usize {
        self.faults.len() + self.ends.values().map(|(count, _)| count).sum::<usize>()
    }
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (end, (count, seed)) in &self.ends {
            writeln!(f, "{count:7} {end:?}, first seed {seed}")?;
        }
        write!(f, "{:7} faults", self.faults.len())
    }
}

fn read(path: &str) -> Module {
    let written = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let ctx = Arc::new(Context::new());
    ir::text::parse(&ctx, path, written).unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)))
}

/// The kind of a fault: the text before its numbers.
fn kind(fault: &str) -> &str {
    fault.split(|c: char| c.is_ascii_digit() || c == '`').next().unwrap_or_default()
}

/// Operations and types may lack machine code; any other reason for a refusal is a fault.
fn refused(failure: &Failure) -> Result<Outcome, String> {
    let reason = failure.to_string();
    if reason.contains("no machine code for") {
        Ok(Outcome::Refused(reason))
    } else {
        Err(format!("refused: {reason}"))
    }
}

/// Runs passes; the list may be empty.
fn run(module: &mut Module, passes: &str, options: &RunOptions<'_>) -> Result<(), Failure> {
    if passes.is_empty() { Ok(()) } else { optc::run_pipeline(module, passes, options).map(drop) }
}

/// The module with this number for its named sizes, if that is possible.
fn at(module: &Module, size: u64) -> Option<Module> {
    let mut module = module.clone();
    let bindings: Bindings = symbols_of(&module).into_iter().map(|name| (name, size)).collect();
    substitute(&mut module, &bindings).ok()?;
    ir::verify::verify(&module).ok()?;
    Some(module)
}

/// The results of a module for some inputs.
struct Case {
    size: u64,
    fixed: Module,
    inputs: Vec<Array>,
    expected: Vec<Array>,
}

impl Case {
    fn agree(&self, found: &[Array]) -> Result<(), String> {
        if found.len() != self.expected.len() {
            return Err(format!("{} outputs, expected {}", found.len(), self.expected.len()));
        }
        let pairs = || self.expected.iter().zip(found);
        let fault = pairs().find_map(|(expected, found)| elements_agree(expected, found).err());
        let Some(fault) = fault else { return Ok(()) };
        let mut near: Vec<Vec<f64>> =
            self.expected.iter().map(|array| vec![0.0; array.to_f64().len()]).collect();
        for seed in 0..NOISY_RUNS {
            let noisy = noisy(&self.fixed, seed);
            let Ok(others) = interpret(&noisy, "main", &self.inputs) else { return Ok(()) };
            for ((near, expected), other) in near.iter_mut().zip(&self.expected).zip(&others) {
                let pairs = expected.to_f64().into_iter().zip(other.to_f64());
                near.iter_mut().zip(pairs).for_each(|(near, (a, b))| *near = near.max(distance(a, b)));
            }
        }
        for ((expected, found), near) in pairs().zip(&near) {
            if (expected.element, &expected.shape) != (found.element, &found.shape) {
                return Err(fault);
            }
            let all = expected.to_f64().into_iter().zip(found.to_f64()).zip(near).enumerate();
            for (at, ((expected, found), near)) in all {
                if distance(expected, found) > 1e-3 * expected.abs() + 1e-5 + NOISE_FACTOR * near {
                    return Err(format!("{found} at {at}, expected {expected}, near {near:e}"));
                }
            }
        }
        Ok(())
    }
}

/// The distance of two numbers; infinite, if one of them is NaN.
fn distance(a: f64, b: f64) -> f64 {
    if a == b || a.is_nan() && b.is_nan() {
        return 0.0;
    }
    let distance = (a - b).abs();
    if distance.is_nan() { f64::INFINITY } else { distance }
}

/// The module with noise on each float that it computes or reads.
fn noisy(module: &Module, seed: u64) -> Module {
    let mut module = module.clone();
    let ctx = module.ctx.clone();
    let mut random = Random::new(seed);
    for (_, body) in module.top.children_mut() {
        body_with_noise(&ctx, body, &mut random);
    }
    module
}

fn body_with_noise(ctx: &Context, body: &mut Body, random: &mut Random) {
    let blocks: Vec<_> = body.all_blocks().collect();
    let entry = body.entry(body.root());
    for block in blocks {
        let ops: Vec<Op> = body.ops(block).collect();
        let first = ops.first().copied().filter(|_| Some(block) == entry);
        for arg in body.args(block).to_vec() {
            first.into_iter().for_each(|first| add_noise(ctx, body, arg, first, random));
        }
        for pair in ops.windows(2) {
            let results: Vec<Value> = body.results(pair[0]).collect();
            results.into_iter().for_each(|value| add_noise(ctx, body, value, pair[1], random));
        }
    }
    for (_, child) in body.children_mut() {
        body_with_noise(ctx, child, random);
    }
}

/// Multiplies a value, if it is a tensor of floats, by numbers near 1, for all its readers.
fn add_noise(ctx: &Context, body: &mut Body, value: Value, before: Op, random: &mut Random) {
    let ty = body.ty(value);
    let Some((shape, noise)) = ctx.static_shape(ty).zip(noise(ctx, ctx.elem(ty))) else { return };
    if shape.contains(&0) || !body.is_used(value) {
        return;
    }
    let count = shape.iter().product::<u64>();
    let factors = (0..count).flat_map(|_| noise[random.below(2)].clone()).collect();
    let key = format!("noise{}", ctx.resources().count());
    let factors = ctx.resource_attr(&key, ty, Blob::from_bytes(factors));
    let mut builder = Builder::before(ctx, body, before);
    let factors = builder.constant(factors, ty);
    let Ok(product) = builder.value("nn.mul", &[value, factors], &[]) else { return };
    body.replace_uses(value, product);
    let mul = body.defining_op(product).expect("it was just made");
    body.set_operand(mul, 0, value);
}

/// Numbers a little below and above 1, in an element type of floats.
fn noise(ctx: &Context, elem: Type) -> Option<[Vec<u8>; 2]> {
    const SMALL: f64 = 1.0 / 32768.0;
    let ends = [1.0 - SMALL, 1.0 + SMALL];
    Some(match ctx.type_data(elem) {
        TypeData::Float(FloatKind::F32) => ends.map(|x| (x as f32).to_le_bytes().to_vec()),
        TypeData::Float(FloatKind::F64) => ends.map(|x| x.to_le_bytes().to_vec()),
        TypeData::Float(FloatKind::F16) => [0x3BFCu16, 0x3C02].map(|bits| bits.to_le_bytes().to_vec()),
        TypeData::Float(FloatKind::Bf16) => [0x3F7Eu16, 0x3F81].map(|bits| bits.to_le_bytes().to_vec()),
        _ => return None,
    })
}
