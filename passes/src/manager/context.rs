//! What a pass is told, and where it puts what it has to tell.

use std::cell::RefCell;

use ir::{Context, Diagnostic, Location, Target};

use super::PassOptions;
use crate::rewrite::RuleSet;

/// What a pass is told beside the function or module that it works on. Each function gets its own.
pub struct PassContext<'a> {
    /// The context of all handles.
    pub ctx: &'a Context,
    /// The machine that is compiled for.
    pub target: &'a dyn Target,
    /// How many threads will run the program.
    pub threads: usize,
    /// The pass's options.
    pub options: &'a PassOptions,
    /// The rules that the registry knows.
    pub rules: &'a RuleSet,
    notes: RefCell<Notes>,
}

/// What a pass told while it ran.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) remarks: Vec<Diagnostic>,
    pub(super) counts: Vec<(&'static str, u64)>,
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
        PassContext { ctx, target, threads, options, rules, notes: RefCell::default() }
    }

    /// Says what was done or why it was not, for those who ask with `--remarks`.
    pub fn remark(&self, location: Location, message: impl Into<String>) {
        self.add_remark(Diagnostic::remark(location, message));
    }

    /// A remark with notes or a hint.
    pub fn add_remark(&self, remark: Diagnostic) {
        self.notes.borrow_mut().remarks.push(remark);
    }

    /// Adds to a statistic of the pass: `groups`, `ties`.
    pub fn count(&self, name: &'static str, amount: u64) {
        let mut notes = self.notes.borrow_mut();
        match notes.counts.iter_mut().find(|entry| entry.0 == name) {
            Some(entry) => entry.1 += amount,
            None => notes.counts.push((name, amount)),
        }
    }

    pub(super) fn into_notes(self) -> Notes {
        self.notes.into_inner()
    }
}
