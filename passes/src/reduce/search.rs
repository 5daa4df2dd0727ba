//! Which candidates are tried, in which order.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use ir::verify::verify_touched;
use ir::{Module, Traits, text};
use rustc_hash::FxHashSet;

use super::{attributes, constants, flow, operands, operations, retype, signature, sites};

/// How a program is reduced.
#[derive(Default)]
pub struct ReduceOptions<'a> {
    /// When to stop with what was reached by then, if at all.
    pub deadline: Option<Instant>,
    /// Is told whenever a candidate has been tried.
    pub progress: Option<&'a dyn Fn(&ReduceProgress)>,
    /// Is given each program that is smaller than those before, and still fails.
    pub smaller: Option<&'a dyn Fn(Reduced)>,
}

/// How far a reduction is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReduceProgress {
    /// What is being left out.
    pub step: &'static str,
    /// How many operations the smallest program has that still fails.
    pub ops: usize,
    /// How many candidates have been tried.
    pub tried: usize,
}

/// What came out.
pub struct Reduced {
    /// The smallest program that still fails.
    pub module: Module,
    /// How many candidates were tried.
    pub tried: usize,
    /// Whether nothing more can be left out; else it was stopped before.
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

/// Makes a program that fails as small as it can: `still_fails` says of each candidate, which the verifier
/// has passed, whether it fails as the original does.
pub fn reduce(
    module: Module,
    options: &ReduceOptions<'_>,
    still_fails: &mut dyn FnMut(&Module) -> bool,
) -> Reduced {
    let ops = op_count(&module);
    let mut search = Search {
        module,
        options,
        still_fails,
        seen: FxHashSet::default(),
        progress: ReduceProgress { step: "", ops, tried: 0 },
        accepted: 0,
    };
    let original = search.module.clone();
    search.is_new(&original);
    loop {
        let before = search.accepted;
        for (name, step) in STEPS {
            search.progress.step = name;
            step(&mut search);
        }
        if search.accepted == before || search.is_late() {
            break;
        }
    }
    let is_minimal = !search.is_late();
    Reduced { module: search.module, tried: search.progress.tried, is_minimal }
}

type ReduceStep = fn(&mut Search<'_>);

/// What is tried in a round: first what leaves out most.
static STEPS: &[(&str, ReduceStep)] = &[
    ("functions", operations::functions),
    ("results", signature::results),
    ("constants", constants::run),
    ("what nobody reads", operations::dead),
    ("operations", operations::run),
    ("what nobody reads", operations::dead),
    ("blocks", flow::blocks),
    ("regions", flow::regions),
    ("calls", flow::calls),
    ("operands", operands::run),
    ("arguments", signature::arguments),
    ("attributes", attributes::run),
    ("sizes", retype::sizes),
    ("element types", retype::elements),
];

/// A reduction under way.
pub(super) struct Search<'a> {
    /// The smallest program so far that fails.
    pub(super) module: Module,
    options: &'a ReduceOptions<'a>,
    still_fails: &'a mut dyn FnMut(&Module) -> bool,
    /// Hashes of the texts of all candidates that were tried.
    seen: FxHashSet<u64>,
    progress: ReduceProgress,
    accepted: usize,
}

impl Search<'_> {
    fn is_late(&self) -> bool {
        self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Notes a program; whether it was not seen before.
    fn is_new(&mut self, module: &Module) -> bool {
        let mut hasher = DefaultHasher::new();
        text::print(module).hash(&mut hasher);
        self.seen.insert(hasher.finish())
    }

    /// Tries a change, which says whether it did anything; keeps it if the program still fails.
    pub(super) fn attempt(&mut self, change: impl FnOnce(&mut Module) -> bool) -> bool {
        if self.is_late() {
            return false;
        }
        let mut candidate = self.module.clone();
        if !change(&mut candidate) || verify_touched(&mut candidate).is_err() {
            return false;
        }
        if !self.is_new(&candidate) {
            return false;
        }
        let fails = (self.still_fails)(&candidate);
        if fails {
            self.module = candidate;
            self.accepted += 1;
            self.progress.ops = op_count(&self.module);
        }
        self.progress.tried += 1;
        if let Some(smaller) = self.options.smaller.filter(|_| fails) {
            let Search { module, progress, .. } = &*self;
            smaller(Reduced { module: module.clone(), tried: progress.tried, is_minimal: false });
        }
        if let Some(progress) = self.options.progress {
            progress(&self.progress);
        }
        fails
    }

    /// Tries to apply `change` to all items, to each half of those that were refused, and so on to each one.
    /// The last ones go first: what reads goes before what it reads.
    pub(super) fn halve<T: Clone>(&mut self, items: Vec<T>, change: impl Fn(&mut Module, &[T]) -> bool) {
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

/// Makes a change for each of some items; whether it did anything for one of them.
pub(super) fn change_each<T>(items: impl Iterator<Item = T>, mut change: impl FnMut(T) -> bool) -> bool {
    let mut has_changed = false;
    for item in items {
        has_changed |= change(item);
    }
    has_changed
}
