//! How a planned function of known sizes becomes a program: read places, lower operations, pack weights, emit
//! code, and write the only frame.

use std::collections::HashMap;
use std::sync::Arc;

use cranelift_entity::SecondaryMap;
use ir::alias::AliasSets;
use ir::flow::{Act, FlowGraph};
use ir::plan::attrs;
use ir::plan::signature::{Argument, DataDimension, Returned, Signature};
use ir::size::{static_extents, tensor_bytes};
use ir::states::StateArgument;
use ir::strings::is_string;
use ir::weights::WeightSet;
use ir::{Body, Context, Diagnostic, FloatKind, Module, Op, Signedness, Type, TypeData, Value};
use kernels::Isa;
use runtime::{
    ElementKind, OpenOutput, Program, ProgramParts, Specialization, StateDesc, TensorDesc, Weights,
};

use crate::address::Address;
use crate::call::Lowered;
use crate::dead::dead_bytes;
use crate::elem::ElemType;
use crate::entry::StopChecks;
use crate::frame::{Callee, FrameWords, PlacedFunction, WEIGHTS_BASE, check_scratch, fault};
use crate::lower::lower;
use crate::machine_code::{self, CompiledCode, MachineCode, Samples, Tensors, WeightSource};
use crate::options::{CodegenOptions, DeadMemory, StepTimes};
use crate::place::{Place, Places};
use crate::prepared::Prepared;
use crate::relocatable::{RelocatableFrame, RelocatableProgram};
use crate::row::Machine;
use crate::store::WeightStore;
use crate::target::Cpu;
use crate::weights::{KnownWeights, SizedWeights, WeightTable};

/// Compiles a planned function of `module` for this machine, with the kernels of the plan's processor.
///
/// # Errors
/// If this machine lacks instructions of that processor;
/// For every operation without machine code, and every place that is missing or outside its pool.
pub fn compile(
    module: &Module,
    function: &str,
    options: &CodegenOptions,
) -> Result<Program, Vec<Diagnostic>> {
    let mut planned = Planned::of(module, function, options)?;
    let code = planned.compile(None, options.prepared.as_deref())?;
    let store = Arc::new(WeightStore::with(options.prepared.clone()));
    let specialization = planned.specialization(&code, &store)?;
    let parts = ProgramParts { weights: Arc::new(Weights::none()), threads: options.threads };
    let open = open_outputs(planned.ctx, planned.signature());
    let states = state_descs(planned.ctx, planned.signature())?;
    Ok(Program::new(parts, specialization).with_open(open).with_states(states))
}

/// Compiles a planned function of `module` for the plan's processor, which need not be this machine's.
///
/// # Errors
/// As for [`compile`], except that this machine may lack instructions.
pub fn relocatable(
    module: &Module,
    function: &str,
    options: &CodegenOptions,
) -> Result<RelocatableProgram, Vec<Diagnostic>> {
    Planned::of(module, function, options)?.relocatable()
}

/// The bytes of the packed weights of a planned function of `module`. It reads no weight and compiles
/// nothing.
///
/// # Errors
/// As for [`compile`], except for weights that can't be evaluated.
pub fn weights_bytes(
    module: &Module,
    function: &str,
    options: &CodegenOptions,
) -> Result<u64, Vec<Diagnostic>> {
    let mut planned = Planned::of(module, function, options)?;
    planned.callees =
        planned.lowered.iter().map(|(_, lowered)| vec![(0, None); lowered.calls.len()]).collect();
    machine_code::weights_bytes(&planned, &planned.weights, planned.machine, &planned.samples(None))
}

/// The plan's processor: `cpu`, with the instruction set of `optc.target` if the function has that attribute.
///
/// # Errors
/// If the plan is for another kind of machine.
fn planned_for(ctx: &Context, body: &Body, cpu: Cpu) -> Result<Cpu, String> {
    let target = body.own_attr(ctx, ctx.ident(attrs::OPTC_TARGET)).and_then(|attr| ctx.str_value(attr));
    let isa = match target {
        Some(name) => Isa::named(name).ok_or_else(|| {
            let known = Isa::ALL.map(Isa::name).join(", ");
            format!("the plan is for `{name}`, and code is made for {known} only")
        })?,
        None => cpu.isa(),
    };
    Ok(cpu.with_isa(isa))
}

/// The states of a signature, which a context keeps from run to run.
///
/// # Errors
/// If a state is of a type that can't be passed.
pub(crate) fn state_descs(ctx: &Context, signature: &Signature) -> Result<Vec<StateDesc>, Vec<Diagnostic>> {
    let desc = |state: &StateArgument| {
        let Argument { name, ty, .. } = &signature.args[state.index];
        let tensor = describe(ctx, name.clone(), *ty);
        let tensor = tensor.ok_or_else(|| fault(format!("`{name}` can't be kept")))?;
        let result = state.result.map(|index| signature.results[index].name.clone());
        Ok(StateDesc { tensor, result })
    };
    signature.states.iter().map(desc).collect()
}

/// A planned function of known sizes, with its lowered operations.
pub(crate) struct Planned<'a> {
    ctx: &'a Context,
    body: &'a Body,
    machine: Machine,
    weights: WeightSet,
    places: Places,
    /// The operations that run, each with its lowering.
    lowered: Vec<(Op, Lowered)>,
    /// The index of each operation in that list.
    numbers: SecondaryMap<Op, u32>,
    /// For each lowered operation, the functions that its calls call, once the code exists.
    callees: Vec<Vec<Callee>>,
    /// The memory that dies with each operation, if it is to be poisoned.
    dead: HashMap<Op, Vec<(Address, u64)>>,
    steps: StepTimes,
}

impl<'a> Planned<'a> {
    /// The function called `function` of a module.
    ///
    /// # Errors
    /// If there is none, the machine lacks the kernels' instructions, or the plan is incomplete; for each
    /// operation without machine code, or with less scratch than its kernel needs.
    pub(crate) fn of(
        module: &'a Module,
        function: &str,
        options: &CodegenOptions,
    ) -> Result<Self, Vec<Diagnostic>> {
        let ctx = &*module.ctx;
        let body = module.function(function);
        let body = body.ok_or_else(|| fault(format!("no function is called `{function}`")))?;
        body.entry(body.root()).ok_or_else(|| fault(format!("`{function}` has no body")))?;
        let machine = planned_for(ctx, body, options.cpu).map_err(fault)?.machine(options.threads);
        let weights = WeightSet::of(ctx, body);
        let aliases = AliasSets::of(ctx, body);
        let places = Places::read(ctx, body, &weights, &aliases)?;
        let graph = FlowGraph::of(ctx, body, &weights);
        let dead = match options.dead {
            DeadMemory::Kept => HashMap::new(),
            DeadMemory::Poisoned => dead_bytes(ctx, body, &graph, &weights, &aliases, &places),
        };
        let mut planned = Planned {
            ctx,
            body,
            machine,
            weights,
            places,
            lowered: Vec::new(),
            numbers: SecondaryMap::new(),
            callees: Vec::new(),
            dead,
            steps: options.steps,
        };
        let mut faults = Vec::new();
        for (_, event) in graph.events() {
            match event.act {
                Act::Return => faults.extend(planned.check_returned(event.op)),
                Act::Run => faults.extend(planned.lower(event.op).err()),
                _ => {}
            }
        }
        if faults.is_empty() { Ok(planned) } else { Err(faults) }
    }

    fn lower(&mut self, op: Op) -> Result<(), Diagnostic> {
        let at = self.body.at(self.ctx, op);
        let lowered = lower(at, &self.machine).map_err(|refusal| refusal.at(at))?;
        let scratch = self.places.scratch(op);
        if let Some(fault) = check_scratch(at, &lowered, scratch, self.machine.threads) {
            return Err(fault);
        }
        self.numbers[op] = self.lowered.len() as u32;
        self.lowered.push((op, lowered));
        Ok(())
    }

    /// Machine code for these sizes, ready to run. If `copied` lists element types, also for other sizes,
    /// with copies of these types (see [`Samples`]).
    pub(crate) fn compile(
        &self,
        copied: Option<Vec<(ElemType, usize)>>,
        prepared: Option<&Prepared>,
    ) -> Result<MachineCode, Vec<Diagnostic>> {
        machine_code::check_runs_here(self.machine.isa)?;
        self.compiled(copied, StopChecks::Asked, prepared)?.load()
    }

    fn compiled(
        &self,
        copied: Option<Vec<(ElemType, usize)>>,
        stops: StopChecks,
        prepared: Option<&Prepared>,
    ) -> Result<CompiledCode, Vec<Diagnostic>> {
        let samples = self.samples(copied);
        let made = (self.steps, stops, prepared);
        CompiledCode::compile(self.ctx, self.body, &self.weights, self.machine, samples, made)
    }

    fn samples(&self, copied: Option<Vec<(ElemType, usize)>>) -> Samples<'_> {
        let lowered = self.lowered.iter().map(|(op, lowered)| (*op, lowered)).collect();
        let inputs = self.signature().inputs().count();
        let outputs = self.signature().outputs().count();
        Samples { lowered, copied, inputs, outputs }
    }

    /// The specialization of code to these sizes, with its weights in a store.
    ///
    /// # Errors
    /// As for [`MachineCode::specialization`]; if an argument or result is of a type that can't be passed.
    pub(crate) fn specialization(
        &mut self,
        code: &MachineCode,
        store: &Arc<WeightStore>,
    ) -> Result<Specialization, Vec<Diagnostic>> {
        self.find_callees(code)?;
        let tensors = self.tensors()?;
        let mut weights = WeightSource {
            weights: &self.weights,
            sized: &SizedWeights::default(),
            store,
            is_alone: true,
            known: &mut KnownWeights::default(),
        };
        let only = code.specialization(self, &mut weights, tensors, 0)?;
        Ok(only.with_states(self.state_offsets()))
    }

    /// The program at these sizes, without addresses.
    ///
    /// # Errors
    /// As for [`Planned::specialization`].
    pub(crate) fn relocatable(&mut self) -> Result<RelocatableProgram, Vec<Diagnostic>> {
        let code = self.compiled(None, StopChecks::Never, None)?.unloaded();
        self.find_callees(&code)?;
        let Tensors { arena_bytes, inputs, outputs } = self.tensors()?;
        let FrameWords { words: mut frame, missing } = code.frame(self, &KnownWeights::default(), 0)?;
        let mut table = WeightTable::default();
        for missing in &missing {
            frame[missing.word] += table.add_missing(self.ctx, self.body, missing) as i64;
            frame[missing.word - 1] = WEIGHTS_BASE;
        }
        let states = state_descs(self.ctx, self.signature())?;
        Ok(RelocatableProgram {
            isa: self.machine.isa,
            threads: self.machine.threads,
            images: vec![code.image().clone()],
            frame: RelocatableFrame::of(&code, frame),
            weights: table.build(self.ctx, self.body, &self.weights, &SizedWeights::default())?,
            arena_bytes,
            inputs,
            outputs,
            open: open_outputs(self.ctx, self.signature()),
            states: states.into_iter().zip(self.state_offsets()).collect(),
            faults: code.faults().to_vec(),
        })
    }

    /// Finds the generated functions that steps call.
    fn find_callees<C>(&mut self, code: &MachineCode<C>) -> Result<(), Vec<Diagnostic>> {
        for (_, lowered) in &self.lowered {
            let mut callees = Vec::new();
            code.callees(&lowered.calls, &mut callees)?;
            self.callees.push(callees);
        }
        Ok(())
    }

    fn tensors(&self) -> Result<Tensors, Vec<Diagnostic>> {
        let arena_bytes = self.places.arena_bytes as usize;
        Ok(Tensors { arena_bytes, inputs: self.inputs()?, outputs: self.outputs()? })
    }

    fn state_offsets(&self) -> Vec<usize> {
        self.places.caller.states().map(|(_, offset)| offset as usize).collect()
    }

    /// Faults of returned values that are not where the caller expects them.
    fn check_returned(&self, op: Op) -> Vec<Diagnostic> {
        let mut faults = Vec::new();
        for (index, value) in self.body.operands(op).enumerate() {
            if self.places.of(value) != Some(self.places.caller.result(index)) {
                let message = format!("returned value {index} is not placed in output {index}");
                let help = "run the pass `plan` on the function first";
                faults.push(Diagnostic::error(self.body.location(op), message).with_help(help));
            }
        }
        faults
    }

    /// Its inputs.
    fn inputs(&self) -> Result<Vec<TensorDesc>, Vec<Diagnostic>> {
        let inputs = self.signature().inputs();
        let mut descs = self.descs(inputs.map(|input| (&*input.name, input.ty)))?;
        for (desc, overwritten) in descs.iter_mut().zip(&self.places.overwritten) {
            desc.overwritten = *overwritten;
        }
        Ok(descs)
    }

    /// Its outputs.
    fn outputs(&self) -> Result<Vec<TensorDesc>, Vec<Diagnostic>> {
        self.descs(self.signature().outputs().map(|output| (&*output.name, output.ty)))
    }

    fn signature(&self) -> &Signature {
        &self.places.caller.signature
    }

    fn descs<'t>(
        &self,
        tensors: impl Iterator<Item = (&'t str, Type)>,
    ) -> Result<Vec<TensorDesc>, Vec<Diagnostic>> {
        let desc = |(name, ty): (&str, Type)| {
            describe(self.ctx, name.to_owned(), ty).ok_or_else(|| {
                fault(format!("`{name}` is no tensor of known sizes and a type that can be passed"))
            })
        };
        tensors.map(desc).collect()
    }
}

impl PlacedFunction for Planned<'_> {
    fn ctx(&self) -> &Context {
        self.ctx
    }

    fn body(&self) -> &Body {
        self.body
    }

    fn address(&self, value: Value) -> Option<Address> {
        self.places.of(value)
    }

    fn scratch(&self, op: Op) -> Option<Place> {
        self.places.scratch(op)
    }

    fn lowered(&self, op: Op) -> (&Lowered, &[Callee]) {
        let number = self.numbers[op] as usize;
        (&self.lowered[number].1, &self.callees[number])
    }

    fn dead(&self, op: Op) -> &[(Address, u64)] {
        self.dead.get(&op).map_or(&[], |dead| dead)
    }
}

/// The outputs of a function with a dimension whose size depends on data.
pub fn open_outputs(ctx: &Context, signature: &Signature) -> Vec<OpenOutput> {
    let open = |result: &Returned| {
        let DataDimension { axis, count } = result.open?;
        let rank = ctx.type_data(result.ty).tensor_shape().map_or(0, <[_]>::len);
        Some(OpenOutput { output: result.output?, rank, axis, count: signature.results[count].output? })
    };
    signature.results.iter().filter_map(open).collect()
}

/// A tensor of a type that can be passed.
pub(crate) fn describe(ctx: &Context, name: String, ty: Type) -> Option<TensorDesc> {
    let shape = static_extents(ctx, ty)?;
    let bytes = usize::try_from(tensor_bytes(ctx, ty)?).ok()?;
    Some(TensorDesc::new(name, element_kind(ctx, ty)?, shape, bytes))
}

/// The kind of a type's elements at the program's interface; none if they cannot be passed.
pub fn element_kind(ctx: &Context, ty: Type) -> Option<ElementKind> {
    let elem = ctx.elem(ty);
    let is_unsigned = |signedness: &Signedness| *signedness == Signedness::Unsigned;
    Some(match ctx.type_data(elem) {
        TypeData::Integer { width: 1, .. } => ElementKind::Bool,
        TypeData::Integer { width, signedness } => match (width, is_unsigned(signedness)) {
            (2, true) => ElementKind::U2,
            (2, false) => ElementKind::I2,
            (4, true) => ElementKind::U4,
            (4, false) => ElementKind::I4,
            (8, true) => ElementKind::U8,
            (8, false) => ElementKind::I8,
            (16, true) => ElementKind::U16,
            (16, false) => ElementKind::I16,
            (32, true) => ElementKind::U32,
            (32, false) => ElementKind::I32,
            (64, true) => ElementKind::U64,
            (64, false) => ElementKind::I64,
            _ => return None,
        },
        TypeData::Index => ElementKind::I64,
        TypeData::Float(FloatKind::F4E2M1FN) => ElementKind::F4E2M1FN,
        TypeData::Float(FloatKind::F8E4M3FN) => ElementKind::F8E4M3FN,
        TypeData::Float(FloatKind::F8E4M3FNUZ) => ElementKind::F8E4M3FNUZ,
        TypeData::Float(FloatKind::F8E5M2) => ElementKind::F8E5M2,
        TypeData::Float(FloatKind::F8E5M2FNUZ) => ElementKind::F8E5M2FNUZ,
        TypeData::Float(FloatKind::F8E8M0FNU) => ElementKind::F8E8M0FNU,
        TypeData::Float(FloatKind::F16) => ElementKind::F16,
        TypeData::Float(FloatKind::Bf16) => ElementKind::BF16,
        TypeData::Float(FloatKind::F32) => ElementKind::F32,
        TypeData::Float(FloatKind::F64) => ElementKind::F64,
        TypeData::Opaque { .. } if is_string(ctx, elem) => ElementKind::String,
        _ => return None,
    })
}
