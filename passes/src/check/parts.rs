//! How the checker treats concatenations with operands in place.

use ir::opdef::{Strided, View};
use ir::{Attr, Kind, Op, size};

use super::memory::{Home, ValueBytes};
use super::{OperandHomes, PlanChecker};

/// The rows that an operand of a concatenation has in the result, in bytes.
pub(super) struct ConcatRows {
    pub(super) first: u64,
    pub(super) row: u64,
    pub(super) pitch: u64,
}

impl PlanChecker<'_> {
    /// Checks that the operands listed in `mem.parts` are in place. Returns the operands that must not meet
    /// the result: all, or for a concatenation with operands in place, those under the copies of its other
    /// operands.
    pub(super) fn check_parts(
        &mut self,
        op: Op,
        parts: Option<Attr>,
        results: &[Home],
        operands: OperandHomes,
    ) -> OperandHomes {
        let Some(parts) = parts.and_then(|parts| self.ctx.ints_value(parts)) else { return operands };
        for &part in &parts {
            let operand = operands.iter().find(|(index, _)| *index as i64 == part);
            let expected = operand.and_then(|(index, _)| self.place_of_part(op, *index, results.first()?));
            match operand {
                Some((index, home)) if expected.as_ref() == Some(home) => {
                    let (source, offset) = self.source(self.body.operand(op, *index));
                    let bytes = |value| size::tensor_bytes(self.ctx, self.body.ty(value));
                    if offset == 0 && bytes(source) == bytes(self.body.operand(op, *index)) {
                        self.part_of[source] = Some((op, *index));
                    }
                }
                _ => self.fault(op, format!("operand {part} is not at its place in the result")),
            }
        }
        let copied = (0..self.body.operand_count(op)).filter(|index| !parts.contains(&(*index as i64)));
        let place = |index| self.place_of_part(op, index, results.first()?);
        let written: Vec<Option<Home>> = copied.map(place).collect();
        let is_under =
            |home: &Home| written.iter().any(|place| place.as_ref().is_none_or(|place| place.meets(home)));
        operands.into_iter().filter(|(_, home)| is_under(home)).collect()
    }

    /// Checks that `mem.pitch`, which kernels read, has the rows and pitch of each result with gaps.
    pub(super) fn check_rows(&mut self, op: Op, told: Option<Attr>, results: &[Home]) {
        if told.is_none() && results.iter().all(Home::is_dense) {
            return;
        }
        let told = told.and_then(|told| self.ctx.ints_value(told));
        for (index, home) in results.iter().enumerate() {
            let rows = (!home.is_dense()).then(|| vec![home.row as i64, home.pitch as i64]);
            if rows != told {
                self.fault(
                    op,
                    format!("`mem.pitch` is {told:?}, but the place of result {index} has {rows:?}"),
                );
            }
        }
    }

    /// The home of an operand in place in a result with the home `whole`.
    fn place_of_part(&self, op: Op, index: usize, whole: &Home) -> Option<Home> {
        let ConcatRows { first, row, pitch } = self.rows_of_part(op, index)?;
        let bytes = size::tensor_bytes(self.ctx, self.body.ty(self.body.operand(op, index)))?;
        whole.rows_within(first, bytes / row, row, pitch)
    }

    /// Whether a home holds `content`, or the corresponding rows of a concatenation in which that is in
    /// place.
    pub(super) fn holds(&self, home: &Home, content: ValueBytes) -> bool {
        let mut content = Some(content);
        while let Some(held) = content {
            if self.memory.holds_content(home, held) {
                return true;
            }
            content = self.in_whole(home, held);
        }
        false
    }

    /// The rows of a concatenation's result that are these rows of one of its operands; none if the value is
    /// not in place, or rows are cut.
    fn in_whole(&self, home: &Home, part: ValueBytes) -> Option<ValueBytes> {
        let (op, index) = self.part_of[part.value]?;
        let ConcatRows { first, row, pitch } = self.rows_of_part(op, index)?;
        let within = part.from % row;
        let apart = home.count().saturating_sub(1) * part.step;
        let step = match part.step.is_multiple_of(row) {
            _ if within + apart + home.row <= row => part.step,
            true if within + home.row <= row => part.step / row * pitch,
            _ => return None,
        };
        let from = first + part.from / row * pitch + within;
        Some(ValueBytes { value: self.body.result(op, 0), from, step })
    }

    /// Derives an operand's rows from the layout in the concatenation's (or padding's) `OpDef`.
    fn rows_of_part(&self, op: Op, index: usize) -> Option<ConcatRows> {
        let op = self.body.at(self.ctx, op);
        let whole = Strided::row_major(0, op.result_shape(0)?);
        let window = match op.kind() {
            Kind::View(View::OfResult(layout)) => layout(op, index, &whole)?,
            _ => op.def()?.frame.filter(|_| index == 0)?(op, &whole)?,
        };
        let elem = size::storage_bytes(self.ctx, self.ctx.elem(op.result_type(0)), 1)?;
        let mut axes =
            window.shape.iter().zip(&window.strides).rev().filter(|(size, _)| **size > 1).peekable();
        let mut row = 1;
        while let Some((size, _)) = axes.next_if(|(_, stride)| **stride == row) {
            row *= *size as i64;
        }
        let pitch = axes.peek().map_or(row, |(_, stride)| **stride);
        let mut expected = pitch;
        for (size, stride) in axes {
            if *stride != expected {
                return None;
            }
            expected *= *size as i64;
        }
        let bytes = |count: i64| u64::try_from(count).ok().map(|count| count * elem);
        Some(ConcatRows { first: bytes(window.offset)?, row: bytes(row)?, pitch: bytes(pitch)? })
    }
}
