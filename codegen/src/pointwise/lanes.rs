//! How one node of an expression becomes instructions, on one element or on four `f32` at once.
//!
//! The bits are those of the interpreter. A truth value is a byte 0 or 1 on one element, a mask of 32 bits on
//! four.

use ir::scalar::{Binary, Unary};

use super::bytes::{self, is_byte, is_word};
use super::expr::{Expr, NodeData, NodeOp, is_comparison};
use super::{halves, integers};
use crate::cranelift::{Clif, Emitter, FloatCC, InstBuilder, MemFlagsData, Value, types};
use crate::elem::ElemType;
use crate::functions;
use crate::refusal::CodeRefusal;

/// How many elements an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// One, of any type.
    One,
    /// Four, of type `f32` (or their truth values). `bf16` and integers of 8 bits are the `f32` that they
    /// stand for; integers of 32 bits are only loaded and converted to `f32`.
    Four,
}

impl Lanes {
    /// The type of a value in registers.
    pub(crate) fn clif(self, elem: ElemType) -> Clif {
        match self {
            Lanes::One => elem.clif(),
            Lanes::Four if is_word(elem) => types::I32X4,
            Lanes::Four => types::F32X4,
        }
    }
}

/// Whether `f32` lanes can compute the node four at a time without a call.
pub(crate) fn has_vector_form(expr: &Expr, data: NodeData) -> bool {
    let f32s = |op: NodeOp| op.operands().all(|operand| expr.node(operand).elem == ElemType::F32);
    match (data.elem, data.op) {
        (ElemType::F32, NodeOp::Input(_) | NodeOp::Const(_) | NodeOp::Fma(..) | NodeOp::Select(..)) => true,
        (ElemType::F32, NodeOp::Unary(function, _)) => has_instruction(function),
        (ElemType::F32, NodeOp::Binary(function, ..)) => {
            use Binary::{Add, Div, Max, Min, Mul, Sub};
            matches!(function, Add | Sub | Mul | Div | Max | Min)
        }
        (ElemType::Bool, NodeOp::Binary(function, ..)) if is_comparison(function) => f32s(data.op),
        (ElemType::Bool, NodeOp::Binary(function, ..)) => {
            matches!(function, Binary::And | Binary::Or | Binary::Xor)
        }
        (ElemType::Bool, NodeOp::Unary(Unary::Not, _)) => true,
        (ElemType::Bf16, NodeOp::Input(_) | NodeOp::Const(_)) => true,
        (ElemType::Bf16, NodeOp::Convert(_)) => f32s(data.op),
        (ElemType::F32, NodeOp::Convert(from)) => {
            let from = expr.node(from);
            from.elem == ElemType::Bf16 || is_byte(from.elem) || is_word_input(from)
        }
        (elem, NodeOp::Input(_) | NodeOp::Const(_)) if is_byte(elem) => true,
        (elem, NodeOp::Convert(from)) if is_byte(elem) => f32s(data.op) || is_byte(expr.node(from).elem),
        _ => is_word_input(data),
    }
}

/// Whether the node is an integer of 32 bits that is loaded: no node takes it but a conversion to `f32`.
fn is_word_input(data: NodeData) -> bool {
    is_word(data.elem) && matches!(data.op, NodeOp::Input(_))
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
    let reason = || {
        let function = match data.op {
            NodeOp::Unary(function, _) => format!("{function:?}"),
            NodeOp::Binary(function, ..) => format!("{function:?}"),
            NodeOp::Fma(..) => "fma".to_owned(),
            NodeOp::Select(..) => "select".to_owned(),
            NodeOp::Input(_) | NodeOp::Const(_) | NodeOp::Convert(_) => "a conversion".to_owned(),
        };
        format!("{function} is not generated for elements of {:?}", data.elem).to_lowercase()
    };
    if fits { Ok(()) } else { Err(CodeRefusal::new(reason())) }
}

/// Whether floats have an instruction for the function.
fn has_instruction(function: Unary) -> bool {
    use Unary::{Abs, Ceil, Floor, Neg, RoundEven, Sqrt};
    matches!(function, Neg | Abs | Sqrt | Floor | Ceil | RoundEven)
}

fn has_binary(function: Binary, elem: ElemType) -> bool {
    use Binary::{Add, Div, Max, Min, Mul, Sub};
    if !elem.is_float() {
        return integers::has_binary(function, elem);
    }
    let instruction = matches!(function, Add | Sub | Mul | Div | Max | Min) || is_comparison(function);
    instruction || functions::binary_name(function, elem).is_some()
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
                Lanes::Four => self.convert_four(expr.node(a).elem, data.elem, args[0]),
            },
        }
    }

    fn convert_four(&mut self, from: ElemType, to: ElemType, a: Value) -> Value {
        match (from, to) {
            (_, ElemType::Bf16) => halves::round_to_bf16(self.emitter, a),
            (ElemType::F32, to) if is_byte(to) => bytes::cut_to_bytes(self.emitter, to, a),
            (_, to) if is_byte(to) => bytes::change_sign(self.emitter, to, a),
            (from, _) if is_word(from) => bytes::from_words(self.emitter, a),
            _ => a,
        }
    }

    fn constant(&mut self, elem: ElemType, bits: u64) -> Value {
        let ins = &mut self.emitter.ins;
        let one = match (elem, self.lanes) {
            (ElemType::F32, _) => ins.ins().f32const(f32::from_bits(bits as u32)),
            (ElemType::Bf16, Lanes::Four) => ins.ins().f32const(f32::from_bits((bits as u32) << 16)),
            (elem, Lanes::Four) if is_byte(elem) => ins.ins().f32const(bytes::number(elem, bits)),
            (ElemType::F64, _) => ins.ins().f64const(f64::from_bits(bits)),
            _ => {
                let ty = elem.clif();
                let unused = 64 - ty.bits();
                ins.ins().iconst(ty, ((bits << unused) >> unused) as i64)
            }
        };
        match self.lanes {
            Lanes::One => one,
            Lanes::Four => ins.ins().splat(types::F32X4, one),
        }
    }

    fn unary(&mut self, function: Unary, elem: ElemType, a: Value) -> Value {
        if !elem.is_float() {
            return match (self.lanes, function) {
                (Lanes::Four, _) => self.emitter.ins.ins().bnot(a),
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
                (Lanes::Four, Binary::And) => self.emitter.ins.ins().band(a, b),
                (Lanes::Four, Binary::Or) => self.emitter.ins.ins().bor(a, b),
                (Lanes::Four, _) => self.emitter.ins.ins().bxor(a, b),
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
        let [a, b] = [a, b].map(|x| self.in_register(x));
        self.compare(condition, a, b)
    }

    /// The same value, which no comparison loads by itself: before AVX that faults at an address that is no
    /// multiple of 16 (`cmpps`, as Cranelift 0.135 makes it).
    fn in_register(&mut self, x: Value) -> Value {
        match self.lanes {
            Lanes::One => x,
            Lanes::Four => {
                let bits = self.emitter.ins.ins().bitcast(types::I32X4, little_endian(), x);
                self.emitter.ins.ins().bitcast(types::F32X4, little_endian(), bits)
            }
        }
    }

    /// An integer to the power of another: computed on 64 bits, of which the lowest are the same on fewer.
    fn integer_power(&mut self, elem: ElemType, a: Value, b: Value) -> Value {
        let wide = ElemType::Int { bits: 64, signed: elem.is_signed() };
        let [a, b] = [a, b].map(|x| integers::convert(self.emitter, elem, wide, x));
        let power = self.call(functions::binary_name(Binary::Pow, wide), wide, &[a, b]);
        integers::convert(self.emitter, wide, elem, power)
    }

    pub(crate) fn compare(&mut self, condition: FloatCC, a: Value, b: Value) -> Value {
        self.emitter.ins.ins().fcmp(condition, a, b)
    }

    pub(crate) fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        match self.lanes {
            Lanes::One => self.emitter.ins.ins().select(cond, a, b),
            Lanes::Four => {
                let mask = self.emitter.ins.ins().bitcast(types::F32X4, little_endian(), cond);
                self.emitter.ins.ins().bitselect(mask, a, b)
            }
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

fn little_endian() -> MemFlagsData {
    MemFlagsData::new().with_endianness(crate::cranelift::Endianness::Little)
}
