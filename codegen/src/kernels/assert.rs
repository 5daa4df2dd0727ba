//! The row of assertions, which have no calls: the program reads a truth value and stops if it is false.

use ir::body::OpRef;

use crate::call::{Condition, Lowered, Pointer};
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};

/// `cf.assert`.
pub(crate) const ROW: KernelRow = KernelRow {
    name: "assert",
    doc: "Stops the program unless a truth holds.",
    runs: Runs::Kernel("assert"),
    stops: true,
    lower,
    ..KernelRow::PLAIN
};

fn lower(op: OpRef<'_>, _machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let message = op.text("msg").unwrap_or("an assertion does not hold").to_owned();
    let condition = Some(Condition { truth: Pointer::Operand(0, 0), message });
    Ok(Lowered { condition, ..Lowered::new("assert", Vec::new()) })
}
