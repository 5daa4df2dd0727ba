//! Functions of named sizes in object files: code without addresses, and a frame for each tuple of sizes.
//!
//! Frames refer to weights by their offsets in one file, which grows while frames are made. Weights that do
//! not depend on sizes are in it once. A weight that does is often a prefix of the same weight at larger
//! sizes, and then one copy serves both; so larger sizes should come first.

use std::collections::HashMap;
use std::sync::Arc;

use ir::{Body, Context, Diagnostic};
use runtime::{AlignedBuffer, CodeImage, TensorDesc};

use super::{Offsets, SizedCode, Workspace};
use crate::entry::NAME;
use crate::frame::{FrameWords, WEIGHTS_BASE, fault};
use crate::prepared::PreparedWeight;
use crate::relocatable::{FrameCallee, RelocatableFrame};
use crate::weights::{AddressKey, KnownWeights, Missing, WeightTable};

/// A specialization without addresses.
pub struct SizedFrame {
    /// The function to enter.
    pub entry: FrameCallee,
    /// The frame.
    pub frame: RelocatableFrame,
    /// The bytes of arena that a run needs.
    pub arena_bytes: usize,
    /// The inputs, in the entry's order.
    pub inputs: Vec<TensorDesc>,
    /// The outputs, in the entry's order.
    pub outputs: Vec<TensorDesc>,
    /// The start of each state in the arena.
    pub states: Vec<usize>,
}

/// The weights of all frames, in the order of the file.
#[derive(Default)]
pub struct WeightFile {
    /// Weights that do not depend on sizes: the offset in the file, by address and bytes in memory.
    lasting: HashMap<(u64, u64), u64>,
    /// Weights that depend on sizes, by the key that they were requested by.
    sized: HashMap<AddressKey, Vec<SizedContent>>,
    contents: Vec<(u64, FileContent)>,
    bytes: u64,
    sized_bytes: u64,
}

/// A weight at some sizes.
struct SizedContent {
    offset: u64,
    bytes: Arc<[u8]>,
}

enum FileContent {
    Lasting(PreparedWeight),
    Sized(Arc<[u8]>),
}

impl SizedCode<Arc<CodeImage>> {
    /// The code, without addresses.
    pub fn image(&self) -> &Arc<CodeImage> {
        self.code.image()
    }

    /// The messages of the code's statuses 1, 2, ...
    pub fn faults(&self) -> &Arc<[String]> {
        self.code.faults()
    }

    /// The frame at the current sizes, with buffers at these places, and with weights in a file.
    ///
    /// # Errors
    /// As for [`SizedCode::specialization`].
    pub fn frame(
        &self,
        work: &mut Workspace,
        offsets: &Offsets<'_>,
        file: &mut WeightFile,
    ) -> Result<SizedFrame, Vec<Diagnostic>> {
        let tensors = self.tensors(work, offsets)?;
        let (placed, _, expected_words) = self.placed(work, offsets);
        let written = self.code.frame(&placed, &KnownWeights::default(), *expected_words)?;
        let FrameWords { mut words, missing } = written;
        *expected_words = words.len();
        let (own, lasting): (Vec<Missing>, Vec<Missing>) =
            missing.into_iter().partition(|missing| self.sized_weights.has(&missing.key));
        let (ctx, body) = (work.ctx(), work.body());
        let found = [self.place_lasting(ctx, body, &lasting, file)?, self.place_own(ctx, body, &own, file)?];
        for (Missing { word, .. }, offset) in lasting.iter().chain(&own).zip(found.iter().flatten()) {
            words[*word] += *offset as i64;
            words[*word - 1] = WEIGHTS_BASE;
        }
        let entry = self.image().functions.iter().position(|function| function.name == NAME);
        Ok(SizedFrame {
            entry: FrameCallee::Generated(entry.expect("code has an entry")),
            frame: RelocatableFrame::of(&self.code, words),
            arena_bytes: tensors.arena_bytes,
            inputs: tensors.inputs,
            outputs: tensors.outputs,
            states: self.state_offsets(offsets),
        })
    }

    /// The offsets in the file of weights that do not depend on sizes.
    fn place_lasting(
        &self,
        ctx: &Context,
        body: &Body,
        missing: &[Missing],
        file: &mut WeightFile,
    ) -> Result<Vec<u64>, Vec<Diagnostic>> {
        let mut table = WeightTable::default();
        let offsets: Vec<u64> = missing.iter().map(|missing| table.add_missing(ctx, body, missing)).collect();
        let addresses = self.store.addresses(ctx, body, &self.weights, &table)?;
        let mut places = Vec::new();
        for offset in offsets {
            let (piece, within) = table.find(offset);
            let memory = (addresses[piece], table.pieces()[piece].bytes);
            let place = match file.lasting.get(&memory) {
                Some(place) => *place,
                None => {
                    let weight = self.store.kept_at(memory.0, memory.1);
                    let weight = weight.expect("the store has what it gave the address of");
                    let place = file.add(weight.bytes().len(), FileContent::Lasting(weight));
                    file.lasting.insert(memory, place);
                    place
                }
            };
            places.push(place + within);
        }
        Ok(places)
    }

    /// The offsets in the file of weights at these sizes.
    fn place_own(
        &self,
        ctx: &Context,
        body: &Body,
        missing: &[Missing],
        file: &mut WeightFile,
    ) -> Result<Vec<u64>, Vec<Diagnostic>> {
        let mut table = WeightTable::default();
        let offsets: Vec<u64> = missing.iter().map(|missing| table.add_missing(ctx, body, missing)).collect();
        let buffer = table.build(ctx, body, &self.weights, &self.sized_weights)?;
        let mut places = Vec::new();
        for (missing, offset) in missing.iter().zip(offsets) {
            let (piece, within) = table.find(offset);
            let piece = &table.pieces()[piece];
            let bytes = &buffer.as_slice()[piece.offset as usize..(piece.offset + piece.bytes) as usize];
            places.push(file.add_sized(missing.key, bytes) + within);
        }
        Ok(places)
    }
}

impl WeightFile {
    /// Bytes of weights that depend on sizes.
    pub fn sized_bytes(&self) -> u64 {
        self.sized_bytes
    }

    fn add(&mut self, bytes: usize, content: FileContent) -> u64 {
        let offset = self.bytes;
        self.contents.push((offset, content));
        self.bytes = (offset + bytes as u64).next_multiple_of(64);
        offset
    }

    /// The offset of bytes requested by a key, perhaps as a prefix of other bytes.
    fn add_sized(&mut self, key: AddressKey, bytes: &[u8]) -> u64 {
        let known = self.sized.get(&key);
        if let Some(content) =
            known.and_then(|known| known.iter().find(|content| content.bytes.starts_with(bytes)))
        {
            return content.offset;
        }
        let content: Arc<[u8]> = bytes.into();
        let offset = self.add(bytes.len(), FileContent::Sized(content.clone()));
        self.sized_bytes += bytes.len() as u64;
        self.sized.entry(key).or_default().push(SizedContent { offset, bytes: content });
        offset
    }

    /// The file.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn build(&self) -> Result<AlignedBuffer, Vec<Diagnostic>> {
        let buffer = AlignedBuffer::zeroed(self.bytes as usize);
        let mut buffer = buffer.map_err(|error| fault(format!("weights: {error}")))?;
        for (offset, content) in &self.contents {
            let bytes = match content {
                FileContent::Lasting(weight) => weight.bytes(),
                FileContent::Sized(bytes) => bytes,
            };
            buffer.as_mut_slice()[*offset as usize..][..bytes.len()].copy_from_slice(bytes);
        }
        Ok(buffer)
    }
}
