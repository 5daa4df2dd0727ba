//! Branches: the operands that a terminator passes to each successor, and the successor that it chooses.
//!
//! The operands of a branch are in its row's order: first the condition, then the operands of each block.
//! Attributes give the number of operands for each block: `operandSegmentSizes`, and `case_operand_segments`
//! for the cases of a switch. The ranges are also stored with the successors, for passes; the verifier checks
//! that both agree.

use std::ops::Range;

use crate::attrs::AttrData;
use crate::body::{Body, OpRef, Successor};
use crate::context::Context;
use crate::entities::{Attr, Op};
use crate::interp::element::{Elem, read_all};
use crate::interp::{EvalError, Tensor, constant_value};
use crate::opdef::{Branch, Kind};

/// The operands passed to each successor, from attributes and kind; none if these contradict each other. If
/// an operation's kind is not [`Kind::Branch`], the last entries of `operandSegmentSizes` belong to the
/// successors. Without that attribute, a single successor gets the operands after all but the last of the
/// row's.
///
/// ```text
/// "cf.cond_br"(%c, %x, %x, %y)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 2>}>   =>   [1..2, 2..4]
/// ```
pub fn forwarded(op: OpRef<'_>) -> Option<Vec<Range<usize>>> {
    let successors = op.body.successors(op.op).len();
    let operands = op.operand_count();
    let segmented = segments(op, "operandSegmentSizes");
    if segmented.as_ref().is_some_and(|sizes| sizes.iter().sum::<usize>() != operands) {
        return None;
    }
    let sizes = match (op.kind(), segmented) {
        (Kind::Branch(Branch::Always), _) => vec![operands],
        (Kind::Branch(Branch::Switch), Some(sizes)) => {
            let [_, default, cases] = sizes[..] else { return None };
            let each = segments(op, "case_operand_segments")?;
            let fits = each.iter().sum::<usize>() == cases;
            fits.then(|| std::iter::once(default).chain(each).collect())?
        }
        (_, Some(sizes)) => sizes[sizes.len().checked_sub(successors)?..].to_vec(),
        (Kind::Branch(_), None) => return None,
        (_, None) if successors == 1 => {
            let own = op.def().map_or(operands, |def| def.operands.len().saturating_sub(1));
            vec![operands.checked_sub(own)?]
        }
        (_, None) => vec![0; successors],
    };
    let mut at = operands.checked_sub(sizes.iter().sum())?;
    let mut range = |size: usize| {
        at += size;
        at - size..at
    };
    (sizes.len() == successors).then(|| sizes.into_iter().map(&mut range).collect())
}

/// Stores the operands passed to each successor of `op`: none, if the attributes contradict each other.
pub fn settle(ctx: &Context, body: &mut Body, op: Op) {
    let count = body.successors(op).len();
    let ranges = forwarded(OpRef::new(ctx, body, op)).unwrap_or_else(|| vec![0..0; count]);
    let successors = body.successors(op).iter().zip(ranges).map(|(successor, range)| Successor {
        block: successor.block,
        first_operand: range.start as u32,
        operand_count: range.len() as u32,
    });
    let successors = successors.collect();
    body.set_successors(op, successors);
}

/// The index of the successor that a branch takes if operand 0 (if it has one) is `flag`.
///
/// # Errors
/// If the operation is not a branch, or its cases are not integers of at most 64 bits.
pub fn taken(op: OpRef<'_>, flag: Option<&Tensor>) -> Result<usize, EvalError> {
    let number = |value: &Tensor| Ok::<_, EvalError>(integers(op.ctx, value)?[0]);
    match (op.kind(), flag) {
        (Kind::Branch(Branch::Always), _) => Ok(0),
        (Kind::Branch(Branch::Condition), Some(flag)) => Ok(usize::from(number(flag)? == 0)),
        (Kind::Branch(Branch::Switch), Some(flag)) => {
            let flag = number(flag)?;
            let case = case_values(op)?.into_iter().position(|value| value == flag);
            Ok(case.map_or(0, |case| case + 1))
        }
        _ => Err("is no branch".into()),
    }
}

/// The values of a switch's cases.
///
/// # Errors
/// If they are not integers of at most 64 bits.
pub fn case_values(op: OpRef<'_>) -> Result<Vec<i64>, EvalError> {
    let Some(attr) = op.attr("case_values") else { return Ok(Vec::new()) };
    let ty = op.ctx.attr_type(attr).ok_or("`case_values` has no type")?;
    integers(op.ctx, &constant_value(op.ctx, attr, ty)?)
}

fn integers(ctx: &Context, value: &Tensor) -> Result<Vec<i64>, EvalError> {
    match Elem::of(ctx, value.ty)? {
        elem @ Elem::Int(_) => Ok(read_all::<i64>(elem, &value.bytes)),
        other => Err(format!("branches by integers, found {other:?}").into()),
    }
}

fn segments(op: OpRef<'_>, name: &str) -> Option<Vec<usize>> {
    sizes(op.ctx, op.attr(name)?)
}

/// The numbers of an `array<i32: ...>` of sizes.
pub fn sizes(ctx: &Context, attr: Attr) -> Option<Vec<usize>> {
    match ctx.attr_data(attr) {
        AttrData::DenseArray { elem, bytes } if *elem == ctx.int(32) => {
            let words =
                bytes.chunks_exact(4).map(|word| i32::from_le_bytes(word.try_into().expect("four bytes")));
            words.map(|size| usize::try_from(size).ok()).collect()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Checks the operands passed to the successors of the first operation of `@f(%c: i1, %x: f32, %i: i32)`,
    /// each as first operand and count.
    #[track_caller]
    fn check(branch: &str, expected: &[(u32, u32)]) {
        let ctx = Arc::new(Context::new());
        let blocks = "^bb1(%a: f32):\n return\n^bb2(%b: f32, %j: i32):\n return\n";
        let text = format!("func.func @f(%c: i1, %x: f32, %i: i32) {{\n {branch}\n{blocks}}}\n");
        let module = crate::text::parse(&ctx, "t", text).expect("the text has no faults");
        let (_, body) = module.functions().next().expect("a function");
        let op = body.first_op(body.entry(body.root()).expect("a block")).expect("a branch");
        let found = body.successors(op).iter();
        let found = found.map(|next| (next.first_operand, next.operand_count));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_jump_hands_over_all_its_operands() {
        check(r#""cf.br"(%x, %i)[^bb2] : (f32, i32) -> ()"#, &[(0, 2)]);
    }

    #[test]
    fn a_condition_is_for_no_block() {
        check(
            r#""cf.cond_br"(%c, %x, %x, %i)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 2>}> : (i1, f32, f32, i32) -> ()"#,
            &[(1, 1), (2, 2)],
        );
    }

    #[test]
    fn each_case_has_its_own_operands() {
        check(
            r#""cf.switch"(%i, %x, %x, %i, %x)[^bb1, ^bb2, ^bb1] <{case_operand_segments = array<i32: 2, 1>, case_values = dense<[3, 4]> : vector<2xi32>, operandSegmentSizes = array<i32: 1, 1, 3>}> : (i32, f32, f32, i32, f32) -> ()"#,
            &[(1, 1), (2, 2), (4, 1)],
        );
    }
}
