//! The row of loop nests (see [`crate::pointwise`]) for elementwise operations and groups of them.

use ir::Kind;
use ir::opdef::Access;
use ir::window::Arrangement;

use crate::pointwise::{group_access, lower_group, lower_op};
use crate::row::{KernelRow, Runs};

/// Elementwise operations, and groups of them with views of their operands.
pub(crate) const ROW: KernelRow = KernelRow {
    name: "pointwise",
    doc: "A loop nest over an expression: generated, or a kernel's between quantizations.",
    runs: Runs::Elementwise,
    reads: |_, _| Arrangement::Strides,
    writes: Arrangement::Strides,
    access: |group, operand| group_access(group, operand).unwrap_or(Access::Never),
    joins: Some(|_, _, _| false),
    lower: |op, machine| match op.kind() {
        Kind::Group => lower_group(op, machine),
        _ => lower_op(op, machine),
    },
    ..KernelRow::PLAIN
};
