//! Packing at run time: a right matrix or a filter that is computed is copied into panels in shared scratch.
//!
//! Weights are packed when the program is loaded ([`crate::weights`]). Computed operands are copied into the
//! same panel layout right before they are read. Lanes after a panel's last channel are not initialized: no
//! channel of a result reads them.

use kernels::{Copy, Panels, WeightStrides};

use crate::call::{LoweredCall, Pointer};
use crate::row::Machine;

/// A computed filter and its layout.
pub(crate) struct ComputedFilter {
    /// The operand of the operation.
    pub(crate) operand: usize,
    /// Bytes from the operand's start to the filter's.
    pub(crate) first_byte: u64,
    /// The strides of its elements.
    pub(crate) strides: WeightStrides,
    /// Height, width and input channels of a group.
    pub(crate) taps: [usize; 3],
}

impl ComputedFilter {
    /// The calls that copy the filter into `panels` at the beginning of shared scratch.
    pub(crate) fn pack(&self, panels: &Panels, machine: &Machine) -> Vec<LoweredCall> {
        let of_group = panels.of_group();
        if panels.count() == 0 {
            return Vec::new();
        }
        let last = panels.get(of_group - 1);
        let widest = panels.get(0).width;
        let full = if last.count == widest { of_group } else { of_group - 1 };
        let mut calls = Vec::new();
        if full > 0 {
            calls.push(self.copy(panels, 0..full, widest, machine));
        }
        if full < of_group {
            calls.push(self.copy(panels, full..of_group, last.count, machine));
        }
        calls
    }

    /// The copy of these panels of each group, with `channels` channels each.
    fn copy(
        &self,
        panels: &Panels,
        of_group: std::ops::Range<usize>,
        channels: usize,
        machine: &Machine,
    ) -> LoweredCall {
        let WeightStrides { o, i, h, w } = self.strides;
        let [height, width, inputs] = self.taps;
        let groups = panels.count() / panels.of_group();
        let first = panels.get(of_group.start);
        let next_group = panels.get(if groups > 1 { panels.of_group() } else { 0 });
        let lanes = first.width;
        let sizes = [groups, of_group.len(), height, width, inputs, channels];
        let reads = [next_group.first * o, lanes * o, h, w, i, o].map(|stride| stride as i64);
        let writes =
            [next_group.offset, panels.depth() * lanes, width * inputs * lanes, inputs * lanes, lanes, 1];
        let writes = writes.map(|stride| stride as i64);
        let kernel = Copy::new(&sizes, &reads, &writes, 4, machine.isa, machine.threads);
        let from = Pointer::Operand(self.operand, self.first_byte + (first.first * o * 4) as u64);
        LoweredCall::kernel(&kernel, vec![Pointer::Shared(first.offset as u64 * 4), from])
    }
}
