//! Printer of the metadata after the operations: the bytes of resources, or references to them.

use indexmap::{IndexMap, IndexSet};

use super::TextWriter;
use crate::blob::Blob;
use crate::context::BlobHome;
use crate::entities::Ident;
use crate::module::Resource;

/// The alignment of blobs that were not parsed from a text, in bytes.
const ALIGNMENT: u32 = 64;

/// The number of bytes of a blob that are read at once.
const CHUNK: usize = 1 << 16;

impl TextWriter<'_> {
    /// `{-# ... #-}`, if it is not empty.
    pub(super) fn metadata(&mut self, resources: &[Resource]) {
        let references = self.ctx.references();
        let keys: IndexSet<Ident> = self.aliases.resources.iter().copied().collect();
        let blobs: Vec<(Ident, Blob, u32)> = keys
            .iter()
            .filter_map(|&key| {
                let alignment = match self.ctx.blob_home(key)? {
                    BlobHome::Text { alignment } => alignment,
                    BlobHome::Reference if references.is_empty() => ALIGNMENT,
                    BlobHome::Reference => return None,
                };
                Some((key, self.ctx.blob(key)?, alignment))
            })
            .collect();
        let mut sections = Vec::new();
        if !blobs.is_empty() || !resources.is_empty() {
            sections.push("dialect_resources");
        }
        if !references.is_empty() && !keys.is_empty() {
            sections.push("external_resources");
        }
        if sections.is_empty() {
            return;
        }
        self.buffer.push_str("\n{-#\n");
        for (index, section) in sections.into_iter().enumerate() {
            self.buffer.push_str(if index > 0 { ",\n  " } else { "  " });
            self.buffer.push_str(section);
            self.buffer.push_str(": {\n");
            match section {
                "dialect_resources" => self.dialect_resources(&blobs, resources),
                _ => self.owner("optc", &references, |writer, (key, value)| {
                    writer.word(key);
                    writer.buffer.push_str(": ");
                    writer.quoted(value.as_bytes());
                }),
            }
            self.buffer.push_str("\n  }");
        }
        self.buffer.push_str("\n#-}\n");
    }

    /// Our own bytes, then the resources of other dialects.
    fn dialect_resources(&mut self, blobs: &[(Ident, Blob, u32)], resources: &[Resource]) {
        if !blobs.is_empty() {
            self.owner("builtin", blobs, |writer, (key, blob, alignment)| {
                writer.word(writer.ctx.str(*key));
                writer.buffer.push_str(": ");
                writer.blob(blob, *alignment);
            });
        }
        let mut dialects: IndexMap<Ident, Vec<&Resource>> = IndexMap::new();
        for resource in resources {
            dialects.entry(resource.dialect).or_default().push(resource);
        }
        for (index, (dialect, own)) in dialects.into_iter().enumerate() {
            self.buffer.push_str(if index > 0 || !blobs.is_empty() { ",\n" } else { "" });
            self.owner(self.ctx.str(dialect), &own, |writer, resource| {
                writer.word(writer.ctx.str(resource.key));
                writer.buffer.push_str(": ");
                writer.buffer.push_str(&resource.value);
            });
        }
    }

    /// `name: {`, the entries, `}`.
    fn owner<T>(&mut self, name: &str, items: &[T], entry: impl FnMut(&mut Self, &T)) {
        self.buffer.push_str("    ");
        self.word(name);
        self.buffer.push_str(": {\n");
        self.entries(items, entry);
        self.buffer.push_str("\n    }");
    }

    fn entries<T>(&mut self, items: &[T], mut entry: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            self.buffer.push_str(if index > 0 { ",\n      " } else { "      " });
            entry(self, item);
        }
    }

    /// Alignment and contents in hexadecimal.
    fn blob(&mut self, blob: &Blob, alignment: u32) {
        self.buffer.push_str("\"0x");
        alignment.to_le_bytes().into_iter().for_each(|byte| self.hex_byte(byte));
        let length = blob.len_bytes();
        let mut chunk = vec![0; CHUNK.min(length)];
        for start in (0..length).step_by(CHUNK) {
            let part = &mut chunk[..CHUNK.min(length - start)];
            blob.read(start, part);
            part.iter().for_each(|byte| self.hex_byte(*byte));
        }
        self.buffer.push('"');
    }
}
