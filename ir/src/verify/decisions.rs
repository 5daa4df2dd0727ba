//! Memory attributes: whether they have the form that later stages read, with numbers of existing operands,
//! places of a pool and bytes, and names of pools.
//!
//! The checker decides whether a plan is right; readers of a planned text may rely on its form.

use super::Checker;
use crate::body::OpRef;
use crate::entities::Attr;
use crate::plan::attrs;
use crate::text::short_attr;

/// Whether an attribute of an operation has the right form.
type FormFn = fn(OpRef<'_>, Attr) -> bool;

/// The checked attributes, each with a description and a check of its form.
const FORMS: [(&str, &str, FormFn); 8] = [
    (attrs::MEM_TIE, "a list with an operand's number for each result, or -1", |op, attr| {
        let results = op.body.result_count(op.op);
        numbers(op, attr).is_some_and(|ties| {
            ties.len() <= results && ties.iter().all(|tie| *tie == -1 || is_operand(op, *tie))
        })
    }),
    (attrs::MEM_PARTS, "a list of operands' numbers", |op, attr| {
        numbers(op, attr).is_some_and(|parts| parts.iter().all(|part| is_operand(op, *part)))
    }),
    (
        attrs::MEM_OVERLAP,
        "an operand's number and how many rows are written at a time",
        |op, attr| matches!(numbers(op, attr).as_deref(), Some([operand, rows]) if is_operand(op, *operand) && *rows != 0),
    ),
    (
        attrs::MEM_PITCH,
        "the bytes of a row, and those from row to row",
        |op, attr| matches!(numbers(op, attr).as_deref(), Some([row, pitch]) if 0 < *row && *row <= *pitch),
    ),
    (attrs::MEM_METHOD, "the name of an algorithm", |op, attr| op.ctx.str_value(attr).is_some()),
    (attrs::MEM_SCRATCH, "a number of bytes", |op, attr| {
        op.ctx.int_value(attr).is_some_and(|bytes| bytes >= 0)
    }),
    (attrs::MEM_PLACE, "for each result, then for scratch, a pool, an offset and bytes", |op, attr| {
        let places = op.ctx.array_value(attr);
        places.is_some_and(|places| {
            places.len() <= op.body.result_count(op.op) + 1 && places.iter().all(|place| is_place(op, *place))
        })
    }),
    (attrs::MEM_POOL, "a list of names of pools", |op, attr| {
        op.ctx
            .array_value(attr)
            .is_some_and(|names| names.iter().all(|name| op.ctx.str_value(*name).is_some()))
    }),
];

fn numbers(op: OpRef<'_>, attr: Attr) -> Option<Vec<i64>> {
    op.ctx.ints_value(attr)
}

fn is_operand(op: OpRef<'_>, number: i64) -> bool {
    usize::try_from(number).is_ok_and(|number| number < op.operand_count())
}

fn is_place(op: OpRef<'_>, place: Attr) -> bool {
    let Some([pool, numbers @ ..]) = op.ctx.array_value(place) else { return false };
    let is_number = |number: &Attr| op.ctx.int_value(*number).is_some();
    op.ctx.str_value(*pool).is_some() && [2, 5].contains(&numbers.len()) && numbers.iter().all(is_number)
}

impl<'m> Checker<'m> {
    /// Each memory attribute of an operation has the right form.
    pub(super) fn decisions(&mut self, op: OpRef<'m>) {
        for (name, value) in self.ctx.dict_entries(op.body.attrs(op.op)) {
            let name = self.ctx.str(*name);
            let Some((_, form, is_right)) = FORMS.iter().find(|(known, ..)| *known == name) else { continue };
            if !is_right(op, *value) {
                let found = short_attr(self.ctx, *value);
                self.breach(op.body, op.op, format!("`{name}` is {form}, found `{found}`"));
            }
        }
    }
}
