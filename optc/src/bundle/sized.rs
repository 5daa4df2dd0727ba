//! Programs with named sizes for C: a frame for each combination of sizes.
//!
//! A size affects choices of the planner and kernels, which C code without either can't repeat. So all frames
//! are made here, by the same code as for `optc run`, and an object file contains the results
//! ([`aot::SizedFrames`]): the same bits and the same arena at each size, with nothing left to decide at run
//! time.

use std::sync::Arc;

use aot::{Fault, SizeRange, SizedFrames};
use codegen::{RelocatableFrame, RelocatableProgram, SizedCode, SizedFrame, WeightFile};
use runtime::{CodeImage, Extent, TensorDesc, TensorSpec};

use crate::compile::CompileOptions;
use crate::failure::Failure;
use crate::specializations::Specializations;
use crate::specialize::AllSizes;

/// The limit of bytes of weights that depend on sizes.
const MOST_SIZED_BYTES: u64 = 1 << 27;

/// A function planned for all sizes, without addresses: the program at its greatest sizes, and all frames.
///
/// # Errors
/// If there are too many sizes or none; if a state's offset in the arena depends on the sizes.
pub(super) fn build(
    all: AllSizes,
    options: &CompileOptions,
) -> Result<(RelocatableProgram, SizedFrames), Failure> {
    let open = codegen::open_outputs(all.named().0, &all.signature()?);
    let frames = SizedFrames::new(ranges(&all), [shapes(&all, all.inputs()), shapes(&all, all.outputs())]);
    let frames = frames.map_err(refused)?;
    let isa = options.cpu.isa();
    let made = Specializations::made(all, &options.code(), SizedCode::unloaded)?;
    let found = SizedProgram { made: &made, frames, weights: WeightFile::default(), most: None };
    let SizedProgram { frames, weights, most, .. } = found.at_all_sizes()?;
    let codes = || std::iter::once(made.code()).chain(made.variants());
    let weights = weights.build();
    let weights = weights.map_err(|faults| Failure::diagnostics(made.all().named().0, &faults))?;
    let states = made.states().iter().cloned().zip(most.states).collect();
    let program = RelocatableProgram {
        isa,
        threads: options.threads,
        images: codes().map(|code| code.image().clone()).collect(),
        frame: RelocatableFrame { words: Vec::new(), callees: Vec::new() },
        weights,
        arena_bytes: most.arena_bytes,
        inputs: most.inputs,
        outputs: most.outputs,
        open,
        states,
        faults: codes().flat_map(|code| code.faults().iter().cloned()).collect(),
    };
    Ok((program, frames))
}

fn refused(fault: Fault) -> Failure {
    Failure::input(fault.to_string())
}

fn ranges(all: &AllSizes) -> Vec<SizeRange> {
    let range = |symbol: &runtime::Symbol| SizeRange {
        name: symbol.name.clone(),
        least: symbol.least,
        most: symbol.most,
    };
    all.symbols().iter().map(range).collect()
}

/// The shapes of tensors, as texts of their sizes.
fn shapes(all: &AllSizes, tensors: &[TensorSpec]) -> Vec<Vec<String>> {
    let text = |extent: &Extent| match extent {
        Extent::Known(size) => size.to_string(),
        Extent::Symbol(number) => all.symbols()[*number].name.clone(),
        Extent::Expr(expr) => expr.text.clone(),
    };
    tensors.iter().map(|tensor| tensor.extents.iter().map(text).collect()).collect()
}

/// A program with named sizes while its frames are made.
struct SizedProgram<'a, M> {
    made: &'a Specializations<Arc<CodeImage>>,
    frames: SizedFrames,
    weights: WeightFile,
    /// The maximum of each tensor and of the arena so far.
    most: M,
}

/// The maximum over all sizes.
struct MostBytes {
    arena_bytes: usize,
    inputs: Vec<TensorDesc>,
    outputs: Vec<TensorDesc>,
    states: Vec<usize>,
}

impl<'a> SizedProgram<'a, Option<MostBytes>> {
    /// Makes the frames of all sizes, the greatest first.
    fn at_all_sizes(mut self) -> Result<SizedProgram<'a, MostBytes>, Failure> {
        let mut refusal = None;
        for sizes in self.frames.combinations() {
            if let Err(failure) = self.at(&sizes)? {
                refusal.get_or_insert(failure);
            }
        }
        let SizedProgram { made, frames, weights, most } = self;
        match (most, refusal) {
            (Some(most), _) => Ok(SizedProgram { made, frames, weights, most }),
            (None, Some(failure)) => Err(failure),
            (None, None) => Err(Failure::input("a named size has no number that it may be")),
        }
    }

    /// Makes the frame for these sizes, or returns the reason why `optc run` refuses them.
    fn at(&mut self, sizes: &[u64]) -> Result<Result<(), Failure>, Failure> {
        let SizedProgram { made, frames, weights, most } = self;
        let frame =
            made.at(sizes, |number, code, work, offsets| Ok((number, code.frame(work, offsets, weights)?)));
        let (number, frame) = match frame {
            Ok((found, _)) => found,
            Err(failure) => return Ok(Err(failure)),
        };
        if weights.sized_bytes() > MOST_SIZED_BYTES {
            return Err(Failure::input(format!(
                "weights that follow from sizes take more than {MOST_SIZED_BYTES} bytes over all sizes: give \
                 fewer with `--dim 'NAME<=MOST'`"
            )));
        }
        let codes = std::iter::once(made.code()).chain(made.variants());
        let statuses_before = codes.take(number).map(|code| code.faults().len()).sum();
        frames.add(sizes, &frame, number, statuses_before);
        let SizedFrame { arena_bytes, inputs, outputs, states, .. } = frame;
        let Some(most) = most else {
            *most = Some(MostBytes { arena_bytes, inputs, outputs, states });
            return Ok(Ok(()));
        };
        if most.states != states {
            return Err(Failure::input(
                "a state lies elsewhere in the arena at other sizes, and an object file keeps it where it \
                 is: give each named size a number with `--dim NAME=SIZE`",
            ));
        }
        most.arena_bytes = most.arena_bytes.max(arena_bytes);
        for (most, found) in [(&mut most.inputs, inputs), (&mut most.outputs, outputs)] {
            for (most, found) in most.iter_mut().zip(found) {
                if found.size_bytes > most.size_bytes {
                    *most = found;
                }
            }
        }
        Ok(Ok(()))
    }
}
