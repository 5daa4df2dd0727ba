//! The dominator tree: the blocks that every path to a block passes through.
//!
//! Block `a` *dominates* block `b` of its region if every path from the region's entry to `b` passes through
//! `a`. The nearest such block above `b` is its immediate dominator, and these form a tree. Values defined in
//! a block may be read in the blocks below it.
//!
//! Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001); quadratic at worst, linear
//! in practice. The tree is numbered from the top down, so a query costs O(1).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::body::Body;
use crate::entities::{Block, Region};

/// The dominator tree of a region, with the blocks that are reachable from its entry.
pub struct Dominators {
    /// The reachable blocks in reverse postorder.
    order: Vec<Block>,
    /// The immediate dominator of each block, as an index in `order`; the entry's is its own.
    idoms: Vec<usize>,
    /// For each block, the range of the tree numbers of the block and those below it.
    spans: Vec<(u32, u32)>,
    places: FxHashMap<Block, usize>,
}

impl Dominators {
    /// The dominator tree of a region.
    pub fn of(body: &Body, region: Region) -> Dominators {
        let order = body.entry(region).map_or_else(Vec::new, |entry| reverse_postorder(body, entry));
        let places: FxHashMap<Block, usize> =
            order.iter().enumerate().map(|(place, block)| (*block, place)).collect();
        let idoms = immediate_dominators(body, &order, &places);
        let spans = spans(&idoms);
        Dominators { order, idoms, spans, places }
    }

    /// The reachable blocks in reverse postorder: each block before its successors, except along back edges.
    pub fn reachable(&self) -> &[Block] {
        &self.order
    }

    /// Whether a block is reachable from the entry.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.places.contains_key(&block)
    }

    /// The immediate dominator of a block; none for the entry and for unreachable blocks.
    pub fn above(&self, block: Block) -> Option<Block> {
        let place = *self.places.get(&block)?;
        (place > 0).then(|| self.order[self.idoms[place]])
    }

    /// Whether `above` dominates `block`, or is the same block. An unreachable block is dominated by all.
    pub fn dominates(&self, above: Block, block: Block) -> bool {
        let Some(&block) = self.places.get(&block) else { return true };
        let Some(&above) = self.places.get(&above) else { return false };
        let (first, end) = self.spans[above];
        (first..end).contains(&self.spans[block].0)
    }

    /// The blocks in preorder of the tree: each after its immediate dominator, and directly followed by the
    /// blocks that it dominates.
    pub fn preorder(&self) -> Vec<Block> {
        let mut blocks: Vec<usize> = (0..self.order.len()).collect();
        blocks.sort_unstable_by_key(|place| self.spans[*place].0);
        blocks.into_iter().map(|place| self.order[place]).collect()
    }
}

/// The successors of a block in its region.
pub fn successors(body: &Body, block: Block) -> impl Iterator<Item = Block> + '_ {
    let last = body.last_op(block);
    let all = last.into_iter().flat_map(|last| body.successors(last)).map(|successor| successor.block);
    all.filter(move |next| body.region_of(*next) == body.region_of(block))
}

/// The immediate dominator of each block of an order, as an index in it.
fn immediate_dominators(body: &Body, order: &[Block], places: &FxHashMap<Block, usize>) -> Vec<usize> {
    let mut predecessors = vec![Vec::new(); order.len()];
    for (place, block) in order.iter().enumerate() {
        successors(body, *block).for_each(|next| predecessors[places[&next]].push(place));
    }
    let mut idoms: Vec<Option<usize>> = vec![None; order.len()];
    if let Some(entry) = idoms.first_mut() {
        *entry = Some(0);
    }
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for place in 1..order.len() {
            let known = predecessors[place].iter().copied().filter(|above| idoms[*above].is_some());
            let idom = known.reduce(|a, b| meet(&idoms, a, b));
            if idoms[place] != idom {
                idoms[place] = idom;
                has_changed = true;
            }
        }
    }
    idoms.into_iter().map(|idom| idom.expect("every block in the order can be reached")).collect()
}

/// The lowest block that dominates both blocks.
fn meet(idoms: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    let up = |block: usize| idoms[block].expect("a dominator was found");
    while a != b {
        while a > b {
            a = up(a);
        }
        while b > a {
            b = up(b);
        }
    }
    a
}

/// Numbers the tree from the top down: for each block its number, and the end of the numbers below it.
fn spans(idoms: &[usize]) -> Vec<(u32, u32)> {
    let mut sizes = vec![1u32; idoms.len()];
    // Dominators come before the blocks they dominate, so subtree sizes are summed from the end.
    for place in (1..idoms.len()).rev() {
        sizes[idoms[place]] += sizes[place];
    }
    let mut spans = vec![(0, 0); idoms.len()];
    let mut next_below = vec![0u32; idoms.len()];
    for place in 0..idoms.len() {
        let first = match place {
            0 => 0,
            _ => next_below[idoms[place]],
        };
        spans[place] = (first, first + sizes[place]);
        next_below[place] = first + 1;
        if place > 0 {
            next_below[idoms[place]] += sizes[place];
        }
    }
    spans
}

/// The blocks reachable from `entry`, in reverse postorder.
fn reverse_postorder(body: &Body, entry: Block) -> Vec<Block> {
    let mut seen = FxHashSet::default();
    let mut order = Vec::new();
    let mut stack = vec![(entry, successors(body, entry).collect::<Vec<_>>())];
    seen.insert(entry);
    while let Some((block, next)) = stack.last_mut() {
        match next.pop() {
            Some(below) if seen.insert(below) => stack.push((below, successors(body, below).collect())),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Successor;
    use crate::context::Context;
    use crate::entities::Location;

    /// Blocks with edges to the blocks named in each string: `["12", "3", "3", ""]` is a diamond.
    fn region(ways: &[&str]) -> (Body, Vec<Block>) {
        let ctx = Context::new();
        let mut body = Body::new(1);
        let blocks: Vec<Block> = ways.iter().map(|_| body.add_block(body.root())).collect();
        for (block, next) in blocks.iter().zip(ways) {
            let op = body.make_op(ctx.op_name("test.go"), &[], &[], Location::UNKNOWN);
            body.append(op, *block);
            let successor = |digit: char| Successor {
                block: blocks[digit.to_digit(10).unwrap() as usize],
                first_operand: 0,
                operand_count: 0,
            };
            body.set_successors(op, next.chars().map(successor).collect());
        }
        (body, blocks)
    }

    /// Checks the immediate dominator of each block (`-`: none).
    fn check(ways: &[&str], expected: &str) {
        let (body, blocks) = region(ways);
        let dominators = Dominators::of(&body, body.root());
        let number = |block: Block| blocks.iter().position(|other| *other == block).unwrap();
        let name = |block: &Block| dominators.above(*block).map_or("-".into(), |b| number(b).to_string());
        assert_eq!(blocks.iter().map(name).collect::<String>(), expected);
        for block in dominators.reachable() {
            let mut above = Some(*block);
            let mut line = Vec::new();
            while let Some(at) = above {
                line.push(at);
                above = dominators.above(at);
            }
            let found: Vec<bool> = blocks.iter().map(|other| dominators.dominates(*other, *block)).collect();
            let wanted: Vec<bool> = blocks.iter().map(|other| line.contains(other)).collect();
            assert_eq!(found, wanted, "what dominates block {}", number(*block));
        }
    }

    #[test]
    fn the_end_of_a_diamond_is_dominated_by_its_beginning() {
        check(&["12", "3", "3", ""], "-000");
    }

    #[test]
    fn a_loop_is_dominated_by_its_head() {
        check(&["1", "23", "1", "4", ""], "-0113");
    }

    #[test]
    fn a_way_into_the_middle_of_a_loop_takes_its_head_from_the_rest() {
        check(&["12", "2", "13", ""], "-002");
    }

    #[test]
    fn what_cannot_be_reached_has_nothing_above_it() {
        check(&["2", "2", ""], "--0");
        let (body, blocks) = region(&["2", "2", ""]);
        let dominators = Dominators::of(&body, body.root());
        assert!(dominators.dominates(blocks[2], blocks[1]) && !dominators.dominates(blocks[1], blocks[2]));
    }

    #[test]
    fn preorder_keeps_what_a_block_dominates_together() {
        let (body, blocks) = region(&["14", "2", "3", "", "5", ""]);
        assert_eq!(Dominators::of(&body, body.root()).preorder(), blocks);
    }
}
