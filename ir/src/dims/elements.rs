//! Which sizes the elements of a small integer tensor are.
//!
//! ```text
//! %0 = nn.sizes {value = #optc.dims<N, 3>}              [N, 3]
//! %1 = nn.slice %0 {starts = [0], sizes = [1]}          [N]
//! %2 = nn.mul %1, %three                                [3 * N]
//! %3 = nn.concat %2, %minus_one {axis = 0}              [3 * N, -1]
//! ```
//!
//! The lattice has two steps: either every element of a value is known, as an expression of sizes, or nothing is known of the
//! value. Elementwise operations are computed on expressions by their scalar trees; what moves elements and computes none is
//! run on the expressions' numbers in a table, by its own evaluation, so that no operation needs a rule of its own. Divisions
//! and comparisons have a result only where that is proved for all sizes. Elements are taken to fit their integer type, as
//! sizes do.

use std::cell::Cell;

use super::{
    Ranges, Sizes, add, constant, floor_div, max, min, mul, provably_at_most, provably_different,
    provably_equal, sub,
};
use crate::attrs::AttrData;
use crate::body::{Body, OpRef};
use crate::context::Context;
use crate::entities::{DimExpr, Value};
use crate::interp::{Tensor, eval_op};
use crate::opdef::{Kind, Reduce, Traits};
use crate::scalar::{Binary, Scalar, Unary};
use crate::size::storage_bits;
use crate::types::TypeData;

/// Larger tensors are no shapes.
const MOST_ELEMENTS: u64 = 64;
/// So many operations at most are looked at for one value.
const MOST_OPS: u32 = 512;

/// The elements of a value, in row-major order, as expressions of sizes; none if they are not known.
pub fn elements(ctx: &Context, body: &Body, value: Value) -> Option<Vec<DimExpr>> {
    Search { ctx, body, left: Cell::new(MOST_OPS) }.find(value)
}

struct Search<'a> {
    ctx: &'a Context,
    body: &'a Body,
    left: Cell<u32>,
}

impl Search<'_> {
    fn find(&self, value: Value) -> Option<Vec<DimExpr>> {
        self.left.set(self.left.get().checked_sub(1)?);
        let op = self.body.at(self.ctx, self.body.defining_op(value)?);
        let count = self.count(value)?;
        if !op.has(Traits::PURE) || self.body.result_count(op.op) != 1 {
            return None;
        }
        if let Some(AttrData::Dims(sizes)) = op.attr("value").map(|value| self.ctx.attr_data(value)) {
            return sizes.iter().map(|size| Sizes(self.ctx).expr(*size)).collect();
        }
        if op.operand_count() == 0 {
            let result = eval_op(op, &[]).ok()?.into_iter().next()?;
            return Some(self.numbers(&result)?.into_iter().map(|value| constant(self.ctx, value)).collect());
        }
        let operands: Option<Vec<Vec<DimExpr>>> =
            self.body.operands(op.op).map(|operand| self.find(operand)).collect();
        match op.kind() {
            Kind::Elementwise(tree) => self.elementwise(op, tree, &operands?, count),
            Kind::Reduce(reduce) if count == 1 => Some(vec![self.folded(reduce, operands?.first()?)?]),
            Kind::View(_) | Kind::Kernel("gather") => self.moved(op, operands?),
            _ => None,
        }
    }

    /// How many elements a value has, if it is a small tensor of integers.
    fn count(&self, value: Value) -> Option<u64> {
        let ty = self.body.ty(value);
        let is_int = matches!(self.ctx.type_data(self.ctx.elem(ty)), TypeData::Integer { .. });
        let count = self.ctx.static_shape(ty)?.into_iter().try_fold(1u64, u64::checked_mul)?;
        (is_int && count <= MOST_ELEMENTS).then_some(count)
    }

    /// The function of the operands' elements, each operand broadcast to the result.
    fn elementwise(
        &self,
        op: OpRef<'_>,
        tree: &Scalar,
        operands: &[Vec<DimExpr>],
        count: u64,
    ) -> Option<Vec<DimExpr>> {
        let shape = op.result_shape(0)?;
        let mut found = Vec::new();
        for index in 0..count {
            let at = |operand: usize| {
                let own = op.operand_shape(operand)?;
                let (mut rest, mut place, mut stride) = (index, 0, 1);
                for (axis, size) in shape.iter().enumerate().rev() {
                    let coordinate = rest % size;
                    rest /= size;
                    let Some(own_axis) = (axis + own.len()).checked_sub(shape.len()) else { continue };
                    place += if own[own_axis] == 1 { 0 } else { coordinate * stride };
                    stride *= own[own_axis];
                }
                operands[operand].get(place as usize).copied()
            };
            found.push(self.computed(tree, &at)?);
        }
        Some(found)
    }

    fn computed(&self, tree: &Scalar, arg: &dyn Fn(usize) -> Option<DimExpr>) -> Option<DimExpr> {
        let ctx = self.ctx;
        match tree {
            Scalar::Arg(index) => arg(*index as usize),
            Scalar::Const(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                Some(constant(ctx, *number as i64))
            }
            Scalar::Unary(Unary::Neg, a) => sub(ctx, constant(ctx, 0), self.computed(a, arg)?),
            Scalar::Convert(a) | Scalar::Resize(a) | Scalar::Signed(a) => self.computed(a, arg),
            Scalar::Binary(binary, a, b) => {
                self.combined(*binary, self.computed(a, arg)?, self.computed(b, arg)?)
            }
            Scalar::Select(condition, a, b) => {
                match ctx.dim_expr(self.computed(condition, arg)?).constant()? {
                    0 => self.computed(b, arg),
                    _ => self.computed(a, arg),
                }
            }
            _ => None,
        }
    }

    fn combined(&self, binary: Binary, a: DimExpr, b: DimExpr) -> Option<DimExpr> {
        let (ctx, laws) = (self.ctx, &Ranges::LAWS);
        let truth = |holds: bool, fails: bool| match (holds, fails) {
            (true, _) => Some(constant(ctx, 1)),
            (_, true) => Some(constant(ctx, 0)),
            _ => None,
        };
        let equal = || (provably_equal(ctx, a, b, laws), provably_different(ctx, a, b, laws));
        match binary {
            Binary::Add => add(ctx, a, b),
            Binary::Sub => sub(ctx, a, b),
            Binary::Mul => mul(ctx, a, b),
            Binary::Min => min(ctx, a, b),
            Binary::Max => max(ctx, a, b),
            // The division of integers rounds to zero.
            Binary::Div => {
                let is_plain = provably_at_most(ctx, constant(ctx, 0), a, laws)
                    && provably_at_most(ctx, constant(ctx, 1), b, laws);
                if is_plain { floor_div(ctx, a, b) } else { None }
            }
            Binary::Eq => truth(equal().0, equal().1),
            Binary::Ne => truth(equal().1, equal().0),
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

    /// What an operation gives that only moves elements: it is run on their numbers in a table.
    fn moved(&self, op: OpRef<'_>, operands: Vec<Vec<DimExpr>>) -> Option<Vec<DimExpr>> {
        let is_gather = matches!(op.kind(), Kind::Kernel(_));
        let mut table = Vec::new();
        let mut tensors = Vec::new();
        for (index, elements) in operands.iter().enumerate() {
            let numbers: Vec<i64> = match is_gather && index == 1 {
                true => {
                    elements.iter().map(|expr| self.ctx.dim_expr(*expr).constant()).collect::<Option<_>>()?
                }
                false => (table.len() as i64..).take(elements.len()).collect(),
            };
            table.extend_from_slice(elements);
            tensors.push(self.tensor(op.operand(index), &numbers)?);
        }
        let result = eval_op(op, &tensors).ok()?.into_iter().next()?;
        let numbers = self.numbers(&result)?.into_iter();
        numbers.map(|number| table.get(usize::try_from(number).ok()?).copied()).collect()
    }

    fn tensor(&self, value: Value, numbers: &[i64]) -> Option<Tensor> {
        let ty = self.body.ty(value);
        let width = self.width(ty)?;
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()[..width].to_vec()).collect();
        Some(Tensor::new(self.ctx, ty, bytes))
    }

    fn numbers(&self, tensor: &Tensor) -> Option<Vec<i64>> {
        let width = self.width(tensor.ty)?;
        let number = |bytes: &[u8]| {
            let mut whole = [if bytes[width - 1] & 0x80 == 0 { 0 } else { 0xff }; 8];
            whole[..width].copy_from_slice(bytes);
            i64::from_le_bytes(whole)
        };
        Some(tensor.bytes.chunks_exact(width).map(number).collect())
    }

    /// Bytes of an element of at least 32 bits: the table's numbers fit.
    fn width(&self, ty: crate::Type) -> Option<usize> {
        let bits = storage_bits(self.ctx, self.ctx.elem(ty)).filter(|bits| matches!(bits, 32 | 64))?;
        Some(bits as usize / 8)
    }
}
