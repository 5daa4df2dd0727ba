//! Creation of specializations: buffers are placed at given sizes, and the code gets a frame, without any IR.
//!
//! ```text
//! sizes -> types -> kernels, each class of steps once -> scratch -> offsets, checked -> frame
//! ```
//! Everything else was decided at compile time: [`passes::memory`] provides the buffers and their live
//! ranges, and [`codegen::SizedCode`] the machine code.

use std::sync::{Arc, Mutex, PoisonError};

use codegen::{DeadMemory, Offsets, SizeFault, SizedCode, SizedPlan, SizedStep, Workspace};
use cranelift_entity::SecondaryMap;
use ir::dims::SizeValues;
use ir::plan::attrs;
use ir::plan::signature::Signature;
use ir::plan::storage::Storage;
use ir::{Body, Context, Diagnostic, Ident, Location, Value};
use passes::memory::buffers::Buffers;
use passes::memory::faster::RunningSteps;
use passes::memory::price::{StepChoice, StepNeeds};
use passes::memory::specialize::AssignFault;
use passes::place::BufferId;
use runtime::{LoadedCode, Specialization, Specialize, StateDesc};

use crate::failure::Failure;
use crate::specialize::{AllSizes, Guard, Variant};

/// The data for specializations of a function; `C` is the type of its code.
pub(crate) struct Specializations<C = LoadedCode> {
    all: AllSizes,
    code: SizedCode<C>,
    dead: DeadMemory,
    spare: Mutex<Vec<SpecializationScratch>>,
    /// The specializations of the function's variants.
    variants: Vec<(Guard, Specializations<C>)>,
}

/// A function that compiles a function with named sizes.
type CompileSized<C> = fn(
    &Arc<Context>,
    &Body,
    &[Ident],
    SizedPlan,
    &[Vec<u64>],
    &codegen::CodegenOptions,
) -> Result<(SizedCode<C>, Workspace), SizeFault>;

/// The scratch of one thread for a specialization.
struct SpecializationScratch {
    lowered: Workspace,
    needs: Vec<StepNeeds>,
    values: SizeValues,
}

impl SpecializationScratch {
    fn new(lowered: Workspace) -> SpecializationScratch {
        SpecializationScratch { lowered, needs: Vec::new(), values: SizeValues::default() }
    }
}

impl Specializations {
    /// Compiles a function planned for all sizes, to run in this process.
    ///
    /// # Errors
    /// Every operation without machine code at the first valid sample.
    pub(crate) fn compile(
        all: AllSizes,
        options: &codegen::CodegenOptions,
    ) -> Result<Specializations, Failure> {
        Specializations::made(all, options, SizedCode::compile)
    }
}

impl<C> Specializations<C> {
    /// Compiles a function planned for all sizes with `compile`.
    ///
    /// # Errors
    /// Every operation without machine code at the first valid sample.
    pub(crate) fn made(
        mut all: AllSizes,
        options: &codegen::CodegenOptions,
        compile: CompileSized<C>,
    ) -> Result<Self, Failure> {
        let variants = all.take_variants();
        let mut made = Specializations::of(all, options, compile)?;
        for Variant { guard, all } in variants {
            let own = Specializations::of(all, options, compile)?;
            let own = Specializations { code: own.code.sharing_weights(&made.code), ..own };
            made.variants.push((guard, own));
        }
        Ok(made)
    }

    fn of(
        all: AllSizes,
        options: &codegen::CodegenOptions,
        compile: CompileSized<C>,
    ) -> Result<Self, Failure> {
        let (ctx, names) = all.named();
        let buffers = all.plans().buffers();
        let homes = homes(buffers, &all.signature()?);
        let made = compile(ctx, &buffers.body, names, homes, &all.samples(), options);
        let (code, work) = made.map_err(|fault| reason(&all, all.sample(), fault))?;
        let spare = Mutex::new(vec![SpecializationScratch::new(work)]);
        Ok(Specializations { code, dead: options.dead, spare, all, variants: Vec::new() })
    }

    /// The states that contexts keep between runs.
    pub(crate) fn states(&self) -> &[StateDesc] {
        self.code.states()
    }

    /// The function.
    pub(crate) fn all(&self) -> &AllSizes {
        &self.all
    }

    /// The machine code of the function.
    #[cfg(feature = "aot")]
    pub(crate) fn code(&self) -> &SizedCode<C> {
        &self.code
    }

    /// The machine code of the function's variants.
    #[cfg(feature = "aot")]
    pub(crate) fn variants(&self) -> impl Iterator<Item = &SizedCode<C>> {
        self.variants.iter().map(|variant| &variant.1.code)
    }

    /// Places the buffers of the function or variant for these sizes, and returns the result of `then`. That
    /// also gets its index (0 for the function, from 1 on for variants) and its machine code. Also returns
    /// the number of steps without room for their faster algorithm.
    ///
    /// # Errors
    /// The reason why the function can't have these sizes.
    pub(crate) fn at<R>(
        &self,
        sizes: &[u64],
        then: impl FnOnce(usize, &SizedCode<C>, &mut Workspace, &Offsets<'_>) -> Result<R, Vec<Diagnostic>>,
    ) -> Result<(R, usize), Failure> {
        let variants = (1..).zip(&self.variants);
        let mut variants =
            variants.filter_map(|(number, (guard, own))| Some((number, own, guard.sizes(sizes)?)));
        let (number, own, sizes) = variants.next().unwrap_or_else(|| (0, self, sizes.to_vec()));
        let spare = || own.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = spare().pop();
        let mut work = taken.unwrap_or_else(|| SpecializationScratch::new(own.code.workspace()));
        let then = |work: &mut Workspace, offsets: &Offsets<'_>| then(number, &own.code, work, offsets);
        let made = own.make(&sizes, &mut work, then);
        spare().push(work);
        made.map_err(|fault| reason(&own.all, &sizes, fault))
    }

    fn make<R>(
        &self,
        sizes: &[u64],
        work: &mut SpecializationScratch,
        then: impl FnOnce(&mut Workspace, &Offsets<'_>) -> Result<R, Vec<Diagnostic>>,
    ) -> Result<(R, usize), SizeFault> {
        let SpecializationScratch { lowered, needs, values } = work;
        let (code, plans) = (&self.code, self.all.plans());
        code.set(sizes, lowered)?;
        needs.clear();
        needs.extend(code.needs(lowered).map(|needs| StepNeeds {
            scratch_bytes: needs.scratch_bytes,
            least_scratch_bytes: needs.least_scratch_bytes,
            bands: needs.bands,
        }));
        let at = (lowered.ctx(), lowered.body());
        let faster = |step, room_bytes| code.faster(step, room_bytes, lowered);
        let running = RunningSteps { needs, faster: &faster };
        let plan = plans.assign(at, sizes, running, self.all.bound().ok(), values);
        let plan = plan.map_err(|fault| match fault {
            AssignFault::Sizes => SizeFault::Types,
            AssignFault::Pool(message) => {
                SizeFault::Code(vec![Diagnostic::error(Location::UNKNOWN, message)])
            }
        })?;
        for (index, choice) in plan.choices.iter().enumerate() {
            let StepChoice { step, scratch_bytes, banding, method } = choice;
            let is_like = |other: &&StepChoice| {
                code.are_alike(other.step, *step) && StepChoice { step: *step, ..**other } == *choice
            };
            if let Some(other) = plan.choices[..index].iter().find(is_like) {
                code.lower_as(*step, other.step, lowered);
                continue;
            }
            let op = plans.buffers().runs[*step].op;
            let limit = scratch_bytes.unwrap_or(needs[*step].scratch_bytes);
            let set = |ctx: &Context, body: &mut Body| {
                if limit > 0 {
                    body.set_attr(ctx, op, attrs::MEM_SCRATCH, ctx.int_attr(limit as i64));
                }
                banding.iter().for_each(|banding| banding.write(ctx, body, op));
                method.iter().for_each(|name| body.set_attr(ctx, op, attrs::MEM_METHOD, ctx.str_attr(name)));
            };
            code.lower_alone(*step, limit, set, lowered)?;
        }
        let offsets = Offsets {
            buffers: &|buffer| plan.place(BufferId::from_u32(buffer as u32)),
            pools: &|pool, buffer| plan.pools[pool].place(BufferId::from_u32(buffer as u32)).start,
            arena_bytes: usize::try_from(plan.size_bytes).map_err(|_| SizeFault::Types)?,
            dead: match self.dead {
                DeadMemory::Kept => Vec::new(),
                DeadMemory::Poisoned => plans.dead(&plan),
            },
        };
        Ok((then(lowered, &offsets).map_err(SizeFault::Code)?, plan.given_up))
    }
}

impl Specialize for Specializations {
    fn specialize(&self, sizes: &[u64]) -> Result<Specialization, String> {
        let made = self.at(sizes, |_, code, work, offsets| code.specialization(work, offsets));
        let (made, given_up) = made.map_err(|failure| failure.to_string())?;
        Ok(made.with_given_up(given_up))
    }

    fn weights_bytes(&self) -> usize {
        self.code.weights_bytes()
    }
}

/// The reason why a function can't have some sizes, in words.
fn reason(all: &AllSizes, sizes: &[u64], fault: SizeFault) -> Failure {
    let said = |faults: &[Diagnostic]| Failure::diagnostics(all.decided().0, faults);
    match fault {
        SizeFault::Code(faults) => said(&faults),
        SizeFault::Types => match all.at(sizes) {
            Err(failure) => failure,
            Ok(_) => Failure::input("a size is too large"),
        },
    }
}

/// The storage of all values of a function at all sizes, without offsets.
fn homes(buffers: &Buffers, signature: &Signature) -> SizedPlan {
    // The caller does not pass states.
    let passed = |storage: Storage<usize>| match storage {
        Storage::Input(arg) => signature.args[arg].input.map(Storage::Input),
        Storage::Output(result) => signature.results[result].output.map(Storage::Output),
        Storage::Buffer(_) | Storage::Pool(..) => Some(storage),
    };
    let body = &buffers.body;
    let mut values: SecondaryMap<Value, Option<Storage<usize>>> = SecondaryMap::new();
    for block in body.all_blocks() {
        let results = body.ops(block).flat_map(|op| body.results(op));
        for value in body.args(block).iter().copied().chain(results) {
            values[value] = buffers.storage(value).and_then(|storage| passed(storage.renamed(number)));
        }
    }
    let step = |run: &passes::memory::buffers::OpRun| SizedStep {
        op: run.op,
        scratch: number(run.scratch),
        asked_tie: run.asked_tie,
    };
    let moves = buffers.all_moves().map(|(op, id)| (op, number(id))).collect();
    SizedPlan { steps: buffers.runs.iter().map(step).collect(), values, moves }
}

fn number(id: BufferId) -> usize {
    id.as_u32() as usize
}

#[cfg(test)]
#[path = "specializations_tests.rs"]
mod tests;
