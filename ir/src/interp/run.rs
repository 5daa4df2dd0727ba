//! Execution of a function on given arguments.
//!
//! Execution goes block by block. A block runs its operations in order and ends with the operands that its
//! terminator passes to the next block, or out of the region. An operation with regions runs them by calling
//! [`CallFrame::run_region`]. A value is dropped after its last reader in its own block (an operation that
//! reads it itself, or in a region). A value read in other blocks of a region stays until the end of the
//! function.

use cranelift_entity::{EntitySet, SecondaryMap};

use super::elementwise::elementwise;
use super::tensor::{EvalError, Tensor};
use crate::body::{Body, OpRef, ValueDef};
use crate::branch;
use crate::context::Context;
use crate::diag::{Diagnostic, did_you_mean};
use crate::entities::{Block, Location, Op, Region, Type, Value};
use crate::module::Module;
use crate::opdef::{Kind, Traits};
use crate::types::TypeData;

/// The maximal depth of calls.
const MAX_CALLS: usize = 256;

/// Runs the function called `function` of a module.
///
/// # Errors
/// If there is no such function, the inputs do not match its arguments, or an operation has no result; the
/// diagnostic names the operation and its place.
pub fn run(module: &Module, function: &str, inputs: &[Tensor]) -> Result<Vec<Tensor>, Diagnostic> {
    let (op, body) = find_function(module, function)
        .ok_or_else(|| missing_function(module, function, Location::UNKNOWN))?;
    let location = module.body().location(op);
    CallFrame::new(&module.ctx, body, CallPolicy::Into(module, 0)).run_function(location, inputs)
}

/// The results of one operation: an elementwise operation, a fused group, or one with an evaluation in its
/// row.
///
/// # Errors
/// If the operation is not registered, has effects or control flow beyond its own body, or its operands have
/// no result.
pub fn eval_op(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    match (op.kind(), op.def()) {
        (_, None) => Err("is not registered, so nothing says what it computes".into()),
        (Kind::Elementwise(tree), _) => Ok(vec![elementwise(op, tree, operands)?]),
        (Kind::Group, _) => {
            let mut frame = CallFrame::new(op.ctx, op.body, CallPolicy::Refused);
            let region = op.body.regions(op.op).first().ok_or("has no region")?;
            frame.run_region(*region, operands.to_vec()).map_err(|inner| EvalError(inner.message))
        }
        (_, Some(def)) => match def.eval {
            Some(eval) => eval(op, operands),
            None => Err("has no evaluation in its row".into()),
        },
    }
}

fn find_function<'m>(module: &'m Module, name: &str) -> Option<(Op, &'m Body)> {
    module.functions().find(|(_, body)| body.symbol(&module.ctx) == Some(name))
}

fn missing_function(module: &Module, name: &str, location: Location) -> Diagnostic {
    let names = module.functions().filter_map(|(_, body)| body.symbol(&module.ctx));
    let diagnostic = Diagnostic::error(location, format!("no function is called `@{name}`"));
    match did_you_mean(name, names) {
        Some(hint) => diagnostic.with_help(hint),
        None => diagnostic,
    }
}

/// Whether an operation may call functions.
#[derive(Clone, Copy)]
enum CallPolicy<'a> {
    /// It may call functions of this module; the number is that of the active calls.
    Into(&'a Module, usize),
    /// It may not call functions.
    Refused,
}

/// An active call of a function, or the evaluation of one operation.
pub(super) struct CallFrame<'a> {
    pub(super) ctx: &'a Context,
    pub(super) body: &'a Body,
    calls: CallPolicy<'a>,
    values: SecondaryMap<Value, Option<Tensor>>,
    /// The values whose last reader is the operation, for the blocks in `known_deaths`.
    deaths: SecondaryMap<Op, Vec<Value>>,
    known_deaths: EntitySet<Block>,
}

impl<'a> CallFrame<'a> {
    fn new(ctx: &'a Context, body: &'a Body, calls: CallPolicy<'a>) -> CallFrame<'a> {
        CallFrame {
            ctx,
            body,
            calls,
            values: SecondaryMap::new(),
            deaths: SecondaryMap::new(),
            known_deaths: EntitySet::new(),
        }
    }

    fn run_function(&mut self, location: Location, inputs: &[Tensor]) -> Result<Vec<Tensor>, Diagnostic> {
        let root = self.body.root();
        let entry = self.body.entry(root);
        let entry =
            entry.ok_or_else(|| Diagnostic::error(location, "a function without a body can't run"))?;
        let args = self.body.args(entry);
        if args.len() != inputs.len() {
            let message = format!("the function takes {} arguments, {} were given", args.len(), inputs.len());
            return Err(Diagnostic::error(location, message));
        }
        for (index, (arg, input)) in args.iter().zip(inputs).enumerate() {
            if !accepts(self.ctx, self.body.ty(*arg), input.ty) {
                let message = format!("the value given for argument {index} is of another type");
                return Err(Diagnostic::error(location, message));
            }
        }
        self.run_region(root, inputs.to_vec())
    }

    /// Runs a region with these arguments of its first block. Returns the operands of the terminator that
    /// leaves the region.
    pub(super) fn run_region(
        &mut self,
        region: Region,
        mut args: Vec<Tensor>,
    ) -> Result<Vec<Tensor>, Diagnostic> {
        let Some(mut block) = self.body.entry(region) else { return Ok(Vec::new()) };
        loop {
            for (arg, value) in self.body.args(block).iter().zip(args) {
                self.values[*arg] = Some(value);
            }
            let (last, operands) = self.run_block(block)?;
            let Some(last) = last.filter(|last| !self.body.successors(*last).is_empty()) else {
                return Ok(operands);
            };
            (block, args) = self.next_block(last, operands)?;
        }
    }

    /// Runs the operations of a block up to its terminator. Returns the terminator and its operands.
    fn run_block(&mut self, block: Block) -> Result<(Option<Op>, Vec<Tensor>), Diagnostic> {
        if self.known_deaths.insert(block) {
            note_deaths(self.body, block, &mut self.deaths);
        }
        for op in self.body.ops(block) {
            let operands = self.operands(op);
            if OpRef::new(self.ctx, self.body, op).has(Traits::TERMINATOR) {
                return Ok((Some(op), operands));
            }
            let results = self.step(op, operands)?;
            for (result, value) in self.body.results(op).zip(results) {
                self.values[result] = Some(value);
            }
            for value in &self.deaths[op] {
                self.values[*value] = None;
            }
        }
        Ok((None, Vec::new()))
    }

    /// The block that a terminator branches to, and the values of its arguments.
    fn next_block(&self, last: Op, operands: Vec<Tensor>) -> Result<(Block, Vec<Tensor>), Diagnostic> {
        let op = OpRef::new(self.ctx, self.body, last);
        let taken = branch::taken(op, operands.first()).map_err(|error| self.fault(op, error))?;
        let successor = self.body.successors(last).get(taken);
        let successor = successor.ok_or_else(|| self.fault(op, EvalError("lacks a block".into())))?;
        let first = successor.first_operand as usize;
        Ok((successor.block, operands[first..first + successor.operand_count as usize].to_vec()))
    }

    /// The reason why an operation has no result, with its place.
    pub(super) fn fault(&self, op: OpRef<'_>, error: EvalError) -> Diagnostic {
        Diagnostic::error(self.body.location(op.op), format!("`{}`: {}", op.name(), error.0))
    }

    fn operands(&self, op: Op) -> Vec<Tensor> {
        let operands = self.body.operands(op);
        let values =
            operands.map(|value| self.values[value].clone().expect("a value is computed before it is read"));
        values.collect()
    }

    fn step(&mut self, op: Op, operands: Vec<Tensor>) -> Result<Vec<Tensor>, Diagnostic> {
        let op_ref = OpRef::new(self.ctx, self.body, op);
        let results = match (op_ref.kind(), self.body.regions(op).first()) {
            (Kind::Group, Some(region)) => self.run_region(*region, operands)?,
            (Kind::Region(flow), _) => self.flow(op_ref, flow, operands)?,
            _ => eval_op(op_ref, &operands).map_err(|error| self.fault(op_ref, error))?,
        };
        assert_eq!(results.len(), self.body.result_count(op), "`{}` gives all its results", op_ref.name());
        Ok(results)
    }

    /// Runs a function of the module.
    pub(super) fn call(
        &self,
        location: Location,
        name: &str,
        operands: &[Tensor],
    ) -> Result<Vec<Tensor>, Diagnostic> {
        let CallPolicy::Into(module, depth) = self.calls else {
            return Err(Diagnostic::error(location, "a call is evaluated only while its module runs"));
        };
        if depth == MAX_CALLS {
            return Err(Diagnostic::error(location, format!("calls nest deeper than {MAX_CALLS}")));
        }
        let function = find_function(module, name);
        let (_, body) = function.ok_or_else(|| missing_function(module, name, location))?;
        CallFrame::new(self.ctx, body, CallPolicy::Into(module, depth + 1)).run_function(location, operands)
    }
}

/// Whether a value of type `given`, whose sizes are known, is one of type `wanted`.
fn accepts(ctx: &Context, wanted: Type, given: Type) -> bool {
    match (ctx.type_data(wanted), ctx.type_data(given)) {
        (TypeData::Tensor { shape, elem, .. }, TypeData::Tensor { shape: given, elem: given_elem, .. }) => {
            let fits = |(dim, given): (&crate::Dim, &crate::Dim)| dim.known().is_none() || dim == given;
            elem == given_elem && shape.len() == given.len() && shape.iter().zip(given).all(fits)
        }
        _ => wanted == given,
    }
}

/// Records the values of a block whose last read is by each of its operations, directly or in its regions.
fn note_deaths(body: &Body, block: Block, deaths: &mut SecondaryMap<Op, Vec<Value>>) {
    let results = body.ops(block).flat_map(|op| body.results(op));
    for value in body.args(block).iter().copied().chain(results) {
        if let Some(op) = last_reader(body, block, value) {
            deaths[op].push(value);
        }
    }
}

/// The last operation of `block` that reads `value`, directly or in its regions; the defining one if there is
/// none. None if another block of the region reads it.
fn last_reader(body: &Body, block: Block, value: Value) -> Option<Op> {
    let mut last = match body.def(value) {
        ValueDef::Result(op, _) => Some(op),
        ValueDef::Arg(..) => body.first_op(block),
    };
    for reader in body.uses(value) {
        let mut op = reader.op;
        while body.block_of(op) != Some(block) {
            op = body.parent_op(op)?;
        }
        if last.is_none_or(|last| body.is_before(last, op)) {
            last = Some(op);
        }
    }
    last
}
