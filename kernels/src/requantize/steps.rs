//! The steps of a requantization, as they are asked for and as plain bytes.

use crate::quads::ByteSign;

/// A number that a step reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSource {
    /// The element of an operand, as `f32`.
    Operand(u32),
    /// A number.
    Number(f32),
    /// The value that was set aside.
    Aside,
}

/// A function of the value and another number, rounded once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepFunction {
    /// The sum.
    Add,
    /// The value less the number.
    Sub,
    /// The number less the value.
    SubFrom,
    /// The product.
    Mul,
    /// The value divided by the number.
    Div,
    /// The number divided by the value.
    DivInto,
    /// The number if it is greater, otherwise the value.
    Max,
    /// The number if it is less, otherwise the value.
    Min,
}

/// A step of the computation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequantizeStep {
    /// The value becomes the number.
    Load(StepSource),
    /// The value is set aside, for later steps.
    SetAside,
    /// A function is applied to the value.
    Apply(StepFunction, StepSource),
    /// The value is rounded to the nearest integer, ties to even.
    Round,
    /// The value is cut and clamped to a number that a byte can hold; 0 for a NaN.
    Byte(ByteSign),
}

/// The type of an operand's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum StepNumber {
    /// `f32`.
    F32 = 0,
    /// From 0 to 255.
    U8 = 1,
    /// From -128 to 127.
    I8 = 2,
}

impl StepNumber {
    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            StepNumber::F32 => 4,
            StepNumber::U8 | StepNumber::I8 => 1,
        }
    }
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum StepAction {
    Load,
    SetAside,
    Add,
    Sub,
    SubFrom,
    Mul,
    Div,
    DivInto,
    Max,
    Min,
    Round,
    Unsigned,
    Signed,
}

/// A step as plain bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct StepWords {
    pub(super) action: StepAction,
    /// The operand, or one of the constants below.
    pub(super) source: u32,
    pub(super) number: f32,
}

/// The source is a number.
pub(super) const NUMBER: u32 = u32::MAX;
/// The source is the value that was set aside.
pub(super) const ASIDE: u32 = u32::MAX - 1;

impl From<RequantizeStep> for StepWords {
    fn from(step: RequantizeStep) -> StepWords {
        let of = |action: StepAction, source: StepSource| match source {
            StepSource::Operand(source) => StepWords { action, source, number: 0.0 },
            StepSource::Number(number) => StepWords { action, source: NUMBER, number },
            StepSource::Aside => StepWords { action, source: ASIDE, number: 0.0 },
        };
        let alone = |action: StepAction| StepWords { action, source: NUMBER, number: 0.0 };
        match step {
            RequantizeStep::Load(source) => of(StepAction::Load, source),
            RequantizeStep::SetAside => alone(StepAction::SetAside),
            RequantizeStep::Round => alone(StepAction::Round),
            RequantizeStep::Byte(ByteSign::Unsigned) => alone(StepAction::Unsigned),
            RequantizeStep::Byte(ByteSign::Signed) => alone(StepAction::Signed),
            RequantizeStep::Apply(function, source) => {
                let action = match function {
                    StepFunction::Add => StepAction::Add,
                    StepFunction::Sub => StepAction::Sub,
                    StepFunction::SubFrom => StepAction::SubFrom,
                    StepFunction::Mul => StepAction::Mul,
                    StepFunction::Div => StepAction::Div,
                    StepFunction::DivInto => StepAction::DivInto,
                    StepFunction::Max => StepAction::Max,
                    StepFunction::Min => StepAction::Min,
                };
                of(action, source)
            }
        }
    }
}
