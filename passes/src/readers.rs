//! Readers of a value: do they all support its layout?
//!
//! A value with gaps or other strides is read by the operations that use it and by those that use views of
//! it. The layout is impossible if one of them passes the value on, overwrites it, or has a kernel that does
//! not support such an operand.

use ir::alias::{is_free_view, ties};
use ir::opdef::{Strided, View};
use ir::window::Arrangement;
use ir::{Body, Context, Kind, Op, Target, Traits, Value};

/// An obstacle to another layout of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MoveObstacle {
    /// The reason, as a sentence about the value.
    pub(crate) reason: String,
    /// The operation that causes it, if any.
    pub(crate) user: Option<Op>,
}

impl From<&str> for MoveObstacle {
    fn from(reason: &str) -> MoveObstacle {
        MoveObstacle { reason: reason.to_owned(), user: None }
    }
}

/// Whether all readers of a value and of views of it, except `but`, support the layout `layout`.
///
/// # Errors
/// The first obstacle.
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

/// Whether all readers of a value and of views of it copy it before they compute.
pub(crate) fn read_a_copy(ctx: &Context, target: &dyn Target, body: &Body, value: Value) -> bool {
    body.uses(value).all(|used| {
        let op = body.at(ctx, used.op);
        match is_free_view(op) {
            true => read_a_copy(ctx, target, body, body.result(used.op, 0)),
            false => target.reads_a_copy(op, used.index),
        }
    })
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
