//! The packed constants of a program: each is evaluated once, packed for its kernels, and put into one
//! buffer; the originals are dropped.
//!
//! The interpreter evaluates a weight expression when the program is loaded. Each of two threads evaluates
//! one weight at a time, so at most two unpacked copies exist at once. Of a matrix that is a constant as it
//! is, only some rows exist unpacked. The same value in the same packing is kept once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use cranelift_entity::{EntitySet, SecondaryMap};
use ir::interp::Tensor;
use ir::size::tensor_bytes;
use ir::sized::has_symbols;
use ir::weights::WeightSet;
use ir::{Blob, Body, Context, Diagnostic, Location, Op, Value, flow};
use kernels::{Panels, QuadConv2d, RowPacking};
use runtime::AlignedBuffer;

use crate::elem::ElemType;

/// Threads that evaluate and pack.
const THREADS: usize = 2;

/// Floats of the rows that are packed together, about: they stay in the second-level cache.
const ROWS_FLOATS: usize = 1 << 17;
/// Below this number of bytes, starting a thread takes longer than the work.
const ALONE_BYTES: u64 = 1 << 20;

/// Equal for packings that give the same bytes for the same weight: with the same panel starts and widths,
/// and the same elements at the same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PackingKey([usize; 13]);

impl PackingKey {
    /// The key of panels, determined by the first and the last, filled from elements with these strides.
    pub(crate) fn new(panels: &Panels, distances: [usize; 4]) -> PackingKey {
        let (depth, count, [a, b, c, d]) = (panels.depth(), panels.count(), distances);
        if count == 0 {
            return PackingKey([0; 13]);
        }
        let (first, last) = (panels.get(0), panels.get(count - 1));
        let (width, full) = (first.width, first.count);
        PackingKey([
            depth,
            count,
            width,
            full,
            last.group,
            last.first,
            last.count,
            last.offset,
            a,
            b,
            c,
            d,
            0,
        ])
    }

    /// The same packing with pairs of `bf16` as elements.
    pub(crate) fn of_pairs(mut self) -> PackingKey {
        self.0[12] = 1;
        self
    }

    /// The same packing with quads of bytes as elements, as a kernel takes them.
    pub(crate) fn of_quads(mut self, kernel: &QuadConv2d) -> PackingKey {
        // After those of other elements.
        self.0[12] = 2 + kernel.packing_code();
        self
    }
}

type Pack = dyn Fn(&[f32], &mut [f32]) + Send + Sync;

/// A packing: another arrangement of a weight's `f32` elements.
#[derive(Clone)]
pub(crate) struct WeightPacking(Arc<Arranged<Pack>>);

struct Arranged<P: ?Sized> {
    key: PackingKey,
    floats: usize,
    rows: Option<RowPacking>,
    pack: P,
}

impl WeightPacking {
    /// A packing into `floats` elements; `pack` writes them all. If `rows` is given, it does the same for a
    /// part of the weight, except that it writes no zeros.
    pub(crate) fn new(
        key: PackingKey,
        floats: usize,
        rows: Option<RowPacking>,
        pack: impl Fn(&[f32], &mut [f32]) + Send + Sync + 'static,
    ) -> WeightPacking {
        WeightPacking(Arc::new(Arranged { key, floats, rows, pack }))
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

impl fmt::Debug for WeightPacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packing({} floats)", self.0.floats)
    }
}

/// The content of a piece of the buffer.
#[derive(Clone, Debug)]
pub(crate) enum WeightContent {
    /// A value as it is.
    Plain(Value),
    /// A value packed.
    Packed(Value, WeightPacking),
    /// One number, repeated.
    Repeated(f32),
}

/// A request for an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AddressKey {
    /// A value as it is.
    Plain(Value),
    /// A value packed.
    Packed(Value, PackingKey),
    /// The bits of a number, repeated a number of times.
    Repeated(u32, usize),
}

impl AddressKey {
    /// The value, if it is one.
    fn value(&self) -> Option<Value> {
        match *self {
            AddressKey::Plain(value) | AddressKey::Packed(value, _) => Some(value),
            AddressKey::Repeated(..) => None,
        }
    }
}

/// A weight whose address is to be written into a frame.
pub(crate) struct Missing {
    /// The word of the frame.
    pub(crate) word: usize,
    /// The operation that reads it, if one does.
    pub(crate) op: Option<Op>,
    /// The request.
    pub(crate) key: AddressKey,
    /// Its packing.
    pub(crate) packing: Option<WeightPacking>,
}

/// The known addresses of weights.
#[derive(Default)]
pub(crate) struct KnownWeights {
    of_ops: SecondaryMap<Op, Vec<(AddressKey, u64)>>,
    others: Vec<(AddressKey, u64)>,
}

impl KnownWeights {
    /// The address of a weight, if this operation (or no operation, for `None`) asked for it before.
    pub(crate) fn find(&self, op: Option<Op>, key: AddressKey) -> Option<u64> {
        let known = op.map_or(&self.others, |op| &self.of_ops[op]);
        known.iter().find(|known| known.0 == key).map(|known| known.1)
    }

    /// Keeps an address.
    pub(crate) fn add(&mut self, op: Option<Op>, key: AddressKey, address: u64) {
        match op {
            Some(op) => self.of_ops[op].push((key, address)),
            None => self.others.push((key, address)),
        }
    }
}

/// The weights that depend on sizes: sizes themselves, and values computed from them.
#[derive(Default)]
pub(crate) struct SizedWeights {
    values: EntitySet<Value>,
    /// The other weights that they read, evaluated.
    read: KnownTensors,
}

/// Weights that are already evaluated.
pub(crate) type KnownTensors = HashMap<Value, Tensor>;

impl SizedWeights {
    /// The weights of a function with named sizes that depend on them.
    ///
    /// # Errors
    /// If a weight that they read can't be evaluated.
    pub(crate) fn of(ctx: &Context, body: &Body, weights: &WeightSet) -> Result<SizedWeights, Diagnostic> {
        let mut sized = EntitySet::new();
        let mut read = Vec::new();
        let is_open = |value: Value| {
            let shape = ctx.type_data(body.ty(value)).tensor_shape();
            shape.is_some_and(|shape| shape.iter().any(|dim| dim.known().is_none()))
        };
        flow::walk(ctx, body, |op| {
            let is_sized = weights.is_weight_op(body, op)
                && (has_symbols(ctx, body.properties(op))
                    || body.results(op).any(is_open)
                    || body.operands(op).any(|operand| sized.contains(operand)));
            if is_sized {
                read.extend(body.operands(op));
                sized.extend(body.results(op));
            }
        });
        let mut known = KnownTensors::new();
        for value in read {
            if !sized.contains(value) && !known.contains_key(&value) {
                known.insert(value, weights.evaluate(ctx, body, value)?);
            }
        }
        Ok(SizedWeights { values: sized, read: known })
    }

    /// The value of a weight that is already evaluated.
    pub(crate) fn known(&self, value: Value) -> Option<Tensor> {
        self.read.get(&value).cloned()
    }

    /// Whether a request depends on sizes.
    pub(crate) fn has(&self, key: &AddressKey) -> bool {
        key.value().is_some_and(|value| self.values.contains(value))
    }
}

/// A piece of the buffer.
pub(crate) struct WeightPiece {
    /// Its content.
    pub(crate) content: WeightContent,
    /// Its offset.
    pub(crate) offset: u64,
    /// Its size in bytes.
    pub(crate) bytes: u64,
}

/// The constants that a program reads, and their offsets in the buffer.
#[derive(Default)]
pub(crate) struct WeightTable {
    pieces: Vec<WeightPiece>,
    known: HashMap<AddressKey, u64>,
    bytes: u64,
}

impl WeightTable {
    /// The offset of a missing weight in the buffer, where each is stored once.
    pub(crate) fn add_missing(&mut self, ctx: &Context, body: &Body, missing: &Missing) -> u64 {
        match (missing.key, &missing.packing) {
            (AddressKey::Packed(value, _), Some(packing)) => self.packed(value, packing),
            (AddressKey::Plain(value) | AddressKey::Packed(value, _), _) => {
                let bytes = tensor_bytes(ctx, body.ty(value));
                self.plain(value, bytes.expect("weights are of known sizes"))
            }
            (AddressKey::Repeated(bits, count), _) => self.repeated(f32::from_bits(bits), count),
        }
    }

    /// The offset of a plain value; `bytes` is its size.
    fn plain(&mut self, value: Value, bytes: u64) -> u64 {
        self.add(AddressKey::Plain(value), WeightContent::Plain(value), bytes)
    }

    /// The offset of a packed value.
    fn packed(&mut self, value: Value, packing: &WeightPacking) -> u64 {
        let key = AddressKey::Packed(value, packing.key());
        self.add(key, WeightContent::Packed(value, packing.clone()), packing.packed_bytes())
    }

    /// The offset of `count` equal numbers.
    fn repeated(&mut self, number: f32, count: usize) -> u64 {
        self.add(
            AddressKey::Repeated(number.to_bits(), count),
            WeightContent::Repeated(number),
            count as u64 * 4,
        )
    }

    fn add(&mut self, key: AddressKey, content: WeightContent, bytes: u64) -> u64 {
        *self.known.entry(key).or_insert_with(|| {
            let offset = self.bytes;
            self.pieces.push(WeightPiece { content, offset, bytes });
            self.bytes = (offset + bytes).next_multiple_of(64);
            offset
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
        known: &SizedWeights,
    ) -> Result<AlignedBuffer, Vec<Diagnostic>> {
        let buffer = AlignedBuffer::zeroed(self.bytes as usize);
        let mut buffer = buffer
            .map_err(|error| vec![Diagnostic::error(Location::UNKNOWN, format!("weights: {error}"))])?;
        fill_all(ctx, body, weights, known, split(&self.pieces, buffer.as_mut_slice())).map(|()| buffer)
    }

    /// The bytes of the buffer.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The pieces, each after the one before.
    pub(crate) fn pieces(&self) -> &[WeightPiece] {
        &self.pieces
    }

    /// The index of the piece with a byte of the buffer, and the byte's offset in it.
    pub(crate) fn find(&self, offset: u64) -> (usize, u64) {
        let piece = self.pieces.partition_point(|piece| piece.offset <= offset) - 1;
        (piece, offset - self.pieces[piece].offset)
    }
}

/// Each piece with its bytes of the buffer.
pub(crate) fn split<'a, 'b>(
    pieces: &'a [WeightPiece],
    buffer: &'b mut [u8],
) -> Vec<(&'a WeightPiece, &'b mut [u8])> {
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

/// Evaluates and packs each piece into its bytes, in two threads if there are many bytes.
///
/// # Errors
/// For each constant that can't be evaluated.
pub(crate) fn fill_all(
    ctx: &Context,
    body: &Body,
    weights: &WeightSet,
    known: &SizedWeights,
    pieces: Vec<(&WeightPiece, &mut [u8])>,
) -> Result<(), Vec<Diagnostic>> {
    let bytes: u64 = pieces.iter().map(|(piece, _)| piece.bytes).sum();
    let threads = if bytes < ALONE_BYTES { 1 } else { THREADS };
    let queue = Mutex::new(pieces.into_iter());
    let faults = Mutex::new(Vec::new());
    let work = || {
        loop {
            let next = queue.lock().expect("no thread panics while it takes work").next();
            let Some((piece, bytes)) = next else { return };
            if let Err(fault) = fill(ctx, body, weights, known, piece, bytes) {
                faults.lock().expect("no thread panics while it tells a fault").push((piece.offset, fault));
            }
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| {
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

/// The elements of a weight to be packed: floats, or 8-bit integers converted to floats.
fn numbers<'w>(ctx: &Context, weight: &'w Tensor) -> Cow<'w, [f32]> {
    match (ElemType::of(ctx, weight.ty), runtime::from_bytes(&weight.bytes)) {
        (Some(ElemType::F32), Some(floats)) => Cow::Borrowed(floats),
        (Some(ElemType::Int { bits: 8, signed: true }), _) => {
            weight.bytes.iter().map(|byte| f32::from(byte.cast_signed())).collect()
        }
        (Some(ElemType::Int { bits: 8, signed: false }), _) => {
            weight.bytes.iter().map(|byte| f32::from(*byte)).collect()
        }
        _ => weight.to_f32().into(),
    }
}

/// Packs a matrix of floats, of which only some rows are in memory at a time; `out` holds zeros.
fn pack_rows(blob: &Blob, matrix: &RowPacking, out: &mut [f32]) {
    let together = RowPacking::TOGETHER * (ROWS_FLOATS / (RowPacking::TOGETHER * matrix.row_len())).max(1);
    let mut part = vec![0.0; together.min(matrix.rows()) * matrix.row_len()];
    for first in (0..matrix.rows()).step_by(together) {
        let rows = first..matrix.rows().min(first + together);
        let part = &mut part[..rows.len() * matrix.row_len()];
        blob.read(first * matrix.row_len() * 4, runtime::as_bytes_mut(part));
        matrix.pack(rows, part, out);
    }
}

fn fill(
    ctx: &Context,
    body: &Body,
    weights: &WeightSet,
    known: &SizedWeights,
    piece: &WeightPiece,
    out: &mut [u8],
) -> Result<(), Diagnostic> {
    let evaluate = |value: Value| weights.evaluate_from(ctx, body, value, &|value| known.known(value));
    match &piece.content {
        WeightContent::Plain(value) => match weights.blob(ctx, body, *value)? {
            Some(blob) if known.known(*value).is_none() => blob.read(0, out),
            _ => out.copy_from_slice(&evaluate(*value)?.bytes),
        },
        WeightContent::Packed(value, packing) => {
            let out = runtime::from_bytes_mut(out).expect("pieces are aligned to 64");
            let is_float = ctx.elem(body.ty(*value)) == ctx.f32();
            let matrix = packing.0.rows.filter(|_| is_float && known.known(*value).is_none());
            if let Some(matrix) = matrix
                && let Some(blob) = weights.blob(ctx, body, *value)?
            {
                pack_rows(&blob, &matrix, out);
            } else {
                let weight = evaluate(*value)?;
                (packing.0.pack)(&numbers(ctx, &weight), out);
            }
        }
        WeightContent::Repeated(number) => {
            out.chunks_exact_mut(4).for_each(|slot| slot.copy_from_slice(&number.to_le_bytes()));
        }
    }
    Ok(())
}
