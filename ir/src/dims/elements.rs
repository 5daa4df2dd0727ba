//! Shape arithmetic: the elements of a small integer tensor as expressions of sizes.
//!
//! ```text
//! %0 = nn.sizes {value = #optc.dims<N, 3>}              [N, 3]
//! %1 = nn.slice %0 {starts = [0], sizes = [1]}          [N]
//! %2 = nn.mul %1, %three                                [3 * N]
//! %3 = nn.concat %2, %minus_one {axis = 0}              [3 * N, -1]
//! ```
//!
//! The lattice has two levels: either every element of a value is known, as an expression of sizes, or
//! nothing is known of the value. An operation whose operands are all numbers is evaluated. Elementwise
//! operations are computed on expressions through their scalar trees. An operation that only moves elements
//! is evaluated on indices into a table of the expressions, so no operation needs a rule of its own.
//! Divisions and comparisons have a result only if it is proved for all sizes in the given ranges. An unknown
//! operand does no harm if a known condition decides the result. Elements are assumed to fit their type, like
//! sizes. Floats may hold sizes too (exporters scale images by them), as long as they are whole numbers.

use std::cell::Cell;

use super::{
    Ranges, SizeArithmetic, add, constant, floor_div, max, min, modulo, mul, provably_at_most,
    provably_different, provably_equal, sub,
};
use crate::attrs::AttrData;
use crate::body::{Body, OpRef};
use crate::context::Context;
use crate::entities::{DimExpr, Type, Value};
use crate::interp::{Tensor, eval_op};
use crate::opdef::{Kind, Reduce, Traits};
use crate::scalar::{Binary, Scalar, Unary};
use crate::size::storage_bits;
use crate::types::{FloatKind, Signedness, TypeData};

/// Larger tensors are not shapes.
const MOST_ELEMENTS: u64 = 64;
/// The largest number of operations visited for one value.
const MOST_OPS: u32 = 512;

/// The elements of a value, in row-major order, as expressions of sizes; none if they are not known.
pub fn elements(ctx: &Context, body: &Body, value: Value, ranges: &Ranges) -> Option<Vec<DimExpr>> {
    elements_given(ctx, body, value, ranges, &|_| None)
}

/// Like [`elements`], with the elements of some values given.
pub fn elements_given(
    ctx: &Context,
    body: &Body,
    value: Value,
    ranges: &Ranges,
    given: &dyn Fn(Value) -> Option<Vec<DimExpr>>,
) -> Option<Vec<DimExpr>> {
    ElementSearch { ctx, body, given, ranges, left: Cell::new(MOST_OPS) }.find(value)
}

struct ElementSearch<'a> {
    ctx: &'a Context,
    body: &'a Body,
    given: &'a dyn Fn(Value) -> Option<Vec<DimExpr>>,
    ranges: &'a Ranges,
    left: Cell<u32>,
}

impl ElementSearch<'_> {
    fn find(&self, value: Value) -> Option<Vec<DimExpr>> {
        self.left.set(self.left.get().checked_sub(1)?);
        if let Some(given) = (self.given)(value) {
            return Some(given);
        }
        let op = self.body.at(self.ctx, self.body.defining_op(value)?);
        let count = self.count(value)?;
        if !op.has(Traits::PURE) || self.body.result_count(op.op) != 1 {
            return None;
        }
        if let Some(AttrData::Dims(sizes)) = op.attr("value").map(|value| self.ctx.attr_data(value)) {
            return sizes.iter().map(|size| SizeArithmetic(self.ctx).expr(*size)).collect();
        }
        if op.operand_count() == 0 {
            let result = eval_op(op, &[]).ok()?.into_iter().next()?;
            return Some(self.numbers(&result)?.into_iter().map(|value| constant(self.ctx, value)).collect());
        }
        let operands: Vec<Option<Vec<DimExpr>>> =
            self.body.operands(op.op).map(|operand| self.find(operand)).collect();
        if let Some(found) = self.evaluated(op, &operands) {
            return Some(found);
        }
        match op.kind() {
            Kind::Elementwise(tree) => self.elementwise(op, tree, &operands, count),
            Kind::Reduce(reduce) if count == 1 => {
                Some(vec![self.folded(reduce, operands.first()?.as_deref()?)?])
            }
            Kind::View(_) | Kind::Kernel("gather") => {
                self.moved(op, operands.into_iter().collect::<Option<_>>()?)
            }
            _ => None,
        }
    }

    /// The result of an operation whose operands are numbers.
    fn evaluated(&self, op: OpRef<'_>, operands: &[Option<Vec<DimExpr>>]) -> Option<Vec<DimExpr>> {
        let mut tensors = Vec::new();
        for (index, elements) in operands.iter().enumerate() {
            let number = |expr: &DimExpr| self.ctx.dim_expr(*expr).constant();
            let numbers: Vec<i64> = elements.as_ref()?.iter().map(number).collect::<Option<_>>()?;
            tensors.push(self.tensor(op.operand(index), &numbers)?);
        }
        let result = eval_op(op, &tensors).ok()?.into_iter().next()?;
        Some(self.numbers(&result)?.into_iter().map(|value| constant(self.ctx, value)).collect())
    }

    /// The number of elements of a value, if it is a small tensor of numbers.
    fn count(&self, value: Value) -> Option<u64> {
        let ty = self.body.ty(value);
        let is_int = matches!(self.ctx.type_data(self.ctx.elem(ty)), TypeData::Integer { .. });
        let count = self.ctx.static_shape(ty)?.into_iter().try_fold(1u64, u64::checked_mul)?;
        ((is_int || self.is_float(ty)) && count <= MOST_ELEMENTS).then_some(count)
    }

    /// Whether the elements are floats, which may hold whole numbers.
    fn is_float(&self, ty: Type) -> bool {
        let elem = self.ctx.elem(ty);
        elem == self.ctx.f32() || elem == self.ctx.ty(TypeData::Float(FloatKind::F64))
    }

    /// Applies the scalar tree to the operands' elements, each operand broadcast to the result.
    fn elementwise(
        &self,
        op: OpRef<'_>,
        tree: &Scalar,
        operands: &[Option<Vec<DimExpr>>],
        count: u64,
    ) -> Option<Vec<DimExpr>> {
        let shape = op.result_shape(0)?;
        let mut found = Vec::new();
        for index in 0..count {
            let at = |operand: usize| {
                let own = op.operand_shape(operand)?;
                let mut rest = index;
                let mut place = 0;
                let mut stride = 1;
                for (axis, size) in shape.iter().enumerate().rev() {
                    let coordinate = rest % size;
                    rest /= size;
                    let Some(own_axis) = (axis + own.len()).checked_sub(shape.len()) else { continue };
                    place += if own[own_axis] == 1 { 0 } else { coordinate * stride };
                    stride *= own[own_axis];
                }
                operands[operand].as_ref()?.get(place as usize).copied()
            };
            found.push(self.computed(op, tree, &at)?);
        }
        Some(found)
    }

    fn computed(
        &self,
        op: OpRef<'_>,
        tree: &Scalar,
        arg: &dyn Fn(usize) -> Option<DimExpr>,
    ) -> Option<DimExpr> {
        let ctx = self.ctx;
        match tree {
            Scalar::Arg(index) => arg(*index as usize),
            Scalar::Const(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                Some(constant(ctx, *number as i64))
            }
            Scalar::Unary(Unary::Neg, a) => sub(ctx, constant(ctx, 0), self.computed(op, a, arg)?),
            Scalar::Unary(Unary::Not, a) if self.is_truth(op) => {
                sub(ctx, constant(ctx, 1), self.computed(op, a, arg)?)
            }
            Scalar::Convert(a) | Scalar::Resize(a) | Scalar::Signed(a) => self.computed(op, a, arg),
            // Known elements are whole numbers.
            Scalar::Unary(Unary::Floor | Unary::Ceil | Unary::RoundEven, a) => self.computed(op, a, arg),
            Scalar::Binary(binary @ (Binary::And | Binary::Or), a, b) if self.is_truth(op) => {
                let (a, b) = (self.computed(op, a, arg), self.computed(op, b, arg));
                let decisive = constant(ctx, i64::from(*binary == Binary::Or));
                if a == Some(decisive) || b == Some(decisive) {
                    Some(decisive)
                } else if *binary == Binary::And {
                    min(ctx, a?, b?)
                } else {
                    max(ctx, a?, b?)
                }
            }
            Scalar::Binary(binary, a, b) => {
                let (a, b) = (self.computed(op, a, arg)?, self.computed(op, b, arg)?);
                match binary {
                    Binary::Div if self.is_float(op.operand_type(0)) => self.exact_quotient(a, b),
                    _ => self.combined(*binary, a, b),
                }
            }
            Scalar::Select(condition, a, b) => {
                match ctx.dim_expr(self.computed(op, condition, arg)?).constant()? {
                    0 => self.computed(op, b, arg),
                    _ => self.computed(op, a, arg),
                }
            }
            _ => None,
        }
    }

    /// Whether the elements are truth values, represented as 0 and 1.
    fn is_truth(&self, op: OpRef<'_>) -> bool {
        self.ctx.elem(op.result_type(0)) == self.ctx.int(1)
    }

    /// The quotient of floats, if it is a whole number.
    fn exact_quotient(&self, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
        let ctx = self.ctx;
        let one = constant(self.ctx, 1);
        let is_whole =
            || provably_equal(ctx, modulo(ctx, a, b)?, constant(ctx, 0), self.ranges).then_some(());
        provably_at_most(ctx, one, b, self.ranges).then(is_whole)??;
        floor_div(ctx, a, b)
    }

    fn combined(&self, binary: Binary, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
        let (ctx, laws) = (self.ctx, self.ranges);
        let truth = |holds: bool, fails: bool| match (holds, fails) {
            (true, _) => Some(constant(ctx, 1)),
            (_, true) => Some(constant(ctx, 0)),
            _ => None,
        };
        let is_at_most = |a, b| provably_at_most(ctx, a, b, laws);
        let is_below = |a, b| Some(is_at_most(add(ctx, a, constant(ctx, 1))?, b));
        let is_plain = || is_at_most(constant(ctx, 0), a) && is_at_most(constant(ctx, 1), b);
        let equal = || (provably_equal(ctx, a, b, laws), provably_different(ctx, a, b, laws));
        match binary {
            Binary::Add => add(ctx, a, b),
            Binary::Sub => sub(ctx, a, b),
            Binary::Mul => mul(ctx, a, b),
            Binary::Min => min(ctx, a, b),
            Binary::Max => max(ctx, a, b),
            // Integer division rounds toward zero, and a remainder has the dividend's sign.
            Binary::Div if is_plain() => floor_div(ctx, a, b),
            Binary::Rem if is_plain() => modulo(ctx, a, b),
            Binary::Eq => truth(equal().0, equal().1),
            Binary::Ne => truth(equal().1, equal().0),
            Binary::Lt => truth(is_below(a, b)?, is_at_most(b, a)),
            Binary::Le => truth(is_at_most(a, b), is_below(b, a)?),
            Binary::Gt => truth(is_below(b, a)?, is_at_most(a, b)),
            Binary::Ge => truth(is_at_most(b, a), is_below(a, b)?),
            _ => None,
        }
    }

    fn folded(&self, reduce: Reduce, elements: &[DimExpr]) -> Option<DimExpr> {
        let of = match reduce {
            Reduce::Sum => add,
            Reduce::Prod => mul,
            Reduce::Max => max,
            Reduce::Min => min,
            _ => return None,
        };
        let (first, rest) = elements.split_first()?;
        rest.iter().try_fold(*first, |found, next| of(self.ctx, found, *next))
    }

    /// The result of an operation that only moves elements: it is evaluated on their indices in a table.
    fn moved(&self, op: OpRef<'_>, operands: Vec<Vec<DimExpr>>) -> Option<Vec<DimExpr>> {
        let is_gather = matches!(op.kind(), Kind::Kernel(_));
        let mut table = Vec::new();
        let mut tensors = Vec::new();
        for (index, elements) in operands.iter().enumerate() {
            let numbers: Vec<i64> = if is_gather && index == 1 {
                elements.iter().map(|expr| self.ctx.dim_expr(*expr).constant()).collect::<Option<_>>()?
            } else {
                (table.len() as i64..).take(elements.len()).collect()
            };
            table.extend_from_slice(elements);
            tensors.push(self.tensor(op.operand(index), &numbers)?);
        }
        let result = eval_op(op, &tensors).ok()?.into_iter().next()?;
        let numbers = self.numbers(&result)?.into_iter();
        // Smaller numbers may not hold all indices of the table.
        if self.width(result.ty)? < 4 {
            return None;
        }
        numbers.map(|number| table.get(usize::try_from(number).ok()?).copied()).collect()
    }

    fn tensor(&self, value: Value, numbers: &[i64]) -> Option<Tensor> {
        let ty = self.body.ty(value);
        let width = self.width(ty)?;
        let bytes_of = |number: &i64| match (self.is_float(ty), width) {
            (false, _) => number.to_le_bytes()[..width].to_vec(),
            (true, 4) => (*number as f32).to_le_bytes().to_vec(),
            (true, _) => (*number as f64).to_le_bytes().to_vec(),
        };
        Some(Tensor::new(self.ctx, ty, numbers.iter().flat_map(bytes_of).collect()))
    }

    fn numbers(&self, tensor: &Tensor) -> Option<Vec<i64>> {
        if self.ctx.elem(tensor.ty) == self.ctx.int(1) {
            return Some(tensor.bytes.iter().map(|byte| i64::from(*byte & 1)).collect());
        }
        let width = self.width(tensor.ty)?;
        if self.is_float(tensor.ty) {
            let bytes = tensor.bytes.chunks_exact(width);
            return bytes.map(|bytes| whole(float(bytes)?)).collect();
        }
        let elem = self.ctx.type_data(self.ctx.elem(tensor.ty));
        let is_unsigned = matches!(elem, TypeData::Integer { signedness: Signedness::Unsigned, .. });
        let number = |bytes: &[u8]| {
            let is_negative = !is_unsigned && bytes[width - 1] & 0x80 != 0;
            let mut whole = [if is_negative { 0xff } else { 0 }; 8];
            whole[..width].copy_from_slice(bytes);
            i64::from_le_bytes(whole)
        };
        Some(tensor.bytes.chunks_exact(width).map(number).collect())
    }

    /// Bytes of an element.
    fn width(&self, ty: Type) -> Option<usize> {
        let bits =
            storage_bits(self.ctx, self.ctx.elem(ty)).filter(|bits| matches!(bits, 8 | 16 | 32 | 64))?;
        Some(bits as usize / 8)
    }
}

/// A float of 4 or 8 bytes.
fn float(bytes: &[u8]) -> Option<f64> {
    match bytes.len() {
        4 => Some(f32::from_le_bytes(bytes.try_into().ok()?).into()),
        _ => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
    }
}

/// A whole number that both kinds of floats hold exactly.
fn whole(number: f64) -> Option<i64> {
    const MOST: f64 = 16_777_216.0;
    (number.fract() == 0.0 && number.abs() <= MOST).then_some(number as i64)
}
