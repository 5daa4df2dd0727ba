//! Where the checker finds the elements of a view.
//!
//! A view without gaps is a range of its operand's bytes. A view marked `mem.view` has strides: the checker
//! composes the layouts from the value that has a place to the view, and looks for rows of bytes with all
//! elements. If the elements are not rows at one pitch, the range then includes the gaps between them.

use ir::opdef::{Strided, View};
use ir::plan::attrs;
use ir::{Kind, Value, size};

use super::PlanChecker;
use super::memory::{Home, ValueBytes};
use super::parts::ConcatRows;

/// The home of a value, and the content that its bytes must have.
pub(super) struct Located {
    pub(super) home: Home,
    pub(super) content: ValueBytes,
}

impl PlanChecker<'_> {
    /// The home of a value's elements.
    ///
    /// # Errors
    /// Why the home is not known.
    pub(super) fn locate(&self, value: Value) -> Result<Located, &'static str> {
        let (source, offset) = self.source(value);
        let bytes = size::tensor_bytes(self.ctx, self.body.ty(value)).ok_or("has an unknown size")?;
        let Some(base) = self.homes.get(source) else { return self.locate_apart(value) };
        let home = base.part(offset, bytes).ok_or("is a view that cuts rows of its operand")?;
        let content = ValueBytes { value: source, from: offset, step: home.row };
        Ok(Located { home, content })
    }

    /// The home of a view with gaps or permuted axes.
    fn locate_apart(&self, value: Value) -> Result<Located, &'static str> {
        let (source, layout) = self.apart(value).ok_or("has no place")?;
        let base = self.homes.get(source).ok_or("has no place")?;
        let elem = size::storage_bytes(self.ctx, self.ctx.elem(self.body.ty(value)), 1);
        let cut = "is a view that cuts rows of its operand";
        let (rows, count, is_turned) = elem.and_then(|elem| around(&layout, elem)).ok_or(cut)?;
        let mut home = base.rows_within(rows.first, count, rows.row, rows.pitch).ok_or(cut)?;
        home.is_turned = is_turned;
        let step = if home.is_dense() || count == 1 { home.row } else { rows.pitch };
        Ok(Located { content: ValueBytes { value: source, from: rows.first, step }, home })
    }

    /// The value with a place that a view is based on, and the view's strides in it.
    fn apart(&self, value: Value) -> Option<(Value, Strided)> {
        if self.homes.get(value).is_some() {
            let shape = size::static_extents(self.ctx, self.body.ty(value))?;
            return Some((value, Strided::row_major(0, shape)));
        }
        let op = self.body.at(self.ctx, self.body.defining_op(value)?);
        let Kind::View(View::OfOperand(layout)) = op.kind() else { return None };
        if !self.is_marked(value) && self.view_source(value).is_none() {
            return None;
        }
        let (source, from) = self.apart(op.operand(0))?;
        Some((source, layout(op, 0, &from)?))
    }

    /// Whether a value is marked as a view that is read in place.
    pub(super) fn is_marked(&self, value: Value) -> bool {
        let op = self.body.defining_op(value).map(|op| self.body.at(self.ctx, op));
        op.is_some_and(|op| {
            matches!(op.kind(), Kind::View(View::OfOperand(_))) && op.attr(attrs::MEM_VIEW).is_some()
        })
    }
}

/// Rows that contain all elements, the number of rows, and whether elements are permuted or have gaps within
/// a row.
fn around(layout: &Strided, elem: u64) -> Option<(ConcatRows, u64, bool)> {
    if layout.shape.contains(&0) {
        return Some((ConcatRows { first: 0, row: 0, pitch: 0 }, 1, false));
    }
    let mut axes: Vec<(u64, u64)> = Vec::new();
    for (size, stride) in layout.shape.iter().zip(&layout.strides).filter(|(size, _)| **size != 1) {
        axes.push((*size, u64::try_from(*stride).ok()?));
    }
    let is_sorted = axes.is_sorted_by(|a, b| a.1 >= b.1 && b.1 > 0);
    axes.retain(|(_, stride)| *stride > 0);
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.1));
    let first = u64::try_from(layout.offset).ok()? * elem;
    let (mut row, mut count, mut pitch) = (1, 1, 0);
    let mut is_even = true;
    for (size, stride) in axes.iter().rev() {
        match (count, *stride) {
            (1, stride) if stride == row => row *= size,
            (1, stride) if stride > row => (count, pitch) = (*size, stride),
            (_, stride) if stride == count * pitch => count *= size,
            _ => is_even = false,
        }
    }
    if is_even {
        let pitch = if count == 1 { row } else { pitch };
        return Some((ConcatRows { first, row: row * elem, pitch: pitch * elem }, count, !is_sorted));
    }
    let hull = axes.iter().map(|(size, stride)| (size - 1) * stride).sum::<u64>() + 1;
    Some((ConcatRows { first, row: hull * elem, pitch: hull * elem }, 1, true))
}
