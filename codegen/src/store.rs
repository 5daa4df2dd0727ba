//! Which packed weights a program has in memory, for all sizes at which it runs.
//!
//! Sizes choose kernels, and kernels choose how their weights are packed; so weights are packed when a
//! specialization asks for them first, once for each value and packing, and shared by all. They are never
//! moved nor freed while the store lives: frames have their addresses.
//!
//! Threads specialize bodies of their own, in copies of one context. Two values of them are the same weight
//! if they are computed by the same operations from the same constants: each operation with its operands'
//! numbers is itself given a number, once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cranelift_entity::SecondaryMap;
use ir::body::ValueDef;
use ir::entities::OpName;
use ir::weights::WeightSet;
use ir::{Attr, Body, Context, Diagnostic, Location, Op, Type, Value};
use runtime::AlignedBuffer;

use crate::weights::{PackingKey, SizedWeights, WeightContent, WeightPiece, WeightTable, fill_all, split};

/// Weights in memory.
#[derive(Default)]
pub(crate) struct WeightStore {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    numbers: HashMap<Expression, WeightNumber>,
    /// What each value was when it was last asked for: bodies mostly differ in sizes only.
    recent: SecondaryMap<Value, Option<(Expression, WeightNumber)>>,
    addresses: HashMap<Stored, u64>,
    chunks: Vec<AlignedBuffer>,
}

/// What stands for equal weights.
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

/// What an address was given for.
#[derive(PartialEq, Eq, Hash)]
enum Stored {
    Plain(WeightNumber),
    Packed(WeightNumber, PackingKey),
    Repeated(u32, u64),
}

impl WeightStore {
    /// Bytes of weights in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.lock().chunks.iter().map(|chunk| chunk.as_slice().len()).sum()
    }

    /// The address of each of the table's pieces; those that are not yet in memory are evaluated and packed.
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
        let keys = table.pieces().iter().map(|piece| known.stored(body, piece, &mut numbers));
        let keys: Vec<Stored> = keys.collect();
        let is_missing = |index: &usize| !known.addresses.contains_key(&keys[*index]);
        let missing: Vec<usize> = (0..keys.len()).filter(is_missing).collect();
        if !missing.is_empty() {
            let mut pieces = Vec::new();
            let mut bytes = 0;
            for index in &missing {
                let WeightPiece { content, bytes: size, .. } = &table.pieces()[*index];
                pieces.push(WeightPiece { content: content.clone(), offset: bytes, bytes: *size });
                bytes = (bytes + size).next_multiple_of(64);
            }
            let mut chunk = AlignedBuffer::zeroed(bytes as usize)
                .map_err(|error| vec![Diagnostic::error(Location::UNKNOWN, format!("weights: {error}"))])?;
            fill_all(ctx, body, weights, &SizedWeights::All, split(&pieces, chunk.as_mut_slice()))?;
            let start = chunk.as_slice().as_ptr() as usize as u64;
            let found = missing.iter().zip(&pieces).map(|(index, piece)| (*index, start + piece.offset));
            let mut added: HashMap<usize, u64> = found.collect();
            known.chunks.push(chunk);
            let mut all = Vec::new();
            for (index, key) in keys.into_iter().enumerate() {
                let address = added.remove(&index);
                all.push(*known.addresses.entry(key).or_insert_with(|| address.expect("it was missing")));
            }
            return Ok(all);
        }
        Ok(keys.iter().map(|key| known.addresses[key]).collect())
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn stored(&mut self, body: &Body, piece: &WeightPiece, numbers: &mut WeightNumbers) -> Stored {
        match &piece.content {
            WeightContent::Plain(value) => Stored::Plain(self.number(body, *value, numbers)),
            WeightContent::Packed(value, packing) => {
                Stored::Packed(self.number(body, *value, numbers), packing.key())
            }
            WeightContent::Repeated(number) => Stored::Repeated(number.to_bits(), piece.bytes),
        }
    }

    /// The number of a weight; `numbers` are those of this body that were asked for before.
    fn number(&mut self, body: &Body, weight: Value, numbers: &mut WeightNumbers) -> WeightNumber {
        let mut stack = vec![weight];
        while let Some(&value) = stack.last() {
            let ValueDef::Result(op, result) = body.def(value) else { unreachable!("weights are results") };
            let waiting = stack.len();
            stack.extend(body.operands(op).filter(|operand| numbers[*operand].is_none()));
            if stack.len() > waiting {
                continue;
            }
            stack.pop();
            numbers[value] = Some(self.number_of(body, value, op, result, numbers));
        }
        numbers[weight].expect("the last value on the stack is the weight")
    }

    /// The number of result `result` of an operation whose operands have numbers.
    fn number_of(
        &mut self,
        body: &Body,
        value: Value,
        op: Op,
        result: usize,
        numbers: &WeightNumbers,
    ) -> WeightNumber {
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
        self.recent[value] = Some((expression, number));
        number
    }
}

/// The numbers of a body's weights, as far as they were asked for.
type WeightNumbers = SecondaryMap<Value, Option<WeightNumber>>;
