//! How a planned function becomes a program: places read, operations lowered, weights packed, code emitted.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use ir::alias::AliasSets;
use ir::body::OpRef;
use ir::flow::{Act, FlowGraph};
use ir::plan::attrs;
use ir::plan::signature::{DataDimension, Returned, Signature};
use ir::size::{static_extents, tensor_bytes};
use ir::states::State;
use ir::weights::WeightSet;
use ir::{Body, Context, Diagnostic, FloatKind, Location, Module, Op, Signedness, Type, TypeData, Value};
use kernels::Isa;
use runtime::{
    ElementKind, OpenOutput, Program, ProgramParts, SpecializationParts, StateDesc, TensorDesc, Weights,
};

use crate::address::Address;
use crate::baked;
use crate::call::{Call, Code, Lowered, Pointer};
use crate::cranelift::Jit;
use crate::dead::dead_bytes;
use crate::flow::{Instr, Lowering, Segment, Step, calls, segments};
use crate::functions;
use crate::lower::lower;
use crate::place::Places;
use crate::target::Cpu;
use crate::trust;
use crate::weights::WeightTable;

/// How a program is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that scratch was planned for, and the most that may run the program.
    pub threads: usize,
    /// The processor whose kernels run what no plan says otherwise of (`optc.target`), and its embedder's own
    /// kernels.
    pub cpu: Cpu,
    /// What happens to dead memory.
    pub dead: DeadMemory,
}

impl Options {
    /// The processor that this process runs on; dead memory is left as it is.
    pub fn new(threads: usize) -> Options {
        Options { threads, cpu: *Cpu::native(), dead: DeadMemory::Kept }
    }
}

/// What happens to memory that no later step reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadMemory {
    /// Nothing.
    Kept,
    /// It is filled with NaN at once, so that a wrong plan shows in the results.
    Poisoned,
}

/// Compiles a planned function of `module` for this machine, with the kernels of the processor that it is
/// planned for.
///
/// # Errors
/// If this machine lacks instructions of that processor;
/// Every operation without machine code, and every place that the plan lacks or that lies outside its pool.
pub fn compile(module: &Module, function: &str, options: &Options) -> Result<Program, Vec<Diagnostic>> {
    let mut compiler = Compiler::of(module, function, *options)?;
    let segments = compiler.segments()?;
    let (inputs, outputs, states) = (compiler.inputs()?, compiler.outputs()?, compiler.states()?);
    let weights = compiler.table.build(compiler.ctx, compiler.body, &compiler.weights)?;
    let mut jit = Jit::new(&symbols(&segments, compiler.options.cpu.isa())).map_err(unknown)?;
    let entry = baked::emit(&mut jit, &segments);
    let only = trust::specialization(SpecializationParts {
        frame: Vec::new(),
        arena_bytes: compiler.places.arena_bytes as usize,
        inputs,
        outputs,
        weights: Arc::new(()),
    });
    let open = open_outputs(compiler.ctx, compiler.signature());
    let parts = ProgramParts {
        code: trust::load(jit.finish(entry)),
        weights: Arc::new(Weights::buffer(weights)),
        threads: options.threads,
        faults: compiler.asserts,
    };
    Ok(Program::new(parts, only.with_states(states)).with_open(open))
}

/// All symbols that the steps may refer to.
fn symbols(segments: &[Segment], isa: Isa) -> BTreeMap<String, *const u8> {
    let mut symbols: BTreeMap<String, *const u8> = BTreeMap::new();
    symbols.extend(runtime::symbols().map(|(name, address)| (name.to_owned(), address)));
    symbols.extend(functions::symbols(isa).into_iter().map(|(name, address)| (name.to_owned(), address)));
    for step in calls(segments) {
        if let Code::Kernel { name, isa, entry } = &step.code {
            symbols.insert(Code::symbol(name, *isa), *entry as *const u8);
        }
    }
    symbols
}

fn unknown(message: String) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Location::UNKNOWN, message)]
}

/// A processor as the plan of a function has it: with the instructions that `optc.target` names, if it is
/// there.
///
/// # Errors
/// If the plan is for another kind of machine, or this machine lacks some of the instructions.
fn planned_for(ctx: &Context, body: &Body, cpu: Cpu) -> Result<Cpu, String> {
    let target = body.own_attr(ctx, ctx.ident(attrs::OPTC_TARGET)).and_then(|attr| ctx.str_value(attr));
    let isa = match target {
        Some(name) => Isa::named(name).ok_or_else(|| {
            let known = Isa::ALL.map(Isa::name).join(", ");
            format!("the plan is for `{name}`, and code is made for {known} only")
        })?,
        None => cpu.isa(),
    };
    match isa.missing() {
        Some(feature) => Err(format!("the plan is for `{}`, and this machine lacks {feature}", isa.name())),
        None => Ok(cpu.with_isa(isa)),
    }
}

/// A function on its way to segments.
pub(crate) struct Compiler<'a> {
    /// What its types and attributes are handles of.
    pub(crate) ctx: &'a Context,
    /// The function.
    pub(crate) body: &'a Body,
    /// With the processor that the plan is for.
    pub(crate) options: Options,
    /// What is known before it runs.
    pub(crate) weights: WeightSet,
    aliases: Rc<AliasSets>,
    /// Where its values are.
    pub(crate) places: Places,
    /// The weights that its steps read.
    pub(crate) table: WeightTable,
    /// Bytes that die with each operation, where they are to be poisoned.
    dead: HashMap<Op, Vec<(Address, u64)>>,
    /// What each `assert` says, by its status.
    pub(crate) asserts: Vec<String>,
}

impl<'a> Compiler<'a> {
    /// The function called `function` of a module.
    ///
    /// # Errors
    /// If there is none, the machine lacks the kernels' instructions, or the plan is not whole.
    pub(crate) fn of(module: &'a Module, function: &str, options: Options) -> Result<Self, Vec<Diagnostic>> {
        let ctx = &*module.ctx;
        let body = module.function(function);
        let body = body.ok_or_else(|| unknown(format!("no function is called `{function}`")))?;
        body.entry(body.root()).ok_or_else(|| unknown(format!("`{function}` has no body")))?;
        let options = Options { cpu: planned_for(ctx, body, options.cpu).map_err(unknown)?, ..options };
        let weights = WeightSet::of(ctx, body);
        let aliases = AliasSets::of(ctx, body);
        let places = Places::read(ctx, body, &weights, &aliases)?;
        let aliases = Rc::new(aliases);
        let (table, dead, asserts) = (WeightTable::default(), HashMap::new(), Vec::new());
        Ok(Compiler { ctx, body, options, weights, aliases, places, table, dead, asserts })
    }

    /// All calls, and the ways between them.
    pub(crate) fn segments(&mut self) -> Result<Vec<Segment>, Vec<Diagnostic>> {
        let (ctx, body) = (self.ctx, self.body);
        let graph = FlowGraph::of(ctx, body, &self.weights);
        let aliases = self.aliases.clone();
        if self.options.dead == DeadMemory::Poisoned {
            self.dead = dead_bytes(ctx, body, &graph, &self.weights, &aliases, &self.places);
        }
        let returns = graph.events().filter(|(_, event)| event.act == Act::Return);
        let mut faults: Vec<Diagnostic> =
            returns.flat_map(|(_, event)| self.check_returned(event.op)).collect();
        match segments(ctx, body, &graph, &aliases, self) {
            Ok(segments) if faults.is_empty() => Ok(segments),
            Ok(_) => Err(faults),
            Err(more) => {
                faults.extend(more);
                Err(faults)
            }
        }
    }

    /// The steps of an operation, with addresses for operands.
    fn place(&mut self, op: OpRef<'_>, lowered: Lowered) -> Result<Vec<Step>, Diagnostic> {
        let needed = lowered.scratch_bytes(self.options.threads);
        let scratch = self.places.scratch(op.op);
        if scratch.map_or(0, |place| place.bytes) < needed {
            let message = format!("`{}` has less scratch than its kernel needs, {needed} bytes", op.name());
            let help = format!("plan for {} threads on this machine", self.options.threads);
            return Err(Diagnostic::error(op.body.location(op.op), message).with_help(help));
        }
        let scratch = scratch.map(|place| place.address);
        let shared = lowered.shared_bytes;
        let calls = lowered.calls.into_iter().filter(|call| call.parts > 0);
        Ok(calls.map(|call| self.step(op, call, scratch, shared)).collect())
    }

    /// One call; the first `shared` bytes of scratch belong to all calls of the operation.
    fn step(&mut self, op: OpRef<'_>, call: Call, scratch: Option<Address>, shared: u64) -> Step {
        let operands = call.operands.iter().map(|pointer| self.pointer(op, pointer)).collect();
        let scratch = scratch.filter(|_| call.scratch_bytes > 0);
        let scratch = scratch.map(|address| (address.plus(shared), call.scratch_bytes));
        let Call { code, descriptor, parts, .. } = call;
        Step { code, descriptor, parts, operands, scratch, dead: Vec::new() }
    }

    fn pointer(&mut self, op: OpRef<'_>, pointer: &Pointer) -> Option<Address> {
        match pointer {
            Pointer::Result(index, offset) => Some(self.address(op.result(*index)).plus(*offset)),
            Pointer::Operand(index, offset) => Some(self.address(op.operand(*index)).plus(*offset)),
            Pointer::Packed(index, packing) => Some(self.table.packed(op.operand(*index), packing)),
            Pointer::Repeated(number, count) => Some(self.table.repeated(*number, *count)),
            Pointer::Shared(offset) => self.places.scratch(op.op).map(|place| place.address.plus(*offset)),
            Pointer::Absent => None,
        }
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
    pub(crate) fn inputs(&self) -> Result<Vec<TensorDesc>, Vec<Diagnostic>> {
        let inputs = self.signature().inputs();
        let mut descs = self.descs(inputs.map(|input| (&*input.name, input.ty)))?;
        for (desc, overwritten) in descs.iter_mut().zip(&self.places.overwritten) {
            desc.overwritten = *overwritten;
        }
        Ok(descs)
    }

    /// Its outputs.
    pub(crate) fn outputs(&self) -> Result<Vec<TensorDesc>, Vec<Diagnostic>> {
        self.descs(self.signature().outputs().map(|output| (&*output.name, output.ty)))
    }

    /// What the program keeps from run to run.
    fn states(&self) -> Result<Vec<StateDesc>, Vec<Diagnostic>> {
        let Signature { args, results, states } = self.signature();
        let tensors = states.iter().map(|state| (&*args[state.index].name, args[state.index].ty));
        let places = self.places.caller.states();
        let state = |(tensor, (state, offset)): (TensorDesc, (&State, u64))| StateDesc {
            tensor,
            offset: offset as usize,
            result: state.result.map(|index| results[index].name.clone()),
        };
        Ok(self.descs(tensors)?.into_iter().zip(places).map(state).collect())
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
                unknown(format!("`{name}` is no tensor of known sizes and a type that can be passed"))
            })
        };
        tensors.map(desc).collect()
    }
}

/// The outputs of a function with a dimension that data decide.
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
    Some(TensorDesc::new(name, element_kind(ctx.type_data(ctx.elem(ty)))?, shape, bytes))
}

impl Lowering for Compiler<'_> {
    fn run(&mut self, op: Op) -> Result<Vec<Instr>, Diagnostic> {
        let op_ref = self.body.at(self.ctx, op);
        let machine = self.options.cpu.machine(self.options.threads);
        let mut lowered = lower(op_ref, &machine).map_err(|refusal| refusal.at(op_ref))?;
        let condition = lowered.condition.take();
        let mut calls = self.place(op_ref, lowered)?;
        if let Some(last) = calls.last_mut() {
            last.dead = self.dead.remove(&op).unwrap_or_default();
        }
        let mut instrs: Vec<Instr> = calls.into_iter().map(Instr::Call).collect();
        if let Some(condition) = condition {
            let truth = self.pointer(op_ref, &condition.truth);
            let truth = truth.expect("a truth is somewhere");
            self.asserts.push(condition.message);
            instrs.insert(instrs.len().min(1), Instr::Assert(truth, self.asserts.len() as u32));
        }
        Ok(instrs)
    }

    fn address(&mut self, value: Value) -> Address {
        match self.places.of(value) {
            Some(address) => address,
            None => {
                let bytes = self.aliases.size_bytes(value).expect("weights are of known sizes");
                self.table.plain(value, bytes)
            }
        }
    }

    fn copy(&self, from: Address, to: Address, bytes: u64) -> Instr {
        let elem = if bytes.is_multiple_of(4) { 4 } else { 1 };
        let sizes = [(bytes / elem) as usize];
        let (isa, threads) = (self.options.cpu.isa(), self.options.threads);
        let kernel = kernels::Copy::new(&sizes, &[1], &[1], elem as usize, isa, threads);
        let Call { code, descriptor, parts, .. } = Call::kernel("copy", &kernel, isa, Vec::new());
        let operands = vec![Some(to), Some(from)];
        Instr::Call(Step { code, descriptor, parts, operands, scratch: None, dead: Vec::new() })
    }

    fn scratch(&self, op: Op) -> Option<(Address, u64)> {
        self.places.scratch(op).map(|place| (place.address, place.bytes))
    }
}

/// How elements of a type are passed to a program; none if they are not.
pub fn element_kind(elem: &TypeData) -> Option<ElementKind> {
    let is_unsigned = |signedness: &Signedness| *signedness == Signedness::Unsigned;
    Some(match elem {
        TypeData::Integer { width: 1, .. } => ElementKind::Bool,
        TypeData::Integer { width, signedness } => match (width, is_unsigned(signedness)) {
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
        TypeData::Float(FloatKind::F16) => ElementKind::F16,
        TypeData::Float(FloatKind::Bf16) => ElementKind::BF16,
        TypeData::Float(FloatKind::F32) => ElementKind::F32,
        TypeData::Float(FloatKind::F64) => ElementKind::F64,
        _ => return None,
    })
}
