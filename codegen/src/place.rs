//! Where values are, as the plan in the IR says: `mem.place`, checked.
//!
//! Nothing is emitted before every place is known to lie within its pool and to be large enough for its value. That
//! values which live at one time do not share bytes is for the plan's own checker to say.

use cranelift_entity::SecondaryMap;
use ir::alias::{AliasSets, ties};
use ir::body::OpRef;
use ir::size::{storage_bits, tensor_bytes};
use ir::weights::WeightSet;
use ir::{Attr, AttrData, Block, Body, Context, Diagnostic, Op, Traits, Value};

/// The start of some memory that compiled code is handed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Base {
    /// The arena.
    Arena,
    /// The packed weights.
    Weights,
    /// The caller's input of this index.
    Input(usize),
    /// The caller's output of this index.
    Output(usize),
}

/// A byte of memory that compiled code is handed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    /// Whose memory.
    pub(crate) base: Base,
    /// How many bytes behind its start.
    pub(crate) offset: u64,
}

impl Address {
    /// The address so many bytes further.
    pub(crate) fn plus(self, bytes: u64) -> Address {
        Address { offset: self.offset + bytes, ..self }
    }
}

/// Bytes that an operation's scratch or result has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where it begins.
    pub(crate) address: Address,
    /// How many bytes.
    pub(crate) bytes: u64,
}

/// Where the values of a function are.
pub(crate) struct Places {
    values: SecondaryMap<Value, Option<Address>>,
    scratch: SecondaryMap<Op, Option<Place>>,
    /// Bytes of the arena.
    pub(crate) arena_bytes: u64,
    /// For each input, whether a result is placed on it: its caller must have donated it.
    pub(crate) overwritten: Vec<bool>,
}

impl Places {
    /// Reads the places of all values of `block` that are no weights.
    ///
    /// # Errors
    /// For each operation whose places are missing, malformed, too small or outside their pool.
    pub(crate) fn read(
        ctx: &Context,
        body: &Body,
        block: Block,
        weights: &WeightSet,
    ) -> Result<Places, Vec<Diagnostic>> {
        let mut reader = Reader::new(ctx, body, block);
        for op in body.ops(block) {
            let op_ref = body.at(ctx, op);
            if weights.is_weight_op(body, op) || op_ref.has(Traits::TERMINATOR) {
                continue;
            }
            if let Err(fault) = reader.read(op_ref) {
                let message = format!("`mem.place` of `{}` {fault}", op_ref.name());
                let help = "run the pass `plan` on the function first";
                reader.faults.push(Diagnostic::error(body.location(op), message).with_help(help));
            }
        }
        if reader.faults.is_empty() { Ok(reader.places) } else { Err(reader.faults) }
    }

    /// Where a value begins; none for weights.
    pub(crate) fn of(&self, value: Value) -> Option<Address> {
        self.values[value]
    }

    /// Where an operation's scratch is.
    pub(crate) fn scratch(&self, op: Op) -> Option<Place> {
        self.scratch[op]
    }
}

struct Reader<'a> {
    ctx: &'a Context,
    aliases: AliasSets,
    /// Bytes of each output.
    outputs: Vec<u64>,
    /// Bytes of each input that the caller donated.
    donated: Vec<Option<u64>>,
    places: Places,
    faults: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn new(ctx: &'a Context, body: &'a Body, block: Block) -> Reader<'a> {
        let arena = body.own_attr(ctx, ctx.ident("optc.arena")).and_then(|attr| ctx.int_value(attr));
        let mut places = Places {
            values: SecondaryMap::new(),
            scratch: SecondaryMap::new(),
            arena_bytes: arena.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0),
            overwritten: vec![false; body.args(block).len()],
        };
        for (index, arg) in body.args(block).iter().enumerate() {
            places.values[*arg] = Some(Address { base: Base::Input(index), offset: 0 });
        }
        let returned = body.last_op(block).into_iter().flat_map(|op| body.operands(op).collect::<Vec<_>>());
        let outputs = returned.map(|value| tensor_bytes(ctx, body.ty(value)).unwrap_or(0)).collect();
        let donated = donated_bytes(ctx, body, block);
        Reader { ctx, aliases: AliasSets::of(ctx, body), outputs, donated, places, faults: Vec::new() }
    }

    fn read(&mut self, op: OpRef<'_>) -> Result<(), String> {
        let entries = op.attr("mem.place").and_then(|attr| self.ctx.array_value(attr)).unwrap_or(&[]);
        let results = op.body.result_count(op.op);
        if entries.len() > results + 1 {
            return Err(format!("has {} entries, expected {results} and one for scratch", entries.len()));
        }
        for index in 0..results {
            let place = entries.get(index).map(|entry| self.place(*entry)).transpose()?.flatten();
            self.set_result(op, index, place)?;
        }
        if let Some(entry) = entries.get(results) {
            let place = self.place(*entry)?;
            if place.is_some_and(|place| !place.address.offset.is_multiple_of(SCRATCH_ALIGN)) {
                return Err(format!("puts scratch at no multiple of {SCRATCH_ALIGN}"));
            }
            self.places.scratch[op.op] = place;
        }
        Ok(())
    }

    fn set_result(&mut self, op: OpRef<'_>, index: usize, place: Option<Place>) -> Result<(), String> {
        let result = op.result(index);
        let root = self.aliases.root(result);
        let shared = match root == result {
            true => None,
            false => {
                let range = self.aliases.range(result).ok_or("is of an unknown size")?;
                self.places.values[root].map(|address| address.plus(range.start))
            }
        };
        let needed = tensor_bytes(self.ctx, op.result_type(index)).ok_or("is of an unknown size")?;
        let tied = ties(op).iter().any(|tie| tie.0 == index);
        let address = match (shared, place) {
            (Some(shared), Some(place)) if tied && place.address != shared => {
                return Err(format!("puts result {index} elsewhere than the operand that it is tied to"));
            }
            (Some(shared), _) => shared,
            (None, Some(place)) if place.bytes < needed => {
                return Err(format!("gives result {index} {} bytes, expected {needed}", place.bytes));
            }
            (None, Some(place)) => place.address,
            (None, None) => return Err(format!("lacks result {index}")),
        };
        let elem = storage_bits(self.ctx, self.ctx.elem(op.result_type(index))).unwrap_or(8);
        if !address.offset.is_multiple_of(elem.div_ceil(8)) {
            return Err(format!("puts result {index} at {}, at no multiple of its element", address.offset));
        }
        if let (Base::Input(input), true) = (address.base, tied || root == result) {
            self.donated[input].ok_or(format!("overwrites input {input}, which is not donated"))?;
            self.places.overwritten[input] = true;
        }
        self.places.values[result] = Some(address);
        Ok(())
    }

    /// An entry `[pool, number, number]`; none for `unit`.
    fn place(&self, entry: Attr) -> Result<Option<Place>, String> {
        if matches!(self.ctx.attr_data(entry), AttrData::Unit) {
            return Ok(None);
        }
        let parts = self.ctx.array_value(entry).unwrap_or(&[]);
        let number = |attr: &Attr| u64::try_from(self.ctx.int_value(*attr)?).ok();
        let [pool, number, bytes] = match parts {
            [pool, a, b] => [Some(*pool), number(a).map(|_| *a), number(b).map(|_| *b)],
            _ => [None; 3],
        };
        let (Some(pool), Some(number), Some(bytes)) = (pool, number, bytes) else {
            return Err("has an entry that is not [pool, offset, bytes]".to_owned());
        };
        let int = |attr: Attr| self.ctx.int_value(attr).map_or(0, i64::unsigned_abs);
        self.bounded(self.ctx.str_value(pool).unwrap_or(""), int(number), int(bytes)).map(Some)
    }

    fn bounded(&self, pool: &str, number: u64, bytes: u64) -> Result<Place, String> {
        match pool {
            "arena" => {
                let end = number.checked_add(bytes).filter(|end| *end <= self.places.arena_bytes);
                end.ok_or(format!(
                    "puts {bytes} bytes at {number} of an arena of {}",
                    self.places.arena_bytes
                ))?;
                Ok(Place { address: Address { base: Base::Arena, offset: number }, bytes })
            }
            "out" => {
                let index = usize::try_from(number).unwrap_or(usize::MAX);
                let size =
                    self.outputs.get(index).ok_or(format!("names output {number}, which does not exist"))?;
                if bytes > *size {
                    return Err(format!("puts {bytes} bytes into output {number} of {size}"));
                }
                Ok(Place { address: Address { base: Base::Output(index), offset: 0 }, bytes })
            }
            "in" => {
                let index = usize::try_from(number).unwrap_or(usize::MAX);
                match self.donated.get(index) {
                    Some(Some(size)) if bytes <= *size => {
                        Ok(Place { address: Address { base: Base::Input(index), offset: 0 }, bytes })
                    }
                    _ => Err(format!(
                        "puts {bytes} bytes into input {number}, which is not donated or smaller"
                    )),
                }
            }
            other => Err(format!("names the pool `{other}`, expected `arena`, `out` or `in`")),
        }
    }
}

/// What kernels expect of the address of their scratch.
const SCRATCH_ALIGN: u64 = 64;

/// For each argument, its bytes if it is marked `optc.donated`.
fn donated_bytes(ctx: &Context, body: &Body, block: Block) -> Vec<Option<u64>> {
    let attrs = body.own_attr(ctx, ctx.ident("arg_attrs")).and_then(|attrs| ctx.array_value(attrs));
    let donated = ctx.ident("optc.donated");
    let args = body.args(block).iter().enumerate();
    args.map(|(index, arg)| {
        let dict = attrs.and_then(|attrs| attrs.get(index))?;
        ctx.dict_get(*dict, donated)?;
        tensor_bytes(ctx, body.ty(*arg))
    })
    .collect()
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
