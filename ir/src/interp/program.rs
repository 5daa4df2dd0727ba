//! Scalar programs: a tree of scalar operations, run over many elements at once.
//!
//! [`ScalarProgram::of`] gives every node of a [`Scalar`] tree an element type and a register of
//! [`CHUNK`](super::registers::CHUNK) lanes. A run fills the argument registers and then executes one step
//! per node. Constants and attributes fill their registers once. A constant has the type of the node it is
//! combined with, rounded to its lanes.

use super::element::{Elem, Extension};
use super::lanes;
use super::registers::LaneValues;
use super::tensor::EvalError;
use crate::body::OpRef;
use crate::scalar::{Binary, Scalar, Unary};

/// The function of a step.
#[derive(Clone, Copy, Debug)]
enum ScalarCode {
    Unary(Unary),
    Binary(Binary),
    Fma,
    Select,
    /// Converts from this element type.
    Convert(Elem),
    /// Takes the lowest bits of an integer.
    Resize,
}

/// One node: its register, and the registers it is computed from.
#[derive(Debug)]
struct ScalarStep {
    code: ScalarCode,
    /// The type of its operands; comparisons return booleans.
    elem: Elem,
    target: usize,
    sources: [usize; 3],
}

/// A scalar tree with types and registers.
#[derive(Debug)]
pub(super) struct ScalarProgram {
    steps: Vec<ScalarStep>,
    registers: Vec<LaneValues>,
    result: usize,
}

impl ScalarProgram {
    /// The program of `tree`, whose arguments have the types `args` and whose result has the type `result`.
    ///
    /// Registers `0..args.len()` are the arguments.
    ///
    /// # Errors
    /// If types do not fit, an attribute is missing, or an operation is not defined on its type.
    pub(super) fn of(
        op: OpRef<'_>,
        tree: &Scalar,
        args: &[Elem],
        result: Elem,
    ) -> Result<ScalarProgram, EvalError> {
        let registers = args.iter().map(|elem| LaneValues::new(*elem)).collect();
        let program = ScalarProgram { steps: Vec::new(), registers, result: 0 };
        let mut compiler = Compiler { op, args, result, program };
        let (register, elem) = compiler.node(tree, result)?;
        if elem.lane() != result.lane() {
            return Err(format!("computes `{elem}` but its result holds `{result}`").into());
        }
        compiler.program.result = register;
        Ok(compiler.program)
    }

    /// The register of an argument, to be filled.
    pub(super) fn arg(&mut self, index: usize) -> &mut LaneValues {
        &mut self.registers[index]
    }

    /// Executes every step for the first `count` lanes and returns the result's register.
    pub(super) fn run(&mut self, count: usize) -> &LaneValues {
        for step in &self.steps {
            let empty = LaneValues::Int(Vec::new());
            let mut target = std::mem::replace(&mut self.registers[step.target], empty);
            let [a, b, c] = step.sources.map(|source| &self.registers[source]);
            match step.code {
                ScalarCode::Unary(unary) => lanes::unary(unary, step.elem, &mut target, a, count),
                ScalarCode::Binary(binary) => lanes::binary(binary, step.elem, &mut target, [a, b], count),
                ScalarCode::Fma => lanes::fma(step.elem, &mut target, [a, b, c], count),
                ScalarCode::Select => lanes::select(&mut target, [a, b, c], count),
                ScalarCode::Convert(from) => lanes::convert(from, step.elem, &mut target, a, count),
                ScalarCode::Resize => lanes::resize(step.elem, &mut target, a, count),
            }
            self.registers[step.target] = target;
        }
        &self.registers[self.result]
    }
}

struct Compiler<'a> {
    op: OpRef<'a>,
    args: &'a [Elem],
    result: Elem,
    program: ScalarProgram,
}

impl Compiler<'_> {
    /// The register and type of a node; `wanted` is the type of a constant.
    fn node(&mut self, node: &Scalar, wanted: Elem) -> Result<(usize, Elem), EvalError> {
        match node {
            Scalar::Arg(index) => {
                let elem = self.args.get(*index as usize).ok_or_else(|| format!("lacks operand {index}"))?;
                Ok((*index as usize, *elem))
            }
            Scalar::Attr(name) => {
                let value = self.op.float(name).ok_or_else(|| format!("lacks a float attribute `{name}`"))?;
                Ok(self.constant(value, wanted))
            }
            Scalar::Const(value) => Ok(self.constant(*value, wanted)),
            Scalar::Unary(unary, a) => {
                let (a, elem) = self.node(a, wanted)?;
                lanes::check_unary(*unary, elem)?;
                Ok(self.step(ScalarCode::Unary(*unary), elem, elem, [a; 3]))
            }
            Scalar::Binary(binary, a, b) => {
                let ([a, b], elem) = self.alike([a, b], wanted)?;
                lanes::check_binary(*binary, elem)?;
                let result = if lanes::compares(*binary) { Elem::BOOL } else { elem };
                Ok(self.step(ScalarCode::Binary(*binary), elem, result, [a, b, b]))
            }
            Scalar::Fma(a, b, c) => {
                let (sources, elem) = self.alike([a, b, c], wanted)?;
                Ok(self.step(ScalarCode::Fma, elem, elem, sources))
            }
            Scalar::Select(condition, a, b) => {
                let (condition, truth) = self.node(condition, Elem::BOOL)?;
                if truth != Elem::BOOL {
                    return Err(format!("selects by `{truth}`, not by booleans").into());
                }
                let ([a, b], elem) = self.alike([a, b], wanted)?;
                Ok(self.step(ScalarCode::Select, elem, elem, [condition, a, b]))
            }
            Scalar::Convert(a) => self.convert(a, self.result),
            Scalar::ConvertUnsigned(a) => self.convert(a, self.result.extended(Extension::Zero)),
            Scalar::Resize(a) => self.resize(a, |_, result| result),
            Scalar::Signed(a) => self.resize(a, |own, _| own.extended(Extension::Sign)),
            Scalar::Unsigned(a) => self.resize(a, |own, _| own.extended(Extension::Zero)),
            Scalar::Choose(name, all) => {
                let chosen = self.op.chosen(name, all);
                let chosen = chosen.ok_or_else(|| format!("nothing is computed for this `{name}`"))?;
                self.node(chosen, wanted)
            }
        }
    }

    fn convert(&mut self, node: &Scalar, to: Elem) -> Result<(usize, Elem), EvalError> {
        let (a, from) = self.node(node, to)?;
        Ok(self.step(ScalarCode::Convert(from), to, to, [a; 3]))
    }

    /// The lowest bits of an integer, in the type that `to` computes from its own type and the result's.
    fn resize(&mut self, node: &Scalar, to: impl Fn(Elem, Elem) -> Elem) -> Result<(usize, Elem), EvalError> {
        let (a, from) = self.node(node, self.result)?;
        let to = to(from, self.result);
        match (from, to) {
            (from, to) if from == to => Ok((a, from)),
            (Elem::Int(_), Elem::Int(_)) => Ok(self.step(ScalarCode::Resize, to, to, [a; 3])),
            _ => Err(format!("`{from}` has no lowest bits for `{to}`").into()),
        }
    }

    /// Nodes that must have the same type: that of the first one that is not a constant.
    fn alike<const N: usize>(
        &mut self,
        nodes: [&Scalar; N],
        wanted: Elem,
    ) -> Result<([usize; N], Elem), EvalError> {
        let elem = nodes.iter().find_map(|node| self.type_of(node)).unwrap_or(wanted);
        let mut registers = [0; N];
        for (register, node) in registers.iter_mut().zip(nodes) {
            let (source, found) = self.node(node, elem)?;
            if found != elem {
                return Err(format!("computes with `{elem}` and `{found}` at once").into());
            }
            *register = source;
        }
        Ok((registers, elem))
    }

    /// The type of a node, unless it consists of constants only.
    fn type_of(&self, node: &Scalar) -> Option<Elem> {
        match node {
            Scalar::Arg(index) => self.args.get(*index as usize).copied(),
            Scalar::Attr(_) | Scalar::Const(_) => None,
            Scalar::Unary(_, a) => self.type_of(a),
            Scalar::Binary(binary, ..) if lanes::compares(*binary) => Some(Elem::BOOL),
            Scalar::Binary(_, a, b) | Scalar::Select(_, a, b) => self.type_of(a).or_else(|| self.type_of(b)),
            Scalar::Fma(a, b, c) => [a, b, c].iter().find_map(|node| self.type_of(node)),
            Scalar::Convert(_) | Scalar::Resize(_) => Some(self.result),
            Scalar::ConvertUnsigned(_) => Some(self.result.extended(Extension::Zero)),
            Scalar::Signed(a) => Some(self.type_of(a)?.extended(Extension::Sign)),
            Scalar::Unsigned(a) => Some(self.type_of(a)?.extended(Extension::Zero)),
            Scalar::Choose(name, all) => self.type_of(self.op.chosen(name, all)?),
        }
    }

    fn constant(&mut self, value: f64, elem: Elem) -> (usize, Elem) {
        self.program.registers.push(LaneValues::fill(elem, value));
        (self.program.registers.len() - 1, elem)
    }

    fn step(&mut self, code: ScalarCode, elem: Elem, result: Elem, sources: [usize; 3]) -> (usize, Elem) {
        let target = self.program.registers.len();
        self.program.registers.push(LaneValues::new(result));
        self.program.steps.push(ScalarStep { code, elem, target, sources });
        (target, result)
    }
}
