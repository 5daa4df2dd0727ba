//! How the metadata behind the operations is read: the bytes of resources.
//!
//! ```text
//! {-#
//!   dialect_resources: { builtin: { weights: "0x04000000..." } },
//!   external_resources: { optc: { model: "net.onnx" } }
//! #-}
//! ```
//! A builtin resource is its alignment in four bytes, least significant first, then its contents.

use super::{Read, Reader};
use crate::blob::Blob;
use crate::context::BlobHome;
use crate::text::lexer::Kind;

/// Where an entry of the metadata stands.
#[derive(Clone, Copy)]
struct Section<'c> {
    kind: &'c str,
    owner: &'c str,
}

impl<'c> Reader<'c> {
    /// `{-# ... #-}`.
    pub(super) fn metadata(&mut self) -> Read<()> {
        self.advance();
        loop {
            if self.token.kind == Kind::CloseMetadata {
                self.advance();
                return Ok(());
            }
            let at = self.token.start;
            let kind = self.expect_kind(Kind::Word, "`dialect_resources` or `external_resources`")?;
            if !matches!(kind, "dialect_resources" | "external_resources") {
                return Err(self.fault(at, "expected `dialect_resources` or `external_resources`"));
            }
            self.expect(b':')?;
            self.expect(b'{')?;
            self.list(b'}', |reader| reader.resources(kind))?;
            if !self.eat(b',') && self.token.kind != Kind::CloseMetadata {
                return Err(self.expected("`,` or `#-}`"));
            }
        }
    }

    fn resources(&mut self, kind: &'c str) -> Read<()> {
        let owner = self.resource_key()?;
        let section = Section { kind, owner: self.ctx.str(owner) };
        self.expect(b':')?;
        self.expect(b'{')?;
        self.list(b'}', |reader| reader.resource_entry(section))
    }

    fn resource_entry(&mut self, section: Section<'c>) -> Read<()> {
        let key = self.resource_key()?;
        self.expect(b':')?;
        let at = self.token.start;
        if self.eat_word("true") || self.eat_word("false") {
            return Ok(());
        }
        let token = self.expect_kind(Kind::Text, "a string, `true` or `false`")?;
        match (section.kind, section.owner) {
            ("dialect_resources", "builtin") => {
                let Some(bytes) =
                    super::dense::hex_bytes(&token[1..token.len() - 1]).filter(|bytes| bytes.len() >= 4)
                else {
                    return Err(
                        self.fault(at, "expected a string of `0x` and at least eight hexadecimal digits")
                    );
                };
                let alignment = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                if !alignment.is_power_of_two() {
                    return Err(self.fault(at, format!("alignment {alignment} is not a power of two")));
                }
                self.ctx.set_blob_at(
                    key,
                    Blob::from_bytes(bytes[4..].to_vec()),
                    BlobHome::Text { alignment },
                );
            }
            ("external_resources", "optc") => {
                let value = self.unescape(at + 1, &token[1..token.len() - 1])?;
                self.ctx.set_reference(self.ctx.str(key), &String::from_utf8_lossy(&value));
            }
            _ => {}
        }
        Ok(())
    }
}
