//! An edited text, and its errors.
//!
//! The text is parsed as a whole, but functions whose bytes did not change are taken over from the last parse
//! (`read::kept`), and their verified parts are not verified again. Calls are always checked, because their
//! callee may have changed. So an edit costs the parse of one function, a comparison of the text with the
//! last one, and a walk over all operations.

use std::sync::Arc;

use super::ParseOptions;
use super::read::{self, KeptOp, Rereading};
use crate::context::Context;
use crate::diag::{Diagnostic, MOST_FAULTS};
use crate::module::Module;
use crate::verify::{Verification, VerifyScope, mark_body_verified};

/// The most bytes of all texts of one context; beyond it, a new context is due.
const MOST_BYTES: usize = 64 << 20;

/// A text that is edited, with the functions of its last version.
pub struct EditedText {
    ctx: Arc<Context>,
    options: ParseOptions,
    /// The start of the last text in the numbering of source offsets.
    last: Option<u32>,
    /// Bytes of all texts parsed so far.
    read_bytes: usize,
    kept: Vec<KeptOp>,
    taken_over: usize,
}

impl EditedText {
    /// A text that was not parsed yet, in its own context.
    pub fn new(ctx: Arc<Context>, options: ParseOptions) -> EditedText {
        EditedText { ctx, options, last: None, read_bytes: 0, kept: Vec::new(), taken_over: 0 }
    }

    /// The context of the diagnostics.
    pub fn ctx(&self) -> &Arc<Context> {
        &self.ctx
    }

    /// The number of functions that the last parse took over from the one before.
    pub fn taken_over(&self) -> usize {
        self.taken_over
    }

    /// Whether this text can be parsed here. If not, it needs a new context: the text has resources, which
    /// must not mix with those of earlier texts, this context is full of texts, or the options differ.
    pub fn can_read(&self, text: &str, options: &ParseOptions) -> bool {
        let has_resources = || memchr::memmem::find(text.as_bytes(), b"{-#").is_some();
        let is_small = self.read_bytes.saturating_add(text.len()) <= MOST_BYTES;
        self.last.is_none() || is_small && self.options == *options && !has_resources()
    }

    /// Parses the text in its current state. Returns all errors: those of [`parse_with`](super::parse_with)
    /// or, if there are none, those of [`verify`](crate::verify::verify).
    pub fn read(&mut self, name: &str, text: &str) -> Vec<Diagnostic> {
        let rereading = self.rereading(text);
        self.read_bytes += text.len();
        let EditedText { ctx, options, .. } = self;
        let Some((source, mut read)) = read::again(ctx, name, text, options, rereading) else {
            self.last = None;
            return read::module(&self.ctx, name, text.to_owned(), &self.options).err().unwrap_or_default();
        };
        self.last = Some(source);
        self.taken_over = read.rereading.taken_over;
        let Some(mut top) = read.top.take() else { return read.faults };
        if read.faults.is_empty() {
            let module = Module::of_body(self.ctx.clone(), top);
            let work = Verification::of(&module, VerifyScope::Touched);
            read.faults = work.check(0..work.len());
            read.breaches.clone_from(&read.faults);
            drop(work);
            top = module.top;
        }
        self.kept = read.rereading.harvest(&self.ctx, &mut top);
        self.mark_sound(source, &read.breaches);
        read.faults
    }

    /// The reusable operations of the last parse, for this text.
    fn rereading(&mut self, text: &str) -> Rereading {
        let kept = std::mem::take(&mut self.kept);
        let last = self.last.and_then(|start| self.ctx.source_at(start));
        let last = last.map_or("", |source| &source.text).as_bytes();
        let new = text.as_bytes();
        let prefix = same(last.chunks(CHUNK).zip(new.chunks(CHUNK)), |(a, b)| {
            a.iter().zip(b).take_while(|(a, b)| a == b).count()
        });
        let room = last.len().min(new.len()) - prefix;
        let ends = last[last.len() - room..].rchunks(CHUNK).zip(new[new.len() - room..].rchunks(CHUNK));
        let suffix =
            same(ends, |(a, b)| a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count());
        Rereading::new(kept, [prefix, suffix], [last.len(), new.len()])
    }

    /// Marks the functions without a violation as verified.
    fn mark_sound(&mut self, source: u32, breaches: &[Diagnostic]) {
        let mut places = Vec::new();
        for breach in breaches {
            let Some(offset) = breach.location.source_offset() else { return };
            places.push((offset - source) as usize);
        }
        if breaches.len() >= MOST_FAULTS {
            return;
        }
        places.sort_unstable();
        for op in &mut self.kept {
            let span = op.span();
            let first = places.partition_point(|place| *place < span.start);
            if places.get(first).is_none_or(|place| *place >= span.end) {
                mark_body_verified(op.body_mut());
            }
        }
    }
}

/// The number of bytes compared at once.
const CHUNK: usize = 4096;

/// The number of equal bytes in pairs of pieces of two texts, up to the first difference; `count` counts them
/// in two pieces that differ.
fn same<'t>(
    pieces: impl Iterator<Item = (&'t [u8], &'t [u8])>,
    count: impl Fn((&'t [u8], &'t [u8])) -> usize,
) -> usize {
    let mut found = 0;
    for (a, b) in pieces {
        if a != b {
            return found + count((a, b));
        }
        found += a.len();
    }
    found
}
