//! The passes of the canonical pipeline: their rows for the registry.

use ir::memory_pools::{MemoryPool, add_pools};
use ir::{Diagnostic, Location};

use crate::manager::{Example, OptionDef, OptionKind, PassDef, PassRun, Stage, StageRule};
use crate::memory::bound::Bound;
use crate::memory::buffers::Buffers;
use crate::memory::structure;
use crate::precision::round_to_bf16;
use crate::symbolic::is_symbolic;
use crate::tradeoff::Goal;
use crate::variants::guard;

/// Converts images to the layout that the target prefers.
pub(crate) static LAYOUT: PassDef = PassDef {
    name: "layout",
    doc: "Gives convolutions and pooling the layout that the target prefers, and moves the transposes that \
         this needs to the ends of the program.",
    options: &[],
    example: Example {
        before: r#"func.func @main(%x: tensor<1x3x4x4xf32>) -> tensor<1x3x2x2xf32> {
  %0 = nn.max_pool2d %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x2x2xf32>
  %1 = nn.relu %0 : tensor<1x3x2x2xf32>
  return %1 : tensor<1x3x2x2xf32>
}"#,
        after: r#"module {
  func.func @main(%arg0: tensor<1x3x4x4xf32>) -> tensor<1x3x2x2xf32> attributes {optc.stage = "layout"} {
    %0 = nn.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x4x4x3xf32>
    %1 = nn.max_pool2d %0 {kernel = array<i64: 2, 2>, layout = "NHWC", strides = array<i64: 2, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x2x2x3xf32>
    %2 = nn.relu %1 : tensor<1x2x2x3xf32>
    %3 = nn.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x2x2x3xf32>) -> tensor<1x3x2x2xf32>
    return %3 : tensor<1x3x2x2xf32>
  }
}"#,
    },
    stage: StageRule::Is(Stage::Layout),
    run: PassRun::Function(|pass, body| crate::layout::layout(pass.ctx, pass.target, body, &pass.changes)),
};

/// Puts operations into groups that run as one.
pub(crate) static FUSE: PassDef = PassDef {
    name: "fuse",
    doc: "Fuses operations into groups that run as one step: a contraction with its bias, residual and \
         activation, or a chain of elementwise operations. Values inside a group are never stored.",
    options: &[OptionDef {
        name: "max-ops",
        kind: OptionKind::Int { min: 1, max: i64::MAX },
        default: "64",
        doc: "Maximum number of operations in a group.",
    }],
    example: Example {
        before: r#"func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.add %0, %y : tensor<4xf32>
  return %1 : tensor<4xf32>
}"#,
        after: r#"module {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "fuse"} {
    %0 = optc.group(%arg2 = %arg0, %arg3 = %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
      %1 = nn.exp %arg2 : tensor<4xf32>
      %2 = nn.add %1, %arg3 : tensor<4xf32>
      optc.yield %2 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
  }
}"#,
    },
    stage: StageRule::Is(Stage::Fuse),
    run: PassRun::Function(|pass, body| {
        let max_ops = pass.options.int("max-ops") as usize;
        let groups = crate::fuse::fuse(pass.ctx, pass.target, body, max_ops, &pass.changes);
        pass.count("groups", groups as u64);
        Ok(())
    }),
};

/// Rounds numbers to `bf16`.
pub(crate) static PRECISION: PassDef = PassDef {
    name: "precision",
    doc: "Lets contractions with weights multiply `bf16`, with sums in `f32`, and stores what lies between \
         steps as `bf16`, where the target has kernels for that. Each rounding is an operation. \
         Sizes must be known.",
    options: &[],
    example: Example {
        before: r#"func.func @main(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %w = nn.constant dense<0.5> : tensor<8x4xf32>
  %0 = nn.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}"#,
        after: r#"module {
  func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x4xf32> {
    %0 = nn.constant dense<5.000000e-01> : tensor<8x4xf32>
    %1 = optc.group(%arg1 = %arg0, %arg2 = %0) : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32> {
      %2 = nn.cast %arg1 {to = bf16} : (tensor<2x8xf32>) -> tensor<2x8xbf16>
      %3 = nn.cast %2 {to = f32} : (tensor<2x8xbf16>) -> tensor<2x8xf32>
      %4 = nn.cast %arg2 {to = bf16} : (tensor<8x4xf32>) -> tensor<8x4xbf16>
      %5 = nn.cast %4 {to = f32} : (tensor<8x4xbf16>) -> tensor<8x4xf32>
      %6 = nn.matmul %3, %5 : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
      optc.yield %6 : tensor<2x4xf32>
    }
    return %1 : tensor<2x4xf32>
  }
}"#,
    },
    stage: StageRule::UpTo(Stage::Fuse),
    run: PassRun::Function(|pass, body| {
        let rounded = round_to_bf16(pass.ctx, pass.target, body, pass.threads, &pass.changes)?;
        pass.count("products-of-bf16", rounded.products as u64);
        pass.count("products-of-f32", rounded.others as u64);
        pass.count("stored-as-bf16", rounded.stored as u64);
        Ok(())
    }),
};

/// Selects kernels.
pub(crate) static SELECT: PassDef = PassDef {
    name: "select",
    doc: "Selects for each step a kernel of the target, its scratch for the function's number of threads, \
         and the pool of its results. `--remarks=select` names the steps that run slower than others of \
         their kind, with the reason.",
    options: &[],
    example: Example {
        before: r#"func.func @main(%x: tensor<2x8xf32>) -> tensor<2x4xf32> {
  %w = nn.constant dense<0.5> : tensor<8x4xf32>
  %0 = nn.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}"#,
        after: r#"module {
  func.func @main(%arg0: tensor<2x8xf32>) -> tensor<2x4xf32> attributes {optc.stage = "select", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
    %0 = nn.constant dense<5.000000e-01> : tensor<8x4xf32>
    %1 = nn.matmul %arg0, %0 {mem.kernel = "gemm"} : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
}"#,
    },
    stage: StageRule::Is(Stage::Select),
    run: PassRun::Function(|pass, body| {
        crate::memory_pools::assign(pass.ctx, pass.target, body)?;
        let slow = crate::select::select(pass.ctx, pass.target, body, pass.threads);
        pass.count("slow", slow.len() as u64);
        for (op, reason) in slow {
            pass.remark(body.location(op), reason);
        }
        Ok(())
    }),
};

/// Lets results overwrite dying operands.
pub(crate) static INPLACE: PassDef = PassDef {
    name: "inplace",
    doc: "Saves copies before anything is placed: operands are written directly into their concatenation or \
         padding, views are read where their operand lies, and results overwrite operands without a later \
         reader. `--remarks=inplace` says why not, where it does not. A slice that outlives the rest of its \
         value is copied if that lowers the peak.",
    options: &[],
    example: Example {
        before: r#"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.neg %x : tensor<4xf32>
  %1 = nn.abs %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}"#,
        after: r#"module {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.stage = "inplace", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
    %0 = nn.neg %arg0 {mem.kernel = "pointwise"} : tensor<4xf32>
    %1 = nn.abs %0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}"#,
    },
    stage: StageRule::Is(Stage::Inplace),
    run: PassRun::Function(|pass, body| {
        if is_symbolic(pass.ctx, body) || !guard(pass.ctx, body).is_empty() {
            // `select` decides at each size, but pools are the same at all sizes.
            crate::memory_pools::assign(pass.ctx, pass.target, body)?;
            let outcome = structure::decide(pass.ctx, pass.target, body);
            pass.count("ties", outcome.ties as u64);
            pass.count("parts", outcome.parts as u64);
            pass.count("views", outcome.views as u64);
            outcome.remarks.into_iter().for_each(|remark| pass.add_remark(remark));
            return Ok(());
        }
        let copies = match pass.changes.allow(|| "slices that outlive the rest are copied".to_owned()) {
            true => crate::late_parts::copy_late_parts(pass.ctx, pass.target, body),
            false => Vec::new(),
        };
        pass.count("copies", copies.len() as u64);
        let outcome = crate::inplace::inplace(pass.ctx, pass.target, body, &pass.changes);
        pass.count("ties", outcome.ties as u64);
        pass.count("parts", outcome.parts as u64);
        pass.count("views", outcome.views as u64);
        copies.into_iter().chain(outcome.remarks).for_each(|remark| pass.add_remark(remark));
        Ok(())
    }),
};

/// Gives each value its place.
pub(crate) static PLAN: PassDef = PassDef {
    name: "plan",
    doc: "Gives every value that needs storage, and the scratch of every step, a place in one arena (or in \
         the pool that it asks for), and has the plan checked by code that shares nothing with the planner. \
         Of a function of named sizes it writes the buffers, with live ranges and sizes as expressions \
         (`optc.buffers`); their offsets are found for the sizes of each run.",
    options: &[
        OptionDef {
            name: "planner",
            kind: OptionKind::Text,
            default: "auto",
            doc: "Which planner places them; `auto` tries several orders, walks a little way through \
                 others, then searches, and stops at the lower bound.",
        },
        OptionDef {
            name: "optimize",
            kind: OptionKind::OneOf(Goal::NAMES),
            default: "balanced",
            doc: "What is traded: `memory` writes results over rows of operands that were read, and gives \
                 kernels little scratch, wherever that makes the arena smaller; `balanced` does so where it \
                 costs next to no time; `speed` never does. Windows of 2x2, 3x3, 5x5, and of 2, 3, 5 or 7 in \
                 a row or column are computed by Winograd's algorithm, which rounds otherwise, where that \
                 is faster: for `speed` with any scratch, for `balanced` where its scratch fits beneath the \
                 peak (up to a tenth above it, where it is at least 1.25 times as fast), for `memory` \
                 beneath its own peak.",
        },
        OptionDef {
            name: "pools",
            kind: OptionKind::Text,
            default: "",
            doc: "Pools beside those that the function and its target name: \
                 `\"vtcm:align=128,capacity=1MiB; image:pitch=64\"`. The name `arena` says more of the \
                  arena.",
        },
    ],
    example: Example {
        before: r#"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.neg %x : tensor<4xf32>
  %1 = nn.abs %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}"#,
        after: r#"module {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {optc.arena = 16 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
    %0 = nn.neg %arg0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 16]]} : tensor<4xf32>
    %1 = nn.abs %0 {mem.kernel = "pointwise", mem.place = [["out", 0, 16]]} : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}"#,
    },
    stage: StageRule::Is(Stage::Plan),
    run: PassRun::Function(|pass, body| {
        let goal = Goal::named(&pass.options.text("optimize")).expect("the option is one of the names");
        let pools = MemoryPool::parse_all(&pass.options.text("pools"));
        let pools = pools.and_then(|pools| add_pools(pass.ctx, body, &pools));
        pools.map_err(|fault| vec![Diagnostic::error(Location::UNKNOWN, fault)])?;
        if is_symbolic(pass.ctx, body) {
            // `inplace` did this too, if it ran.
            structure::settle(pass.ctx, body);
            crate::plan::separate_outputs(pass.ctx, body);
            let buffers = Buffers::of(pass.ctx, pass.target, body, pass.threads)?;
            let bound = Bound::of(pass.ctx, pass.target, &buffers, pass.threads, goal).ok();
            let scratch_bytes = |id| bound.as_ref().and_then(|bound| bound.scratch_bytes(id));
            buffers.write(pass.ctx, body, &scratch_bytes);
            return Ok(());
        }
        if !guard(pass.ctx, body).is_empty() {
            // The operands in place were decided for all sizes; the pitches of their rows depend on the
            // sizes.
            structure::write_rows(pass.ctx, body);
        }
        let planner = pass.options.text("planner");
        let remarks = crate::plan::plan(pass.ctx, pass.target, body, &planner, goal, &pass.changes)?;
        remarks.into_iter().for_each(|remark| pass.add_remark(remark));
        Ok(())
    }),
};
