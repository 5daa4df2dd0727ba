//! How a function is compiled once for all sizes, and what an instance of it is.
//!
//! [`FramedCode::compile`] makes machine code from *samples*: the same planned function at a few sizes.
//! [`FramedCode::instance`] takes the function planned for any size and makes the frame (see
//! [`crate::frame`]) with which that code runs it. Nothing is compiled for an instance: a loop nest of a form
//! that no sample had is run by one that does the same (see [`crate::forms`]).
//!
//! Instances may differ in kernels, number of calls, places and sizes; what is the same for all is checked:
//! the ways between segments, the inputs and outputs, and that each generated step is computed as in some
//! sample.

use std::collections::BTreeMap;
use std::sync::Arc;

use ir::{Context, Diagnostic, Location, Module};
use kernels::Isa;
use runtime::{JitCode, Specialization, SpecializationParts, TensorDesc};

use crate::cranelift::Jit;
use crate::elem::Elem;
use crate::flow::{Segment, Step, calls};
use crate::forms::Forms;
use crate::frame::{self, Buffers, FrameCall, Writer, is_same_code};
use crate::functions;
use crate::program::{Compiler, DeadMemory, Options};
use crate::store::WeightStore;
use crate::trust;

/// Machine code of a function for all sizes, with the weights that its instances share.
pub struct FramedCode {
    ctx: Arc<Context>,
    function: String,
    pub(crate) options: Options,
    code: JitCode,
    /// The ways between the segments; their calls are those of the first sample.
    pub(crate) segments: Vec<Segment>,
    pub(crate) buffers: Buffers,
    /// Those of the first sample.
    pub(crate) inputs: Vec<TensorDesc>,
    /// Those of the first sample.
    pub(crate) outputs: Vec<TensorDesc>,
    pub(crate) forms: Forms<u64>,
    pub(crate) poison: u64,
    faults: Vec<String>,
    pub(crate) weights: Arc<WeightStore>,
}

/// The most operands of a call that are made room for, if no sample has more.
const LEAST_WIDEST: usize = 8;

impl FramedCode {
    /// Compiles the function called `function` of the samples, which are planned modules of one context.
    ///
    /// # Errors
    /// Every operation without machine code, every place that a plan lacks or that lies outside its pool; or
    /// if the samples are not the same function at different sizes, or have states: where these lie moves
    /// with the sizes.
    pub fn compile(
        samples: &[&Module],
        function: &str,
        options: &Options,
    ) -> Result<FramedCode, Vec<Diagnostic>> {
        let first = samples.first().ok_or_else(|| fault("there is no sample to compile".to_owned()))?;
        let mut options = *options;
        let mut lowered = Vec::new();
        for module in samples {
            check_context(&first.ctx, module)?;
            let mut compiler = Compiler::of(module, function, options)?;
            options = compiler.options;
            if let Some((state, _)) = compiler.places.caller.states().next() {
                let index = state.index;
                return Err(fault(format!(
                    "argument {index} is a state, which no program for all sizes keeps"
                )));
            }
            let segments = compiler.segments()?;
            let faults = std::mem::take(&mut compiler.asserts);
            lowered.push((segments, compiler.inputs()?, compiler.outputs()?, faults));
        }
        let steps = || lowered.iter().flat_map(|sample| calls(&sample.0));
        let widest = steps().map(|step| step.operands.len()).max().unwrap_or(0).max(LEAST_WIDEST);
        let (_, inputs, outputs, _) = &lowered[0];
        let buffers = Buffers { inputs: inputs.len(), outputs: outputs.len(), widest };
        let mut jit = Jit::new(&symbols(options.cpu.isa())).map_err(fault)?;
        let forms = Forms::compile(&mut jit, steps(), &copied(first, function));
        let poison = frame::emit_poison(&mut jit);
        let entry = frame::emit(&mut jit, &lowered[0].0, buffers);
        let mut functions = forms.functions();
        functions.push(poison);
        let (finished, addresses) = jit.finish_with(entry, &functions);
        let code = trust::load(finished);
        let poison = addresses[addresses.len() - 1];
        let forms = forms.located(&addresses);
        let mut samples = lowered.into_iter();
        let (segments, inputs, outputs, faults) = samples.next().expect("there is a sample");
        let (ctx, function) = (first.ctx.clone(), function.to_owned());
        let weights = Arc::new(WeightStore::default());
        let code = FramedCode {
            ctx,
            function,
            options,
            code,
            segments,
            buffers,
            inputs,
            outputs,
            forms,
            poison,
            faults,
            weights,
        };
        samples.try_for_each(|(segments, inputs, outputs, faults)| {
            code.check(&segments, &inputs, &outputs, &faults)
        })?;
        Ok(code)
    }

    /// The frame with which the code runs the function as it is planned in `module`; that may be of a copy of
    /// the samples' context which was made when all weights were there.
    ///
    /// # Errors
    /// As for [`FramedCode::compile`]: if `module` is of another context, or has another function than the
    /// samples.
    pub fn instance(&self, module: &Module) -> Result<Specialization, Vec<Diagnostic>> {
        check_context(&self.ctx, module)?;
        let mut compiler = Compiler::of(module, &self.function, self.options)?;
        let segments = compiler.segments()?;
        let (inputs, outputs) = (compiler.inputs()?, compiler.outputs()?);
        self.check(&segments, &inputs, &outputs, &compiler.asserts)?;
        let calls: Result<Vec<FrameCall<'_>>, _> = calls(&segments).map(|step| self.call(step)).collect();
        let calls = calls?;
        let Compiler { ctx, body, weights, table, .. } = &compiler;
        let addresses = self.weights.addresses(ctx, body, weights, table)?;
        let weight = |offset| {
            let (piece, within) = table.find(offset);
            addresses[piece] + within
        };
        let writer = Writer { buffers: self.buffers, weight: &weight, poison: self.poison };
        Ok(trust::specialization(SpecializationParts {
            frame: writer.write(&segments, calls.into_iter()),
            arena_bytes: compiler.places.arena_bytes as usize,
            inputs,
            outputs,
            weights: self.weights.clone(),
        }))
    }

    /// The code, for the program whose instances this makes.
    pub fn code(&self) -> JitCode {
        self.code.clone()
    }

    /// Whether dead memory is filled with NaN.
    pub fn is_poisoned(&self) -> bool {
        self.options.dead == DeadMemory::Poisoned
    }

    /// How many outputs each instance has.
    pub fn outputs(&self) -> usize {
        self.buffers.outputs
    }

    /// What the code's statuses 1, 2, ... mean.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Bytes of weights that are packed so far.
    pub fn weights_bytes(&self) -> usize {
        self.weights.bytes()
    }

    /// What is called for a step.
    fn call<'s>(&self, step: &'s Step) -> Result<FrameCall<'s>, Vec<Diagnostic>> {
        let found = self.forms.function(&step.code, &step.descriptor);
        let (function, descriptor) = found.ok_or_else(|| {
            fault("a step of the instance computes what no sample does: there is no code for it".to_owned())
        })?;
        if step.operands.len() > self.buffers.widest {
            return Err(fault(format!(
                "a step of the instance has {} operands, and the code has room for {}",
                step.operands.len(),
                self.buffers.widest
            )));
        }
        Ok(FrameCall { step, function, descriptor })
    }

    /// Checks that the code can run segments between such inputs and outputs.
    fn check(
        &self,
        segments: &[Segment],
        inputs: &[TensorDesc],
        outputs: &[TensorDesc],
        faults: &[String],
    ) -> Result<(), Vec<Diagnostic>> {
        let Buffers { inputs: wanted, outputs: given, .. } = self.buffers;
        if inputs.len() != wanted || outputs.len() != given {
            return Err(fault(format!(
                "an instance has {} inputs and {} outputs, and the code takes {wanted} and {given}",
                inputs.len(),
                outputs.len()
            )));
        }
        if !is_same_code(&self.segments, segments) || self.faults != faults {
            return Err(fault("an instance branches or asserts otherwise than the samples".to_owned()));
        }
        Ok(())
    }
}

/// The element types of a function's values, each with the most axes that one has: which of them are copied
/// is decided at each size.
fn copied(module: &Module, function: &str) -> Vec<(Elem, usize)> {
    let (ctx, mut copied) = (&module.ctx, Vec::<(Elem, usize)>::new());
    let body = module.function(function);
    for (body, block) in body.iter().flat_map(|body| body.all_blocks().map(move |block| (*body, block))) {
        let results = body.ops(block).flat_map(|op| body.results(op));
        for value in body.args(block).iter().copied().chain(results) {
            let axes = ctx.type_data(body.ty(value)).tensor_shape().map(<[_]>::len);
            let Some((elem, axes)) = Elem::of(ctx, body.ty(value)).zip(axes) else { continue };
            match copied.iter_mut().find(|known| known.0 == elem) {
                Some(known) => known.1 = known.1.max(axes),
                None => copied.push((elem, axes)),
            }
        }
    }
    copied
}

fn fault(message: String) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Location::UNKNOWN, message)]
}

fn check_context(ctx: &Arc<Context>, module: &Module) -> Result<(), Vec<Diagnostic>> {
    match ctx.is_kin(&module.ctx) {
        true => Ok(()),
        false => {
            Err(fault("instances and samples are modules of one context, or of copies of it".to_owned()))
        }
    }
}

/// All symbols that the code may refer to.
fn symbols(isa: Isa) -> BTreeMap<String, *const u8> {
    let own = runtime::symbols().into_iter();
    own.chain(functions::symbols(isa)).map(|(name, address)| (name.to_owned(), address)).collect()
}

#[cfg(test)]
#[path = "framed_tests.rs"]
mod tests;
