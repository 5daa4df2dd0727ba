//! Arrangements (layouts) of an operation's operands and results that its kernels support, and the order in
//! which they read operands.

use ir::Kind;
use ir::body::OpRef;
use ir::opdef::Access;
use ir::window::{Arrangement, is_plain};

use crate::kernels::row_of;
use crate::lines;
use crate::refusal::CodeRefusal;
use crate::row::KernelRow;
use crate::shape::known_layout;

/// The widest arrangement in which the kernels of an operation write its results.
pub(crate) fn writes(op: OpRef<'_>, own: &'static [KernelRow]) -> Arrangement {
    if lines::is_lines(op) {
        let steps = lines::steps(op).into_iter().map(|step| writes(step, own));
        return steps.min().unwrap_or(Arrangement::Plain).min(Arrangement::Rows);
    }
    row_of(op, own).map_or(Arrangement::Plain, |row| row.writes)
}

/// The widest arrangement in which the kernels of an operation take an operand.
pub(crate) fn reads(op: OpRef<'_>, operand: usize, own: &'static [KernelRow]) -> Arrangement {
    if lines::is_lines(op) {
        let readers = lines::readers(op, operand).into_iter();
        let widest = readers.map(|(step, index)| reads(step, index, own));
        return widest.min().unwrap_or(Arrangement::Strides);
    }
    let takes = |row: &KernelRow| match row.reads_views || !is_viewed(op, operand) {
        true => (row.reads)(op, operand),
        false => Arrangement::Plain,
    };
    row_of(op, own).map_or(Arrangement::Plain, takes)
}

/// Whether the kernels of an operation copy an operand before they compute.
pub(crate) fn reads_a_copy(op: OpRef<'_>, operand: usize, own: &'static [KernelRow]) -> bool {
    if lines::is_lines(op) {
        return lines::readers(op, operand).into_iter().all(|(step, index)| reads_a_copy(step, index, own));
    }
    row_of(op, own).is_some_and(|row| (row.reads_a_copy)(op, operand))
}

/// The order in which the kernel of a group reads an operand while it writes result 0. For a lone operation,
/// the operation's own row says which operands may be overwritten.
pub(crate) fn access(op: OpRef<'_>, operand: usize, own: &'static [KernelRow]) -> Access {
    if !matches!(op.kind(), Kind::Group) || lines::is_lines(op) {
        return Access::Never;
    }
    row_of(op, own).map_or(Access::Never, |row| (row.access)(op, operand))
}

/// Refuses operands and results in arrangements that the kernels do not support.
pub(crate) fn check(op: OpRef<'_>, own: &'static [KernelRow]) -> Result<(), CodeRefusal> {
    let is_plain = |value: ir::Value| is_plain(op.ctx, op.body, value);
    for result in op.body.results(op.op).filter(|result| !is_plain(*result)) {
        if Arrangement::of(&known_layout(op, result)?) > writes(op, own) {
            return Err(CodeRefusal::new("its kernel does not write rows with gaps between them"));
        }
    }
    for (index, value) in op.body.operands(op.op).enumerate().filter(|(_, value)| !is_plain(*value)) {
        let layout = known_layout(op, value)?;
        let mut axes = layout.shape.iter().zip(&layout.strides);
        if axes.any(|(size, stride)| *size > 1 && *stride < 0) {
            return Err(CodeRefusal::new(format!("its kernel does not take operand {index} backwards")));
        }
        if Arrangement::of(&layout) > reads(op, index, own) {
            return Err(CodeRefusal::new(format!("its kernel does not read operand {index} in this layout")));
        }
    }
    Ok(())
}

/// Whether a view in a group's body reads an operand: a view of rows need not consist of rows.
fn is_viewed(group: OpRef<'_>, operand: usize) -> bool {
    let Some(block) = group.body.regions(group.op).first().and_then(|region| group.body.entry(*region))
    else {
        return false;
    };
    let mut uses = group.body.args(block).get(operand).into_iter().flat_map(|arg| group.body.uses(*arg));
    uses.any(|used| matches!(group.body.at(group.ctx, used.op).kind(), Kind::View(_)))
}
