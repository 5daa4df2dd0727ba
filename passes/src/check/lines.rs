//! Does the scratch of a group that streams rows hold its line buffers?
//!
//! Derived tap by tap, from the last step to the first: when a step computes a row that the next one touches,
//! all rows that its window touches must be in scratch, and each image between two steps has bytes of its own
//! there. The target requests any further scratch for its kernels itself.

use std::collections::BTreeSet;
use std::ops::Range;

use ir::body::OpRef;
use ir::plan::attrs;
use ir::{Op, Traits, size};

use super::PlanChecker;
use super::memory::Home;
use super::rows::touched_rows;

impl PlanChecker<'_> {
    /// Reports a fault if scratch can't hold the line buffers of a group with `mem.lines`.
    pub(super) fn check_lines(&mut self, op: Op, scratch: Option<&Home>) {
        let op_ref = self.body.at(self.ctx, op);
        if self.body.regions(op).is_empty() || op_ref.attr(attrs::MEM_LINES).is_none() {
            return;
        }
        let found = scratch.map_or(0, |scratch| scratch.bytes.end - scratch.bytes.start);
        match self.bytes_between(op_ref) {
            Some(needed) if needed <= found => {}
            Some(needed) => self.fault(
                op,
                format!(
                    "scratch of {found} bytes has no room for the {needed} bytes of rows between its steps"
                ),
            ),
            None => {
                self.fault(op, "its steps can't stream rows: each must read the one before row by row".into())
            }
        }
    }

    /// The bytes of all line buffers of a group: the rows of each step that the next one reads for one of its
    /// rows, if that is read in turn. None unless each step is read as an image, and only by the next one.
    fn bytes_between(&self, group: OpRef<'_>) -> Option<u64> {
        let block = self.body.entry(*self.body.regions(group.op).first()?)?;
        let steps: Vec<Op> =
            self.body.ops(block).filter(|op| !self.body.at(self.ctx, *op).has(Traits::YIELD)).collect();
        let mut bytes = 0;
        // The rows of the reader that are computed; none until it is the last step, which computes all.
        let mut computed: Option<BTreeSet<u64>> = None;
        for pair in steps.windows(2).rev() {
            let image = self.body.result(pair[0], 0);
            let reader = self.body.at(self.ctx, pair[1]);
            let mut uses = self.body.uses(image);
            let only = uses.next().filter(|used| used.op == pair[1] && uses.next().is_none())?;
            let touched = touched_rows(self.image_reader(reader, only.index)?)?;
            let computes = |row: &u64| computed.as_ref().is_none_or(|computed| computed.contains(row));
            let read = (0..).zip(touched).filter(|(row, _)| computes(row));
            let read: Vec<Range<u64>> = read.map(|(_, rows)| rows).collect();
            let rows = read.iter().map(|rows| rows.end - rows.start).max().unwrap_or(0);
            computed = Some(read.into_iter().flatten().collect());
            let ty = self.body.ty(image);
            let [images, height, ..] = self.ctx.static_shape(ty)?[..] else { return None };
            bytes += size::tensor_bytes(self.ctx, ty)? / (images * height).max(1) * rows;
        }
        Some(bytes)
    }
}
