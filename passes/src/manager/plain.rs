//! A target without kernels, for tests and for passes that do not depend on a machine.

use ir::Target;
use ir::body::OpRef;
use ir::target::{GroupPosition, KernelChoice};

/// A target without kernels: no layout is better than another, nothing fuses with a contraction, and general
/// code computes everything.
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
