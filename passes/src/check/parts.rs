//! How the checker treats concatenations with operands in place.

use ir::opdef::{Strided, View};
use ir::{Attr, Kind, Op, size};

use super::memory::{Home, ValueBytes};
use super::{OperandHomes, PlanChecker};

/// The rows that an operand of a concatenation has in the result, in bytes.
#[derive(Clone, Copy)]
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
        let rows = self.rows_of_parts(op);
        let mut homes: Vec<Option<&Home>> = vec![None; rows.len()];
        operands.iter().rev().for_each(|(index, home)| homes[*index] = Some(home));
        let mut is_copied = vec![true; rows.len()];
        for &part in &parts {
            let index = usize::try_from(part).ok().filter(|index| *index < rows.len());
            if let Some(index) = index {
                is_copied[index] = false;
            }
            let home = index.and_then(|index| homes[index]);
            let expected =
                index.and_then(|index| self.place_of_part(op, index, rows[index]?, results.first()?));
            match index.filter(|_| home.is_some() && expected.as_ref() == home) {
                Some(index) => {
                    let (source, offset) = self.source(self.body.operand(op, index));
                    let bytes = |value| size::tensor_bytes(self.ctx, self.body.ty(value));
                    if offset == 0 && bytes(source) == bytes(self.body.operand(op, index)) {
                        self.part_of[source] = rows[index].map(|rows| (op, rows));
                    }
                }
                None => self.fault(op, format!("operand {part} is not at its place in the result")),
            }
        }
        let copied = (0..rows.len()).filter(|index| is_copied[*index]);
        let places = |index: usize| self.places_of_copy(op, index, rows[index]?, results.first()?);
        let written: Vec<Option<Vec<Home>>> = copied.map(places).collect();
        let is_under = |home: &Home| {
            let mut places = written.iter();
            places.any(|places| places.as_ref().is_none_or(|all| all.iter().any(|place| place.meets(home))))
        };
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
    fn place_of_part(&self, op: Op, index: usize, rows: ConcatRows, whole: &Home) -> Option<Home> {
        let ConcatRows { first, row, pitch } = rows;
        let bytes = size::tensor_bytes(self.ctx, self.body.ty(self.body.operand(op, index)))?;
        whole.rows_within(first, bytes / row, row, pitch)
    }

    /// The homes that the copy of an operand into a result with the home `whole` writes: one, unless there
    /// are gaps within its rows there.
    fn places_of_copy(&self, op: Op, index: usize, rows: ConcatRows, whole: &Home) -> Option<Vec<Home>> {
        if let Some(place) = self.place_of_part(op, index, rows, whole) {
            return Some(vec![place]);
        }
        let ConcatRows { first, row, pitch } = rows;
        let bytes = size::tensor_bytes(self.ctx, self.body.ty(self.body.operand(op, index)))?;
        (0..bytes / row).map(|number| whole.part(first + number * pitch, row)).collect()
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
        let (op, ConcatRows { first, row, pitch }) = self.part_of[part.value]?;
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

    /// Derives each operand's rows from its layout in the concatenation's (or padding's) `OpDef`.
    fn rows_of_parts(&self, op: Op) -> Vec<Option<ConcatRows>> {
        let at = self.body.at(self.ctx, op);
        if self.body.result_count(op) == 0 {
            return vec![None; at.operand_count()];
        }
        let layouts = at.result_shape(0).map(|shape| {
            let whole = Strided::row_major(0, shape);
            match at.kind() {
                Kind::View(View::OfResult(layouts)) => layouts(at, &whole),
                _ => vec![at.def().and_then(|def| def.frame?(at, &whole))],
            }
        });
        let elem = size::storage_bytes(self.ctx, self.ctx.elem(at.result_type(0)), 1);
        let layouts = layouts.unwrap_or_default().into_iter();
        let mut rows: Vec<Option<ConcatRows>> = layouts.map(|layout| rows_of(&layout?, elem?)).collect();
        rows.resize(at.operand_count(), None);
        rows
    }
}

/// The rows of a window on elements of `elem` bytes, if they are regular.
fn rows_of(window: &Strided, elem: u64) -> Option<ConcatRows> {
    let mut axes = window.shape.iter().zip(&window.strides).rev().filter(|(size, _)| **size > 1).peekable();
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
