//! Quantized contractions: products of dequantized numbers become products of 8-bit integers, then a scale.
//!
//! ```text
//! %1 = (%x - %z) * %s                   %1 = nn.quantized_matmul %x, %w, %z, %v    (sums of integers)
//! %2 = (%w - %v) * %t             =>    %2 = nn.cast %1
//! %3 = nn.matmul %1, %2, %b             %3 = %2 * (%s * %t) + %b
//! %4 = nn.round(%3 / %q)                %4 = nn.round(%2 * (%s * %t / %q) + %b / %q)
//! ```
//!
//! This is how exporters write quantized networks: QuantizeLinear and DequantizeLinear around operations on
//! floats. Sums of integers are exact, so the new result is nearer to the exact one than sums of floats are;
//! it is not the same to the bit.
//!
//! If the result is requantized, the division by that scale is folded into the factors. It must be by a
//! constant and follow the contraction, alone or after a relu. A division of the sum of two dequantized
//! numbers, as at the end of a block with a residual, is folded likewise.
//!
//! Functions of single bytes, such as an activation between two quantizations, become lookup tables
//! (`tables.rs`). Operations that only select, rearrange or concatenate dequantized numbers do so on the
//! bytes (`moves.rs`).
//!
//! The second operand has to be a weight, as only weights are packed before the program runs. Convolutions in
//! groups of less than 8 channels, unless each has 1 or 4 in and out, stay as they are: their kernels
//! multiply floats.

mod moves;
mod tables;

use ir::builder::InsertPoint;
use ir::dequantized::{Dequantized, are_integers_faster, bytes_of};
use ir::opdef::Contract;
use ir::scalar::{Binary, Scalar};
use ir::weights::WeightSet;
use ir::{Attr, Body, Builder, Context, Dim, Kind, Op, OpSpec, Traits, Type, TypeData, Value};

use crate::constants;
use crate::dce::remove_dead;
use crate::edit::{blocks, rebuild, reshape};
use crate::manager::{Changes, Example, PassDef, PassRun, Stage, StageRule};

/// The pass `integers`.
pub(crate) static INTEGERS: PassDef = PassDef {
    name: "integers",
    doc: "Multiplies integers of 8 bits where a contraction with weights reads numbers that are made of such \
          by a zero point and a scale, as exporters write quantized networks. Functions of single bytes \
          become tables; gathers, max pools, reshapes, transposes and concatenations of such numbers become \
          those of bytes.",
    options: &[],
    example: Example {
        before: r#"func.func @main(%x: tensor<2x8xui8>) -> tensor<2x4xf32> {
  %w = nn.constant dense<3> : tensor<8x4xi8>
  %z = nn.constant dense<128> : tensor<ui8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<2x8xui8>) -> tensor<2x8xf32>
  %1 = nn.cast %z {to = f32} : (tensor<ui8>) -> tensor<f32>
  %2 = nn.sub %0, %1 : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %3 = nn.mul %2, %s : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %4 = nn.cast %w {to = f32} : (tensor<8x4xi8>) -> tensor<8x4xf32>
  %5 = nn.mul %4, %s : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  %6 = nn.matmul %3, %5 : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  return %6 : tensor<2x4xf32>
}"#,
        after: r#"module {
  func.func @main(%arg0: tensor<2x8xui8>) -> tensor<2x4xf32> {
    %0 = nn.constant dense<3> : tensor<8x4xi8>
    %1 = nn.constant dense<128> : tensor<ui8>
    %2 = nn.constant dense<5.000000e-01> : tensor<f32>
    %3 = nn.constant dense<0> : tensor<i8>
    %4 = nn.quantized_matmul %arg0, %0, %1, %3 : (tensor<2x8xui8>, tensor<8x4xi8>, tensor<ui8>, tensor<i8>) -> tensor<2x4xi32>
    %5 = nn.cast %4 {to = f32} : (tensor<2x4xi32>) -> tensor<2x4xf32>
    %6 = nn.mul %2, %2 : tensor<f32>
    %7 = nn.mul %5, %6 : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    return %7 : tensor<2x4xf32>
  }
}"#,
    },
    stage: StageRule::UpTo(Stage::Simplify),
    run: PassRun::Function(|pass, body| {
        let made = multiply_integers(pass.ctx, body, &pass.changes);
        pass.count("products-of-integers", made.products as u64);
        pass.count("tables", made.tables as u64);
        pass.count("selections-of-bytes", made.selections as u64);
        pass.count("concatenations-of-bytes", made.concatenations as u64);
        Ok(())
    }),
};

/// The numbers of rewrites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// Contractions that multiply integers.
    pub products: usize,
    /// Functions of bytes that became tables.
    pub tables: usize,
    /// Operations that select or rearrange bytes instead of floats.
    pub selections: usize,
    /// Concatenations of bytes instead of floats.
    pub concatenations: usize,
}

/// Rewrites contractions of dequantized numbers and functions of single bytes.
pub fn multiply_integers(ctx: &Context, body: &mut Body, changes: &Changes) -> Rewritten {
    let weights = WeightSet::of(ctx, body);
    let ops: Vec<Op> = blocks(ctx, body).into_iter().flat_map(|block| body.ops(block)).collect();
    let mut made = 0;
    for op in &ops {
        let Some(found) = Found::of(ctx, body, &weights, *op) else { continue };
        if changes.allow(|| format!("{} multiplies integers", body.at(ctx, *op).describe())) {
            IntegerWriter { ctx, body, weights: &weights, op: *op, at: *op }.write(&found);
            made += 1;
        }
    }
    if made > 0 {
        for op in &ops {
            IntegerWriter { ctx, body, weights: &weights, op: *op, at: *op }.divide_addends(changes);
        }
    }
    let selects = |op: &&Op| moves::select_bytes(ctx, body, &weights, **op, changes);
    let selections = ops.iter().filter(selects).count();
    let concatenates = |op: &&Op| moves::concatenate_bytes(ctx, body, &weights, **op, changes);
    let concatenations = ops.iter().filter(concatenates).count();
    if made + selections + concatenations > 0 {
        remove_dead(ctx, body);
    }
    // The factors and addends that were made above are weights too.
    let weights = WeightSet::of(ctx, body);
    let ops: Vec<Op> = blocks(ctx, body).into_iter().flat_map(|block| body.ops(block)).collect();
    let tables = tables::look_up(ctx, body, &weights, &ops, changes);
    if tables > 0 {
        remove_dead(ctx, body);
    }
    Rewritten { products: made, tables, selections, concatenations }
}

/// A dequantized value: `(bytes - zero) * scale`.
struct Scaled {
    /// Integers of 8 bits.
    bytes: Value,
    /// The zero point as an integer of the same type; absent: 0.
    zero: Option<Value>,
    /// The zero point as a float, as it is subtracted.
    subtracted: Option<Value>,
    /// Floats.
    scale: Value,
}

impl Scaled {
    /// Matches a dequantized value.
    fn of(ctx: &Context, body: &Body, value: Value) -> Option<Scaled> {
        let Dequantized { bytes, zero, scale, .. } = Dequantized::of(ctx, body, value)?;
        let elem = ctx.elem(body.ty(bytes));
        let subtracted = zero;
        let zero = match subtracted {
            Some(zero) => Some(zero_bytes(ctx, body, zero).filter(|zero| ctx.elem(body.ty(*zero)) == elem)?),
            None => None,
        };
        Some(Scaled { bytes, zero, subtracted, scale })
    }
}

/// The 8-bit integers that a zero point is converted from, through reshapes (added axes of size 1).
fn zero_bytes(ctx: &Context, body: &Body, mut value: Value) -> Option<Value> {
    loop {
        let op = body.at(ctx, body.defining_op(value)?);
        if !op.has(Traits::SAME_ORDER) || op.has(Traits::CAST) {
            return bytes_of(op);
        }
        value = op.operand(0);
    }
}

/// The operands of a value, if it is this function of two floats.
fn binary(ctx: &Context, body: &Body, value: Value, function: Binary) -> Option<(Value, Value)> {
    let op = body.at(ctx, body.defining_op(value)?);
    let Kind::Elementwise(Scalar::Binary(found, Scalar::Arg(0), Scalar::Arg(1))) = op.kind() else {
        return None;
    };
    let is_float = ctx.elem(body.ty(value)) == ctx.f32();
    (is_float && *found == function).then(|| (op.operand(0), op.operand(1)))
}

/// A contraction of dequantized numbers.
struct Found {
    contract: Contract,
    x: Scaled,
    w: Scaled,
    /// Output channels.
    channels: u64,
}

/// The most products whose sum surely fits 32 bits: each product is of two differences of bytes.
const MOST_TERMS: u64 = i32::MAX as u64 / (255 * 255);

/// Whether all known numbers are zero or of a magnitude such that products and quotients of a few of them
/// lose no digits.
fn is_usual(ctx: &Context, body: &Body, value: Value) -> bool {
    let known = constants::tensor(ctx, body, value).map(|tensor| tensor.to_f32());
    let is_usual = |number: &f32| *number == 0.0 || (1e-12..1e12).contains(&number.abs());
    known.is_none_or(|known| known.iter().all(is_usual))
}

impl Found {
    fn of(ctx: &Context, body: &Body, weights: &WeightSet, op: Op) -> Option<Found> {
        let at = body.at(ctx, op);
        let Kind::Contract(contract) = at.kind() else { return None };
        let (x, w) = (at.operand(0), at.operand(1));
        let filter = at.operand_shape(1)?;
        let (contract, axis) = match contract {
            Contract::Matmul if at.attr("transpose_a").is_none() && filter.len() == 2 => {
                let axis = if at.attr("transpose_b").is_some() { 0 } else { 1 };
                (Contract::QuantizedMatmul, axis)
            }
            Contract::Conv2d if are_integers_faster(at.int("groups")? as u64, &filter) => {
                (Contract::QuantizedConv2d, 0)
            }
            _ => return None,
        };
        if !weights.contains(w) || ctx.type_data(body.ty(x)).tensor_shape()?.len() < 2 {
            return None;
        }
        let channels = filter[axis];
        let terms = filter.iter().product::<u64>() / channels.max(1);
        if terms > MOST_TERMS {
            return None;
        }
        let (x, w) = (Scaled::of(ctx, body, x)?, Scaled::of(ctx, body, w)?);
        let is_one = |value: Value| lies_along(ctx, body, value, None);
        let is_of_channels =
            |value: Value| lies_along(ctx, body, value, Some((filter.len() - axis, channels)));
        let fits = x.subtracted.is_none_or(is_one)
            && is_one(x.scale)
            && w.subtracted.is_none_or(is_of_channels)
            && is_of_channels(w.scale)
            && is_usual(ctx, body, x.scale)
            && is_usual(ctx, body, w.scale);
        fits.then_some(Found { contract, x, w, channels })
    }
}

/// Whether a value is one number, or has `count` numbers along one axis; axes are counted from the last,
/// which is 1.
fn lies_along(ctx: &Context, body: &Body, value: Value, along: Option<(usize, u64)>) -> bool {
    let Some(shape) = ctx.static_shape(body.ty(value)) else { return false };
    let mut long = shape.iter().rev().enumerate().filter(|(_, size)| **size != 1);
    match (long.next(), long.next()) {
        (None, _) => true,
        (Some((from_end, size)), None) => along == Some((from_end + 1, *size)),
        _ => false,
    }
}

/// The operation that reads a value, if there is exactly one use.
fn only_user(body: &Body, value: Value) -> Option<Op> {
    let mut uses = body.uses(value);
    let only = uses.next()?.op;
    uses.next().is_none().then_some(only)
}

/// Whether a value is of integers of 8 bits.
fn is_byte(ctx: &Context, body: &Body, value: Value) -> bool {
    matches!(ctx.type_data(ctx.elem(body.ty(value))), TypeData::Integer { width: 8, .. })
}

/// Writes the replacement of a contraction.
struct IntegerWriter<'a> {
    ctx: &'a Context,
    body: &'a mut Body,
    weights: &'a WeightSet,
    /// The contraction.
    op: Op,
    /// The insertion point: the contraction, or the division that is folded into its factors.
    at: Op,
}

impl IntegerWriter<'_> {
    fn write(mut self, found: &Found) {
        let bias = (self.body.operand_count(self.op) > 2).then(|| self.body.operand(self.op, 2));
        let result = self.body.result(self.op, 0);
        let quotient = self.quotient(result, [Some(found.x.scale), Some(found.w.scale), bias]);
        self.at = quotient.map_or(self.op, |quotient| quotient.of);
        let sums = self.sums(found);
        let numbers = self.value(CAST, &[sums], &[("to", self.ctx.type_attr(self.ctx.f32()))]);
        let mut factor = self.value(MUL, &[found.x.scale, found.w.scale], &[]);
        factor = self.along_channels(factor, found.channels);
        let mut bias = bias.map(|bias| self.along_channels(bias, found.channels));
        if let Some(Quotient { by, .. }) = quotient {
            factor = self.value(DIV, &[factor, by], &[]);
            bias = bias.map(|bias| self.value(DIV, &[bias, by], &[]));
        }
        let mut value = self.value(MUL, &[numbers, factor], &[]);
        if let Some(bias) = bias {
            value = self.value(ADD, &[value, bias], &[]);
        }
        match quotient {
            None => self.body.replace_uses(result, value),
            Some(quotient) => self.replace_quotient(quotient, value),
        }
    }

    /// Folds a division of the sum of two dequantized numbers into their scales.
    fn divide_addends(mut self, changes: &Changes) {
        let Some(result) = self.body.results(self.op).next() else { return };
        let Some((a, b)) = binary(self.ctx, self.body, result, Binary::Add) else { return };
        let made = |value: Value| {
            let made = Dequantized::of(self.ctx, self.body, value)?;
            let product = self.body.operands(made.ops[0]);
            let numbers = product.into_iter().find(|operand| *operand != made.scale)?;
            lies_along(self.ctx, self.body, made.scale, None).then_some([numbers, made.scale])
        };
        let (Some(a), Some(b)) = (made(a), made(b)) else { return };
        let Some(quotient) = self.quotient(result, [Some(a[1]), Some(b[1]), None]) else { return };
        let how = || format!("{} is divided before it is added", self.body.at(self.ctx, self.op).describe());
        if !changes.allow(how) {
            return;
        }
        self.at = quotient.of;
        let mut addends = Vec::new();
        for [numbers, scale] in [a, b] {
            let scale = self.value(DIV, &[scale, quotient.by], &[]);
            addends.push(self.value(MUL, &[numbers, scale], &[]));
        }
        let sum = self.value(ADD, &addends, &[]);
        self.replace_quotient(quotient, sum);
    }

    /// Replaces a quotient by a value, with a copy of the relu between the two.
    fn replace_quotient(&mut self, quotient: Quotient, mut value: Value) {
        if let Some(relu) = quotient.relu {
            let properties = self.body.properties(relu);
            let at = InsertPoint::Before(self.at);
            let copy = rebuild(self.ctx, self.body, relu, &[value], properties, at);
            value = self.body.result(copy.expect("it has the type of another's operand"), 0);
        }
        self.body.replace_uses(self.body.result(quotient.of, 0), value);
    }

    /// The quantized contraction: integer sums of products.
    fn sums(&mut self, found: &Found) -> Value {
        let x_zero = self.zero(found.x.zero, found.x.bytes, 1);
        let w_zero = self.zero(found.w.zero, found.w.bytes, found.channels);
        let operands = [found.x.bytes, found.w.bytes, x_zero, w_zero];
        let name = match found.contract {
            Contract::QuantizedConv2d => CONVOLUTION,
            _ => PRODUCT,
        };
        let sums = self.sum_type();
        let mut builder = Builder::before(self.ctx, self.body, self.at);
        builder.location = builder.body.location(self.op);
        let spec = OpSpec { operands: &operands, results: Some(&[sums]), ..OpSpec::default() };
        let op = builder.build(name, spec).expect("the types are given");
        self.body.set_properties(op, self.body.properties(self.op));
        self.body.result(op, 0)
    }

    fn sum_type(&self) -> Type {
        self.ctx.with_elem(self.body.ty(self.body.result(self.op, 0)), self.ctx.int(32))
    }

    /// A zero point as a contraction takes it: one number of rank 0, or one for each of `count` channels.
    fn zero(&mut self, zero: Option<Value>, bytes: Value, count: u64) -> Value {
        let elem = self.ctx.elem(self.body.ty(bytes));
        let Some(zero) = zero else {
            let ty = self.ctx.tensor(&[], elem);
            let attr: Attr = constants::filled(self.ctx, ty, 0.0).expect("bytes have a zero");
            return Builder::before(self.ctx, self.body, self.at).constant(attr, ty);
        };
        let shape = match constants::elements(self.ctx, self.body.ty(zero)) {
            Some(1) => vec![],
            _ => vec![Dim::Known(count)],
        };
        self.reshaped(zero, &shape)
    }

    /// One number, or one for each channel, in a shape that broadcasts with the result.
    fn along_channels(&mut self, numbers: Value, channels: u64) -> Value {
        if constants::elements(self.ctx, self.body.ty(numbers)) == Some(1) {
            return self.reshaped(numbers, &[]);
        }
        let at = self.body.at(self.ctx, self.op);
        let is_first =
            matches!(at.kind(), Kind::Contract(Contract::Conv2d)) && at.text("layout") != Some("NHWC");
        let mut shape = vec![Dim::Known(channels)];
        shape.extend(std::iter::repeat_n(Dim::Known(1), if is_first { 2 } else { 0 }));
        self.reshaped(numbers, &shape)
    }

    /// A value reshaped to another shape.
    fn reshaped(&mut self, value: Value, shape: &[Dim]) -> Value {
        let is_same = self.ctx.type_data(self.body.ty(value)).tensor_shape() == Some(shape);
        if is_same { value } else { reshape(self.ctx, self.body, value, shape, self.at) }
    }

    fn value(&mut self, name: &str, operands: &[Value], attrs: &[(&str, Attr)]) -> Value {
        let mut builder = Builder::before(self.ctx, self.body, self.at);
        builder.location = builder.body.location(self.op);
        builder.value(name, operands, attrs).expect("its operands are floats that broadcast")
    }

    /// The division that can be folded: the only use of a value (or of its relu), by a positive constant. All
    /// factors must be weights, so that dividing them costs nothing at run time.
    fn quotient(&self, value: Value, factors: [Option<Value>; 3]) -> Option<Quotient> {
        if !factors.iter().flatten().all(|factor| self.is_early(*factor)) {
            return None;
        }
        let (mut of, mut relu) = (only_user(self.body, value)?, None);
        if let Some(divided) = self.relu(of) {
            (of, relu) = (only_user(self.body, divided)?, Some(of));
        }
        // Folding into a loop would repeat the division of the factors in each iteration.
        if self.body.block_of(of) != self.body.block_of(self.op) {
            return None;
        }
        let result = self.body.results(of).next()?;
        let (dividend, by) = binary(self.ctx, self.body, result, Binary::Div)?;
        let expected = relu.map_or(value, |relu| self.body.result(relu, 0));
        let number = constants::tensor(self.ctx, self.body, by)?.to_f32();
        let is_positive = matches!(number[..], [number] if number > 0.0);
        let is_usual = is_positive && is_usual(self.ctx, self.body, by);
        (dividend == expected && is_usual).then_some(Quotient { relu, of, by })
    }

    /// Whether a value is a weight, or a new reshape of one.
    fn is_early(&self, mut value: Value) -> bool {
        while !self.weights.contains(value) {
            let op = self.body.defining_op(value);
            let Some(op) = op.filter(|op| self.body.at(self.ctx, *op).has(Traits::SAME_ORDER)) else {
                return false;
            };
            value = self.body.operand(op, 0);
        }
        true
    }

    /// The result of an operation, if it is a relu.
    fn relu(&self, op: Op) -> Option<Value> {
        let Kind::Elementwise(meaning) = self.body.at(self.ctx, op).kind() else { return None };
        (*meaning == RELU).then(|| self.body.result(op, 0))
    }
}

/// A division to fold into the factors of a contraction.
#[derive(Clone, Copy)]
struct Quotient {
    /// The relu between contraction and division.
    relu: Option<Op>,
    of: Op,
    /// The divisor.
    by: Value,
}

/// The scalar function of a relu.
const RELU: Scalar = Scalar::Binary(Binary::Max, &Scalar::Const(0.0), &Scalar::Arg(0));

const CAST: &str = "nn.cast";
const MUL: &str = "nn.mul";
const ADD: &str = "nn.add";
const DIV: &str = "nn.div";
const PRODUCT: &str = "nn.quantized_matmul";
const CONVOLUTION: &str = "nn.quantized_conv2d";

#[cfg(test)]
mod tests;
