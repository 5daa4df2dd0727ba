//! Data-dependent dimensions: which values have one, and what is known of it.
//!
//! A result whose size depends on data has the type of its bound: an upper bound that follows from the
//! operands' sizes. Its elements stand first along that axis, anything after them, and how many there are is
//! a value beside it. The axis is *open*. What is computed of it is computed on all of the bound, so two
//! kinds of readers are right:
//!
//! - what makes of each slice along the axis one slice, which [`laws`] decide for each operation that a
//!   converter emits;
//! - a converter that knows of the axis and says what its result is ([`OpenAxes::say`]): because it has put
//!   in the place of what lies after the elements what does not count, as `super::convert::opened` does.
//!
//! All else would take what lies there for elements, and is refused. An output says which of its axes are
//! open, and by which further outputs (`optc.open`, `optc.count`), so that whoever runs the program cuts it.

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
    /// How many slices there are: an integer of 64 bits, of rank 0.
    pub(super) count: Value,
}

/// The open axes of values.
#[derive(Clone, Default)]
pub(super) struct OpenAxes {
    of: HashMap<Value, OpenAxis>,
    /// Results of which a converter has said what is open in them.
    said: HashSet<Value>,
    /// Operands of whose open axis a converter knows.
    asked: HashSet<Value>,
    /// Values with zeros after their elements.
    zeros: HashSet<Value>,
    /// The number of conditions that hold, by the conditions and their count.
    counts: HashMap<(Value, Dim), Value>,
    /// How these numbers are called in expressions of sizes.
    symbols: HashMap<Value, DimExpr>,
    /// Where values are not zero: the results of NonZero by its operand.
    pub(super) found: HashMap<Value, Value>,
    /// Of these results the condition in a row, and the shape in which it stood.
    pub(super) conditions: HashMap<Value, (Value, Vec<Dim>)>,
    /// Values with a number, by its bits, in the place of what lies after their elements.
    pub(super) filled: HashMap<(Value, u64), Value>,
}

impl OpenAxes {
    /// How many values have an open axis.
    pub(super) fn count(&self) -> usize {
        self.of.len()
    }

    /// The open axis of a value.
    pub(super) fn of(&self, value: Value) -> Option<OpenAxis> {
        self.of.get(&value).copied()
    }

    /// The same for a converter, which by asking says that it knows what to do with it.
    pub(super) fn ask(&mut self, value: Value) -> Option<OpenAxis> {
        self.asked.insert(value);
        self.of(value)
    }

    /// Says of a result what is open in it, in place of the laws.
    pub(super) fn say(&mut self, value: Value, open: Option<OpenAxis>) {
        self.said.insert(value);
        open.map(|open| self.of.insert(value, open));
    }

    /// Says that of a value, which has zeros after them, this many slices count; `bound` is their limit.
    pub(super) fn say_counted(&mut self, ctx: &Context, value: Value, open: OpenAxis, bound: Dim) {
        self.say(value, Some(open));
        self.zeros.insert(value);
        self.counts.insert((open.count, bound), open.count);
        let symbol = dims::symbol(ctx, &symbol_name(self.symbols.len()));
        self.symbols.entry(open.count).or_insert(symbol);
    }

    /// Says that after the elements of a value are zeros.
    pub(super) fn say_zeros(&mut self, value: Value) {
        self.zeros.insert(value);
    }

    /// Whether after the elements of a value are zeros.
    pub(super) fn has_zeros(&self, value: Value) -> bool {
        self.zeros.contains(&value)
    }

    /// The elements of a value as expressions of sizes, and of symbols for sizes that depend on data. No type
    /// may have these.
    pub(super) fn elements(
        &self,
        ctx: &Context,
        body: &Body,
        value: Value,
        ranges: &Ranges,
    ) -> Option<Vec<DimExpr>> {
        let mut ranges = ranges.clone();
        for number in 0..self.symbols.len() {
            // Of what is picked there may be nothing.
            ranges.declare(ctx.ident(&symbol_name(number)), 0, u64::MAX);
        }
        dims::elements_given(ctx, body, value, &ranges, &|value| Some(vec![*self.symbols.get(&value)?]))
    }

    /// Whether an expression has symbols for sizes that depend on data.
    pub(super) fn has_symbols(&self, ctx: &Context, expr: DimExpr) -> bool {
        dims::symbols(ctx, expr).iter().any(|symbol| ctx.str(*symbol).starts_with('\0'))
    }

    /// What is open along an axis of that size, and its bound.
    pub(super) fn counted(&self, axis: usize, size: DimExpr) -> Option<(OpenAxis, Dim)> {
        let mut counts = self.counts.iter().filter(|(_, count)| self.symbols.get(*count) == Some(&size));
        counts.next().map(|((_, bound), count)| (OpenAxis { axis, count: *count }, *bound))
    }

    /// Finds what is open in the results of an operation.
    ///
    /// # Errors
    /// If it would take what lies after elements for some.
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

    /// Says what is open in a result that an operation picks by a condition, which holds of elements only. As
    /// often as conditions are the same, they have one count.
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

    /// Follows open axes through the operations that a node has become.
    ///
    /// # Errors
    /// If a value with an open axis is read by what may not, or by nothing, without being asked for: then its
    /// type was.
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

/// How a size that depends on data is called; no size of a model is.
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
