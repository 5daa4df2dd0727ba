//! Whether all readers of a value accept its layout.
//!
//! A value that lies in rows with gaps, or at other distances, is read by the operations that use it and by
//! those that use views of it. What hands it on, overwrites it, or has a kernel that does not take such an
//! operand, stands in the way.

use ir::alias::{is_free_view, ties};
use ir::opdef::{Strided, View};
use ir::window::Arrangement;
use ir::{Body, Context, Kind, Op, Target, Traits, Value};

/// What stands in the way of a value lying elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MoveObstacle {
    /// Why not, as a sentence about the value.
    pub(crate) reason: String,
    /// The operation that is the reason, if it is one.
    pub(crate) user: Option<Op>,
}

impl From<&str> for MoveObstacle {
    fn from(reason: &str) -> MoveObstacle {
        MoveObstacle { reason: reason.to_owned(), user: None }
    }
}

/// Whether all readers of a value, and of views of it, but for `but`, take it as `layout` says that it would
/// lie.
///
/// # Errors
/// The first one that does not.
pub(crate) fn check_readers(
    ctx: &Context,
    target: &dyn Target,
    body: &Body,
    value: Value,
    layout: &Strided,
    but: Option<Op>,
) -> Result<(), MoveObstacle> {
    for used in body.uses(value).filter(|used| Some(used.op) != but) {
        let op = body.at(ctx, used.op);
        let refuse =
            |what: &str| Err(MoveObstacle { reason: format!("`{}` {what}", op.name()), user: Some(used.op) });
        if op.has(Traits::TERMINATOR) || op.is_structured() {
            return refuse("hands it on");
        }
        if ties(op).next().is_some() {
            return refuse("overwrites it");
        }
        match op.kind() {
            Kind::View(View::OfOperand(map)) if is_free_view(op) => match map(op, 0, layout) {
                Some(layout) => check_readers(ctx, target, body, op.result(0), &layout, but)?,
                None => return refuse("merges axes that have gaps between them"),
            },
            _ => match Arrangement::of(layout) {
                Arrangement::Rows if !target.reads_rows(op, used.index) => {
                    return refuse("does not read it in rows");
                }
                Arrangement::Strides if !target.reads_strides(op, used.index) => {
                    return refuse("does not read it with these strides");
                }
                _ => {}
            },
        }
    }
    Ok(())
}

/// The operations that read a value, itself or through views that need no copy.
pub(crate) fn collect_readers(ctx: &Context, body: &Body, value: Value, readers: &mut Vec<Op>) {
    for used in body.uses(value) {
        if is_free_view(body.at(ctx, used.op)) {
            collect_readers(ctx, body, body.result(used.op, 0), readers)
        } else {
            readers.push(used.op)
        }
    }
}
