//! The rows of the passes that make the canonical pipeline.

use crate::manager::{Example, OptionDef, OptionKind, PassDef, PassRun, Stage, StageRule};

/// Images turn to the layout that the target wants.
pub(crate) static LAYOUT: PassDef = PassDef {
    name: "layout",
    doc: "Turns convolutions and pools to the layout in which the target runs them best, and moves the transposes that this \
          needs to the ends of the program.",
    options: &[],
    example: Example { before: "", after: "" },
    stage: StageRule::Is(Stage::Layout),
    run: PassRun::Function(|pass, body| crate::layout::layout(pass.ctx, pass.target, body)),
};

/// Operations are put into groups that run as one.
pub(crate) static FUSE: PassDef = PassDef {
    name: "fuse",
    doc: "Puts operations into groups that run as one step: a contraction with its bias, residual and activation, or a chain \
          of elementwise operations. What is made and read inside a group is never stored.",
    options: &[OptionDef {
        name: "max-ops",
        kind: OptionKind::Int { min: 1, max: i64::MAX },
        default: "64",
        doc: "The most operations of a group.",
    }],
    example: Example { before: "", after: "" },
    stage: StageRule::Is(Stage::Fuse),
    run: PassRun::Function(|pass, body| {
        let groups = crate::fuse::fuse(pass.ctx, pass.target, body, pass.options.int("max-ops") as usize);
        pass.count("groups", groups as u64);
        Ok(())
    }),
};

/// Kernels are chosen.
pub(crate) static SELECT: PassDef = PassDef {
    name: "select",
    doc: "Writes down which kernel of the target runs each step, and how much scratch it needs on so many threads.",
    options: &[],
    example: Example { before: "", after: "" },
    stage: StageRule::Is(Stage::Select),
    run: PassRun::Function(|pass, body| {
        crate::select::select(pass.ctx, pass.target, body, pass.threads);
        Ok(())
    }),
};

/// Results overwrite operands that die.
pub(crate) static INPLACE: PassDef = PassDef {
    name: "inplace",
    doc: "Lets results overwrite operands that nothing reads later, before anything is placed; `--remarks=inplace` says why \
          not, where it does not.",
    options: &[],
    example: Example { before: "", after: "" },
    stage: StageRule::Is(Stage::Inplace),
    run: PassRun::Function(|pass, body| {
        let outcome = crate::inplace::inplace(pass.ctx, pass.target, body);
        pass.count("ties", outcome.ties as u64);
        outcome.remarks.into_iter().for_each(|remark| pass.add_remark(remark));
        Ok(())
    }),
};

/// Every value gets its place.
pub(crate) static PLAN: PassDef = PassDef {
    name: "plan",
    doc: "Gives every value that needs storage, and the scratch of every step, a place in one arena, and has the plan judged \
          by a checker that shares nothing with the planner.",
    options: &[OptionDef {
        name: "planner",
        kind: OptionKind::Text,
        default: "portfolio",
        doc: "Which planner places them; `portfolio` tries several orders and stops at the lower bound.",
    }],
    example: Example { before: "", after: "" },
    stage: StageRule::Is(Stage::Plan),
    run: PassRun::Function(|pass, body| crate::plan::plan(pass.ctx, body, &pass.options.text("planner"))),
};
