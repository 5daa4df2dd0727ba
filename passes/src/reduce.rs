//! Reduction of a program to the smallest one that still fails.
//!
//! Delta debugging on the IR (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input",
//! 2002; as `mlir-reduce` and `llvm-reduce`): the caller defines failure, and gets a program from which
//! nothing more can be removed.
//!
//! ```text
//! func.func @main(%x, %y) -> ...          func.func @main(%x: tensor<1xf32>) {
//!   ... 10,000 operations ...        =>     %0 = nn.exp %x : tensor<1xf32>
//!                                           return
//!                                         }
//! ```
//!
//! Each step lists candidates for removal (operations, branches, operands, ...), and tries to remove all of
//! them, then each half, each quarter, and so on down to single ones. If `k` operations of `n` must stay,
//! about `2 k log n` candidates are tried. The steps are repeated until a round changes nothing, so that the
//! result is minimal for all of them: 1-minimal in the words of the paper. The same program and the same
//! answers give the same result.
//!
//! A removed operation's result is replaced by one of its operands of the same type, an argument of an
//! enclosing block, or a new argument of the function. Sizes and element types are changed at arguments and
//! constants, and all other types are inferred again. Every candidate that is tried passes the verifier.
//! Programs other than modules are reduced by [`reduce_by`], with steps of their own.
//!
//! ```
//! use std::sync::Arc;
//! use passes::reduce::{ReduceOptions, reduce};
//!
//! let ctx = Arc::new(ir::Context::new());
//! let text = "func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
//!     %0 = nn.relu %x : tensor<8x4xf32>
//!     %1 = nn.exp %0 : tensor<8x4xf32>
//!     %2 = nn.neg %1 : tensor<8x4xf32>
//!     return %2 : tensor<8x4xf32>
//! }";
//! let module = ir::text::parse(&ctx, "main.mlir", text.to_owned()).expect("the text is right");
//! let mut fails = |module: &ir::Module| ir::text::print(module).contains("nn.exp");
//! let reduced = reduce(module, &ReduceOptions::default(), &mut fails);
//! let expected = "module {
//!   func.func @main(%arg0: tensor<1x1xf32>) {
//!     %0 = nn.exp %arg0 : tensor<1x1xf32>
//!     return
//!   }
//! }
//! ";
//! assert_eq!(ir::text::print(&reduced.program), expected);
//! ```

mod attributes;
mod constants;
mod flow;
mod operands;
mod operations;
mod retype;
mod search;
mod signature;
mod sites;

#[cfg(test)]
mod tests;

use ir::Module;

pub use search::{
    ReduceOptions, ReduceProgress, ReduceStep, Reduced, Reducible, Search, op_count, reduce_by,
};

/// The steps of a round; those that remove the most come first.
static STEPS: &[(&str, ReduceStep)] = &[
    ("functions", operations::functions),
    ("results", signature::results),
    ("constants", constants::run),
    ("what nobody reads", operations::dead),
    ("operations", operations::run),
    ("what nobody reads", operations::dead),
    ("blocks", flow::blocks),
    ("regions", flow::regions),
    ("calls", flow::calls),
    ("operands", operands::run),
    ("arguments", signature::arguments),
    ("attributes", attributes::run),
    ("sizes", retype::sizes),
    ("element types", retype::elements),
];

/// Reduces a failing program. `still_fails` is called with candidates that passed the verifier, and returns
/// whether a candidate fails like the original.
pub fn reduce(
    module: Module,
    options: &ReduceOptions<'_>,
    still_fails: &mut dyn FnMut(&Module) -> bool,
) -> Reduced {
    reduce_by(STEPS, module, options, still_fails)
}
