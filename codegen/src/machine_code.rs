//! The machine code of a function, for all of its sizes, and its specialization for given sizes.
//!
//! Code is compiled from *samples*: the lowered operations at a few sizes. At other sizes, a loop nest whose
//! form no sample had is run by an equivalent one (see [`crate::forms`]), so nothing is compiled again. A
//! [`Specialization`] is mainly the [frame](crate::frame) read by the code.

use std::collections::BTreeMap;
use std::sync::Arc;

use ir::flow::FlowGraph;
use ir::weights::WeightSet;
use ir::{Body, Context, Diagnostic, Op};
use kernels::Isa;
use runtime::{AlignedBuffer, CodeImage, LoadedCode, Specialization, SpecializationParts, TensorDesc};

use crate::call::{Lowered, LoweredCall};
use crate::cranelift::{FunctionNumber, ImageBuilder};
use crate::elem::ElemType;
use crate::entry::StopChecks;
use crate::flow::{CodeBlock, segments};
use crate::forms::Forms;
use crate::frame::{
    Callee, DebugCalls, FrameWords, FrameWriter, PlacedFunction, PointerCounts, fault, function_words,
};
use crate::options::StepTimes;
use crate::prepared::Prepared;
use crate::row::Machine;
use crate::store::WeightStore;
use crate::weights::{KnownWeights, Missing, SizedWeights, WeightTable};
use crate::{entry, functions, trust};

/// Machine code of a function before it is loaded at its addresses.
pub(crate) struct CompiledCode {
    machine: Machine,
    image: Arc<CodeImage>,
    segments: Vec<CodeBlock>,
    buffers: PointerCounts,
    forms: Forms<FunctionNumber>,
    debug: DebugCalls<FunctionNumber>,
    faults: Arc<[String]>,
}

/// Machine code of a function at addresses; `C` is the code's memory.
pub(crate) struct MachineCode<C = LoadedCode> {
    /// The machine that it is compiled for.
    pub(crate) machine: Machine,
    code: C,
    /// The control flow.
    segments: Vec<CodeBlock>,
    buffers: PointerCounts,
    forms: Forms<u64>,
    debug: DebugCalls<u64>,
    /// The messages of the code's statuses 1, 2, ...
    faults: Arc<[String]>,
}

/// The input of a compilation.
pub(crate) struct Samples<'a> {
    /// The lowered operations of the function, at all sampled sizes.
    pub(crate) lowered: Vec<(Op, &'a Lowered)>,
    /// The element types of copies that other sizes may need, each with the greatest number of axes; none if
    /// there are no other sizes.
    pub(crate) copied: Option<Vec<(ElemType, usize)>>,
    /// The number of inputs of the function.
    pub(crate) inputs: usize,
    /// The number of outputs.
    pub(crate) outputs: usize,
}

/// The least room for operands of a call, if no sample has more.
const LEAST_WIDEST: usize = 8;

/// Checks that this machine has the instructions of a set.
///
/// # Errors
/// If it lacks some.
pub(crate) fn check_runs_here(isa: Isa) -> Result<(), Vec<Diagnostic>> {
    match isa.missing() {
        None => Ok(()),
        Some(feature) => {
            Err(fault(format!("the plan is for `{}`, and this machine lacks {feature}", isa.name())))
        }
    }
}

/// The address of function 0 in code that is not loaded; the following functions have the following
/// addresses.
pub(crate) const UNLOADED: u64 = 1 << 63;

impl CompiledCode {
    /// Compiles a function from samples, or takes its code from `prepared`.
    ///
    /// # Errors
    /// If Cranelift does not support the machine, or an operation branches on anything but an integer of 8,
    /// 16, 32 or 64 bits.
    pub(crate) fn compile(
        ctx: &Context,
        body: &Body,
        weights: &WeightSet,
        machine: Machine,
        samples: Samples<'_>,
        (steps, stops, prepared): (StepTimes, StopChecks, Option<&Prepared>),
    ) -> Result<CompiledCode, Vec<Diagnostic>> {
        let CodeOutline { faults, segments, buffers } = CodeOutline::of(ctx, body, weights, &samples)?;
        let Samples { lowered, copied, .. } = samples;
        let calls = || lowered.iter().flat_map(|(_, lowered)| &lowered.calls);
        let name = body.symbol(ctx).unwrap_or_default();
        // Prepared code stamps no steps.
        let prepared = prepared.filter(|_| steps == StepTimes::Unknown);
        let known = prepared.and_then(|prepared| prepared.image(name));
        let is_new = known.is_none();
        let mut image = ImageBuilder::new(machine.isa, known).map_err(fault)?;
        let forms = Forms::compile(&mut image, calls().map(|call| &call.code), copied.as_deref());
        let stamp = (steps == StepTimes::Stamped).then(|| entry::emit_stamp(&mut image));
        let debug = DebugCalls { poison: entry::emit_poison(&mut image), stamp };
        entry::emit(&mut image, &segments, buffers, stops);
        let image = image.finish().map_err(fault)?;
        if let Some(prepared) = prepared.filter(|_| is_new) {
            prepared.add_image(name, image.clone());
        }
        let faults = faults.into_iter().map(|fault| fault.1).collect();
        Ok(CompiledCode { machine, image, segments, buffers, forms, debug, faults })
    }

    /// Loads the code into executable memory.
    ///
    /// # Errors
    /// If this machine lacks some of its instructions, or the system does not let it run.
    pub(crate) fn load(self) -> Result<MachineCode, Vec<Diagnostic>> {
        let isa = self.machine.isa;
        check_runs_here(isa)?;
        let loaded = trust::load(&self.image, &symbols(isa));
        let (code, addresses) = loaded.map_err(|error| fault(error.to_string()))?;
        Ok(self.at(code, &addresses))
    }

    /// The code without loading it; the addresses of its functions begin at [`UNLOADED`].
    pub(crate) fn unloaded(self) -> MachineCode<Arc<CodeImage>> {
        let addresses: Vec<u64> = (UNLOADED..).take(self.image.functions.len()).collect();
        let image = self.image.clone();
        self.at(image, &addresses)
    }

    fn at<C>(self, code: C, addresses: &[u64]) -> MachineCode<C> {
        let CompiledCode { machine, segments, buffers, forms, debug, faults, .. } = self;
        let debug = debug.map(|function| addresses[function.index()]);
        MachineCode { machine, code, segments, buffers, debug, forms: forms.located(addresses), faults }
    }
}

impl MachineCode<Arc<CodeImage>> {
    /// The code.
    pub(crate) fn image(&self) -> &Arc<CodeImage> {
        &self.code
    }

    /// The messages of the code's statuses 1, 2, ...
    pub(crate) fn faults(&self) -> &Arc<[String]> {
        &self.faults
    }
}

impl<C> MachineCode<C> {
    /// The functions called by lowered calls.
    ///
    /// # Errors
    /// If a call computes something that no sample does.
    pub(crate) fn callees(&self, calls: &[LoweredCall], to: &mut Vec<Callee>) -> Result<(), Vec<Diagnostic>> {
        for call in calls {
            let found = self.forms.function(&call.code, &call.descriptor);
            to.push(found.ok_or_else(|| {
                fault("a step computes what no sample does: there is no code for it".to_owned())
            })?);
        }
        Ok(())
    }

    /// The frame at the sizes of `placed`, with initial room for `expected_words`.
    ///
    /// # Errors
    /// As for [`FrameWriter::write`].
    pub(crate) fn frame(
        &self,
        placed: &impl PlacedFunction,
        known: &KnownWeights,
        expected_words: usize,
    ) -> Result<FrameWords, Vec<Diagnostic>> {
        let writer = FrameWriter::new(placed, self.buffers, self.machine, self.debug, known, expected_words);
        writer.write(&self.segments)
    }

    /// The words of its frames that are addresses of functions.
    pub(crate) fn function_words(&self, words: &[i64]) -> Vec<usize> {
        function_words(words, &self.segments)
    }
}

impl MachineCode {
    /// The specialization at the sizes of `placed`; the frame has initial room for `expected_words`.
    ///
    /// # Errors
    /// As for [`FrameWriter::write`]; if a weight can't be evaluated, or there is no memory for it.
    pub(crate) fn specialization(
        &self,
        placed: &impl PlacedFunction,
        weights: &mut WeightSource<'_>,
        tensors: Tensors,
        expected_words: usize,
    ) -> Result<Specialization, Vec<Diagnostic>> {
        let mut written = self.frame(placed, weights.known, expected_words)?;
        let own = weights.fill_in(placed, &mut written.words, written.missing)?;
        let Tensors { arena_bytes, inputs, outputs } = tensors;
        let own_bytes = own.as_ref().map_or(0, |own| own.as_slice().len());
        let weights_bytes = own_bytes + if weights.is_alone { weights.store.bytes() } else { 0 };
        let weights = Arc::new((weights.store.clone(), own));
        let frame = written.words;
        let code = self.code.clone();
        let faults = self.faults.clone();
        let parts =
            SpecializationParts { code, faults, frame, arena_bytes, inputs, outputs, weights_bytes, weights };
        Ok(trust::specialization(parts))
    }
}

/// The parts of a function that its code depends on, besides the kernels.
struct CodeOutline {
    /// The operations that may stop the program, each with its message.
    faults: Vec<(Op, String)>,
    segments: Vec<CodeBlock>,
    buffers: PointerCounts,
}

impl CodeOutline {
    /// The outline of a function.
    ///
    /// # Errors
    /// If an operation branches on anything but an integer of 8, 16, 32 or 64 bits.
    fn of(
        ctx: &Context,
        body: &Body,
        weights: &WeightSet,
        samples: &Samples<'_>,
    ) -> Result<CodeOutline, Vec<Diagnostic>> {
        let Samples { lowered, inputs, outputs, .. } = samples;
        let mut faults: Vec<(Op, String)> = Vec::new();
        for (op, lowered) in lowered {
            if let Some(condition) = &lowered.condition
                && !faults.iter().any(|known| known.0 == *op)
            {
                faults.push((*op, condition.message.clone()));
            }
        }
        let graph = FlowGraph::of(ctx, body, weights);
        let segments = segments(ctx, body, &graph, &faults)?;
        let calls = lowered.iter().flat_map(|(_, lowered)| &lowered.calls);
        let widest = calls.map(|call| call.operands.len()).max().unwrap_or(0).max(LEAST_WIDEST);
        let buffers = PointerCounts { inputs: *inputs, outputs: *outputs, widest };
        Ok(CodeOutline { faults, segments, buffers })
    }
}

/// The bytes of all packed weights that code for a function would read. It reads no weight and compiles
/// nothing.
///
/// # Errors
/// As for [`MachineCode::compile`] and [`FrameWriter::write`].
pub(crate) fn weights_bytes(
    placed: &impl PlacedFunction,
    weights: &WeightSet,
    machine: Machine,
    samples: &Samples<'_>,
) -> Result<u64, Vec<Diagnostic>> {
    let (ctx, body) = (placed.ctx(), placed.body());
    let CodeOutline { segments, buffers, .. } = CodeOutline::of(ctx, body, weights, samples)?;
    let known = KnownWeights::default();
    // The frame, which lists all weights, is dropped afterwards.
    let written =
        FrameWriter::new(placed, buffers, machine, DebugCalls { poison: 0, stamp: None }, &known, 0)
            .write(&segments)?;
    let mut table = WeightTable::default();
    for missing in &written.missing {
        table.add_missing(ctx, body, missing);
    }
    Ok(table.bytes())
}

/// The memory of a function at some sizes, without weights.
pub(crate) struct Tensors {
    pub(crate) arena_bytes: usize,
    pub(crate) inputs: Vec<TensorDesc>,
    pub(crate) outputs: Vec<TensorDesc>,
}

/// The sources of a function's weights.
pub(crate) struct WeightSource<'a> {
    pub(crate) weights: &'a WeightSet,
    /// The weights that belong to one size.
    pub(crate) sized: &'a SizedWeights,
    /// The weights that are the same at all sizes, in memory.
    pub(crate) store: &'a Arc<WeightStore>,
    /// Whether no other specialization uses the store.
    pub(crate) is_alone: bool,
    /// The known addresses in the store.
    pub(crate) known: &'a mut KnownWeights,
}

impl WeightSource<'_> {
    /// Puts missing weights into memory and writes their addresses into a frame. Returns the weights that
    /// belong to these sizes only, if there are any.
    fn fill_in(
        &mut self,
        placed: &impl PlacedFunction,
        words: &mut [i64],
        missing: Vec<Missing>,
    ) -> Result<Option<AlignedBuffer>, Vec<Diagnostic>> {
        let (ctx, body) = (placed.ctx(), placed.body());
        let (own, lasting): (Vec<Missing>, Vec<Missing>) =
            missing.into_iter().partition(|missing| self.sized.has(&missing.key));
        if !lasting.is_empty() {
            let mut table = WeightTable::default();
            let offsets: Vec<u64> =
                lasting.iter().map(|missing| table.add_missing(ctx, body, missing)).collect();
            let addresses = self.store.addresses(ctx, body, self.weights, &table)?;
            for (Missing { word, op, key, .. }, offset) in lasting.into_iter().zip(offsets) {
                let (piece, within) = table.find(offset);
                let address = addresses[piece] + within;
                words[word] += address as i64;
                self.known.add(op, key, address);
            }
        }
        if own.is_empty() {
            return Ok(None);
        }
        let mut table = WeightTable::default();
        let offsets: Vec<u64> = own.iter().map(|missing| table.add_missing(ctx, body, missing)).collect();
        let buffer = table.build(ctx, body, self.weights, self.sized)?;
        let start = buffer.as_slice().as_ptr() as usize as i64;
        for (Missing { word, .. }, offset) in own.into_iter().zip(offsets) {
            words[word] += start + offset as i64;
        }
        Ok(Some(buffer))
    }
}

/// All symbols that the code may refer to.
fn symbols(isa: Isa) -> BTreeMap<&'static str, *const u8> {
    let own = runtime::symbols().into_iter().chain(functions::symbols(isa));
    own.chain(functions::library()).collect()
}
