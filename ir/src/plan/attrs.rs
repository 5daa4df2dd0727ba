//! The attributes of a plan: each name once, with its meaning, its writer and its readers.
//!
//! A pass records all its decisions as attributes (`mem.*` on operations, `optc.*` on functions, arguments
//! and results), so that every later stage also works from printed text. `docs/book/attributes.md` prints
//! this table. Each stage adds some of the attributes:
//!
//! ```text
//! select:  %1 = nn.abs %0 {mem.kernel = "pointwise"} : tensor<4xf32>
//! inplace: %1 = nn.abs %0 {mem.kernel = "pointwise", mem.tie = array<i64: 0>} : tensor<4xf32>
//! plan:    %1 = nn.abs %0 {mem.kernel = "pointwise", mem.place = [["arena", 0, 16]], mem.tie = array<i64:
//! 0>} : tensor<4xf32>
//! ```
//!
//! The checker of plans reads these attributes with code of its own, so that it shares none with the
//! planners.

use crate::body::{Body, OpRef};
use crate::context::Context;

/// An attribute of a plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanAttr {
    /// Its name in the text.
    pub name: &'static str,
    /// The operations, functions, arguments or results that carry it.
    pub on: &'static str,
    /// Its form and meaning.
    pub says: &'static str,
    /// The passes that write it.
    pub written_by: &'static str,
    /// The stages that read it.
    pub read_by: &'static str,
}

macro_rules! plan_attrs {
    ($($id:ident = $name:literal on $on:literal: $says:literal, written by $writer:literal, read by $reader:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "` on ", $on, ": ", $says, ".")]
            pub const $id: &str = $name;
        )*

        /// All attributes of a plan, functions' first.
        pub const ALL: &[PlanAttr] = &[$(PlanAttr {
            name: $name,
            on: $on,
            says: $says,
            written_by: $writer,
            read_by: $reader,
        }),*];
    };
}

plan_attrs! {
    OPTC_STAGE = "optc.stage" on "functions":
        "the last stage of the pipeline that has run on it",
        written by "the pass manager", read by "the pass manager";
    OPTC_TARGET = "optc.target" on "functions":
        "the CPU that it is planned for: `x86-64-v4`, `x86-64-v3`, `aarch64` or `portable`",
        written by "`select`", read by "code generation, the stages that follow";
    OPTC_THREADS = "optc.threads" on "functions":
        "the number of threads that its scratch is for",
        written by "`select`", read by "`select`, `plan`";
    OPTC_ARENA = "optc.arena" on "functions":
        "bytes of the arena, with all pools",
        written by "`plan`", read by "the checker, code generation, reports";
    OPTC_POOLS = "optc.pools" on "functions":
        "pools beside the arena (or `arena` itself): `align`, `capacity`, `pitch`; after planning `start` in the arena, and `bytes`",
        written by "`--pool`, `select`, `plan`", read by "`plan`, the checker, code generation";
    OPTC_DIMS = "optc.dims" on "functions":
        "what is known of named sizes: for each its range `[low, high]`, or an expression that it equals",
        written by "the importer, `--dim`", read by "all comparisons of sizes, and the check before each run";
    OPTC_VARIANTS = "optc.variants" on "functions":
        "the functions that run in its place if their guards hold",
        written by "`variants`", read by "the compilation for all sizes";
    OPTC_GUARD = "optc.guard" on "functions":
        "the sizes at which it runs in place of the function that lists it: `{N = 1 : i64}`",
        written by "`variants`", read by "the compilation for all sizes, reports";
    OPTC_BUFFERS = "optc.buffers" on "functions":
        "for each buffer its first and last step, its bytes as an expression of the named sizes, and its pool if that is not the arena",
        written by "`plan`, where sizes have names", read by "`optc plan`";
    OPTC_NAME = "optc.name" on "arguments, results":
        "the name in the model",
        written by "the importer", read by "the command, reports, embedders";
    OPTC_DONATED = "optc.donated" on "arguments":
        "the program may overwrite the caller's bytes",
        written by "`--donate`", read by "`inplace`, `plan`, the checker, code generation";
    OPTC_STATE = "optc.state" on "arguments, results":
        "the argument keeps its bytes from run to run, in the pool `state`; the result is the next value of the argument of that number",
        written by "the program's author", read by "`plan`, the checker, code generation";
    OPTC_OPEN = "optc.open" on "results":
        "`[axis, result]`: the number of valid elements along the axis depends on data, and is the value of that result",
        written by "the importer", read by "the run, which cuts the output";
    OPTC_COUNT = "optc.count" on "results":
        "the result is the number of valid elements of a result with `optc.open`, and no output itself",
        written by "the importer", read by "the run, which cuts the output";
    MEM_KERNEL = "mem.kernel" on "operations":
        "the kernel that computes it",
        written by "`select`", read by "people";
    MEM_METHOD = "mem.method" on "operations":
        "the algorithm, if it is not the kernel's usual one: `winograd`",
        written by "`plan`", read by "code generation";
    MEM_SCRATCH = "mem.scratch" on "operations":
        "bytes of scratch, for all threads together",
        written by "`select`, `plan`", read by "`schedule`, `plan`, the checker, code generation";
    MEM_POOL = "mem.pool" on "operations":
        "for each result the name of the pool that it must be in",
        written by "the program's author, `select`", read by "`plan`, the checker";
    MEM_LINES = "mem.lines" on "groups":
        "the body's operations stream a few rows at a time, so that only some rows of the values between them exist at once",
        written by "`lines`", read by "`plan`, the checker, code generation";
    MEM_TIE = "mem.tie" on "operations":
        "for each result the operand that it overwrites, or -1",
        written by "`inplace`", read by "the alias analysis, the checker, code generation";
    MEM_COPY = "mem.copy" on "views":
        "the view is copied at all sizes, although some sizes need no copy",
        written by "`inplace`, for named sizes", read by "the alias analysis, the checker";
    MEM_VIEW = "mem.view" on "views with gaps":
        "the result is not copied: readers read the operand's bytes, with a row pitch or strides",
        written by "`inplace`", read by "the alias analysis, the checker, code generation";
    MEM_PARTS = "mem.parts" on "concatenations, paddings":
        "the operands that are computed in place in the result, and not copied",
        written by "`inplace`", read by "the alias analysis, the checker, code generation";
    MEM_PITCH = "mem.pitch" on "operations":
        "`[row, pitch]`: bytes of a row of result 0, and distance between rows, if they have gaps",
        written by "`inplace`, `plan`", read by "`plan`, the checker, code generation";
    MEM_OVERLAP = "mem.overlap" on "operations":
        "`[operand, rows]`: result 0 is written over that operand's rows, in bands of `rows` rows, or of `-rows` from the last one upwards",
        written by "`plan`", read by "the checker, code generation";
    MEM_BUFFER = "mem.buffer" on "operations":
        "for each result the number of its buffer in `optc.buffers`, then that of its scratch",
        written by "`plan`, where sizes have names", read by "`optc plan`";
    MEM_ARGS = "mem.args" on "functions, operations with regions or successors":
        "for each of their blocks the places of its arguments, as in `mem.place`",
        written by "`plan`", read by "the checker, code generation";
    MEM_PLACE = "mem.place" on "operations":
        "for each result, then for scratch: `[pool, offset, bytes]`, or for an operand in place `[pool, offset, bytes, first, row, pitch]`; pool `out` is the caller's output of that number, `in` a donated input",
        written by "`plan`", read by "the checker, code generation, reports";
}

/// The bytes of a planned function's arena, with all pools.
pub fn arena_bytes(ctx: &Context, body: &Body) -> Option<u64> {
    let bytes = ctx.int_value(body.own_attr(ctx, ctx.ident(OPTC_ARENA))?)?;
    u64::try_from(bytes).ok()
}

/// The number of threads that a function's kernels were chosen for.
pub fn threads(ctx: &Context, body: &Body) -> Option<usize> {
    let threads = ctx.int_value(body.own_attr(ctx, ctx.ident(OPTC_THREADS))?)?;
    usize::try_from(threads).ok()
}

/// The bytes of scratch of an operation.
pub fn scratch_bytes(op: OpRef<'_>) -> Option<u64> {
    let bytes = op.ctx.int_value(op.attr(MEM_SCRATCH)?)?;
    u64::try_from(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::DECISIONS;

    #[test]
    fn each_decision_that_operations_are_asked_for_often_is_in_the_table() {
        let missing: Vec<&&str> =
            DECISIONS.iter().filter(|name| ALL.iter().all(|attr| attr.name != **name)).collect();
        assert_eq!(missing, [&""; 0]);
        assert!(ALL.len() > DECISIONS.len());
    }
}
