//! The places of values: reads `mem.place` from the plan in the IR and checks it.
//!
//! No code is emitted before every place is known to lie within its pool and to be large enough for its
//! value. Whether values that live at the same time share bytes is checked by the plan's own checker.

use cranelift_entity::SecondaryMap;
use ir::alias::{AliasSets, is_free_view, parts, ties};
use ir::body::OpRef;
use ir::memory_pools::{MemoryPool, pools};
use ir::plan::attrs;
use ir::plan::signature::{Argument, Signature};
use ir::size::{storage_bits, tensor_bytes};
use ir::weights::WeightSet;
use ir::window::{ByteWindow, pitch};
use ir::{Attr, AttrData, Block, Body, Context, Diagnostic, Location, Op, Traits, Value, flow};

use crate::address::{Address, Base};
use crate::caller::CallerBuffers;

/// The bytes of an operation's scratch or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The first byte.
    pub(crate) address: Address,
    /// The number of bytes.
    pub(crate) bytes: u64,
}

/// The places of a function's values.
pub(crate) struct Places {
    values: SecondaryMap<Value, Option<Address>>,
    scratch: SecondaryMap<Op, Option<Place>>,
    /// Bytes of the arena.
    pub(crate) arena_bytes: u64,
    /// For each input, whether a result is placed on it: its caller must have donated it.
    pub(crate) overwritten: Vec<bool>,
    /// How the caller passes arguments and receives results.
    pub(crate) caller: CallerBuffers,
}

impl Places {
    /// Reads the places of all values except weights.
    ///
    /// # Errors
    /// For each operation whose places are missing, malformed, too small or outside their pool.
    pub(crate) fn read(
        ctx: &Context,
        body: &Body,
        weights: &WeightSet,
        aliases: &AliasSets,
    ) -> Result<Places, Vec<Diagnostic>> {
        let mut reader = PlaceReader::new(ctx, body, aliases);
        reader.root_args();
        flow::walk(ctx, body, |op| reader.region_args(op));
        flow::walk(ctx, body, |op| reader.op(op, weights));
        if reader.faults.is_empty() { Ok(reader.places) } else { Err(reader.faults) }
    }

    /// The address of a value; none for weights.
    pub(crate) fn of(&self, value: Value) -> Option<Address> {
        self.values[value]
    }

    /// The place of an operation's scratch.
    pub(crate) fn scratch(&self, op: Op) -> Option<Place> {
        self.scratch[op]
    }
}

struct PlaceReader<'a> {
    ctx: &'a Context,
    body: &'a Body,
    aliases: &'a AliasSets,
    /// Bytes of each output.
    outputs: Vec<u64>,
    /// Bytes of each input that the caller donated.
    donated: Vec<Option<u64>>,
    /// The memory ranges of all pools.
    pools: Vec<MemoryPool>,
    places: Places,
    faults: Vec<Diagnostic>,
}

impl<'a> PlaceReader<'a> {
    fn new(ctx: &'a Context, body: &'a Body, aliases: &'a AliasSets) -> PlaceReader<'a> {
        let args = body.entry(body.root()).map_or(&[][..], |block| body.args(block));
        let mut places = Places {
            values: SecondaryMap::new(),
            scratch: SecondaryMap::new(),
            arena_bytes: attrs::arena_bytes(ctx, body).unwrap_or(0),
            overwritten: vec![false; args.len()],
            caller: CallerBuffers::default(),
        };
        let (pools, mut faults) = planned_pools(ctx, body, places.arena_bytes);
        match CallerBuffers::of(ctx, body) {
            Ok(caller) => {
                for (index, arg) in args.iter().enumerate() {
                    places.values[*arg] = Some(caller.arg(index));
                }
                places.caller = caller;
            }
            Err(message) => faults.push(Diagnostic::error(Location::UNKNOWN, message)),
        }
        let Signature { args, results, .. } = &places.caller.signature;
        let outputs = results.iter().map(|result| tensor_bytes(ctx, result.ty).unwrap_or(0)).collect();
        let donated = |arg: &Argument| tensor_bytes(ctx, arg.ty).filter(|_| arg.is_donated);
        let donated = args.iter().map(donated).collect();
        PlaceReader { ctx, body, aliases, outputs, donated, pools, places, faults }
    }

    /// Reads the places of the arguments of all blocks but the first.
    fn root_args(&mut self) {
        let lists = self.body.own_attr(self.ctx, self.ctx.ident(attrs::MEM_ARGS));
        let blocks = self.body.blocks(self.body.root());
        for (index, block) in blocks.iter().enumerate().skip(1) {
            let read = self.args(*block, lists, index);
            if let (Err(fault), Some(op)) = (read, self.body.first_op(*block)) {
                self.fault(op, "`mem.args` of the function", &fault);
            }
        }
    }

    /// Reads the places of the arguments of the regions of an `if` or a loop.
    fn region_args(&mut self, op: Op) {
        let op_ref = self.body.at(self.ctx, op);
        if !op_ref.is_structured() {
            return;
        }
        let blocks = self.body.regions(op).iter().flat_map(|region| self.body.blocks(*region));
        for (index, block) in blocks.enumerate() {
            if let Err(fault) = self.args(*block, op_ref.attr(attrs::MEM_ARGS), index) {
                self.fault(op, &format!("`mem.args` of `{}`", op_ref.name()), &fault);
            }
        }
    }

    fn args(&mut self, block: Block, lists: Option<Attr>, index: usize) -> Result<(), String> {
        let list = lists.and_then(|lists| self.ctx.array_value(lists)?.get(index).copied());
        let list = list.and_then(|list| self.ctx.array_value(list)).unwrap_or(&[]);
        for (number, arg) in self.body.args(block).iter().enumerate() {
            let place = list.get(number).map(|entry| self.place(*entry)).transpose()?.flatten();
            let needed = tensor_bytes(self.ctx, self.body.ty(*arg)).ok_or("is of an unknown size")?;
            let place = place.filter(|place| place.bytes >= needed);
            let place = place.ok_or(format!("lacks argument {number} of block {index}"))?;
            self.note_overwritten(place.address)?;
            self.places.values[*arg] = Some(place.address);
        }
        Ok(())
    }

    fn op(&mut self, op: Op, weights: &WeightSet) {
        let op_ref = self.body.at(self.ctx, op);
        let has_place = op_ref.attr(attrs::MEM_PLACE).is_some();
        if weights.is_weight_op(self.body, op) || (op_ref.has(Traits::TERMINATOR) && !has_place) {
            return;
        }
        if let Err(fault) = self.read(op_ref) {
            self.fault(op, &format!("`mem.place` of `{}`", op_ref.name()), &fault);
        }
    }

    fn fault(&mut self, op: Op, what: &str, fault: &str) {
        let help = "run the pass `plan` on the function first";
        let message = format!("{what} {fault}");
        self.faults.push(Diagnostic::error(self.body.location(op), message).with_help(help));
    }

    /// Records a write at an address; an input must be donated for that.
    fn note_overwritten(&mut self, address: Address) -> Result<(), String> {
        if let Base::Input(input) = address.base {
            let mut args = self.places.caller.signature.args.iter();
            let index = args.position(|arg| arg.input == Some(input));
            let donated = index.and_then(|index| self.donated[index]);
            donated.ok_or(format!("overwrites input {input}, which is not donated"))?;
            self.places.overwritten[input] = true;
        }
        Ok(())
    }

    fn read(&mut self, op: OpRef<'_>) -> Result<(), String> {
        let entries = op.attr(attrs::MEM_PLACE).and_then(|attr| self.ctx.array_value(attr)).unwrap_or(&[]);
        let results = op.body.result_count(op.op);
        if entries.len() > results + 1 {
            return Err(format!("has {} entries, expected {results} and one for scratch", entries.len()));
        }
        for index in 0..results {
            let place = entries.get(index).map(|entry| self.place(*entry)).transpose()?.flatten();
            self.set_result(op, index, place)?;
        }
        self.check_parts(op)?;
        if let Some(entry) = entries.get(results) {
            let place = self.place(*entry)?;
            if place.is_some_and(|place| !place.address.offset.is_multiple_of(SCRATCH_ALIGN)) {
                return Err(format!("puts scratch at an offset that is no multiple of {SCRATCH_ALIGN}"));
            }
            self.places.scratch[op.op] = place;
        }
        Ok(())
    }

    fn set_result(&mut self, op: OpRef<'_>, index: usize, place: Option<Place>) -> Result<(), String> {
        let result = op.result(index);
        let window = self.aliases.window(result).ok_or("is of an unknown size")?;
        let tie = ties(op).find(|tie| tie.0 == index);
        let shared = match tie {
            Some((_, operand)) => Some(op.operand(operand)),
            None if is_free_view(op) => Some(op.operand(0)),
            None if op.is_structured() => Some(self.aliases.root(result)),
            None => None,
        };
        let needed = tensor_bytes(self.ctx, op.result_type(index)).ok_or("is of an unknown size")?;
        let shared = shared.and_then(|operand| {
            let first = self.aliases.window(operand)?.first;
            // An empty value may begin anywhere in its operand.
            let distance = if needed == 0 { 0 } else { window.first - first };
            Some(self.places.values[operand]?.plus(distance))
        });
        let address = match (shared, place) {
            (Some(shared), Some(place)) if tie.is_some() && place.address != shared => {
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
            return Err(format!(
                "puts result {index} at {}, which is no multiple of its element's size",
                address.offset
            ));
        }
        if tie.is_some() || shared.is_none() {
            self.note_overwritten(address)?;
        }
        let rows = (!window.is_dense()).then_some((window.row, window.pitch));
        if !is_free_view(op) && pitch(self.ctx, self.body, result) != rows {
            return Err(format!("has result {index} in a concatenation whose rows `mem.pitch` does not say"));
        }
        self.places.values[result] = Some(address);
        Ok(())
    }

    /// Checks that operands in place (those a concatenation does not copy) are at their elements of the
    /// result.
    fn check_parts(&self, op: OpRef<'_>) -> Result<(), String> {
        for part in parts(op) {
            let windows = [op.operand(part), op.result(0)].map(|value| self.aliases.window(value));
            let [Some(part_of), Some(whole)] = windows else {
                return Err("is of an unknown size".to_owned());
            };
            let begin = self.places.values[op.result(0)].map(|address| address.offset + part_of.first);
            let found = self.places.values[op.operand(part)];
            let is_in_place = found.map(|address| address.offset + whole.first) == begin
                && found.map(|address| address.base)
                    == self.places.values[op.result(0)].map(|address| address.base);
            if !is_in_place || self.aliases.root(op.operand(part)) != self.aliases.root(op.result(0)) {
                return Err(format!("has operand {part} elsewhere than at its place in the result"));
            }
        }
        Ok(())
    }

    /// Reads an entry `[pool, number, bytes]`, or for rows `[pool, number, bytes, first, row, pitch]`; none
    /// for `unit`.
    fn place(&self, entry: Attr) -> Result<Option<Place>, String> {
        if matches!(self.ctx.attr_data(entry), AttrData::Unit) {
            return Ok(None);
        }
        let parts = self.ctx.array_value(entry).unwrap_or(&[]);
        let numbers = parts.iter().skip(1).map(|attr| u64::try_from(self.ctx.int_value(*attr)?).ok());
        let numbers: Option<Vec<u64>> = numbers.collect();
        let pool = parts.first().and_then(|pool| self.ctx.str_value(*pool)).unwrap_or("");
        match numbers.as_deref() {
            Some(&[number, bytes]) => self.bounded(pool, number, ByteWindow::dense(0, bytes)).map(Some),
            Some(&[number, bytes, first, row, pitch]) if row > 0 && bytes.is_multiple_of(row) => {
                self.bounded(pool, number, ByteWindow::of_rows(first, bytes / row, row, pitch)).map(Some)
            }
            _ => Err("has an entry that is not [pool, offset, bytes]".to_owned()),
        }
    }

    fn bounded(&self, pool: &str, number: u64, window: ByteWindow) -> Result<Place, String> {
        let end = window.end().ok_or("has rows that do not fit 64-bit addresses")?;
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let (base, start) = match pool {
            "out" => {
                let size =
                    self.outputs.get(index).ok_or(format!("names output {number}, which does not exist"))?;
                if end > *size {
                    return Err(format!("puts {end} bytes into output {number} of {size}"));
                }
                let output = self.places.caller.signature.results[index].output;
                (Base::Output(output.ok_or(format!("names output {number}, which is a state"))?), 0)
            }
            "in" => match self.donated.get(index) {
                Some(Some(size)) if end <= *size => {
                    let input = self.places.caller.signature.args[index].input;
                    (Base::Input(input.ok_or(format!("names input {number}, which is a state"))?), 0)
                }
                _ => {
                    return Err(format!(
                        "puts {end} bytes into input {number}, which is not donated or smaller"
                    ));
                }
            },
            other => (Base::Arena, in_pool(&self.pools, other, number, end)?),
        };
        let address = Address { base, offset: start + window.first };
        Ok(Place { address, bytes: window.rows * window.row })
    }
}

/// The pools of a function; a fault if one exceeds its memory.
fn planned_pools(ctx: &Context, body: &Body, all_bytes: u64) -> (Vec<MemoryPool>, Vec<Diagnostic>) {
    let fault = |message| (Vec::new(), vec![Diagnostic::error(Location::UNKNOWN, message)]);
    let pools = match pools(ctx, body) {
        Ok(pools) => pools,
        Err(message) => return fault(message),
    };
    let ends = |pool: &MemoryPool| pool.start.checked_add(pool.size_bytes);
    match pools.iter().find(|pool| ends(pool).is_none_or(|end| end > all_bytes)) {
        Some(pool) => fault(format!("the pool `{}` exceeds the memory of {all_bytes} bytes", pool.name)),
        None => (pools, Vec::new()),
    }
}

/// The address in the memory of all pools of bytes at an offset of one pool.
fn in_pool(pools: &[MemoryPool], name: &str, offset: u64, bytes: u64) -> Result<u64, String> {
    let pool = pools.iter().find(|pool| pool.name == name);
    let pool = pool.ok_or_else(|| format!("names the pool `{name}`, which does not exist"))?;
    let bound = offset.checked_add(bytes).filter(|end| *end <= pool.size_bytes);
    bound.ok_or_else(|| {
        format!("puts {bytes} bytes at {offset} of the pool `{name}` of {}", pool.size_bytes)
    })?;
    Ok(pool.start + offset)
}

/// The alignment of scratch that kernels expect.
const SCRATCH_ALIGN: u64 = 64;

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
