//! Which wholes may have their parts in place without more bytes being live at one time.
//!
//! A whole whose parts are written in place lives from the first part on, so it may cost more than the copy:
//! its rows that are not written yet lie idle. Starting with all wholes, those are dropped, one after the
//! other, without which the peak is lower; what is left is never worse than none. Ties are not chosen yet, so
//! an operation counts operands and results. O(steps x wholes that live at the peak) for each whole that is
//! dropped.

use cranelift_entity::{EntityRef, SecondaryMap};
use ir::alias::AliasSets;
use ir::plan::attrs;
use ir::weights::WeightSet;
use ir::{Body, Context, Traits, Value};

use crate::liveness::{AliasClasses, Life, Steps};

/// A value that lives from its first part on.
pub(super) struct ConcatValue {
    /// The value.
    pub(super) value: Value,
    /// The roots that lie in it.
    pub(super) parts: Vec<Value>,
}

/// Bytes that are live at each step.
pub(super) struct Peak {
    /// For each root in the arena, from which step to which it lives, and its bytes.
    lives: SecondaryMap<Value, Option<(Life, u64)>>,
    /// Bytes at each step if no part is in place.
    copied: Vec<u64>,
}

impl Peak {
    /// The live ranges in a function in which nothing shares bytes yet but views and their operands.
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
        let mut peak = Peak { lives: SecondaryMap::new(), copied: vec![0; steps.end().index() + 1] };
        for (step, op) in steps.iter() {
            peak.copied[step.index()] = attrs::scratch_bytes(body.at(ctx, op)).unwrap_or(0);
        }
        for &root in classes.roots().iter().filter(|root| !callers[**root]) {
            if let (Some(life), Some(bytes)) = (classes.life(root), aliases.size_bytes(root)) {
                peak.lives[root] = Some((life, bytes));
                add(&mut peak.copied, life, bytes);
            }
        }
        peak
    }

    /// For each whole, whether its parts are to be in place.
    pub(super) fn keep(&self, wholes: &[ConcatValue]) -> Vec<bool> {
        let mut kept = vec![true; wholes.len()];
        let mut bytes = self.copied.clone();
        wholes.iter().for_each(|whole| self.place(&mut bytes, whole));
        let mut most = highest(&bytes);
        loop {
            let at = bytes.iter().position(|bytes| *bytes == most).unwrap_or(0);
            let mut best: Option<(u64, usize)> = None;
            for (index, whole) in wholes.iter().enumerate().filter(|(index, _)| kept[*index]) {
                let is_live = self
                    .hull(whole)
                    .is_some_and(|life| (life.first.index()..=life.last.index()).contains(&at));
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

    /// From the first part on to the last reader of the whole.
    fn hull(&self, whole: &ConcatValue) -> Option<Life> {
        let lives = whole.parts.iter().chain([&whole.value]).filter_map(|value| self.lives[*value]);
        lives
            .map(|(life, _)| life)
            .reduce(|a, b| Life { first: a.first.min(b.first), last: a.last.max(b.last) })
    }

    fn place(&self, bytes: &mut [u64], whole: &ConcatValue) {
        if let (Some(hull), Some((_, size))) = (self.hull(whole), self.lives[whole.value]) {
            add(bytes, hull, size);
        }
        self.each(whole, |life, size| subtract(bytes, life, size));
    }

    fn remove(&self, bytes: &mut [u64], whole: &ConcatValue) {
        self.each(whole, |life, size| add(bytes, life, size));
        if let (Some(hull), Some((_, size))) = (self.hull(whole), self.lives[whole.value]) {
            subtract(bytes, hull, size);
        }
    }

    /// What lives where all are copied.
    fn each(&self, whole: &ConcatValue, mut visit: impl FnMut(Life, u64)) {
        for (life, size) in whole.parts.iter().chain([&whole.value]).filter_map(|value| self.lives[*value]) {
            visit(life, size);
        }
    }
}

fn highest(bytes: &[u64]) -> u64 {
    bytes.iter().copied().max().unwrap_or(0)
}

fn add(bytes: &mut [u64], life: Life, size: u64) {
    bytes[life.first.index()..=life.last.index()].iter_mut().for_each(|bytes| *bytes += size);
}

fn subtract(bytes: &mut [u64], life: Life, size: u64) {
    bytes[life.first.index()..=life.last.index()].iter_mut().for_each(|bytes| *bytes -= size);
}
