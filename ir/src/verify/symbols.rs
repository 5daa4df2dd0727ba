//! Symbols: whether each is defined once, and calls name existing functions.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::Checker;
use super::rows::agree;
use crate::attrs::AttrData;
use crate::body::{Body, OpRef};
use crate::context::Context;
use crate::diag::{Diagnostic, MOST_FAULTS, did_you_mean};
use crate::entities::{Op, Region, Type};
use crate::opdef::{AttrKind, Kind, OpDef, Presence, RegionFlow};
use crate::text::short_type;
use crate::types::TypeData;

/// The symbols of one body, collected on first use.
pub(super) struct BodySymbols<'m> {
    body: &'m Body,
    /// The enclosing table.
    around: Option<u32>,
    /// None if the body defines none.
    names: OnceLock<Option<Box<SymbolNames<'m>>>>,
}

/// Symbols, with the operations that define them.
#[derive(Default)]
struct SymbolNames<'m> {
    symbols: FxHashMap<&'m str, Op>,
    /// A violation for each symbol that is defined again.
    twice: Vec<Diagnostic>,
}

impl<'m> SymbolNames<'m> {
    /// The symbols that the operations of a body define.
    fn of(ctx: &'m Context, body: &'m Body) -> SymbolNames<'m> {
        let mut names = SymbolNames::default();
        let name = ctx.ident("sym_name");
        for &block in body.roots().iter().flat_map(|region| body.blocks(*region)) {
            for op in body.ops(block) {
                let Some(symbol) = body.attr(ctx, op, name).and_then(|attr| ctx.str_value(attr)) else {
                    continue;
                };
                if let Some(first) = names.symbols.insert(symbol, op)
                    && names.twice.len() < MOST_FAULTS
                {
                    let message = format!("`@{symbol}` is defined twice");
                    let diagnostic = Diagnostic::error(body.location(op), message);
                    names.twice.push(diagnostic.with_note(body.location(first), "first defined here"));
                }
            }
        }
        names
    }
}

impl<'m> BodySymbols<'m> {
    /// The table of a body; `around` is the index of the enclosing table.
    pub(super) fn new(body: &'m Body, around: Option<u32>) -> BodySymbols<'m> {
        BodySymbols { body, around, names: OnceLock::new() }
    }

    /// A violation for each symbol that is defined again.
    pub(super) fn twice(&self, ctx: &'m Context) -> &[Diagnostic] {
        self.names(ctx).map_or(&[], |names| &names.twice)
    }

    fn names(&self, ctx: &'m Context) -> Option<&SymbolNames<'m>> {
        let names = || Some(SymbolNames::of(ctx, self.body)).filter(|names| !names.symbols.is_empty());
        self.names.get_or_init(|| names().map(Box::new)).as_deref()
    }

    /// Whether it holds the symbols of this body.
    pub(super) fn is_of(&self, body: &Body) -> bool {
        std::ptr::eq(self.body, body)
    }
}

/// The tables visible in a body: its own, and the enclosing ones.
#[derive(Clone, Copy)]
struct VisibleSymbols<'t, 'm> {
    all: &'t [BodySymbols<'m>],
    nearest: usize,
}

impl<'t, 'm> VisibleSymbols<'t, 'm> {
    fn outwards(self) -> impl Iterator<Item = &'t BodySymbols<'m>> {
        let first = self.all.get(self.nearest);
        std::iter::successors(first, move |table| Some(&self.all[table.around? as usize]))
    }
}

impl<'m> Checker<'m> {
    /// Checks every call of a body against the function that it names; `nearest` is the first table of the
    /// look-up.
    pub(super) fn calls(&mut self, body: &'m Body, tables: &[BodySymbols<'m>], nearest: usize) {
        self.calls_in(body, body.roots(), VisibleSymbols { all: tables, nearest });
    }

    fn calls_in(&mut self, body: &'m Body, regions: &[Region], tables: VisibleSymbols<'_, 'm>) {
        for &block in regions.iter().flat_map(|region| body.blocks(*region)) {
            for op in body.ops(block) {
                self.call(OpRef::new(self.ctx, body, op), tables);
                if !body.regions(op).is_empty() {
                    self.calls_in(body, body.regions(op), tables);
                }
            }
        }
    }

    fn call(&mut self, op: OpRef<'m>, tables: VisibleSymbols<'_, 'm>) {
        let names_function = |def: &OpDef| matches!(def.kind, Kind::Region(RegionFlow::Call) | Kind::Source);
        let Some(def) = op.def().filter(|def| names_function(def)) else { return };
        let is_callee = |kind, presence| kind == AttrKind::Symbol && presence == Presence::Required;
        let Some(attr) = def.attrs.iter().find(|attr| is_callee(attr.kind, attr.presence)) else { return };
        let Some(AttrData::SymbolRef { root, nested }) =
            op.attr(attr.name).map(|attr| self.ctx.attr_data(attr))
        else {
            return;
        };
        if !nested.is_empty() {
            return;
        }
        let name = self.ctx.str(*root);
        let found = tables
            .outwards()
            .find_map(|table| Some((table.body, *table.names(self.ctx)?.symbols.get(name)?)));
        let Some((body, callee)) = found else {
            let known = tables.outwards().filter_map(|table| table.names(self.ctx));
            let mut known: Vec<&str> = known.flat_map(|names| names.symbols.keys().copied()).collect();
            known.sort_unstable();
            let help = did_you_mean(name, known).map(|help| help.replacen('`', "`@", 1));
            return self.breach_with_help(op.body, op.op, format!("nothing is called `@{name}`"), help);
        };
        match def.kind {
            Kind::Source => self.function_value(op, body, callee, name),
            _ => self.signature(op, body, callee, name),
        }
    }

    /// A function used as a value has the value's type.
    fn function_value(&mut self, op: OpRef<'m>, body: &'m Body, function: Op, name: &str) {
        let attr = body.attr(self.ctx, function, self.ctx.ident("function_type"));
        let Some(AttrData::Type(ty)) = attr.map(|attr| self.ctx.attr_data(attr)) else {
            return self.breach(op.body, op.op, format!("`@{name}` is no function"));
        };
        let Some(found) = op.body.results(op.op).next().map(|value| op.body.ty(value)) else { return };
        if found != *ty {
            let (expected, found) = (short_type(self.ctx, *ty), short_type(self.ctx, found));
            self.breach(op.body, op.op, format!("`@{name}` is a `{expected}`, the value is a `{found}`"));
        }
    }

    fn signature(&mut self, op: OpRef<'m>, body: &'m Body, callee: Op, name: &str) {
        let ty =
            body.attr(self.ctx, callee, self.ctx.ident("function_type")).map(|attr| self.ctx.attr_data(attr));
        let Some(AttrData::Type(ty)) = ty else {
            return self.breach(op.body, op.op, format!("`@{name}` is no function"));
        };
        let TypeData::Function { inputs, results } = self.ctx.type_data(*ty) else { return };
        let given: Vec<Type> = op.body.operands(op.op).map(|value| op.body.ty(value)).collect();
        let taken: Vec<Type> = op.body.results(op.op).map(|value| op.body.ty(value)).collect();
        let fits = |a: &[Type], b: &[Type]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agree(self.ctx, *a, *b))
        };
        if !fits(inputs, &given) || !fits(results, &taken) {
            let given = TypeData::Function { inputs: given.into(), results: taken.into() };
            let (expected, found) = (short_type(self.ctx, *ty), short_type(self.ctx, self.ctx.ty(given)));
            self.breach(op.body, op.op, format!("`@{name}` is a `{expected}`, called as a `{found}`"));
        }
    }
}
