//! Data-dependent dimensions: which values have one, and its known facts.
//!
//! A result with a data-dependent size has the type of its bound: an upper bound that follows from the
//! operands' sizes. Its elements come first along that axis, then arbitrary padding; the number of elements
//! is a further value. The axis is *open*. Operations on the result compute on the whole bound, so two kinds
//! of readers are correct:
//!
//! - operations that map each slice along the axis to one slice; [`laws`] decides this for each operation
//!   that a converter emits;
//! - a converter that handles the axis and declares its result ([`OpenAxes::say`]), because it has
//!   overwritten the padding with a neutral element, as `super::convert::opened` does.
//!
//! All other readers would take the padding for elements, and are refused. The attributes of an output list
//! its open axes and the outputs with their sizes (`optc.open`, `optc.count`), so that the caller of the
//! program can cut it.

mod laws;

use hashbrown::{HashMap, HashSet};
use ir::body::OpRef;
use ir::dims::{self, Ranges};
use ir::{Body, Context, Dim, DimExpr, Kind, Op, Value};

use super::call::Refusal;

/// An axis whose size is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpenAxis {
    /// The axis.
    pub(super) axis: usize,
    /// The number of slices: an integer of 64 bits, of rank 0.
    pub(super) count: Value,
}

/// The open axes of values.
#[derive(Clone, Default)]
pub(super) struct OpenAxes {
    of: HashMap<Value, OpenAxis>,
    /// Results whose open axis was declared by a converter.
    said: HashSet<Value>,
    /// Operands whose open axis is handled by a converter.
    asked: HashSet<Value>,
    /// Values with zeros as padding.
    zeros: HashSet<Value>,
    /// The number of true conditions, by the conditions and their count.
    counts: HashMap<(Value, Dim), Value>,
    /// The symbols of these numbers in expressions of sizes.
    symbols: HashMap<Value, DimExpr>,
    /// The positions of nonzero elements: the results of NonZero by its operand.
    pub(super) found: HashMap<Value, Value>,
    /// For each of these results the condition, flattened, and its original shape.
    pub(super) conditions: HashMap<Value, (Value, Vec<Dim>)>,
    /// Values whose padding was overwritten with a number, by its bits.
    pub(super) filled: HashMap<(Value, u64), Value>,
}

impl OpenAxes {
    /// The number of values with an open axis.
    pub(super) fn count(&self) -> usize {
        self.of.len()
    }

    /// The open axis of a value.
    pub(super) fn of(&self, value: Value) -> Option<OpenAxis> {
        self.of.get(&value).copied()
    }

    /// The same for a converter, which thereby declares that it handles the axis.
    pub(super) fn ask(&mut self, value: Value) -> Option<OpenAxis> {
        self.asked.insert(value);
        self.of(value)
    }

    /// Declares the open axis of a result, in place of the laws.
    pub(super) fn say(&mut self, value: Value, open: Option<OpenAxis>) {
        self.said.insert(value);
        open.map(|open| self.of.insert(value, open));
    }

    /// Declares that this number of slices of a value, which has zeros as padding, are elements; `bound` is
    /// the limit.
    pub(super) fn say_counted(&mut self, ctx: &Context, value: Value, open: OpenAxis, bound: Dim) {
        self.say(value, Some(open));
        self.zeros.insert(value);
        self.counts.insert((open.count, bound), open.count);
        let symbol = dims::symbol(ctx, &symbol_name(self.symbols.len()));
        self.symbols.entry(open.count).or_insert(symbol);
    }

    /// Declares that the padding of a value is zeros.
    pub(super) fn say_zeros(&mut self, value: Value) {
        self.zeros.insert(value);
    }

    /// Whether the padding of a value is zeros.
    pub(super) fn has_zeros(&self, value: Value) -> bool {
        self.zeros.contains(&value)
    }

    /// The elements of a value as expressions of sizes, and of symbols for data-dependent sizes. No type may
    /// contain these symbols.
    pub(super) fn elements(
        &self,
        ctx: &Context,
        body: &Body,
        value: Value,
        ranges: &Ranges,
    ) -> Option<Vec<DimExpr>> {
        let mut ranges = ranges.clone();
        for number in 0..self.symbols.len() {
            // There may be no selected elements at all.
            ranges.declare(ctx.ident(&symbol_name(number)), 0, u64::MAX);
        }
        dims::elements_given(ctx, body, value, &ranges, &|value| Some(vec![*self.symbols.get(&value)?]))
    }

    /// Whether an expression has symbols for data-dependent sizes.
    pub(super) fn has_symbols(&self, ctx: &Context, expr: DimExpr) -> bool {
        dims::symbols(ctx, expr).iter().any(|symbol| ctx.str(*symbol).starts_with('\0'))
    }

    /// The open axis for a size that is counted, and its bound.
    pub(super) fn counted(&self, axis: usize, size: DimExpr) -> Option<(OpenAxis, Dim)> {
        let mut counts = self.counts.iter().filter(|(_, count)| self.symbols.get(*count) == Some(&size));
        counts.next().map(|((_, bound), count)| (OpenAxis { axis, count: *count }, *bound))
    }

    /// Finds the open axes of an operation's results.
    ///
    /// # Errors
    /// If it would take the padding for elements.
    pub(super) fn follow(&mut self, ctx: &Context, body: &Body, op: Op) -> Result<(), Refusal> {
        let at = body.at(ctx, op);
        if body.results(op).any(|result| self.said.contains(&result)) {
            return Ok(());
        }
        if !body.operands(op).any(|operand| self.of.contains_key(&operand)) {
            if matches!(at.kind(), Kind::Kernel("compress")) {
                self.pick(at);
            }
            return Ok(());
        }
        let open = laws::through(self, at);
        self.of.insert(at.result(0), open.ok_or_else(|| refused(at.name()))?);
        if matches!(at.kind(), Kind::View(_)) && body.operands(op).all(|operand| self.has_zeros(operand)) {
            self.zeros.insert(at.result(0));
        }
        Ok(())
    }

    /// Declares the open axis of an operation that selects by a condition; the condition is false in the
    /// padding. Equal conditions share one count.
    pub(super) fn pick(&mut self, at: OpRef<'_>) {
        let axis = at.int("axis").and_then(|axis| usize::try_from(axis).ok()).unwrap_or(0);
        let kept = laws::shape(at, at.result(0))[axis];
        self.said.insert(at.result(0));
        let count = *self.counts.entry((at.operand(1), kept)).or_insert(at.result(1));
        let symbol = dims::symbol(at.ctx, &symbol_name(self.symbols.len()));
        self.symbols.entry(count).or_insert(symbol);
        self.of.insert(at.result(0), OpenAxis { axis, count });
        self.zeros.insert(at.result(0));
    }

    /// Follows open axes through the operations emitted for a node.
    ///
    /// # Errors
    /// If a value with an open axis is read by an operation without a law, or by none and without a
    /// converter's request: then its type was used.
    pub(super) fn follow_node(
        &mut self,
        ctx: &Context,
        body: &Body,
        ops: &[Op],
        [operands, results]: [&[Value]; 2],
    ) -> Result<(), Refusal> {
        ops.iter().try_for_each(|op| self.follow(ctx, body, *op))?;
        let is_read = |value: &Value| {
            results.contains(value) || ops.iter().any(|op| body.operands(*op).any(|read| read == *value))
        };
        let is_known = |value: &&Value| self.asked.contains(*value) || is_read(value);
        let all = operands.iter().filter(|value| self.of.contains_key(*value)).all(|value| is_known(&value));
        self.asked.clear();
        if all { Ok(()) } else { Err(refused("what follows from its type alone")) }
    }
}

/// The symbol of a data-dependent size; no size of a model has such a name.
fn symbol_name(number: usize) -> String {
    format!("\0{number}")
}

fn refused(what: &str) -> Refusal {
    let message = format!(
        "an input's size depends on data; `{what}` would take what lies after its elements for more of them"
    );
    let help = "elementwise operations, views, gathers, reductions, products of rows and concatenations know which are elements";
    Refusal { message, help: Some(help.to_owned()) }
}
