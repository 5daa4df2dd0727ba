//! The plan report: a plan in numbers, as in `optc plan --json`, version 1.
//!
//! It is computed from a planned function, so it describes the program that runs.

use ir::plan::attrs;
use std::collections::BTreeMap;

use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use ir::alias::AliasSets;
use ir::memory_pools::MemoryPool;
use ir::weights::WeightSet;
use ir::{Attr, Block, Body, Context, Op, Traits, Value, size};
use passes::liveness::Steps;
use passes::overlap::{Banding, OperandRows, RowOrder};
use passes::place;
use passes::plan::ArenaProblem;
use passes::plan::peak::main_op;
use serde::Serialize;

use crate::failure::Failure;

/// The content of `optc plan --json`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanReport {
    /// Version of this format.
    pub version: u32,
    /// Pools, the arena first.
    pub pools: Vec<PoolReport>,
    /// Bytes of all results, including those that fusion avoids to store, and of the scratch of all steps, if
    /// nothing shared bytes.
    pub naive_bytes: u64,
    /// Bytes of the caller's inputs.
    pub inputs_bytes: u64,
    /// Bytes of the caller's outputs.
    pub outputs_bytes: u64,
    /// Bytes of the pool `weights`, as packed for the kernels.
    pub weights_bytes: u64,
    /// The steps, in order.
    pub steps: Vec<StepReport>,
    /// All values with their places.
    pub values: Vec<ValueReport>,
    /// Pairs that may share bytes at a distance.
    pub overlaps: Vec<OverlapReport>,
}

/// A pool.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PoolReport {
    /// Its name.
    pub name: String,
    /// The bytes that a run allocates for it.
    pub size_bytes: u64,
    /// Offsets in it are multiples of this.
    pub align: u64,
    /// The maximum size, if there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
    /// A lower bound of all placements.
    pub lower_bound_bytes: u64,
    /// A lower bound of all placements without overlaps.
    pub whole_tensor_bound_bytes: u64,
    /// Whether the bound is met: for this order of steps, these kernels, ties and overlaps, no placement
    /// takes fewer bytes.
    pub proved_best: bool,
    /// The scope of the proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved_for: Option<&'static str>,
}

/// The scope of a proof of optimality: steps in another order, or other kernels, might take less.
pub const PROVED_FOR: &str = "this order and these kernels";

/// A step.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StepReport {
    /// Its number.
    pub index: usize,
    /// The operation; for a group its main one.
    pub op: String,
    /// The name of the model's node, if any.
    pub name: String,
}

/// A value with its place.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ValueReport {
    /// The name in the printed text.
    pub name: String,
    /// The step that makes it.
    pub step: usize,
    /// The pool that it lies in.
    pub pool: String,
    /// The offset in the pool.
    pub offset: u64,
    /// Its bytes.
    pub size_bytes: u64,
    /// The first step at which its bytes must be kept.
    pub first: usize,
    /// The last one.
    pub last: usize,
    /// The value that owns its bytes, or the value itself.
    pub root: String,
    /// `result`, `scratch`, `input` or `output`.
    pub kind: &'static str,
    /// The type; none for scratch.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
}

impl ValueReport {
    /// Whether it is in the caller's memory: then its offset is the number of an input or output.
    pub fn is_with_caller(&self) -> bool {
        !is_planned(&self.pool)
    }
}

/// A pair of values that may share bytes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OverlapReport {
    /// The step's name.
    pub op: String,
    /// The value that begins higher: the operand, or the result if its last row is written first.
    pub input: String,
    /// The other one.
    pub output: String,
    /// offset(input) - offset(output) is at least this.
    pub min_distance_bytes: i64,
}

/// Reads the plan of a planned function. `weights_bytes` is the size of its program's weights.
///
/// # Errors
/// If the function is not planned.
pub fn plan_report(ctx: &Context, body: &Body, weights_bytes: u64) -> Result<PlanReport, Failure> {
    let block = body.entry(body.root()).ok_or_else(|| Failure::input("the function has no body"))?;
    attrs::arena_bytes(ctx, body).ok_or_else(|| Failure::input("the function is not planned"))?;
    let aliases = AliasSets::of(ctx, body);
    let solved = ArenaProblem::of(ctx, body, &aliases);
    let solved = solved.map_err(|faults| Failure::diagnostics(ctx, &faults))?;
    let others = solved.pools.iter().map(|pool| pool_report(&pool.pool, &pool.problem));
    let reader = PlanReader::new(ctx, body, block);
    let bytes = |value: &Value| size::tensor_bytes(ctx, body.ty(*value)).unwrap_or(0);
    let returned = body.last_op(block).filter(|op| body.at(ctx, *op).has(Traits::RETURN));
    Ok(PlanReport {
        version: 1,
        pools: std::iter::once(pool_report(&solved.pool, &solved.problem)).chain(others).collect(),
        naive_bytes: reader.naive_bytes(),
        inputs_bytes: body.args(block).iter().map(bytes).sum(),
        outputs_bytes: returned.into_iter().flat_map(|op| body.operands(op)).map(|value| bytes(&value)).sum(),
        weights_bytes,
        steps: reader.steps(),
        values: reader.values(),
        overlaps: reader.overlaps(),
    })
}

fn pool_report(pool: &MemoryPool, problem: &place::Problem) -> PoolReport {
    let mut lower_bound_bytes = place::lower_bound(problem);
    if pool.size_bytes > lower_bound_bytes {
        // The search proves a higher bound.
        let searched = place::place(problem, &place::PlannerOptions::default());
        lower_bound_bytes = searched.lower_bound_bytes.min(pool.size_bytes);
    }
    let proved_best = pool.size_bytes <= lower_bound_bytes;
    PoolReport {
        name: pool.name.clone(),
        size_bytes: pool.size_bytes,
        align: pool.align,
        capacity_bytes: pool.capacity,
        lower_bound_bytes,
        whole_tensor_bound_bytes: place::whole_tensor_bound(problem),
        proved_best,
        proved_for: proved_best.then_some(PROVED_FOR),
    }
}

/// The values of a plan in order, and where each is in that list.
#[derive(Default)]
struct ListedValues {
    all: Vec<ValueReport>,
    numbers: SecondaryMap<Value, Option<usize>>,
}

impl ListedValues {
    fn push(&mut self, value: Value, report: ValueReport) {
        self.numbers[value] = Some(self.all.len());
        self.all.push(report);
    }

    fn get(&self, value: Value) -> Option<&ValueReport> {
        self.numbers[value].map(|number| &self.all[number])
    }
}

struct PlanReader<'a> {
    ctx: &'a Context,
    body: &'a Body,
    block: Block,
    weights: WeightSet,
    aliases: AliasSets,
    steps: Steps,
    names: SecondaryMap<Value, String>,
    step_of: BTreeMap<Op, usize>,
    last: SecondaryMap<Value, usize>,
    /// The alias roots of returned values.
    outputs: EntitySet<Value>,
}

impl<'a> PlanReader<'a> {
    fn new(ctx: &'a Context, body: &'a Body, block: Block) -> PlanReader<'a> {
        let weights = WeightSet::of(ctx, body);
        let steps = Steps::of(ctx, body, &weights);
        let step_of = steps.iter().map(|(step, op)| (op, step.index())).collect();
        let names = names(body, block);
        let aliases = AliasSets::of(ctx, body);
        let ends = body.blocks(body.root()).iter().filter_map(|block| body.last_op(*block));
        let returns = ends.filter(|op| body.at(ctx, *op).has(Traits::RETURN));
        let returned = returns.flat_map(|op| body.operands(op));
        let mut outputs = EntitySet::new();
        outputs.extend(returned.map(|value| aliases.root(value)));
        let last = SecondaryMap::new();
        let mut reader =
            PlanReader { ctx, body, block, weights, aliases, steps, names, step_of, last, outputs };
        reader.find_last_readers();
        reader
    }

    /// The last step that reads each value, through views too.
    fn find_last_readers(&mut self) {
        let ops: Vec<Op> = self.body.ops(self.block).collect();
        for op in ops.into_iter().rev() {
            let end = self.steps.end().index();
            let read = match self.step_of.get(&op) {
                Some(step) => *step,
                None if self.body.at(self.ctx, op).has(Traits::TERMINATOR) => end,
                None => self.body.results(op).map(|result| self.last[result]).max().unwrap_or(0),
            };
            for operand in self.body.operands(op) {
                self.last[operand] = self.last[operand].max(read);
            }
        }
    }

    fn steps(&self) -> Vec<StepReport> {
        let steps = self.steps.iter();
        steps
            .map(|(step, op)| StepReport {
                index: step.index(),
                op: self.body.at(self.ctx, main_op(self.ctx, self.body, op)).name().to_owned(),
                name: self.ctx.location_name(self.body.location(op)).unwrap_or("").to_owned(),
            })
            .collect()
    }

    /// The results written over rows of an operand. A result written upwards begins above the operand: then
    /// it is the `input` of the relation, which is the one that must begin at least `min_distance_bytes`
    /// above the other.
    fn overlaps(&self) -> Vec<OverlapReport> {
        let steps = self.steps.iter().filter_map(|(_, op)| {
            let banding = Banding::of(self.body.at(self.ctx, op))?;
            let rows = OperandRows::of(self.ctx, self.body, op, banding.operand)?;
            let [read, written] = [self.body.operand(op, banding.operand), self.body.result(op, 0)]
                .map(|value| self.names[value].clone());
            let (input, output) =
                if banding.order == RowOrder::Down { (read, written) } else { (written, read) };
            // A result in place in wider rows begins at this offset in them.
            let first = self.aliases.window(self.body.result(op, 0))?.first as i64;
            let sign = if banding.order == RowOrder::Down { -1 } else { 1 };
            let min_distance_bytes = rows.distance(banding.rows, banding.order) + sign * first;
            let op = self.ctx.location_name(self.body.location(op)).unwrap_or("").to_owned();
            Some(OverlapReport { op, input, output, min_distance_bytes })
        });
        steps.collect()
    }

    fn naive_bytes(&self) -> u64 {
        let mut total = 0;
        for (_, op) in self.steps.iter() {
            let blocks = self.body.regions(op).iter().flat_map(|region| self.body.blocks(*region));
            let inner: Vec<Op> = blocks.flat_map(|block| self.body.ops(*block)).collect();
            total += self.scratch_bytes(op);
            let counted = if inner.is_empty() { vec![op] } else { inner };
            let results = counted.into_iter().flat_map(|op| self.body.results(op));
            total += results
                .map(|value| size::tensor_bytes(self.ctx, self.body.ty(value)).unwrap_or(0))
                .sum::<u64>();
        }
        total
    }

    fn scratch_bytes(&self, op: Op) -> u64 {
        attrs::scratch_bytes(self.body.at(self.ctx, op)).unwrap_or(0)
    }

    fn values(&self) -> Vec<ValueReport> {
        let mut values = ListedValues::default();
        for (index, &arg) in self.body.args(self.block).iter().enumerate() {
            let entry = self.entry(arg, 0, "input", index as u64, "input");
            values.push(arg, ValueReport { last: self.last[arg], ..entry });
        }
        for op in self.body.ops(self.block).filter(|op| !self.weights.is_weight_op(self.body, *op)) {
            match self.step_of.get(&op) {
                Some(step) => self.add_step(op, *step, &mut values),
                None => self.add_view(op, &mut values),
            }
        }
        values.all
    }

    fn entry(&self, value: Value, step: usize, pool: &str, offset: u64, kind: &'static str) -> ValueReport {
        ValueReport {
            name: self.names[value].clone(),
            step,
            pool: pool.to_owned(),
            offset,
            size_bytes: self.size_bytes(value),
            first: step,
            last: self.last[value].max(step),
            root: self.names[self.aliases.root(value)].clone(),
            kind,
            ty: Some(ir::text::type_text(self.ctx, self.body.ty(value))),
        }
    }

    /// Bytes from the first to the last; for an image with a pitch, including the padding of the last row.
    fn size_bytes(&self, value: Value) -> u64 {
        let root = self.aliases.root(value);
        let [bytes, all] = [value, root].map(|value| self.aliases.size_bytes(value).unwrap_or(0));
        match self.aliases.rows(root) {
            None => bytes,
            Some(_) if bytes == all => self.aliases.extent_bytes(root).unwrap_or(all),
            Some(_) => self.aliases.window(value).map_or(bytes, |window| window.hull().end - window.first),
        }
    }

    fn add_step(&self, op: Op, step: usize, values: &mut ListedValues) {
        let places =
            self.body.at(self.ctx, op).attr(attrs::MEM_PLACE).and_then(|attr| self.ctx.array_value(attr));
        let places = places.unwrap_or(&[]);
        for (result, place) in self.body.results(op).zip(places) {
            let (pool, offset, _) = self.place(*place);
            let is_output = self.outputs.contains(self.aliases.root(result));
            let kind = if is_output { "output" } else { "result" };
            values.push(result, self.entry(result, step, pool_name(pool), offset, kind));
        }
        if let Some(place) = places.get(self.body.result_count(op)) {
            let (pool, offset, size_bytes) = self.place(*place);
            let name = format!("scratch{step}");
            let (root, pool) = (name.clone(), pool.to_owned());
            values.all.push(ValueReport {
                name,
                step,
                pool,
                offset,
                size_bytes,
                first: step,
                last: step,
                root,
                kind: "scratch",
                ty: None,
            });
        }
    }

    /// A view is at its source's place. A concatenation with operands in place is at the place in the plan,
    /// and live since its last operand.
    fn add_view(&self, op: Op, values: &mut ListedValues) {
        if self.body.at(self.ctx, op).attr(attrs::MEM_PLACE).is_some() {
            let parts = self.body.operands(op).filter_map(|part| values.get(part));
            let step = parts.map(|part| part.step).max().unwrap_or(0);
            return self.add_step(op, step, values);
        }
        for result in self.body.results(op) {
            let operand = self.body.operand(op, 0);
            let first = |value| self.aliases.window(value).map_or(0, |window| window.first);
            let Some(base) = values.get(operand) else { continue };
            let (pool, step) = (base.pool.clone(), base.step);
            // A view of a view may begin before it, if it goes backwards.
            let offset =
                if is_planned(&pool) { base.offset + first(result) - first(operand) } else { base.offset };
            values.push(result, self.entry(result, step, &pool, offset, "result"));
        }
    }

    fn place(&self, place: Attr) -> (&'a str, u64, u64) {
        let entry = self.ctx.array_value(place).unwrap_or(&[]);
        let number =
            |index: usize| entry.get(index).and_then(|attr| self.ctx.int_value(*attr)).unwrap_or(0) as u64;
        let pool = entry.first().and_then(|attr| self.ctx.str_value(*attr)).unwrap_or("arena");
        // An output's index is no offset; an operand in place begins at its own offset.
        (pool, number(1) + if is_planned(pool) { number(3) } else { 0 }, number(2))
    }
}

/// Whether places in a pool are offsets: in the caller's memory they are indices of inputs and outputs.
fn is_planned(pool: &str) -> bool {
    !["in", "out", "input", "output"].contains(&pool)
}

fn pool_name(pool: &str) -> &str {
    match pool {
        "out" => "output",
        "in" => "input",
        other => other,
    }
}

/// The names of a function's values in its printed text.
pub(crate) fn names(body: &Body, block: Block) -> SecondaryMap<Value, String> {
    let mut names = SecondaryMap::new();
    for (index, arg) in body.args(block).iter().enumerate() {
        names[*arg] = format!("%arg{index}");
    }
    let with_results = body.ops(block).filter(|op| body.result_count(*op) > 0);
    for (number, op) in with_results.enumerate() {
        for (index, result) in body.results(op).enumerate() {
            names[result] = match body.result_count(op) {
                1 => format!("%{number}"),
                _ => format!("%{number}#{index}"),
            };
        }
    }
    names
}
