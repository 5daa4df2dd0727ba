//! Checker of plans: runs the planned program symbolically, independently of the planner.
//!
//! It tracks which value each byte of memory holds. Each step first finds every operand whole where the plan
//! puts it, then writes scratch and results. A plan is refused if an operand was overwritten before its last
//! reader, was never written, or shares bytes with a result of the same step. The checker shares nothing with
//! the planner: no liveness, no alias sets, no live ranges. It walks views itself and derives on its own
//! which operands an operation may overwrite while it reads them. Branches and loops are interpreted
//! abstractly: at a join, only facts that hold on all incoming edges are kept, and loops are run to a
//! fixpoint. (The idea is that of register-allocation checkers: Rideau and Leroy 2010, regalloc2's
//! `checker`.) Time O(s log s) for s operands and results.

use ir::plan::attrs;
use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;
use ir::body::Decisions;
use ir::opdef::{Access, RegionFlow, Strided, Traits, View};
use ir::weights::WeightSet;
use ir::{Body, Context, Diagnostic, Kind, Op, Value, size};

use smallvec::SmallVec;

use memory::{CheckedMemory, Home, Homes, MemorySpace};
use views::Located;

mod control;
#[cfg(test)]
mod limits_tests;
mod lines;
mod memory;
mod memory_pools;
mod parts;
mod places;
#[cfg(test)]
mod pools_tests;
mod rows;
#[cfg(test)]
mod rows_tests;
mod states;
#[cfg(test)]
mod states_tests;
#[cfg(test)]
mod tests;
mod views;
#[cfg(test)]
mod views_tests;
#[cfg(test)]
mod windows_tests;

/// The message for a step without a place.
const UNPLACED: &str = "this step has no `mem.place`";

/// The operands of a step except weights, each with its index and home.
type OperandHomes = SmallVec<[(usize, Home); 2]>;

/// Checks the plan of a function; returns its faults, so an empty list means that it is right.
pub fn check(ctx: &Context, body: &Body) -> Vec<Diagnostic> {
    let Some(block) = body.entry(body.root()) else { return Vec::new() };
    let read = memory_pools::ranges(ctx, body).and_then(|pools| Ok((pools, ir::states::states(ctx, body)?)));
    let (pools, states) = match read {
        Ok(read) => read,
        Err(message) => return vec![Diagnostic::error(ir::Location::UNKNOWN, message)],
    };
    let mut checker = PlanChecker {
        ctx,
        body,
        weights: WeightSet::of(ctx, body),
        pools,
        states,
        output_bytes: Vec::new(),
        donated_bytes: Vec::new(),
        memory: CheckedMemory::default(),
        homes: Homes::default(),
        part_of: SecondaryMap::new(),
        faults: Vec::new(),
        said: BTreeSet::new(),
        read_last: None,
    };
    checker.enter(block);
    checker.run();
    checker.faults
}

struct PlanChecker<'a> {
    ctx: &'a Context,
    body: &'a Body,
    weights: WeightSet,
    /// The arena, then the other pools.
    pools: Vec<ir::memory_pools::MemoryPool>,
    states: Vec<ir::states::StateArgument>,
    output_bytes: Vec<u64>,
    /// The size of each donated input; none for inputs that the caller keeps.
    donated_bytes: Vec<Option<u64>>,
    memory: CheckedMemory,
    /// The homes of the results of steps and of the arguments.
    homes: Homes,
    /// For each operand in place in a concatenation, once that has run: the concatenation and the operand's
    /// rows.
    part_of: SecondaryMap<Value, Option<(Op, parts::ConcatRows)>>,
    faults: Vec<Diagnostic>,
    /// The faults reported so far, since loops are run several times.
    said: BTreeSet<(Op, String)>,
    /// The last parsed places; the next step often has the same.
    read_last: Option<(places::PlaceAttrs, places::StepHomes)>,
}

impl PlanChecker<'_> {
    fn enter(&mut self, block: ir::Block) {
        let attrs = self.body.own_attr(self.ctx, self.ctx.ident("arg_attrs"));
        let attrs = attrs.and_then(|attrs| self.ctx.array_value(attrs)).unwrap_or(&[]);
        let donated = self.ctx.ident(attrs::OPTC_DONATED);
        for (index, &arg) in self.body.args(block).iter().enumerate() {
            let bytes = size::tensor_bytes(self.ctx, self.body.ty(arg)).unwrap_or(0);
            let is_donated = attrs.get(index).is_some_and(|dict| self.ctx.dict_get(*dict, donated).is_some());
            self.donated_bytes.push(is_donated.then_some(bytes));
            let home = self.home_of_state(arg).unwrap_or(Home::dense(MemorySpace::Input(index), 0..bytes));
            self.memory.write(&home, Some(arg));
            self.homes.set(arg, &home);
        }
        let ends = self.body.blocks(self.body.root()).iter().filter_map(|block| self.body.last_op(*block));
        let end = ends.into_iter().find(|op| self.body.at(self.ctx, *op).has(Traits::RETURN));
        let outputs = end.into_iter().flat_map(|op| self.body.operands(op));
        self.output_bytes =
            outputs.map(|value| size::tensor_bytes(self.ctx, self.body.ty(value)).unwrap_or(0)).collect();
        let next = self.states.iter().filter_map(|state| state.result);
        next.for_each(|result| self.output_bytes.get_mut(result).into_iter().for_each(|bytes| *bytes = 0));
    }

    fn fault(&mut self, op: Op, message: String) {
        if self.said.insert((op, message.clone())) {
            self.faults.push(Diagnostic::error(self.body.location(op), message));
        }
    }

    fn step(&mut self, op: Op) {
        let op_ref = self.body.at(self.ctx, op);
        if self.body.result_count(op) > 0 && self.body.results(op).all(|result| self.weights.contains(result))
        {
            return;
        }
        match op_ref.kind() {
            Kind::Region(RegionFlow::If | RegionFlow::For | RegionFlow::While) => return self.control(op),
            _ if op_ref.has(Traits::RETURN) => return self.hand_over(op),
            _ if op_ref.has(Traits::TERMINATOR) => return,
            _ => {}
        }
        let result = self.body.results(op).next().filter(|_| matches!(op_ref.kind(), Kind::View(_)));
        let is_view =
            result.is_some_and(|result| self.view_source(result).is_some() || self.is_marked(result));
        let decided = op_ref.decisions();
        match self.parse_places(op, &decided) {
            _ if is_view && decided.place.is_some() => {
                self.fault(op, "this view has the bytes of its operand and no place of its own".into());
            }
            Ok(Some((results, scratch))) => self.execute(op, &decided, &results, scratch),
            Ok(None) if self.body.result_count(op) == 0 || is_view => {}
            Ok(None) => self.fault(op, UNPLACED.into()),
            Err(message) => self.fault(op, message),
        }
    }

    fn execute(&mut self, op: Op, decided: &Decisions, results: &[Home], scratch: Option<Home>) {
        let mut operands = OperandHomes::new();
        for (index, value) in self.body.operands(op).enumerate() {
            if !self.weights.contains(value) {
                operands.extend(self.find(op, index).map(|home| (index, home)));
            }
        }
        let ties = decided.tie.and_then(|ties| self.ctx.ints_in(ties)).into_iter().flatten();
        let ties: SmallVec<[i64; 4]> = ties.collect();
        self.check_pools(op, decided.pool, results);
        self.check_rows(op, decided.pitch, results);
        self.check_ties(op, &ties, results, &operands);
        let read = self.check_parts(op, decided.parts, results, operands);
        self.check_conflicts(op, decided, &ties, results, &read, scratch.as_ref());
        self.check_lines(op, scratch.as_ref());
        if let Some(home) = &scratch {
            self.memory.write(home, None);
        }
        for (result, home) in self.body.results(op).zip(results) {
            self.memory.write(home, Some(result));
            self.homes.set(result, home);
        }
    }

    /// The home of an operand; reports a fault if its bytes have been overwritten.
    fn find(&mut self, op: Op, index: usize) -> Option<Home> {
        let Located { home, content } = match self.locate(self.body.operand(op, index)) {
            Ok(found) => found,
            Err(fault) => {
                self.fault(op, format!("operand {index} {fault}"));
                return None;
            }
        };
        if !self.holds(&home, content) {
            self.fault(
                op,
                format!("the bytes of operand {index} are overwritten before this step reads them"),
            );
        }
        Some(home)
    }

    fn check_conflicts(
        &mut self,
        op: Op,
        decided: &Decisions,
        ties: &[i64],
        results: &[Home],
        operands: &[(usize, Home)],
        scratch: Option<&Home>,
    ) {
        for (result, home) in results.iter().enumerate() {
            if results[..result].iter().any(|other| other.meets(home)) {
                self.fault(op, format!("result {result} shares bytes with another result"));
            }
            if scratch.is_some_and(|scratch| scratch.meets(home)) {
                self.fault(op, format!("result {result} shares bytes with scratch"));
            }
            let tie = ties.get(result);
            let tie = operands.iter().find(|(index, _)| tie.is_some_and(|tie| *index as i64 == *tie));
            for (index, operand) in operands.iter().filter(|(_, operand)| operand.meets(home)) {
                if result == 0 && self.follows_rows(op, decided.overlap, *index, operand, home) {
                    continue;
                }
                if operand != home || !self.may_overwrite(op, result, *index) {
                    self.fault(op, format!("result {result} overwrites operand {index} while it is read"));
                } else if tie.is_none_or(|(_, tied)| tied != home) {
                    self.fault(op, format!("result {result} has the bytes of operand {index} without a tie"));
                }
            }
        }
        for (index, operand) in operands {
            if scratch.is_some_and(|scratch| scratch.meets(operand)) {
                self.fault(op, format!("scratch overwrites operand {index}"));
            }
        }
    }

    fn check_ties(&mut self, op: Op, ties: &[i64], results: &[Home], operands: &[(usize, Home)]) {
        for (result, tie) in ties.iter().enumerate().filter(|(_, tie)| **tie >= 0) {
            let operand = operands.iter().find(|(index, _)| *index as i64 == *tie).map(|(_, home)| home);
            let is_empty = |home: Option<&Home>| home.is_some_and(|home| home.bytes.is_empty());
            if operand.is_none() || operand != results.get(result) && !is_empty(operand) {
                self.fault(op, format!("result {result} is tied to operand {tie} but placed elsewhere"));
            }
        }
    }

    fn hand_over(&mut self, op: Op) {
        for index in 0..self.body.operand_count(op) {
            let Some(home) = self.find(op, index) else { continue };
            let outside = Home::dense(MemorySpace::Output(index), 0..self.output_bytes[index]);
            match self.home_of_next(index) {
                Some(place) if home != place => {
                    self.fault(op, format!("result {index} of the function is not in its state's place"));
                }
                None if home != outside => {
                    self.fault(op, format!("result {index} of the function is not in the caller's buffer"));
                }
                _ => {}
            }
        }
        self.check_kept_states(op);
    }

    /// The value that owns a value's bytes, through views without a place of their own, and the offset in it
    /// in bytes.
    fn source(&self, value: Value) -> (Value, u64) {
        let (mut value, mut offset) = (value, 0);
        while self.homes.get(value).is_none() {
            let Some((operand, bytes)) = self.view_source(value) else { break };
            (value, offset) = (operand, offset + bytes);
        }
        (value, offset)
    }

    /// The operand of a dense view, and the byte at which the view begins in it.
    fn view_source(&self, value: Value) -> Option<(Value, u64)> {
        let op = self.body.at(self.ctx, self.body.defining_op(value)?);
        let Kind::View(View::OfOperand(layout)) = op.kind() else { return None };
        if op.attr(attrs::MEM_COPY).is_some() && !op.has(Traits::SAME_ORDER) {
            return None;
        }
        let shape = size::static_extents(self.ctx, op.operand_type(0))?;
        let window = layout(op, 0, &Strided::row_major(0, shape))?;
        let is_empty = window.shape.contains(&0);
        let mut expected = 1;
        for (size, stride) in window.shape.iter().zip(&window.strides).rev() {
            if *size > 1 && *stride != expected && !is_empty {
                return None;
            }
            expected *= *size as i64;
        }
        let elem_bytes = size::storage_bytes(self.ctx, self.ctx.elem(op.operand_type(0)), 1)?;
        let offset = if is_empty { 0 } else { u64::try_from(window.offset).ok()? };
        Some((op.operand(0), offset * elem_bytes))
    }

    /// Whether `op` reads each element of an operand only for the result's element at the same position, and
    /// before it writes that.
    fn may_overwrite(&self, op: Op, result: usize, operand: usize) -> bool {
        let op_ref = self.body.at(self.ctx, op);
        let same_size = || op_ref.operand_shape(operand) == op_ref.result_shape(result);
        match op_ref.kind() {
            Kind::Elementwise(_) => same_size(),
            Kind::Group => same_size() && self.is_read_at_the_end(op, operand),
            _ => op_ref.def().is_some_and(|def| def.access(result, operand) != Access::Never),
        }
    }

    /// Whether a group's body reads an argument only through operations that may overwrite it and whose
    /// results have its shape, all the way to the group's result.
    fn is_read_at_the_end(&self, group: Op, operand: usize) -> bool {
        let body = self.body;
        let Some(block) = body.regions(group).first().and_then(|region| body.entry(*region)) else {
            return false;
        };
        let mut reached = vec![body.args(block)[operand]];
        for op in body.ops(block) {
            if !body.operands(op).any(|value| reached.contains(&value)) {
                continue;
            }
            let op_ref = body.at(self.ctx, op);
            if op_ref.has(Traits::YIELD) {
                continue;
            }
            let mut read =
                (0..op_ref.operand_count()).filter(|index| reached.contains(&op_ref.operand(*index)));
            let may_overwrite = |index| op_ref.def().is_some_and(|def| def.access(0, index) != Access::Never);
            let is_kept_up = read.all(may_overwrite);
            if !is_kept_up || op_ref.result_shape(0) != body.at(self.ctx, group).operand_shape(operand) {
                return false;
            }
            reached.extend(body.results(op));
        }
        true
    }
}
