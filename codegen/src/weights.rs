//! How the program's constants get into its one buffer: evaluated once, packed for their kernels, the
//! originals dropped.
//!
//! A weight expression is evaluated by the interpreter when the program is loaded, one weight at a time in
//! each of two threads, so that no more than two unpacked copies exist at once. The same value in the same
//! packing is kept once.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use ir::weights::WeightSet;
use ir::{Body, Context, Diagnostic, Location, Value};
use kernels::Panels;
use runtime::AlignedBuffer;

use crate::address::{Address, Base};

/// Threads that evaluate and pack.
const THREADS: usize = 2;

/// Equal for packings that give the same bytes for the same weight: where panels begin and how wide they are,
/// and which elements go where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PackingKey([usize; 12]);

impl PackingKey {
    /// Of panels, which follow from the first and the last, filled from elements at these distances.
    pub(crate) fn new(panels: &Panels, distances: [usize; 4]) -> PackingKey {
        let (depth, count, [a, b, c, d]) = (panels.depth(), panels.count(), distances);
        if count == 0 {
            return PackingKey([0; 12]);
        }
        let (first, last) = (panels.get(0), panels.get(count - 1));
        let (width, full) = (first.width, first.count);
        PackingKey([depth, count, width, full, last.group, last.first, last.count, last.offset, a, b, c, d])
    }
}

type Pack = dyn Fn(&[f32], &mut [f32]) + Send + Sync;

/// Another arrangement of a weight's `f32` elements.
#[derive(Clone)]
pub(crate) struct Packing(Arc<Arranged<Pack>>);

struct Arranged<P: ?Sized> {
    key: PackingKey,
    floats: usize,
    pack: P,
}

impl Packing {
    /// A packing into `floats` elements; `pack` writes them all.
    pub(crate) fn new(
        key: PackingKey,
        floats: usize,
        pack: impl Fn(&[f32], &mut [f32]) + Send + Sync + 'static,
    ) -> Packing {
        Packing(Arc::new(Arranged { key, floats, pack }))
    }

    /// Equal for packings that give the same bytes for the same weight.
    pub(crate) fn key(&self) -> PackingKey {
        self.0.key
    }

    /// Bytes after packing.
    pub(crate) fn packed_bytes(&self) -> u64 {
        self.0.floats as u64 * 4
    }
}

impl fmt::Debug for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packing({} floats)", self.0.floats)
    }
}

/// What a piece of the buffer holds.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A value as it is.
    Plain(Value),
    /// A value packed.
    Packed(Value, Packing),
    /// One number over and over.
    Repeated(f32),
}

#[derive(PartialEq, Eq, Hash)]
enum Key {
    Plain(Value),
    Packed(Value, PackingKey),
    Repeated(u32, usize),
}

/// A piece of the buffer.
pub(crate) struct Piece {
    /// What it holds.
    pub(crate) content: Content,
    /// Where it begins.
    pub(crate) offset: u64,
    /// How many bytes it has.
    pub(crate) bytes: u64,
}

/// The constants that a program reads, and where in the buffer each is.
#[derive(Default)]
pub(crate) struct WeightTable {
    pieces: Vec<Piece>,
    known: HashMap<Key, Address>,
    bytes: u64,
}

impl WeightTable {
    /// Where a value is; `bytes` is its size.
    pub(crate) fn plain(&mut self, value: Value, bytes: u64) -> Address {
        self.add(Key::Plain(value), Content::Plain(value), bytes)
    }

    /// Where a value is in a packing.
    pub(crate) fn packed(&mut self, value: Value, packing: &Packing) -> Address {
        let key = Key::Packed(value, packing.key());
        self.add(key, Content::Packed(value, packing.clone()), packing.packed_bytes())
    }

    /// Where `count` equal numbers are.
    pub(crate) fn repeated(&mut self, number: f32, count: usize) -> Address {
        self.add(Key::Repeated(number.to_bits(), count), Content::Repeated(number), count as u64 * 4)
    }

    fn add(&mut self, key: Key, content: Content, bytes: u64) -> Address {
        *self.known.entry(key).or_insert_with(|| {
            let offset = self.bytes;
            self.pieces.push(Piece { content, offset, bytes });
            self.bytes = (offset + bytes).next_multiple_of(64);
            Address { base: Base::Weights, offset }
        })
    }

    /// Evaluates and packs all constants.
    ///
    /// # Errors
    /// For each constant that can't be evaluated, or if there is no memory.
    pub(crate) fn build(
        &self,
        ctx: &Context,
        body: &Body,
        weights: &WeightSet,
    ) -> Result<AlignedBuffer, Vec<Diagnostic>> {
        let buffer = AlignedBuffer::zeroed(self.bytes as usize);
        let mut buffer = buffer
            .map_err(|error| vec![Diagnostic::error(Location::UNKNOWN, format!("weights: {error}"))])?;
        fill_all(ctx, body, weights, split(&self.pieces, buffer.as_mut_slice())).map(|()| buffer)
    }

    /// The pieces, each behind the one before.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Which piece a byte of the buffer is in, and where in it.
    pub(crate) fn find(&self, offset: u64) -> (usize, u64) {
        let piece = self.pieces.partition_point(|piece| piece.offset <= offset) - 1;
        (piece, offset - self.pieces[piece].offset)
    }
}

/// Each piece with its bytes of the buffer.
pub(crate) fn split<'a, 'b>(pieces: &'a [Piece], buffer: &'b mut [u8]) -> Vec<(&'a Piece, &'b mut [u8])> {
    let (mut rest, mut start) = (buffer, 0);
    let mut slices = Vec::new();
    for piece in pieces {
        let (_, from) = rest.split_at_mut((piece.offset - start) as usize);
        let (bytes, after) = from.split_at_mut(piece.bytes as usize);
        slices.push((piece, bytes));
        (rest, start) = (after, piece.offset + piece.bytes);
    }
    slices
}

/// Evaluates and packs what each piece holds into its bytes, in two threads.
///
/// # Errors
/// For each constant that can't be evaluated.
pub(crate) fn fill_all(
    ctx: &Context,
    body: &Body,
    weights: &WeightSet,
    pieces: Vec<(&Piece, &mut [u8])>,
) -> Result<(), Vec<Diagnostic>> {
    let queue = Mutex::new(pieces.into_iter());
    let faults = Mutex::new(Vec::new());
    let work = || {
        loop {
            let next = queue.lock().expect("no thread panics while it takes work").next();
            let Some((piece, bytes)) = next else { return };
            if let Err(fault) = fill(ctx, body, weights, piece, bytes) {
                faults.lock().expect("no thread panics while it tells a fault").push((piece.offset, fault));
            }
        }
    };
    std::thread::scope(|scope| {
        (1..THREADS).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    drop(queue);
    let mut faults = faults.into_inner().expect("no thread panics while it tells a fault");
    faults.sort_by_key(|fault| fault.0);
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults.into_iter().map(|fault| fault.1).collect()),
    }
}

fn fill(
    ctx: &Context,
    body: &Body,
    weights: &WeightSet,
    piece: &Piece,
    out: &mut [u8],
) -> Result<(), Diagnostic> {
    match &piece.content {
        Content::Plain(value) => out.copy_from_slice(&weights.evaluate(ctx, body, *value)?.bytes),
        Content::Packed(value, packing) => {
            let tensor = weights.evaluate(ctx, body, *value)?.to_f32();
            let out = runtime::from_bytes_mut(out).expect("pieces are aligned to 64");
            (packing.0.pack)(&tensor, out);
        }
        Content::Repeated(number) => {
            out.chunks_exact_mut(4).for_each(|slot| slot.copy_from_slice(&number.to_le_bytes()));
        }
    }
    Ok(())
}
