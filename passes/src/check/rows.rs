//! Does a result written in bands of rows overwrite only rows that are no longer read?
//!
//! Derived tap by tap from the window: first the rows of the image that the window touches for each row of
//! the result; then, band by band, the bytes that are written and those that this and all later bands still
//! read.

use ir::plan::attrs;
use std::ops::Range;

use ir::body::OpRef;
use ir::dialects::nn::window_of;
use ir::{Attr, Kind, Op, Value, size};

use super::PlanChecker;
use super::memory::Home;

impl PlanChecker<'_> {
    /// Whether `op` is marked to write result 0 in bands of rows over operand `index`, and this is safe.
    pub(super) fn follows_rows(
        &self,
        op: Op,
        said: Option<Attr>,
        index: usize,
        operand: &Home,
        result: &Home,
    ) -> bool {
        let op_ref = self.body.at(self.ctx, op);
        let said = said.and_then(|overlap| self.ctx.ints_value(overlap));
        let Some(&[said, band_rows]) = said.as_deref() else { return false };
        // Steps that run in turns read rows before those that they write.
        let is_in_order = op_ref.attr(attrs::MEM_LINES).is_none() && !operand.is_turned;
        if said != index as i64 || band_rows == 0 || !operand.is_dense() || !is_in_order {
            return false;
        }
        let Some(window_op) = self.image_reader(op_ref, index) else { return false };
        let Some(touched) = touched_rows(window_op) else { return false };
        let bytes = |value: Value| size::tensor_bytes(self.ctx, self.body.ty(value));
        let images = [op_ref.operand_shape(index), op_ref.result_shape(0)];
        let [Some(&[count, in_rows, ..]), Some(&[results, out_rows, ..])] =
            images.each_ref().map(Option::as_deref)
        else {
            return false;
        };
        if count != results {
            return false;
        }
        let [Some(in_bytes), Some(out_bytes)] = [op_ref.operand(index), op_ref.result(0)].map(bytes) else {
            return false;
        };
        let (in_row, out_row) = (in_bytes / (count * in_rows).max(1), out_bytes / (count * out_rows).max(1));
        let needed = RowsInUse::of(&touched, count, in_rows);
        let firsts = (0..count).flat_map(|image| {
            let firsts = (0..out_rows).step_by(band_rows.unsigned_abs() as usize);
            firsts.map(move |first| (image * out_rows, first))
        });
        firsts.into_iter().all(|(image, first)| {
            let end = image + (first + band_rows.unsigned_abs()).min(out_rows);
            let first = image + first;
            let rows = if band_rows > 0 { needed.from(first) } else { needed.up_to(end) };
            let needed = operand.bytes.start + rows.start * in_row..operand.bytes.start + rows.end * in_row;
            // From the first byte to the last, with the gaps between pixels.
            let written = result.part(first * out_row, (end - first) * out_row).map(|band| band.bytes);
            let is_free = |written: Range<u64>| written.start >= needed.end || needed.start >= written.end;
            written.is_some_and(|written| rows.is_empty() || is_free(written))
        })
    }

    /// The operation whose window slides over an operand, if it is the only reader: `op` itself, or one in
    /// its body that is reached from the operand through elementwise operations of the image's shape.
    pub(super) fn image_reader<'o>(&'o self, op: OpRef<'o>, index: usize) -> Option<OpRef<'o>> {
        let Kind::Group = op.kind() else { return (index == 0).then_some(op) };
        let block = self.body.entry(*self.body.regions(op.op).first()?)?;
        let shape = op.operand_shape(index);
        let mut reached = vec![self.body.args(block)[index]];
        let mut reader = None;
        for inner in self.body.ops(block) {
            let inner = self.body.at(self.ctx, inner);
            let read: Vec<usize> =
                (0..inner.operand_count()).filter(|at| reached.contains(&inner.operand(*at))).collect();
            match (&read[..], inner.kind()) {
                ([], _) => {}
                _ if reader.is_some() => return None,
                (_, Kind::Elementwise(_)) if inner.result_shape(0) == shape => {
                    reached.extend(self.body.results(inner.op));
                }
                ([0], Kind::Contract(_) | Kind::Kernel(_)) => reader = Some(inner),
                _ => return None,
            }
        }
        reader
    }
}

/// The rows of an operand that a result's rows touch. Rows are counted through all images of a batch.
struct RowsInUse {
    /// For each row of the result, the first row that it or a later one touches.
    starts: Vec<u64>,
    /// For each row of the result, the end of the rows that it or an earlier one touches.
    ends: Vec<u64>,
}

impl RowsInUse {
    /// For this many images of `in_rows` rows; `touched` are those of each row of an image of the result.
    fn of(touched: &[Range<u64>], images: u64, in_rows: u64) -> RowsInUse {
        let shifts = (0..images).map(|image| image * in_rows);
        let all = shifts.flat_map(|shift| touched.iter().map(move |rows| (shift, rows)));
        let ends_of = |(shift, rows): (u64, &Range<u64>)| match rows.is_empty() {
            true => (images * in_rows, 0),
            false => (shift + rows.start, shift + rows.end),
        };
        let (mut starts, mut ends): (Vec<u64>, Vec<u64>) = all.map(ends_of).unzip();
        for row in 1..ends.len() {
            ends[row] = ends[row].max(ends[row - 1]);
        }
        for row in (1..starts.len()).rev() {
            starts[row - 1] = starts[row - 1].min(starts[row]);
        }
        RowsInUse { starts, ends }
    }

    /// The rows that the result's rows from `first` on touch.
    fn from(&self, first: u64) -> Range<u64> {
        self.starts[first as usize]..self.ends.last().copied().unwrap_or(0)
    }

    /// The rows that the result's rows before `end` touch.
    fn up_to(&self, end: u64) -> Range<u64> {
        self.starts[0]..self.ends[end as usize - 1]
    }
}

/// For each row of the result of a window over a channels-last image, the range of the image's rows that it
/// touches; empty if no tap of the row is in the image.
pub(super) fn touched_rows(op: OpRef<'_>) -> Option<Vec<Range<u64>>> {
    if op.text("layout") != Some("NHWC") {
        return None;
    }
    let window = window_of(op)?;
    let in_rows = *op.operand_shape(0)?.get(1)?;
    let out_rows = *op.result_shape(0)?.get(1)?;
    let touched = |row: u64| {
        let taps = (0..window.kernel[0]).map(|tap| row * window.strides[0] + tap * window.dilations[0]);
        let inside = taps.filter_map(|at| at.checked_sub(window.pads[0])).filter(|at| *at < in_rows);
        let rows: Vec<u64> = inside.collect();
        rows.first().zip(rows.last()).map_or(0..0, |(first, last)| *first..last + 1)
    };
    Some((0..out_rows).map(touched).collect())
}
