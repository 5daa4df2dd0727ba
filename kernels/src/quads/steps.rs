//! The epilogue of 8-bit products: the steps applied to a tile's sums while they are in registers.

use super::tile::QuadTile;
use super::{FIRST_STEP_OPERAND, QuadConv2d, QuadNumbers};
use crate::abi::OperandTable;
use crate::map::{Activation, Finish, FunctionCode, ScalarFunction, apply_rows};
use crate::pack::PANEL;
use crate::simd::{Simd, written_out};

/// Sign of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ByteSign {
    /// From 0 to 255.
    Unsigned = 0,
    /// From -128 to 127.
    Signed = 1,
}

impl ByteSign {
    /// The number that a byte stands for.
    #[inline(always)]
    pub(crate) fn number(self, byte: u8) -> i32 {
        match self {
            ByteSign::Unsigned => i32::from(byte),
            ByteSign::Signed => i32::from(byte as i8),
        }
    }

    /// The bits to flip in a byte so that it is unsigned, and 128 larger if it was signed.
    #[inline(always)]
    pub(super) fn turn(self) -> u8 {
        match self {
            ByteSign::Unsigned => 0,
            ByteSign::Signed => 0x80,
        }
    }
}

/// Whether a step has one number for each output channel or one for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum StepOperand {
    /// One for all.
    One = 0,
    /// One for each.
    Channel = 1,
}

/// A step applied to a sum, as `f32`, before the store. Each step rounds once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SumStep {
    /// It is multiplied by a number.
    Mul(StepOperand),
    /// A number is added.
    Add(StepOperand),
    /// A number is subtracted.
    Sub(StepOperand),
    /// It is divided by a number.
    Div(StepOperand),
    /// The residual's element is added; at most one step does that.
    Residual,
    /// The residual's element, a byte, is dequantized and added: the first of two numbers is subtracted from
    /// it, and the difference is multiplied by the second.
    ByteResidual(ByteSign),
    /// It is cut and clamped to a number that a byte can hold, as for a store.
    Byte(ByteSign),
    /// A function is applied to it.
    Function(Activation),
    /// It is rounded to the nearest integer, ties to even.
    Round,
}

/// The type in which a sum is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum StoredSum {
    /// The integer sum itself, without steps.
    I32 = 0,
    /// The result of the steps.
    F32 = 1,
    /// The result of the steps, cut towards zero and clamped to 0..=255; 0 for a NaN.
    U8 = 2,
    /// The result of the steps, cut towards zero and clamped to -128..=127; 0 for a NaN.
    I8 = 3,
}

impl StoredSum {
    /// Bytes of a number.
    pub fn bytes(self) -> usize {
        match self {
            StoredSum::I32 | StoredSum::F32 => 4,
            StoredSum::U8 | StoredSum::I8 => 1,
        }
    }
}

/// The zero point of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum WeightZero {
    /// It is 0.
    None = 0,
    /// One for all.
    One = 1,
    /// One for each output channel.
    Channel = 2,
}

/// The kind of a [`SumStep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum StepKind {
    /// There are no more steps.
    End = 0,
    Mul = 1,
    Add = 2,
    Sub = 3,
    Div = 4,
    Residual = 5,
    Function = 6,
    Round = 7,
    UnsignedResidual = 8,
    SignedResidual = 9,
    Unsigned = 10,
    Signed = 11,
    /// [`StepKind::Unsigned`] of the nearest integer, where the function clips to the numbers that stay.
    NearUnsigned = 12,
    /// The same of [`StepKind::Signed`].
    NearSigned = 13,
    /// An operand that no step reads any more.
    Unread = 14,
}

/// A [`SumStep`] as plain bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct StepCode {
    pub(super) kind: StepKind,
    operand: StepOperand,
    function: FunctionCode,
}

impl StepCode {
    /// No step.
    pub(super) fn end() -> StepCode {
        let function = FunctionCode::from(ScalarFunction::None);
        StepCode { kind: StepKind::End, operand: StepOperand::One, function }
    }

    /// The bounds of a clip to integers of at most 255 in absolute value; the upper one may be infinity.
    #[inline(always)]
    fn whole_clip(&self) -> Option<[f32; 2]> {
        let Finish::Clip { lo, hi } = self.function.finish() else { return None };
        let is_whole = |x: f32| x.abs() <= 255.0 && x == x.trunc();
        let is_clip = self.kind == StepKind::Function && lo <= hi && is_whole(lo);
        (is_clip && (is_whole(hi) || hi == f32::INFINITY)).then_some([lo, hi])
    }

    /// The bounds of a clip.
    #[inline(always)]
    fn bounds(&self) -> [f32; 2] {
        match self.function.finish() {
            Finish::Clip { lo, hi } => [lo, hi],
            Finish::Store => [f32::NEG_INFINITY, f32::INFINITY],
        }
    }

    /// Bytes of an element of the residual that these steps add.
    #[inline(always)]
    pub(super) fn residual_bytes(steps: &[StepCode]) -> usize {
        let has_bytes =
            |step: &StepCode| matches!(step.kind, StepKind::UnsignedResidual | StepKind::SignedResidual);
        if steps.iter().any(has_bytes) { 1 } else { size_of::<f32>() }
    }

    /// How many operands the step has, without the residual.
    #[inline(always)]
    fn operand_count(&self) -> usize {
        match self.kind {
            StepKind::Mul | StepKind::Add | StepKind::Sub | StepKind::Div | StepKind::Unread => 1,
            StepKind::UnsignedResidual | StepKind::SignedResidual => 2,
            _ => 0,
        }
    }
}

impl From<SumStep> for StepCode {
    fn from(step: SumStep) -> StepCode {
        let end = StepCode::end();
        let of = |kind: StepKind, operand: StepOperand| StepCode { kind, operand, ..end };
        match step {
            SumStep::Mul(operand) => of(StepKind::Mul, operand),
            SumStep::Add(operand) => of(StepKind::Add, operand),
            SumStep::Sub(operand) => of(StepKind::Sub, operand),
            SumStep::Div(operand) => of(StepKind::Div, operand),
            SumStep::Residual => of(StepKind::Residual, StepOperand::One),
            SumStep::ByteResidual(ByteSign::Unsigned) => of(StepKind::UnsignedResidual, StepOperand::One),
            SumStep::ByteResidual(ByteSign::Signed) => of(StepKind::SignedResidual, StepOperand::One),
            SumStep::Byte(ByteSign::Unsigned) => of(StepKind::Unsigned, StepOperand::One),
            SumStep::Byte(ByteSign::Signed) => of(StepKind::Signed, StepOperand::One),
            SumStep::Round => of(StepKind::Round, StepOperand::One),
            SumStep::Function(function) => {
                StepCode { kind: StepKind::Function, function: function.into(), ..end }
            }
        }
    }
}

/// Whether a kernel can do these steps for this type of output.
pub(super) fn are_possible(steps: &[SumStep], bytes: &QuadNumbers, most: usize) -> bool {
    let is_residual = |step: &&SumStep| matches!(step, SumStep::Residual | SumStep::ByteResidual(_));
    let residuals = steps.iter().filter(is_residual).count();
    let has_floats = bytes.output != StoredSum::I32;
    steps.len() <= most && residuals <= 1 && (has_floats || steps.is_empty())
}

/// The steps without trailing functions that have no effect: clips no narrower than the stored type.
pub(super) fn without_vain_ends(steps: &[SumStep], output: StoredSum) -> &[SumStep] {
    let [least, most] = match output {
        StoredSum::U8 => [0.0, 255.0],
        StoredSum::I8 => [-128.0, 127.0],
        _ => return steps,
    };
    let is_vain = |step: &SumStep| match step {
        SumStep::Function(function) => match FunctionCode::from(*function).finish() {
            Finish::Clip { lo, hi } => lo <= least && hi >= most,
            Finish::Store => *function == ScalarFunction::None,
        },
        _ => false,
    };
    let vain = steps.iter().rev().take_while(|step| is_vain(step)).count();
    &steps[..steps.len() - vain]
}

/// The steps of a running part. A quantization whose bytes are dequantized is one step. If the output is
/// bytes and the steps end with a rounding, or a rounding and the addition of an integer of at most 255 in
/// absolute value, the store does both. A clip to integers after them moves before them.
#[derive(Clone, Copy)]
pub(super) struct StepPlan {
    codes: [StepCode; QuadConv2d::MOST_STEPS],
    count: usize,
    /// The integer to add after rounding, if the store rounds to nearest.
    pub(super) rounded: Option<i32>,
}

impl StepPlan {
    /// # Safety
    /// The operands of the steps are valid.
    #[inline(always)]
    pub(super) unsafe fn new(this: &QuadConv2d, operands: OperandTable) -> StepPlan {
        // SAFETY: the caller's promise.
        let mut plan = unsafe { StepPlan::with_bytes_merged(this.steps(), operands) };
        if this.output.bytes() > 1 {
            return plan;
        }
        let merged = plan;
        let clip = match merged.steps() {
            [.., step] => step.whole_clip(),
            [] => None,
        };
        let steps = &merged.steps()[..plan.count - usize::from(clip.is_some())];
        // SAFETY: the caller's promise.
        if let Some((count, added)) = unsafe { rounded_end(steps, operands) } {
            plan.rounded = Some(added);
            plan.count = steps.len() - count;
            if let Some([lo, hi]) = clip {
                let [lo, hi] = [lo - added as f32, hi - added as f32];
                plan.codes[plan.count] = SumStep::Function(ScalarFunction::Clip { lo, hi }).into();
                plan.count += 1;
            }
        }
        plan
    }

    /// The steps where each quantization to bytes that are dequantized is one step, which reads no operands.
    ///
    /// # Safety
    /// The operands of the steps are valid.
    #[inline(always)]
    unsafe fn with_bytes_merged(steps: &[StepCode], operands: OperandTable) -> StepPlan {
        let mut plan = StepPlan { codes: [StepCode::end(); QuadConv2d::MOST_STEPS], count: 0, rounded: None };
        let mut operand = FIRST_STEP_OPERAND;
        let mut rest = steps;
        while let [step, ..] = *rest {
            // SAFETY: the caller's promise.
            let merged = unsafe { merged_bytes(rest, operand, operands) };
            let (done, step) = merged.unwrap_or((1, step));
            let count = rest[..done].iter().map(StepCode::operand_count).sum::<usize>();
            plan.codes[plan.count] = step;
            plan.count += 1;
            if merged.is_some() {
                let unread = StepCode { kind: StepKind::Unread, ..StepCode::end() };
                plan.codes[plan.count..plan.count + count].fill(unread);
                plan.count += count;
            }
            operand += count;
            rest = &rest[done..];
        }
        plan
    }

    /// The steps that remain.
    #[inline(always)]
    pub(super) fn steps(&self) -> &[StepCode] {
        &self.codes[..self.count.min(QuadConv2d::MOST_STEPS)]
    }
}

/// How many of the first steps quantize to bytes and dequantize these, up to the scale, and a step that does
/// the same: a rounding, a byte, and before and after it an integer of at most 255 in absolute value, if any.
/// `operand` is that of the first step.
///
/// # Safety
/// The operands of the steps are valid.
#[inline(always)]
unsafe fn merged_bytes(
    steps: &[StepCode],
    operand: usize,
    operands: OperandTable,
) -> Option<(usize, StepCode)> {
    let of_all = |step: &StepCode, kind: StepKind| step.kind == kind && step.operand == StepOperand::One;
    let [round, rest @ ..] = steps else { return None };
    let (rest, has_zero) = match rest {
        [add, rest @ ..] if of_all(add, StepKind::Add) => (rest, true),
        _ => (rest, false),
    };
    let (rest, clip) = match rest {
        [clip, rest @ ..] if clip.whole_clip().is_some() => (rest, clip.whole_clip()),
        _ => (rest, None),
    };
    let [byte, rest @ ..] = rest else { return None };
    let (kind, [least, most]) = match byte.kind {
        StepKind::Unsigned => (StepKind::NearUnsigned, [0.0, 255.0]),
        StepKind::Signed => (StepKind::NearSigned, [-128.0, 127.0]),
        _ => return None,
    };
    let (rest, zero) = match rest {
        [sub, rest @ ..] if has_zero && of_all(sub, StepKind::Sub) => {
            // SAFETY: the caller's promise: each of the two has one number.
            let [added, taken] = unsafe { [0, 1].map(|index| *operands.get::<f32>(operand + index)) };
            let is_zero = added == taken && added.abs() <= 255.0 && added == added.trunc();
            (rest, is_zero.then_some(added)?)
        }
        _ if has_zero => return None,
        _ => (rest, 0.0),
    };
    let is_merged = round.kind == StepKind::Round && clip.is_none_or(|[lo, hi]| lo <= least && hi >= most);
    let step = SumStep::Function(ScalarFunction::Clip { lo: least - zero, hi: most - zero });
    is_merged.then(|| (steps.len() - rest.len(), StepCode { kind, ..step.into() }))
}

/// How many of the last steps are a rounding, and the integer that they add.
///
/// # Safety
/// The operands of the steps are valid.
#[inline(always)]
unsafe fn rounded_end(steps: &[StepCode], operands: OperandTable) -> Option<(usize, i32)> {
    let is_one = |step: &StepCode| step.kind == StepKind::Add && step.operand == StepOperand::One;
    match steps {
        [.., step] if step.kind == StepKind::Round => Some((1, 0)),
        [before @ .., round, add] if round.kind == StepKind::Round && is_one(add) => {
            let earlier = before.iter().map(StepCode::operand_count).sum::<usize>();
            // SAFETY: the caller's promise.
            let added = unsafe { *operands.get::<f32>(FIRST_STEP_OPERAND + earlier) };
            (added.abs() <= 255.0 && added == added.trunc()).then_some((2, added as i32))
        }
        _ => None,
    }
}

/// The sums of a tile after all steps.
///
/// # Safety
/// The machine has `S`. The steps' operands have the tile's valid columns, and so has each row of the
/// residual. `tile.sums` has room for the largest tile.
#[inline(always)]
pub(super) unsafe fn after_steps<S: Simd, const ROWS: usize, const VECTORS: usize>(
    s: S,
    tile: &QuadTile,
    mut sums: [[S::F; VECTORS]; ROWS],
) -> [[S::F; VECTORS]; ROWS] {
    let mut operand = FIRST_STEP_OPERAND;
    for step in tile.steps {
        let mut values = [s.splat(0.0); VECTORS];
        let first = operand;
        operand += step.operand_count();
        if step.operand_count() > 0 {
            // SAFETY: the caller's promise: there is such an operand.
            unsafe { values = step_values(s, tile, step.operand, tile.operands.get(first)) };
        }
        macro_rules! each {
            (|$sum:ident, $value:ident| $after:expr) => {{
                written_out!(row in ROWS => {
                    for ($sum, $value) in sums[row].iter_mut().zip(values) {
                        *$sum = $after;
                    }
                });
            }};
        }
        match step.kind {
            StepKind::Mul => each!(|sum, value| s.mul(*sum, value)),
            StepKind::Add => each!(|sum, value| s.add(*sum, value)),
            StepKind::Sub => each!(|sum, value| s.sub(*sum, value)),
            StepKind::Div => each!(|sum, value| s.div(*sum, value)),
            StepKind::Round => each!(|sum, _value| s.round(*sum)),
            // SAFETY: the caller's promise.
            StepKind::Residual => unsafe { add_residual(s, tile, &mut sums) },
            // SAFETY: the caller's promise: there are two such operands.
            StepKind::UnsignedResidual | StepKind::SignedResidual => unsafe {
                let scale = s.splat(*tile.operands.get::<f32>(first + 1));
                add_bytes(s, tile, step.kind, [values[0], scale], &mut sums);
            },
            StepKind::Unsigned => each!(|sum, _value| cut_unsigned(s, *sum)),
            StepKind::Signed => each!(|sum, _value| cut_signed(s, *sum)),
            StepKind::Function => {
                if let Finish::Clip { lo, hi } = step.function.finish() {
                    each!(|sum, _value| s.max(s.splat(lo), *sum));
                    // Nothing is above infinity, the upper bound of relu.
                    if hi < f32::INFINITY {
                        each!(|sum, _value| s.min(s.splat(hi), *sum));
                    }
                }
                if step.function.is_deferred() {
                    // SAFETY: the caller's promise.
                    unsafe { apply_function(s, tile, step.function, &mut sums) }
                }
            }
            StepKind::NearUnsigned => each!(|sum, _value| near_unsigned(s, *sum, step.bounds())),
            StepKind::NearSigned => each!(|sum, _value| near_signed(s, *sum, step.bounds())),
            StepKind::End | StepKind::Unread => {}
        }
    }
    sums
}

/// The nearest integers, ties to even, of numbers clamped to two integers, whose absolute values are at most
/// 510. Not a number becomes the lower one.
#[inline(always)]
fn near_unsigned<S: Simd>(s: S, x: S::F, [lo, hi]: [f32; 2]) -> S::F {
    // Floats between 2^23 and 2^24 are the integers there.
    let apart = s.splat(1.5 * 8_388_608.0);
    // If an operand is NaN, `max` returns the second.
    let clamped = s.min(s.splat(hi), s.max(x, s.splat(lo)));
    s.sub(s.add(clamped, apart), apart)
}

/// The same, but not a number becomes what the byte 0 does: the lower integer is -128 less the zero point.
#[inline(always)]
fn near_signed<S: Simd>(s: S, x: S::F, [lo, hi]: [f32; 2]) -> S::F {
    near_unsigned(s, s.select_eq(x, x, x, s.splat(lo + 128.0)), [lo, hi])
}

/// A step's operand, as one number for each column of a tile.
#[inline(always)]
unsafe fn step_values<S: Simd, const VECTORS: usize>(
    s: S,
    tile: &QuadTile,
    operand: StepOperand,
    numbers: *const f32,
) -> [S::F; VECTORS] {
    let mut values = [s.splat(0.0); VECTORS];
    // SAFETY: the caller's promise; lanes after the valid columns are not accessed.
    unsafe {
        match operand {
            StepOperand::One => values = [s.splat(*numbers); VECTORS],
            StepOperand::Channel => {
                for (v, value) in values.iter_mut().enumerate() {
                    let first = v * S::LANES;
                    let left = tile.cols.saturating_sub(first);
                    *value = s.load_first(numbers.wrapping_add(tile.channel + first), left);
                }
            }
        }
    }
    values
}

#[inline(always)]
unsafe fn add_residual<S: Simd, const ROWS: usize, const VECTORS: usize>(
    s: S,
    tile: &QuadTile,
    sums: &mut [[S::F; VECTORS]; ROWS],
) {
    written_out!(v in VECTORS, at most 2 => {
        let first = v * S::LANES;
        let mask = s.mask(tile.cols.saturating_sub(first));
        written_out!(row in ROWS => {
            let at = tile.residual.cast::<f32>().wrapping_add(row * tile.residual_stride + first);
            // SAFETY: the caller's promise; lanes after the valid columns are not accessed.
            let added = unsafe { s.load_masked(at, mask) };
            sums[row][v] = s.add(sums[row][v], added);
        });
    });
}

/// Numbers cut and clamped to an unsigned byte.
#[inline(always)]
pub(crate) fn cut_unsigned<S: Simd>(s: S, x: S::F) -> S::F {
    // If an operand is NaN, `max` returns the second: NaN becomes 0.
    s.trunc(s.min(s.splat(255.0), s.max(x, s.splat(0.0))))
}

/// Numbers cut and clamped to a signed byte.
#[inline(always)]
pub(crate) fn cut_signed<S: Simd>(s: S, x: S::F) -> S::F {
    let number = s.select_eq(x, x, x, s.splat(0.0));
    let cut = s.trunc(s.min(s.splat(127.0), s.max(s.splat(-128.0), number)));
    // Turns -0.0 into 0.0.
    s.add(cut, s.splat(0.0))
}

/// Adds `(byte - zero) * scale`; `kind` tells the sign of the bytes.
#[inline(always)]
unsafe fn add_bytes<S: Simd, const ROWS: usize, const VECTORS: usize>(
    s: S,
    tile: &QuadTile,
    kind: StepKind,
    [zero, scale]: [S::F; 2],
    sums: &mut [[S::F; VECTORS]; ROWS],
) {
    macro_rules! add {
        (|$at:ident, $left:ident| $load:expr) => {{
            written_out!(v in VECTORS, at most 2 => {
                let first = v * S::LANES;
                let $left = tile.cols.saturating_sub(first);
                written_out!(row in ROWS => {
                    let $at = tile.residual.wrapping_add(row * tile.residual_stride + first);
                    let added = s.mul(s.sub(s.to_float($load), zero), scale);
                    sums[row][v] = s.add(sums[row][v], added);
                });
            });
        }};
    }
    // SAFETY: the caller's promise; lanes after the valid columns are not accessed.
    unsafe {
        match kind {
            StepKind::SignedResidual => add!(|at, left| s.load_signed(at, left)),
            _ => add!(|at, left| s.load_unsigned(at, left)),
        }
    }
}

/// Applies a function that cannot be applied in registers.
#[inline(always)]
unsafe fn apply_function<S: Simd, const ROWS: usize, const VECTORS: usize>(
    s: S,
    tile: &QuadTile,
    code: FunctionCode,
    sums: &mut [[S::F; VECTORS]; ROWS],
) {
    // SAFETY: the caller's promise: `tile.sums` has room for the largest tile.
    unsafe {
        written_out!(row in ROWS => {
            for (v, sum) in sums[row].iter().enumerate() {
                s.store(tile.sums.add(row * PANEL + v * S::LANES), *sum);
            }
        });
        apply_to::<S>(code, tile.sums, [ROWS, tile.cols.min(VECTORS * S::LANES)]);
        written_out!(row in ROWS => {
            for (v, sum) in sums[row].iter_mut().enumerate() {
                *sum = s.load(tile.sums.add(row * PANEL + v * S::LANES));
            }
        });
    }
}

/// Applies a function to the rows of a buffer. It is not inlined: each tile size would repeat its code.
///
/// # Safety
/// The machine has `S`; the buffer has these rows and columns.
#[inline(never)]
unsafe fn apply_to<S: Simd>(code: FunctionCode, sums: *mut f32, size: [usize; 2]) {
    // SAFETY: the caller's promise.
    unsafe { apply_rows::<S>(code, sums, size, PANEL) }
}
