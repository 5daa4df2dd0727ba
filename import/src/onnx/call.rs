//! The conversion of one node: the interface for converters.
//!
//! A converter reads the node's attributes and operands, emits operations, and returns the node's results; or
//! it refuses, with the found and the expected. If ONNX has an operand where the IR has an attribute (a
//! shape, axes, bounds), the operand must be a constant or follow from named sizes; it is read through
//! [`NodeConversion::known_ints`] and [`NodeConversion::known_float`].

use ir::attrs::Splat;
use ir::dims::{self, Ranges, Requirement, SizeArithmetic};
use ir::narrow::{nearest_bf16, nearest_f16};
use ir::opdef::{Kind, OpDef, Presence, TypeClass};
use ir::size::tensor_bytes;
use ir::{
    Attr, AttrData, Blob, Builder, Context, DenseData, Dim, DimExpr, FloatKind, InferError, Signedness, Type,
    TypeData, Value,
};

use super::convert::linear::{has_kernel, multiply_elements};
use super::element::Element;
use super::model::NodeProto;
use super::open::OpenAxes;
use super::tensor::TensorProto;
use super::weights::{Keys, Weight, WeightFiles, element_type};

/// Why a node can't be converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What was found and what was expected, lower case.
    pub message: String,
    /// A hint.
    pub help: Option<String>,
}

impl From<String> for Refusal {
    fn from(message: String) -> Refusal {
        Refusal { message, help: None }
    }
}

impl From<&str> for Refusal {
    fn from(message: &str) -> Refusal {
        Refusal::from(message.to_owned())
    }
}

impl From<InferError> for Refusal {
    fn from(error: InferError) -> Refusal {
        Refusal::from(error.0)
    }
}

/// The result of a conversion: the values of the node's outputs.
pub type Results = Result<Vec<Value>, Refusal>;

/// A node that is being converted.
pub struct NodeConversion<'c, 'm> {
    /// The node.
    pub node: &'c NodeProto<'m>,
    /// The version of the operator set.
    pub version: i64,
    /// Inserts the operations.
    pub builder: Builder<'c>,
    pub(super) operands: Vec<Option<Value>>,
    pub(super) weights: &'c mut WeightFiles<'m>,
    /// The known ranges of symbols.
    pub ranges: &'c Ranges,
    /// The known facts about data-dependent sizes.
    pub(super) open: &'c mut OpenAxes,
    /// Further requirements of sizes.
    pub(super) required: &'c mut Vec<Requirement>,
}

/// The greatest size in bytes of a constant with a shape, axes or bounds.
const MAX_KNOWN_BYTES: u64 = 64 * 1024;
/// The greatest size in bytes of a stream that must be known, such as an encoded image.
const MOST_STREAM_BYTES: u64 = 1 << 26;
/// The greatest number of elements written into the module for an operator with a count: a file of a few
/// bytes may ask for any number.
pub(super) const MOST_WRITTEN: u64 = 1 << 24;
/// The greatest number of consecutive operations between constants and a shape, axes or bounds.
const MAX_KNOWN_STEPS: usize = 32;

impl<'c> NodeConversion<'c, '_> {
    /// The context of all handles.
    pub fn ctx(&self) -> &'c Context {
        self.builder.ctx
    }

    /// The number of operands in the node, including omitted ones.
    pub fn operand_count(&self) -> usize {
        self.operands.len()
    }

    /// Operand `index`, unless it is omitted.
    pub fn optional(&self, index: usize) -> Option<Value> {
        self.operands.get(index).copied().flatten()
    }

    /// Operand `index`, which is required.
    pub fn operand(&self, index: usize) -> Result<Value, Refusal> {
        self.optional(index).ok_or_else(|| Refusal::from(format!("input {index} is left out")))
    }

    /// Whether the node's result `index` is used.
    pub fn wants_result(&self, index: usize) -> bool {
        self.node.outputs.get(index).is_some_and(|name| !name.is_empty())
    }

    /// The sizes of a value, all of which must be known.
    pub fn shape(&self, value: Value) -> Result<Vec<u64>, Refusal> {
        let dims = self.dims(value)?;
        let shape = dims.iter().map(|dim| dim.known()).collect::<Option<_>>();
        shape.ok_or_else(|| {
            format!("an input of sizes {}, expected known sizes", SizeArithmetic(self.ctx()).list(&dims))
                .into()
        })
    }

    /// The sizes of a value.
    pub fn dims(&self, value: Value) -> Result<Vec<Dim>, Refusal> {
        let shape = self.ctx().type_data(self.builder.body.ty(value)).tensor_shape();
        shape.map(<[Dim]>::to_vec).ok_or_else(|| Refusal::from("an input of unknown rank"))
    }

    /// The rank of a value.
    pub fn rank(&self, value: Value) -> Result<usize, Refusal> {
        Ok(self.dims(value)?.len())
    }

    /// The same elements in another shape.
    pub fn reshape_to(&mut self, value: Value, shape: &[Dim]) -> Result<Value, Refusal> {
        let own = self.dims(value)?;
        if own == shape && !shape.contains(&Dim::Unknown) {
            return Ok(value);
        }
        let sizes = self.ctx().dims_attr(shape);
        self.emit("nn.reshape", &[value], &[("shape", sizes)])
    }

    /// The type of a value's elements.
    pub fn element(&self, value: Value) -> Type {
        self.ctx().elem(self.builder.body.ty(value))
    }

    /// The index of dimension `axis` of `rank`; a negative one counts from the end.
    pub fn axis(&self, axis: i64, rank: usize) -> Result<usize, Refusal> {
        let signed_rank = rank as i64;
        let index = if axis < 0 { axis.saturating_add(signed_rank) } else { axis };
        match usize::try_from(index) {
            Ok(index) if index < rank => Ok(index),
            _ => Err(format!("axis {axis}, expected {} to {}", -signed_rank, signed_rank - 1).into()),
        }
    }

    /// A position between dimensions, from 0 (before all) to `rank` (after all); a negative one counts from
    /// the end.
    pub fn position(&self, axis: i64, rank: usize) -> Result<usize, Refusal> {
        if axis == rank as i64 { Ok(rank) } else { self.axis(axis, rank) }
    }

    /// Emits an operation with one result. Integer attributes equal to their default are omitted.
    pub fn emit(&mut self, name: &str, operands: &[Value], attrs: &[(&str, Attr)]) -> Result<Value, Refusal> {
        if name == "nn.matmul" && !has_kernel(self, operands[0]) {
            let turned =
                ["transpose_a", "transpose_b"].map(|side| attrs.iter().any(|(name, _)| *name == side));
            return multiply_elements(self, operands, turned);
        }
        let value = self.emit_unfollowed(name, operands, attrs)?;
        let ctx = self.ctx();
        let body = &*self.builder.body;
        let op = body.defining_op(value).expect("it was just made");
        self.open.follow(ctx, body, op)?;
        Ok(value)
    }

    /// The same, without tracking open axes of its result yet.
    pub(super) fn emit_unfollowed(
        &mut self,
        name: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
    ) -> Result<Value, Refusal> {
        let ctx = self.ctx();
        let def = ctx.def(ctx.op_name(name));
        let says_more = |(name, value): &&(&str, Attr)| {
            let presence = def.and_then(|def| def.attr(name)).map(|attr| attr.presence);
            match presence {
                Some(Presence::DefaultInt(default)) => ctx.int_value(*value) != Some(default),
                Some(Presence::DefaultInts(default)) => ctx.ints_value(*value).as_deref() != Some(default),
                _ => true,
            }
        };
        let attrs: Vec<(&str, Attr)> = attrs.iter().filter(says_more).copied().collect();
        let narrow = operands.iter().map(|operand| self.element(*operand)).find(|elem| is_half(ctx, *elem));
        match narrow.filter(|_| def.is_some_and(sums_up)) {
            Some(elem) => self.emit_widened(name, operands, &attrs, elem),
            None => Ok(self.builder.value(name, operands, &attrs)?),
        }
    }

    /// Emits an operation without a kernel for floats of 16 bits: computed in `f32`, and rounded to `elem`.
    fn emit_widened(
        &mut self,
        name: &str,
        operands: &[Value],
        attrs: &[(&str, Attr)],
        elem: Type,
    ) -> Result<Value, Refusal> {
        let ctx = self.ctx();
        let mut wide = Vec::new();
        for operand in operands {
            wide.push(if is_half(ctx, self.element(*operand)) {
                self.emit("nn.cast", &[*operand], &[("to", ctx.type_attr(ctx.f32()))])?
            } else {
                *operand
            });
        }
        let value = self.emit(name, &wide, attrs)?;
        if self.element(value) != ctx.f32() {
            return Ok(value);
        }
        Ok(self.builder.value("nn.cast", &[value], &[("to", ctx.type_attr(elem))])?)
    }

    /// The same elements in another shape.
    pub fn reshape(&mut self, value: Value, shape: &[u64]) -> Result<Value, Refusal> {
        self.reshape_to(value, &shape.iter().map(|size| Dim::Known(*size)).collect::<Vec<_>>())
    }

    /// An error about an unknown size of a value. It names the operation where the size was lost: its
    /// operands' sizes are known, its result's is not.
    pub fn lost_size(&self, value: Value) -> Refusal {
        let ctx = self.ctx();
        let body = &*self.builder.body;
        let shape = |value: Value| ctx.type_data(body.ty(value)).tensor_shape().unwrap_or(&[]);
        let is_open = |value: &Value| shape(*value).contains(&Dim::Unknown);
        let message =
            format!("sizes {}, expected sizes that are known", SizeArithmetic(ctx).list(shape(value)));
        let mut op = body.defining_op(value);
        while let Some(before) = op.and_then(|op| body.operands(op).find(is_open)) {
            op = body.defining_op(before);
        }
        let help = op.map(|op| {
            let sizes: Vec<String> = body.operands(op).map(|value| SizeArithmetic(ctx).list(shape(value))).collect();
            let place = ir::diag::describe(ctx, body.location(op)).unwrap_or_default();
            let sizes = sizes.join(", ");
            format!("{place} has a result of unknown size for operands of sizes {sizes}: a bound of a named size (`--dim 'N<=512'`) may help")
        });
        Refusal { message, help }
    }

    /// A scalar constant with the element type of `like`.
    pub fn scalar_like(&mut self, number: f64, like: Value) -> Result<Value, Refusal> {
        let elem = self.element(like);
        let bytes = number_bytes(self.ctx(), number, elem)?;
        let ty = self.ctx().tensor(&[], elem);
        let data = DenseData::Bytes { splat: Splat::One, bytes: bytes.into() };
        let value = self.ctx().attr(AttrData::Dense { ty, data });
        Ok(self.builder.constant(value, ty))
    }

    /// A constant tensor with the elements of `weight`; `key` is its name if its bytes are kept outside the
    /// text.
    pub fn constant(&mut self, weight: Weight, key: &str) -> Result<Value, Refusal> {
        Ok(emit_constant(&mut self.builder, &mut self.weights.keys, weight, key)?)
    }

    /// The elements of a tensor in an attribute; `key` is its name in the rules for stripped weights.
    pub fn read_tensor(&mut self, tensor: &TensorProto<'_>, key: &str) -> Result<Weight, Refusal> {
        Ok(self.weights.read(tensor, key)?)
    }

    /// The integers of operand `index`, which must be constant at all sizes; none if it is omitted.
    pub fn known_ints(&self, index: usize) -> Result<Option<Vec<i64>>, Refusal> {
        let Some(value) = self.optional(index) else { return Ok(None) };
        let (elem, bytes) = match self.known_bytes(index, value, MAX_KNOWN_BYTES) {
            Ok(found) => found,
            Err(refusal) => return self.numbers_of_sizes(value).map(Some).ok_or(refusal),
        };
        match self.ctx().type_data(elem) {
            TypeData::Integer { width: 64, .. } => Ok(Some(words(&bytes, i64::from_le_bytes))),
            TypeData::Integer { width: 32, .. } => {
                Ok(Some(words(&bytes, i32::from_le_bytes).into_iter().map(i64::from).collect()))
            }
            TypeData::Integer { width: 1, .. } => Ok(Some(bytes.into_iter().map(i64::from).collect())),
            _ => Err(format!("input {index} does not hold integers").into()),
        }
    }

    /// Integers computed from sizes, if they are the same for all sizes.
    fn numbers_of_sizes(&self, value: Value) -> Option<Vec<i64>> {
        let found = dims::elements(self.ctx(), self.builder.body, value, self.ranges)?;
        found.into_iter().map(|size| self.ctx().dim_expr(size).constant()).collect()
    }

    /// The integers of operand `index` as expressions of sizes; none if it is omitted.
    pub fn known_sizes(&self, index: usize) -> Result<Option<Vec<DimExpr>>, Refusal> {
        let ctx = self.ctx();
        match self.known_ints(index) {
            Ok(ints) => Ok(ints.map(|ints| ints.into_iter().map(|int| dims::constant(ctx, int)).collect())),
            Err(refusal) => {
                let value = self.operand(index)?;
                dims::elements(ctx, self.builder.body, value, self.ranges).map(Some).ok_or(refusal)
            }
        }
    }

    /// The same, with symbols for data-dependent sizes, which may not occur in types.
    pub(super) fn counted_sizes(&self, index: usize) -> Result<Option<Vec<DimExpr>>, Refusal> {
        self.known_sizes(index).or_else(|refusal| {
            let value = self.operand(index)?;
            self.open.elements(self.ctx(), self.builder.body, value, self.ranges).map(Some).ok_or(refusal)
        })
    }

    /// Whether `a <= b` is proved by the known ranges of symbols.
    pub fn is_at_most(&self, a: DimExpr, b: DimExpr) -> bool {
        dims::provably_at_most(self.ctx(), a, b, self.ranges)
    }

    /// Records that the node is defined only if two sizes are equal.
    pub fn require_equal(&mut self, a: Dim, b: Dim) {
        let ctx = self.ctx();
        let sizes = SizeArithmetic(self.ctx());
        let found =
            sizes.expr(a).zip(sizes.expr(b)).and_then(|(a, b)| dims::to_agree(ctx, a, b, self.ranges));
        self.required.extend(found);
    }

    /// Records that the node is defined only if two sizes are equal, or one of them is 1.
    pub fn require_stretch(&mut self, a: Dim, b: Dim) {
        let ctx = self.ctx();
        let sizes = SizeArithmetic(self.ctx());
        let found =
            sizes.expr(a).zip(sizes.expr(b)).and_then(|(a, b)| dims::to_stretch(ctx, a, b, self.ranges));
        self.required.extend(found);
    }

    /// The numbers of operand `index`, a constant of f32; none if it is omitted.
    pub fn known_floats(&self, index: usize) -> Result<Option<Vec<f32>>, Refusal> {
        let Some(value) = self.optional(index) else { return Ok(None) };
        let (elem, bytes) = match self.known_bytes(index, value, MAX_KNOWN_BYTES) {
            Ok(found) => found,
            Err(refusal) => {
                let numbers = self.numbers_of_sizes(value).ok_or(refusal)?;
                return Ok(Some(numbers.into_iter().map(|number| number as f32).collect()));
            }
        };
        match self.ctx().type_data(elem) {
            TypeData::Float(FloatKind::F32) => Ok(Some(words(&bytes, f32::from_le_bytes))),
            _ => Err(format!("input {index} does not hold floats").into()),
        }
    }

    /// The only number of operand `index`, a constant of any supported type; none if it is omitted.
    pub fn known_number(&self, index: usize) -> Result<Option<f64>, Refusal> {
        if let Ok(Some(numbers)) = self.known_ints(index) {
            return match numbers[..] {
                [number] => Ok(Some(number as f64)),
                _ => Err(format!("input {index} is not one number").into()),
            };
        }
        if let Some(value) = self.optional(index)
            && let TypeData::Integer { width, signedness } = *self.ctx().type_data(self.element(value))
        {
            let (_, bytes) = self.known_bytes(index, value, MAX_KNOWN_BYTES)?;
            let is_unsigned = signedness == Signedness::Unsigned;
            return match (width, is_unsigned, &bytes[..]) {
                (8, true, [byte]) => Ok(Some(f64::from(*byte))),
                (8, false, [byte]) => Ok(Some(f64::from(byte.cast_signed()))),
                (16, true, [low, high]) => Ok(Some(f64::from(u16::from_le_bytes([*low, *high])))),
                (16, false, [low, high]) => Ok(Some(f64::from(i16::from_le_bytes([*low, *high])))),
                _ => Err(format!("input {index} is not one number").into()),
            };
        }
        self.known_float(index)
    }

    /// The strings of operand `index`, which must be constant.
    pub fn known_strings(&self, index: usize) -> Result<Vec<&'static str>, Refusal> {
        let (_, bytes) = self.known_bytes(index, self.operand(index)?, MAX_KNOWN_BYTES)?;
        let strings = words(&bytes, u64::from_le_bytes).into_iter().map(ir::strings::text);
        strings.collect::<Option<_>>().ok_or_else(|| format!("input {index} does not hold strings").into())
    }

    /// The bytes of operand `index`, a constant of `uint8` with one axis. At most 64 MiB are known.
    pub fn known_stream(&self, index: usize) -> Result<Vec<u8>, Refusal> {
        let value = self.operand(index)?;
        let byte = TypeData::Integer { width: 8, signedness: Signedness::Unsigned };
        if self.rank(value)? != 1 || *self.ctx().type_data(self.element(value)) != byte {
            return Err(format!("input {index} is not one sequence of `uint8`").into());
        }
        Ok(self.known_bytes(index, value, MOST_STREAM_BYTES)?.1)
    }

    /// A constant of 64-bit integers.
    pub fn int64_constant(&mut self, numbers: &[i64], shape: &[u64]) -> Result<Value, Refusal> {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let weight = Weight { element: Element::Int64, dims: shape.to_vec(), blob: Blob::from_bytes(bytes) };
        self.constant(weight, self.node.outputs[0])
    }

    /// The integers `0..count`, of 64 bits.
    pub fn indices(&mut self, count: Dim) -> Result<Value, Refusal> {
        match count {
            Dim::Known(count) if count <= MOST_WRITTEN => {
                self.int64_constant(&(0..count.cast_signed()).collect::<Vec<_>>(), &[count])
            }
            _ => self.emit("nn.iota", &[], &[("size", self.ctx().dims_attr(&[count]))]),
        }
    }

    /// The only number of operand `index`, a constant of floats; none if it is omitted.
    pub fn known_float(&self, index: usize) -> Result<Option<f64>, Refusal> {
        let Some(value) = self.optional(index) else { return Ok(None) };
        let (elem, bytes) = self.known_bytes(index, value, MAX_KNOWN_BYTES)?;
        let numbers = match self.ctx().type_data(elem) {
            TypeData::Float(FloatKind::F32) => {
                words(&bytes, f32::from_le_bytes).into_iter().map(f64::from).collect()
            }
            TypeData::Float(FloatKind::F64) => words(&bytes, f64::from_le_bytes),
            TypeData::Float(FloatKind::F16) => words(&bytes, |word| half::f16::from_le_bytes(word).to_f64()),
            TypeData::Float(FloatKind::Bf16) => {
                words(&bytes, |word| half::bf16::from_le_bytes(word).to_f64())
            }
            _ => Vec::new(),
        };
        match numbers[..] {
            [number] => Ok(Some(number)),
            _ => Err(format!("input {index} is not one float").into()),
        }
    }

    /// Whether a value depends on small constants only.
    pub fn is_known(&self, value: Value) -> bool {
        self.evaluate(value, MAX_KNOWN_STEPS, MAX_KNOWN_BYTES).is_ok()
    }

    /// Whether a value is a truth value that is true for all inputs.
    pub(super) fn is_true(&self, value: Value) -> bool {
        let found = self.evaluate(value, MAX_KNOWN_STEPS, MAX_KNOWN_BYTES);
        found.is_ok_and(|found| !found.bytes.is_empty() && found.bytes.iter().all(|byte| *byte == 1))
    }

    fn known_bytes(&self, index: usize, value: Value, most: u64) -> Result<(Type, Vec<u8>), Refusal> {
        let found = self.evaluate(value, MAX_KNOWN_STEPS, most).map_err(|fault| match fault {
            UnknownValue::Computed => {
                Refusal::from(format!("input {index} is computed, expected a constant"))
            }
            UnknownValue::Large(bytes) => format!("input {index} has {bytes} bytes").into(),
            UnknownValue::Fault(fault) => format!("input {index} can't be computed: it {fault}").into(),
        })?;
        Ok((self.ctx().elem(found.ty), found.bytes.to_vec()))
    }

    /// The value of an expression of constants of at most `most` bytes, with at most `steps` nested
    /// operations. A value without elements is known for any origin.
    fn evaluate(&self, value: Value, steps: usize, most: u64) -> Result<ir::interp::Tensor, UnknownValue> {
        let body = &*self.builder.body;
        let ty = body.ty(value);
        if tensor_bytes(self.ctx(), ty) == Some(0) {
            return Ok(ir::interp::Tensor { ty, bytes: Vec::new().into() });
        }
        let op = body.defining_op(value).ok_or(UnknownValue::Computed)?;
        let op = body.at(self.ctx(), op);
        if steps == 0 || !op.has(ir::Traits::PURE) || body.result_count(op.op) != 1 {
            return Err(UnknownValue::Computed);
        }
        let bytes = tensor_bytes(self.ctx(), ty).ok_or(UnknownValue::Computed)?;
        if bytes > most {
            return Err(UnknownValue::Large(bytes));
        }
        let operands = body.operands(op.op).map(|operand| self.evaluate(operand, steps - 1, most));
        let results = ir::interp::eval_op(op, &operands.collect::<Result<Vec<_>, _>>()?);
        let results = results.map_err(|fault| UnknownValue::Fault(fault.0))?;
        results.into_iter().next().ok_or(UnknownValue::Computed)
    }
}

/// Whether an operation computes with many elements at once, rather than only moving them.
fn sums_up(def: &OpDef) -> bool {
    match def.kind {
        Kind::Contract(_) | Kind::Reduce(_) => true,
        Kind::Kernel(_) => def
            .operands
            .iter()
            .any(|operand| matches!(operand.types, TypeClass::FloatTensor | TypeClass::FloatOrByteTensor)),
        _ => false,
    }
}

/// Whether it is a float of 16 bits.
pub(super) fn is_half(ctx: &Context, elem: Type) -> bool {
    matches!(ctx.type_data(elem), TypeData::Float(FloatKind::F16 | FloatKind::Bf16))
}

/// Why a value is not known at import.
enum UnknownValue {
    /// It depends on the model's inputs.
    Computed,
    /// It is a constant of this number of bytes.
    Large(u64),
    /// The interpreter has no result for it.
    Fault(String),
}

fn words<T, const WIDTH: usize>(bytes: &[u8], word: impl Fn([u8; WIDTH]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|&chunk| word(chunk)).collect()
}

fn number_bytes(ctx: &Context, number: f64, elem: Type) -> Result<Vec<u8>, Refusal> {
    Ok(match ctx.type_data(elem) {
        TypeData::Float(FloatKind::F32) => (number as f32).to_le_bytes().to_vec(),
        TypeData::Float(FloatKind::F64) => number.to_le_bytes().to_vec(),
        TypeData::Float(FloatKind::F16) => nearest_f16(number).to_le_bytes().to_vec(),
        TypeData::Float(FloatKind::Bf16) => nearest_bf16(number).to_le_bytes().to_vec(),
        TypeData::Integer { .. } if number.is_finite() && number.fract() != 0.0 => {
            return Err(format!("{number} as an integer").into());
        }
        TypeData::Integer { width, .. } => {
            (number as i64).to_le_bytes()[..(width.div_ceil(8) as usize).min(8)].to_vec()
        }
        _ => return Err("elements of this type are not supported here".into()),
    })
}

/// Constants of at most this number of elements are written into the text; larger ones are resources.
const MAX_INLINE_ELEMENTS: u64 = 8;

/// An `nn.constant` of `weight`.
///
/// A big one is a `dense_resource` under `key`, with `#1`, `#2` ... appended if the context already has a
/// blob of that name (from another model).
pub(super) fn emit_constant(
    builder: &mut Builder<'_>,
    keys: &mut Keys,
    weight: Weight,
    key: &str,
) -> Result<Value, String> {
    let ctx = builder.ctx;
    let elem = element_type(ctx, weight.element)?;
    let ty = ctx.tensor(&weight.dims, elem);
    let is_packed = weight.element.bits() < 8;
    let value = if weight.element == Element::String {
        ctx.attr(AttrData::Dense { ty, data: ir::strings::dense(&weight.blob.to_vec()) })
    } else if weight.dims.iter().product::<u64>() <= MAX_INLINE_ELEMENTS && !is_packed {
        let width = (weight.element.bits() / 8) as usize;
        ctx.attr(AttrData::Dense { ty, data: inline(weight.blob.to_vec(), width) })
    } else {
        ctx.resource_attr(&keys.take(ctx, key), ty, weight.blob)
    };
    Ok(builder.constant(value, ty))
}

fn inline(bytes: Vec<u8>, width: usize) -> DenseData {
    let first = bytes.get(..width).unwrap_or_default();
    if !first.is_empty() && bytes.chunks(width).all(|element| element == first) {
        return DenseData::Bytes { splat: Splat::One, bytes: first.into() };
    }
    DenseData::Bytes { splat: Splat::All, bytes: bytes.into() }
}
