//! Places for scratch in the gaps of a placement: all other buffers stay where they are.
//!
//! The scratch of a step is needed at that step alone, so the places of two steps do not depend on each
//! other: each step gets its largest gap.

use std::ops::Range;

use cranelift_entity::PrimaryMap;
use ir::alias::AliasSets;
use ir::plan::attrs;
use ir::{Body, Context, Diagnostic, Op};
use rustc_hash::FxHashMap;

use super::{ALIGN_BYTES, ArenaProblem, BufferContent};
use crate::place::{Buffer, BufferId, Placement, lower_bound};

/// The place of the scratch of each of these steps in the gaps of a placement, as large as in `problem` if
/// possible. `least` has the bytes that a step needs at least; none if there is no gap of that size.
pub(super) fn scratch_in_gaps(
    problem: &ArenaProblem<'_>,
    (usual, placement): (&ArenaProblem<'_>, &Placement),
    least: &FxHashMap<Op, u64>,
) -> Option<Vec<(Op, Range<u64>)>> {
    let is_moved =
        |content: &BufferContent| matches!(content, BufferContent::Scratch(op) if least.contains_key(op));
    let stay = usual.contents.iter().filter(|(_, content)| !is_moved(content));
    let mut stay: Vec<(Buffer, u64)> =
        stay.map(|(id, _)| (usual.problem.buffers[id], placement.offsets[id])).collect();
    stay.sort_by_key(|(_, offset)| *offset);
    let mut places = Vec::new();
    for (id, content) in &problem.contents {
        let BufferContent::Scratch(op) = *content else { continue };
        let Some(least) = least.get(&op) else { continue };
        let scratch = problem.problem.buffers[id];
        let gap = largest_gap(&stay, &scratch, placement.size_bytes);
        let bytes = scratch.size_bytes.min(gap.end - gap.start) / ALIGN_BYTES * ALIGN_BYTES;
        if bytes < *least {
            return None;
        }
        places.push((op, gap.start..gap.start + bytes));
    }
    Some(places)
}

/// The largest gap between the buffers that are alive with `scratch`, given in order of their offsets.
fn largest_gap(buffers: &[(Buffer, u64)], scratch: &Buffer, size_bytes: u64) -> Range<u64> {
    let is_alive = |(buffer, _): &&(Buffer, u64)| {
        buffer.size_bytes > 0 && buffer.first <= scratch.last && scratch.first <= buffer.last
    };
    let mut largest = 0..0;
    let mut end = 0u64;
    let alive = buffers.iter().filter(is_alive).map(|(buffer, offset)| (*offset, buffer.size_bytes));
    for (offset, bytes) in alive.chain([(size_bytes, 0)]) {
        let start = end.next_multiple_of(scratch.align);
        if offset > start && offset - start > largest.end - largest.start {
            largest = start..offset;
        }
        end = end.max(offset + bytes);
    }
    largest
}

/// Gives the steps this scratch, in these places, and leaves all other buffers where they are.
///
/// # Errors
/// If a size is not known.
pub(super) fn place<'a>(
    ctx: &Context,
    body: &mut Body,
    (usual, placement): (&ArenaProblem<'_>, &Placement),
    scratch: Vec<(Op, Range<u64>)>,
    aliases: &'a AliasSets,
) -> Result<(ArenaProblem<'a>, Placement), Vec<Diagnostic>> {
    let mut places: FxHashMap<BufferContent, u64> =
        usual.contents.iter().map(|(id, content)| (*content, placement.offsets[id])).collect();
    for (op, place) in scratch {
        body.set_attr(ctx, op, attrs::MEM_SCRATCH, ctx.int_attr((place.end - place.start) as i64));
        places.insert(BufferContent::Scratch(op), place.start);
    }
    let problem = ArenaProblem::of(ctx, body, aliases)?;
    let offsets: PrimaryMap<BufferId, u64> =
        problem.contents.values().map(|content| places[content]).collect();
    let ends = problem.problem.buffers.iter().map(|(id, buffer)| offsets[id] + buffer.size_bytes);
    let size_bytes = ends.max().unwrap_or(0);
    let lower_bound_bytes = lower_bound(&problem.problem);
    let proved_best = size_bytes == lower_bound_bytes;
    let placement =
        Placement { offsets, size_bytes, lower_bound_bytes, proved_best, planner: placement.planner };
    Ok((problem, placement))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cranelift_entity::EntityRef;

    use super::*;
    use crate::place::checker::check_placement;
    use crate::place::{Placer, Step};

    #[test]
    fn scratch_gets_the_largest_gap_and_all_else_stays() {
        let ctx = Arc::new(Context::new());
        let text = "func.func @main(%x: tensor<1024xf32>) -> tensor<f32> {
  %0 = nn.neg %x {mem.scratch = 16384 : i64} : tensor<1024xf32>
  %1 = nn.abs %0 : tensor<1024xf32>
  %2 = nn.exp %1 : tensor<1024xf32>
  %3 = nn.reduce_mean %2 {axes = array<i64: 0>} : (tensor<1024xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}";
        let mut module = ir::text::parse(&ctx, "gaps.mlir", text.to_owned()).expect("it is read");
        let body = module.function_mut("main").expect("it is there");
        let aliases = AliasSets::of(&ctx, body);
        let usual = ArenaProblem::of(&ctx, body, &aliases).expect("its sizes are known");
        let placer = Placer::named("auto").expect("it is a planner");
        let placement = placer.place(&usual.problem);
        assert_eq!(placement.size_bytes, 4096 + 16384);
        let mut found = None;
        ir::flow::walk(&ctx, body, |op| {
            found = found.or((body.at(&ctx, op).name() == "nn.abs").then_some(op))
        });
        let op = found.expect("it is there");
        body.set_attr(&ctx, op, attrs::MEM_SCRATCH, ctx.int_attr(20_000));
        let problem = ArenaProblem::of(&ctx, body, &aliases).expect("its sizes are known");
        let in_gaps = |least: u64| {
            scratch_in_gaps(&problem, (&usual, &placement), &[(op, least)].into_iter().collect())
        };
        assert_eq!(in_gaps(16384), None, "two tensors are alive, too");
        let places = in_gaps(4096).expect("the gap is larger");
        let (problem, found) = place(&ctx, body, (&usual, &placement), places, &aliases).expect("as before");
        assert_eq!(check_placement(&problem.problem, &found), []);
        assert!(found.size_bytes <= placement.size_bytes, "{found:?}");
        let scratch = attrs::scratch_bytes(body.at(&ctx, op)).expect("it has scratch");
        assert!((4096..=12288).contains(&scratch), "{scratch} bytes");
    }

    /// A buffer that is alive at the steps `first..=last`.
    fn buffer(first: u32, last: u32, size_bytes: u64) -> Buffer {
        let [first, last] = [first, last].map(|step| Step::new(step as usize));
        Buffer { first, last, size_bytes, align: 64, pin: None }
    }

    #[test]
    fn a_gap_is_beneath_between_or_above_what_is_alive() {
        let gap = |buffers: &[(Buffer, u64)]| largest_gap(buffers, &buffer(3, 3, 256), 1024);
        assert_eq!(gap(&[]), 0..1024);
        assert_eq!(gap(&[(buffer(0, 2, 1024), 0), (buffer(4, 9, 1024), 0)]), 0..1024, "not alive");
        assert_eq!(gap(&[(buffer(3, 9, 64), 640)]), 0..640);
        assert_eq!(gap(&[(buffer(0, 3, 256), 0), (buffer(3, 3, 256), 256)]), 512..1024);
        assert_eq!(gap(&[(buffer(0, 9, 256), 0), (buffer(1, 3, 128), 896)]), 256..896);
        assert_eq!(gap(&[(buffer(0, 9, 100), 0), (buffer(1, 3, 24), 1000)]), 128..1000, "aligned");
        assert_eq!(gap(&[(buffer(0, 9, 1024), 0), (buffer(1, 3, 64), 64)]), 0..0, "one inside another");
        assert_eq!(gap(&[(buffer(0, 9, 0), 512)]), 0..1024, "a buffer without bytes");
    }
}
