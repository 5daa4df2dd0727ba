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
            StepKind::Mul | StepKind::Add | StepKind::Sub | StepKind::Div => 1,
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

/// The steps of a running part, with a final rounding merged into the store. If the output is bytes and the
/// steps end with a rounding, or a rounding and the addition of an integer of at most 255 in absolute value,
/// the store does both. A clip to integers after them moves before them.
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
        let codes = this.steps;
        let mut plan = StepPlan { codes, count: this.step_count as usize, rounded: None };
        if this.output.bytes() > 1 {
            return plan;
        }
        let clip = match this.steps() {
            [.., step] => step.whole_clip(),
            [] => None,
        };
        let steps = &this.steps()[..plan.count - usize::from(clip.is_some())];
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

    /// The steps that remain.
    #[inline(always)]
    pub(super) fn steps(&self) -> &[StepCode] {
        &self.codes[..self.count.min(QuadConv2d::MOST_STEPS)]
    }
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
            StepKind::End => {}
        }
    }
    sums
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
    written_out!(v in VECTORS, at most 2 => {
        let first = v * S::LANES;
        let left = tile.cols.saturating_sub(first);
        written_out!(row in ROWS => {
            let at = tile.residual.wrapping_add(row * tile.residual_stride + first);
            // SAFETY: the caller's promise; lanes after the valid columns are not accessed.
            let bytes = unsafe {
                match kind {
                    StepKind::SignedResidual => s.load_signed(at, left),
                    _ => s.load_unsigned(at, left),
                }
            };
            let added = s.mul(s.sub(s.to_float(bytes), zero), scale);
            sums[row][v] = s.add(sums[row][v], added);
        });
    });
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
