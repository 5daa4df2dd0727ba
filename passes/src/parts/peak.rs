//! Whether concatenation in place raises the peak of live bytes.
//!
//! A concatenation whose operands are written in place is live from its first operand on, so it may cost more
//! than the copy: its unwritten rows take memory, too. The search starts with all concatenations in place,
//! and then drops those without which the peak is lower, one by one; so the result is never worse than having
//! none in place. Ties are not chosen yet, so each operation counts its operands and its results. O(steps x
//! concatenations live at the peak) for each one that is dropped.

use cranelift_entity::{EntityRef, SecondaryMap};
use ir::alias::AliasSets;
use ir::plan::attrs;
use ir::weights::WeightSet;
use ir::{Body, Context, Traits, Value};

use crate::liveness::{AliasClasses, LiveRange, Steps};

/// The result of a concatenation or padding in place, which is live from its first operand on.
pub(super) struct ConcatValue {
    /// The value.
    pub(super) value: Value,
    /// The roots of the operands in place.
    pub(super) parts: Vec<Value>,
}

/// Bytes that are live at each step.
pub(super) struct Peak {
    /// The live range and the bytes of each root in the arena.
    live_ranges: SecondaryMap<Value, Option<(LiveRange, u64)>>,
    /// Bytes at each step without any operand in place.
    copied: Vec<u64>,
}

impl Peak {
    /// The live ranges in a function, in which only views share bytes so far.
    pub(super) fn of(ctx: &Context, body: &Body, weights: &WeightSet, aliases: &AliasSets) -> Peak {
        let steps = Steps::of(ctx, body, weights);
        let classes = AliasClasses::of(ctx, body, &steps, weights, aliases);
        let mut callers: SecondaryMap<Value, bool> = SecondaryMap::new();
        crate::edit::entry(body)
            .map_or(&[][..], |b| body.args(b))
            .iter()
            .for_each(|arg| callers[*arg] = true);
        let ends = body.blocks(body.root()).iter().filter_map(|block| body.last_op(*block));
        for end in ends.filter(|op| body.at(ctx, *op).has(Traits::RETURN)) {
            body.operands(end).for_each(|value| callers[aliases.root(value)] = true);
        }
        let mut peak = Peak { live_ranges: SecondaryMap::new(), copied: vec![0; steps.end().index() + 1] };
        for (step, op) in steps.iter() {
            peak.copied[step.index()] = attrs::scratch_bytes(body.at(ctx, op)).unwrap_or(0);
        }
        for &root in classes.roots().iter().filter(|root| !callers[**root]) {
            if let (Some(live_range), Some(bytes)) = (classes.live_range(root), aliases.size_bytes(root)) {
                peak.live_ranges[root] = Some((live_range, bytes));
                add(&mut peak.copied, live_range, bytes);
            }
        }
        peak
    }

    /// For each concatenation, whether its operands are to be in place.
    pub(super) fn keep(&self, wholes: &[ConcatValue]) -> Vec<bool> {
        let mut kept = vec![true; wholes.len()];
        let mut bytes = self.copied.clone();
        wholes.iter().for_each(|whole| self.place(&mut bytes, whole));
        let mut most = highest(&bytes);
        loop {
            let at = bytes.iter().position(|bytes| *bytes == most).unwrap_or(0);
            let mut best: Option<(u64, usize)> = None;
            for (index, whole) in wholes.iter().enumerate().filter(|(index, _)| kept[*index]) {
                let is_live = self.hull(whole).is_some_and(|live_range| {
                    (live_range.first.index()..=live_range.last.index()).contains(&at)
                });
                if is_live {
                    let mut without = bytes.clone();
                    self.remove(&mut without, whole);
                    let peak = highest(&without);
                    best = best.filter(|best| best.0 <= peak).or(Some((peak, index)));
                }
            }
            match best {
                Some((peak, index)) if peak < most => {
                    self.remove(&mut bytes, &wholes[index]);
                    (kept[index], most) = (false, peak);
                }
                _ => break,
            }
        }
        if most > highest(&self.copied) { vec![false; wholes.len()] } else { kept }
    }

    /// The live range in place: from the first operand's definition to the last read of the result.
    fn hull(&self, whole: &ConcatValue) -> Option<LiveRange> {
        let live_ranges =
            whole.parts.iter().chain([&whole.value]).filter_map(|value| self.live_ranges[*value]);
        live_ranges
            .map(|(live_range, _)| live_range)
            .reduce(|a, b| LiveRange { first: a.first.min(b.first), last: a.last.max(b.last) })
    }

    fn place(&self, bytes: &mut [u64], whole: &ConcatValue) {
        if let (Some(hull), Some((_, size))) = (self.hull(whole), self.live_ranges[whole.value]) {
            add(bytes, hull, size);
        }
        self.each(whole, |live_range, size| subtract(bytes, live_range, size));
    }

    fn remove(&self, bytes: &mut [u64], whole: &ConcatValue) {
        self.each(whole, |live_range, size| add(bytes, live_range, size));
        if let (Some(hull), Some((_, size))) = (self.hull(whole), self.live_ranges[whole.value]) {
            subtract(bytes, hull, size);
        }
    }

    /// Visits the live ranges of operands and result as they are with a copy.
    fn each(&self, whole: &ConcatValue, mut visit: impl FnMut(LiveRange, u64)) {
        for (live_range, size) in
            whole.parts.iter().chain([&whole.value]).filter_map(|value| self.live_ranges[*value])
        {
            visit(live_range, size);
        }
    }
}

fn highest(bytes: &[u64]) -> u64 {
    bytes.iter().copied().max().unwrap_or(0)
}

fn add(bytes: &mut [u64], live_range: LiveRange, size: u64) {
    bytes[live_range.first.index()..=live_range.last.index()].iter_mut().for_each(|bytes| *bytes += size);
}

fn subtract(bytes: &mut [u64], live_range: LiveRange, size: u64) {
    bytes[live_range.first.index()..=live_range.last.index()].iter_mut().for_each(|bytes| *bytes -= size);
}

#[cfg(test)]
#[path = "peak_tests.rs"]
mod tests;
