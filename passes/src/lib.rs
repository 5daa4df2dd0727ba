//! From IR to better IR: the pass manager, analyses, transforms and planners.

pub mod edit;
pub mod fuse;
pub mod layout;
pub mod manager;
pub mod place;
pub mod select;
pub mod simplify;

/// Our own passes: the table that `optc passes` prints, and that a [`manager::Registry`] starts from.
pub static PASSES: &[&manager::PassDef] = &[&simplify::DCE, &simplify::CSE];
