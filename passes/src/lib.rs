//! From IR to better IR: the pass manager, analyses, transforms and planners.

pub mod edit;
pub mod fuse;
pub mod layout;
pub mod place;
pub mod select;
