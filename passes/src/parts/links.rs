//! In-place chains into concatenations: which values are overwritten by an operand in place, and so must be
//! at its place in the result as well.
//!
//! ```text
//! %0 = nn.conv2d %x, %w         %0 = nn.conv2d %x, %w {mem.pitch = array<i64: 32, 96>}
//! %1 = conv + %0          =>    %1 = conv + %0 {mem.pitch = array<i64: 32, 96>, mem.tie = array<i64: 2>}
//! %2 = nn.concat %1, %3         %2 = nn.concat %1, %3 {mem.parts = array<i64: 0, 1>}
//! ```
//! An operation that computes an operand in place may overwrite one of its own operands at the same index (a
//! convolution its residual). That operand must die there, and its producer and readers must support the same
//! rows. Then it is in place too, and so is the operand that its producer overwrites. If it is a
//! concatenation itself, an operand of it that is read later can't be in place.

use ir::memory_pools::wanted;
use ir::opdef::Access;
use ir::window::ByteWindow;
use ir::{Diagnostic, Op, Value};

use super::ConcatChooser;
use crate::access::access;
use crate::edit::stands_in;
use crate::readers::{MoveObstacle, collect_readers};

/// An operation whose result overwrites an operand, both at one place in a concatenation's result.
#[derive(Clone, Copy)]
pub(super) struct Link {
    pub(super) op: Op,
    pub(super) operand: usize,
    /// The root of the operand.
    pub(super) root: Value,
}

impl ConcatChooser<'_> {
    /// The values that share the window of an operand in place, the last first; with remarks on declared
    /// pairs that do not.
    pub(super) fn links(&mut self, part: Value, window: ByteWindow) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        let mut at = part;
        while let Some(op) = self.body.defining_op(at) {
            let Some(link) = self.link(op, window) else { break };
            links.push(link);
            at = link.root;
        }
        links
    }

    fn link(&mut self, op: Op, window: ByteWindow) -> Option<Link> {
        for operand in 0..self.body.operand_count(op) {
            if access(self.ctx, self.target, self.body, op, 0, operand) == Access::Never {
                continue;
            }
            match self.check_link(op, operand, window) {
                Ok(root) => return Some(Link { op, operand, root }),
                Err(obstacle) => {
                    let message = format!(
                        "result 0, which has its place in a concatenation, does not overwrite operand {operand}: {}",
                        obstacle.reason
                    );
                    let remark = Diagnostic::remark(self.body.location(op), message);
                    self.remarks.push(match obstacle.user {
                        Some(user) => remark.with_note(self.body.location(user), "it is read here"),
                        None => remark,
                    });
                }
            }
        }
        None
    }

    /// The root of an operand that result 0 may overwrite at its place in a concatenation's result.
    fn check_link(&self, op: Op, operand: usize, window: ByteWindow) -> Result<Value, MoveObstacle> {
        let value = self.body.operand(op, operand);
        if self.weights.contains(value) {
            return Err("it is a weight".into());
        }
        let root = self.aliases.root(value);
        let bytes = self.aliases.size_bytes(root).filter(|bytes| *bytes == window.rows * window.row);
        let whole = bytes.map(|bytes| ByteWindow::dense(0, bytes));
        if whole.is_none() || self.aliases.window(value) != whole || !self.aliases.is_in_order(value) {
            return Err("it is not a whole value of as many bytes".into());
        }
        if wanted(self.ctx, self.body, root) != wanted(self.ctx, self.body, self.body.result(op, 0)) {
            return Err("it must be in another pool".into());
        }
        let maker = self.body.defining_op(root).ok_or("it is an argument")?;
        if self.body.block_of(maker) != self.body.block_of(op) || self.body.result_count(maker) != 1 {
            return Err("it is made elsewhere".into());
        }
        if self.part_of[root].is_some() {
            return Err("it has its own place in a concatenation".into());
        }
        let mut others = (0..self.body.operand_count(op)).filter(|other| *other != operand);
        if others.any(|other| self.aliases.root(self.body.operand(op, other)) == root) {
            return Err("another operand reads the same bytes".into());
        }
        self.check_last_reader(op, root)?;
        self.check_maker(maker, window).map_err(|reason| MoveObstacle { reason, user: None })?;
        self.check_readers(None, root, window)?;
        Ok(root)
    }

    /// Refuses readers of a value after `op`, which is in the same block as the value's definition.
    pub(super) fn check_last_reader(&self, op: Op, root: Value) -> Result<(), MoveObstacle> {
        let mut readers = Vec::new();
        collect_readers(self.ctx, self.body, root, &mut readers);
        let block = self.body.block_of(op).expect("a maker of a part is in a block");
        let is_over = |reader: &Op| {
            let at = stands_in(self.body, *reader, block);
            at.is_some_and(|at| at == op || self.body.is_before(at, op))
        };
        match readers.into_iter().find(|reader| !is_over(reader)) {
            Some(user) => Err(MoveObstacle { reason: "its bytes are read later".into(), user: Some(user) }),
            None => Ok(()),
        }
    }
}
