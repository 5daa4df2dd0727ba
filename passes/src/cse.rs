//! Common-subexpression elimination.
//!
//! A pure operation is replaced by an equal one that dominates it, with the same name, operands, attributes,
//! result types and regions: `%b = nn.exp %x` after `%a = nn.exp %x` => `%a`. The operands of a commutative
//! operation may be in either order.
//!
//! The blocks of a region are visited along its dominator tree, and the regions of an operation before the
//! operation itself. For an operation that reads a value with few readers, equal operations are searched
//! among these, which are near in memory; for any other, in a hash table. O(operations + operands), plus
//! hashes and comparisons of regions.

use std::hash::{BuildHasher, BuildHasherDefault};

use cranelift_entity::EntitySet;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use ir::dominance::Dominators;
use ir::{Block, Body, Context, Diagnostic, Op, Region, Traits, Value};
use rustc_hash::{FxHashMap, FxHasher};

use crate::effects::is_pure;
use crate::manager::{Changes, Example, PassContext, PassDef, PassRun, Stage, StageRule};

/// The pass `cse`.
pub static CSE: PassDef = PassDef {
    name: "cse",
    doc: "Common subexpression elimination: replaces a pure operation by an equal one that dominates it.",
    options: &[],
    example: Example {
        before: r#"func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.exp %x : tensor<4xf32>
  %2 = nn.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}"#,
        after: r#"module {
  func.func @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = nn.exp %arg0 : tensor<4xf32>
    %1 = nn.add %0, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}"#,
    },
    stage: StageRule::UpTo(Stage::Schedule),
    run: PassRun::Function(run),
};

/// For a value with at most this number of readers, the readers are searched; otherwise the table.
const FEW_READERS: usize = 8;

fn run(cx: &PassContext<'_>, func: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let mut sweep = Sweep {
        ctx: cx.ctx,
        seen: EntitySet::with_capacity(func.op_capacity()),
        open: EntitySet::with_capacity(func.block_capacity()),
        table: HashTable::new(),
        removed: 0,
        changes: &cx.changes,
    };
    for root in func.roots().to_vec() {
        sweep.region(func, root);
    }
    cx.count("removed", sweep.removed);
    Ok(())
}

/// The operations seen so far.
struct Sweep<'a> {
    ctx: &'a Context,
    seen: EntitySet<Op>,
    /// The visited blocks that dominate the current operation.
    open: EntitySet<Block>,
    /// The last visited operation for each hash, for operations whose operands have many readers.
    table: HashTable<(u64, Op)>,
    removed: u64,
    changes: &'a Changes,
}

impl Sweep<'_> {
    fn region(&mut self, body: &mut Body, region: Region) {
        if let [block] = *body.blocks(region) {
            self.open.insert(block);
            self.block(body, block);
            self.open.remove(block);
            return;
        }
        let dominators = Dominators::of(body, region);
        let mut above: Vec<Block> = Vec::new();
        for block in dominators.preorder() {
            while let Some(last) = above.pop_if(|last| !dominators.dominates(*last, block)) {
                self.open.remove(last);
            }
            above.push(block);
            self.open.insert(block);
            self.block(body, block);
        }
        above.into_iter().for_each(|block| {
            self.open.remove(block);
        });
    }

    fn block(&mut self, body: &mut Body, block: Block) {
        let mut next = body.first_op(block);
        while let Some(op) = next {
            next = body.next_op(op);
            for region in body.regions(op).to_vec() {
                self.region(body, region);
            }
            self.op(body, op);
        }
    }

    /// Replaces an operation by an earlier one, or records it.
    fn op(&mut self, body: &mut Body, op: Op) {
        if !is_pure(self.ctx, body, op) {
            return;
        }
        let found = match reader_of_few(body, op) {
            Some(value) => self.among_readers(body, op, value),
            None => self.in_table(body, op),
        };
        let what = |body: &Body| format!("{} is computed before", body.at(self.ctx, op).describe());
        match found.filter(|_| self.changes.allow(|| what(body))) {
            Some(earlier) => {
                let results: Vec<_> = body.results(earlier).zip(body.results(op)).collect();
                results.into_iter().for_each(|(old, new)| body.replace_uses(new, old));
                body.erase(op);
                self.removed += 1;
            }
            None => {
                self.seen.insert(op);
            }
        }
    }

    /// Whether an operation dominates the current one.
    fn is_before(&self, body: &Body, op: Op) -> bool {
        self.seen.contains(op) && body.block_of(op).is_some_and(|block| self.open.contains(block))
    }

    fn among_readers(&self, body: &Body, op: Op, value: Value) -> Option<Op> {
        let name = body.name(op);
        let mut readers = body.uses(value).map(|read| read.op);
        readers.find(|other| {
            *other != op
                && body.name(*other) == name
                && self.is_before(body, *other)
                && is_equal(self.ctx, body, *other, op)
        })
    }

    fn in_table(&mut self, body: &Body, op: Op) -> Option<Op> {
        let hash = hash(self.ctx, body, op)?;
        let is_like = |known: &(u64, Op)| {
            known.0 == hash && body.block_of(known.1).is_some() && is_equal(self.ctx, body, known.1, op)
        };
        match self.table.entry(hash, is_like, |known| known.0) {
            Entry::Vacant(entry) => {
                entry.insert((hash, op));
                None
            }
            Entry::Occupied(mut entry) => {
                let earlier = entry.get().1;
                let is_before = self.seen.contains(earlier)
                    && body.block_of(earlier).is_some_and(|b| self.open.contains(b));
                // An operation that does not dominate this one will not dominate later ones.
                if !is_before {
                    entry.get_mut().1 = op;
                }
                is_before.then_some(earlier)
            }
        }
    }
}

/// An operand with few readers: any equal operation must be one of them.
fn reader_of_few(body: &Body, op: Op) -> Option<Value> {
    body.operands(op).find(|value| body.uses(*value).nth(FEW_READERS).is_none())
}

/// The hash of an operation with its regions; none if a region has several blocks, as such an operation is
/// equal to no other.
fn hash(ctx: &Context, body: &Body, op: Op) -> Option<u64> {
    let mut hasher = OpHasher { ctx, body, numbers: FxHashMap::default() };
    hasher.op(op)
}

/// Hashes an operation such that names of values in its regions do not matter.
struct OpHasher<'b> {
    ctx: &'b Context,
    body: &'b Body,
    /// The values defined in its regions, in order.
    numbers: FxHashMap<Value, usize>,
}

impl OpHasher<'_> {
    fn op(&mut self, op: Op) -> Option<u64> {
        let body = self.body;
        let hasher = BuildHasherDefault::<FxHasher>::default();
        let mut found = hasher.hash_one((body.name(op), body.properties(op), body.attrs(op)));
        let operand = |value: Value| match self.numbers.get(&value) {
            Some(number) => hasher.hash_one((true, *number)),
            None => hasher.hash_one((false, value)),
        };
        let mut operands: Vec<u64> = body.operands(op).map(operand).collect();
        if body.at(self.ctx, op).has(Traits::COMMUTATIVE) {
            operands[..2].sort_unstable();
        }
        for operand in operands {
            found = hasher.hash_one((found, operand));
        }
        for result in body.results(op) {
            found = hasher.hash_one((found, body.ty(result)));
        }
        for region in body.regions(op) {
            let block = match *body.blocks(*region) {
                [] => continue,
                [block] => block,
                _ => return None,
            };
            body.args(block).iter().for_each(|arg| self.number(*arg));
            for inner in body.ops(block) {
                found = hasher.hash_one((found, self.op(inner)?));
                body.results(inner).for_each(|result| self.number(result));
            }
        }
        Some(found)
    }

    fn number(&mut self, value: Value) {
        let number = self.numbers.len();
        self.numbers.insert(value, number);
    }
}

fn is_equal(ctx: &Context, body: &Body, a: Op, b: Op) -> bool {
    Twins { ctx, body, pairs: FxHashMap::default() }.are_equal(a, b)
}

/// Two operations that are compared.
struct Twins<'b> {
    ctx: &'b Context,
    body: &'b Body,
    /// Values defined in the regions of the second, mapped to those of the first.
    pairs: FxHashMap<Value, Value>,
}

impl Twins<'_> {
    fn are_equal(&mut self, a: Op, b: Op) -> bool {
        let body = self.body;
        body.name(a) == body.name(b)
            && body.properties(a) == body.properties(b)
            && body.attrs(a) == body.attrs(b)
            && self.read_the_same(a, b)
            && self.have_types(body.results(a), body.results(b))
            && self.run_the_same(a, b)
    }

    fn read_the_same(&self, a: Op, b: Op) -> bool {
        let body = self.body;
        let reads = |value: Value| self.pairs.get(&value).copied().unwrap_or(value);
        if body.operands(a).eq(body.operands(b).map(reads)) {
            return true;
        }
        let [a0, a1] = body.operands(a).collect::<Vec<_>>()[..] else { return false };
        let [b0, b1] = body.operands(b).map(reads).collect::<Vec<_>>()[..] else { return false };
        (a0, a1) == (b1, b0) && body.at(self.ctx, a).has(Traits::COMMUTATIVE)
    }

    fn have_types(&self, a: impl Iterator<Item = Value>, b: impl Iterator<Item = Value>) -> bool {
        a.map(|value| self.body.ty(value)).eq(b.map(|value| self.body.ty(value)))
    }

    /// Whether the regions are equal except for the names of values. Regions of several blocks count as
    /// different.
    fn run_the_same(&mut self, a: Op, b: Op) -> bool {
        let body = self.body;
        let (a, b) = (body.regions(a), body.regions(b));
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.are_equal_regions(*a, *b))
    }

    fn are_equal_regions(&mut self, a: Region, b: Region) -> bool {
        let body = self.body;
        let (a, b) = match (body.blocks(a), body.blocks(b)) {
            ([], []) => return true,
            (&[a], &[b]) => (a, b),
            _ => return false,
        };
        let (args_a, args_b) = (body.args(a).iter().copied(), body.args(b).iter().copied());
        if !self.have_types(args_a.clone(), args_b.clone()) {
            return false;
        }
        self.pairs.extend(args_b.zip(args_a));
        let (mut ops_a, mut ops_b) = (body.ops(a), body.ops(b));
        loop {
            match (ops_a.next(), ops_b.next()) {
                (None, None) => return true,
                (Some(a), Some(b)) if self.are_equal(a, b) => {
                    self.pairs.extend(body.results(b).zip(body.results(a)));
                }
                _ => return false,
            }
        }
    }
}
