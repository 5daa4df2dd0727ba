//! Parser of a file: aliases, operations, metadata.

use super::values::OpenBody;
use super::{AfterFault, Alias, Failed, Read, TextReader, shortened};
use crate::body::Body;
use crate::entities::Location;
use crate::text::lexer::{self, TokenKind};

impl<'c> TextReader<'c> {
    /// The whole file, as a body with one operation.
    pub(super) fn top(&mut self) -> Read<Body> {
        let mut frame = OpenBody::new(1, self.token.start);
        let block = frame.body.add_block(frame.body.root());
        while self.token.kind != TokenKind::End {
            let start = self.token.start;
            let done = match self.token.kind {
                TokenKind::Hash | TokenKind::Bang => self.alias(start),
                TokenKind::OpenMetadata => self.metadata(),
                _ => self.op(&mut frame, block),
            };
            match done {
                Err(Failed) if self.goes_on() => {
                    // If nothing follows, the loop ends.
                    let _ = self.skip_to_next_op(&mut frame, start);
                }
                // The skipped text reached to the end of the file.
                Err(Failed) if self.after_fault == AfterFault::GoOn && self.token.kind == TokenKind::End => {}
                done => done?,
            }
        }
        let mut body = self.finish(frame);
        if self.has_deferred {
            self.resolve_locations(&mut body);
        }
        Ok(self.wrapped(body))
    }

    /// Puts a body that is not a single module into one. An unregistered operation may be another kind of
    /// module.
    fn wrapped(&mut self, body: Body) -> Body {
        let name = self.ctx.op_name("builtin.module");
        let block = body.entry(body.root()).expect("the file's own block");
        let mut ops = body.ops(block).map(|op| body.name(op));
        let first = ops.next().filter(|first| *first == name || self.ctx.def(*first).is_none());
        let is_one = first.is_some() && ops.next().is_none();
        drop(ops);
        if is_one {
            return body;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.index.is_wrapped = true;
        }
        let mut top = Body::new(1);
        let block = top.add_block(top.root());
        let op = top.make_op(name, &[], &[], Location::UNKNOWN);
        top.set_child(op, body);
        top.append(op, block);
        top
    }

    /// The definition of an alias, which begins at byte `start`.
    fn alias(&mut self, start: usize) -> Read<()> {
        let done = if self.token.kind == TokenKind::Hash { self.attr_alias() } else { self.type_alias() };
        self.note_alias(start);
        done
    }

    /// `#name = attribute`.
    fn attr_alias(&mut self) -> Read<()> {
        let name = self.alias_name()?;
        let (value, height) = self.measured(|reader| reader.attr())?;
        self.attr_aliases.insert(name, Alias { value, height });
        self.aliases.attrs.entry(value).or_insert_with(|| self.ctx.ident(name));
        Ok(())
    }

    /// `!name = type`.
    fn type_alias(&mut self) -> Read<()> {
        let name = self.alias_name()?;
        let (value, height) = self.measured(|reader| reader.ty())?;
        self.type_aliases.insert(name, Alias { value, height });
        self.aliases.types.entry(value).or_insert_with(|| self.ctx.ident(name));
        Ok(())
    }

    /// The name that is defined; consumes its `=`.
    fn alias_name(&mut self) -> Read<&'c str> {
        let at = self.token.start;
        let spelling = self.spelling();
        if lexer::next(self.bytes(), self.token.end).kind != TokenKind::Byte(b'=') {
            return Err(self.expected("an operation or the definition of an alias"));
        }
        self.advance();
        self.advance();
        let name = &spelling[1..];
        let is_known = match spelling.as_bytes()[0] {
            b'!' => self.type_aliases.contains_key(name),
            _ => self.attr_aliases.contains_key(name),
        };
        if is_known {
            return Err(self.fault(at, format!("`{}` is defined twice", shortened(spelling))));
        }
        if self.undefined.contains(spelling) {
            return Err(
                self.fault(at, format!("`{}` was mentioned before its definition", shortened(spelling)))
            );
        }
        if name.contains('.') {
            return Err(
                self.fault(at, "the name of an alias has no `.`: that is how dialects' names are told apart")
            );
        }
        Ok(name)
    }

    /// The parsed value, and its nesting depth.
    fn measured<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<(T, u32)> {
        self.deepest = self.depth;
        let value = read(self)?;
        Ok((value, self.deepest - self.depth))
    }
}
