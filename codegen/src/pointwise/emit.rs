//! How the form of a pointwise step is compiled to a function with the kernels' interface.
//!
//! ```text
//! (descriptor, operands, part, scratch):
//!   for each row of this part: operand pointers of the row; for each strip: stages (loop, calls)
//! ```
//! The loops around the innermost are [`OuterLoops`].

use super::apart::{self, NodeValue};
use super::expr::{ExprNode, NodeData, NodeOp};
use super::lanes::{LaneLowering, Lanes, has_vector_form};
use super::nest::Inner;
use super::rows::{DescriptorLayout, OuterLoops, word};
use super::stages::{LoopSchedule, Plan, PointwiseForm, STRIP, StripStorage, VectorCall};
use super::words::{self, has_lanes};
use crate::cranelift::{Emitter, FunctionNumber, ImageBuilder, InstBuilder, PLAIN, Value, types};
use crate::elem::ElemType;

/// Compiles a form.
pub(crate) fn emit(image: &mut ImageBuilder, name: &str, form: &PointwiseForm) -> FunctionNumber {
    let pointer = image.pointer();
    let signature = image.signature(&[pointer, pointer, types::I32, pointer], &[]);
    image.define(name, signature, |emitter| {
        let layout = DescriptorLayout { outer: form.outer };
        let schedule = form.schedule();
        OuterLoops { layout, count: form.inner.len() }.emit(emitter, |e, bases, start, end| {
            InnermostLoop { form, layout, bases }.emit(e, &schedule, start, end);
        });
        emitter.ins.ins().return_(&[]);
    })
}

/// The innermost loop of a row.
struct InnermostLoop<'f> {
    form: &'f PointwiseForm,
    layout: DescriptorLayout,
    /// The start of each operand's row.
    bases: Vec<Value>,
}

impl InnermostLoop<'_> {
    fn emit(&self, e: &mut Emitter<'_>, schedule: &LoopSchedule, start: Value, end: Value) {
        match schedule {
            LoopSchedule::Scalar => {
                let sinks: Vec<_> = self
                    .form
                    .outputs
                    .iter()
                    .enumerate()
                    .map(|(k, node)| (*node, StripStorage::Output(k)))
                    .collect();
                let reader = NodeReader::new(self, e, &[], 0, vec![]);
                e.count(start, end, 1, |e, i| reader.store_all(e, Lanes::One, &sinks, i, 0));
            }
            LoopSchedule::Vector(plan) if plan.has_calls() => self.strips(e, plan, start, end),
            LoopSchedule::Vector(plan) => self.stage(e, plan, 0, start, end, start),
        }
    }

    /// Runs all stages on one strip after the other; the last strip may be shorter.
    fn strips(&self, e: &mut Emitter<'_>, plan: &Plan, start: Value, end: Value) {
        let strip = e.int(STRIP);
        let length = e.ins.ins().isub(end, start);
        let rounded = e.ins.ins().iadd_imm_s(length, STRIP - 1);
        let count = e.ins.ins().udiv(rounded, strip);
        let zero = e.int(0);
        e.count(zero, count, 1, |e, index| {
            let before = e.ins.ins().imul_imm_s(index, STRIP);
            let first = e.ins.ins().iadd(start, before);
            let last = e.ins.ins().iadd_imm_s(first, STRIP);
            let last = e.ins.ins().smin(last, end);
            for (number, stage) in plan.stages.iter().enumerate() {
                if !stage.sinks.is_empty() {
                    self.stage(e, plan, number, first, last, first);
                }
                for call in &stage.calls {
                    self.call(e, call, first, last);
                }
            }
        });
    }

    /// The loop of one stage over `first..last`: by sixteen (unless elements are handled one by one), by
    /// four, then by one.
    fn stage(
        &self,
        e: &mut Emitter<'_>,
        plan: &Plan,
        number: usize,
        first: Value,
        last: Value,
        origin: Value,
    ) {
        let distance = e.ins.ins().imul_imm_s(origin, 4);
        let begins: Vec<Value> = (0..plan.strips).map(|index| strip(e, index)).collect();
        let strips = begins.into_iter().map(|begin| e.ins.ins().isub(begin, distance)).collect();
        let reader = NodeReader::new(self, e, &plan.kept, number, strips);
        let sinks = &plan.stages[number].sinks;
        let mut i = first;
        if !self.form.takes_apart() {
            i = e.count(i, last, 16, |e, i| {
                for unrolled in 0..4 {
                    reader.store_all(e, Lanes::Four, sinks, i, 4 * unrolled);
                }
            });
        }
        let i = e.count(i, last, 4, |e, i| reader.store_all(e, Lanes::Four, sinks, i, 0));
        e.count(i, last, 1, |e, i| reader.store_all(e, Lanes::One, sinks, i, 0));
    }

    /// Calls a vector function on the elements `first..last` of a row.
    fn call(&self, e: &mut Emitter<'_>, call: &VectorCall, first: Value, last: Value) {
        let callee = e.import(call.function, &[types::I64; 4], &[]);
        let mut address = |slot| match slot {
            StripStorage::Strip(index) => strip(e, index),
            StripStorage::Output(index) => element(e, self.bases[index], first),
            StripStorage::Input(index) => element(e, self.bases[self.form.outputs.len() + index], first),
        };
        let [to, from, with] = [call.to, call.from[0], call.from[1]].map(&mut address);
        let count = e.ins.ins().isub(last, first);
        e.ins.ins().call(callee, &[to, from, with, count]);
    }
}

/// The start of a strip. Strips have as many elements as a part of a row, at most [`STRIP`].
fn strip(e: &mut Emitter<'_>, index: usize) -> Value {
    let scratch = e.param(3);
    let chunk = word(e, DescriptorLayout::CHUNK);
    let most = e.int(STRIP);
    let elements = e.ins.ins().smin(chunk, most);
    let distance = e.ins.ins().imul_imm_s(elements, 4 * index as i64);
    e.ins.ins().iadd(scratch, distance)
}

/// The address of element `i` of a row of `f32`.
fn element(e: &mut Emitter<'_>, base: Value, i: Value) -> Value {
    let distance = e.ins.ins().ishl_imm_u(i, 2);
    e.ins.ins().iadd(base, distance)
}

/// Where a loop reads its nodes.
struct NodeReader<'i> {
    inside: &'i InnermostLoop<'i>,
    kept: Vec<Option<usize>>,
    /// For each strip, the address that element 0 of the row would have in it.
    strips: Vec<Value>,
    /// For each input that is constant along the loop, its element.
    splats: Vec<Option<Value>>,
    /// For each operand (results first), its stride in bytes if that is in the descriptor.
    distances: Vec<Option<Value>>,
}

impl<'i> NodeReader<'i> {
    fn new(
        inside: &'i InnermostLoop<'i>,
        e: &mut Emitter<'_>,
        kept: &[Option<super::stages::ReadableNode>],
        stage: usize,
        strips: Vec<Value>,
    ) -> NodeReader<'i> {
        let form = inside.form;
        let mut splats = Vec::new();
        for (input, elem) in form.inputs.iter().enumerate() {
            let base = inside.bases[form.outputs.len() + input];
            let is_splat = form.input_inner(input) == Inner::Splat;
            splats.push(is_splat.then(|| e.ins.ins().load(elem.clif(), PLAIN, base, 0)));
        }
        let mut distances = Vec::new();
        for (operand, inner) in form.inner.iter().enumerate() {
            let index = inside.layout.stride(operand, form.outer);
            distances.push((*inner == Inner::Strided).then(|| word(e, index)));
        }
        let kept = kept.iter().map(|kept| kept.filter(|kept| kept.after < stage).map(|kept| kept.strip));
        NodeReader { inside, kept: kept.collect(), strips, splats, distances }
    }

    /// Computes and stores elements `i + ahead ..` of all sinks.
    fn store_all(
        &self,
        e: &mut Emitter<'_>,
        lanes: Lanes,
        sinks: &[(ExprNode, StripStorage)],
        i: Value,
        ahead: i64,
    ) {
        let mut values: Vec<Option<NodeValue>> = vec![None; self.inside.form.expr.nodes().count()];
        let mut results = Vec::new();
        for (node, _) in sinks {
            results.push(self.value(e, lanes, *node, i, ahead, &mut values));
        }
        for ((node, slot), value) in sinks.iter().zip(results) {
            let elem = self.inside.form.expr.node(*node).elem;
            let (address, offset) = match slot {
                StripStorage::Strip(index) => {
                    self.address(e, self.strips[*index], None, ElemType::F32, i, ahead)
                }
                StripStorage::Output(index) => {
                    self.address(e, self.inside.bases[*index], self.distances[*index], elem, i, ahead)
                }
                StripStorage::Input(_) => unreachable!("inputs are not written"),
            };
            match (lanes, value) {
                (Lanes::Four, NodeValue::Register(four)) => words::store(e, elem, four, address, offset),
                (Lanes::One, NodeValue::Register(one)) => {
                    e.ins.ins().store(PLAIN, one, address, offset);
                }
                (_, NodeValue::Apart(elements)) => {
                    for (index, element) in elements.into_iter().enumerate() {
                        let offset = offset + index as i32 * elem.bytes() as i32;
                        e.ins.ins().store(PLAIN, element, address, offset);
                    }
                }
            }
        }
    }

    fn value(
        &self,
        e: &mut Emitter<'_>,
        lanes: Lanes,
        node: ExprNode,
        i: Value,
        ahead: i64,
        values: &mut Vec<Option<NodeValue>>,
    ) -> NodeValue {
        if let Some(value) = values[node.0 as usize] {
            return value;
        }
        let data = self.inside.form.expr.node(node);
        let value = if let Some(strip) = self.kept.get(node.0 as usize).copied().flatten() {
            let (address, offset) = self.address(e, self.strips[strip], None, ElemType::F32, i, ahead);
            NodeValue::Register(e.ins.ins().load(lanes.clif(data.elem), PLAIN, address, offset))
        } else if let NodeOp::Input(input) = data.op {
            self.input(e, lanes, input as usize, i, ahead)
        } else {
            let args: Vec<NodeValue> =
                data.op.operands().map(|operand| self.value(e, lanes, operand, i, ahead, values)).collect();
            self.computed(e, lanes, data, &args)
        };
        values[node.0 as usize] = Some(value);
        value
    }

    /// A node's value, given its operands'.
    fn computed(&self, e: &mut Emitter<'_>, lanes: Lanes, data: NodeData, args: &[NodeValue]) -> NodeValue {
        let expr = &self.inside.form.expr;
        let elems = || data.op.operands().map(|operand| expr.node(operand).elem);
        if lanes == Lanes::One || has_vector_form(expr, data) {
            let args = args.iter().zip(elems()).map(|(arg, elem)| arg.together(e, elem));
            let args: Vec<Value> = args.collect();
            return NodeValue::Register(LaneLowering { emitter: e, lanes }.node(expr, data, &args));
        }
        let args = args.iter().zip(elems()).map(|(arg, elem)| arg.apart(e, elem));
        let args: Vec<[Value; 4]> = args.collect();
        NodeValue::Apart([0, 1, 2, 3].map(|index| {
            let args: Vec<Value> = args.iter().map(|arg| arg[index]).collect();
            LaneLowering { emitter: e, lanes: Lanes::One }.node(expr, data, &args)
        }))
    }

    fn input(&self, e: &mut Emitter<'_>, lanes: Lanes, input: usize, i: Value, ahead: i64) -> NodeValue {
        let elem = self.inside.form.inputs[input];
        if let Some(element) = self.splats[input] {
            return match lanes {
                Lanes::One => NodeValue::Register(element),
                Lanes::Four if has_lanes(elem) => NodeValue::Register(apart::repeat(e, elem, element)),
                Lanes::Four => NodeValue::Apart([element; 4]),
            };
        }
        let operand = self.inside.form.outputs.len() + input;
        let (base, distance) = (self.inside.bases[operand], self.distances[operand]);
        let (address, offset) = self.address(e, base, distance, elem, i, ahead);
        match (lanes, distance) {
            (Lanes::One, _) => NodeValue::Register(e.ins.ins().load(elem.clif(), PLAIN, address, offset)),
            (Lanes::Four, None) if has_lanes(elem) => {
                NodeValue::Register(words::load(e, elem, address, offset))
            }
            (Lanes::Four, distance) => {
                let distance = distance.unwrap_or_else(|| e.int(i64::from(elem.bytes())));
                let mut next = address;
                NodeValue::Apart([0, 1, 2, 3].map(|_| {
                    let element = e.ins.ins().load(elem.clif(), PLAIN, next, offset);
                    next = e.ins.ins().iadd(next, distance);
                    element
                }))
            }
        }
    }

    /// The address and constant offset of element `i + ahead` of a row. (For strided operands, `ahead` is 0.)
    fn address(
        &self,
        e: &mut Emitter<'_>,
        base: Value,
        distance: Option<Value>,
        elem: ElemType,
        i: Value,
        ahead: i64,
    ) -> (Value, i32) {
        let bytes = i64::from(elem.bytes());
        let advance = match distance {
            Some(distance) => e.ins.ins().imul(i, distance),
            None => e.ins.ins().ishl_imm_u(i, i64::from(bytes.trailing_zeros())),
        };
        (e.ins.ins().iadd(base, advance), (ahead * bytes) as i32)
    }
}
