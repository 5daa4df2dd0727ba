//! Lookup tables: elementwise functions of single bytes become tables of 256 results.
//!
//! A value of 8 bits often depends on a single other value of 8 bits, through elementwise operations that
//! otherwise read only constants, as in an activation between two quantizations. The table of its 256 results
//! is computed when the program is loaded, by the same operations, so the bits are the same. A function of an
//! earlier table's results is a function of the bytes that table reads: if the sigmoid in x * sigmoid(x) is
//! quantized before the product, the product is still a function of x. A table that gives each byte itself,
//! as of a quantization with the zero point and scale of the dequantization before, is left out.

use std::collections::HashMap;

use ir::builder::InsertPoint;
use ir::interp::{Tensor, eval_op};
use ir::weights::WeightSet;
use ir::{Body, Builder, Context, Kind, Op, OpSpec, Traits, Value, size};

use super::is_byte;
use crate::constants;
use crate::edit::{rebuild, reshape};
use crate::manager::Changes;

/// The fewest operations that are worth a step for the lookup.
const LEAST_OPS: usize = 3;
/// The most operations of a function.
const MOST_OPS: usize = 64;

/// Replaces the results of these operations by table lookups if they are functions of single bytes; returns
/// how many were replaced.
pub(super) fn look_up(
    ctx: &Context,
    body: &mut Body,
    weights: &WeightSet,
    ops: &[Op],
    changes: &Changes,
) -> usize {
    let mut tables = Vec::new();
    for &op in ops {
        let search =
            ByteSearch { ctx, body, weights, root: op, tables: &tables, of: None, ops: Vec::new(), met: 0 };
        let Some(function) = search.function() else { continue };
        if changes.allow(|| format!("{} becomes a table", body.at(ctx, op).describe())) {
            tables.push(function.replace(ctx, body, op, &tables));
        }
    }
    let mut known = KnownTables::default();
    for lookup in &tables {
        leave_out(ctx, body, &mut known, *lookup);
    }
    tables.len()
}

/// Replaces the result of a lookup by its operand if the table gives each byte itself.
fn leave_out(ctx: &Context, body: &mut Body, known: &mut KnownTables, lookup: Op) {
    let [bytes, table] = [body.operand(lookup, 0), body.operand(lookup, 1)];
    let result = body.result(lookup, 0);
    let found = known.table(ctx, body, table);
    let is_same = found.is_some_and(|found| found.bytes.iter().copied().eq(0..=u8::MAX));
    if is_same && body.ty(bytes) == body.ty(result) {
        body.replace_uses(result, bytes);
    }
}

/// Tables, and the single numbers that they are computed from, each computed once: later tables read earlier
/// ones.
#[derive(Default)]
struct KnownTables {
    known: HashMap<Value, Option<Tensor>>,
    /// The steps of the table that is being computed.
    steps: HashMap<Value, Option<Tensor>>,
}

impl KnownTables {
    /// The elements of a table, or none if something on the way has none or too many.
    fn table(&mut self, ctx: &Context, body: &Body, table: Value) -> Option<Tensor> {
        self.steps.clear();
        let found = self.value(ctx, body, table, MOST_OPS);
        self.known.insert(table, found.clone());
        found
    }

    /// The elements of a value that at most `depth` operations lead to.
    fn value(&mut self, ctx: &Context, body: &Body, value: Value, depth: usize) -> Option<Tensor> {
        if let Some(found) = self.known.get(&value).or_else(|| self.steps.get(&value)) {
            return found.clone();
        }
        let count = constants::elements(ctx, body.ty(value)).filter(|count| *count <= BYTES)?;
        let op = body.defining_op(value).filter(|op| depth > 0 && body.result_count(*op) == 1)?;
        let operands: Option<Vec<Tensor>> =
            body.operands(op).map(|operand| self.value(ctx, body, operand, depth - 1)).collect();
        let results = operands.and_then(|operands| eval_op(body.at(ctx, op), &operands).ok());
        let found = results.and_then(|mut results| results.pop());
        let map = if count == 1 { &mut self.known } else { &mut self.steps };
        map.insert(value, found.clone());
        found
    }
}

/// An elementwise function of an 8-bit value.
struct ByteFunction {
    /// The 8-bit value.
    of: Value,
    /// The operations, operands first.
    ops: Vec<Op>,
}

impl ByteFunction {
    /// Replaces operation `op`, which computes the result, by a table lookup, and returns the lookup.
    fn replace(self, ctx: &Context, body: &mut Body, op: Op, tables: &[Op]) -> Op {
        let mut values: Vec<(Value, Value)> = Vec::new();
        for &step in &self.ops {
            let mut operands: Vec<Value> = body.operands(step).collect();
            for operand in &mut operands {
                let known = values.iter().find(|known| known.0 == *operand).map(|known| known.1);
                let new = known.unwrap_or_else(|| {
                    let table = self.table(ctx, body, *operand, (op, tables));
                    let new = table.unwrap_or_else(|| reshape(ctx, body, *operand, &[], op));
                    values.push((*operand, new));
                    new
                });
                *operand = new;
            }
            let properties = body.properties(step);
            let copy = rebuild(ctx, body, step, &operands, properties, InsertPoint::Before(op));
            let copy = copy.expect("elementwise operations take any shape");
            values.push((body.result(step, 0), body.result(copy, 0)));
        }
        let table = values.last().expect("a function has operations").1;
        let mut builder = Builder::before(ctx, body, op);
        builder.location = builder.body.location(op);
        let spec = OpSpec { operands: &[self.of, table], ..OpSpec::default() };
        let lookup = builder.build(LOOKUP, spec).expect("a table of bytes has 256 of them");
        body.replace_uses(body.result(op, 0), body.result(lookup, 0));
        lookup
    }

    /// The 256 elements that stand for a value of bytes: every byte in order, or an earlier table.
    fn table(
        &self,
        ctx: &Context,
        body: &mut Body,
        value: Value,
        (before, tables): (Op, &[Op]),
    ) -> Option<Value> {
        if value != self.of {
            let earlier = body.defining_op(value).filter(|op| tables.contains(op))?;
            return Some(body.operand(earlier, 1));
        }
        let ty = ctx.tensor(&[BYTES], ctx.elem(body.ty(value)));
        let all: Vec<u8> = (0..=u8::MAX).collect();
        Some(Builder::before(ctx, body, before).constant(constants::dense(ctx, ty, &all), ty))
    }
}

/// A search from a result back to the bytes that it is a function of.
struct ByteSearch<'a> {
    ctx: &'a Context,
    body: &'a Body,
    weights: &'a WeightSet,
    /// The operation that computes the result.
    root: Op,
    /// The lookups of earlier tables.
    tables: &'a [Op],
    of: Option<Value>,
    ops: Vec<Op>,
    /// Number of operations visited.
    met: usize,
}

impl<'a> ByteSearch<'a> {
    /// The function whose result is converted to 8 bits by operation `root`.
    fn function(self) -> Option<ByteFunction> {
        let ByteSearch { ctx, body, weights, root, .. } = self;
        let at = body.at(ctx, root);
        if !at.has(Traits::CAST) || !is_byte(ctx, body, at.result(0)) || weights.contains(at.result(0)) {
            return None;
        }
        let mut search = self;
        let is_found = search.visit(root);
        let ByteSearch { of, ops, .. } = search;
        (is_found && ops.len() >= LEAST_OPS).then_some(ByteFunction { of: of?, ops })
    }

    /// The bytes that a value of bytes is a function of: an earlier lookup's operand, or the value itself.
    fn source(&self, value: Value) -> Value {
        let lookup = self.body.defining_op(value).filter(|op| self.tables.contains(op));
        lookup.map_or(value, |lookup| self.body.operand(lookup, 0))
    }

    /// Whether an operation is part of the function, together with everything that it reads.
    fn visit(&mut self, op: Op) -> bool {
        if self.ops.contains(&op) {
            return true;
        }
        self.met += 1;
        let at = self.body.at(self.ctx, op);
        let result = |op: Op| self.body.ty(self.body.result(op, 0));
        let fits = matches!(at.kind(), Kind::Elementwise(_))
            && self.met <= MOST_OPS
            && self.body.result_count(op) == 1
            && self.body.block_of(op) == self.body.block_of(self.root)
            && size::have_equal_sizes(self.ctx, result(op), result(self.root));
        if !fits || !self.body.operands(op).all(|operand| self.reads(operand)) {
            return false;
        }
        self.ops.push(op);
        true
    }

    /// Whether a value is a constant number, the bytes, or computed from them.
    fn reads(&mut self, value: Value) -> bool {
        if self.weights.contains(value) {
            return constants::elements(self.ctx, self.body.ty(value)) == Some(1);
        }
        if is_byte(self.ctx, self.body, value) {
            let root = self.body.ty(self.body.result(self.root, 0));
            let is_whole = size::have_equal_sizes(self.ctx, self.body.ty(value), root);
            let source = self.source(value);
            return is_whole && *self.of.get_or_insert(source) == source;
        }
        self.body.defining_op(value).is_some_and(|op| self.visit(op))
    }
}

const LOOKUP: &str = "nn.lookup";
/// Entries of a table.
const BYTES: u64 = 256;
