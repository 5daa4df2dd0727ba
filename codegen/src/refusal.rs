//! The diagnostic for an operation without machine code: it names the operation, its types, and the reason.

use std::fmt::Write;

use ir::Diagnostic;
use ir::body::OpRef;
use ir::text::type_text;

/// Why an operation has no machine code: a phrase in lower case, appended to the operation's name and types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CodeRefusal(String);

impl CodeRefusal {
    /// A refusal with this reason.
    pub(crate) fn new(reason: impl Into<String>) -> CodeRefusal {
        CodeRefusal(reason.into())
    }

    /// The diagnostic about `op`.
    pub(crate) fn at(&self, op: OpRef<'_>) -> Diagnostic {
        let mut types = String::new();
        for index in 0..op.operand_count() {
            let separator = if index > 0 { ", " } else { "" };
            write!(types, "{separator}{}", type_text(op.ctx, op.operand_type(index)))
                .expect("writing to a string");
        }
        let message = format!("no machine code for `{}` of ({types}): {}", op.name(), self.0);
        Diagnostic::error(op.body.location(op.op), message)
    }
}
