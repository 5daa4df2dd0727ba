//! The context of a pass: its inputs besides the program, and its remarks and counts.

use std::cell::RefCell;

use ir::{Context, Diagnostic, Location, Target};

use super::{Changes, PassOptions};
use crate::rewrite::RuleSet;

/// The inputs of a pass besides its function or module. Each function gets its own.
pub struct PassContext<'a> {
    /// The context of all handles.
    pub ctx: &'a Context,
    /// The machine that is compiled for.
    pub target: &'a dyn Target,
    /// The number of threads that will run the program.
    pub threads: usize,
    /// The pass's options.
    pub options: &'a PassOptions,
    /// The rules of the registry.
    pub rules: &'a RuleSet,
    /// The limit of changes, which the pass asks before each optional change.
    pub changes: Changes,
    notes: RefCell<Notes>,
}

/// The remarks, counts and changes of a pass.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) remarks: Vec<Diagnostic>,
    pub(super) counts: Vec<(&'static str, u64)>,
    /// The number of changes, and the last one if the limit was reached.
    pub(super) changes: (u64, Option<String>),
}

impl<'a> PassContext<'a> {
    /// A context for one run of a pass.
    pub fn new(
        ctx: &'a Context,
        target: &'a dyn Target,
        threads: usize,
        options: &'a PassOptions,
        rules: &'a RuleSet,
    ) -> PassContext<'a> {
        let changes = Changes::unlimited();
        PassContext { ctx, target, threads, options, rules, changes, notes: RefCell::default() }
    }

    /// The same context with a limit on changes.
    pub(super) fn limited(self, changes: Changes) -> PassContext<'a> {
        PassContext { changes, ..self }
    }

    /// Adds a remark for `--remarks`: what was done, or why it was not.
    pub fn remark(&self, location: Location, message: impl Into<String>) {
        self.add_remark(Diagnostic::remark(location, message));
    }

    /// Adds a remark with notes or a hint.
    pub fn add_remark(&self, remark: Diagnostic) {
        self.notes.borrow_mut().remarks.push(remark);
    }

    /// Adds to a statistic of the pass, such as `groups` or `ties`.
    pub fn count(&self, name: &'static str, amount: u64) {
        let mut notes = self.notes.borrow_mut();
        match notes.counts.iter_mut().find(|entry| entry.0 == name) {
            Some(entry) => entry.1 += amount,
            None => notes.counts.push((name, amount)),
        }
    }

    pub(super) fn into_notes(self) -> Notes {
        let mut notes = self.notes.into_inner();
        notes.changes = (self.changes.made(), self.changes.last());
        notes
    }
}
