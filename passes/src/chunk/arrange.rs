//! Who lies in whose bytes at all sizes of a function: which results overwrite operands, and which parts stand in their concatenation.
//!
//! Both are found at one choice of sizes, and kept where they are right at every other:
//!
//! ```text
//! %1 = relu %0 {mem.tie = [0]}          both take 4 * N bytes, whatever N is
//! %3 = concat %1, %2 {mem.parts = [0]}  parts are rows of the whole at all sizes, and no view of %1 is read, which need not be rows
//! ```
//!
//! A view of symbolic sizes is *open*: it lies in its operand at some sizes, and is a copy at others, as a slice of channels is a piece of one image, but not of two.
//! Here it is a copy at all: where it lies in its operand, it is copied. Then values share fewer bytes than at the sizes at which all was found, and what was right there stays
//! right. Whether it writes and reads rows, and overwrites an operand, the target says for all sizes alike ([`ir::target::Target`]).

use cranelift_entity::SecondaryMap;
use ir::alias::{AliasSets, is_free, parts, ties};
use ir::dims::{self, Bindings, Ranges};
use ir::opdef::View;
use ir::plan::attrs;
use ir::{Body, Builder, Context, Kind, Op, Target, Value, flow};

use crate::inplace::inplace_without_views;
use crate::select::{select, select_again};
use crate::symbolic::{are_as_large, at_sizes};

/// Who lies in whose bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrangement {
    /// The operands of concatenations that are made of others.
    operands: Vec<(Op, Vec<Value>)>,
    /// The operands of concatenations that stand at their place, in text order.
    parts: Vec<(Op, Vec<usize>)>,
    /// For each result of an operation, the operand that it overwrites, or -1.
    ties: Vec<(Op, Vec<i64>)>,
}

impl Arrangement {
    /// The ties that a function has, as far as they are right at all sizes.
    pub(super) fn given(ctx: &Context, body: &Body, ranges: &Ranges) -> Arrangement {
        Arrangement::read(ctx, body, body).proved(ctx, body, ranges)
    }

    /// What is best at the greatest sizes, as far as it is right at all; none if the function can't have all these at once.
    pub(super) fn at_greatest(
        ctx: &Context,
        target: &dyn Target,
        body: &Body,
        ranges: &Ranges,
        threads: usize,
    ) -> Option<Arrangement> {
        let mut at = at_greatest(ctx, body, ranges)?;
        Arrangement::default().link(ctx, &mut at);
        select(ctx, target, &mut at, threads);
        inplace_without_views(ctx, target, &mut at);
        Some(Arrangement::read(ctx, body, &at).proved(ctx, body, ranges))
    }

    /// What is written into `at`, which is `body` with other sizes.
    fn read(ctx: &Context, body: &Body, at: &Body) -> Arrangement {
        let mut found = Arrangement::default();
        flow::walk(ctx, at, |op| {
            let op_ref = at.at(ctx, op);
            let mut operands = vec![-1; at.result_count(op)];
            ties(op_ref).for_each(|(result, operand)| operands[result] = operand as i64);
            found.ties.extend(operands.iter().any(|operand| *operand >= 0).then_some((op, operands)));
            // What is padded is rows of the whole at some sizes only.
            if matches!(op_ref.kind(), Kind::View(View::OfResult(_))) {
                let is_other = !at.operands(op).eq(body.operands(op));
                found.operands.extend(is_other.then(|| (op, at.operands(op).collect())));
                let parts = parts(op_ref);
                found.parts.extend((!parts.is_empty()).then_some((op, parts)));
            }
        });
        found
    }

    /// What of it is right at all sizes.
    fn proved(self, ctx: &Context, body: &Body, ranges: &Ranges) -> Arrangement {
        let mut with = body.clone();
        self.link(ctx, &mut with);
        let near = AliasSets::of(ctx, &with);
        let viewed = viewed(ctx, &with, &near);
        let Arrangement { operands, mut parts, mut ties } = self;
        for (op, operands) in &mut parts {
            operands.retain(|operand| !viewed[near.root(with.operand(*op, *operand))]);
        }
        parts.retain(|(_, operands)| !operands.is_empty());
        for (op, operands) in &mut ties {
            for (result, operand) in operands.iter_mut().enumerate() {
                let Ok(index) = usize::try_from(*operand) else { continue };
                let (to, from) = (with.result(*op, result), with.operand(*op, index));
                let is_large = are_as_large(ctx, &with, to, from, ranges)
                    && are_as_large(ctx, &with, to, near.root(from), ranges);
                if !is_large {
                    *operand = -1;
                }
            }
        }
        ties.retain(|(_, operands)| operands.iter().any(|operand| *operand >= 0));
        Arrangement { operands, parts, ties }
    }

    /// The operands of concatenations that stand at their place, in text order.
    pub(super) fn parts(&self) -> &[(Op, Vec<usize>)] {
        &self.parts
    }

    /// Writes the operands of concatenations and the ties into a function, in the place of those that it has.
    pub(super) fn link(&self, ctx: &Context, body: &mut Body) {
        let mut tied = Vec::new();
        flow::walk(ctx, body, |op| tied.extend(body.at(ctx, op).attr(attrs::MEM_TIE).map(|_| op)));
        tied.into_iter().for_each(|op| body.remove_attr(ctx, op, attrs::MEM_TIE));
        self.operands.iter().for_each(|(op, operands)| body.set_operands(*op, operands));
        for (op, operands) in &self.ties {
            body.set_attr(ctx, *op, attrs::MEM_TIE, ctx.ints_attr(operands));
        }
    }

    /// Writes the parts, in their rows, into a function of known sizes that is linked.
    pub(super) fn assemble(&self, ctx: &Context, body: &mut Body) {
        for (op, operands) in &self.parts {
            let operands: Vec<i64> = operands.iter().map(|operand| *operand as i64).collect();
            body.set_attr(ctx, *op, attrs::MEM_PARTS, ctx.ints_attr(&operands));
        }
        if self.parts.is_empty() {
            return;
        }
        let (aliases, mut pitched) = (AliasSets::of(ctx, body), Vec::new());
        flow::walk(ctx, body, |op| {
            let at = body.at(ctx, op);
            let makes_none = matches!(at.kind(), Kind::View(View::OfOperand(_))) && is_free(at);
            let result = body.results(op).next().filter(|_| !makes_none);
            let window = result.filter(|result| aliases.root(*result) != *result);
            let window = window.and_then(|result| aliases.window(result)).filter(|window| !window.is_dense());
            pitched.extend(window.map(|window| (op, [window.row as i64, window.pitch as i64])));
        });
        for (op, pitch) in pitched {
            body.set_attr(ctx, op, attrs::MEM_PITCH, ctx.ints_attr(&pitch));
        }
    }

    /// Writes all of it into a function of known sizes, and the kernels that then run; gives what is a copy although it could lie in its operand.
    pub(super) fn apply(
        &self,
        ctx: &Context,
        target: &dyn Target,
        body: &mut Body,
        views: &[Op],
        threads: usize,
    ) -> Copies {
        self.link(ctx, body);
        let copies = copy_views(ctx, body, views);
        self.assemble(ctx, body);
        select(ctx, target, body, threads);
        self.parts.iter().for_each(|(op, _)| select_again(ctx, target, body, *op));
        copies
    }
}

/// The values that own bytes which some view reads.
fn viewed(ctx: &Context, body: &Body, aliases: &AliasSets) -> SecondaryMap<Value, bool> {
    let mut viewed = SecondaryMap::new();
    flow::walk(ctx, body, |op| {
        if let Kind::View(View::OfOperand(_)) = body.at(ctx, op).kind() {
            viewed[aliases.root(body.operand(op, 0))] = true;
        }
    });
    viewed
}

/// Views that could lie in their operand, and copies of them that are read instead.
pub(super) type Copies = Vec<(Value, Value)>;

fn copy_views(ctx: &Context, body: &mut Body, views: &[Op]) -> Copies {
    let mut copies = Vec::new();
    for view in views {
        let (value, next) = (body.result(*view, 0), body.next_op(*view));
        let Some(next) = next.filter(|_| is_free(body.at(ctx, *view))) else { continue };
        let copy = Builder::before(ctx, body, next).value("optc.copy", &[value], &[]);
        let copy = copy.expect("a copy has the type of its operand");
        body.replace_uses(value, copy);
        let copying = body.defining_op(copy).expect("a copy is an operation");
        body.set_operand(copying, 0, value);
        copies.push((value, copy));
    }
    copies
}

/// A function with each of its symbols at its greatest number; none if it can't have all of these.
pub(super) fn at_greatest(ctx: &Context, body: &Body, ranges: &Ranges) -> Option<Body> {
    let symbols = dims::symbols_in(ctx, body).into_iter();
    let sizes: Bindings = symbols.map(|name| (name, ranges.of(name).1)).collect();
    at_sizes(ctx, body, &sizes).ok()
}
