//! Passes on IR: the pass manager, analyses, transforms and planners.
//!
//! Passes write their decisions into the IR as attributes, visible in the text. Here two results overwrite a
//! dying operand, so that both are in the caller's buffer, and the program needs no arena.
//!
//! ```
//! use passes::manager::{Pipeline, PlainTarget, Registry, RunOptions};
//! use std::sync::Arc;
//!
//! let ctx = Arc::new(ir::Context::new());
//! let program = "func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
//!     %0 = nn.exp %x : tensor<16xf32>
//!     %1 = nn.softmax %0 {axis = 0 : i64} : tensor<16xf32>
//!     %2 = nn.neg %1 : tensor<16xf32>
//!     return %2 : tensor<16xf32>
//! }";
//! let mut module = ir::text::parse(&ctx, "main.mlir", program.to_owned()).expect("the text is right");
//! let pipeline = Pipeline::parse(&ctx, "inplace,plan", &Registry::new()).expect("both passes exist");
//! pipeline.run(&mut module, &RunOptions::new(&PlainTarget)).expect("the program can be planned");
//! let text = ir::text::print(&module);
//! assert!(text.contains("optc.arena = 0"));
//! assert!(text.contains(r#"%2 = nn.neg %1 {mem.place = [["out", 0, 64]], mem.tie = array<i64: 0>}"#));
//! ```
//!
//! [`manager`] names passes and runs them; [`PASSES`] lists ours. [`liveness`], [`access`] and `ir`'s alias
//! analysis provide facts for passes. [`place`] is the placement problem and its planners,
//! [`check`](mod@check) checks every plan, and [`rewrite`] is the driver for rules. [`mod@reduce`] reduces
//! failing programs.

pub mod access;
pub mod branches;
pub mod call_graph;
pub mod canonicalize;
pub mod check;
mod constants;
pub mod copy;
pub mod cse;
pub mod dce;
pub mod edit;
pub mod effects;
pub mod fuse;
pub mod inline;
pub mod inplace;
pub mod integers;
pub mod late_parts;
pub mod laws;
pub mod layout;
pub mod lines;
pub mod liveness;
pub mod manager;
pub mod memory;
pub mod memory_pools;
pub mod overlap;
pub mod parts;
pub mod place;
pub mod plan;
pub mod precision;
mod readers;
pub mod recompute;
pub mod reduce;
mod reshapes;
pub mod rewrite;
pub mod schedule;
pub mod select;
pub mod simplify;
mod stages;
pub mod symbol_dce;
pub mod symbolic;
pub mod symbols;
pub mod tradeoff;
pub mod variants;
mod views;

use std::sync::LazyLock;

/// The built-in passes: the table that `optc passes` prints, and that a [`manager::Registry`] starts with.
pub static PASSES: &[&manager::PassDef] = &[
    &simplify::SIMPLIFY,
    &canonicalize::CANONICALIZE,
    &dce::DCE,
    &cse::CSE,
    &inline::INLINE,
    &symbol_dce::SYMBOL_DCE,
    &integers::INTEGERS,
    &variants::VARIANTS,
    &stages::LAYOUT,
    &stages::FUSE,
    &stages::PRECISION,
    &stages::SELECT,
    &recompute::RECOMPUTE,
    &lines::LINES,
    &schedule::SCHEDULE,
    &stages::INPLACE,
    &stages::PLAN,
];

impl Default for manager::Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl manager::Registry {
    /// The built-in passes and rules.
    pub fn new() -> manager::Registry {
        // All have one set of rules, which is read once.
        static OWN: LazyLock<manager::Registry> = LazyLock::new(|| {
            let mut registry = manager::Registry::empty();
            PASSES.iter().for_each(|def| registry.register(def));
            let rules = canonicalize::RULES.iter().chain(laws::LAWS);
            rules.for_each(|rules| registry.register_rules(rules));
            registry
        });
        OWN.clone()
    }
}
