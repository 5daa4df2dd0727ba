//! Row streaming: execution of a streamed group (`mem.lines`) in its bytes.
//!
//! One turn computes one row of the last result, after the missing rows that it needs; the images of a batch
//! are computed one after the other. The rows between two steps are in scratch, in one ring (line buffer) for
//! each step. A ring has as many rows as a window touches, or as there is room for, and a new row replaces
//! the oldest. So a plan with too little scratch reads rows that are gone.

use ir::body::{OpRef, ValueDef};
use ir::dialects::nn::window_of;
use ir::interp::{Tensor, eval_op};
use ir::{Kind, Op, Traits, Value};
use std::ops::Range;

use super::home::Home;
use super::{GARBAGE, Machine};

/// Steps, each of which reads the rows of the one before.
struct Chain {
    group: Op,
    steps: Vec<Op>,
    /// After each step but the last.
    rings: Vec<Ring>,
    /// The image of the batch that is being computed.
    image: usize,
    /// The number of its rows computed by each step.
    made: Vec<usize>,
    result: Home,
}

/// The newest rows of an image.
struct Ring {
    home: Home,
    /// The number of rows that it can hold.
    rows: usize,
    row_bytes: usize,
}

impl Ring {
    /// The bytes of a row.
    fn at(&self, row: usize) -> Home {
        let first = row % self.rows * self.row_bytes;
        self.home.part(first..first + self.row_bytes)
    }
}

impl Machine<'_> {
    /// Runs a streamed group; its result is written to `result`.
    pub(super) fn run_in_turns(&mut self, group: Op, result: &Home) -> Result<(), String> {
        let body = self.body;
        let block = body.regions(group).first().and_then(|region| body.entry(*region)).ok_or("no steps")?;
        let mut steps: Vec<Op> = body.ops(block).collect();
        steps.retain(|op| !body.at(self.ctx, *op).has(Traits::YIELD));
        let rings = self.rings(group, &steps)?;
        let [images, rows] = self.rows(*steps.last().ok_or("no steps")?)?;
        let made = vec![0; steps.len()];
        let last = steps.len() - 1;
        let mut chain = Chain { group, steps, rings, image: 0, made, result: result.clone() };
        for image in 0..images {
            chain.image = image;
            chain.made.fill(0);
            (0..rows).try_for_each(|_| self.make_row(&mut chain, last))?;
        }
        Ok(())
    }

    /// The rings of a group, in its scratch.
    fn rings(&self, group: Op, steps: &[Op]) -> Result<Vec<Ring>, String> {
        let scratch = self.scratch[group].clone().ok_or("steps in turns without scratch")?;
        let mut rings = Vec::new();
        let mut base = 0;
        for pair in steps.windows(2) {
            let all_rows = self.rows(pair[0])?.iter().product::<usize>();
            let row_bytes = self.size(self.body.result(pair[0], 0))? / all_rows.max(1);
            let touched = (0..self.rows(pair[1])?[1]).map(|row| Ok(self.touched(pair[1], row)?.len()));
            let wanted = touched.collect::<Result<Vec<_>, String>>()?.into_iter().max().unwrap_or(0);
            let rows = wanted.min((scratch.len() - base) / row_bytes.max(1));
            if rows == 0 {
                return Err("no row between two steps fits into scratch".into());
            }
            rings.push(Ring { home: scratch.part(base..base + rows * row_bytes), rows, row_bytes });
            base += rows * row_bytes;
        }
        Ok(rings)
    }

    /// Computes the next row of a step.
    fn make_row(&mut self, chain: &mut Chain, step: usize) -> Result<(), String> {
        let (op, row) = (chain.steps[step], chain.made[step]);
        if step > 0 {
            let touched = self.touched(op, row)?;
            while chain.made[step - 1] < touched.end {
                self.make_row(chain, step - 1)?;
            }
        }
        let operands: Vec<Value> = self.body.operands(op).collect();
        let operands = operands.into_iter().map(|value| self.read_in_turn(chain, step, value));
        let operands = operands.collect::<Result<Vec<Tensor>, String>>()?;
        let image = eval_op(self.body.at(self.ctx, op), &operands).map_err(|error| error.0)?.remove(0);
        let [images, rows] = self.rows(op)?;
        let row_bytes = image.bytes.len() / (images * rows).max(1);
        let row_of_all = chain.image * rows + row;
        let bytes = row_of_all * row_bytes..(row_of_all + 1) * row_bytes;
        let home = match chain.rings.get(step) {
            Some(ring) => ring.at(row),
            None => chain.result.part(bytes.clone()),
        };
        self.write(&home, &image.bytes[bytes]);
        chain.made[step] += 1;
        Ok(())
    }

    /// An operand of a step: an input of the group, or the rows of the step before that are still in the
    /// ring.
    fn read_in_turn(&mut self, chain: &Chain, step: usize, value: Value) -> Result<Tensor, String> {
        let before = step.checked_sub(1).map(|before| (before, chain.steps[before]));
        match (self.body.def(value), before) {
            (ValueDef::Arg(_, index), _) => self.read(self.body.operand(chain.group, index)),
            (ValueDef::Result(maker, 0), Some((before, op))) if maker == op => {
                let (ring, made) = (&chain.rings[before], chain.made[before]);
                let mut bytes = vec![GARBAGE; self.size(value)?];
                let before_image = chain.image * self.rows(op)?[1];
                for row in made.saturating_sub(ring.rows)..made {
                    let first = (before_image + row) * ring.row_bytes;
                    let place = first..first + ring.row_bytes;
                    bytes[place].copy_from_slice(&self.bytes(&ring.at(row)));
                }
                Ok(Tensor::new(self.ctx, self.body.ty(value), bytes))
            }
            _ => Err("a step reads another than the one before".into()),
        }
    }

    /// The rows of a step's image that a row of its result touches.
    fn touched(&self, op: Op, row: usize) -> Result<Range<usize>, String> {
        let op = self.window_op(op).ok_or("a step without a window")?;
        let window = window_of(op).ok_or("a malformed window")?;
        let height = op.operand_shape(0).ok_or("a size that is not known")?[1] as usize;
        let [kernel, stride, dilation] =
            [window.kernel, window.strides, window.dilations].map(|of| of[0] as usize);
        let (start, pad) = (row * stride, window.pads[0] as usize);
        let end = start + (kernel - 1) * dilation + 1;
        Ok(start.saturating_sub(pad).min(height)..end.saturating_sub(pad).min(height))
    }

    /// The convolution or pool of a step: the step itself, or the root of its group.
    fn window_op(&self, op: Op) -> Option<OpRef<'_>> {
        let has_window =
            |op: &Op| matches!(self.body.at(self.ctx, *op).kind(), Kind::Contract(_) | Kind::Kernel(_));
        let inner = self.body.regions(op).iter().flat_map(|region| self.body.blocks(*region));
        let inner = inner.flat_map(|block| self.body.ops(*block));
        std::iter::once(op).chain(inner).find(has_window).map(|op| self.body.at(self.ctx, op))
    }

    /// The images of a step's result, which have their channels last, and the rows of each.
    fn rows(&self, op: Op) -> Result<[usize; 2], String> {
        match self.body.at(self.ctx, op).result_shape(0).as_deref() {
            Some([images, rows, _, _]) => Ok([*images, *rows].map(|size| size as usize)),
            _ => Err("a step that makes no image".into()),
        }
    }
}
