//! Which constants a program holds, and how new ones are written.
//!
//! Only what is written in the program is looked into, never what lies in a file or is made by a rule:
//! arithmetic on such weights stays in the program, and is evaluated when it is loaded.

use std::sync::Arc;

use ir::attrs::{DenseData, Splat};
use ir::interp::element::{Elem, Lane, LaneKind};
use ir::interp::{Tensor, constant_value};
use ir::strings::{self, is_string};
use ir::{Attr, AttrData, Body, Context, Traits, Type, TypeData, Value, size};

/// Constants of more elements are not looked into.
pub(crate) const READ_LIMIT: u64 = 4096;
/// Results of more elements are not folded.
pub(crate) const RESULT_LIMIT: u64 = 64;

/// The attribute of a value that a constant defines, if its elements are written in the program and few.
pub(crate) fn of_value(ctx: &Context, body: &Body, value: Value) -> Option<Attr> {
    let op = body.at(ctx, body.defining_op(value)?);
    match op.has(Traits::CONSTANT) {
        true => written(ctx, op.attr("value")?, body.ty(value)),
        false => None,
    }
}

/// The attribute of a constant, if its elements are written in the program and few.
pub(crate) fn written(ctx: &Context, value: Attr, ty: Type) -> Option<Attr> {
    let is_written = matches!(
        ctx.attr_data(value),
        AttrData::Dense { .. } | AttrData::Bool(_) | AttrData::Integer { .. } | AttrData::Float { .. }
    );
    (is_written && elements(ctx, ty)? <= READ_LIMIT).then_some(value)
}

/// The elements of a value that a constant defines, if they are written in the program and few.
pub(crate) fn tensor(ctx: &Context, body: &Body, value: Value) -> Option<Tensor> {
    constant_value(ctx, of_value(ctx, body, value)?, body.ty(value)).ok()
}

/// The attribute of a value's packed elements: a number, or `dense<...>`, in which equal elements are
/// written once.
pub(crate) fn attr(ctx: &Context, ty: Type, bytes: &[u8]) -> Attr {
    match ctx.type_data(ty) {
        TypeData::Integer { width: 1, .. } => ctx.attr(AttrData::Bool(bytes[0] & 1 == 1)),
        TypeData::Integer { .. } | TypeData::Index => {
            let elem = Elem::of(ctx, ty).expect("what was computed has a memory format");
            let Elem::Int(int) = elem else { unreachable!("an integer is computed in integers") };
            let value = int.number(lanes::<i64>(elem, bytes)[0]);
            ctx.attr(AttrData::Integer { value, ty })
        }
        TypeData::Float(_) => {
            let bits = bytes.iter().rev().fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
            ctx.attr(AttrData::Float { bits, ty })
        }
        _ => dense(ctx, ty, bytes),
    }
}

/// `dense<...>` of packed elements; equal ones, if there are some, are written once.
pub(crate) fn dense(ctx: &Context, ty: Type, bytes: &[u8]) -> Attr {
    if is_string(ctx, ctx.elem(ty)) {
        return ctx.attr(AttrData::Dense { ty, data: strings::dense(bytes) });
    }
    let width =
        size::storage_bytes(ctx, ctx.elem(ty), 1).expect("what was computed has a memory format") as usize;
    let first = &bytes[..width.min(bytes.len())];
    let is_splat = !bytes.is_empty() && bytes.chunks_exact(width).all(|element| element == first);
    let (splat, bytes) = if is_splat { (Splat::One, first) } else { (Splat::All, bytes) };
    ctx.attr(AttrData::Dense { ty, data: DenseData::Bytes { splat, bytes: Arc::from(bytes) } })
}

/// A constant of this type all of whose elements are a number; none if no element is exactly that.
pub(crate) fn filled(ctx: &Context, ty: Type, number: f64) -> Option<Attr> {
    let element = element_of(Elem::of(ctx, ty).ok()?, number);
    let count = usize::try_from(elements(ctx, ty)?).ok()?;
    let value = attr(ctx, ty, &element.repeat(count));
    (count > 0 && is_filled(&Tensor::new(ctx, ty, element.repeat(count)), ctx, number)).then_some(value)
}

/// A constant of this type all of whose elements are a number, or what their type has nearest to it; none if
/// it has no elements, or not known how many.
pub(crate) fn splat_of(ctx: &Context, ty: Type, number: f64) -> Option<Attr> {
    let element = element_of(Elem::of(ctx, ty).ok()?, number);
    elements(ctx, ty).filter(|count| *count > 0)?;
    Some(attr(ctx, ty, &element))
}

/// The bytes of a number as an element.
fn element_of(elem: Elem, number: f64) -> Vec<u8> {
    match elem.lane() {
        LaneKind::F32 => written_lane(elem, number as f32),
        LaneKind::F64 => written_lane(elem, number),
        LaneKind::Int => written_lane(elem, number as i64),
    }
}

/// The element, as a tensor without axes, that all elements of a constant are; none if they differ, or there
/// is none.
pub(crate) fn splat(ctx: &Context, value: Attr, ty: Type) -> Option<Tensor> {
    let computed;
    let bytes: &[u8] = match ctx.attr_data(value) {
        AttrData::Dense { data: DenseData::Bytes { bytes, .. }, .. } => bytes,
        AttrData::Dense { .. } => {
            computed = constant_value(ctx, value, ty).ok()?;
            &computed.bytes
        }
        _ => return constant_value(ctx, value, ty).ok(),
    };
    let elem = ctx.elem(ty);
    let mut elements = bytes.chunks_exact(size::storage_bytes(ctx, elem, 1)? as usize);
    let first = elements.next()?;
    elements.all(|element| element == first).then(|| Tensor::new(ctx, ctx.tensor(&[], elem), first.to_vec()))
}

/// Whether all elements of a value are this number, with either sign where it is zero. A number that is no
/// `f32`, as 1.41421356, stands for what agrees with it to 6 digits, or to as many as the elements have.
pub(crate) fn is_near(value: &Tensor, ctx: &Context, number: f64) -> bool {
    let Ok(elem) = Elem::of(ctx, value.ty) else { return false };
    let tolerance = if f64::from(number as f32) == number { 0.0 } else { 1e-6 * number.abs() };
    let is_near = |found: f64, rounded: f64| found == rounded || (found - number).abs() <= tolerance;
    match elem.lane() {
        LaneKind::F32 => {
            let rounded = lanes::<f32>(elem, &written_lane(elem, number as f32))[0].into();
            lanes::<f32>(elem, &value.bytes).into_iter().all(|x| is_near(x.into(), rounded))
        }
        LaneKind::F64 => lanes::<f64>(elem, &value.bytes).into_iter().all(|x| is_near(x, number)),
        LaneKind::Int => is_filled(value, ctx, number),
    }
}

/// Whether all elements of a value are exactly this number; zeros must have its sign. An integer is the
/// number of either way to read its bits: -1 are all ones.
pub(crate) fn is_filled(value: &Tensor, ctx: &Context, number: f64) -> bool {
    let Ok(elem) = Elem::of(ctx, value.ty) else { return false };
    let is_number = |found: f64| found == number && found.is_sign_negative() == number.is_sign_negative();
    !value.bytes.is_empty()
        && match (elem, elem.lane()) {
            (_, LaneKind::F32) => lanes::<f32>(elem, &value.bytes).into_iter().all(|x| is_number(x.into())),
            (_, LaneKind::F64) => lanes::<f64>(elem, &value.bytes).into_iter().all(is_number),
            (Elem::Int(int), _) => {
                let steps = f64::from(int.width).exp2();
                let has_number = number.fract() == 0.0 && (-steps / 2.0..steps).contains(&number);
                let wanted = int.wrap(number as i64);
                has_number && lanes::<i64>(elem, &value.bytes).into_iter().all(|x| x == wanted)
            }
            _ => false,
        }
}

/// The number of a value that is one integer.
pub(crate) fn integer(ctx: &Context, value: &Tensor) -> Option<i128> {
    match (Elem::of(ctx, value.ty).ok()?, elements(ctx, value.ty)?) {
        (elem @ Elem::Int(int), 1) => Some(int.number(lanes::<i64>(elem, &value.bytes)[0])),
        _ => None,
    }
}

pub(crate) fn lanes<L: Lane>(elem: Elem, bytes: &[u8]) -> Vec<L> {
    let mut lanes = vec![L::default(); bytes.len() / elem.bytes()];
    L::read(elem, bytes, &mut lanes);
    lanes
}

pub(crate) fn written_lane<L: Lane>(elem: Elem, lane: L) -> Vec<u8> {
    let mut bytes = vec![0; elem.bytes()];
    L::write(elem, &[lane], &mut bytes);
    bytes
}

/// How many elements a value of this type has: one, unless it is a tensor.
pub(crate) fn elements(ctx: &Context, ty: Type) -> Option<u64> {
    match ctx.type_data(ty) {
        TypeData::Tensor { .. } => ctx.static_shape(ty)?.into_iter().try_fold(1u64, u64::checked_mul),
        TypeData::Integer { .. } | TypeData::Index | TypeData::Float(_) => Some(1),
        _ => None,
    }
}
