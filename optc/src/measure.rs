//! How much longer a run takes with other options: measured, in turn with a run without them.

use std::time::Instant;

use ir::Module;
use runtime::InputBuffer;

use crate::arrays::Array;
use crate::compile::{CompileOptions, SizeOptions};
use crate::failure::Failure;
use crate::model::Model;

/// Runs that warm caches and are not timed.
const WARM_UP_RUNS: usize = 2;

/// A compiled program with inputs, which is run again and again.
struct Timed {
    model: Model,
    inputs: Vec<Array>,
    outputs: Vec<Array>,
    donated: DonatedInputs,
}

impl Timed {
    fn of(module: &Module, options: &CompileOptions, inputs: &[Array]) -> Result<Timed, Failure> {
        let mut model = Model::compile(&mut module.clone(), options)?;
        model.prepare_for(inputs)?;
        let (mut inputs, outputs) = (inputs.to_vec(), model.empty_outputs()?);
        let donated = DonatedInputs::of(&mut model, &mut inputs)?;
        Ok(Timed { model, inputs, outputs, donated })
    }

    /// The seconds that a run takes.
    fn run(&mut self) -> Result<f64, Failure> {
        let mut bound = self.model.bind_donating(&mut self.inputs)?;
        self.donated.fill_again(&mut bound);
        let mut views: Vec<&mut [u8]> = self.outputs.iter_mut().map(|output| &mut output.bytes[..]).collect();
        let start = Instant::now();
        self.model.run_buffers(&mut bound, &mut views)?;
        Ok(start.elapsed().as_secs_f64())
    }
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
        let mut base = self.timed(options)?;
        let ratio = |other: &&CompileOptions| {
            if !self.fits(other) {
                return Ok(None);
            }
            let Ok(mut other) = self.timed(other) else { return Ok(None) };
            let mut seconds = [Vec::new(), Vec::new()];
            for run in 0..WARM_UP_RUNS + self.runs {
                let taken = [base.run()?, other.run()?];
                if run >= WARM_UP_RUNS {
                    seconds.iter_mut().zip(taken).for_each(|(all, taken)| all.push(taken));
                }
            }
            let [base, other] = seconds.map(median);
            Ok(Some(other / base))
        };
        others.iter().map(ratio).collect()
    }

    /// Whether the inputs have sizes that a program with these options takes.
    fn fits(&self, options: &CompileOptions) -> bool {
        self.sizes.iter().all(|(name, size)| {
            let range = options.sizes.ranges.get(name);
            range.is_none_or(|(least, most)| (least..=most).contains(&size))
        })
    }

    fn timed(&self, options: &CompileOptions) -> Result<Timed, Failure> {
        let sizes = SizeOptions { sample: self.sizes.to_vec(), ..options.sizes.clone() };
        Timed::of(self.module, &CompileOptions { sizes, ..options.unobserved() }, self.inputs)
    }
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// What the inputs that a program overwrites held, by their place among its inputs.
pub(crate) struct DonatedInputs(Vec<(usize, Vec<u8>)>);

impl DonatedInputs {
    pub(crate) fn of(model: &mut Model, inputs: &mut [Array]) -> Result<DonatedInputs, Failure> {
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

    pub(crate) fn fill_again(&self, buffers: &mut [InputBuffer<'_>]) {
        for (index, bytes) in &self.0 {
            if let InputBuffer::Donated(buffer) = &mut buffers[*index] {
                buffer.copy_from_slice(bytes);
            }
        }
    }
}
