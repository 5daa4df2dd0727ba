//! Removal of private symbols without references.
//!
//! ```text
//! func.func private @f()                          // referred to by nobody but @g, which nobody refers to
//! func.func private @g() { call @f() ... }    =>
//! func.func @main() { ... }                       func.func @main() { ... }
//! ```
//!
//! Everything but private symbols is needed, and so are the symbols that needed operations refer to, with the
//! symbols around those. The rest is removed, in nested modules too. O(operations + attributes).
//!
//! Each removed symbol is one change. A symbol that may no longer be removed counts as needed, with all
//! symbols it refers to.

use std::collections::VecDeque;

use ir::{Body, Context, Diagnostic, Module, Op, Region, Traits};
use rustc_hash::FxHashSet;

use crate::manager::{Changes, Example, PassContext, PassDef, PassRun, StageRule};
use crate::symbols::{BodyIndex, ModuleSymbols, References};

/// The pass `symbol-dce`.
pub static SYMBOL_DCE: PassDef = PassDef {
    name: "symbol-dce",
    doc: "Removes private functions and other private symbols that are not used.",
    options: &[],
    example: Example {
        before: r#"module {
  func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}"#,
        after: r#"module {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}"#,
    },
    stage: StageRule::Any,
    run: PassRun::Module(run),
};

fn run(cx: &PassContext<'_>, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
    let needed = needed(cx.ctx, &module.top, &cx.changes);
    let mut next_scope = ModuleSymbols::TOP;
    let removed = remove(&mut module.top, &needed, &mut next_scope);
    cx.count("removed", removed);
    Ok(())
}

/// The needed operations directly in bodies, with these bodies; symbols that may not be removed count as
/// needed.
fn needed(ctx: &Context, top: &Body, changes: &Changes) -> FxHashSet<(BodyIndex, Op)> {
    let symbols = ModuleSymbols::of(ctx, top);
    let mut marking = Marking {
        ctx,
        references: References::new(ctx),
        needed: FxHashSet::default(),
        open: VecDeque::new(),
        symbols,
    };
    marking.body(ModuleSymbols::TOP);
    marking.follow();
    for scope in marking.symbols.scopes() {
        if marking.is_reached(scope) {
            marking.keep_what_may_not_go(scope, changes);
        }
    }
    marking.needed
}

struct Marking<'m> {
    ctx: &'m Context,
    symbols: ModuleSymbols<'m>,
    references: References<'m>,
    needed: FxHashSet<(BodyIndex, Op)>,
    open: VecDeque<(BodyIndex, Op)>,
}

impl Marking<'_> {
    /// Whether a body is needed.
    fn is_reached(&self, scope: BodyIndex) -> bool {
        let Some((around, holder)) = self.symbols.around(scope) else { return true };
        self.needed.contains(&(around, outermost(self.symbols.body(around), holder)))
    }

    /// Asks for each unneeded symbol of a body whether it may be removed.
    fn keep_what_may_not_go(&mut self, scope: BodyIndex, changes: &Changes) {
        let body = self.symbols.body(scope);
        for op in body.roots().iter().flat_map(|root| body.blocks(*root)).flat_map(|block| body.ops(*block)) {
            let what = || {
                let attr = |name: &str| body.attr(self.ctx, op, self.ctx.ident(name));
                let symbol = attr("sym_name").and_then(|name| self.ctx.str_value(name)).unwrap_or_default();
                format!("`@{symbol}` is removed")
            };
            if !self.needed.contains(&(scope, op)) && !changes.allow(what) {
                self.mark(scope, op);
                self.follow();
            }
        }
    }

    /// Marks everything that marked operations need.
    fn follow(&mut self) {
        while let Some((scope, op)) = self.open.pop_front() {
            self.visit(scope, op);
        }
    }

    /// Marks everything in a needed body except private symbols.
    fn body(&mut self, scope: BodyIndex) {
        let body = self.symbols.body(scope);
        for op in body.roots().iter().flat_map(|root| body.blocks(*root)).flat_map(|block| body.ops(*block)) {
            if !(self.symbols.defines(scope, op) && is_private(self.ctx, body, op)) {
                self.mark(scope, op);
            }
        }
    }

    fn mark(&mut self, scope: BodyIndex, op: Op) {
        if self.needed.insert((scope, op)) {
            self.open.push_back((scope, op));
        }
    }

    fn visit(&mut self, scope: BodyIndex, op: Op) {
        let body = self.symbols.body(scope);
        self.refer(scope, body, op);
        for region in body.regions(op) {
            self.region(scope, body, *region);
        }
        if let Some(inside) = self.symbols.inside(scope, op) {
            self.body(inside);
        }
    }

    /// Marks everything that the operations in a region refer to or own.
    fn region(&mut self, scope: BodyIndex, body: &Body, region: Region) {
        for op in body.blocks(region).iter().flat_map(|block| body.ops(*block)) {
            self.refer(scope, body, op);
            body.regions(op).iter().for_each(|inner| self.region(scope, body, *inner));
            if let Some(inside) = self.symbols.inside(scope, op) {
                self.body(inside);
            }
        }
    }

    /// Marks the symbols that an operation refers to.
    fn refer(&mut self, scope: BodyIndex, body: &Body, op: Op) {
        for attr in [body.properties(op), body.attrs(op)] {
            for path in self.references.of(attr).iter() {
                for (scope, op) in self.symbols.resolve(scope, path).into_iter().flatten() {
                    self.mark(scope, op);
                }
            }
        }
    }
}

/// Whether an operation is a symbol without effect of its own that can't be referred to from outside.
fn is_private(ctx: &Context, body: &Body, op: Op) -> bool {
    let visibility = body.attr(ctx, op, ctx.ident("sym_visibility")).and_then(|attr| ctx.str_value(attr));
    let is_symbol = ctx
        .def(body.name(op))
        .is_some_and(|def| def.traits.intersects(Traits::SYMBOL.union(Traits::SYMBOL_TABLE)));
    visibility == Some("private") && is_symbol
}

/// Removes unneeded operations; `next` is the index of the body in text order.
fn remove(body: &mut Body, needed: &FxHashSet<(BodyIndex, Op)>, next: &mut BodyIndex) -> u64 {
    let scope = *next;
    *next += 1;
    let mut removed = 0;
    let holders: Vec<Op> = body.children().map(|(op, _)| op).collect();
    for holder in holders {
        let is_needed = needed.contains(&(scope, outermost(body, holder)));
        let child = body.child_mut(holder).expect("the operation holds a body");
        if is_needed { removed += remove(child, needed, next) } else { *next += bodies(child) }
    }
    let blocks = body.roots().iter().flat_map(|root| body.blocks(*root));
    let ops = blocks.flat_map(|block| body.ops(*block));
    let dead: Vec<Op> = ops.filter(|op| !needed.contains(&(scope, *op))).collect();
    dead.iter().for_each(|op| body.erase(*op));
    removed + dead.len() as u64
}

/// The operation directly in a body that is `op` or contains it.
fn outermost(body: &Body, op: Op) -> Op {
    std::iter::successors(Some(op), |op| body.parent_op(*op)).last().expect("there is the operation itself")
}

/// The number of bodies, including this one.
fn bodies(body: &Body) -> usize {
    1 + body.children().map(|(_, child)| bodies(child)).sum::<usize>()
}
