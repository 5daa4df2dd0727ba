//! Windows: the bytes of a value in memory, as rows of one length at equal distances.
//!
//! ```text
//! channels 2..5 of an image of 8, 4 bytes each   =>   first 8, row 12, pitch 32, one row for each pixel
//! ```
//! Bytes without gaps are one row. A window on a window is again a window if the inner rows do not cross the
//! ends of the outer ones.

use crate::plan::attrs;
use crate::plan::views::{is_free_view, is_marked_view};
use std::ops::Range;

use crate::body::{Body, ValueDef};
use crate::context::Context;
use crate::entities::{Op, Value};
use crate::opdef::{Kind, Strided, Traits, View};
use crate::size::{static_extents, storage_bits};

/// Rows of bytes. All numbers except `rows` are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteWindow {
    /// The start of the first row.
    pub first: u64,
    /// The number of rows.
    pub rows: u64,
    /// The bytes of a row.
    pub row: u64,
    /// The distance between the starts of rows; equal to `row` for a single row.
    pub pitch: u64,
}

impl ByteWindow {
    /// Bytes without gaps.
    pub fn dense(first: u64, bytes: u64) -> ByteWindow {
        ByteWindow { first, rows: 1, row: bytes, pitch: bytes }
    }

    /// A window of rows. If there are no gaps, or no bytes, it is a single row.
    pub fn of_rows(first: u64, rows: u64, row: u64, pitch: u64) -> ByteWindow {
        if rows <= 1 || pitch == row || row == 0 {
            ByteWindow::dense(first, rows * row)
        } else {
            ByteWindow { first, rows, row, pitch }
        }
    }

    /// The window of a layout, counted from the layout's origin; none if its strides are not regular rows, or
    /// its elements are not whole bytes.
    pub fn of_layout(layout: &Strided, elem_bits: u64) -> Option<ByteWindow> {
        let elem = Some(elem_bits / 8).filter(|_| elem_bits.is_multiple_of(8))?;
        let mut row = elem;
        let mut rows = 1;
        let mut pitch = 0;
        for (&size, &stride) in layout.shape.iter().zip(&layout.strides).rev() {
            let stride = u64::try_from(stride).ok()?.checked_mul(elem)?;
            match size {
                1 => {}
                _ if rows == 1 && stride == row => row *= size,
                _ if rows == 1 && stride > row => (rows, pitch) = (size, stride),
                _ if rows > 1 && stride == rows * pitch => rows *= size,
                _ => return None,
            }
        }
        let first = u64::try_from(layout.offset).ok()?.checked_mul(elem)?;
        Some(ByteWindow::of_rows(first, rows, row, pitch))
    }

    /// A window that covers all bytes of a layout, for any order of its axes: exactly these bytes if they are
    /// rows, else all from the first to the last. None if a stride is negative.
    pub fn covering(layout: &Strided, elem_bits: u64) -> Option<ByteWindow> {
        let axes = layout.shape.iter().copied().zip(layout.strides.iter().copied());
        let mut axes: Vec<(u64, i64)> = axes.filter(|(size, stride)| *size != 1 && *stride != 0).collect();
        axes.sort_by_key(|(_, stride)| std::cmp::Reverse(*stride));
        let (shape, strides): (Vec<u64>, Vec<i64>) = axes.into_iter().unzip();
        if shape.contains(&0) {
            return Some(ByteWindow::dense(0, 0));
        }
        let sorted = Strided { offset: layout.offset, shape, strides };
        let hull = || {
            let steps = sorted.shape.iter().zip(&sorted.strides);
            let last: u64 = steps
                .map(|(size, stride)| Some((size - 1) * u64::try_from(*stride).ok()?))
                .sum::<Option<u64>>()?;
            let elem = Some(elem_bits / 8).filter(|_| elem_bits.is_multiple_of(8))?;
            Some(ByteWindow::dense(u64::try_from(sorted.offset).ok()? * elem, (last + 1) * elem))
        };
        ByteWindow::of_layout(&sorted, elem_bits).or_else(hull)
    }

    /// Whether there are no gaps.
    pub fn is_dense(&self) -> bool {
        self.rows == 1
    }

    /// The range from the first byte to the last, with the gaps.
    pub fn hull(&self) -> Range<u64> {
        self.first..self.first + (self.rows - 1) * self.pitch + self.row
    }

    /// The byte after the last; none if it exceeds 64 bits.
    pub fn end(&self) -> Option<u64> {
        self.first.checked_add((self.rows.max(1) - 1).checked_mul(self.pitch)?)?.checked_add(self.row)
    }

    /// This window, counted in the bytes of `outer`'s value, as a window on the memory of `outer`; none if a
    /// row crosses the end of one of `outer`'s rows.
    pub fn within(&self, outer: &ByteWindow) -> Option<ByteWindow> {
        if outer.is_dense() {
            return Some(ByteWindow { first: outer.first + self.first, ..*self });
        }
        let (skipped, start) = (self.first / outer.row, self.first % outer.row);
        let first = outer.first + skipped * outer.pitch + start;
        let is_inside_rows = start + self.row <= outer.row;
        match self.is_dense() {
            true if is_inside_rows => Some(ByteWindow::dense(first, self.row)),
            true if start == 0 && self.row.is_multiple_of(outer.row) => {
                Some(ByteWindow::of_rows(first, self.row / outer.row, outer.row, outer.pitch))
            }
            false if is_inside_rows && self.pitch.is_multiple_of(outer.row) => {
                let pitch = self.pitch / outer.row * outer.pitch;
                Some(ByteWindow::of_rows(first, self.rows, self.row, pitch))
            }
            _ => None,
        }
    }

    /// The strides of a value of this shape in these rows, in elements; none if a row ends inside an axis.
    pub fn strides(&self, shape: &[u64], elem_bits: u64) -> Option<Vec<i64>> {
        let mut strides = Strided::row_major(0, shape.to_vec()).strides;
        if self.is_dense() {
            return Some(strides);
        }
        let elem = elem_bits / 8;
        let mut inside = elem;
        let inner = shape.iter().rev().take_while(|size| {
            let before = inside;
            inside *= **size;
            before < self.row
        });
        let inner = inner.count();
        if shape[shape.len() - inner..].iter().product::<u64>() * elem != self.row {
            return None;
        }
        // Axes of one element belong to the row: kernels need channels at a distance of 1.
        let inner = inner + shape[..shape.len() - inner].iter().rev().take_while(|size| **size == 1).count();
        let mut distance = self.pitch / elem;
        for axis in (0..shape.len() - inner).rev() {
            strides[axis] = distance as i64;
            distance *= shape[axis];
        }
        self.pitch.is_multiple_of(elem).then_some(strides)
    }
}

/// How the elements of a value are arranged in memory. A reader that accepts one arrangement also accepts
/// those listed before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arrangement {
    /// Without gaps, the last axis innermost.
    Plain,
    /// The last axis innermost, its elements adjacent, with gaps somewhere.
    Rows,
    /// Any stride along each axis, in any order.
    Strides,
}

impl Arrangement {
    /// The arrangement of a layout. Axes of one element do not count, except that a last axis of one element
    /// counts as a row: its element has no neighbour.
    pub fn of(layout: &Strided) -> Arrangement {
        let mut side_by_side = layout.shape.last() == Some(&1) || layout.strides.last() == Some(&1);
        let mut expected = 1;
        let axes = layout.shape.iter().zip(&layout.strides).rev();
        for (size, stride) in axes.filter(|(size, _)| **size != 1) {
            side_by_side &= *stride >= expected;
            expected = *size as i64 * *stride;
        }
        match side_by_side {
            _ if layout.is_row_major() => Arrangement::Plain,
            true => Arrangement::Rows,
            false => Arrangement::Strides,
        }
    }
}

/// The layout of a value, counted from its first element, according to `mem.pitch` of its operation; none if
/// a size is not known, or a row ends inside an axis.
///
/// A view without a copy has the layout that its row in the registry derives from its operand's.
pub fn layout(ctx: &Context, body: &Body, value: Value) -> Option<Strided> {
    let shape = static_extents(ctx, body.ty(value))?;
    let value = outside(ctx, body, value);
    if is_plain(ctx, body, value) {
        return Some(Strided::row_major(0, shape));
    }
    let op = body.at(ctx, body.defining_op(value)?);
    match op.kind() {
        Kind::View(View::OfOperand(map)) if is_free_view(op) => {
            let mut layout = map(op, 0, &layout(ctx, body, op.operand(0))?)?;
            layout.offset = 0;
            // Axes of one element belong to the row: kernels need channels at a distance of 1.
            let ones = layout.shape.iter().rev().take_while(|size| **size == 1).count();
            layout.strides.iter_mut().rev().take(ones).for_each(|stride| *stride = 1);
            Some(layout)
        }
        _ => {
            let bits = storage_bits(ctx, ctx.elem(body.ty(value)))?;
            let (row, pitch) = pitch(ctx, body, value)?;
            let rows = shape.iter().product::<u64>() * bits / 8 / row.max(1);
            let strides = ByteWindow::of_rows(0, rows, row, pitch).strides(&shape, bits)?;
            Some(Strided { offset: 0, shape, strides })
        }
    }
}

/// Whether a value has no gaps, with the last axis innermost, according to its attributes.
pub fn is_plain(ctx: &Context, body: &Body, value: Value) -> bool {
    let value = outside(ctx, body, value);
    let Some(op) = body.defining_op(value).map(|op| body.at(ctx, op)) else { return true };
    if is_free_view(op) {
        !is_marked_view(op) && is_plain(ctx, body, op.operand(0))
    } else {
        pitch(ctx, body, value).is_none()
    }
}

/// The bytes of a row of a step's result and the distance between rows, if there are gaps: `mem.pitch`.
pub fn pitch(ctx: &Context, body: &Body, value: Value) -> Option<(u64, u64)> {
    let value = outside(ctx, body, value);
    let op = body.at(ctx, body.defining_op(value)?);
    // No row of the registry has a default for it.
    let pitch = op.attr(attrs::MEM_PITCH)?;
    match ctx.ints_value(pitch).as_deref() {
        Some(&[row, pitch]) => Some((u64::try_from(row).ok()?, u64::try_from(pitch).ok()?)),
        _ => None,
    }
}

/// The value outside of groups that stream rows (`mem.lines`): for an argument of such a group the operand,
/// for a yielded value the result, since the steps in the group read and write these in place; else the value
/// itself.
pub fn outside(ctx: &Context, body: &Body, value: Value) -> Value {
    let is_lines = |op: &Op| body.at(ctx, *op).attr(attrs::MEM_LINES).is_some();
    match body.def(value) {
        ValueDef::Arg(block, index) => {
            let group = body.region_of(block).and_then(|region| body.owner_of(region)).filter(is_lines);
            group.map_or(value, |group| outside(ctx, body, body.operand(group, index)))
        }
        ValueDef::Result(op, _) => {
            let Some(group) = body.parent_op(op).filter(is_lines) else { return value };
            let mut yields = body.uses(value).filter(|used| body.at(ctx, used.op).has(Traits::YIELD));
            yields.next().map_or(value, |used| outside(ctx, body, body.result(group, used.index)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels(first: u64, count: u64, all: u64, pixels: u64) -> ByteWindow {
        ByteWindow::of_rows(4 * first, pixels, 4 * count, 4 * all)
    }

    #[test]
    fn a_part_of_the_innermost_axis_is_rows() {
        let part = Strided { offset: 2, shape: vec![1, 5, 7, 3], strides: vec![280, 56, 8, 1] };
        let window = ByteWindow::of_layout(&part, 32).unwrap();
        assert_eq!(window, channels(2, 3, 8, 35));
        assert_eq!(window.strides(&[1, 5, 7, 3], 32).unwrap(), part.strides);
        assert_eq!(window.strides(&[35, 3], 32).unwrap(), [8, 1]);
        assert_eq!(window.strides(&[5, 21], 32), None);
        assert_eq!(channels(2, 1, 8, 35).strides(&[1, 5, 7, 1], 32).unwrap(), [280, 56, 8, 1]);
    }

    #[test]
    fn a_part_of_the_outermost_axis_has_no_gaps() {
        let part = Strided { offset: 12, shape: vec![4, 3], strides: vec![3, 1] };
        assert_eq!(ByteWindow::of_layout(&part, 32), Some(ByteWindow::dense(48, 48)));
    }

    #[test]
    fn a_layout_of_two_distances_is_no_rows() {
        let crop = Strided { offset: 0, shape: vec![4, 4, 3], strides: vec![24, 6, 1] };
        assert!(ByteWindow::of_layout(&crop, 32).is_some());
        let crop = Strided { offset: 0, shape: vec![4, 4, 3], strides: vec![30, 6, 1] };
        assert_eq!(ByteWindow::of_layout(&crop, 32), None);
        let reversed = Strided { offset: 5, shape: vec![6], strides: vec![-1] };
        assert_eq!(ByteWindow::of_layout(&reversed, 32), None);
    }

    #[test]
    fn windows_on_windows_are_windows_where_no_row_is_cut() {
        let (inner, outer) = (channels(2, 3, 8, 35), channels(4, 8, 20, 35));
        assert_eq!(inner.within(&outer), Some(channels(6, 3, 20, 35)));
        let pixels = ByteWindow::dense(2 * 32, 5 * 32);
        let expected = ByteWindow { first: 4 * 4 + 2 * 80, ..channels(0, 8, 20, 5) };
        assert_eq!(pixels.within(&outer), Some(expected));
        assert_eq!(ByteWindow::dense(40, 8).within(&outer), Some(ByteWindow::dense(16 + 80 + 8, 8)));
        assert_eq!(ByteWindow::dense(40, 32).within(&outer), None);
    }

    #[test]
    fn what_covers_a_layout_is_its_rows_in_whatever_order_its_axes_stand() {
        let turned = Strided { offset: 2, shape: vec![3, 35], strides: vec![1, 8] };
        assert_eq!(ByteWindow::covering(&turned, 32), Some(channels(2, 3, 8, 35)));
        let crop = Strided { offset: 1, shape: vec![4, 4, 3], strides: vec![30, 6, 1] };
        assert_eq!(ByteWindow::covering(&crop, 32), Some(ByteWindow::dense(4, 4 * (90 + 18 + 2 + 1))));
        let backwards = Strided { offset: 5, shape: vec![6], strides: vec![-1] };
        assert_eq!(ByteWindow::covering(&backwards, 32), None);
    }

    #[test]
    fn rows_stand_side_by_side_the_last_axis_innermost() {
        let arrangement = |shape: &[u64], strides: &[i64]| {
            Arrangement::of(&Strided { offset: 0, shape: shape.to_vec(), strides: strides.to_vec() })
        };
        assert_eq!(arrangement(&[2, 3], &[3, 1]), Arrangement::Plain);
        assert_eq!(arrangement(&[4, 4, 3], &[30, 6, 1]), Arrangement::Rows);
        assert_eq!(arrangement(&[4, 3, 1], &[6, 1, 9]), Arrangement::Rows);
        // Rows of one element, like the channel of a tiny image in a larger one.
        assert_eq!(arrangement(&[3, 1, 1, 1], &[4, 1, 1, 1]), Arrangement::Rows);
        assert_eq!(arrangement(&[4, 3, 1], &[8, 2, 1]), Arrangement::Rows);
        assert_eq!(arrangement(&[3, 2], &[1, 3]), Arrangement::Strides);
        assert_eq!(arrangement(&[3, 2], &[4, 2]), Arrangement::Strides);
        assert_eq!(arrangement(&[3, 2], &[1, 0]), Arrangement::Strides);
    }

    /// The addresses of a window's bytes, in their order.
    fn bytes(window: &ByteWindow) -> Vec<u64> {
        let rows = (0..window.rows).map(|row| window.first + row * window.pitch);
        rows.flat_map(|start| start..start + window.row).collect()
    }

    /// The addresses of a layout's elements of one byte, the last axis innermost; none if one is negative.
    fn addresses(layout: &Strided) -> Option<Vec<u64>> {
        let mut found = vec![layout.offset];
        for (size, stride) in layout.shape.iter().zip(&layout.strides) {
            found = found.iter().flat_map(|at| (0..*size as i64).map(move |i| at + i * stride)).collect();
        }
        found.into_iter().map(|at| u64::try_from(at).ok()).collect()
    }

    /// Whether addresses are rows of one length at one distance, without overlap.
    fn are_rows(found: &[u64]) -> bool {
        let rows_of = |row: usize| {
            let starts: Vec<u64> = found.iter().step_by(row).copied().collect();
            let is_even = starts
                .windows(2)
                .all(|pair| pair[1] >= pair[0] + row as u64 && pair[1] - pair[0] == starts[1] - starts[0]);
            is_even
                && found.iter().enumerate().all(|(at, byte)| *byte == starts[at / row] + (at % row) as u64)
        };
        (1..=found.len()).filter(|row| found.len().is_multiple_of(*row)).any(rows_of)
    }

    /// All layouts of three axes of few elements.
    fn layouts() -> Vec<Strided> {
        let mut found = Vec::new();
        for sizes in 0..64i64 {
            for steps in 0..10 * 10 * 10i64 {
                let shape = [sizes % 4, sizes / 4 % 4, sizes / 16].map(|size| size as u64);
                let strides = [steps % 10, steps / 10 % 10, steps / 100]
                    .map(|step| [0, 1, 2, 3, 4, 6, 9, 12, 18, -1][step as usize]);
                found.push(Strided { offset: sizes % 3, shape: shape.to_vec(), strides: strides.to_vec() });
            }
        }
        found
    }

    #[test]
    fn a_layout_is_a_window_wherever_its_elements_are_rows_and_nowhere_else() {
        let mut windows = 0;
        for layout in layouts() {
            let goes_back = layout.strides.contains(&-1);
            let Some(found) = addresses(&layout).filter(|_| !goes_back) else {
                assert!(ByteWindow::of_layout(&layout, 8).is_none(), "{layout:?}");
                continue;
            };
            let window = ByteWindow::of_layout(&layout, 8);
            if found.is_empty() {
                continue;
            }
            windows += usize::from(window.is_some());
            assert_eq!(window.is_some(), are_rows(&found), "{layout:?}: {window:?}");
            if let Some(window) = window {
                assert_eq!(bytes(&window), found, "{layout:?}");
                assert_eq!(window.hull(), found[0]..found[found.len() - 1] + 1, "{layout:?}");
                assert_eq!(window.end(), Some(window.hull().end), "{layout:?}");
                assert_eq!(window.is_dense(), window.hull().end - window.hull().start == found.len() as u64);
                let wide = ByteWindow::of_layout(&layout, 32).unwrap();
                assert_eq!(bytes(&wide), found.iter().flat_map(|at| 4 * at..4 * at + 4).collect::<Vec<_>>());
            }
            assert_eq!(ByteWindow::of_layout(&layout, 4), None);
        }
        assert!(windows > 1000, "{windows}");
    }

    #[test]
    fn what_covers_a_layout_has_its_bytes_and_no_more_than_lie_between() {
        for layout in layouts() {
            let window = ByteWindow::covering(&layout, 8);
            let Some(mut found) = addresses(&layout).filter(|found| !found.is_empty()) else { continue };
            let goes_back =
                layout.shape.iter().zip(&layout.strides).any(|(size, step)| *size > 1 && *step < 0);
            assert_eq!(window.is_none(), goes_back, "{layout:?}");
            let Some(window) = window else { continue };
            found.sort_unstable();
            found.dedup();
            let covered = bytes(&window);
            assert!(found.iter().all(|byte| covered.contains(byte)), "{layout:?}: {window:?}");
            assert_eq!(window.hull(), found[0]..found[found.len() - 1] + 1, "{layout:?}");
            // The window has further bytes only if the layout is not rows.
            assert!(covered.len() == found.len() || window.is_dense(), "{layout:?}: {window:?}");
        }
    }

    #[test]
    fn a_window_on_a_window_has_the_bytes_that_it_says() {
        let mut found = 0;
        for outer in (1..5).flat_map(|row| (row..7).map(move |pitch| ByteWindow::of_rows(3, 5, row, pitch))) {
            let all = bytes(&outer);
            for number in 0..12 * 6 * 6 * 12u64 {
                let (row, rows) = (1 + number % 6, 1 + number / 6 % 6);
                let (first, pitch) = (number / 36 % 12, row + number / 432);
                let inner = ByteWindow::of_rows(first, rows, row, pitch);
                if inner.hull().end > all.len() as u64 {
                    continue;
                }
                let picked: Vec<u64> = bytes(&inner).iter().map(|at| all[*at as usize]).collect();
                if let Some(window) = inner.within(&outer) {
                    assert_eq!(bytes(&window), picked, "{inner:?} in {outer:?}");
                    found += 1;
                }
                let is_cut = inner.first % outer.row + inner.row > outer.row;
                let is_even = inner.is_dense() || inner.pitch.is_multiple_of(outer.row);
                let is_plain = outer.is_dense() || !is_cut && is_even;
                assert!(!is_plain || inner.within(&outer).is_some(), "{inner:?} in {outer:?}");
            }
        }
        assert!(found > 1000, "{found}");
    }

    #[test]
    fn rows_are_strides_that_reach_the_same_bytes() {
        for layout in layouts() {
            let Some(window) = ByteWindow::of_layout(&layout, 8) else { continue };
            if layout.shape.contains(&0) {
                continue;
            }
            if let Some(strides) = window.strides(&layout.shape, 8) {
                let again = Strided { offset: window.first as i64, shape: layout.shape.clone(), strides };
                assert_eq!(addresses(&again), addresses(&layout), "{layout:?}");
            }
        }
    }
}
