//! Expressions between quantizations, as the steps of a kernel.
//!
//! Where bytes are dequantized, computed with, and quantized again, there are many operations for each byte
//! that is read or written, and the kernel's vectors are longer than those of generated code. Whether the
//! kernel computes an expression depends on the expression, the number of axes and the CPU alone, so that an
//! operation has the same code at all sizes.

use ir::scalar::{Binary, Unary};
use kernels::{
    ByteSign, Isa, Requantization, Requantize, RequantizeStep, StepFunction, StepNumber, StepSource,
};

use super::ElementWindow;
use super::expr::{Expr, ExprNode, NodeData, NodeOp};
use super::nest::LoopNest;
use crate::call::LoweredCall;
use crate::elem::ElemType;
use crate::row::Machine;

/// The fewest steps: a conversion alone, which is memory's work, is left to generated code.
const LEAST_STEPS: usize = 3;

/// An expression as steps.
pub(super) struct QuantizedSteps {
    steps: Vec<RequantizeStep>,
    operands: Vec<StepNumber>,
    output: StepNumber,
}

impl QuantizedSteps {
    /// The steps that compute a node from inputs of these types, over `axes` axes; none if the kernel cannot,
    /// if there are no bytes, or where it is not faster: with AVX2 it takes 0.95 to 1.05 of the time of
    /// generated code (whole networks, on an AMD EPYC (Zen 4)).
    pub(super) fn of(
        expr: &Expr,
        node: ExprNode,
        inputs: &[ElemType],
        axes: usize,
        isa: Isa,
    ) -> Option<QuantizedSteps> {
        let has_bytes = expr.nodes().any(|(_, data)| data.elem.byte_sign().is_some());
        if !has_bytes || axes > Requantize::MOST_AXES || isa == Isa::Avx2 {
            return None;
        }
        let operands: Vec<StepNumber> =
            inputs.iter().map(|elem| step_number(*elem)).collect::<Option<_>>()?;
        let mut search = StepSearch { expr, steps: Vec::new(), is_aside: false };
        search.compute(node)?;
        let mut steps = search.steps;
        if steps.len() < LEAST_STEPS {
            return None;
        }
        let elem = expr.node(node).elem;
        if let Some(sign) = elem.byte_sign() {
            // The store does the same.
            steps.pop_if(|step| *step == RequantizeStep::Byte(sign))?;
        }
        let output = step_number(elem)?;
        let found = QuantizedSteps { steps, operands, output };
        found.what().is_possible().then_some(found)
    }

    fn what(&self) -> Requantization<'_> {
        Requantization { steps: &self.steps, operands: &self.operands, output: self.output }
    }

    /// The call of the kernel; windows are those of the result and the inputs.
    pub(super) fn call(&self, nest: &LoopNest, windows: &[&ElementWindow], machine: &Machine) -> LoweredCall {
        let sizes: Vec<usize> = nest.sizes.iter().map(|size| *size as usize).collect();
        let kernel = Requantize::new(&self.what(), &sizes, &nest.strides, machine.isa, machine.threads);
        LoweredCall::kernel(&kernel, windows.iter().map(|window| window.place.clone()).collect())
    }
}

/// The kernel's type of elements.
fn step_number(elem: ElemType) -> Option<StepNumber> {
    match elem.byte_sign() {
        Some(ByteSign::Signed) => Some(StepNumber::I8),
        Some(ByteSign::Unsigned) => Some(StepNumber::U8),
        None => (elem == ElemType::F32).then_some(StepNumber::F32),
    }
}

/// A search for the steps that compute an expression, operands first.
struct StepSearch<'e> {
    expr: &'e Expr,
    steps: Vec<RequantizeStep>,
    /// Whether a value that is still needed is set aside.
    is_aside: bool,
}

impl StepSearch<'_> {
    /// Adds the steps after which a node's element is the value, bytes as the floats that they stand for.
    fn compute(&mut self, node: ExprNode) -> Option<()> {
        if let Some(source) = self.source(node) {
            self.steps.push(RequantizeStep::Load(source));
            return Some(());
        }
        let NodeData { elem, op } = self.expr.node(node);
        match op {
            NodeOp::Unary(Unary::RoundEven, a) if elem == ElemType::F32 => {
                self.compute(a)?;
                self.steps.push(RequantizeStep::Round);
            }
            NodeOp::Binary(function, a, b) if elem == ElemType::F32 => self.apply(function, a, b)?,
            NodeOp::Convert(a) => {
                self.compute(a)?;
                let from = self.expr.node(a).elem;
                match (elem.byte_sign(), from.byte_sign()) {
                    (Some(sign), None) if from == ElemType::F32 => self.cut(sign),
                    (None, Some(_)) if elem == ElemType::F32 => {}
                    _ => return None,
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// A node that a step can read: an input, as floats, or a number.
    fn source(&self, node: ExprNode) -> Option<StepSource> {
        let NodeData { elem: ElemType::F32, op } = self.expr.node(node) else { return None };
        match op {
            NodeOp::Input(input) => Some(StepSource::Operand(input)),
            NodeOp::Const(bits) => Some(StepSource::Number(f32::from_bits(bits as u32))),
            NodeOp::Convert(a) => match self.expr.node(a) {
                NodeData { elem, op: NodeOp::Input(input) } => {
                    elem.byte_sign().map(|_| StepSource::Operand(input))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Adds the steps of a function of two nodes.
    fn apply(&mut self, function: Binary, a: ExprNode, b: ExprNode) -> Option<()> {
        if let Some(number) = self.source(a) {
            self.compute(b)?;
            self.steps.push(RequantizeStep::Apply(after_number(function)?, number));
            return Some(());
        }
        if let Some(number) = self.source(b) {
            self.compute(a)?;
            self.steps.push(RequantizeStep::Apply(before_number(function)?, number));
            return Some(());
        }
        // One value at a time can be set aside; and what both sides share would be computed twice.
        if self.is_aside || a == b {
            return None;
        }
        self.compute(a)?;
        self.steps.push(RequantizeStep::SetAside);
        self.is_aside = true;
        self.compute(b)?;
        self.is_aside = false;
        self.steps.push(RequantizeStep::Apply(after_number(function)?, StepSource::Aside));
        Some(())
    }

    /// Adds the cut to a byte. A clip before it that is no narrower has no effect.
    fn cut(&mut self, sign: ByteSign) {
        let [least, most] = match sign {
            ByteSign::Unsigned => [0.0, 255.0],
            ByteSign::Signed => [-128.0, 127.0],
        };
        let is_vain = |step: &RequantizeStep| match step {
            RequantizeStep::Apply(StepFunction::Max, StepSource::Number(lo)) => *lo <= least,
            RequantizeStep::Apply(StepFunction::Min, StepSource::Number(hi)) => *hi >= most,
            _ => false,
        };
        while self.steps.last().is_some_and(is_vain) {
            self.steps.pop();
        }
        self.steps.push(RequantizeStep::Byte(sign));
    }
}

/// A function of a number and the value, in this order.
fn after_number(function: Binary) -> Option<StepFunction> {
    Some(match function {
        Binary::Add => StepFunction::Add,
        Binary::Sub => StepFunction::SubFrom,
        Binary::Mul => StepFunction::Mul,
        Binary::Div => StepFunction::DivInto,
        Binary::Max => StepFunction::Max,
        Binary::Min => StepFunction::Min,
        _ => return None,
    })
}

/// A function of the value and a number, in this order. The kernel has no maximum in this order, whose zeros
/// and NaN would differ.
fn before_number(function: Binary) -> Option<StepFunction> {
    Some(match function {
        Binary::Add => StepFunction::Add,
        Binary::Sub => StepFunction::Sub,
        Binary::Mul => StepFunction::Mul,
        Binary::Div => StepFunction::Div,
        _ => return None,
    })
}
