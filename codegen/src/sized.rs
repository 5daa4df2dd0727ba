//! Functions of named sizes: compiled once, then specialized to sizes without making IR.
//!
//! ```text
//! sizes -> types -> calls, each class of steps once -> (offsets, by the planner) -> frame
//! ```
//! Everything about the places of values is known except offsets ([`SizedPlan`]). Each class of steps (see
//! [`crate::classes`]) is lowered once at each size. The records of a step are its class's with the step's
//! own addresses. Intermediate data is in a [`Workspace`], which is reused; its context drops the types of
//! earlier sizes.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use cranelift_entity::SecondaryMap;
use ir::opdef::Access;
use ir::plan::signature::Signature;
use ir::plan::storage::Storage;
use ir::sized::{SizedBody, SizedTypes};
use ir::target::{Bands, FasterMethod};
use ir::weights::WeightSet;
use ir::{Body, Context, Diagnostic, Ident, Op, Type, Value};
use runtime::{CodeImage, LoadedCode, Specialization, StateDesc, TensorDesc};

use crate::address::{Address, Base};
use crate::arrangement::access;
use crate::call::Lowered;
use crate::classes::StepClasses;
use crate::elem::ElemType;
use crate::entry::StopChecks;
use crate::frame::{Callee, fault};
use crate::machine_code::{CompiledCode, MachineCode, Samples, Tensors, WeightSource, check_runs_here};
use crate::options::CodegenOptions;
use crate::program::{describe, state_descs};
use crate::refusal::CodeRefusal;
use crate::row::{FasterInRoom, Machine};
use crate::store::WeightStore;
use crate::weights::{KnownWeights, SizedWeights};

mod placed;
mod relocatable;

use placed::SizedFunction;
pub use relocatable::{SizedFrame, WeightFile};

/// A step that runs an operation.
#[derive(Clone, Copy, Debug)]
pub struct SizedStep {
    /// The operation.
    pub op: Op,
    /// The buffer of its scratch.
    pub scratch: usize,
    /// The operand that result 0 overwrites, if the kernel must allow that.
    pub asked_tie: Option<usize>,
}

/// The storage of a function's values at all sizes, without the offsets of buffers.
#[derive(Clone, Debug, Default)]
pub struct SizedPlan {
    /// The steps.
    pub steps: Vec<SizedStep>,
    /// The storage of values; none for weights.
    pub values: SecondaryMap<Value, Option<Storage<usize>>>,
    /// The scratch buffers of operations with a parallel copy.
    pub moves: Vec<(Op, usize)>,
}

/// The needs of a step's kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelNeeds {
    /// The scratch that it prefers, in bytes.
    pub scratch_bytes: u64,
    /// The least scratch that it can run with.
    pub least_scratch_bytes: u64,
    /// How it can run in bands of rows.
    pub bands: Option<Bands>,
}

/// Why a function can't be specialized to some sizes.
#[derive(Clone, Debug)]
pub enum SizeFault {
    /// Its types can't have these sizes.
    Types,
    /// An operation has no code there.
    Code(Vec<Diagnostic>),
}

/// A function of named sizes with its machine code, which is a `C`.
pub struct SizedCode<C = LoadedCode> {
    code: MachineCode<C>,
    types: SizedTypes,
    body: Body,
    ctx: Arc<Context>,
    homes: SizedPlan,
    /// The number of each operation that runs.
    numbers: SecondaryMap<Op, u32>,
    /// The buffer of each operation's scratch.
    scratch: SecondaryMap<Op, Option<u32>>,
    classes: StepClasses,
    /// For each class whose kernel must allow that result 0 overwrites an operand: an operation and the
    /// operand.
    asked_ties: Vec<(Op, usize)>,
    inputs: Vec<PassedTensor>,
    outputs: Vec<PassedTensor>,
    states: Vec<Value>,
    state_descs: Vec<StateDesc>,
    weights: WeightSet,
    sized_weights: SizedWeights,
    store: Arc<WeightStore>,
}

/// A tensor that the caller passes or receives.
struct PassedTensor {
    name: String,
    ty: Type,
    is_overwritten: bool,
}

/// The memory of one thread for specializing a function.
pub struct Workspace {
    sized: SizedBody,
    lowered: Vec<Lowered>,
    /// The callees of all classes' calls, one class after the other.
    callees: Vec<Callee>,
    /// The index of each class's first callee.
    firsts: Vec<usize>,
    /// The faster algorithm of each class, once it is asked for.
    faster: Vec<OnceCell<Option<FasterInRoom>>>,
    /// The lowerings of steps that differ from their class's.
    own: Vec<(Lowered, Vec<Callee>)>,
    /// For each step, the index of its own lowering, if it has one.
    own_of: Vec<Option<u32>>,
    known: KnownWeights,
    /// The number of lowerings of classes so far, at all sizes.
    lowerings: usize,
    /// The words of the previous frame: most sizes need as many.
    words: usize,
}

impl Workspace {
    /// The function's context; its handles are valid for the sizes that were set last.
    pub fn ctx(&self) -> &Context {
        self.sized.ctx()
    }

    /// The function at the sizes that were set last.
    pub fn body(&self) -> &Body {
        self.sized.body()
    }

    /// The number of classes that were lowered so far, at all sizes.
    pub fn lowerings(&self) -> usize {
        self.lowerings
    }
}

/// The offsets of a function's buffers at some sizes.
pub struct Offsets<'a> {
    /// The bytes of each buffer in the arena.
    pub buffers: &'a dyn Fn(usize) -> Range<u64>,
    /// The start of each buffer in another pool, by the numbers of pool and buffer.
    pub pools: &'a dyn Fn(usize, usize) -> u64,
    /// The bytes of all pools, including the arena.
    pub arena_bytes: usize,
    /// The bytes to poison after a step.
    pub dead: Vec<(usize, Range<u64>)>,
}

impl SizedCode {
    /// The function that [`SizedCode::unloaded`] compiles, loaded into memory to be run.
    ///
    /// # Errors
    /// As there; and if this machine lacks instructions that it needs.
    pub fn compile(
        ctx: &Arc<Context>,
        body: &Body,
        symbols: &[Ident],
        homes: SizedPlan,
        samples: &[Vec<u64>],
        options: &CodegenOptions,
    ) -> Result<(SizedCode, Workspace), SizeFault> {
        check_runs_here(options.cpu.isa()).map_err(SizeFault::Code)?;
        let how = (options, StopChecks::Asked, CompiledCode::load);
        SizedCode::made(ctx, body, symbols, homes, samples, how)
    }

    /// The specialization at the current sizes, with buffers at these places.
    ///
    /// # Errors
    /// If a weight can't be evaluated or there is no memory for it, or if an operation with a parallel move
    /// has too little scratch.
    pub fn specialization(
        &self,
        work: &mut Workspace,
        offsets: &Offsets<'_>,
    ) -> Result<Specialization, Vec<Diagnostic>> {
        let tensors = self.tensors(work, offsets)?;
        let (placed, known, words) = self.placed(work, offsets);
        let mut weights = WeightSource {
            weights: &self.weights,
            sized: &self.sized_weights,
            store: &self.store,
            is_alone: false,
            known,
        };
        let made = self.code.specialization(&placed, &mut weights, tensors, *words)?;
        *words = made.frame_bytes() / 8;
        Ok(made.with_states(self.state_offsets(offsets)))
    }
}

impl SizedCode<Arc<CodeImage>> {
    /// Compiles a function whose sizes are numbered in the order of `symbols`. Code is made for those
    /// `samples` that the function allows.
    ///
    /// # Errors
    /// If it allows none of them, with the reason for the first; if a size depends on no symbol, or a branch
    /// depends on an operand that is no integer.
    pub fn unloaded(
        ctx: &Arc<Context>,
        body: &Body,
        symbols: &[Ident],
        homes: SizedPlan,
        samples: &[Vec<u64>],
        options: &CodegenOptions,
    ) -> Result<(Self, Workspace), SizeFault> {
        // Reused code has stop checks, which code of object files must not have.
        let options = &CodegenOptions { prepared: None, ..options.clone() };
        let how = (options, StopChecks::Never, |code: CompiledCode| Ok(code.unloaded()));
        SizedCode::made(ctx, body, symbols, homes, samples, how)
    }
}

impl<C> SizedCode<C> {
    fn made(
        ctx: &Arc<Context>,
        body: &Body,
        symbols: &[Ident],
        homes: SizedPlan,
        samples: &[Vec<u64>],
        (options, stops, load): (
            &CodegenOptions,
            StopChecks,
            impl FnOnce(CompiledCode) -> Result<MachineCode<C>, Vec<Diagnostic>>,
        ),
    ) -> Result<(Self, Workspace), SizeFault> {
        let Some(types) = SizedTypes::of(ctx, body, symbols) else {
            return Err(SizeFault::Code(fault("a size of the function follows from no symbols".to_owned())));
        };
        let machine = options.cpu.machine(options.threads);
        let ops: Vec<Op> = homes.steps.iter().map(|step| step.op).collect();
        let mut classes = StepClasses::of(ctx, body, ops.iter().copied());
        let mut work = Workspace::new(SizedBody::new(ctx, &types, body));
        let lowered = lower_samples(&types, samples, &ops, &machine, &mut classes, &mut work.sized)?;
        let weights = WeightSet::of(ctx, body);
        let signature = Signature::of(ctx, body).map_err(|message| SizeFault::Code(fault(message)))?;
        let (inputs, outputs) = tensors(body, &signature, &homes);
        let state_descs = state_descs(ctx, &signature).map_err(SizeFault::Code)?;
        let samples = Samples {
            lowered: lowered.iter().map(|(op, lowered)| (*op, lowered)).collect(),
            copied: Some(copied(ctx, body)),
            inputs: inputs.len(),
            outputs: outputs.len(),
        };
        let made = (options.steps, stops, options.prepared.as_deref());
        let code = CompiledCode::compile(ctx, body, &weights, machine, samples, made);
        let code = code.and_then(load).map_err(SizeFault::Code)?;
        let (numbers, scratch) = numbered(&homes);
        let sized_weights = SizedWeights::of(ctx, body, &weights);
        let sized_weights = sized_weights.map_err(|fault| SizeFault::Code(vec![fault]))?;
        let sized = SizedCode {
            code,
            asked_ties: asked_ties(&classes, &homes.steps),
            types,
            body: body.clone(),
            ctx: ctx.clone(),
            homes,
            numbers,
            scratch,
            classes,
            inputs,
            outputs,
            states: signature.states.iter().map(|state| state.value).collect(),
            state_descs,
            sized_weights,
            weights,
            store: Arc::new(WeightStore::with(options.prepared.clone())),
        };
        Ok((sized, work))
    }

    /// The same, sharing weights with another function of the same context.
    #[must_use]
    pub fn sharing_weights(self, with: &Self) -> Self {
        SizedCode { store: with.store.clone(), ..self }
    }

    /// A workspace for another thread.
    pub fn workspace(&self) -> Workspace {
        Workspace::new(SizedBody::new(&self.ctx, &self.types, &self.body))
    }

    /// Bytes of weights in memory, for all sizes.
    pub fn weights_bytes(&self) -> usize {
        self.store.bytes()
    }

    /// The states that contexts keep from run to run.
    pub fn states(&self) -> &[StateDesc] {
        &self.state_descs
    }

    /// The number of classes of steps.
    pub fn class_count(&self) -> usize {
        self.classes.members.len()
    }

    /// The number of classes that are convolutions lowered from prepared data.
    pub fn prepared_count(&self) -> usize {
        self.classes.prepared_count()
    }

    /// Sets sizes, and lowers each class at them.
    ///
    /// # Errors
    /// If the function can't have these sizes, or a step has no code there or may not overwrite its tied
    /// operand.
    pub fn set(&self, sizes: &[u64], work: &mut Workspace) -> Result<(), SizeFault> {
        let Workspace { sized, lowered, callees, firsts, faster, own, own_of, lowerings, .. } = work;
        sized.set(&self.types, sizes).ok_or(SizeFault::Types)?;
        faster.clear();
        faster.resize_with(self.classes.members.len(), OnceCell::new);
        own.clear();
        own_of.clear();
        own_of.resize(self.homes.steps.len(), None);
        lowered.clear();
        let machine = &self.code.machine;
        let found = self.classes.lower(sized.ctx(), sized.body(), machine, lowered);
        found.map_err(|(op, refusal)| refused(sized, op, &refusal))?;
        *lowerings += lowered.len();
        callees.clear();
        firsts.clear();
        for lowered in lowered {
            firsts.push(callees.len());
            self.code.callees(&lowered.calls, callees).map_err(SizeFault::Code)?;
        }
        let access = |op: Op, operand| access(sized.body().at(sized.ctx(), op), operand, machine.own);
        match self.asked_ties.iter().find(|(op, operand)| access(*op, *operand) == Access::Never) {
            Some((op, operand)) => {
                let refusal =
                    CodeRefusal::new(format!("at these sizes it can't overwrite operand {operand}"));
                Err(refused(sized, *op, &refusal))
            }
            None => Ok(()),
        }
    }

    /// The needs of each step, once sizes are set.
    pub fn needs<'a>(&'a self, work: &'a Workspace) -> impl Iterator<Item = KernelNeeds> + 'a {
        let threads = self.code.machine.threads;
        self.classes.of_step.iter().map(move |class| {
            let lowered = &work.lowered[*class as usize];
            KernelNeeds {
                scratch_bytes: lowered.scratch_bytes(threads),
                least_scratch_bytes: lowered.least_scratch_bytes(threads),
                bands: lowered.bands,
            }
        })
    }

    /// The faster algorithm of a step within `room_bytes` of scratch, if there is one, once sizes are set.
    pub fn faster(&self, step: usize, room_bytes: u64, work: &Workspace) -> Option<FasterMethod> {
        let class = self.classes.of_step[step] as usize;
        let of_class = || self.classes.faster(class, work.sized.ctx(), work.sized.body(), &self.code.machine);
        work.faster[class].get_or_init(of_class).as_ref()?(room_bytes)
    }

    /// Whether two steps are lowered to the same calls if their attributes and scratch are equal.
    pub fn are_alike(&self, a: usize, b: usize) -> bool {
        self.classes.of_step[a] == self.classes.of_step[b]
    }

    /// Reuses for a step the lowering of another one, [which is like it](SizedCode::are_alike) and was
    /// [lowered alone](SizedCode::lower_alone).
    pub fn lower_as(&self, step: usize, other: usize, work: &mut Workspace) {
        work.own_of[step] = work.own_of[other];
    }

    /// Lowers a step differently from its class: with the attributes that `set` gives it, and `scratch_bytes`
    /// of scratch.
    ///
    /// # Errors
    /// If there is no such lowering.
    pub fn lower_alone(
        &self,
        step: usize,
        scratch_bytes: u64,
        set: impl FnOnce(&Context, &mut Body),
        work: &mut Workspace,
    ) -> Result<(), SizeFault> {
        let op = self.homes.steps[step].op;
        let machine = self.code.machine;
        let lower = |ctx: &Context, body: &Body| self.classes.lower_step(step, body.at(ctx, op), &machine);
        let own =
            work.sized.with_attrs(op, set, lower).map_err(|refusal| refused(&work.sized, op, &refusal))?;
        if own.scratch_bytes(machine.threads) > scratch_bytes {
            let refusal = CodeRefusal::new(format!("it needs more than {scratch_bytes} bytes of scratch"));
            return Err(refused(&work.sized, op, &refusal));
        }
        let mut callees = Vec::new();
        self.code.callees(&own.calls, &mut callees).map_err(SizeFault::Code)?;
        work.own_of[step] = Some(work.own.len() as u32);
        work.own.push((own, callees));
        Ok(())
    }

    /// The tensors that the caller passes and receives at the current sizes, and the bytes of the arena.
    fn tensors(&self, work: &Workspace, offsets: &Offsets<'_>) -> Result<Tensors, Vec<Diagnostic>> {
        let describe = |tensor: &PassedTensor| {
            let ty = self.types.ty(tensor.ty, work.sized.at());
            let found = describe(work.ctx(), tensor.name.clone(), ty);
            let found = found.ok_or_else(|| fault(format!("`{}` can't be passed", tensor.name)));
            found.map(|desc| TensorDesc { overwritten: tensor.is_overwritten, ..desc })
        };
        Ok(Tensors {
            arena_bytes: offsets.arena_bytes,
            inputs: self.inputs.iter().map(describe).collect::<Result<_, _>>()?,
            outputs: self.outputs.iter().map(describe).collect::<Result<_, _>>()?,
        })
    }

    /// The function at the current sizes, the weights requested before, and the words of the previous frame.
    fn placed<'a>(
        &'a self,
        work: &'a mut Workspace,
        offsets: &'a Offsets<'a>,
    ) -> (SizedFunction<'a, C>, &'a mut KnownWeights, &'a mut usize) {
        let mut dead: HashMap<Op, Vec<(Address, u64)>> = HashMap::new();
        for (step, bytes) in &offsets.dead {
            let address = Address { base: Base::Arena, offset: bytes.start };
            dead.entry(self.homes.steps[*step].op).or_default().push((address, bytes.end - bytes.start));
        }
        let Workspace { sized, lowered, callees, firsts, own, own_of, known, words, .. } = work;
        let placed =
            SizedFunction { code: self, sized, lowered, callees, firsts, own, own_of, offsets, dead };
        (placed, known, words)
    }

    /// The start of each state in the arena.
    fn state_offsets(&self, offsets: &Offsets<'_>) -> Vec<usize> {
        let state = |state: &Value| match self.homes.values[*state] {
            Some(Storage::Pool(pool, buffer)) => (offsets.pools)(pool, buffer) as usize,
            _ => unreachable!("states are in a pool"),
        };
        self.states.iter().map(state).collect()
    }
}

impl Workspace {
    fn new(sized: SizedBody) -> Workspace {
        Workspace {
            sized,
            lowered: Vec::new(),
            callees: Vec::new(),
            firsts: Vec::new(),
            faster: Vec::new(),
            own: Vec::new(),
            own_of: Vec::new(),
            known: KnownWeights::default(),
            lowerings: 0,
            words: 0,
        }
    }
}

/// The lowerings of all classes' members at the samples that the function allows.
///
/// # Errors
/// If it allows none of them, with the reason for the first.
fn lower_samples(
    types: &SizedTypes,
    samples: &[Vec<u64>],
    ops: &[Op],
    machine: &Machine,
    classes: &mut StepClasses,
    sized: &mut SizedBody,
) -> Result<Vec<(Op, Lowered)>, SizeFault> {
    let mut lowered: Vec<(Op, Lowered)> = Vec::new();
    let mut first_fault = None;
    for sizes in samples {
        match lower_sample(types, sizes, ops, machine, classes, sized) {
            Ok(found) => lowered.extend(classes.members.iter().copied().zip(found)),
            Err(fault) => first_fault = first_fault.or(Some(fault)),
        }
    }
    first_fault.filter(|_| lowered.is_empty()).map_or(Ok(lowered), Err)
}

/// The lowering of each class at one sample. Steps with another lowering than the rest of their class get a
/// new class.
fn lower_sample(
    types: &SizedTypes,
    sizes: &[u64],
    ops: &[Op],
    machine: &Machine,
    classes: &mut StepClasses,
    sized: &mut SizedBody,
) -> Result<Vec<Lowered>, SizeFault> {
    sized.set(types, sizes).ok_or(SizeFault::Types)?;
    let split = classes.split(sized.ctx(), sized.body(), ops, machine);
    split.map_err(|(op, refusal)| refused(sized, op, &refusal))?;
    let mut lowered = Vec::new();
    let found = classes.lower(sized.ctx(), sized.body(), machine, &mut lowered);
    found.map_err(|(op, refusal)| refused(sized, op, &refusal))?;
    Ok(lowered)
}

/// The number of each operation that runs, and the buffer of each operation's scratch.
fn numbered(homes: &SizedPlan) -> (SecondaryMap<Op, u32>, SecondaryMap<Op, Option<u32>>) {
    let mut numbers = SecondaryMap::new();
    let mut scratch = SecondaryMap::new();
    for (number, step) in (0..).zip(&homes.steps) {
        numbers[step.op] = number;
        scratch[step.op] = Some(step.scratch as u32);
    }
    for (op, buffer) in &homes.moves {
        scratch[*op] = Some(*buffer as u32);
    }
    (numbers, scratch)
}

fn refused(sized: &SizedBody, op: Op, refusal: &CodeRefusal) -> SizeFault {
    SizeFault::Code(vec![refusal.at(sized.body().at(sized.ctx(), op))])
}

/// Steps of one class have equal ties, so one of each class is checked.
fn asked_ties(classes: &StepClasses, steps: &[SizedStep]) -> Vec<(Op, usize)> {
    let tie_of = |op: &Op| Some((*op, steps.iter().find(|step| step.op == *op)?.asked_tie?));
    classes.members.iter().filter_map(tie_of).collect()
}

/// The tensors that the caller passes and receives.
fn tensors(body: &Body, signature: &Signature, homes: &SizedPlan) -> (Vec<PassedTensor>, Vec<PassedTensor>) {
    let results = homes.steps.iter().flat_map(|step| body.results(step.op));
    let inner = body.all_blocks().filter(|block| body.entry(body.root()) != Some(*block));
    let written = results.chain(inner.flat_map(|block| body.args(block).iter().copied()));
    let written: HashSet<Storage<usize>> = written.filter_map(|value| homes.values[value]).collect();
    let inputs = signature.inputs().enumerate().map(|(index, input)| PassedTensor {
        name: input.name.clone(),
        ty: input.ty,
        is_overwritten: written.contains(&Storage::Input(index)),
    });
    let outputs = signature.outputs();
    let outputs = outputs.map(|output| PassedTensor {
        name: output.name.clone(),
        ty: output.ty,
        is_overwritten: false,
    });
    (inputs.collect(), outputs.collect())
}

/// The element types of a function's values, each with the most axes of any value: only at given sizes is it
/// known which of them are copied.
pub(crate) fn copied(ctx: &Context, body: &Body) -> Vec<(ElemType, usize)> {
    let mut copied = Vec::<(ElemType, usize)>::new();
    for block in body.all_blocks() {
        let results = body.ops(block).flat_map(|op| body.results(op));
        for value in body.args(block).iter().copied().chain(results) {
            let axes = ctx.type_data(body.ty(value)).tensor_shape().map(<[_]>::len);
            let Some((elem, axes)) = ElemType::of(ctx, body.ty(value)).zip(axes) else { continue };
            match copied.iter_mut().find(|known| known.0 == elem) {
                Some(known) => known.1 = known.1.max(axes),
                None => copied.push((elem, axes)),
            }
        }
    }
    copied
}

#[cfg(test)]
#[path = "sized_tests.rs"]
mod tests;
