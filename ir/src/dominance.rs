//! The dominator tree: the blocks that every path to a block passes through.
//!
//! Block `a` *dominates* block `b` of its region if every path from the region's entry to `b` passes through
//! `a`. The nearest such block above `b` is its immediate dominator, and these form a tree. Values defined in
//! a block may be read in the blocks below it.
//!
//! Source: Lengauer, Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph" (1979), the simpler of
//! its two versions: m log n steps for m edges between n blocks, whatever the graph. The tree is numbered
//! from the top down, so a query costs O(1).

use rustc_hash::FxHashMap;

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
        let BlockSearch { found, numbers, parents, order } = BlockSearch::of(body, body.entry(region));
        let mut edges = Vec::with_capacity(2 * found.len());
        for (number, block) in found.iter().enumerate() {
            edges.extend(successors(body, *block).map(|next| (numbers[&next], number)));
        }
        let above = immediate_dominators(&parents, edges);
        let places: FxHashMap<Block, usize> =
            order.iter().enumerate().map(|(place, block)| (*block, place)).collect();
        let idoms: Vec<usize> = order.iter().map(|block| places[&found[above[numbers[block]]]]).collect();
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

/// The immediate dominator of each block. Blocks are numbers in the order in which a depth-first search finds
/// them; `parents` are the blocks from which it did, and `edges` are pairs of a block and one before it.
fn immediate_dominators(parents: &[usize], mut edges: Vec<(usize, usize)>) -> Vec<usize> {
    let count = parents.len();
    edges.sort_unstable();
    let mut forest = Forest::new(count);
    let mut idoms = vec![0; count];
    // For each block, the last found of those whose semidominator it is and whose dominators are not known;
    // and the next such block after each.
    let mut waiting = vec![None; count];
    let mut next_waiting = vec![None; count];
    for block in (1..count).rev() {
        while let Some((_, before)) = edges.pop_if(|(to, _)| *to == block) {
            let lowest = forest.lowest(before);
            forest.semis[block] = forest.semis[block].min(forest.semis[lowest]);
        }
        next_waiting[block] = waiting[forest.semis[block]].replace(block);
        let parent = parents[block];
        forest.parents[block] = Some(parent);
        let mut next = waiting[parent].take();
        while let Some(below) = next {
            let lowest = forest.lowest(below);
            let is_lower = forest.semis[lowest] < forest.semis[below];
            idoms[below] = if is_lower { lowest } else { parent };
            next = next_waiting[below];
        }
    }
    for block in 1..count {
        if idoms[block] != forest.semis[block] {
            idoms[block] = idoms[idoms[block]];
        }
    }
    idoms
}

/// The part of the search's tree that is done, from its leaves up, with paths shortened.
struct Forest {
    /// A block above, in the same tree of the forest; none for a root.
    parents: Vec<Option<usize>>,
    /// The first block from which a path through later ones alone leads to each block, as far as it is known.
    semis: Vec<usize>,
    /// The block of the least semidominator from each block up to below the block in `parents`.
    lowest: Vec<usize>,
    path: Vec<usize>,
}

impl Forest {
    fn new(count: usize) -> Forest {
        let itself: Vec<usize> = (0..count).collect();
        Forest { parents: vec![None; count], semis: itself.clone(), lowest: itself, path: Vec::new() }
    }

    /// The block of the least semidominator from a block up to below the root of its tree.
    fn lowest(&mut self, block: usize) -> usize {
        self.path.clear();
        let mut at = block;
        while let Some(parent) = self.parents[at]
            && self.parents[parent].is_some()
        {
            self.path.push(at);
            at = parent;
        }
        while let Some(at) = self.path.pop() {
            let Some(parent) = self.parents[at] else { continue };
            if self.semis[self.lowest[parent]] < self.semis[self.lowest[at]] {
                self.lowest[at] = self.lowest[parent];
            }
            self.parents[at] = self.parents[parent];
        }
        self.lowest[block]
    }
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

/// A depth-first search for the blocks of a region that can be reached.
#[derive(Default)]
struct BlockSearch {
    /// The blocks in the order in which they are found.
    found: Vec<Block>,
    /// The index of each block in `found`.
    numbers: FxHashMap<Block, usize>,
    /// For each of them, the number of the block from which it was found; the entry's is its own.
    parents: Vec<usize>,
    /// The blocks in reverse postorder.
    order: Vec<Block>,
}

impl BlockSearch {
    fn of(body: &Body, entry: Option<Block>) -> BlockSearch {
        let mut search = BlockSearch::default();
        // The numbers of blocks whose successors are not all searched, with those that are left.
        let mut stack = Vec::new();
        if let Some(entry) = entry {
            search.enter(body, entry, 0, &mut stack);
        }
        while let Some((number, next)) = stack.last_mut() {
            let number = *number;
            match next.pop() {
                Some(below) if !search.numbers.contains_key(&below) => {
                    search.enter(body, below, number, &mut stack);
                }
                Some(_) => {}
                None => {
                    search.order.push(search.found[number]);
                    stack.pop();
                }
            }
        }
        search.order.reverse();
        search
    }

    fn enter(&mut self, body: &Body, block: Block, parent: usize, stack: &mut Vec<(usize, Vec<Block>)>) {
        let number = self.found.len();
        stack.push((number, successors(body, block).collect()));
        self.found.push(block);
        self.numbers.insert(block, number);
        self.parents.push(parent);
    }
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

    /// By the definition: what is not reached if a block is left out is dominated by it.
    #[test]
    fn what_is_not_reached_without_a_block_is_dominated_by_it() {
        let mut state = 1u64;
        let mut below = |count: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % count
        };
        for count in (2..=9).cycle().take(4000) {
            let mut way = || (0..below(4)).map(|_| char::from(b'0' + below(count) as u8)).collect::<String>();
            let ways: Vec<String> = (0..count).map(|_| way()).collect();
            let (body, blocks) = region(&ways.iter().map(String::as_str).collect::<Vec<_>>());
            let reached = |without: Option<usize>| {
                let mut is_reached = vec![false; count];
                let mut left = if without == Some(0) { Vec::new() } else { vec![0] };
                while let Some(block) = left.pop() {
                    if !std::mem::replace(&mut is_reached[block], true) {
                        let next = ways[block].bytes().map(|digit| usize::from(digit - b'0'));
                        left.extend(next.filter(|next| Some(*next) != without));
                    }
                }
                is_reached
            };
            let dominators = Dominators::of(&body, body.root());
            let is_reachable: Vec<bool> = blocks.iter().map(|b| dominators.is_reachable(*b)).collect();
            assert_eq!(is_reachable, reached(None), "{ways:?}");
            for above in (0..count).filter(|above| is_reachable[*above]) {
                let reached = reached(Some(above));
                for block in (0..count).filter(|block| is_reachable[*block]) {
                    let is_above = dominators.dominates(blocks[above], blocks[block]);
                    assert_eq!(is_above, !reached[block], "{above} above {block}: {ways:?}");
                }
            }
        }
    }

    #[test]
    fn preorder_keeps_what_a_block_dominates_together() {
        let (body, blocks) = region(&["14", "2", "3", "", "5", ""]);
        assert_eq!(Dominators::of(&body, body.root()).preorder(), blocks);
    }
}
