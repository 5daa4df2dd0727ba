//! A machine about which nothing is known.

use ir::Target;
use ir::body::OpRef;
use ir::target::{GroupPosition, KernelChoice};

/// A machine without kernels: no layout is better than another, nothing fuses with a contraction, and general
/// code runs everything. What passes do for it depends on no CPU.
pub struct PlainTarget;

impl Target for PlainTarget {
    fn name(&self) -> &str {
        "plain"
    }

    fn layout(&self, _op: OpRef<'_>) -> Option<&'static str> {
        None
    }

    fn fuses(&self, _root: OpRef<'_>, _op: OpRef<'_>, _place: GroupPosition) -> bool {
        false
    }

    fn select(&self, _op: OpRef<'_>, _threads: usize) -> Option<KernelChoice> {
        None
    }
}
