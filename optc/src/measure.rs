//! Measures the slowdown of other options, alternating with runs without them.

use std::ops::Range;
use std::time::{Duration, Instant};

use ir::Module;
use runtime::InputBuffer;

use crate::arrays::Array;
use crate::compile::{CompileOptions, SizeOptions};
use crate::failure::Failure;
use crate::model::Model;

/// Untimed runs that warm the caches.
const WARM_UP_RUNS: usize = 3;

/// Warms a program up, then calls `work` with a function that runs it once, on inputs restored to their first
/// values, and returns the begin and end.
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

/// Alternating runs of a program with several options.
pub(crate) struct RunsInTurn<'a> {
    /// The program as read.
    pub(crate) module: &'a Module,
    pub(crate) inputs: &'a [Array],
    /// The named sizes that the inputs have.
    pub(crate) sizes: &'a [(String, u64)],
    /// The number of timed runs of each.
    pub(crate) runs: usize,
    /// The time limit, if any.
    pub(crate) limit: Option<MeasureLimit>,
}

/// Limits beyond which nothing is measured.
#[derive(Clone, Copy)]
pub(crate) struct MeasureLimit {
    /// The limit of a program's first run.
    pub(crate) run: Duration,
    /// The limit of the total time; programs that are expected to exceed it are skipped.
    pub(crate) all: Duration,
}

impl RunsInTurn<'_> {
    /// The slowdown of each of `others` relative to `options`: the ratio of the median run times. None if the
    /// program can't be compiled with these options, can't be run on these inputs, or exceeds the limit.
    ///
    /// # Errors
    /// If the program can't be compiled with `options`, or a run fails.
    pub(crate) fn ratios(
        &self,
        options: &CompileOptions,
        others: &[&CompileOptions],
    ) -> Result<Vec<Option<f64>>, Failure> {
        let start = Instant::now();
        let mut base = self.model(options)?;
        let mut longest = start.elapsed();
        if let Some(limit) = self.limit {
            let before = Instant::now();
            base.run(self.inputs)?;
            if before.elapsed() > limit.run {
                return Ok(vec![None; others.len()]);
            }
        }
        let mut ratios = Vec::with_capacity(others.len());
        for other in others {
            let before = Instant::now();
            let is_late = self.limit.is_some_and(|limit| start.elapsed() + longest > limit.all);
            let model = if self.fits(other) && !is_late { self.model(other).ok() } else { None };
            ratios.push(match model {
                Some(mut other) => Some(self.ratio(&mut base, &mut other)?),
                None => None,
            });
            longest = longest.max(before.elapsed());
        }
        Ok(ratios)
    }

    /// The ratio of the run times of `other` and `base`.
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

    /// Whether a program with these options supports the inputs' sizes.
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

/// The original contents of overwritten inputs, by input index.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::parse;

    /// A program of `count` hyperbolic tangents, one after the other.
    fn program(count: usize) -> Module {
        let ty = "tensor<65536xf32>";
        let mut text = format!("func.func @main(%x0: {ty}) -> {ty} {{\n");
        for index in 0..count {
            text += &format!("  %x{} = nn.tanh %x{index} : {ty}\n", index + 1);
        }
        text += &format!("  return %x{count} : {ty}\n}}\n");
        parse("tangents.mlir", text, None, &Default::default()).expect("it is a program")
    }

    fn model(module: &Module) -> Model {
        Model::compile(&mut module.clone(), &CompileOptions { threads: 1, ..Default::default() })
            .expect("it compiles")
    }

    #[test]
    fn a_ratio_above_one_says_that_a_run_takes_longer() {
        let (few, many) = (program(1), program(24));
        let inputs = [Array::f32("arg0", &[65536], &vec![0.5; 65536])];
        let turns = RunsInTurn { module: &few, inputs: &inputs, sizes: &[], runs: 9, limit: None };
        let ratio = |base: &Module, other: &Module| {
            turns.ratio(&mut model(base), &mut model(other)).expect("they can be run")
        };
        let longer = ratio(&few, &many);
        assert!(longer > 2.0, "24 times the work takes {longer} times as long");
        let shorter = ratio(&many, &few);
        assert!(shorter < 0.5, "a 24th of the work takes {shorter} times as long");
    }

    #[test]
    fn what_would_take_too_long_is_not_measured() {
        let module = program(1);
        let inputs = [Array::f32("arg0", &[65536], &vec![0.5; 65536])];
        let options = CompileOptions { threads: 1, ..Default::default() };
        let [none, minute] = [Duration::ZERO, Duration::from_secs(60)];
        let ratios = |limit: Option<MeasureLimit>| {
            let turns = RunsInTurn { module: &module, inputs: &inputs, sizes: &[], runs: 1, limit };
            turns.ratios(&options, &[&options]).expect("it can be run")
        };
        for limit in [MeasureLimit { run: none, all: minute }, MeasureLimit { run: minute, all: none }] {
            assert_eq!(ratios(Some(limit)), [None]);
        }
        for limit in [None, Some(MeasureLimit { run: minute, all: minute })] {
            assert!(ratios(limit)[0].is_some());
        }
    }
}
