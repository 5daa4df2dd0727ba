//! The store of packed weights, shared by all specializations of a program.
//!
//! Sizes determine kernels, and kernels determine the packing of their weights. So a weight is packed when a
//! specialization first asks for it, once for each value and packing, and shared by all. Packed weights are
//! never moved or freed while the store lives, since frames hold their addresses.
//!
//! Threads specialize bodies of their own, in copies of one context. Two values are the same weight if the
//! same operations compute them from the same constants. To compare them, each operation with its operands'
//! numbers gets a number of its own (hash consing). In other contexts, and in an artifact, a [`WeightKey`]
//! identifies a weight.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cranelift_entity::SecondaryMap;
use ir::body::ValueDef;
use ir::entities::OpName;
use ir::text::{attr_text, type_text};
use ir::weights::WeightSet;
use ir::{Attr, Body, Context, Diagnostic, Location, SharedBytes, Type, Value};
use runtime::AlignedBuffer;

use crate::prepared::{Prepared, PreparedWeight, WeightKey};
use crate::weights::{PackingKey, SizedWeights, WeightContent, WeightPiece, WeightTable, fill_all, split};

/// Weights in memory.
#[derive(Default)]
pub(crate) struct WeightStore {
    known: Mutex<Known>,
    /// Weights packed by earlier compilations; weights packed here are added.
    prepared: Option<Arc<Prepared>>,
}

#[derive(Default)]
struct Known {
    numbers: HashMap<Expression, WeightNumber>,
    /// For each number, the key in other contexts.
    keys: Vec<WeightKey>,
    /// For each value, its most recent expression: bodies mostly differ in sizes only.
    recent: SecondaryMap<Value, Option<(Expression, WeightNumber)>>,
    addresses: HashMap<Stored, u64>,
    /// The weights in memory.
    kept: Vec<PreparedWeight>,
}

/// The number of a class of equal weights.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct WeightNumber(u32);

/// How a weight is computed.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Expression {
    name: OpName,
    properties: Attr,
    operands: Box<[WeightNumber]>,
    result: usize,
    ty: Type,
}

/// The key of an address.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Stored {
    Plain(WeightNumber),
    Packed(WeightNumber, PackingKey),
    Repeated(u32, u64),
}

impl WeightStore {
    /// An empty store, which reuses prepared weights.
    pub(crate) fn with(prepared: Option<Arc<Prepared>>) -> WeightStore {
        WeightStore { known: Mutex::default(), prepared }
    }

    /// Bytes of weights in memory, each rounded up to a multiple of 64.
    pub(crate) fn bytes(&self) -> usize {
        self.lock().kept.iter().map(|weight| weight.bytes().len().next_multiple_of(64)).sum()
    }

    /// The weight in memory at this address with this size.
    pub(crate) fn kept_at(&self, address: u64, bytes: u64) -> Option<PreparedWeight> {
        let is_there =
            |found: &[u8]| (found.as_ptr() as usize as u64, found.len() as u64) == (address, bytes);
        self.lock().kept.iter().find(|weight| is_there(weight.bytes())).cloned()
    }

    /// The address of each of the table's pieces; pieces that are not in memory yet are evaluated and packed.
    ///
    /// # Errors
    /// For each constant that can't be evaluated, or if there is no memory: then none of them is kept.
    pub(crate) fn addresses(
        &self,
        ctx: &Context,
        body: &Body,
        weights: &WeightSet,
        table: &WeightTable,
    ) -> Result<Vec<u64>, Vec<Diagnostic>> {
        let mut known = self.lock();
        let mut numbers = SecondaryMap::new();
        let keys = table.pieces().iter().map(|piece| known.stored(ctx, body, piece, &mut numbers));
        let keys: Vec<Stored> = keys.collect();
        let pieces = || keys.iter().zip(table.pieces());
        let mut asked = HashSet::new();
        let missing = pieces().filter(|(key, _)| !known.addresses.contains_key(key) && asked.insert(**key));
        let missing: Vec<(Stored, &WeightPiece)> = missing.map(|(key, piece)| (*key, piece)).collect();
        let mut unmade = Vec::new();
        for (key, piece) in missing {
            let prepared = self.prepared.as_ref();
            match prepared.and_then(|prepared| prepared.weight(known.key(&key), piece.bytes)) {
                Some(weight) => known.keep(key, weight),
                None => unmade.push((key, piece)),
            }
        }
        for (key, weight) in known.pack(ctx, body, weights, &unmade)? {
            if let Some(prepared) = &self.prepared {
                prepared.add_weight(weight.clone());
            }
            known.keep(key, weight);
        }
        Ok(keys.iter().map(|key| known.addresses[key]).collect())
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Evaluates and packs weights, contiguously.
    fn pack(
        &self,
        ctx: &Context,
        body: &Body,
        weights: &WeightSet,
        unmade: &[(Stored, &WeightPiece)],
    ) -> Result<Vec<(Stored, PreparedWeight)>, Vec<Diagnostic>> {
        let mut pieces = Vec::new();
        let mut end = 0;
        for (_, WeightPiece { content, bytes, .. }) in unmade {
            pieces.push(WeightPiece { content: content.clone(), offset: end, bytes: *bytes });
            end = (end + bytes).next_multiple_of(64);
        }
        if pieces.is_empty() {
            return Ok(Vec::new());
        }
        let mut chunk = AlignedBuffer::zeroed(end as usize)
            .map_err(|error| vec![Diagnostic::error(Location::UNKNOWN, format!("weights: {error}"))])?;
        let known = SizedWeights::default();
        fill_all(ctx, body, weights, &known, split(&pieces, chunk.as_mut_slice()))?;
        let chunk: SharedBytes = Arc::new(chunk);
        let weight = |((key, _), piece): (&(Stored, &WeightPiece), &WeightPiece)| {
            let range = piece.offset as usize..(piece.offset + piece.bytes) as usize;
            (*key, PreparedWeight::new(self.key(key), chunk.clone(), range))
        };
        Ok(unmade.iter().zip(&pieces).map(weight).collect())
    }

    /// Adds a weight in memory, with its address.
    fn keep(&mut self, key: Stored, weight: PreparedWeight) {
        // The first one stays: its bytes are kept.
        if let Entry::Vacant(entry) = self.addresses.entry(key) {
            entry.insert(weight.bytes().as_ptr() as usize as u64);
            self.kept.push(weight);
        }
    }

    /// The key of a weight in other contexts.
    fn key(&self, stored: &Stored) -> WeightKey {
        let key = |number: &WeightNumber| self.keys[number.0 as usize];
        match stored {
            Stored::Plain(number) => WeightKey::of(&("plain", key(number))),
            Stored::Packed(number, packing) => WeightKey::of(&("packed", key(number), packing)),
            Stored::Repeated(bits, bytes) => WeightKey::of(&("repeated", bits, bytes)),
        }
    }

    fn stored(
        &mut self,
        ctx: &Context,
        body: &Body,
        piece: &WeightPiece,
        numbers: &mut WeightNumbers,
    ) -> Stored {
        match &piece.content {
            WeightContent::Plain(value) => Stored::Plain(self.number(ctx, body, *value, numbers)),
            WeightContent::Packed(value, packing) => {
                Stored::Packed(self.number(ctx, body, *value, numbers), packing.key())
            }
            WeightContent::Repeated(number) => Stored::Repeated(number.to_bits(), piece.bytes),
        }
    }

    /// The number of a weight; `numbers` are those of this body that are known already.
    fn number(
        &mut self,
        ctx: &Context,
        body: &Body,
        weight: Value,
        numbers: &mut WeightNumbers,
    ) -> WeightNumber {
        let mut stack = vec![weight];
        while let Some(&value) = stack.last() {
            let ValueDef::Result(op, _) = body.def(value) else { unreachable!("weights are results") };
            let waiting = stack.len();
            stack.extend(body.operands(op).filter(|operand| numbers[*operand].is_none()));
            if stack.len() > waiting {
                continue;
            }
            stack.pop();
            numbers[value] = Some(self.number_of(ctx, body, value, numbers));
        }
        numbers[weight].expect("the last value on the stack is the weight")
    }

    /// The number of a result of an operation whose operands have numbers.
    fn number_of(
        &mut self,
        ctx: &Context,
        body: &Body,
        value: Value,
        numbers: &WeightNumbers,
    ) -> WeightNumber {
        let ValueDef::Result(op, result) = body.def(value) else { unreachable!("weights are results") };
        let operands = || body.operands(op).map(|operand| numbers[operand].expect("operands come first"));
        let name = body.name(op);
        let properties = body.properties(op);
        let ty = body.ty(value);
        let is_same = |known: &Expression| {
            (known.name, known.properties, known.ty, known.result) == (name, properties, ty, result)
                && known.operands.iter().copied().eq(operands())
        };
        if let Some((known, number)) = &self.recent[value]
            && is_same(known)
        {
            return *number;
        }
        let expression = Expression { name, properties, operands: operands().collect(), result, ty };
        let next = WeightNumber(self.numbers.len() as u32);
        let number = *self.numbers.entry(expression.clone()).or_insert(next);
        if number == next {
            let keys: Vec<WeightKey> = operands().map(|operand| self.keys[operand.0 as usize]).collect();
            let name = body.at(ctx, op).name();
            let texts = [attr_text(ctx, properties), type_text(ctx, ty)];
            self.keys.push(WeightKey::of(&(name, texts, result, keys)));
        }
        self.recent[value] = Some((expression, number));
        number
    }
}

/// The known numbers of a body's weights.
type WeightNumbers = SecondaryMap<Value, Option<WeightNumber>>;
