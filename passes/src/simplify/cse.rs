//! Which operations compute what another has computed.
//!
//! Within a block, a pure operation without regions that has the name, operands, attributes and result types of an
//! earlier one is replaced by it: `%b = nn.exp %x` behind `%a = nn.exp %x` => `%a`. One sweep in text order, hashing
//! each operation once: O(operations + operands). Operations in nested regions also see those of the blocks around them,
//! unless the region is isolated or holds several blocks.

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::HashTable;
use ir::{Block, Body, Context, Diagnostic, Op, Traits};
use rustc_hash::FxHasher;

use crate::manager::{Example, PassContext, PassDef, PassRun, Stage, StageRule};

/// The pass `cse`.
pub static CSE: PassDef = PassDef {
    name: "cse",
    doc: "Computes once what is computed twice: a pure operation like an earlier one is replaced by it.",
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

fn run(cx: &PassContext<'_>, func: &mut Body) -> Result<(), Vec<Diagnostic>> {
    let mut sweep = Sweep { ctx: cx.ctx, known: HashTable::new(), removed: 0 };
    for root in func.roots().to_vec() {
        for block in func.blocks(root).to_vec() {
            sweep.known.clear();
            sweep.block(func, block);
        }
    }
    cx.count("removed", sweep.removed);
    Ok(())
}

/// The operations seen so far that the present one may be replaced by.
struct Sweep<'a> {
    ctx: &'a Context,
    known: HashTable<(u64, Op)>,
    removed: u64,
}

impl Sweep<'_> {
    fn block(&mut self, body: &mut Body, block: Block) {
        let mut added = Vec::new();
        let mut next = body.first_op(block);
        while let Some(op) = next {
            next = body.next_op(op);
            if let Some(entry) = self.op(body, op) {
                added.push(entry);
            }
        }
        for (hash, op) in added {
            let entry = self.known.find_entry(hash, |known| known.1 == op);
            entry.expect("what the block added is still there").remove();
        }
    }

    /// Replaces an operation by an earlier one, or remembers it.
    fn op(&mut self, body: &mut Body, op: Op) -> Option<(u64, Op)> {
        for region in body.regions(op).to_vec() {
            let blocks = body.blocks(region).to_vec();
            if let [block] = blocks[..] {
                self.block(body, block);
                continue;
            }
            for block in blocks {
                let mut fresh = Sweep { ctx: self.ctx, known: HashTable::new(), removed: 0 };
                fresh.block(body, block);
                self.removed += fresh.removed;
            }
        }
        if !body.at(self.ctx, op).has(Traits::PURE) || !body.regions(op).is_empty() {
            return None;
        }
        let hash = hash(body, op);
        match self.known.find(hash, |known| known.0 == hash && is_equal(body, known.1, op)) {
            Some(&(_, earlier)) => {
                let results: Vec<_> = body.results(earlier).zip(body.results(op)).collect();
                results.into_iter().for_each(|(old, new)| body.replace_uses(new, old));
                body.erase(op);
                self.removed += 1;
                None
            }
            None => {
                self.known.insert_unique(hash, (hash, op), |known| known.0);
                Some((hash, op))
            }
        }
    }
}

fn hash(body: &Body, op: Op) -> u64 {
    let hasher = BuildHasherDefault::<FxHasher>::default();
    let seed = hasher.hash_one((body.name(op), body.properties(op), body.attrs(op)));
    let operands = body.operands(op).fold(seed, |hash, operand| hasher.hash_one((hash, operand)));
    body.results(op).fold(operands, |hash, result| hasher.hash_one((hash, body.ty(result))))
}

fn is_equal(body: &Body, a: Op, b: Op) -> bool {
    body.name(a) == body.name(b)
        && body.properties(a) == body.properties(b)
        && body.attrs(a) == body.attrs(b)
        && body.operands(a).eq(body.operands(b))
        && body.results(a).map(|value| body.ty(value)).eq(body.results(b).map(|value| body.ty(value)))
}
