//! Instruction selection for one node of an expression, on one element or on four lanes.
//!
//! The bits are those of the interpreter. A truth value is a byte 0 or 1 on one element, and a 32-bit mask on
//! four lanes.

use ir::scalar::{Binary, Unary};

use super::expr::{Expr, NodeData, NodeOp, is_comparison};
use super::words::{self, has_float_lanes, has_lanes};
use super::{apart, integers};
use crate::cranelift::{Clif, Emitter, FloatCC, InstBuilder, Value, types};
use crate::elem::ElemType;
use crate::functions;
use crate::refusal::CodeRefusal;

/// The number of elements that an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// One, of any type.
    One,
    /// Four, of at most 32 bits each: `f32` (also for `bf16`), or integers (see [`words`]).
    Four,
}

impl Lanes {
    /// The type of a value in registers.
    pub(crate) fn clif(self, elem: ElemType) -> Clif {
        match self {
            Lanes::One => elem.clif(),
            Lanes::Four if has_float_lanes(elem) => types::F32X4,
            Lanes::Four => types::I32X4,
        }
    }
}

/// Whether the node can be computed on four lanes without a call. Otherwise its elements are computed one by
/// one: see [`apart`].
pub(crate) fn has_vector_form(expr: &Expr, data: NodeData) -> bool {
    if !has_lanes(data.elem) || !data.op.operands().all(|operand| has_lanes(expr.node(operand).elem)) {
        return false;
    }
    match data.op {
        NodeOp::Input(_) | NodeOp::Const(_) => true,
        NodeOp::Select(..) | NodeOp::Convert(_) | NodeOp::Fma(..) => true,
        NodeOp::Unary(function, _) => !data.elem.is_float() || has_instruction(function),
        NodeOp::Binary(function, a, _) if expr.node(a).elem.is_float() => is_instruction(function),
        NodeOp::Binary(function, ..) => words::has_binary(function),
    }
}

/// Whether the node can be computed at all.
///
/// # Errors
/// With the reason, if not.
pub(crate) fn check(expr: &Expr, data: NodeData) -> Result<(), CodeRefusal> {
    let of_floats = data.elem.is_float();
    let fits = match data.op {
        NodeOp::Unary(Unary::Not, _) => !of_floats,
        NodeOp::Unary(Unary::Neg | Unary::Abs, _) => data.elem != ElemType::Bool,
        NodeOp::Unary(function, _) => {
            of_floats && (has_instruction(function) || functions::unary_name(function, data.elem).is_some())
        }
        NodeOp::Fma(..) => of_floats,
        NodeOp::Binary(function, a, _) => has_binary(function, expr.node(a).elem),
        NodeOp::Select(cond, ..) => expr.node(cond).elem == ElemType::Bool,
        NodeOp::Input(_) | NodeOp::Const(_) | NodeOp::Convert(_) => true,
    };
    let reason = || format!("{} is not generated for elements of `{}`", name(data.op), data.elem);
    if fits { Ok(()) } else { Err(CodeRefusal::new(reason())) }
}

/// The name of a node's function in a message.
pub(crate) fn name(op: NodeOp) -> String {
    match op {
        NodeOp::Unary(function, _) => format!("{function:?}").to_lowercase(),
        NodeOp::Binary(function, ..) => format!("{function:?}").to_lowercase(),
        NodeOp::Fma(..) => "fma".to_owned(),
        NodeOp::Select(..) => "select".to_owned(),
        NodeOp::Input(_) => "an operand".to_owned(),
        NodeOp::Const(_) => "a constant".to_owned(),
        NodeOp::Convert(_) => "a conversion".to_owned(),
    }
}

/// Whether floats have an instruction for the function.
fn has_instruction(function: Unary) -> bool {
    use Unary::{Abs, Ceil, Floor, Neg, RoundEven, Sqrt};
    matches!(function, Neg | Abs | Sqrt | Floor | Ceil | RoundEven)
}

fn has_binary(function: Binary, elem: ElemType) -> bool {
    if !elem.is_float() {
        return integers::has_binary(function, elem);
    }
    is_instruction(function) || functions::binary_name(function, elem).is_some()
}

/// Whether floats have instructions for the function of two numbers.
fn is_instruction(function: Binary) -> bool {
    use Binary::{Add, Div, Max, Min, Mul, Sub};
    matches!(function, Add | Sub | Mul | Div | Max | Min) || is_comparison(function)
}

/// Computes nodes at a number of lanes.
pub(crate) struct LaneLowering<'e, 'm> {
    /// Makes the instructions.
    pub(crate) emitter: &'e mut Emitter<'m>,
    /// How many elements at once.
    pub(crate) lanes: Lanes,
}

impl LaneLowering<'_, '_> {
    /// The value of a node that is neither an input nor computed by a call on strips; `args` are its
    /// operands' values.
    pub(crate) fn node(&mut self, expr: &Expr, data: NodeData, args: &[Value]) -> Value {
        match data.op {
            NodeOp::Input(_) => unreachable!("inputs are loaded by whoever knows where they are"),
            NodeOp::Const(bits) => self.constant(data.elem, bits),
            NodeOp::Unary(function, _) => self.unary(function, data.elem, args[0]),
            NodeOp::Binary(function, a, _) => self.binary(function, expr.node(a).elem, args[0], args[1]),
            NodeOp::Fma(..) => self.emitter.ins.ins().fma(args[0], args[1], args[2]),
            NodeOp::Select(..) => self.select(args[0], args[1], args[2]),
            NodeOp::Convert(a) => match self.lanes {
                Lanes::One => integers::convert(self.emitter, expr.node(a).elem, data.elem, args[0]),
                Lanes::Four => words::convert(self.emitter, expr.node(a).elem, data.elem, args[0]),
            },
        }
    }

    fn constant(&mut self, elem: ElemType, bits: u64) -> Value {
        let ins = &mut self.emitter.ins;
        let one = match elem {
            ElemType::F32 => ins.ins().f32const(f32::from_bits(bits as u32)),
            ElemType::F64 => ins.ins().f64const(f64::from_bits(bits)),
            _ => {
                let ty = elem.clif();
                let unused = 64 - ty.bits();
                ins.ins().iconst(ty, ((bits << unused) >> unused) as i64)
            }
        };
        match self.lanes {
            Lanes::One => one,
            Lanes::Four => apart::repeat(self.emitter, elem, one),
        }
    }

    fn unary(&mut self, function: Unary, elem: ElemType, a: Value) -> Value {
        if !elem.is_float() {
            return match (self.lanes, function) {
                (Lanes::Four, function) => words::unary(self.emitter, function, elem, a),
                (Lanes::One, function) => integers::unary(self.emitter, function, elem, a),
            };
        }
        let ins = self.emitter.ins.ins();
        match function {
            Unary::Neg => ins.fneg(a),
            Unary::Abs => ins.fabs(a),
            Unary::Sqrt => ins.sqrt(a),
            Unary::Floor => ins.floor(a),
            Unary::Ceil => ins.ceil(a),
            Unary::RoundEven => ins.nearest(a),
            _ => self.call(functions::unary_name(function, elem), elem, &[a]),
        }
    }

    /// A function of two numbers.
    pub(crate) fn binary(&mut self, function: Binary, elem: ElemType, a: Value, b: Value) -> Value {
        if !elem.is_float() {
            return match (self.lanes, function) {
                (Lanes::Four, function) => words::binary(self.emitter, function, elem, a, b),
                (Lanes::One, Binary::Pow) => self.integer_power(elem, a, b),
                (Lanes::One, function) => integers::binary(self.emitter, function, elem, a, b),
            };
        }
        let condition = match function {
            Binary::Add => return self.emitter.ins.ins().fadd(a, b),
            Binary::Sub => return self.emitter.ins.ins().fsub(a, b),
            Binary::Mul => return self.emitter.ins.ins().fmul(a, b),
            Binary::Div => return self.emitter.ins.ins().fdiv(a, b),
            Binary::Max => {
                let b_is_less = self.compare(FloatCC::LessThan, b, a);
                return self.select(b_is_less, a, b);
            }
            Binary::Min => {
                let a_is_less = self.compare(FloatCC::LessThan, a, b);
                return self.select(a_is_less, a, b);
            }
            Binary::Eq => FloatCC::Equal,
            Binary::Ne => FloatCC::NotEqual,
            Binary::Lt => FloatCC::LessThan,
            Binary::Le => FloatCC::LessThanOrEqual,
            Binary::Gt => FloatCC::GreaterThan,
            Binary::Ge => FloatCC::GreaterThanOrEqual,
            _ => return self.call(functions::binary_name(function, elem), elem, &[a, b]),
        };
        let [a, b] = [a, b].map(|x| match self.lanes {
            Lanes::One => x,
            Lanes::Four => words::in_register(self.emitter, x),
        });
        self.compare(condition, a, b)
    }

    /// An integer to the power of another, computed on 64 bits: the low bits are the same at every width.
    fn integer_power(&mut self, elem: ElemType, a: Value, b: Value) -> Value {
        let wide = ElemType::Int { bits: 64, signed: elem.is_signed() };
        let [a, b] = [a, b].map(|x| integers::convert(self.emitter, elem, wide, x));
        let power = self.call(functions::binary_name(Binary::Pow, wide), wide, &[a, b]);
        integers::convert(self.emitter, wide, elem, power)
    }

    pub(crate) fn compare(&mut self, condition: FloatCC, a: Value, b: Value) -> Value {
        self.emitter.ins.ins().fcmp(condition, a, b)
    }

    /// The first where the condition is true, otherwise the second.
    pub(crate) fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.emitter.ins.func.dfg.value_type(a);
        match self.lanes {
            Lanes::One => self.emitter.ins.ins().select(cond, a, b),
            Lanes::Four if ty == types::F32X4 => words::choose(self.emitter, cond, a, b),
            Lanes::Four => self.emitter.ins.ins().bitselect(cond, a, b),
        }
    }

    fn call(&mut self, name: Option<&str>, elem: ElemType, args: &[Value]) -> Value {
        let name = name.expect("functions without a symbol were refused");
        let ty = elem.clif();
        let callee = self.emitter.import(name, &vec![ty; args.len()], &[ty]);
        let call = self.emitter.ins.ins().call(callee, args);
        self.emitter.ins.inst_results(call)[0]
    }
}
