//! The verifier: whether a module obeys the laws of the IR.
//!
//! All violations (at most the first 1,000) are reported at once, each with the operation's place. The laws,
//! by file:
//!
//! - `rows`: an operation has the operands, results, attributes and regions of its row; its result types are
//!   the inferred ones (an unknown size agrees with any).
//! - `structure`: each block ends with a terminator, and has no other; functions return the types that they
//!   declare; a group's block has its operands' types as arguments and yields its results' types; blocks
//!   receive the arguments that they declare; a function's attributes match its arguments and results, and
//!   only a private function is declared without a body.
//! - `decisions`: the memory attributes of an operation have the right form.
//! - `sizes`: a function's declarations of named sizes have the right form.
//! - `flow`: the regions of a condition or a loop take and pass on values of the right types.
//! - `dominance`: a value is defined before it is read, on every path through the blocks.
//! - `symbols`: a symbol is defined once; a called function exists and takes the given operands; a function
//!   used as a value exists and has that type.
//!
//! Unregistered operations are accepted unchecked: their regions may read values in any order.

use rustc_hash::FxHashSet;

use crate::body::{Body, OpRef};
use crate::context::Context;
use crate::diag::{Diagnostic, MOST_FAULTS};
use crate::entities::{Block, Location, Op, Region};
use crate::module::Module;
use crate::opdef::OpDef;

mod decisions;
mod dominance;
mod flow;
mod rows;
mod sizes;
mod structure;
mod symbols;
mod work;

#[cfg(test)]
mod tests;

pub(crate) use work::mark_body_verified;
pub use work::{Verification, VerifyScope, mark_verified};

/// Verifies a module.
///
/// # Errors
/// The violations, at most the first 1,000, in text order of the operations.
pub fn verify(module: &Module) -> Result<(), Vec<Diagnostic>> {
    let work = Verification::of(module, VerifyScope::Everything);
    let breaches = work.check(0..work.len());
    if breaches.is_empty() { Ok(()) } else { Err(breaches) }
}

/// Verifies the bodies that have changed since they were verified, and marks them as verified; returns their
/// number.
///
/// # Errors
/// The violations, at most the first 1,000, in text order of the operations.
pub fn verify_touched(module: &mut Module) -> Result<usize, Vec<Diagnostic>> {
    let work = Verification::of(module, VerifyScope::Touched);
    let breaches = work.check(0..work.len());
    let count = work.body_count();
    if !breaches.is_empty() {
        return Err(breaches);
    }
    mark_verified(module);
    Ok(count)
}

/// Verifies the contents of one isolated operation, without nested isolated operations and without symbols.
///
/// # Errors
/// The violations, at most the first 1,000, in text order of the operations.
pub fn verify_body(ctx: &Context, body: &Body) -> Result<(), Vec<Diagnostic>> {
    let mut checker = Checker::new(ctx);
    checker.body(body, RegionOwner::NOBODY);
    if checker.diagnostics.is_empty() { Ok(()) } else { Err(checker.diagnostics) }
}

/// Checks an isolated operation and its contents, without looking at its surroundings.
pub(crate) fn verify_isolated(ctx: &Context, body: &Body, op: Op) -> Vec<Diagnostic> {
    let mut checker = Checker::new(ctx);
    let op_ref = OpRef::new(ctx, body, op);
    if let Some(def) = op_ref.def() {
        checker.row(op_ref, def);
        checker.op_structure(op_ref, def);
    }
    if let Some(child) = body.child(op) {
        checker.body(child, RegionOwner::of(op_ref));
    }
    checker.diagnostics
}

/// The operation that owns a region: its row, if it has one, and its location.
#[derive(Clone, Copy)]
struct RegionOwner {
    def: Option<&'static OpDef>,
    location: Location,
}

impl RegionOwner {
    /// An unknown owner.
    const NOBODY: RegionOwner = RegionOwner { def: None, location: Location::UNKNOWN };

    fn of(op: OpRef<'_>) -> RegionOwner {
        RegionOwner { def: op.def(), location: op.body.location(op.op) }
    }
}

/// Collects violations.
struct Checker<'m> {
    ctx: &'m Context,
    /// The first violations.
    diagnostics: Vec<Diagnostic>,
    breach_count: usize,
    /// Keys of operations that match their rows.
    checked: FxHashSet<rows::RowKey>,
}

impl<'m> Checker<'m> {
    fn new(ctx: &'m Context) -> Checker<'m> {
        Checker { ctx, diagnostics: Vec::new(), breach_count: 0, checked: FxHashSet::default() }
    }

    /// Checks the operations of a body and their structure.
    fn body(&mut self, body: &'m Body, owner: RegionOwner) {
        self.own_signature(body, owner);
        self.regions(body, body.roots(), owner);
        self.dominance(body);
    }

    fn regions(&mut self, body: &'m Body, regions: &[Region], owner: RegionOwner) {
        for &region in regions {
            self.ways(body, region);
            for &block in body.blocks(region) {
                self.block(body, block, owner);
            }
        }
    }

    fn block(&mut self, body: &'m Body, block: Block, owner: RegionOwner) {
        self.block_end(body, block, owner);
        for op in body.ops(block) {
            let op_ref = OpRef::new(self.ctx, body, op);
            let def = op_ref.def();
            if let Some(def) = def {
                self.row(op_ref, def);
                self.op_structure(op_ref, def);
            }
            self.regions(body, body.regions(op), RegionOwner::of(op_ref));
        }
    }

    /// Records a violation, unless there are too many already.
    fn note(&mut self, breach: Diagnostic) {
        self.breach_count += 1;
        if self.diagnostics.len() < MOST_FAULTS {
            self.diagnostics.push(breach);
        }
    }

    /// Records a violation by an operation.
    fn breach(&mut self, body: &Body, op: Op, message: impl Into<String>) {
        self.note(Diagnostic::error(body.location(op), message));
    }

    /// Records a violation by an operation, with a hint.
    fn breach_with_help(&mut self, body: &Body, op: Op, message: String, help: Option<String>) {
        let diagnostic = Diagnostic::error(body.location(op), message);
        self.note(Diagnostic { help, ..diagnostic });
    }
}
