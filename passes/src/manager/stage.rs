//! The stages of the canonical pipeline.

use ir::plan::attrs;
use ir::{Body, Context};

/// A stage of the canonical pipeline, in order. The attribute `optc.stage` of a function is the last stage
/// that it went through; a function that has just been parsed has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Algebra, folding, dead code.
    Simplify,
    /// Data layouts chosen.
    Layout,
    /// Operations put into groups.
    Fuse,
    /// Kernels chosen, scratch known.
    Select,
    /// Order chosen.
    Schedule,
    /// Results tied to operands.
    Inplace,
    /// Every value has its place.
    Plan,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Stage; 7] = [
        Stage::Simplify,
        Stage::Layout,
        Stage::Fuse,
        Stage::Select,
        Stage::Schedule,
        Stage::Inplace,
        Stage::Plan,
    ];

    /// The value of `optc.stage`: the name of the pass.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Simplify => "simplify",
            Stage::Layout => "layout",
            Stage::Fuse => "fuse",
            Stage::Select => "select",
            Stage::Schedule => "schedule",
            Stage::Inplace => "inplace",
            Stage::Plan => "plan",
        }
    }

    /// Whether later stages need it, so that it is inserted when missing.
    pub fn is_mandatory(self) -> bool {
        matches!(self, Stage::Layout | Stage::Select | Stage::Plan)
    }

    /// The stage that a function has reached, from its attribute; none if it has just been parsed.
    pub fn of(ctx: &Context, func: &Body) -> Option<Stage> {
        let text = ctx.str_value(func.own_attr(ctx, ctx.ident(attrs::OPTC_STAGE))?)?;
        Stage::ALL.into_iter().find(|stage| stage.name() == text)
    }

    /// Records on a function that it has reached this stage.
    pub fn mark(self, ctx: &Context, func: &mut Body) {
        func.set_own_attr(ctx, attrs::OPTC_STAGE, ctx.str_attr(self.name()));
    }
}

/// The part of the canonical pipeline in which a pass may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageRule {
    /// It is this stage: functions that it ran on have reached it. It may run again on them, but not after a
    /// later stage.
    Is(Stage),
    /// Anywhere up to and after this stage, but not after a later one, whose decisions it would invalidate.
    UpTo(Stage),
    /// Anywhere.
    Any,
}

impl StageRule {
    /// Whether the pass may run on a function that has reached `reached`.
    pub fn allows(self, reached: Option<Stage>) -> bool {
        match self {
            StageRule::Is(last) | StageRule::UpTo(last) => reached.is_none_or(|reached| reached <= last),
            StageRule::Any => true,
        }
    }

    /// The stage that the pass implements, if any.
    pub fn stage(self) -> Option<Stage> {
        match self {
            StageRule::Is(stage) => Some(stage),
            StageRule::UpTo(_) | StageRule::Any => None,
        }
    }
}
