//! Tables of a body under edits: their invariants hold.

use super::*;
use crate::context::Context;
use crate::plan::attrs;

fn body_with_block(ctx: &Context) -> (Body, Block, Value) {
    let mut body = Body::new(1);
    let block = body.add_block(body.root());
    let arg = body.add_arg(block, ctx.f32());
    (body, block, arg)
}

#[test]
fn replaced_uses_read_the_new_value_at_the_same_index() {
    let ctx = Context::new();
    let (mut body, block, arg) = body_with_block(&ctx);
    let name = ctx.op_name("t.op");
    let a = body.make_op(name, &[arg, arg], &[ctx.f32()], Location::UNKNOWN);
    let b = body.make_op(name, &[arg], &[], Location::UNKNOWN);
    body.append(a, block);
    body.append(b, block);
    let new = body.result(a, 0);
    body.set_operand(b, 0, new);
    assert_eq!(body.uses(new).map(|u| (u.op, u.index)).collect::<Vec<_>>(), [(b, 0)]);
    let other = body.add_arg(block, ctx.f32());
    body.replace_uses(arg, other);
    assert!(!body.is_used(arg));
    assert_eq!(body.operands(a).collect::<Vec<_>>(), [other, other]);
    assert!(body.has_one_use(new) && !body.has_one_use(other));
}

#[test]
fn more_operands_than_before_get_new_slots() {
    let ctx = Context::new();
    let (mut body, block, arg) = body_with_block(&ctx);
    let op = body.make_op(ctx.op_name("t.op"), &[arg], &[], Location::UNKNOWN);
    body.append(op, block);
    body.set_operands(op, &[arg, arg, arg]);
    assert_eq!(body.uses(arg).map(|u| u.index).collect::<Vec<_>>(), [2, 1, 0]);
    body.set_operands(op, &[]);
    assert!(!body.is_used(arg) && body.operand_count(op) == 0);
}

#[test]
fn order_survives_many_insertions_at_one_place() {
    let ctx = Context::new();
    let (mut body, block, _) = body_with_block(&ctx);
    let name = ctx.op_name("t.op");
    let make = |body: &mut Body| body.make_op(name, &[], &[], Location::UNKNOWN);
    let (first, last) = (make(&mut body), make(&mut body));
    body.append(first, block);
    body.append(last, block);
    for _ in 0..500 {
        let op = make(&mut body);
        body.insert_before(op, last);
        let op = make(&mut body);
        body.insert_after(op, first);
    }
    let ops: Vec<Op> = body.ops(block).collect();
    assert_eq!(ops.len(), 1002);
    assert!(is_in_order(&body, block));
}

fn is_in_order(body: &Body, block: Block) -> bool {
    let ops: Vec<Op> = body.ops(block).collect();
    ops.windows(2).all(|pair| body.is_before(pair[0], pair[1]) && !body.is_before(pair[1], pair[0]))
}

#[test]
fn order_survives_insertions_everywhere_in_a_long_block() {
    let ctx = Context::new();
    let (mut body, block, _) = body_with_block(&ctx);
    let name = ctx.op_name("t.op");
    let make = |body: &mut Body| body.make_op(name, &[], &[], Location::UNKNOWN);
    let mut ops = Vec::new();
    let mut number = 1u64;
    for step in 0..24_000 {
        number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let random = (number >> 33) as usize;
        let op = make(&mut body);
        match step / 3_000 {
            0 | 5 => body.append(op, block),
            1 => body.insert_before(op, ops[1_500]),
            2 => body.insert_after(op, ops[1_500]),
            3 => body.insert_before(op, body.first_op(block).expect("it has operations")),
            4 => body.insert_before(op, body.last_op(block).expect("it has operations")),
            _ => body.insert_after(op, ops[random % ops.len()]),
        }
        ops.push(op);
        if step % 500 == 0 {
            assert!(is_in_order(&body, block), "after step {step}");
        }
    }
    assert!(is_in_order(&body, block));
}

/// Otherwise many insertions at one place of a long block would take quadratic time.
#[test]
fn insertions_at_one_place_seldom_change_numbers_far_away() {
    let ctx = Context::new();
    let (mut body, block, _) = body_with_block(&ctx);
    let name = ctx.op_name("t.op");
    let make = |body: &mut Body| body.make_op(name, &[], &[], Location::UNKNOWN);
    let ops: Vec<Op> = (0..4_000).map(|_| make(&mut body)).collect();
    ops.iter().for_each(|op| body.append(*op, block));
    let mut last = body.ops[ops[3_999]].seq;
    let mut changes = 0;
    for _ in 0..2_000 {
        let op = make(&mut body);
        body.insert_before(op, ops[10]);
        changes += usize::from(body.ops[ops[3_999]].seq != last);
        last = body.ops[ops[3_999]].seq;
    }
    assert!(is_in_order(&body, block));
    assert!(changes < 20, "{changes} times");
}

#[test]
fn erasing_an_operation_erases_what_is_inside() {
    let ctx = Context::new();
    let (mut body, block, arg) = body_with_block(&ctx);
    let name = ctx.op_name("t.op");
    let outer = body.make_op(name, &[], &[], Location::UNKNOWN);
    body.append(outer, block);
    let region = body.add_op_region(outer);
    let inner_block = body.add_block(region);
    let producer = body.make_op(name, &[arg], &[ctx.f32()], Location::UNKNOWN);
    body.append(producer, inner_block);
    let reader = body.make_op(name, &[body.result(producer, 0)], &[], Location::UNKNOWN);
    body.append(reader, inner_block);
    assert_eq!(body.parent_op(reader), Some(outer));
    body.erase(outer);
    assert!(!body.is_used(arg) && body.first_op(block).is_none());
}

#[test]
fn a_child_takes_the_attributes_with_it() {
    let ctx = Context::new();
    let (mut body, block, _) = body_with_block(&ctx);
    let func = body.make_op(ctx.op_name("func.func"), &[], &[], Location::UNKNOWN);
    body.append(func, block);
    body.set_attr(&ctx, func, "sym_name", ctx.str_attr("f"));
    body.set_child(func, Body::new(1));
    body.set_attr(&ctx, func, attrs::OPTC_STAGE, ctx.str_attr("plan"));
    let child = body.child(func).unwrap();
    assert_eq!(child.symbol(&ctx), Some("f"));
    assert_eq!(child.properties, body.properties(func));
    assert!(child.own_attr(&ctx, ctx.ident(attrs::OPTC_STAGE)).is_some());
}

#[test]
fn regions_are_there_before_anything_is_in_them() {
    for count in [0, 1, 4, 5] {
        let mut body = Body::new(count);
        let added = [body.add_root(), body.add_root()];
        let roots = body.roots().to_vec();
        assert_eq!((roots.len(), &roots[count..]), (count + 2, &added[..]));
        assert!(roots.iter().all(|root| body.blocks(*root).is_empty() && body.owner_of(*root).is_none()));
        assert_eq!(body.clone().all_blocks().count() + body.children().count() + body.block_capacity(), 0);
        let block = body.add_block(added[1]);
        assert_eq!(body.roots(), roots);
        assert_eq!((body.blocks(added[1]), body.blocks(added[0])), (&[block][..], &[][..]));
    }
}

#[test]
fn children_are_found_in_text_order() {
    let ctx = Context::new();
    let (mut body, block, _) = body_with_block(&ctx);
    let name = ctx.op_name("t.op");
    let make = |body: &mut Body, block| {
        let op = body.make_op(name, &[], &[], Location::UNKNOWN);
        body.append(op, block);
        op
    };
    let (first, around, last) = (make(&mut body, block), make(&mut body, block), make(&mut body, block));
    let inner: Vec<Op> = (0..2)
        .map(|_| {
            let region = body.add_op_region(around);
            let block = body.add_block(region);
            make(&mut body, block)
        })
        .collect();
    let expected = [first, inner[0], inner[1], last];
    expected.iter().rev().for_each(|op| body.set_child(*op, Body::new(1)));
    assert_eq!(body.children().map(|(op, _)| op).collect::<Vec<_>>(), expected);
}
