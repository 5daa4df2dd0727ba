//! Symbolic types at given sizes: evaluates a function's types and attributes without building a body for
//! each choice of sizes.
//!
//! ```text
//! tensor<?x?x64xf32, #optc.dims<N, 2 * H>>   at N = 3, H = 5   =>   tensor<3x10x64xf32>
//! ```
//!
//! [`SizedTypes::of`] collects the distinct expressions and types once. [`SizedTypes::evaluate`] evaluates
//! them in a [copy](Context::copy) of the context, which is reset for each choice of sizes.
//!
//! Facts verified for symbols need not hold for numbers: a window may not fit a small image, and sizes that
//! are not provably different may differ. So inference is repeated at the numbers for each kind of operation
//! whose laws do not follow from its symbolic types. They do follow in these cases: an elementwise operation
//! whose operands have the result's own sizes, symbolic or known, or 1; a window that rounds down, which fits
//! wherever its result has a row; a concatenation whose operands have the same size at each axis, or known
//! ones. If a size is 0, inference is repeated for these too.

use crate::plan::attrs;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::alias::{AliasSets, makers_in_place, parts, pitch_in_whole};
use crate::attrs::AttrData;
use crate::body::{Body, OpRef};
use crate::builder::infer;
use crate::context::Context;
use crate::dims::{SizeId, SizeTable, SizeValues, evaluate, symbols};
use crate::entities::{Attr, DimExpr, Ident, Op, OpName, Type, Value};
use crate::flow;
use crate::opdef::{Infer, Kind, Traits, View};
use crate::size::tensor_bytes;
use crate::types::{Dim, TypeData};

/// A function's types and sizes, as a table of distinct expressions.
pub struct SizedTypes {
    sizes: SizeTable,
    symbols: Vec<Ident>,
    types: Vec<SymbolicTensor>,
    known: FxHashMap<Type, usize>,
    asked: Vec<InferQuery>,
    /// Queries that follow from the symbolic types unless some size is 0.
    asked_if_empty: Vec<InferQuery>,
    /// The operations with a verifier of their own.
    laws: Vec<Op>,
}

/// A tensor type with symbols.
struct SymbolicTensor {
    shape: SmallVec<[SizedDim; 6]>,
    elem: Type,
    encoding: Option<Attr>,
}

#[derive(Clone, Copy)]
enum SizedDim {
    Known(u64),
    Size(SizeId),
}

/// An operation whose types are inferred again at each choice of sizes.
#[derive(Clone, PartialEq, Eq, Hash)]
struct InferQuery {
    name: OpName,
    properties: Attr,
    operands: SmallVec<[Type; 4]>,
    results: SmallVec<[Type; 2]>,
}

/// The values of a [`SizedTypes`] at given sizes.
#[derive(Default)]
pub struct AtSizes {
    numbers: Vec<u64>,
    values: SizeValues,
    types: Vec<Type>,
}

impl AtSizes {
    /// The value of an expression.
    pub fn size(&self, id: SizeId) -> u64 {
        self.values.get(id)
    }
}

impl SizedTypes {
    /// The table of a function, whose symbols get their numbers in the order of `names`. None if a size is
    /// unknown, or an operation contains a function.
    pub fn of(ctx: &Context, body: &Body, names: &[Ident]) -> Option<SizedTypes> {
        let symbols = names.to_vec();
        let mut sized = SizedTypes {
            sizes: SizeTable::new(symbols.clone()),
            symbols,
            types: Vec::new(),
            known: FxHashMap::default(),
            asked: Vec::new(),
            asked_if_empty: Vec::new(),
            laws: Vec::new(),
        };
        sized.collect(ctx, body, &mut FxHashSet::default())?;
        Some(sized)
    }

    /// The index of an expression's value.
    pub fn size(&mut self, expr: DimExpr) -> SizeId {
        self.sizes.add(expr)
    }

    /// The number of distinct sizes and types.
    pub fn len(&self) -> usize {
        self.sizes.len() + self.types.len()
    }

    /// Whether no size is symbolic.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Evaluates all sizes and types. None if a size is below 0 or undefined, or an operation does not allow
    /// these sizes.
    pub fn evaluate(&self, ctx: &Context, numbers: &[u64], at: &mut AtSizes) -> Option<()> {
        self.sizes.evaluate(ctx, numbers, &mut at.values)?;
        at.numbers.clear();
        at.numbers.extend_from_slice(numbers);
        at.types.clear();
        for SymbolicTensor { shape, elem, encoding } in &self.types {
            let number = |extent: &SizedDim| match extent {
                SizedDim::Known(size) => Dim::Known(*size),
                SizedDim::Size(id) => Dim::Known(at.values.get(*id)),
            };
            let shape = shape.iter().map(number).collect();
            at.types.push(ctx.ty(TypeData::Tensor { shape, elem: *elem, encoding: *encoding }));
        }
        let if_empty = if at.values.has_zero() { &self.asked_if_empty[..] } else { &[] };
        self.asked.iter().chain(if_empty).all(|asked| self.holds(ctx, asked, at)).then_some(())
    }

    /// A type at the sizes.
    pub fn ty(&self, ty: Type, at: &AtSizes) -> Type {
        self.known.get(&ty).map_or(ty, |index| at.types[*index])
    }

    /// An attribute at the sizes; none if a size in it is below 0 or undefined.
    pub fn attr(&self, ctx: &Context, attr: Attr, at: &AtSizes) -> Option<Attr> {
        Some(match ctx.attr_data(attr) {
            AttrData::Dict(entries) => {
                let entries = entries.iter().map(|(name, value)| Some((*name, self.attr(ctx, *value, at)?)));
                ctx.attr(AttrData::Dict(entries.collect::<Option<_>>()?))
            }
            AttrData::Dims(dims) => {
                let number = |name: Ident| {
                    let index = self.symbols.iter().position(|symbol| *symbol == name)?;
                    i64::try_from(at.numbers[index]).ok()
                };
                let dims = dims.iter().map(|dim| match dim {
                    Dim::Symbolic(expr) => {
                        Some(Dim::Known(u64::try_from(evaluate(ctx, *expr, &number)?).ok()?))
                    }
                    other => Some(*other),
                });
                ctx.dims_attr(&dims.collect::<Option<Vec<_>>>()?)
            }
            _ => attr,
        })
    }

    fn holds(&self, ctx: &Context, asked: &InferQuery, at: &AtSizes) -> bool {
        let operands: SmallVec<[Type; 4]> = asked.operands.iter().map(|ty| self.ty(*ty, at)).collect();
        let properties = self.attr(ctx, asked.properties, at);
        let inferred = properties.and_then(|properties| infer(ctx, asked.name, &operands, properties).ok());
        inferred.is_some_and(|types| types.into_iter().eq(asked.results.iter().map(|ty| self.ty(*ty, at))))
    }

    fn collect(&mut self, ctx: &Context, body: &Body, asked: &mut FxHashSet<InferQuery>) -> Option<()> {
        let mut ops = Vec::new();
        for block in body.all_blocks() {
            body.args(block).iter().try_for_each(|arg| self.add(ctx, body.ty(*arg)))?;
            ops.extend(body.ops(block));
        }
        for op in ops {
            body.results(op).try_for_each(|result| self.add(ctx, body.ty(result)))?;
            let at = body.at(ctx, op);
            let holds_unless_empty = holds_for_all(at);
            if !self.is_symbolic(at)
                || holds_unless_empty && matches!(at.kind(), Kind::Group | Kind::Structure | Kind::Source)
            {
                continue;
            }
            if body.child(op).is_some() {
                return None;
            }
            let def = at.def()?;
            if def.verify.is_some() && !holds_unless_empty {
                self.laws.push(op);
            }
            if !matches!(def.infer, Infer::Declared) {
                let law = InferQuery {
                    name: body.name(op),
                    properties: body.properties(op),
                    operands: body.operands(op).map(|value| body.ty(value)).collect(),
                    results: body.results(op).map(|value| body.ty(value)).collect(),
                };
                if asked.insert(law.clone()) {
                    let laws = if holds_unless_empty { &mut self.asked_if_empty } else { &mut self.asked };
                    laws.push(law);
                }
            }
        }
        Some(())
    }

    fn is_symbolic(&self, op: OpRef<'_>) -> bool {
        let mut values = op.body.operands(op.op).chain(op.body.results(op.op));
        values.any(|value| self.known.contains_key(&op.body.ty(value)))
            || has_symbols(op.ctx, op.body.properties(op.op))
    }

    fn add(&mut self, ctx: &Context, ty: Type) -> Option<()> {
        let TypeData::Tensor { shape, elem, encoding } = ctx.type_data(ty) else { return Some(()) };
        if self.known.contains_key(&ty) || shape.iter().all(|dim| dim.known().is_some()) {
            return Some(());
        }
        let mut extent = |dim: &Dim| {
            Some(match *dim {
                Dim::Known(size) => SizedDim::Known(size),
                Dim::Symbolic(expr) => SizedDim::Size(self.sizes.add(expr)),
                Dim::Unknown => return None,
            })
        };
        let shape = shape.iter().map(&mut extent).collect::<Option<_>>()?;
        self.known.insert(ty, self.types.len());
        self.types.push(SymbolicTensor { shape, elem: *elem, encoding: *encoding });
        Some(())
    }
}

/// Whether an attribute contains symbolic sizes.
pub fn has_symbols(ctx: &Context, attr: Attr) -> bool {
    match ctx.attr_data(attr) {
        AttrData::Dict(entries) => entries.iter().any(|(_, value)| has_symbols(ctx, *value)),
        AttrData::Array(items) => items.iter().any(|item| has_symbols(ctx, *item)),
        AttrData::Dims(dims) => {
            dims.iter().any(|dim| matches!(dim, Dim::Symbolic(expr) if !symbols(ctx, *expr).is_empty()))
        }
        _ => false,
    }
}

/// Whether an operation's laws hold at all sizes of at least 1 (its results' too), given that they hold for
/// its symbolic types.
fn holds_for_all(op: OpRef<'_>) -> bool {
    match op.kind() {
        Kind::Elementwise(_) => op.body.operands(op.op).all(|operand| stretches(op, operand)),
        // A group's body is checked itself, and has the same operands and results; a source follows its
        // sizes.
        Kind::Group | Kind::Structure | Kind::Source => true,
        Kind::View(View::OfResult(_)) => are_parts(op),
        _ => {
            op.has(Traits::WINDOW)
                && slides(op)
                && (1..op.operand_count()).all(|index| is_static(op, op.operand(index)))
        }
    }
}

/// Whether each size of a value, counted from the last axis, is the result's own, symbolic or known, or 1.
fn stretches(op: OpRef<'_>, operand: Value) -> bool {
    let shape = |value: Value| op.ctx.type_data(op.body.ty(value)).tensor_shape();
    let Some((from, to)) = shape(operand).zip(shape(op.result(0))) else { return false };
    let mut pairs = from.iter().rev().zip(to.iter().rev());
    from.len() <= to.len() && pairs.all(|(from, to)| from == to || *from == Dim::Known(1))
}

/// Whether at each axis all operands have the same size, or known ones.
fn are_parts(op: OpRef<'_>) -> bool {
    let shapes = op.body.operands(op.op).map(|part| op.ctx.type_data(op.body.ty(part)).tensor_shape());
    let Some(shapes) = shapes.collect::<Option<Vec<_>>>() else { return false };
    let Some((first, others)) = shapes.split_first() else { return false };
    let is_equal = |axis: usize, other: &[Dim]| {
        let (first, other) = (first.get(axis), other.get(axis));
        first == other || [first, other].iter().all(|dim| dim.is_some_and(|dim| dim.known().is_some()))
    };
    (0..first.len()).all(|axis| others.iter().all(|other| is_equal(axis, other)))
}

/// Whether an operation's window fits wherever its result has a row: it rounds down, and channels are known.
fn slides(op: OpRef<'_>) -> bool {
    let shape = op.ctx.type_data(op.operand_type(0)).tensor_shape();
    let channels = if op.text("layout") == Some("NHWC") { 3 } else { 1 };
    op.attr("ceil").is_none()
        && shape.and_then(|shape| shape.get(channels)).is_some_and(|dim| dim.known().is_some())
}

fn is_static(op: OpRef<'_>, value: Value) -> bool {
    op.ctx.static_shape(op.body.ty(value)).is_some()
}

/// A function at given sizes. It can be set to other sizes, in a context of its own that does not grow.
pub struct SizedBody {
    ctx: Context,
    body: Body,
    /// The values whose types have symbols, with the index of the type.
    values: Vec<(Value, usize)>,
    /// The operations whose properties have symbols, with these properties.
    properties: Vec<(Op, Attr)>,
    at: AtSizes,
    /// The operations that write result 0 into a concatenation, with their attributes except `mem.pitch`.
    makers: Vec<(Op, Attr)>,
    /// The attributes of makers at the sizes, keyed by their attributes without a pitch and by the rows.
    pitched: FxHashMap<(Attr, [u64; 2]), Attr>,
    /// The windows of values at the sizes, if some values do not begin at the first byte of their storage.
    aliases: Option<AliasSets>,
    has_windows: bool,
}

impl SizedBody {
    /// The function of a table, before its sizes are set.
    pub fn new(ctx: &Context, sized: &SizedTypes, body: &Body) -> SizedBody {
        let (mut values, mut properties) = (Vec::new(), Vec::new());
        for block in body.all_blocks() {
            let results = body.ops(block).flat_map(|op| body.results(op));
            let all = body.args(block).iter().copied().chain(results);
            values.extend(all.filter_map(|value| Some((value, *sized.known.get(&body.ty(value))?))));
            let ops = body.ops(block).map(|op| (op, body.properties(op)));
            properties.extend(ops.filter(|(_, properties)| has_symbols(ctx, *properties)));
        }
        let makers = makers_in_place(ctx, body, &AliasSets::of(ctx, body));
        SizedBody {
            ctx: ctx.copy(),
            body: body.clone(),
            values,
            properties,
            at: AtSizes::default(),
            makers: makers.into_iter().map(|op| (op, body.attrs(op))).collect(),
            pitched: FxHashMap::default(),
            aliases: None,
            has_windows: has_windows(ctx, body),
        }
    }

    /// Sets the function's sizes. None if the function does not allow them: see [`SizedTypes::evaluate`].
    pub fn set(&mut self, sized: &SizedTypes, numbers: &[u64]) -> Option<()> {
        self.ctx.forget();
        for (op, attrs) in &self.makers {
            self.body.set_attrs(*op, *attrs);
        }
        sized.evaluate(&self.ctx, numbers, &mut self.at)?;
        for (value, ty) in &self.values {
            self.body.set_ty(*value, self.at.types[*ty]);
        }
        for (op, properties) in &self.properties {
            let properties = sized.attr(&self.ctx, *properties, &self.at)?;
            self.body.set_properties(*op, properties);
        }
        let keeps_law = |op: &Op| {
            let op = self.body.at(&self.ctx, *op);
            op.def().and_then(|def| def.verify).is_none_or(|verify| verify(op).is_ok())
        };
        sized.laws.iter().all(keeps_law).then_some(())?;
        if self.has_windows {
            self.set_windows();
        }
        Some(())
    }

    /// Recomputes the windows of values, and writes the rows of those in concatenations as `mem.pitch`.
    fn set_windows(&mut self) {
        let mut aliases = self.aliases.take().unwrap_or_else(|| AliasSets::of(&self.ctx, &self.body));
        let bytes: Vec<Option<u64>> = self.at.types.iter().map(|ty| tensor_bytes(&self.ctx, *ty)).collect();
        aliases.resize(&self.ctx, &self.body, self.values.iter().map(|(value, ty)| (*value, bytes[*ty])));
        let name = self.ctx.ident(attrs::MEM_PITCH);
        self.pitched.clear();
        for (op, attrs) in &self.makers {
            let pitched = pitch_in_whole(&self.ctx, &self.body, &aliases, *op).map(|[row, pitch]| {
                *self.pitched.entry((*attrs, [row, pitch])).or_insert_with(|| {
                    self.ctx.dict_set(*attrs, name, self.ctx.ints_attr(&[row as i64, pitch as i64]))
                })
            });
            if let Some(pitched) = pitched {
                self.body.set_attrs(*op, pitched);
            }
        }
        self.aliases = Some(aliases);
    }

    /// The offset of a value in its storage; none if it is not known.
    pub fn first_byte(&self, value: Value) -> Option<u64> {
        match &self.aliases {
            None => Some(0),
            Some(aliases) => Some(aliases.window(value)?.first),
        }
    }

    /// The function's context; its handles are valid for this function only.
    pub fn ctx(&self) -> &Context {
        &self.ctx
    }

    /// The function at the sizes that were set last.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The sizes that were set last.
    pub fn at(&self) -> &AtSizes {
        &self.at
    }

    /// Calls `ask` while an operation's attributes are temporarily changed by `set`.
    pub fn with_attrs<T>(
        &mut self,
        op: Op,
        set: impl FnOnce(&Context, &mut Body),
        ask: impl FnOnce(&Context, &Body) -> T,
    ) -> T {
        let before = self.body.attrs(op);
        set(&self.ctx, &mut self.body);
        let answer = ask(&self.ctx, &self.body);
        self.body.set_attrs(op, before);
        answer
    }
}

/// Whether values of a function may begin after the first byte of their storage.
fn has_windows(ctx: &Context, body: &Body) -> bool {
    let mut has_some = false;
    flow::walk(ctx, body, |op| {
        let op = body.at(ctx, op);
        has_some |= op.attr(attrs::MEM_VIEW).is_some() || !parts(op).is_empty();
    });
    has_some
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn sized(text: &str, names: &[&str]) -> (SizedTypes, SizedBody) {
        let ctx = Arc::new(Context::new());
        let module = crate::text::parse(&ctx, "sized.mlir", text.to_owned());
        let module = module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
        let body = module.function("main").expect("it is there");
        let names: Vec<Ident> = names.iter().map(|name| ctx.ident(name)).collect();
        let types = SizedTypes::of(&ctx, body, &names).expect("all sizes are known");
        let body = SizedBody::new(&ctx, &types, body);
        (types, body)
    }

    /// A window of three rows, and a sum whose operands need not have equal sizes.
    const TEXT: &str = "func.func @main(%x: tensor<?x?x8x4xf32, #optc.dims<N, H>>, %w: tensor<6x4x3x3xf32>, %y: tensor<?x1x1x6xf32, #optc.dims<M>>) -> tensor<?x?x6x6xf32, #optc.dims<N, H - 2>> {
  %0 = nn.conv2d %x, %w {layout = \"NHWC\"} : (tensor<?x?x8x4xf32, #optc.dims<N, H>>, tensor<6x4x3x3xf32>) -> tensor<?x?x6x6xf32, #optc.dims<N, H - 2>>
  %1 = nn.reshape %0 {shape = #optc.dims<N, H - 2, 36>} : (tensor<?x?x6x6xf32, #optc.dims<N, H - 2>>) -> tensor<?x?x36xf32, #optc.dims<N, H - 2>>
  %2 = nn.reshape %1 {shape = #optc.dims<N, H - 2, 6, 6>} : (tensor<?x?x36xf32, #optc.dims<N, H - 2>>) -> tensor<?x?x6x6xf32, #optc.dims<N, H - 2>>
  return %2 : tensor<?x?x6x6xf32, #optc.dims<N, H - 2>>
}";

    #[test]
    fn types_and_properties_are_numbers_and_the_context_does_not_grow() {
        let (types, mut body) = sized(TEXT, &["N", "H", "M"]);
        let mut interned = Vec::new();
        for (n, h) in [(1, 5), (2, 9), (7, 100)].repeat(2) {
            body.set(&types, &[n, h, 1]).expect("the window fits");
            let text = crate::text::short_type(body.ctx(), body.body().ty(last(&body)));
            assert_eq!(text, format!("tensor<{n}x{}x6x6xf32>", h - 2));
            interned.push(body.ctx().interned());
        }
        assert_eq!(interned[..3], interned[3..]);
    }

    fn last(body: &SizedBody) -> Value {
        let body = body.body();
        let end = body.last_op(body.entry(body.root()).unwrap()).unwrap();
        body.operand(end, 0)
    }

    #[test]
    fn a_window_that_does_not_fit_has_no_types() {
        let (types, mut body) = sized(TEXT, &["N", "H", "M"]);
        assert!(body.set(&types, &[1, 2, 1]).is_none());
        assert!(body.set(&types, &[1, 3, 1]).is_some());
        assert!(body.set(&types, &[0, 3, 1]).is_some(), "a batch of no images has");
    }

    #[test]
    fn what_is_not_proved_for_all_sizes_is_inferred_at_each() {
        let text = "func.func @main(%x: tensor<?x8xf32, #optc.dims<N>>, %y: tensor<8x?xf32, #optc.dims<M>>, %z: tensor<?x4xf32, #optc.dims<K>>) -> tensor<?x4xf32, #optc.dims<N>> {
  %0 = nn.matmul %x, %y : (tensor<?x8xf32, #optc.dims<N>>, tensor<8x?xf32, #optc.dims<M>>) -> tensor<?x?xf32, #optc.dims<N, M>>
  %1 = nn.matmul %0, %z : (tensor<?x?xf32, #optc.dims<N, M>>, tensor<?x4xf32, #optc.dims<K>>) -> tensor<?x4xf32, #optc.dims<N>>
  return %1 : tensor<?x4xf32, #optc.dims<N>>
}";
        let (types, mut body) = sized(text, &["N", "M", "K"]);
        assert!(body.set(&types, &[2, 3, 3]).is_some());
        assert!(body.set(&types, &[2, 3, 4]).is_none(), "3 columns, 4 rows");
    }

    #[test]
    fn parts_of_a_concatenation_that_may_differ_are_compared_at_each_size() {
        let text = "
func.func @main(%x: tensor<?x3xf32, #optc.dims<N>>, %y: tensor<?x4xf32, #optc.dims<M>>, %z: tensor<5x4xf32>)
    -> (tensor<?x7xf32, #optc.dims<N>>, tensor<5x8xf32>) {
  %0 = nn.concat %x, %y {axis = 1 : i64}
    : (tensor<?x3xf32, #optc.dims<N>>, tensor<?x4xf32, #optc.dims<M>>) -> tensor<?x7xf32, #optc.dims<N>>
  %1 = nn.concat %y, %z {axis = 1 : i64}
    : (tensor<?x4xf32, #optc.dims<M>>, tensor<5x4xf32>) -> tensor<5x8xf32>
  return %0, %1 : tensor<?x7xf32, #optc.dims<N>>, tensor<5x8xf32>
}";
        let (types, mut body) = sized(text, &["N", "M"]);
        assert!(body.set(&types, &[5, 5]).is_some());
        for numbers in [[4, 5], [5, 4], [4, 4]] {
            assert!(body.set(&types, &numbers).is_none(), "{numbers:?}");
        }
    }

    #[test]
    fn where_values_lie_in_others_is_found_again_at_each_size() {
        let text = "func.func @main(%x: tensor<?x?xf32, #optc.dims<N, M>>, %y: tensor<?x4xf32, #optc.dims<N>>) -> tensor<?x?xf32, #optc.dims<N, M + 8>> {
  %0 = nn.exp %x : tensor<?x?xf32, #optc.dims<N, M>>
  %1 = nn.exp %y : tensor<?x4xf32, #optc.dims<N>>
  %2 = nn.concat %0, %1 {axis = 1 : i64, mem.parts = [0, 1]} : (tensor<?x?xf32, #optc.dims<N, M>>, tensor<?x4xf32, #optc.dims<N>>) -> tensor<?x?xf32, #optc.dims<N, M + 4>>
  %3 = nn.concat %2, %1 {axis = 1 : i64, mem.parts = [0]} : (tensor<?x?xf32, #optc.dims<N, M + 4>>, tensor<?x4xf32, #optc.dims<N>>) -> tensor<?x?xf32, #optc.dims<N, M + 8>>
  %4 = nn.slice %3 {starts = array<i64: 0, 2>, sizes = #optc.dims<N, M>, mem.view} : (tensor<?x?xf32, #optc.dims<N, M + 8>>) -> tensor<?x?xf32, #optc.dims<N, M>>
  %5 = nn.exp %4 : tensor<?x?xf32, #optc.dims<N, M>>
  %6 = nn.concat %5, %1, %1 {axis = 1 : i64} : (tensor<?x?xf32, #optc.dims<N, M>>, tensor<?x4xf32, #optc.dims<N>>, tensor<?x4xf32, #optc.dims<N>>) -> tensor<?x?xf32, #optc.dims<N, M + 8>>
  return %6 : tensor<?x?xf32, #optc.dims<N, M + 8>>
}";
        let (types, mut sized) = sized(text, &["N", "M"]);
        for numbers in [[3, 5], [1, 1], [7, 2], [2, 100], [0, 4], [3, 5]] {
            sized.set(&types, &numbers).expect("any size will do");
            let fresh = AliasSets::of(sized.ctx(), sized.body());
            for block in sized.body().all_blocks() {
                for value in sized.body().ops(block).flat_map(|op| sized.body().results(op)) {
                    let expected = fresh.window(value).map(|window| window.first);
                    assert_eq!(sized.first_byte(value), expected, "{numbers:?}: {value}");
                }
            }
        }
    }
}
