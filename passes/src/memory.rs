//! Memory planning of a function at any sizes.
//!
//! [`structure`] decides once which values share bytes: ties, operands of concatenations in place, views read
//! in place. [`buffers`] lists the resulting buffers, with sizes as expressions, and [`assign`] computes
//! their offsets at given sizes. [`price`] computes what the steps need there, and the cost of a choice at
//! the peak. [`bound`] computes an arena that suffices at all sizes, and [`specialize`] writes the plan at
//! given sizes into the IR.

pub mod assign;
pub mod bound;
pub mod buffers;
pub(crate) mod bytes;
pub mod faster;
pub mod pools;
pub mod price;
mod shared_rows;
pub mod specialize;
mod stacked;
pub mod structure;
