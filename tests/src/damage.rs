//! The ways to damage a plan, for tests of the checker.
//!
//! Every place is moved to the place of each other one (and next to itself, out of its pool, off its
//! alignment), over only the last or first bytes of each other one, enlarged and shrunk, exchanged with
//! another, and put into another pool. Copied views are read in place, and views in place are copied. Ties
//! are removed, moved to other operands, and added. The arena shrinks. Places are removed, and given to views
//! that have none. Pools shrink, move, and get a smaller capacity. Rows get other gaps. Scratch shrinks, also
//! by one byte. Rows are written in other bands. Operations are reordered, and read other values than
//! planned.

use ir::memory_pools::{MemoryPool, pools, pools_attr};
use ir::opdef::View;
use ir::plan::attrs;
use ir::weights::WeightSet;
use ir::{Attr, Block, Body, Context, Kind, Op, Traits, Value, flow};

/// One change of a planned function.
#[derive(Clone, Debug, PartialEq)]
pub struct Damage {
    /// The kind of change: one of [`KINDS`].
    pub kind: &'static str,
    change: Change,
}

/// The kinds of damage.
pub const KINDS: [&str; 14] = [
    "offset", "edge", "swap", "size", "pool", "tie", "arena", "missing", "order", "use", "rows", "view",
    "part", "scratch",
];

#[derive(Clone, Debug, PartialEq)]
enum Change {
    Place(Slot, Attr),
    /// Two places at once.
    Places([(Slot, Attr); 2]),
    Attr(Op, &'static str, Attr),
    /// The place of result 0, and `mem.pitch`.
    Rows(Op, Attr, Attr),
    OwnAttr(&'static str, Attr),
    Remove(Op, &'static str),
    Before(Op, Op),
    Operand(Op, usize, Value),
    /// The places of results and scratch, and `mem.scratch`.
    Scratch(Op, Attr, Attr),
    /// A copy becomes a view that is read in place.
    View(Op),
}

/// The attribute entry with a place.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slot {
    /// In `mem.place` of an operation.
    Entry(Op, usize),
    /// In `mem.args` of an operation.
    Arg(Op, usize, usize),
    /// In `mem.args` of the function.
    OwnArg(usize, usize),
}

impl Damage {
    /// Damages a function.
    pub fn apply(&self, ctx: &Context, body: &mut Body) {
        match &self.change {
            Change::Place(slot, place) => write(ctx, body, *slot, *place),
            Change::Places(both) => both.iter().for_each(|(slot, place)| write(ctx, body, *slot, *place)),
            Change::Attr(op, name, value) => body.set_attr(ctx, *op, name, *value),
            Change::Rows(op, place, rows) => {
                write(ctx, body, Slot::Entry(*op, 0), *place);
                body.set_attr(ctx, *op, attrs::MEM_PITCH, *rows);
            }
            Change::Scratch(op, places, bytes) => {
                body.set_attr(ctx, *op, attrs::MEM_PLACE, *places);
                body.set_attr(ctx, *op, attrs::MEM_SCRATCH, *bytes);
            }
            Change::OwnAttr(name, value) => body.set_own_attr(ctx, name, *value),
            Change::Remove(op, name) => body.remove_attr(ctx, *op, name),
            Change::Before(op, before) => {
                body.detach(*op);
                body.insert_before(*op, *before);
            }
            Change::Operand(op, index, value) => body.set_operand(*op, *index, *value),
            Change::View(op) => {
                body.remove_attr(ctx, *op, attrs::MEM_PLACE);
                body.set_attr(ctx, *op, attrs::MEM_VIEW, ctx.unit_attr());
            }
        }
    }
}

/// All damage that can be done to a planned function.
pub fn damages(ctx: &Context, body: &Body) -> Vec<Damage> {
    let mut list = List { ctx, body, ops: Vec::new(), found: Vec::new() };
    flow::walk(ctx, body, |op| list.ops.push(op));
    list.places();
    list.edges();
    list.swaps();
    list.pools();
    list.attributes();
    list.orders();
    list.uses();
    list.found
}

struct List<'a> {
    ctx: &'a Context,
    body: &'a Body,
    ops: Vec<Op>,
    found: Vec<Damage>,
}

impl List<'_> {
    fn push(&mut self, kind: &'static str, change: Change) {
        self.found.push(Damage { kind, change });
    }

    fn places(&mut self) {
        let slots = self.slots();
        let offsets: Vec<i64> =
            slots.iter().filter(|(_, place)| is_planned(&place.0)).map(|(_, place)| place.1).collect();
        for (slot, (pool, offset, bytes)) in &slots {
            let (offset, bytes) = (*offset, *bytes);
            let mut others = vec![];
            if is_planned(pool) {
                others = offsets.clone();
                others.extend([0, offset - 64, offset + 64, offset + 4, offset + 4096]);
                others.sort();
                others.dedup();
                others.retain(|other| *other != offset);
            }
            for other in others {
                self.push("offset", Change::Place(*slot, self.place(pool, other, bytes)));
            }
            for other in [bytes - 4, bytes + 4, bytes + 64, 0, -bytes] {
                if other != bytes {
                    self.push("size", Change::Place(*slot, self.place(pool, offset, other)));
                }
            }
            let callers = [("in", 0), ("in", 1), ("out", 0), ("out", 1), ("on", 0)];
            let callers = callers.map(|(other, offset)| (other.to_owned(), offset));
            let named = pools(self.ctx, self.body).unwrap_or_default().into_iter();
            let named = named.flat_map(|other| [0, 64, offset].map(|offset| (other.name.clone(), offset)));
            for (other, offset) in named.chain(callers) {
                if other != *pool {
                    self.push("pool", Change::Place(*slot, self.place(&other, offset, bytes)));
                }
            }
        }
    }

    /// Each place moved so that it covers the last 64 bytes of each other one, or the first with its own last
    /// 64.
    fn edges(&mut self) {
        let slots: Vec<(Slot, (String, i64, i64))> =
            self.slots().into_iter().filter(|(_, place)| is_planned(&place.0)).collect();
        for (slot, (pool, offset, bytes)) in &slots {
            let others = slots.iter().filter(|(_, other)| other.0 == *pool && other.2 > 0);
            let whole = |bytes: i64| (bytes + 63) / 64 * 64;
            let mut edges: Vec<i64> = others
                .flat_map(|(_, other)| [other.1 + whole(other.2) - 64, other.1 - whole(*bytes) + 64])
                .filter(|edge| *edge >= 0 && edge != offset)
                .collect();
            edges.sort();
            edges.dedup();
            for edge in edges {
                self.push("edge", Change::Place(*slot, self.place(pool, edge, *bytes)));
            }
        }
    }

    /// Two values of the same size exchange their places.
    fn swaps(&mut self) {
        let slots = self.slots();
        for (index, (slot, place)) in slots.iter().enumerate() {
            for (other_slot, other) in &slots[index + 1..] {
                if other.2 == place.2 && (&other.0, other.1) != (&place.0, place.1) {
                    let [first, second] = [(*slot, *other_slot), (*other_slot, *slot)]
                        .map(|(slot, from)| (slot, read(self.ctx, self.body, from)));
                    self.push("swap", Change::Places([first, second]));
                }
            }
        }
    }

    /// Each pool shrinks, moves, and gets an unknown name.
    fn pools(&mut self) {
        let named = pools(self.ctx, self.body).unwrap_or_default();
        if named.len() < 2 {
            return;
        }
        for (index, pool) in named.iter().enumerate() {
            let others = [
                MemoryPool { capacity: Some(pool.size_bytes.saturating_sub(1)), ..pool.clone() },
                MemoryPool { size_bytes: pool.size_bytes / 2, ..pool.clone() },
                MemoryPool { start: pool.start + 64, ..pool.clone() },
                MemoryPool { start: pool.start.saturating_sub(64), ..pool.clone() },
                MemoryPool { align: 2 * pool.align, ..pool.clone() },
                MemoryPool { name: format!("{}_", pool.name), ..pool.clone() },
            ];
            for other in others.into_iter().filter(|other| other != pool) {
                let mut changed = named.clone();
                changed[index] = other;
                self.push("pool", Change::OwnAttr(attrs::OPTC_POOLS, pools_attr(self.ctx, &changed)));
            }
        }
    }

    fn place(&self, pool: &str, offset: i64, bytes: i64) -> Attr {
        self.ctx.array_attr(&[self.ctx.str_attr(pool), self.ctx.int_attr(offset), self.ctx.int_attr(bytes)])
    }

    /// Each place with its content.
    fn slots(&self) -> Vec<(Slot, (String, i64, i64))> {
        let mut slots = Vec::new();
        for &op in &self.ops {
            let op_ref = self.body.at(self.ctx, op);
            for index in 0..self.items(op_ref.attr(attrs::MEM_PLACE)).len() {
                slots.push(Slot::Entry(op, index));
            }
            for (block, list) in self.items(op_ref.attr(attrs::MEM_ARGS)).iter().enumerate() {
                slots.extend((0..self.items(Some(*list)).len()).map(|arg| Slot::Arg(op, block, arg)));
            }
        }
        let own = self.body.own_attr(self.ctx, self.ctx.ident(attrs::MEM_ARGS));
        for (block, list) in self.items(own).iter().enumerate() {
            slots.extend((0..self.items(Some(*list)).len()).map(|arg| Slot::OwnArg(block, arg)));
        }
        let places = slots.into_iter().map(|slot| (slot, read(self.ctx, self.body, slot)));
        places
            .filter_map(|(slot, place)| {
                let [pool, offset, bytes] = self.ctx.array_value(place)? else { return None };
                let number = |attr: &Attr| self.ctx.int_value(*attr);
                Some((slot, (self.ctx.str_value(*pool)?.to_owned(), number(offset)?, number(bytes)?)))
            })
            .collect()
    }

    fn items(&self, attr: Option<Attr>) -> &[Attr] {
        attr.and_then(|attr| self.ctx.array_value(attr)).unwrap_or(&[])
    }

    fn attributes(&mut self) {
        for op in self.ops.clone() {
            let op_ref = self.body.at(self.ctx, op);
            let results = self.body.result_count(op);
            let operands = self.body.operand_count(op) as i64;
            let tie = op_ref.ints(attrs::MEM_TIE);
            if op_ref.attr(attrs::MEM_PLACE).is_some() && results > 0 {
                for operand in -1..=operands {
                    let mut ties = tie.clone().unwrap_or_else(|| vec![-1; results]);
                    ties[0] = operand;
                    if tie.as_ref() != Some(&ties) && (tie.is_some() || operand >= 0) {
                        self.push("tie", Change::Attr(op, attrs::MEM_TIE, self.ctx.ints_attr(&ties)));
                    }
                }
            }
            for name in [attrs::MEM_PLACE, attrs::MEM_ARGS, attrs::MEM_SCRATCH, attrs::MEM_POOL] {
                if op_ref.attr(name).is_some() {
                    self.push("missing", Change::Remove(op, name));
                }
            }
            if tie.is_some() {
                self.push("tie", Change::Remove(op, attrs::MEM_TIE));
            }
            self.scratch(op);
            self.bands(op);
            self.rows(op);
            self.view(op);
            self.parts(op);
            self.place_of_a_view(op);
        }
        let arena = self.body.own_attr(self.ctx, self.ctx.ident(attrs::OPTC_ARENA));
        if let Some(bytes) = arena.and_then(|attr| self.ctx.int_value(attr)).filter(|bytes| *bytes > 0) {
            for other in [bytes - 1, bytes - 64, 0, -1] {
                self.push("arena", Change::OwnAttr(attrs::OPTC_ARENA, self.ctx.int_attr(other)));
            }
        }
    }

    /// An operation gets less scratch: a half, a quarter and so on, one byte less, and none.
    fn scratch(&mut self, op: Op) {
        let op_ref = self.body.at(self.ctx, op);
        let places = self.items(op_ref.attr(attrs::MEM_PLACE)).to_vec();
        let scratch = op_ref.int(attrs::MEM_SCRATCH).zip(places.get(self.body.result_count(op)));
        let Some((bytes, place)) = scratch else { return };
        let Some(&[pool, offset, _]) = self.ctx.array_value(*place) else { return };
        let halves = std::iter::successors(Some(bytes / 2), |bytes| (*bytes > 0).then_some(bytes / 2));
        let halves: Vec<i64> = halves.map(|bytes| bytes / 64 * 64).take_while(|bytes| *bytes > 0).collect();
        for other in halves.into_iter().chain([bytes - 64, bytes - 1, 0]).filter(|other| *other >= 0) {
            let other = self.ctx.int_attr(other);
            let mut places = places.clone();
            *places.last_mut().expect("it has the scratch's") = self.ctx.array_attr(&[pool, offset, other]);
            self.push("scratch", Change::Scratch(op, self.ctx.array_attr(&places), other));
        }
    }

    /// Rows are written in larger and smaller bands, in the opposite order, and over other operands.
    fn bands(&mut self, op: Op) {
        let Some(&[operand, rows]) = self.body.at(self.ctx, op).ints(attrs::MEM_OVERLAP).as_deref() else {
            return;
        };
        for (operand, rows) in [
            (operand, -rows),
            (operand, rows + 1),
            (operand, 4 * rows),
            (operand, rows.signum()),
            (operand + 1, rows),
        ] {
            self.push("rows", Change::Attr(op, attrs::MEM_OVERLAP, self.ctx.ints_attr(&[operand, rows])));
        }
        self.push("rows", Change::Remove(op, attrs::MEM_OVERLAP));
    }

    /// Rows with gaps get other pitches and lengths, and another start, in the place and in the kernel's
    /// attributes.
    fn rows(&mut self, op: Op) {
        let op_ref = self.body.at(self.ctx, op);
        let entries = self.items(op_ref.attr(attrs::MEM_PLACE));
        let numbers = |entry: &Attr| {
            let [pool, numbers @ ..] = self.ctx.array_value(*entry)? else { return None };
            let numbers = numbers.iter().map(|number| self.ctx.int_value(*number));
            Some((*pool, numbers.collect::<Option<Vec<i64>>>()?))
        };
        let Some((pool, given)) = entries.first().and_then(numbers).filter(|(_, given)| given.len() == 5)
        else {
            return;
        };
        let mut changes = Vec::new();
        for (index, by) in [(0, 64), (0, 4), (2, 4), (2, 64), (3, 4), (3, -4), (4, 4), (4, -4), (4, 64)] {
            let mut numbers = given.clone();
            numbers[index] += by;
            let rows = self.ctx.ints_attr(&numbers[3..]);
            let numbers = numbers.iter().map(|number| self.ctx.int_attr(*number));
            let entry = self.ctx.array_attr(&std::iter::once(pool).chain(numbers).collect::<Vec<_>>());
            changes.push(Change::Place(Slot::Entry(op, 0), entry));
            changes.push(Change::Attr(op, attrs::MEM_PITCH, rows));
            changes.push(Change::Rows(op, entry, rows));
        }
        changes.push(Change::Remove(op, attrs::MEM_PITCH));
        changes.into_iter().for_each(|change| self.push("rows", change));
    }

    /// A view that was planned as a copy is read in place, with or without its place; or it is a copy without
    /// a place.
    fn view(&mut self, op: Op) {
        let op_ref = self.body.at(self.ctx, op);
        if !matches!(op_ref.kind(), Kind::View(View::OfOperand(_))) {
            return;
        }
        match op_ref.attr(attrs::MEM_VIEW) {
            Some(_) => self.push("view", Change::Remove(op, attrs::MEM_VIEW)),
            None => {
                self.push("view", Change::Attr(op, attrs::MEM_VIEW, self.ctx.unit_attr()));
                self.push("view", Change::View(op));
            }
        }
    }

    /// Other operands are declared in place in the result.
    fn parts(&mut self, op: Op) {
        let op_ref = self.body.at(self.ctx, op);
        if let Some(parts) = op_ref.ints(attrs::MEM_PARTS) {
            self.push("part", Change::Remove(op, attrs::MEM_PARTS));
            let all: Vec<i64> = (0..=op_ref.operand_count() as i64).collect();
            for other in [&all[..1], &all[1..2], &all[..all.len() - 1], &all[..]] {
                if *other != parts[..] {
                    self.push("part", Change::Attr(op, attrs::MEM_PARTS, self.ctx.ints_attr(other)));
                }
            }
        }
    }

    /// A view that needs no copy gets a place as if it were one.
    fn place_of_a_view(&mut self, op: Op) {
        let op_ref = self.body.at(self.ctx, op);
        if !ir::alias::is_free_view(op_ref) || op_ref.attr(attrs::MEM_PLACE).is_some() {
            return;
        }
        let Some(bytes) = ir::size::tensor_bytes(self.ctx, op_ref.result_type(0)) else { return };
        let entries = [self.place("arena", 0, bytes as i64)];
        self.push("pool", Change::Attr(op, attrs::MEM_PLACE, self.ctx.array_attr(&entries)));
    }

    /// Each operation is moved before each other one of its block, if values are still defined before their
    /// use.
    fn orders(&mut self) {
        for block in self.blocks() {
            let ops: Vec<Op> = self.body.ops(block).collect();
            for (index, &op) in ops.iter().enumerate() {
                let op_ref = self.body.at(self.ctx, op);
                if op_ref.has(Traits::TERMINATOR) || op_ref.attr(attrs::MEM_PLACE).is_none() {
                    continue;
                }
                for &before in ops[..index].iter().rev() {
                    if self.depends(op, before) {
                        break;
                    }
                    self.push("order", Change::Before(op, before));
                }
                for pair in ops[index + 1..].windows(2) {
                    if self.depends(pair[0], op) {
                        break;
                    }
                    self.push("order", Change::Before(op, pair[1]));
                }
            }
        }
    }

    fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = self.ops.iter().filter_map(|op| self.body.block_of(*op)).collect();
        blocks.dedup();
        blocks.sort();
        blocks.dedup();
        blocks
    }

    /// Whether `later`, or an operation in it, reads a result of `earlier`.
    fn depends(&self, later: Op, earlier: Op) -> bool {
        let is_in = |op: Op| {
            let mut at = Some(op);
            std::iter::from_fn(|| {
                let here = at?;
                at = self.body.parent_op(here);
                Some(here)
            })
            .any(|op| op == later)
        };
        self.body.results(earlier).any(|result| self.body.uses(result).any(|reader| is_in(reader.op)))
    }

    /// Each operand is replaced by each value of its type that is defined before it in the same block, or is
    /// an argument of the function; except scalars, which set the number of iterations.
    fn uses(&mut self) {
        let weights = WeightSet::of(self.ctx, self.body);
        let entry = self.body.entry(self.body.root());
        for op in self.ops.clone() {
            if weights.is_weight_op(self.body, op) {
                continue;
            }
            let Some(block) = self.body.block_of(op) else { continue };
            let earlier = self.body.ops(block).take_while(|other| *other != op);
            let earlier: Vec<Value> = earlier.flat_map(|other| self.body.results(other)).collect();
            let args = entry.map_or(&[][..], |entry| self.body.args(entry));
            let own = if entry == Some(block) { &[] } else { self.body.args(block) };
            let values: Vec<Value> = args.iter().chain(own).copied().chain(earlier).collect();
            for index in 0..self.body.operand_count(op) {
                let old = self.body.operand(op, index);
                for value in
                    values.iter().filter(|value| **value != old && self.body.ty(**value) == self.body.ty(old))
                {
                    if !weights.contains(old) && !weights.contains(*value) && self.is_tensor(old) {
                        self.push("use", Change::Operand(op, index, *value));
                    }
                }
            }
        }
    }

    fn is_tensor(&self, value: Value) -> bool {
        self.ctx.type_data(self.body.ty(value)).tensor_shape().is_some()
    }
}

/// Whether places in a pool are offsets.
fn is_planned(pool: &str) -> bool {
    pool != "in" && pool != "out"
}

fn read(ctx: &Context, body: &Body, slot: Slot) -> Attr {
    let item = |attr: Option<Attr>, index: usize| {
        attr.and_then(|attr| ctx.array_value(attr)).map(|items| items[index])
    };
    let found = match slot {
        Slot::Entry(op, index) => item(body.at(ctx, op).attr(attrs::MEM_PLACE), index),
        Slot::Arg(op, block, arg) => item(item(body.at(ctx, op).attr(attrs::MEM_ARGS), block), arg),
        Slot::OwnArg(block, arg) => item(item(body.own_attr(ctx, ctx.ident(attrs::MEM_ARGS)), block), arg),
    };
    found.expect("slots were listed from what is there")
}

fn write(ctx: &Context, body: &mut Body, slot: Slot, place: Attr) {
    let with = |attr: Option<Attr>, index: usize, item: Attr| {
        let mut items = attr.and_then(|attr| ctx.array_value(attr)).unwrap_or(&[]).to_vec();
        items[index] = item;
        ctx.array_attr(&items)
    };
    let list = |attr: Option<Attr>, index: usize| {
        attr.and_then(|attr| ctx.array_value(attr)).map(|items| items[index])
    };
    match slot {
        Slot::Entry(op, index) => {
            let entries = with(body.at(ctx, op).attr(attrs::MEM_PLACE), index, place);
            body.set_attr(ctx, op, attrs::MEM_PLACE, entries);
        }
        Slot::Arg(op, block, arg) => {
            let lists = body.at(ctx, op).attr(attrs::MEM_ARGS);
            let lists = with(lists, block, with(list(lists, block), arg, place));
            body.set_attr(ctx, op, attrs::MEM_ARGS, lists);
        }
        Slot::OwnArg(block, arg) => {
            let lists = body.own_attr(ctx, ctx.ident(attrs::MEM_ARGS));
            body.set_own_attr(ctx, attrs::MEM_ARGS, with(lists, block, with(list(lists, block), arg, place)));
        }
    }
}
