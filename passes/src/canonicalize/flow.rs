//! Rules for conditions and loops with known control flow.

use ir::opdef::RegionFlow;
use ir::{Block, Op, Region, Value};

use crate::rewrite::{Applied, Rewriter, Roots, Rule};

/// The rules.
pub(super) static RULES: &[Rule] = &[
    Rule::code(
        "if-of-constant",
        "An `if` on a constant is replaced by the region that runs.",
        Roots::Flow(RegionFlow::If),
        if_of_constant,
    ),
    Rule::code(
        "if-yields-same",
        "A result for which both regions yield the same value is that value.",
        Roots::Flow(RegionFlow::If),
        if_yields_same,
    ),
    Rule::code(
        "for-without-turns",
        "A loop without iterations is replaced by its initial values.",
        Roots::Flow(RegionFlow::For),
        for_without_turns,
    ),
    Rule::code(
        "for-of-one-turn",
        "A loop with one iteration is replaced by its body.",
        Roots::Flow(RegionFlow::For),
        for_of_one_turn,
    ),
    Rule::code(
        "for-carries-same",
        "A carried value that no iteration changes is its initial value.",
        Roots::Flow(RegionFlow::For),
        for_carries_same,
    ),
    Rule::code(
        "for-carries-unread",
        "A carried value that is never read is removed.",
        Roots::Flow(RegionFlow::For),
        for_carries_unread,
    ),
    Rule::code(
        "while-never",
        "A loop whose condition is constantly false runs its first region once.",
        Roots::Flow(RegionFlow::While),
        while_never,
    ),
];

/// The only block of a region.
fn only_block(rewriter: &Rewriter<'_>, region: Region) -> Option<Block> {
    match *rewriter.body().blocks(region) {
        [block] => Some(block),
        _ => None,
    }
}

/// The values passed on by the terminator of a region's only block.
fn handed(rewriter: &Rewriter<'_>, region: Region) -> Option<Vec<Value>> {
    let end = rewriter.body().last_op(only_block(rewriter, region)?)?;
    Some(rewriter.body().operands(end).collect())
}

fn if_of_constant(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    let body = rewriter.body();
    let holds = rewriter.integer(body.operand(op, 0))? != 0;
    let region = body.regions(op)[usize::from(!holds)];
    let values = match body.blocks(region) {
        [] => Vec::new(),
        &[block] => rewriter.inline_block(block, op, &[]),
        _ => return None,
    };
    Some(rewriter.replace(op, &values))
}

fn if_yields_same(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    let body = rewriter.body();
    let &[first, second] = body.regions(op) else { return None };
    let (first, second) = (handed(rewriter, first)?, handed(rewriter, second)?);
    let mut same = body.results(op).zip(first.into_iter().zip(second));
    let (result, (value, _)) = same.find(|(result, (a, b))| a == b && body.is_used(*result))?;
    Some(rewriter.forward(result, value))
}

/// The bounds and the step of a loop, if they are constants.
struct Bounds {
    lower: i128,
    upper: i128,
    step: i128,
}

impl Bounds {
    /// The bounds of a loop. For an unsigned loop, only numbers whose highest bit is clear count as known.
    fn of(rewriter: &Rewriter<'_>, op: Op) -> Option<Bounds> {
        let number = |index| rewriter.integer(rewriter.body().operand(op, index));
        let bounds = Bounds { lower: number(0)?, upper: number(1)?, step: number(2)? };
        let is_unsigned = rewriter.at(op).attr("unsignedCmp").is_some();
        let is_known = !is_unsigned || [bounds.lower, bounds.upper, bounds.step].iter().all(|n| *n >= 0);
        (is_known && bounds.step > 0).then_some(bounds)
    }
}

fn for_without_turns(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    let is_same = rewriter.body().operand(op, 0) == rewriter.body().operand(op, 1);
    if !is_same && Bounds::of(rewriter, op).is_none_or(|bounds| bounds.lower < bounds.upper) {
        return None;
    }
    let values: Vec<Value> = rewriter.body().operands(op).skip(3).collect();
    Some(rewriter.replace(op, &values))
}

fn for_of_one_turn(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    let Bounds { lower, upper, step } = Bounds::of(rewriter, op)?;
    if lower >= upper || upper - lower > step {
        return None;
    }
    let body = rewriter.body();
    let mut args = vec![body.operand(op, 0)];
    args.extend(body.operands(op).skip(3));
    let block = only_block(rewriter, body.regions(op)[0])?;
    let values = rewriter.inline_block(block, op, &args);
    Some(rewriter.replace(op, &values))
}

fn for_carries_same(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    let body = rewriter.body();
    let region = body.regions(op)[0];
    let block = only_block(rewriter, region)?;
    let handed = handed(rewriter, region)?;
    for (index, handed) in handed.into_iter().enumerate() {
        let arg = body.args(block)[index + 1];
        let initial = body.operand(op, index + 3);
        let result = body.result(op, index);
        let is_read =
            body.is_used(arg) && handed != arg || body.uses(arg).nth(1).is_some() || body.is_used(result);
        if (handed == arg || handed == initial) && is_read {
            rewriter.forward(arg, initial);
            return Some(rewriter.forward(result, initial));
        }
    }
    None
}

fn for_carries_unread(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    let body = rewriter.body();
    let region = body.regions(op)[0];
    let block = only_block(rewriter, region)?;
    let end = body.last_op(block)?;
    let is_unread = |index: &usize| {
        let arg = body.args(block)[index + 1];
        let mut readers = body.uses(arg);
        readers.all(|read| read.op == end && read.index == *index) && !body.is_used(body.result(op, *index))
    };
    let unread: Vec<usize> = (0..body.result_count(op)).filter(is_unread).collect();
    if unread.is_empty() {
        return None;
    }
    let kept: Vec<Value> =
        body.operands(end).enumerate().filter(|(index, _)| !unread.contains(index)).map(|e| e.1).collect();
    rewriter.update(end, |_, body| body.set_operands(end, &kept));
    let operands: Vec<usize> = unread.iter().map(|index| index + 3).collect();
    let op = rewriter.rebuild_without(op, &operands, &unread);
    Some(rewriter.update(op, |_, body| {
        unread.iter().rev().for_each(|index| body.remove_arg(block, index + 1));
    }))
}

fn while_never(rewriter: &mut Rewriter<'_>, op: Op) -> Option<Applied> {
    let body = rewriter.body();
    let before = only_block(rewriter, body.regions(op)[0])?;
    let condition = body.operand(body.last_op(before)?, 0);
    if rewriter.integer(condition)? != 0 {
        return None;
    }
    let args: Vec<Value> = body.operands(op).collect();
    let handed = rewriter.inline_block(before, op, &args);
    Some(rewriter.replace(op, &handed[1..]))
}
