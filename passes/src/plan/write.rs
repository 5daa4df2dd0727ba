//! Writes a placement into a function: `mem.place`, `mem.args`, the scratch of parallel moves, and the pools'
//! sizes.

use std::cell::RefCell;

use cranelift_entity::SecondaryMap;
use ir::alias::{is_free, parts};
use ir::flow::{self, Act};
use ir::memory_pools::ARENA;
use ir::plan::attrs;
use ir::plan::storage::Storage;
use ir::window::ByteWindow;
use ir::{Attr, Block, Body, Context, Diagnostic, Op, Region, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::memory_pools::PoolPlacements;
use super::{ArenaProblem, BufferContent, scratch_bytes};
use crate::edit::{Setter, entry};
use crate::place::{self, PlannerOptions};

impl ArenaProblem<'_> {
    /// Writes a placement of the arena into the function; other pools are placed by the default planner.
    ///
    /// # Errors
    /// If a pool is too small.
    pub(crate) fn write_alone(
        &self,
        ctx: &Context,
        body: &mut Body,
        placement: place::Placement,
    ) -> Result<(), Vec<Diagnostic>> {
        let others = self.pools.iter().map(|pool| place::place(&pool.problem, &PlannerOptions::default()));
        self.write_placements(ctx, body, std::iter::once(placement).chain(others).collect())
    }

    /// Writes the placement of each pool into the function, the arena's first.
    ///
    /// # Errors
    /// If a pool is too small.
    pub(crate) fn write_placements(
        &self,
        ctx: &Context,
        body: &mut Body,
        placements: Vec<place::Placement>,
    ) -> Result<(), Vec<Diagnostic>> {
        let placed = self.place_pools(ctx, body, placements)?;
        self.write(ctx, body, &placed);
        placed.write(ctx, body);
        Ok(())
    }

    /// Writes the places of all values and of scratch into the function.
    pub(super) fn write(&self, ctx: &Context, body: &mut Body, placed: &PoolPlacements) {
        let places = PlaceWriter { ctx, placed, made: RefCell::default(), lists: RefCell::default() };
        let arena = &placed.placements[0];
        let mut scratch: SecondaryMap<Op, u64> = SecondaryMap::new();
        for (id, content) in self.contents.iter() {
            if let BufferContent::Scratch(op) = content {
                scratch[*op] = arena.offsets[id];
            }
        }
        let mut setter = Setter::new(ctx, attrs::MEM_PLACE);
        for (_, event) in self.steps.events() {
            let op = event.op;
            let (results, bytes) = match event.act {
                Act::Run => (true, scratch_bytes(ctx, body, op).unwrap_or(0)),
                Act::Enter => (true, self.handing[op]),
                Act::Hand | Act::Choose => (false, self.handing[op]),
                _ => continue,
            };
            if event.act != Act::Run && (bytes > 0 || body.at(ctx, op).attr(attrs::MEM_SCRATCH).is_some()) {
                body.set_attr(ctx, op, attrs::MEM_SCRATCH, ctx.int_attr(bytes as i64));
            }
            let mut entries: PlaceEntries =
                body.results(op).map(|result| self.place(&places, result)).collect();
            if bytes > 0 {
                entries.push(places.entry(ARENA, scratch[op], bytes));
            }
            if results || bytes > 0 {
                setter.set(body, op, places.list(entries));
            }
            if event.act == Act::Enter
                && let Some(args) = self.args(&places, body, body.regions(op))
            {
                body.set_attr(ctx, op, attrs::MEM_ARGS, args);
            }
        }
        if let Some(args) = self.args(&places, body, &[body.root()]) {
            body.set_own_attr(ctx, attrs::MEM_ARGS, args);
        }
        self.write_assembled(&places, body);
    }

    /// Writes the places of concatenations that do not run because all their operands are in place.
    fn write_assembled(&self, places: &PlaceWriter<'_>, body: &mut Body) {
        let ctx = places.ctx;
        let mut assembled = Vec::new();
        flow::walk(ctx, body, |op| {
            let op_ref = body.at(ctx, op);
            assembled.extend((!parts(op_ref).is_empty() && is_free(op_ref)).then_some(op));
        });
        for op in assembled {
            let place = self.place(places, body.result(op, 0));
            body.set_attr(ctx, op, attrs::MEM_PLACE, ctx.array_attr(&[place]));
        }
    }

    /// The places of the arguments of each block of some regions, except the function's entry; none if there
    /// are no arguments.
    fn args(&self, places: &PlaceWriter<'_>, body: &Body, regions: &[Region]) -> Option<Attr> {
        let ctx = places.ctx;
        let blocks = regions.iter().flat_map(|region| body.blocks(*region));
        let args = |block: &Block| if entry(body) == Some(*block) { &[] } else { body.args(*block) };
        let all: Vec<&[Value]> = blocks.map(args).collect();
        let lists = all.iter().map(|args| {
            let entries = args.iter().map(|arg| self.place(places, *arg));
            ctx.array_attr(&entries.collect::<Vec<_>>())
        });
        all.iter().any(|args| !args.is_empty()).then(|| ctx.array_attr(&lists.collect::<Vec<_>>()))
    }

    /// The place of a value; `unit` if its block is unreachable.
    fn place(&self, places: &PlaceWriter<'_>, value: Value) -> Attr {
        let (Some(home), Some(window)) = (self.homes[self.classes.class(value)], self.aliases.window(value))
        else {
            return places.ctx.unit_attr();
        };
        let (pool, number) = match home {
            Storage::Output(index) => ("out", index as u64),
            Storage::Buffer(id) => (ARENA, places.placed.placements[0].offsets[id]),
            Storage::Pool(index, id) => places.placed.place(index, id),
            Storage::Input(index) => ("in", index as u64),
        };
        let bytes = window.rows * window.row;
        match window == ByteWindow::dense(0, bytes) {
            true => places.entry(pool, number, bytes),
            false => places.part(pool, number, window),
        }
    }
}

/// Makes the entries of `mem.place`. They are cached: a long in-place chain has many equal ones.
struct PlaceWriter<'a> {
    ctx: &'a Context,
    placed: &'a PoolPlacements,
    made: RefCell<FxHashMap<(&'a str, u64, u64), Attr>>,
    lists: RefCell<FxHashMap<PlaceEntries, Attr>>,
}

/// The entries of one `mem.place`.
type PlaceEntries = SmallVec<[Attr; 4]>;

impl<'a> PlaceWriter<'a> {
    fn entry(&self, pool: &'a str, offset: u64, bytes: u64) -> Attr {
        let ctx = self.ctx;
        let make = || [ctx.str_attr(pool), ctx.int_attr(offset as i64), ctx.int_attr(bytes as i64)];
        let mut made = self.made.borrow_mut();
        *made.entry((pool, offset, bytes)).or_insert_with(|| ctx.array_attr(&make()))
    }

    /// An entry for rows within a larger value: the first byte, the bytes of a row, and the pitch.
    fn part(&self, pool: &str, offset: u64, window: ByteWindow) -> Attr {
        let ByteWindow { first, rows, row, pitch } = window;
        let numbers = [offset, rows * row, first, row, pitch].map(|number| self.ctx.int_attr(number as i64));
        self.ctx.array_attr(&[&[self.ctx.str_attr(pool)], &numbers[..]].concat())
    }

    fn list(&self, entries: PlaceEntries) -> Attr {
        let mut lists = self.lists.borrow_mut();
        *lists.entry(entries).or_insert_with_key(|entries| self.ctx.array_attr(entries))
    }
}
