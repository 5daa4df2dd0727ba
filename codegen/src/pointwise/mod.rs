//! Machine code of pointwise steps: elementwise operations and groups of them.
//!
//! A step is an expression ([`expr`]) in a loop nest ([`nest`]). Generated functions have the kernels'
//! interface. The descriptor holds sizes and strides, so steps of the same form share one function at all
//! sizes. What lies between quantizations is computed by a kernel instead ([`quantized`]).

mod apart;
pub(crate) mod emit;
pub(crate) mod expr;
mod halves;
pub(crate) mod integers;
pub(crate) mod lanes;
pub(crate) mod nest;
mod quantized;
pub(crate) mod rows;
pub(crate) mod stages;
mod words;

use std::collections::{HashMap, HashSet};

use ir::body::OpRef;
use ir::opdef::{Access, Strided, View};
use ir::{Block, Kind, Op, Traits, Value};

use self::expr::{Expr, ExprBuilder, ExprNode, NodeOp};
use self::nest::{Inner, LoopNest, broadcast_strides};
use self::quantized::QuantizedSteps;
use self::rows::PartSplit;
use self::stages::PointwiseForm;
use crate::call::{KernelCode, Lowered, LoweredCall, Pointer};
use crate::elem::ElemType;
use crate::refusal::CodeRefusal;
use crate::row::Machine;
use crate::shape::{elem_of, known_layout, known_shape, moved_elem};

/// The call that runs a single elementwise operation.
pub(crate) fn lower_op(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let mut step = PointwiseStep::new(op)?;
    for (index, operand) in op.body.operands(op.op).enumerate() {
        step.bind(op, index, operand)?;
    }
    step.add(op)?;
    step.finish(&[op.result(0)], machine)
}

/// The call that runs a group of elementwise operations, and of views of its inputs.
pub(crate) fn lower_group(group: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let (step, yielded) = group_step(group)?;
    step.finish(&yielded, machine)
}

/// How result 0 of such a group may overwrite an operand: allowed if the operand is read only at the index
/// being written.
pub(crate) fn group_access(group: OpRef<'_>, operand: usize) -> Result<Access, CodeRefusal> {
    let (mut step, yielded) = group_step(group)?;
    for value in yielded {
        step.node(value)?;
    }
    Ok(step.access(operand, moved_elem(group, group.result(0))?))
}

/// A group's body as a step, and the values that it yields.
fn group_step(group: OpRef<'_>) -> Result<(PointwiseStep, Vec<Value>), CodeRefusal> {
    let region = group.body.regions(group.op)[0];
    let block = group.body.entry(region).ok_or_else(|| CodeRefusal::new("its body is empty"))?;
    let mut step = PointwiseStep::new(group)?;
    for (index, arg) in group.body.args(block).iter().enumerate() {
        step.bind(group, index, *arg)?;
    }
    let mut yielded = Vec::new();
    for op in needed(group, block) {
        let op = group.body.at(group.ctx, op);
        match op.kind() {
            Kind::Elementwise(_) => step.add(op)?,
            Kind::View(View::OfOperand(map)) => step.add_view(op, map)?,
            _ if op.has(Traits::YIELD) => yielded = op.body.operands(op.op).collect(),
            _ => {
                return Err(CodeRefusal::new(format!(
                    "`{}` in it is neither elementwise nor a view",
                    op.name()
                )));
            }
        }
    }
    Ok((step, yielded))
}

/// The terminator of a body and the operations that it depends on, in order: a form has no unused node.
fn needed(group: OpRef<'_>, block: Block) -> Vec<Op> {
    let mut read: HashSet<Value> = HashSet::new();
    let mut ops: Vec<Op> = group.body.ops(block).collect();
    ops.reverse();
    ops.retain(|op| {
        let is_yield = group.body.at(group.ctx, *op).has(Traits::YIELD);
        let is_needed = is_yield || group.body.results(*op).any(|result| read.contains(&result));
        read.extend(group.body.operands(*op).filter(|_| is_needed));
        is_needed
    });
    ops.reverse();
    ops
}

/// A pointwise step while its expression is built.
struct PointwiseStep {
    /// The shape of the results: the iterations.
    space: Vec<u64>,
    /// The strides of each result.
    results: Vec<Vec<i64>>,
    builder: ExprBuilder,
    values: HashMap<Value, ValueMeaning>,
    inputs: Vec<Input>,
}

/// The meaning of a value of the group.
#[derive(Clone)]
enum ValueMeaning {
    /// Elements of an operand, through views.
    Window { operand: usize, elem: ElemType, layout: Strided },
    /// A computed node, with its shape.
    Computed(ExprNode, Vec<u64>),
}

/// An operand as the loops read it.
struct Input {
    /// The value to read: the operand, or a view of it.
    value: Value,
    operand: usize,
    elem: ElemType,
    offset: i64,
    strides: Vec<i64>,
}

impl Input {
    fn window(&self) -> ElementWindow {
        let offset = self.offset as u64 * u64::from(self.elem.bytes());
        ElementWindow {
            place: Pointer::Operand(self.operand, offset),
            elem: self.elem,
            strides: self.strides.clone(),
        }
    }
}

impl PointwiseStep {
    fn new(op: OpRef<'_>) -> Result<PointwiseStep, CodeRefusal> {
        let space = known_shape(op, op.result(0))?;
        if (1..op.body.result_count(op.op)).any(|index| op.result_shape(index).as_ref() != Some(&space)) {
            return Err(CodeRefusal::new("its results differ in shape"));
        }
        let results = op.body.results(op.op).map(|result| Ok(known_layout(op, result)?.strides));
        let results = results.collect::<Result<_, CodeRefusal>>()?;
        let (builder, values, inputs) = (ExprBuilder::default(), HashMap::new(), Vec::new());
        Ok(PointwiseStep { space, results, builder, values, inputs })
    }

    /// Records that `value` is operand `index` of the step. It may be of a type that is only moved; `add`
    /// refuses to compute with that.
    fn bind(&mut self, op: OpRef<'_>, index: usize, value: Value) -> Result<(), CodeRefusal> {
        let elem = moved_elem(op, value)?;
        let layout = known_layout(op, op.operand(index))?;
        self.values.insert(value, ValueMeaning::Window { operand: index, elem, layout });
        Ok(())
    }

    fn add(&mut self, op: OpRef<'_>) -> Result<(), CodeRefusal> {
        op.body.operands(op.op).try_for_each(|operand| elem_of(op, operand).map(drop))?;
        let args: Result<Vec<ExprNode>, CodeRefusal> =
            op.body.operands(op.op).map(|operand| self.node(operand)).collect();
        let node = self.builder.apply(op, &args?)?;
        self.values.insert(op.result(0), ValueMeaning::Computed(node, known_shape(op, op.result(0))?));
        Ok(())
    }

    fn add_view(
        &mut self,
        op: OpRef<'_>,
        map: fn(OpRef<'_>, usize, &Strided) -> Option<Strided>,
    ) -> Result<(), CodeRefusal> {
        let shape = known_shape(op, op.result(0))?;
        let meaning = match self.values.get(&op.operand(0)).cloned() {
            Some(ValueMeaning::Window { operand, layout, .. }) => {
                let elem = moved_elem(op, op.result(0))?;
                let layout = map(op, 0, &layout)
                    .ok_or_else(|| CodeRefusal::new(format!("`{}` in it is no strided view", op.name())))?;
                ValueMeaning::Window { operand, elem, layout }
            }
            Some(ValueMeaning::Computed(node, had))
                if had == shape && op.has(Traits::SAME_ORDER) && self.keeps_elem(op, node) =>
            {
                ValueMeaning::Computed(node, shape)
            }
            _ => {
                return Err(CodeRefusal::new(format!("`{}` in it is a view of a computed value", op.name())));
            }
        };
        self.values.insert(op.result(0), meaning);
        Ok(())
    }

    /// Whether a view keeps the element type of a node.
    fn keeps_elem(&self, op: OpRef<'_>, node: ExprNode) -> bool {
        elem_of(op, op.result(0)).is_ok_and(|elem| elem == self.builder.elem(node))
    }

    /// The node of a value's element at each iteration.
    fn node(&mut self, value: Value) -> Result<ExprNode, CodeRefusal> {
        let meaning =
            self.values.get(&value).ok_or_else(|| CodeRefusal::new("it reads a value from outside"))?;
        match meaning {
            ValueMeaning::Computed(node, _) => Ok(*node),
            ValueMeaning::Window { operand, elem, layout } => {
                let strides = broadcast_strides(&layout.shape, &layout.strides, &self.space);
                let strides =
                    strides.ok_or_else(|| CodeRefusal::new("an operand does not broadcast to it"))?;
                let (operand, elem, offset) = (*operand, *elem, layout.offset);
                // Keyed by value: two values that happen to have equal layouts at these sizes remain two
                // inputs, as at all other sizes.
                let known = self.inputs.iter().position(|known| known.value == value);
                let index = known.unwrap_or_else(|| {
                    self.inputs.push(Input { value, operand, elem, offset, strides });
                    self.inputs.len() - 1
                });
                Ok(self.builder.add(elem, NodeOp::Input(index as u32)))
            }
        }
    }

    fn finish(mut self, results: &[Value], machine: &Machine) -> Result<Lowered, CodeRefusal> {
        let nodes: Result<Vec<ExprNode>, CodeRefusal> =
            results.iter().map(|result| self.node(*result)).collect();
        let nodes = nodes?;
        let expr = std::mem::take(&mut self.builder).finish();
        let results = nodes.iter().zip(&self.results).enumerate().map(|(index, (node, strides))| {
            let place = Pointer::Result(index, 0);
            (*node, ElementWindow { place, elem: expr.node(*node).elem, strides: strides.clone() })
        });
        let results: Vec<(ExprNode, ElementWindow)> = results.collect();
        let inputs: Vec<ElementWindow> = self.inputs.iter().map(Input::window).collect();
        let call = call(&self.space, expr, results, inputs, machine)?;
        Ok(Lowered::new("pointwise", vec![call]))
    }

    /// How result 0, of this element type, may overwrite an operand.
    fn access(&self, operand: usize, result: ElemType) -> Access {
        let strides = &self.results[0];
        let is_at_index = |input: &Input| {
            input.elem.bytes() == result.bytes()
                && input.offset == 0
                && (0..strides.len())
                    .all(|axis| self.space[axis] == 1 || input.strides[axis] == strides[axis])
        };
        let mut reads = self.inputs.iter().filter(|input| input.operand == operand).peekable();
        if reads.peek().is_some() && reads.all(is_at_index) { Access::SameIndex } else { Access::Never }
    }
}

/// Elements of an operand or result, at the given strides along each axis of the iterations.
#[derive(Clone, Debug)]
pub(crate) struct ElementWindow {
    /// The first element.
    pub(crate) place: Pointer,
    /// The element type.
    pub(crate) elem: ElemType,
    /// For each axis, the stride in elements.
    pub(crate) strides: Vec<i64>,
}

/// The call that computes an expression over `space`: nodes into results, from inputs (in the order of their
/// numbers).
pub(crate) fn call(
    space: &[u64],
    expr: Expr,
    results: Vec<(ExprNode, ElementWindow)>,
    inputs: Vec<ElementWindow>,
    machine: &Machine,
) -> Result<LoweredCall, CodeRefusal> {
    expr.nodes().try_for_each(|(_, data)| lanes::check(&expr, data))?;
    let windows: Vec<&ElementWindow> = results.iter().map(|result| &result.1).chain(&inputs).collect();
    let strides: Vec<Vec<i64>> = windows.iter().map(|window| window.strides.clone()).collect();
    let nest = LoopNest::collapse(space, &strides);
    let types: Vec<ElemType> = inputs.iter().map(|input| input.elem).collect();
    if let [(node, _)] = results[..]
        && let Some(steps) = QuantizedSteps::of(&expr, node, &types, space.len(), machine.isa)
    {
        return Ok(steps.call(&nest, &windows, machine));
    }
    let form = PointwiseForm {
        inner: (0..strides.len()).map(|operand| nest.inner(operand)).collect(),
        outer: nest.outer(),
        inputs: types,
        outputs: results.iter().map(|result| result.0).collect(),
        expr,
    };
    let parts = PartSplit::choose(&nest, form.cost(), machine.threads);
    let elem_bytes: Vec<u32> = windows.iter().map(|window| window.elem.bytes()).collect();
    // At smaller sizes other axes may collapse into the innermost loop, at most all of them.
    let most_scratch_bytes = form.most_scratch_bytes(space.iter().product());
    Ok(LoweredCall {
        descriptor: rows::descriptor(&nest, &elem_bytes, parts),
        parts: parts.count(),
        scratch_bytes: form.scratch_bytes(parts.chunk(&nest)),
        most_scratch_bytes,
        enough_scratch_bytes: most_scratch_bytes,
        operands: windows.iter().map(|window| window.place.clone()).collect(),
        code: KernelCode::Pointwise { form: Box::new(form), axes: space.len() },
    })
}

/// The form of a copy of contiguous elements.
pub(crate) fn copy_form(elem: ElemType) -> PointwiseForm {
    let mut builder = ExprBuilder::default();
    let node = builder.add(elem, NodeOp::Input(0));
    PointwiseForm {
        expr: builder.finish(),
        outputs: vec![node],
        inputs: vec![elem],
        outer: 0,
        inner: vec![Inner::Contiguous; 2],
    }
}

#[cfg(test)]
mod bytes_tests;
#[cfg(test)]
mod law_tests;
#[cfg(test)]
mod quantized_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod words_tests;
