//! From IR to better IR: the pass manager, analyses, transforms and planners.

pub mod access;
pub mod branches;
pub mod canonicalize;
pub mod check;
mod constants;
pub mod cse;
pub mod dce;
pub mod edit;
pub mod effects;
pub mod fuse;
pub mod inplace;
pub mod layout;
pub mod liveness;
pub mod manager;
mod pattern;
pub mod place;
pub mod plan;
pub mod rewrite;
pub mod select;
pub mod simplify;
mod stages;

/// Our own passes: the table that `optc passes` prints, and that a [`manager::Registry`] starts from.
pub static PASSES: &[&manager::PassDef] = &[
    &simplify::SIMPLIFY,
    &canonicalize::CANONICALIZE,
    &dce::DCE,
    &cse::CSE,
    &stages::LAYOUT,
    &stages::FUSE,
    &stages::SELECT,
    &stages::INPLACE,
    &stages::PLAN,
];
