//! How the metadata behind the operations is written: the bytes of resources, or where they are found.

use indexmap::IndexSet;

use super::Writer;
use crate::blob::Blob;
use crate::context::BlobHome;
use crate::entities::Ident;

/// The alignment of blobs that were not read from a text, in bytes.
const ALIGNMENT: u32 = 64;

/// Bytes of a blob that are read at once.
const CHUNK: usize = 1 << 16;

impl Writer<'_> {
    /// `{-# ... #-}`, if there is anything to say.
    pub(super) fn metadata(&mut self) {
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
        let has_references = !references.is_empty() && !keys.is_empty();
        if blobs.is_empty() && !has_references {
            return;
        }
        self.buffer.push_str("\n{-#\n");
        if !blobs.is_empty() {
            self.buffer.push_str("  dialect_resources: {\n    builtin: {\n");
            self.entries(&blobs, |writer, (key, blob, alignment)| {
                writer.word(writer.ctx.str(*key));
                writer.buffer.push_str(": ");
                writer.blob(blob, *alignment);
            });
            self.buffer.push_str("\n    }\n  }");
        }
        if has_references {
            self.buffer.push_str(if blobs.is_empty() { "" } else { ",\n" });
            self.buffer.push_str("  external_resources: {\n    optc: {\n");
            self.entries(&references, |writer, (key, value)| {
                writer.word(key);
                writer.buffer.push_str(": ");
                writer.quoted(value.as_bytes());
            });
            self.buffer.push_str("\n    }\n  }");
        }
        self.buffer.push_str("\n#-}\n");
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
