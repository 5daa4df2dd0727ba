//! Recovery from syntax errors: parsing continues with the operation after the faulty one. Functions parsed
//! without errors are verified, since the module is not made and so not verified later.
//!
//! The start of that operation is guessed from brackets and lines: it is the first token on a line of its own
//! after the error that is outside of all braces opened by the faulty operation, or indented no more than
//! that operation.

use super::values::{OpenBody, ResultName};
use super::{AfterFault, Failed, Read, TextReader};
use crate::body::Body;
use crate::diag::{Diagnostic, MOST_FAULTS};
use crate::entities::{Block, Op};
use crate::text::lexer::{self, TokenKind};
use crate::verify::verify_isolated;

impl<'c> TextReader<'c> {
    /// Whether parsing continues after the syntax error that was just recorded.
    pub(super) fn goes_on(&self) -> bool {
        self.after_fault == AfterFault::GoOn
            && self.token.kind != TokenKind::End
            && self.diagnostics.len() < MOST_FAULTS
    }

    /// Skips the rest of a faulty operation that begins at byte `start`. Uses of its results are not reported
    /// as errors.
    pub(super) fn skip_to_next_op(&mut self, frame: &mut OpenBody<'c>, start: usize) -> Read<()> {
        let bytes = self.bytes();
        let fault = self.token.start;
        let indent = self.indent(start);
        let mut open = 0u32;
        let mut is_before_name = true;
        let mut token = lexer::next(bytes, start);
        loop {
            let before = token;
            token = lexer::next(bytes, token.end);
            match before.kind {
                TokenKind::Word | TokenKind::Text => is_before_name = false,
                TokenKind::Percent if is_before_name && token.kind != TokenKind::End => {
                    let name = &self.text[before.start + 1..before.end];
                    self.poison(frame, ResultName { name, at: before.start, count: 1 });
                }
                TokenKind::Byte(b'{') => open += 1,
                TokenKind::Byte(b'}') => open = open.saturating_sub(1),
                _ => {}
            }
            if token.kind == TokenKind::End {
                self.resume(token.start);
                return Err(Failed);
            }
            let begins_line = bytes[before.end..token.start].contains(&b'\n');
            let is_outside = open == 0 || begins_line && self.indent(token.start) <= indent;
            let ends_skip = match token.kind {
                TokenKind::Byte(b'}') => open == 0,
                TokenKind::Percent | TokenKind::Word | TokenKind::Text | TokenKind::Caret => {
                    begins_line && is_outside
                }
                TokenKind::Hash | TokenKind::Bang | TokenKind::OpenMetadata => begins_line && is_outside,
                _ => false,
            };
            if token.start >= fault && token.start > start && ends_skip {
                self.resume(token.start);
                return Ok(());
            }
        }
    }

    /// The number of bytes before the first token on the line of a byte.
    fn indent(&self, at: usize) -> usize {
        let line = &self.bytes()[self.text[..at].rfind('\n').map_or(0, |newline| newline + 1)..];
        line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    /// Remembers the operation that was just parsed without errors, if it is isolated.
    pub(super) fn note_sound(&mut self, frame: &OpenBody<'c>, block: Block) {
        let op = frame.body.last_op(block).filter(|op| frame.body.child(*op).is_some());
        self.sound.extend(op.map(|op| frame.body.location(op)));
    }

    /// The violations by isolated operations of a body that were parsed without errors, and not verified in
    /// an earlier parse.
    pub(super) fn breaches(&self, body: &Body) -> Vec<Diagnostic> {
        let ops = body.all_blocks().flat_map(|block| body.ops(block));
        let mut found = Vec::new();
        let is_open = |op: &Op| body.child(*op).is_some_and(|child| !child.is_verified());
        for op in ops.filter(is_open) {
            if self.sound.contains(&body.location(op)) {
                found.extend(verify_isolated(self.ctx, body, op));
            }
            if let Some(child) = body.child(op) {
                found.extend(self.breaches(child));
            }
        }
        found
    }
}
