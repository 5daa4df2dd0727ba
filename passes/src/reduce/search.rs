//! The search of a reduction: the candidates and their order.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use ir::verify::verify_touched;
use ir::{Module, Traits, text};
use rustc_hash::FxHashSet;

use super::sites;

/// A program that can be reduced.
pub trait Reducible: Clone {
    /// Whether it is valid, and thus a candidate. May update the parts that follow from others.
    fn is_valid(&mut self) -> bool;

    /// A hash of the content: equal for equal candidates, and most likely different for others.
    fn content_hash(&self) -> u64;

    /// Its size in operations.
    fn op_count(&self) -> usize;
}

impl Reducible for Module {
    fn is_valid(&mut self) -> bool {
        verify_touched(self).is_ok()
    }

    fn content_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        text::print(self).hash(&mut hasher);
        hasher.finish()
    }

    fn op_count(&self) -> usize {
        op_count(self)
    }
}

/// Options of a reduction.
pub struct ReduceOptions<'a, P = Module> {
    /// The time at which to stop with the smallest program so far, if any.
    pub deadline: Option<Instant>,
    /// Called after each candidate.
    pub progress: Option<&'a dyn Fn(&ReduceProgress)>,
    /// Called with each program that is smaller than all before and still fails.
    pub smaller: Option<&'a dyn Fn(Reduced<P>)>,
}

impl<P> Default for ReduceOptions<'_, P> {
    /// Without a deadline and without callbacks.
    fn default() -> Self {
        ReduceOptions { deadline: None, progress: None, smaller: None }
    }
}

/// The progress of a reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReduceProgress {
    /// The kind of thing that is being removed.
    pub step: &'static str,
    /// The number of operations of the smallest failing program so far.
    pub ops: usize,
    /// The number of candidates tried.
    pub tried: usize,
}

/// The result of a reduction.
pub struct Reduced<P = Module> {
    /// The smallest program that still fails.
    pub program: P,
    /// The number of candidates tried.
    pub tried: usize,
    /// Whether nothing more can be removed; false if the reduction was stopped.
    pub is_minimal: bool,
}

/// The operations of a module, without functions and terminators.
pub fn op_count(module: &Module) -> usize {
    let counts = |site: &sites::OpSite| {
        let body = sites::body_at(module, &site.path).expect("the place was just found");
        let op = body.at(&module.ctx, site.op);
        !op.has(Traits::TERMINATOR) && !op.has(Traits::SYMBOL)
    };
    sites::sites(module).iter().filter(|site| counts(site)).count()
}

/// Like [`reduce`](super::reduce()), for anything that can be reduced, with its own steps.
pub fn reduce_by<P: Reducible>(
    steps: &[(&'static str, ReduceStep<P>)],
    program: P,
    options: &ReduceOptions<'_, P>,
    still_fails: &mut dyn FnMut(&P) -> bool,
) -> Reduced<P> {
    let progress = ReduceProgress { step: "", ops: program.op_count(), tried: 0 };
    let seen = [program.content_hash()].into_iter().collect();
    let mut search = Search { program, options, still_fails, seen, progress, accepted: 0 };
    loop {
        let before = search.accepted;
        for (name, step) in steps {
            search.progress.step = name;
            step(&mut search);
        }
        if search.accepted == before || search.is_late() {
            break;
        }
    }
    let is_minimal = !search.is_late();
    Reduced { program: search.program, tried: search.progress.tried, is_minimal }
}

/// A step: tries to remove one kind of thing.
pub type ReduceStep<P = Module> = fn(&mut Search<'_, P>);

/// A reduction in progress.
pub struct Search<'a, P = Module> {
    /// The smallest failing program so far.
    pub(super) program: P,
    options: &'a ReduceOptions<'a, P>,
    still_fails: &'a mut dyn FnMut(&P) -> bool,
    /// Hashes of all candidates tried.
    seen: FxHashSet<u64>,
    progress: ReduceProgress,
    accepted: usize,
}

impl<P: Reducible> Search<'_, P> {
    /// The smallest failing program so far.
    pub fn program(&self) -> &P {
        &self.program
    }

    fn is_late(&self) -> bool {
        self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Tries a change, which returns whether it did anything; keeps it if the program still fails.
    pub fn attempt(&mut self, change: impl FnOnce(&mut P) -> bool) -> bool {
        if self.is_late() {
            return false;
        }
        let mut candidate = self.program.clone();
        if !change(&mut candidate) || !candidate.is_valid() || !self.seen.insert(candidate.content_hash()) {
            return false;
        }
        let fails = (self.still_fails)(&candidate);
        if fails {
            self.program = candidate;
            self.accepted += 1;
            self.progress.ops = self.program.op_count();
        }
        self.progress.tried += 1;
        if let Some(smaller) = self.options.smaller.filter(|_| fails) {
            let Search { program, progress, .. } = &*self;
            smaller(Reduced { program: program.clone(), tried: progress.tried, is_minimal: false });
        }
        if let Some(progress) = self.options.progress {
            progress(&self.progress);
        }
        fails
    }

    /// Tries to apply `change` to all items, then to each half of the refused ones, and so on to single
    /// items. The last items come first, because readers must be removed before their operands.
    pub fn halve<T: Clone>(&mut self, items: Vec<T>, change: impl Fn(&mut P, &[T]) -> bool) {
        let mut left = items;
        let mut piece = left.len();
        while piece > 0 && !left.is_empty() {
            let mut refused: Vec<&[T]> = Vec::new();
            for items in left.rchunks(piece) {
                if !self.attempt(|module| change(module, items)) {
                    refused.push(items);
                }
            }
            refused.reverse();
            left = refused.concat();
            piece = if piece == 1 { 0 } else { piece.div_ceil(2).min(left.len()) };
        }
    }
}

/// Applies a change to each item; returns whether it had an effect on any.
pub(super) fn change_each<T>(items: impl Iterator<Item = T>, mut change: impl FnMut(T) -> bool) -> bool {
    let mut has_changed = false;
    for item in items {
        has_changed |= change(item);
    }
    has_changed
}
