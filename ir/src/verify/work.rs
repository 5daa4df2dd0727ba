//! Verification work: the parts of a module to be verified, which can be checked in parallel.

use std::ops::Range;

use super::symbols::BodySymbols;
use super::{Checker, RegionOwner};
use crate::body::{Body, OpRef};
use crate::context::Context;
use crate::diag::Diagnostic;
use crate::module::Module;
use crate::opdef::Traits;

/// The scope of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyScope {
    /// All bodies.
    Everything,
    /// The bodies changed since they were verified; and all calls, if a symbol or a signature has changed.
    Touched,
}

/// The work of a verification.
pub struct Verification<'m> {
    ctx: &'m Context,
    /// The parts, in text order.
    parts: Vec<BodyCheck<'m>>,
    /// The symbol tables of the module, each after its enclosing one.
    tables: Vec<BodySymbols<'m>>,
}

/// A body.
struct BodyCheck<'m> {
    body: &'m Body,
    owner: RegionOwner,
    /// Its own table, or the nearest enclosing one.
    table: u32,
    extent: BodyExtent,
}

/// The extent of the verification of a body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BodyExtent {
    /// Nothing.
    Nothing,
    /// Its calls.
    Calls,
    /// Everything.
    Whole,
}

impl<'m> Verification<'m> {
    /// Collects the work.
    pub fn of(module: &'m Module, scope: VerifyScope) -> Verification<'m> {
        let parts = Vec::with_capacity(bodies(&module.top));
        let mut work = Verification { ctx: &module.ctx, parts, tables: Vec::new() };
        work.collect(&module.top, RegionOwner::NOBODY, None, scope);
        let is_signature = |part: &BodyCheck<'_>| {
            let is_table = work.table(part).is_of(part.body);
            !part.body.has_verified_signature() || is_table && !part.body.is_verified()
        };
        if work.parts.iter().any(|part| part.extent == BodyExtent::Whole && is_signature(part)) {
            work.parts.iter_mut().for_each(|part| part.extent = part.extent.max(BodyExtent::Calls))
        } else {
            work.parts.retain(|part| part.extent != BodyExtent::Nothing)
        }
        work
    }

    /// The number of parts.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The number of bodies that are verified completely.
    pub fn body_count(&self) -> usize {
        self.parts.iter().filter(|part| part.extent == BodyExtent::Whole).count()
    }

    /// Checks some of the parts, in order; returns the errors.
    pub fn check(&self, parts: Range<usize>) -> Vec<Diagnostic> {
        let mut checker = Checker::new(self.ctx);
        for part in &self.parts[parts] {
            if part.extent == BodyExtent::Whole {
                checker.body(part.body, part.owner);
            }
            if self.table(part).is_of(part.body) {
                self.table(part).twice(self.ctx).iter().for_each(|breach| checker.note(breach.clone()));
            }
            checker.calls(part.body, &self.tables, part.table as usize);
        }
        checker.diagnostics
    }

    fn table(&self, part: &BodyCheck<'_>) -> &BodySymbols<'m> {
        &self.tables[part.table as usize]
    }

    fn collect(&mut self, body: &'m Body, owner: RegionOwner, around: Option<u32>, scope: VerifyScope) {
        let is_table = owner.def.is_none_or(|def| def.traits.contains(Traits::SYMBOL_TABLE));
        let table = match around {
            Some(around) if !is_table => around,
            _ => {
                self.tables.push(BodySymbols::new(body, around));
                u32::try_from(self.tables.len() - 1).expect("fewer than 2^32 symbol tables")
            }
        };
        let place = self.parts.len();
        self.parts.push(BodyCheck { body, owner, table, extent: BodyExtent::Nothing });
        let mut is_touched = scope == VerifyScope::Everything || !body.is_verified();
        for (op, child) in body.children() {
            // The row of an isolated operation also checks attributes stored in its own body.
            is_touched |= !child.has_verified_attrs();
            self.collect(child, RegionOwner::of(OpRef::new(self.ctx, body, op)), Some(table), scope);
        }
        if is_touched {
            self.parts[place].extent = BodyExtent::Whole;
        }
    }
}

/// The number of bodies in this one, itself included.
fn bodies(body: &Body) -> usize {
    1 + body.children().map(|(_, child)| bodies(child)).sum::<usize>()
}

/// Marks all bodies of a module, in their current state, as verified.
pub fn mark_verified(module: &mut Module) {
    mark_body_verified(&mut module.top);
}

/// Marks a body and those in it as verified.
pub(crate) fn mark_body_verified(body: &mut Body) {
    body.mark_verified();
    body.children_mut().for_each(|(_, child)| mark_body_verified(child));
}
