//! Parser of the metadata after the operations: the bytes of resources.
//!
//! ```text
//! {-#
//!   dialect_resources: { builtin: { weights: "0x04000000..." } },
//!   external_resources: { optc: { model: "net.onnx" } }
//! #-}
//! ```
//! A builtin resource is its alignment in four bytes, least significant first, then its contents. Resources
//! of other dialects are kept unchanged; external ones of other tools are dropped, as mlir-opt does.

use super::{Read, TextReader};
use crate::blob::Blob;
use crate::context::BlobHome;
use crate::entities::Ident;
use crate::module::Resource;
use crate::text::lexer::TokenKind;

impl<'c> TextReader<'c> {
    /// `{-# ... #-}`.
    pub(super) fn metadata(&mut self) -> Read<()> {
        self.advance();
        loop {
            if self.token.kind == TokenKind::CloseMetadata {
                self.advance();
                return Ok(());
            }
            let at = self.token.start;
            let kind = self.expect_kind(TokenKind::Word, "`dialect_resources` or `external_resources`")?;
            if !matches!(kind, "dialect_resources" | "external_resources") {
                return Err(self.fault(at, "expected `dialect_resources` or `external_resources`"));
            }
            self.expect(b':')?;
            self.expect(b'{')?;
            self.list(b'}', |reader| reader.resources(kind))?;
            if !self.eat(b',') && self.token.kind != TokenKind::CloseMetadata {
                return Err(self.expected("`,` or `#-}`"));
            }
        }
    }

    fn resources(&mut self, kind: &'c str) -> Read<()> {
        let owner = self.resource_key()?;
        self.expect(b':')?;
        self.expect(b'{')?;
        self.list(b'}', |reader| reader.resource_entry(kind, owner))
    }

    fn resource_entry(&mut self, kind: &str, owner: Ident) -> Read<()> {
        let key = self.resource_key()?;
        self.expect(b':')?;
        let at = self.token.start;
        let value = match self.token.kind {
            TokenKind::Text => self.advance(),
            TokenKind::Word if matches!(self.spelling(), "true" | "false") => self.advance(),
            _ => return Err(self.expected("a string, `true` or `false`")),
        };
        let inside = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        match (kind, self.ctx.str(owner)) {
            ("dialect_resources", "builtin") => self.blob(at, key, inside.unwrap_or_default())?,
            ("dialect_resources", _) => {
                self.resources.push(Resource { dialect: owner, key, value: value.into() });
            }
            (_, "optc") => {
                let value = match inside {
                    Some(inside) => self.unescape(at + 1, inside)?,
                    None => value.as_bytes().to_vec(),
                };
                self.ctx.set_reference(self.ctx.str(key), &String::from_utf8_lossy(&value));
            }
            _ => {}
        }
        Ok(())
    }

    /// Stores the bytes of a builtin resource: its alignment, then its contents.
    fn blob(&mut self, at: usize, key: Ident, digits: &str) -> Read<()> {
        let Some(bytes) = super::dense::hex_bytes(digits).filter(|bytes| bytes.len() >= 4) else {
            return Err(self.fault(at, "expected a string of `0x` and at least eight hexadecimal digits"));
        };
        let alignment = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        if !alignment.is_power_of_two() {
            return Err(self.fault(at, format!("alignment {alignment} is not a power of two")));
        }
        let blob = Blob::from_bytes(bytes[4..].to_vec());
        self.ctx.set_blob_at(key, blob, BlobHome::Text { alignment });
        Ok(())
    }
}
