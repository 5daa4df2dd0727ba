//! From IR to better IR: the pass manager, analyses, transforms and planners.

pub mod access;
pub mod check;
pub mod edit;
pub mod fuse;
pub mod inplace;
pub mod layout;
pub mod liveness;
pub mod manager;
pub mod place;
pub mod plan;
pub mod select;
pub mod simplify;
mod stages;

/// Our own passes: the table that `optc passes` prints, and that a [`manager::Registry`] starts from.
pub static PASSES: &[&manager::PassDef] = &[
    &simplify::SIMPLIFY,
    &simplify::DCE,
    &simplify::CSE,
    &stages::LAYOUT,
    &stages::FUSE,
    &stages::SELECT,
    &stages::INPLACE,
    &stages::PLAN,
];
