//! How much longer a run takes with other options: measured, in turn with a run without them.

use std::ops::Range;
use std::time::Instant;

use ir::Module;
use runtime::InputBuffer;

use crate::arrays::Array;
use crate::compile::{CompileOptions, SizeOptions};
use crate::failure::Failure;
use crate::model::Model;

/// Runs that warm caches and are not timed.
const WARM_UP_RUNS: usize = 3;

/// Warms a program up, and hands `work` what runs it once, on inputs as they were at first, and says from
/// when to when.
pub(crate) fn repeat<R>(
    model: &mut Model,
    inputs: &mut [Array],
    work: impl FnOnce(&mut dyn FnMut() -> Result<Range<Instant>, Failure>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    let mut outputs = model.empty_outputs()?;
    let donated = DonatedInputs::of(model, inputs)?;
    let mut bound = model.bind_donating(inputs)?;
    let mut views: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output.bytes[..]).collect();
    let mut run = || {
        donated.fill_again(&mut bound);
        let start = Instant::now();
        model.run_buffers(&mut bound, &mut views)?;
        Ok(start..Instant::now())
    };
    (0..WARM_UP_RUNS).try_for_each(|_| run().map(drop))?;
    work(&mut run)
}

/// Runs in turn of a program with several options.
pub(crate) struct RunsInTurn<'a> {
    /// The program, as it was read.
    pub(crate) module: &'a Module,
    pub(crate) inputs: &'a [Array],
    /// The named sizes that the inputs have.
    pub(crate) sizes: &'a [(String, u64)],
    /// How many runs of each are timed.
    pub(crate) runs: usize,
}

impl RunsInTurn<'_> {
    /// How many times as long a run takes with each of `others` as with `options`: the ratio of the medians.
    /// None where the program can't be compiled with these options, or can't be run on these inputs.
    ///
    /// # Errors
    /// If the program can't be compiled with `options`, or a run fails.
    pub(crate) fn ratios(
        &self,
        options: &CompileOptions,
        others: &[&CompileOptions],
    ) -> Result<Vec<Option<f64>>, Failure> {
        let mut base = self.model(options)?;
        let ratio = |other: &&CompileOptions| {
            if !self.fits(other) {
                return Ok(None);
            }
            let Ok(mut other) = self.model(other) else { return Ok(None) };
            self.ratio(&mut base, &mut other).map(Some)
        };
        others.iter().map(ratio).collect()
    }

    /// How many times as long a run of `other` takes as one of `base`.
    fn ratio(&self, base: &mut Model, other: &mut Model) -> Result<f64, Failure> {
        let mut times = [Vec::new(), Vec::new()];
        let [mut of_base, mut of_other] = [self.inputs.to_vec(), self.inputs.to_vec()];
        repeat(base, &mut of_base, |base| {
            repeat(other, &mut of_other, |other| {
                (0..self.runs).try_for_each(|_| {
                    for (all, span) in times.iter_mut().zip([base()?, other()?]) {
                        all.push(span.end - span.start);
                    }
                    Ok(())
                })
            })
        })?;
        let [base, other] = times.map(|mut times| {
            times.sort();
            times[times.len() / 2].as_secs_f64()
        });
        Ok(other / base)
    }

    /// Whether the inputs have sizes that a program with these options takes.
    fn fits(&self, options: &CompileOptions) -> bool {
        self.sizes.iter().all(|(name, size)| {
            let range = options.sizes.ranges.get(name);
            range.is_none_or(|(least, most)| (least..=most).contains(&size))
        })
    }

    /// The program compiled with these options, ready for the inputs.
    fn model(&self, options: &CompileOptions) -> Result<Model, Failure> {
        let sizes = SizeOptions { sample: self.sizes.to_vec(), ..options.sizes.clone() };
        let options = CompileOptions { sizes, ..options.unobserved() };
        let mut model = Model::compile(&mut self.module.clone(), &options)?;
        model.prepare_for(self.inputs)?;
        Ok(model)
    }
}

/// What the inputs that a program overwrites held, by their place among its inputs.
struct DonatedInputs(Vec<(usize, Vec<u8>)>);

impl DonatedInputs {
    fn of(model: &mut Model, inputs: &mut [Array]) -> Result<DonatedInputs, Failure> {
        let specialization = model.prepare()?;
        let bound = model.bind_donating(inputs)?;
        let mut held = Vec::new();
        for (index, (desc, buffer)) in specialization.inputs().iter().zip(bound).enumerate() {
            if let (true, InputBuffer::Donated(bytes)) = (desc.overwritten, buffer) {
                held.push((index, bytes.to_vec()));
            }
        }
        Ok(DonatedInputs(held))
    }

    fn fill_again(&self, buffers: &mut [InputBuffer<'_>]) {
        for (index, bytes) in &self.0 {
            if let InputBuffer::Donated(buffer) = &mut buffers[*index] {
                buffer.copy_from_slice(bytes);
            }
        }
    }
}
