//! From IR to better IR: the pass manager, analyses, transforms and planners.

pub mod edit;
pub mod layout;
pub mod place;
