//! Which parts are copied so that their root dies before the peak, and which are not?

use std::sync::Arc;

use super::*;
use crate::manager::PlainTarget;

/// A part of 256 bytes, of a value of 2048 bytes without other readers after the peak of 32 KiB.
const LATE: &str = "
func.func @main(%x: tensor<8x64xf32>, %y: tensor<8x1024xf32>) -> tensor<1x64xf32> {
  %0 = nn.exp %x : tensor<8x64xf32>
  %1 = nn.slice %0 {sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>}
    : (tensor<8x64xf32>) -> tensor<1x64xf32>
  %2 = nn.reduce_max %0 {axes = array<i64: 1>, keepdims} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %3 = nn.add %2, %y : (tensor<8x1xf32>, tensor<8x1024xf32>) -> tensor<8x1024xf32>
  %4 = nn.reduce_max %3 {axes = array<i64: 0, 1>, keepdims} : (tensor<8x1024xf32>) -> tensor<1x1xf32>
  %5 = nn.mul %4, %1 : (tensor<1x1xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  return %5 : tensor<1x64xf32>
}";

/// The number of copied parts. Their readers then come after the copies, which come before the peak.
fn copies(text: &str) -> usize {
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "parts.mlir", text.to_owned());
    let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
    let mut body = module.function("main").expect("it is there").clone();
    let remarks = copy_late_parts(&ctx, &PlainTarget, &mut body);
    if let Err(faults) = ir::verify::verify_body(&ctx, &body) {
        panic!("{}", faults[0].render(&ctx));
    }
    let block = crate::edit::entry(&body).expect("it has a block");
    let names: Vec<&str> = body.ops(block).map(|op| body.at(&ctx, op).name()).collect();
    let count = names.iter().filter(|name| **name == "optc.copy").count();
    let peak = names.iter().position(|name| *name == "nn.add");
    assert!(names.iter().rposition(|name| *name == "optc.copy") < peak, "{names:?}");
    assert_eq!(remarks.len(), count);
    count
}

#[test]
fn a_part_is_copied_wherever_its_views_stand() {
    assert_eq!(copies(LATE), 1);
    let view = "%1 = nn.slice %0 {sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>}
    : (tensor<8x64xf32>) -> tensor<1x64xf32>\n";
    let without = LATE.replace(&format!("  {view}"), "");
    assert!(without != LATE);
    let below = without.replace("%5 = nn.mul", &format!("{view}  %5 = nn.mul"));
    assert_eq!(copies(&below), 1, "the view stands after the peak");
    let flat = LATE.replace(
        "%5 = nn.mul %4, %1 : (tensor<1x1xf32>, tensor<1x64xf32>)",
        "%6 = nn.reshape %1 {shape = array<i64: 64>} : (tensor<1x64xf32>) -> tensor<64xf32>
  %5 = nn.mul %4, %6 : (tensor<1x1xf32>, tensor<64xf32>)",
    );
    assert!(flat != LATE);
    assert_eq!(copies(&flat), 1, "it is read through a view of it");
}

#[test]
fn a_part_is_not_copied_where_the_whole_stays() {
    let again = LATE.replace(
        "  return %5 : tensor<1x64xf32>",
        "  %6 = nn.reduce_max %0 {axes = array<i64: 0>, keepdims} : (tensor<8x64xf32>) -> tensor<1x64xf32>
  %7 = nn.mul %5, %6 : tensor<1x64xf32>
  return %7 : tensor<1x64xf32>",
    );
    assert!(again != LATE);
    assert_eq!(copies(&again), 0, "the whole is read late, too");
    let input = LATE.replace("nn.slice %0", "nn.slice %x").replace("nn.reduce_max %0", "nn.reduce_max %x");
    assert_eq!(copies(&input), 0, "the caller has its bytes");
    let weight = LATE.replace("%0 = nn.exp %x", "%0 = nn.constant dense<0.5>");
    assert_eq!(copies(&weight), 0, "it has no place in the arena");
}

#[test]
fn what_is_read_before_the_peak_is_not_copied() {
    let early = LATE.replace("%4, %1 :", "%4, %6 :").replace(
        "  %3 = nn.add",
        "  %6 = nn.neg %1 : tensor<1x64xf32>
  %3 = nn.add",
    );
    assert_eq!(copies(&early), 0);
}

#[test]
fn as_many_bytes_as_die_are_not_copied() {
    let two = |rows: usize| {
        let part = format!("tensor<{rows}x64xf32>");
        let slice = |first: usize| {
            format!(
                "nn.slice %0 {{sizes = array<i64: {rows}, 64>, starts = array<i64: {first}, 0>}}
    : (tensor<8x64xf32>) -> {part}"
            )
        };
        format!(
            "
func.func @main(%x: tensor<8x64xf32>, %y: tensor<8x1024xf32>) -> {part} {{
  %0 = nn.exp %x : tensor<8x64xf32>
  %1 = {first}
  %6 = {second}
  %2 = nn.reduce_max %0 {{axes = array<i64: 1>, keepdims}} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %3 = nn.add %2, %y : (tensor<8x1xf32>, tensor<8x1024xf32>) -> tensor<8x1024xf32>
  %4 = nn.reduce_max %3 {{axes = array<i64: 0, 1>, keepdims}} : (tensor<8x1024xf32>) -> tensor<1x1xf32>
  %7 = nn.mul %1, %6 : {part}
  %5 = nn.mul %4, %7 : (tensor<1x1xf32>, {part}) -> {part}
  return %5 : {part}
}}",
            first = slice(0),
            second = slice(8 - rows),
        )
    };
    assert_eq!(copies(&two(1)), 2);
    assert_eq!(copies(&two(3)), 2, "1536 of 2048 bytes");
    assert_eq!(copies(&two(4)), 0, "all 2048 bytes");
    let reshape = LATE.replace(
        "nn.slice %0 {sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>}
    : (tensor<8x64xf32>) -> tensor<1x64xf32>",
        "nn.reshape %0 {shape = array<i64: 1, 512>} : (tensor<8x64xf32>) -> tensor<1x512xf32>",
    );
    let reshape = reshape.replace("tensor<1x64xf32>", "tensor<1x512xf32>");
    assert!(reshape.contains("nn.reshape"));
    assert_eq!(copies(&reshape), 0, "the whole in another shape is no part");
}

/// The cuts of a function: the operation before the copies, the number of copies, and the bytes saved.
fn found(text: &str) -> Vec<(String, usize, u64)> {
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "parts.mlir", text.to_owned());
    let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
    let body = module.function("main").expect("it is there");
    let told = |cut: &Cut| (body.at(&ctx, cut.after).name().to_owned(), cut.parts.len(), cut.saved_bytes);
    cuts(&ctx, body, usize::MAX).iter().map(told).collect()
}

#[test]
fn a_cut_is_after_the_last_that_reads_more_than_parts() {
    assert_eq!(found(LATE), [("nn.reduce_max".to_owned(), 1, 2048 - 256)]);
    let only = LATE.replace("nn.reduce_max %0", "nn.reduce_max %x");
    assert!(only != LATE);
    assert_eq!(found(&only), [("nn.exp".to_owned(), 1, 2048 - 256)], "nothing else reads the whole");
    let part_of_part = LATE.replace(
        "%5 = nn.mul %4, %1 : (tensor<1x1xf32>, tensor<1x64xf32>)",
        "%6 = nn.slice %1 {sizes = array<i64: 1, 1>, starts = array<i64: 0, 3>}
    : (tensor<1x64xf32>) -> tensor<1x1xf32>
  %7 = nn.mul %4, %6 : tensor<1x1xf32>
  %8 = nn.slice %x {sizes = array<i64: 1, 64>, starts = array<i64: 0, 0>}
    : (tensor<8x64xf32>) -> tensor<1x64xf32>
  %5 = nn.mul %7, %8 : (tensor<1x1xf32>, tensor<1x64xf32>)",
    );
    assert!(part_of_part != LATE);
    let whole = [("nn.reduce_max".to_owned(), 1, 2048 - 256)];
    assert_eq!(found(&part_of_part), whole, "the part of the whole itself is copied");
}

#[test]
fn the_cut_that_saves_most_comes_first() {
    let slice = "{sizes = array<i64: 1, 64>, starts = array<i64: 2, 0>}";
    let text = format!(
        "
func.func @main(%x: tensor<8x64xf32>, %y: tensor<16x64xf32>) -> tensor<1x64xf32> {{
  %0 = nn.exp %x : tensor<8x64xf32>
  %1 = nn.slice %0 {slice} : (tensor<8x64xf32>) -> tensor<1x64xf32>
  %2 = nn.neg %0 : tensor<8x64xf32>
  %3 = nn.exp %y : tensor<16x64xf32>
  %4 = nn.slice %3 {slice} : (tensor<16x64xf32>) -> tensor<1x64xf32>
  %5 = nn.abs %3 : tensor<16x64xf32>
  %6 = nn.mul %1, %4 : tensor<1x64xf32>
  return %6 : tensor<1x64xf32>
}}"
    );
    let expected = [("nn.abs".to_owned(), 1, 4096 - 256), ("nn.neg".to_owned(), 1, 2048 - 256)];
    assert_eq!(found(&text), expected);
}

/// The cuts of one root by their definition: after each of its readers but the last, the parts with late uses
/// are copied if that is less than the root and all later readers read only these uses.
fn by_definition(ctx: &Context, body: &Body, root: Value) -> Vec<Cut> {
    let block = crate::edit::entry(body).expect("it has a block");
    let mut readers = Vec::new();
    assert!(readers_of(ctx, body, root, block, &mut readers), "all is in one block");
    let is_reader = |op: &Op| readers.contains(op) || body.defining_op(root) == Some(*op);
    let readers: Vec<Op> = body.ops(block).filter(is_reader).collect();
    let bytes = |value: Value| ir::size::tensor_bytes(ctx, body.ty(value)).expect("sizes are known");
    let slices = body.ops(block).filter(|op| body.at(ctx, *op).name() == "nn.slice");
    let parts: Vec<Value> = slices.map(|op| body.result(op, 0)).collect();
    let mut cuts = Vec::new();
    for (at, after) in readers.iter().enumerate().take(readers.len() - 1) {
        let uses = |part: &Value| late_uses(ctx, body, *part, block, *after);
        let late: Vec<Value> = parts.iter().copied().filter(|part| !uses(part).is_empty()).collect();
        let mut covered = Vec::new();
        for (op, _) in late.iter().flat_map(uses) {
            readers_through(ctx, body, op, block, &mut covered);
        }
        let copied = late.iter().copied().map(bytes).sum::<u64>();
        let is_all = readers[at + 1..].iter().all(|reader| covered.contains(reader));
        if copied < bytes(root) && !late.is_empty() && is_all {
            cuts.push(Cut { after: *after, parts: late, saved_bytes: bytes(root) - copied });
        }
    }
    cuts.sort_by_key(|cut| Reverse(cut.saved_bytes));
    cuts
}

/// A value, and random slices, reshapes of slices, and readers of all of these.
fn random_program(random: &mut impl FnMut(usize) -> usize) -> String {
    const WHOLE: &str = "tensor<8x64xf32>";
    let mut lines = vec![format!("%r = nn.exp %x : {WHOLE}")];
    let mut views: Vec<(String, &str)> = Vec::new();
    for number in 0..4 + random(12) {
        let (rows, ty) =
            [(1, "tensor<1x64xf32>"), (1, "tensor<1x64xf32>"), (3, "tensor<3x64xf32>")][random(3)];
        let start = random(9 - rows);
        match (random(6), views.is_empty()) {
            (0 | 1, _) | (3.., true) => {
                let window = format!("sizes = array<i64: {rows}, 64>, starts = array<i64: {start}, 0>");
                lines.push(format!("%{number} = nn.slice %r {{{window}}} : ({WHOLE}) -> {ty}"));
                views.push((format!("%{number}"), ty));
            }
            (2, _) => lines.push(format!("%{number} = nn.neg %r : {WHOLE}")),
            (3, false) => {
                let (of, ty) = &views[random(views.len())];
                let shape = if ty.contains("<1x") { "1, 1, 64" } else { "1, 3, 64" };
                let to = ty.replace('<', "<1x");
                lines.push(format!(
                    "%{number} = nn.reshape {of} {{shape = array<i64: {shape}>}} : ({ty}) -> {to}"
                ));
                lines.push(format!("%n{number} = nn.neg %{number} : {to}"));
            }
            _ => {
                let (a, ty) = views[random(views.len())].clone();
                let (b, _) = views[random(views.len())].clone();
                let is_alike = views.contains(&(b.clone(), ty));
                let b = if is_alike { b } else { a.clone() };
                lines.push(format!("%{number} = nn.add {a}, {b} : {ty}"));
            }
        }
    }
    lines.push(format!("return %x : {WHOLE}"));
    format!("func.func @main(%x: {WHOLE}) -> {WHOLE} {{\n  {}\n}}", lines.join("\n  "))
}

#[test]
fn the_cuts_of_random_programs_are_those_of_the_definition() {
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let mut count = 0;
    for _ in 0..500 {
        let text = random_program(&mut random);
        let ctx = Arc::new(Context::new());
        let module = ir::text::parse(&ctx, "parts.mlir", text.clone());
        let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
        let body = module.function("main").expect("it is there");
        let block = crate::edit::entry(body).expect("it has a block");
        let root = body.result(body.first_op(block).expect("it makes the root"), 0);
        let expected = by_definition(&ctx, body, root);
        count += expected.len();
        assert_eq!(cuts(&ctx, body, usize::MAX), expected, "{text}");
        assert_eq!(cuts(&ctx, body, 2), expected[..expected.len().min(2)], "{text}");
    }
    assert!(count > 500, "{count} cuts");
}
