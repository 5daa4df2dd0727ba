//! How the memory of a function is planned, whatever its sizes are.
//!
//! [`structure`] decides once who lies in whose bytes: ties, operands of concatenations in place, views that
//! are read in place. [`buffers`] says which buffers there are then, with sizes as expressions, and
//! [`assign`] where they are at given sizes; [`price`] says what the steps take there, and what a choice
//! costs at the peak. [`bound`] says how many bytes are enough at all sizes, and [`specialize`] writes the
//! plan at given sizes into the IR.

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
