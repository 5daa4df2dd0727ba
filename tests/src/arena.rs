//! An interpreter of planned programs that computes in the bytes of the arena.
//!
//! An oracle for plans: it runs the function operation by operation with the interpreter's meaning of each.
//! Every value is read from, and written to, the bytes given by `mem.place` and `mem.args`. The machine is as
//! hostile as a kernel may be:
//!
//! - fresh bytes are garbage, and scratch is garbage again before a step reads and after it wrote;
//! - a result that overlaps an operand is garbage before the operand is read, unless the pair is declared,
//!   the bytes are the same, and the result is tied to an operand there;
//! - a result that is written in bands of rows over an operand (`mem.overlap`) is written one band at a time,
//!   and all operands are read anew before the next;
//! - the steps of a streamed group (`mem.lines`) keep only as many rows between them as scratch holds;
//! - an operand in place in a concatenation (`mem.parts`) is not copied there;
//! - a view that needs no copy has the bytes of its operand, whatever an attribute says.
//!
//! So if the results here equal the interpreter's results on values, the plan is right for these inputs.
//! Calls are not supported.

use ir::plan::attrs;
use std::collections::BTreeMap;
use std::ops::Range;

use cranelift_entity::SecondaryMap;
use ir::alias::{is_free_view, ties};
use ir::flow::{region_args, runs, transfers, walk};
use ir::interp::{Tensor, eval_op};
use ir::opdef::{Access, RegionFlow, Strided, View};
use ir::states::{STATE, StateArgument, states};
use ir::weights::WeightSet;
use ir::{Attr, Block, Body, Context, Kind, Op, Target, Traits, Value, branch, size};
use passes::access::access;

use home::{Home, Pool};

mod home;
mod lines;

/// The number of operations after which a program counts as endless.
const MOST_STEPS: usize = 20_000;

/// Unwritten bytes: NaN as floats, and neither true nor false as booleans.
const GARBAGE: u8 = 0xFF;

/// The contents of the caller's output buffers after a run of a planned function.
///
/// # Errors
/// The first fault of the run: a place outside its pool, an operand without bytes, an endless program, an
/// overwritten input of the caller.
pub fn run(
    ctx: &Context,
    body: &Body,
    target: &dyn Target,
    inputs: &[Tensor],
) -> Result<Vec<Vec<u8>>, String> {
    let mut machine = Machine::new(ctx, body, target);
    machine.enter(inputs)?;
    machine.read_places()?;
    machine.run_blocks()?;
    machine.leave(inputs)
}

struct Machine<'a> {
    ctx: &'a Context,
    body: &'a Body,
    target: &'a dyn Target,
    weights: WeightSet,
    known: BTreeMap<Value, Tensor>,
    pools: BTreeMap<Pool, Vec<u8>>,
    /// The start of each planned pool in the arena's bytes, and its size.
    ranges: BTreeMap<String, (usize, usize)>,
    homes: SecondaryMap<Value, Option<Home>>,
    scratch: SecondaryMap<Op, Option<Home>>,
    steps: usize,
}

impl<'a> Machine<'a> {
    fn new(ctx: &'a Context, body: &'a Body, target: &'a dyn Target) -> Machine<'a> {
        let weights = WeightSet::of(ctx, body);
        let (known, pools) = (BTreeMap::new(), BTreeMap::new());
        let (homes, scratch) = (SecondaryMap::new(), SecondaryMap::new());
        let planned = ir::memory_pools::pools(ctx, body).unwrap_or_default().into_iter();
        let ranges =
            planned.map(|pool| (pool.name, (pool.start as usize, pool.size_bytes as usize))).collect();
        Machine { ctx, body, target, weights, known, pools, ranges, homes, scratch, steps: 0 }
    }

    fn size(&self, value: Value) -> Result<usize, String> {
        let bytes = size::tensor_bytes(self.ctx, self.body.ty(value));
        bytes.map(|bytes| bytes as usize).ok_or_else(|| format!("{value} has no known size"))
    }

    fn end(&self) -> Option<Op> {
        let ends = self.body.blocks(self.body.root()).iter().filter_map(|block| self.body.last_op(*block));
        ends.into_iter().find(|op| self.body.at(self.ctx, *op).has(Traits::RETURN))
    }

    /// Creates the pools, and fills those of the inputs.
    fn enter(&mut self, inputs: &[Tensor]) -> Result<(), String> {
        let arena = self.body.own_attr(self.ctx, self.ctx.ident(attrs::OPTC_ARENA));
        let arena = arena.and_then(|attr| self.ctx.int_value(attr)).unwrap_or(0);
        self.pools
            .insert(Pool::Arena, vec![GARBAGE; usize::try_from(arena).map_err(|_| "a negative arena")?]);
        let entry = self.body.entry(self.body.root()).ok_or("there is no block")?;
        for (index, (arg, input)) in self.body.args(entry).iter().zip(inputs).enumerate() {
            let home = match self.state(|state| state.index == index)? {
                Some(home) => home,
                None => Home::dense(Pool::Input(index), 0..input.bytes.len()),
            };
            self.pools.entry(home.pool).or_insert_with(|| vec![GARBAGE; input.bytes.len()]);
            self.write(&home, &input.bytes);
            self.homes[*arg] = Some(home);
        }
        let outputs: Vec<Value> = self.end().into_iter().flat_map(|op| self.body.operands(op)).collect();
        for (index, value) in outputs.into_iter().enumerate() {
            let bytes = self.size(value)?;
            self.pools.insert(Pool::Output(index), vec![GARBAGE; bytes]);
        }
        Ok(())
    }

    /// The bytes of the state with a property, if there is one.
    fn state(&self, holds: impl Fn(&StateArgument) -> bool) -> Result<Option<Home>, String> {
        let states = states(self.ctx, self.body)?;
        let Some(StateArgument { offset, size_bytes, .. }) = states.iter().find(|state| holds(state)) else {
            return Ok(None);
        };
        let (start, size) = self.ranges.get(STATE).copied().ok_or("no pool of states")?;
        let first = *offset as usize;
        let end = (offset + size_bytes) as usize;
        let is_inside = end <= size && start + end <= self.pools[&Pool::Arena].len();
        let home = is_inside.then(|| Home::dense(Pool::Arena, start + first..start + end));
        home.map(Some).ok_or_else(|| "a state outside its pool".into())
    }

    fn read_places(&mut self) -> Result<(), String> {
        let (ctx, body) = (self.ctx, self.body);
        let mut ops = Vec::new();
        walk(ctx, body, |op| ops.push(op));
        ops.retain(|op| runs(ctx, body, *op, &self.weights) || !self.parts(*op).is_empty());
        for op in ops {
            let entries =
                body.at(ctx, op).attr(attrs::MEM_PLACE).and_then(|attr| ctx.array_value(attr)).unwrap_or(&[]);
            for (result, entry) in body.results(op).zip(entries) {
                self.homes[result] = Some(self.home(*entry, self.size(result)?)?);
            }
            if let (Some(bytes), Some(entry)) =
                (body.at(ctx, op).int(attrs::MEM_SCRATCH), entries.get(body.result_count(op)))
            {
                self.scratch[op] = Some(self.home(*entry, usize::try_from(bytes).unwrap_or(0))?);
            }
            let regions = body.regions(op).iter().map(|region| body.entry(*region));
            self.read_args(body.at(ctx, op).attr(attrs::MEM_ARGS), &regions.flatten().collect::<Vec<_>>())?;
        }
        let blocks = body.blocks(body.root());
        match blocks.len() {
            1 => Ok(()),
            _ => self.read_args(body.own_attr(ctx, ctx.ident(attrs::MEM_ARGS)), blocks),
        }
    }

    fn read_args(&mut self, lists: Option<Attr>, blocks: &[Block]) -> Result<(), String> {
        let lists = lists.and_then(|lists| self.ctx.array_value(lists)).unwrap_or(&[]);
        for (block, list) in blocks.iter().zip(lists) {
            let entries = self.ctx.array_value(*list).unwrap_or(&[]);
            for (arg, entry) in self.body.args(*block).iter().zip(entries) {
                if self.ctx.array_value(*entry).is_some() {
                    self.homes[*arg] = Some(self.home(*entry, self.size(*arg)?)?);
                }
            }
        }
        Ok(())
    }

    fn home(&self, entry: Attr, size: usize) -> Result<Home, String> {
        let number = |attr: &Attr| self.ctx.int_value(*attr).and_then(|value| usize::try_from(value).ok());
        let [pool, numbers @ ..] = self.ctx.array_value(entry).unwrap_or(&[]) else {
            return Err("no place".into());
        };
        let numbers: Vec<usize> = numbers.iter().filter_map(number).collect();
        let (at, bytes, [first, row, pitch]) = match numbers[..] {
            [at, bytes] => (at, bytes, [0, bytes, bytes]),
            [at, bytes, first, row, pitch] => (at, bytes, [first, row, pitch]),
            _ => return Err("no place".into()),
        };
        if bytes != size {
            return Err(format!("a place of other than {size} bytes"));
        }
        let span = (bytes / row.max(1)).saturating_sub(1) * pitch + row;
        let (pool, start) = match self.ctx.str_value(*pool) {
            Some(name) if self.ranges.get(name).is_some_and(|(_, size)| at + first + span <= *size) => {
                (Pool::Arena, self.ranges[name].0 + at)
            }
            Some("in") => (Pool::Input(at), 0),
            Some("out") => (Pool::Output(at), 0),
            other => return Err(format!("no pool {other:?}")),
        };
        let home = Home::of_rows(pool, start + first, [bytes / row.max(1), row, pitch]);
        let end = home.runs.last().map_or(0, |run| run.end);
        match self.pools.get(&pool) {
            Some(bytes) if end <= bytes.len() && home.len() == size => Ok(home),
            _ => Err(format!("{:?} is outside {pool:?}", home.runs)),
        }
    }

    fn run_blocks(&mut self) -> Result<(), String> {
        let body = self.body;
        let mut block = body.entry(body.root()).ok_or("there is no block")?;
        loop {
            self.run_ops(block)?;
            let Some(end) = body.last_op(block).filter(|op| !body.successors(*op).is_empty()) else {
                return Ok(());
            };
            let flag =
                if body.operand_count(end) > 0 { Some(self.read(body.operand(end, 0))?) } else { None };
            let taken = branch::taken(body.at(self.ctx, end), flag.as_ref()).map_err(|error| error.0)?;
            let successor = &body.successors(end)[taken];
            self.hand(end, successor.first_operand as usize, body.args(successor.block))?;
            block = successor.block;
        }
    }

    fn run_ops(&mut self, block: Block) -> Result<(), String> {
        let body = self.body;
        for op in body.ops(block) {
            let op_ref = body.at(self.ctx, op);
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err("it does not end".into());
            }
            match op_ref.kind() {
                Kind::Region(RegionFlow::If) => self.choose(op)?,
                Kind::Region(RegionFlow::For) => self.count(op)?,
                Kind::Region(RegionFlow::While) => self.repeat(op)?,
                _ if op_ref.has(Traits::TERMINATOR) => {}
                _ if !self.parts(op).is_empty() => self.assemble(op)?,
                _ if runs(self.ctx, body, op, &self.weights) => self.step(op)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn step(&mut self, op: Op) -> Result<(), String> {
        let body = self.body;
        self.spoil_scratch(op);
        let results: Vec<Value> = body.results(op).collect();
        let homes =
            results.iter().map(|result| self.homes[*result].clone().ok_or("a result without a place"));
        let homes = homes.collect::<Result<Vec<_>, _>>()?;
        for (result, home) in homes.iter().enumerate() {
            self.check_pitch(op, home)?;
            let is_tied = ties(body.at(self.ctx, op)).any(|tie| tie.0 == result);
            if is_tied && self.tied_to(op, result).as_ref() != Some(home) {
                return Err(format!("result {result} is not where its tie says"));
            }
            let banded = self.banding(op).map(|(operand, _)| operand).filter(|_| result == 0);
            let others = (0..body.operand_count(op)).filter(|operand| Some(*operand) != banded);
            if others.into_iter().any(|operand| self.clashes(op, result, home, operand)) {
                self.spoil(home);
            }
        }
        if body.at(self.ctx, op).attr(attrs::MEM_LINES).is_some() {
            self.run_in_turns(op, &homes[0])?;
            self.spoil_scratch(op);
            return Ok(());
        }
        for rows in self.bands(op)? {
            let operands = body.operands(op).map(|value| self.read(value)).collect::<Result<Vec<_>, _>>()?;
            let computed = eval_op(body.at(self.ctx, op), &operands).map_err(|error| error.0)?;
            for (home, tensor) in homes.iter().zip(computed) {
                let bytes = rows.clone().unwrap_or(0..tensor.bytes.len());
                self.write(&home.part(bytes.clone()), &tensor.bytes[bytes]);
            }
        }
        self.spoil_scratch(op);
        Ok(())
    }

    /// The operands in place in a concatenation: `mem.parts`.
    fn parts(&self, op: Op) -> Vec<usize> {
        let parts = self.body.at(self.ctx, op).ints(attrs::MEM_PARTS).unwrap_or_default().into_iter();
        parts.filter_map(|part| usize::try_from(part).ok()).collect()
    }

    /// Writes the copied part of a concatenation: the bytes of the result from operands that are not in place
    /// yet.
    fn assemble(&mut self, op: Op) -> Result<(), String> {
        let body = self.body;
        let parts = self.parts(op);
        let home = self.homes[body.result(op, 0)].clone().ok_or("a result without a place")?;
        let operands = body.operands(op).map(|value| self.read(value)).collect::<Result<Vec<_>, _>>()?;
        let eval = |operands: &[Tensor]| eval_op(body.at(self.ctx, op), operands).map_err(|error| error.0);
        let whole = eval(&operands)?.remove(0);
        // Bytes that do not change with the operands in place come from other operands, or from none.
        let marked = |of_parts: u8| {
            let marks = operands.iter().enumerate().map(|(index, tensor)| {
                let mark = if parts.contains(&index) { of_parts } else { index as u8 + 1 };
                Tensor::new(self.ctx, tensor.ty, vec![mark; tensor.bytes.len()])
            });
            Ok::<Tensor, String>(eval(&marks.collect::<Vec<_>>())?.remove(0))
        };
        let (marks, others) = (marked(0)?, marked(0x7F)?);
        let copied: Vec<usize> =
            (0..whole.bytes.len()).filter(|at| marks.bytes[*at] == others.bytes[*at]).collect();
        for &at in &copied {
            let index = usize::from(marks.bytes[at]).checked_sub(1).filter(|index| *index < operands.len());
            let Some(index) = index.filter(|index| !parts.contains(index)) else { continue };
            let from = self.locate(body.operand(op, index));
            if from.is_ok_and(|from| from.meets(&home.part(at..at + 1))) {
                return Err(format!("operand {index} is copied to where it lies"));
            }
        }
        for at in copied {
            self.write(&home.part(at..at + 1), &whole.bytes[at..=at]);
        }
        Ok(())
    }

    /// `mem.pitch` must tell kernels about rows with gaps.
    fn check_pitch(&self, op: Op, home: &Home) -> Result<(), String> {
        let told = self.body.at(self.ctx, op).ints(attrs::MEM_PITCH);
        let found = match &home.runs[..] {
            [first, second, ..] => Some(vec![first.len() as i64, (second.start - first.start) as i64]),
            _ => None,
        };
        if told == found { Ok(()) } else { Err(format!("`mem.pitch` is {told:?}, the rows are {found:?}")) }
    }

    /// The operand that result 0 overwrites in bands of rows, and the number of rows of a band:
    /// `mem.overlap`.
    fn banding(&self, op: Op) -> Option<(usize, i64)> {
        match self.body.at(self.ctx, op).ints(attrs::MEM_OVERLAP)?[..] {
            [operand, rows] if rows != 0 => Some((usize::try_from(operand).ok()?, rows)),
            _ => None,
        }
    }

    /// The bytes of the result that are written at once, in order; all operands are read anew before each.
    /// None means all bytes.
    fn bands(&self, op: Op) -> Result<Vec<Option<Range<usize>>>, String> {
        let Some((_, rows)) = self.banding(op) else { return Ok(vec![None]) };
        let shape = self.body.at(self.ctx, op).result_shape(0).unwrap_or_default();
        let [images, all, _, _] = shape[..] else { return Err("rows of what is no image".into()) };
        let image = self.size(self.body.result(op, 0))? / images.max(1) as usize;
        let row = image / all.max(1) as usize;
        let step = rows.unsigned_abs() as usize;
        let firsts =
            (0..images as usize).flat_map(|of| (0..all as usize).step_by(step).map(move |row| (of, row)));
        let band = |(of, first): (usize, usize)| {
            Some(of * image + first * row..of * image + (first + step).min(all as usize) * row)
        };
        let mut bands: Vec<Option<Range<usize>>> = firsts.map(band).collect();
        if rows < 0 {
            bands.reverse();
        }
        Ok(bands)
    }

    /// Whether writing a result may destroy bytes of an operand that are still to be read.
    fn clashes(&self, op: Op, result: usize, home: &Home, operand: usize) -> bool {
        let value = self.body.operand(op, operand);
        let Some(from) = self.locate(value).ok().filter(|from| from.meets(home)) else { return false };
        let is_declared = || access(self.ctx, self.target, self.body, op, result, operand) != Access::Never;
        from != *home || self.tied_to(op, result).as_ref() != Some(home) || !is_declared()
    }

    /// The bytes of the operand that a result is tied to.
    fn tied_to(&self, op: Op, result: usize) -> Option<Home> {
        let tie = ties(self.body.at(self.ctx, op)).find(|tie| tie.0 == result)?;
        let is_there = tie.1 < self.body.operand_count(op);
        is_there.then(|| self.locate(self.body.operand(op, tie.1)).ok()).flatten()
    }

    fn spoil(&mut self, home: &Home) {
        let pool = self.pools.get_mut(&home.pool).expect("homes are in pools");
        home.runs.iter().for_each(|run| pool[run.clone()].fill(GARBAGE));
    }

    fn spoil_scratch(&mut self, op: Op) {
        if let Some(home) = self.scratch[op].clone() {
            self.spoil(&home);
        }
    }

    fn write(&mut self, home: &Home, mut bytes: &[u8]) {
        let pool = self.pools.get_mut(&home.pool).expect("homes are in pools");
        for run in &home.runs {
            let (now, later) = bytes.split_at(run.len());
            pool[run.clone()].copy_from_slice(now);
            bytes = later;
        }
    }

    fn locate(&self, value: Value) -> Result<Home, String> {
        if let Some(home) = &self.homes[value] {
            return Ok(home.clone());
        }
        let op = self.body.defining_op(value).ok_or_else(|| format!("{value} has no place"))?;
        let op = self.body.at(self.ctx, op);
        let Kind::View(View::OfOperand(map)) = op.kind() else { return Err(format!("{value} has no place")) };
        let shape = op.operand_shape(0).filter(|_| is_free_view(op));
        let shape = shape.ok_or_else(|| format!("{value} has no place"))?;
        let from = self.locate(op.operand(0))?;
        let layout = map(op, 0, &Strided::row_major(0, shape)).ok_or("a view that is nowhere")?;
        let elem = self.size(value)? / layout.shape.iter().product::<u64>().max(1) as usize;
        let mut runs: Vec<Range<usize>> = Vec::new();
        for offset in elements(&layout) {
            let part = from.part(offset as usize * elem..(offset as usize + 1) * elem);
            for run in part.runs {
                match runs.last_mut().filter(|last| last.end == run.start) {
                    Some(last) => last.end = run.end,
                    None => runs.push(run),
                }
            }
        }
        let home = Home { pool: from.pool, runs };
        if home.len() == self.size(value)? { Ok(home) } else { Err("a view outside its operand".into()) }
    }

    fn read(&mut self, value: Value) -> Result<Tensor, String> {
        let (ctx, body) = (self.ctx, self.body);
        if self.weights.contains(value) {
            if !self.known.contains_key(&value) {
                let tensor = self.weights.evaluate(ctx, body, value).map_err(|fault| fault.message)?;
                self.known.insert(value, tensor);
            }
            return Ok(self.known[&value].clone());
        }
        let home = self.locate(value)?;
        Ok(Tensor::new(ctx, body.ty(value), self.bytes(&home)))
    }

    fn bytes(&self, home: &Home) -> Vec<u8> {
        let pool = &self.pools[&home.pool];
        home.runs.iter().flat_map(|run| &pool[run.clone()]).copied().collect()
    }

    /// Passes operands of a terminator or of a loop, from `first` on, to `targets` (a parallel move).
    fn hand(&mut self, op: Op, first: usize, targets: &[Value]) -> Result<(), String> {
        self.check_scratch(op, first, targets)?;
        self.spoil_scratch(op);
        let values = (first..first + targets.len()).map(|index| self.read(self.body.operand(op, index)));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        for (target, value) in targets.iter().zip(values) {
            self.write(&self.homes[*target].clone().ok_or("an argument without a place")?, &value.bytes);
        }
        self.spoil_scratch(op);
        Ok(())
    }

    /// Cyclic copies need scratch.
    fn check_scratch(&self, op: Op, first: usize, targets: &[Value]) -> Result<(), String> {
        let mut places = Vec::new();
        for (index, target) in targets.iter().enumerate() {
            let from = self.locate(self.body.operand(op, first + index)).ok();
            places.push((from, self.homes[*target].clone().ok_or("an argument without a place")?));
        }
        let sizes: Vec<u64> = places.iter().map(|(_, to)| to.len() as u64).collect();
        let clobbers = |a: usize, b: usize| places[b].0.as_ref().is_some_and(|from| places[a].1.meets(from));
        let is_done = |index: usize| places[index].0.as_ref() == Some(&places[index].1);
        let needed = transfers(&sizes, is_done, clobbers).1;
        let given = self.scratch[op].as_ref().map_or(0, |home| home.len() as u64);
        if given < needed { Err("too little scratch for a parallel copy".into()) } else { Ok(()) }
    }

    /// Runs a region and passes the operands of its terminator to `targets`.
    fn region(&mut self, op: Op, index: usize, targets: &[Value]) -> Result<(), String> {
        let body = self.body;
        let block = body.regions(op).get(index).and_then(|region| body.entry(*region));
        let Some(block) = block else { return Ok(()) };
        self.run_ops(block)?;
        match body.last_op(block) {
            Some(end) if body.at(self.ctx, end).has(Traits::TERMINATOR) => self.hand(end, 0, targets),
            _ => Ok(()),
        }
    }

    fn choose(&mut self, op: Op) -> Result<(), String> {
        let holds = self.truth(self.body.operand(op, 0))?;
        let results: Vec<Value> = self.body.results(op).collect();
        self.region(op, usize::from(!holds), &results)
    }

    fn truth(&mut self, value: Value) -> Result<bool, String> {
        Ok(self.read(value)?.bytes.first().is_some_and(|byte| byte & 1 == 1))
    }

    fn number(&mut self, value: Value) -> Result<i64, String> {
        let tensor = self.read(value)?;
        let mut bytes = [0; 8];
        bytes[..tensor.bytes.len()].copy_from_slice(&tensor.bytes);
        Ok(i64::from_le_bytes(bytes))
    }

    fn count(&mut self, op: Op) -> Result<(), String> {
        let body = self.body;
        let (lower, upper) = (self.number(body.operand(op, 0))?, self.number(body.operand(op, 1))?);
        let step = self.number(body.operand(op, 2))?;
        let (counter, carried) = region_args(body, op, 0).split_first().ok_or("a loop without a counter")?;
        self.hand(op, 3, carried)?;
        let home = self.homes[*counter].clone().ok_or("a counter without a place")?;
        if step <= 0 {
            return Err("a step of a loop below 1".into());
        }
        let mut number = lower;
        while number < upper {
            self.write(&home, &number.to_le_bytes()[..home.len()]);
            self.region(op, 0, carried)?;
            number += step;
        }
        self.leave_loop(op, carried)
    }

    fn repeat(&mut self, op: Op) -> Result<(), String> {
        let body = self.body;
        let (carried, passed) = (region_args(body, op, 0), region_args(body, op, 1));
        let first = body.regions(op).first().and_then(|region| body.entry(*region));
        let first = first.ok_or("a loop without a condition")?;
        let end = body.last_op(first).ok_or("a loop without a condition")?;
        self.hand(op, 0, carried)?;
        loop {
            self.run_ops(first)?;
            let goes_on = self.truth(body.operand(end, 0))?;
            self.hand(end, 1, passed)?;
            if !goes_on {
                return self.leave_loop(op, passed);
            }
            self.region(op, 1, carried)?;
        }
    }

    /// The results of a loop have the bytes of its carried values.
    fn leave_loop(&mut self, op: Op, carried: &[Value]) -> Result<(), String> {
        for (result, arg) in self.body.results(op).zip(carried) {
            if self.homes[result] != self.homes[*arg] {
                return Err("a result of a loop is elsewhere than what it carries".into());
            }
        }
        Ok(())
    }

    /// The returned values; each input that is not donated must be unchanged.
    fn leave(mut self, inputs: &[Tensor]) -> Result<Vec<Vec<u8>>, String> {
        let attrs = self.body.own_attr(self.ctx, self.ctx.ident("arg_attrs"));
        let attrs = attrs.and_then(|attrs| self.ctx.array_value(attrs)).unwrap_or(&[]);
        for (index, input) in inputs.iter().enumerate() {
            let donated = self.ctx.ident(attrs::OPTC_DONATED);
            let is_donated = attrs.get(index).is_some_and(|dict| self.ctx.dict_get(*dict, donated).is_some());
            let state = states(self.ctx, self.body)?.into_iter().find(|state| state.index == index);
            let is_next = state.is_some_and(|state| state.result.is_some());
            let held = match self.state(|state| state.index == index)? {
                Some(home) => self.bytes(&home),
                None => self.pools[&Pool::Input(index)].clone(),
            };
            if !is_donated && !is_next && held != *input.bytes {
                return Err(format!("input {index} was overwritten"));
            }
        }
        let outputs = self.pools.range(Pool::Output(0)..).count();
        let end = self.end().ok_or("nothing is returned")?;
        for (index, value) in self.body.operands(end).enumerate() {
            let home = self.locate(value)?;
            match self.state(|state| state.result == Some(index))? {
                Some(place) if home == place => {
                    let bytes = self.bytes(&home);
                    self.pools.insert(Pool::Output(index), bytes);
                }
                None if home.pool == Pool::Output(index) => {}
                _ => {
                    return Err(format!(
                        "output {index} is not in the caller's buffer, or its state's place"
                    ));
                }
            }
        }
        Ok((0..outputs).map(|index| self.pools.remove(&Pool::Output(index)).expect("it was made")).collect())
    }
}

/// The offset of each element of a layout, in order.
fn elements(layout: &Strided) -> Vec<i64> {
    let mut found = vec![layout.offset];
    for (size, stride) in layout.shape.iter().zip(&layout.strides) {
        let along = |first: &i64| (0..*size as i64).map(|index| first + index * stride).collect::<Vec<_>>();
        found = found.iter().flat_map(along).collect();
    }
    found
}
