//! Row streaming: a chain of convolutions and pools runs row by row, so that the images between them never
//! exist whole.
//!
//! ```text
//! conv %x, depthwise of that, 2 rows at a time   =>   conv: rows 0..3     depthwise: rows 0..2
//!                                                     conv: rows 3..5     depthwise: rows 2..4    ...
//! ```
//! A group with `mem.lines` has the steps of a chain in its body; each reads the result of the one before. A
//! turn computes a band of rows of the last result, after every other step has computed the rows that are
//! missing for it. The rows that the next step still reads are kept in a *line buffer* in shared scratch.
//! When it is full, the rows that are still needed move to its beginning. It is large enough that source and
//! destination of that copy never overlap. Each call is the kernel on a band (see [`crate::bands`]), so each
//! element is the same sum in the same order. A turn has as many rows as fit the scratch that the plan gives.

use ir::body::OpRef;
use ir::body::ValueDef;
use ir::plan::attrs;
use ir::{Kind, Traits, Value};

use crate::bands::{Band, CALL_CYCLES, FREE, Rowwise, Slide};
use crate::call::{Lowered, LoweredCall, Pointer};
use crate::kernels::row_of;
use crate::refusal::CodeRefusal;
use crate::row::Machine;

/// The share of the largest intermediate image that may be spent on fewer calls: 1 / this.
const SHARE: u64 = 32;

/// Whether an operation is a group that runs row by row.
pub(crate) fn is_lines(op: OpRef<'_>) -> bool {
    matches!(op.kind(), Kind::Group) && op.attr(attrs::MEM_LINES).is_some()
}

/// The operations of a group's body, without its terminator.
pub(crate) fn steps(group: OpRef<'_>) -> Vec<OpRef<'_>> {
    let block = group.body.regions(group.op).first().and_then(|region| group.body.entry(*region));
    let ops = block.into_iter().flat_map(|block| group.body.ops(block));
    ops.map(|op| group.body.at(group.ctx, op)).filter(|op| !op.has(Traits::YIELD)).collect()
}

/// The operations of a group's body that read operand `operand` of the group, each with the index of its own
/// operand.
pub(crate) fn readers(group: OpRef<'_>, operand: usize) -> Vec<(OpRef<'_>, usize)> {
    let block = group.body.regions(group.op).first().and_then(|region| group.body.entry(*region));
    let uses = block.into_iter().flat_map(|block| group.body.uses(group.body.args(block)[operand]));
    uses.map(|used| (group.body.at(group.ctx, used.op), used.index)).collect()
}

/// The calls that run a group with `mem.lines`.
pub(crate) fn lower(group: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let chain = RowChain::of(group, machine)?;
    let rows = [chain.least_rows(machine.threads)?, chain.rows(FREE, machine.threads)];
    let least_bytes = chain.bytes(rows[0], Some(0))?;
    let (rows, limit) = match attrs::scratch_bytes(group) {
        None => (rows[1], None),
        Some(planned) => chain.within(planned, rows)?,
    };
    let run = chain.run(rows, limit)?;
    Ok(Lowered {
        shared_bytes: run.shared_bytes,
        least_scratch_bytes: Some(least_bytes),
        enough_scratch_bytes: Some(chain.enough_bytes()?),
        ..Lowered::new("lines", run.calls)
    })
}

/// The steps of a chain; each reads the rows of the one before.
struct RowChain<'a> {
    group: OpRef<'a>,
    steps: Vec<(OpRef<'a>, Rowwise)>,
    machine: &'a Machine,
}

/// The calls of all turns of a chain.
struct ChainCalls {
    calls: Vec<LoweredCall>,
    /// Bytes of all line buffers.
    shared_bytes: u64,
}

impl<'a> RowChain<'a> {
    fn of(group: OpRef<'a>, machine: &'a Machine) -> Result<RowChain<'a>, CodeRefusal> {
        let mut steps: Vec<(OpRef<'a>, Rowwise)> = Vec::new();
        for op in self::steps(group) {
            let by_rows = row_of(op, machine.own)
                .and_then(|row| row.rowwise)
                .ok_or_else(|| CodeRefusal::new("a step of its body does not run row by row"))?;
            let rowwise = by_rows(op, machine)?;
            let before = steps.last().map(|(before, _)| before.result(0));
            for (index, operand) in group.body.operands(op.op).enumerate() {
                let expected = before.filter(|_| index == rowwise.image);
                let is_right = match expected {
                    Some(before) => operand == before,
                    None => matches!(group.body.def(operand), ValueDef::Arg(..)),
                };
                if !is_right {
                    return Err(CodeRefusal::new(
                        "a step of its body does not read the one before as its image alone",
                    ));
                }
            }
            steps.push((op, rowwise));
        }
        let last = steps.last().map(|(last, _)| last.result(0));
        let yields = |value: Value| {
            group.body.uses(value).any(|used| group.body.at(group.ctx, used.op).has(Traits::YIELD))
        };
        if !last.is_some_and(yields) || group.body.result_count(group.op) != 1 {
            return Err(CodeRefusal::new("it yields more, or less, than the last step of its body"));
        }
        Ok(RowChain { group, steps, machine })
    }

    /// The rows of a turn for which the overhead of calls is one `share`-th of the work.
    fn rows(&self, share: usize, threads: usize) -> usize {
        let (mut work, mut lost, mut rows) = (0, 0, 1);
        for (_, step) in self.steps.iter().rev() {
            work += step.work.row_cycles(threads) * rows;
            lost += step.work.call_cycles() + CALL_CYCLES;
            rows *= step.slide.stride;
        }
        let last = self.steps.last().map_or(1, |(_, step)| step.slide.output);
        (lost * share).div_ceil(work).clamp(1, last)
    }

    /// The fewest rows of a turn: as many as make the overhead of calls equal the work, unless the line
    /// buffers then take more than a small share of the images that they replace.
    fn least_rows(&self, threads: usize) -> Result<usize, CodeRefusal> {
        let inner = self.steps.iter().take(self.steps.len() - 1);
        let largest =
            inner.map(|(_, step)| (step.slide.images * step.slide.output) as u64 * step.row_bytes[1]);
        let largest = largest.max().unwrap_or(0);
        let limit = self.shared_bytes(1)? + largest / SHARE;
        let mut rows = self.rows(1, threads);
        while rows > 1 && self.shared_bytes(rows)? > limit {
            rows -= 1;
        }
        Ok(rows)
    }

    /// The most rows of a turn, within a range, that fit the planned scratch. If none do, as many of the
    /// fewest as fit, with a limit for each worker.
    fn within(&self, planned: u64, [least, most]: [usize; 2]) -> Result<(usize, Option<usize>), CodeRefusal> {
        for rows in (least..=most).rev() {
            if self.shared_bytes(rows)? <= planned && self.bytes(rows, None)? <= planned {
                return Ok((rows, None));
            }
        }
        let mut rows = least;
        while rows > 1 && self.bytes(rows, Some(0))? > planned {
            rows -= 1;
        }
        let left = planned.saturating_sub(self.shared_bytes(rows)?) / self.machine.threads as u64 / 64 * 64;
        Ok((rows, Some(left as usize)))
    }

    /// The scratch of all workers together, with `rows` rows in a turn.
    fn bytes(&self, rows: usize, limit: Option<usize>) -> Result<u64, CodeRefusal> {
        Ok(self.bytes_with(&self.turns(rows)?, limit, |call| call.scratch_bytes))
    }

    /// Scratch of all workers together that is enough at any sizes up to these: a turn of one row never needs
    /// larger line buffers in smaller images.
    fn enough_bytes(&self) -> Result<u64, CodeRefusal> {
        Ok(self.bytes_with(&self.turns(1)?, None, |call| call.enough_scratch_bytes))
    }

    /// The line buffers of these turns, and the scratch of all workers: the most `of_call` of any call. Bands
    /// of equal sizes need the same scratch, so each size is asked for once.
    fn bytes_with(&self, turns: &[Vec<Band>], limit: Option<usize>, of_call: fn(&LoweredCall) -> u64) -> u64 {
        let mut worker_bytes = 0;
        for (index, (_, step)) in self.steps.iter().enumerate() {
            let mut asked: Vec<(usize, usize, [usize; 2])> = Vec::new();
            for band in turns.iter().map(|turn| turn[index]).filter(|band| band.rows > 0) {
                let sizes = (band.rows, band.inputs, band.pads);
                if !asked.contains(&sizes) {
                    asked.push(sizes);
                    worker_bytes = worker_bytes.max(of_call(&(step.call)(band, limit)));
                }
            }
        }
        self.shared_bytes_of(turns) + worker_bytes * self.machine.threads as u64
    }

    fn shared_bytes(&self, rows: usize) -> Result<u64, CodeRefusal> {
        Ok(self.shared_bytes_of(&self.turns(rows)?))
    }

    fn shared_bytes_of(&self, turns: &[Vec<Band>]) -> u64 {
        let end = |window: &LineBuffer| (window.base + window.bytes()).next_multiple_of(64);
        self.windows(turns).last().map_or(0, end)
    }

    /// The bands of each turn of an image, one for each step.
    fn turns(&self, rows: usize) -> Result<Vec<Vec<Band>>, CodeRefusal> {
        let slides: Vec<Slide> = self.steps.iter().map(|(_, step)| step.slide).collect();
        turns(&slides, rows).ok_or_else(|| CodeRefusal::new("some windows of its steps lie in the padding"))
    }

    /// The line buffer after each step but the last.
    fn windows(&self, turns: &[Vec<Band>]) -> Vec<LineBuffer> {
        let mut base = 0;
        let windows = (0..self.steps.len() - 1).map(|step| {
            let rows = capacity(turns, step);
            let window = LineBuffer { base, row_bytes: self.steps[step].1.row_bytes[1], rows, first: 0 };
            base = (window.base + window.bytes()).next_multiple_of(64);
            window
        });
        windows.collect()
    }

    /// All calls, with `rows` rows of the last result in a turn and at most `limit` bytes of scratch for each
    /// worker, if there is a limit.
    fn run(&self, rows: usize, limit: Option<usize>) -> Result<ChainCalls, CodeRefusal> {
        let turns = self.turns(rows)?;
        let mut windows = self.windows(&turns);
        let shared_bytes = self.shared_bytes_of(&turns);
        let images = self.steps.last().map_or(0, |(_, step)| step.slide.images);
        let mut calls = Vec::new();
        for image in 0..images {
            windows.iter_mut().for_each(|window| window.first = 0);
            for turn in &turns {
                let turn: Vec<Band> = turn.iter().map(|band| Band { image, ..*band }).collect();
                self.take_turn(&turn, limit, &mut windows, &mut calls);
            }
        }
        Ok(ChainCalls { calls, shared_bytes })
    }

    /// Appends the calls of a turn.
    fn take_turn(
        &self,
        turn: &[Band],
        limit: Option<usize>,
        windows: &mut [LineBuffer],
        calls: &mut Vec<LoweredCall>,
    ) {
        for (index, ((_, step), band)) in self.steps.iter().zip(turn).enumerate() {
            if let Some(next) = turn.get(index + 1) {
                calls.extend(windows[index].make_room(*band, *next, self.machine));
            }
            if band.rows > 0 {
                let mut call = (step.call)(*band, limit);
                for pointer in &mut call.operands {
                    *pointer = self.outside(index, *band, windows, pointer.clone());
                }
                calls.push(call);
            }
        }
    }

    /// Translates a pointer of a step's call for a band to one of the group's call: into a line buffer, which
    /// holds rows of a single image, or to an operand or result of the group.
    fn outside(&self, index: usize, band: Band, windows: &[LineBuffer], pointer: Pointer) -> Pointer {
        let (op, step) = &self.steps[index];
        let argument = |operand: usize| match self.group.body.def(op.operand(operand)) {
            ValueDef::Arg(_, argument) => argument,
            ValueDef::Result(..) => unreachable!("only images are results of other steps"),
        };
        let in_image = |offset: u64, image_bytes: u64| offset - band.image as u64 * image_bytes;
        match pointer {
            Pointer::Result(_, offset) if index < windows.len() => {
                windows[index].at(in_image(offset, step.image_bytes[1]))
            }
            Pointer::Operand(operand, offset) if operand == step.image && index > 0 => {
                windows[index - 1].at(in_image(offset, step.image_bytes[0]))
            }
            Pointer::Operand(operand, offset) => Pointer::Operand(argument(operand), offset),
            Pointer::Packed(operand, packing) => Pointer::Packed(argument(operand), packing),
            other => other,
        }
    }
}

/// A line buffer: some rows of one image in scratch.
struct LineBuffer {
    /// Its start in scratch.
    base: u64,
    row_bytes: u64,
    /// Its capacity in rows.
    rows: usize,
    /// The image's row at its beginning.
    first: usize,
}

impl LineBuffer {
    fn bytes(&self) -> u64 {
        self.rows as u64 * self.row_bytes
    }

    /// The address of a byte of the image.
    fn at(&self, offset: u64) -> Pointer {
        Pointer::Shared(self.base + offset - self.first as u64 * self.row_bytes)
    }

    /// Makes room for the rows of `made`, which `read` will read: if the buffer is full, moves the earlier
    /// rows that are still read to its beginning.
    fn make_room(&mut self, made: Band, read: Band, machine: &Machine) -> Option<LoweredCall> {
        if made.first + made.rows <= self.first + self.rows {
            return None;
        }
        let kept = made.first.saturating_sub(read.first_input);
        let from = self.at(read.first_input as u64 * self.row_bytes);
        self.first = read.first_input;
        // The end of a row of `bf16` may be no multiple of four bytes.
        let unit = if self.row_bytes.is_multiple_of(4) { 4 } else { 2 };
        let count = (kept as u64 * self.row_bytes / unit) as usize;
        let copy = kernels::Copy::new(&[count], &[1], &[1], unit as usize, machine.isa, machine.threads);
        let operands = vec![Pointer::Shared(self.base), from];
        (kept > 0).then(|| LoweredCall::kernel(&copy, operands))
    }
}

/// The bands of each turn of an image, one for each step: the last step computes `rows` rows, and each other
/// step the rows that are missing for it. None if some rows read only padding.
fn turns(slides: &[Slide], rows: usize) -> Option<Vec<Vec<Band>>> {
    let last = slides.last()?;
    let mut made = vec![0; slides.len()];
    let turn = |first: usize| {
        let mut turn = vec![last.band(first, rows.min(last.output - first))?];
        for (index, slide) in slides.iter().enumerate().rev().skip(1) {
            let reader = turn.last()?;
            let end = reader.first_input + reader.inputs;
            let first = made[index].max(reader.first_input);
            let band = match end > first {
                true => slide.band(first, end - first)?,
                false => Band { first, rows: 0, ..slide.band(end - 1, 1)? },
            };
            made[index] = first.max(end);
            turn.push(band);
        }
        turn.reverse();
        Some(turn)
    };
    (0..last.output).step_by(rows.max(1)).map(turn).collect()
}

/// The capacity in rows of the line buffer after a step: the rows of the turn that reads most, plus the most
/// rows ever kept, so that rows moved to the beginning never overlap their source.
fn capacity(turns: &[Vec<Band>], step: usize) -> usize {
    let read = turns.iter().map(|turn| turn[step + 1].inputs).max().unwrap_or(0);
    let kept = turns.iter().map(|turn| turn[step].first.saturating_sub(turn[step + 1].first_input));
    read + kept.max().unwrap_or(0)
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
