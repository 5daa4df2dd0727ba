//! The expression of a pointwise step: the scalar trees of a group as a graph without duplicates.
//!
//! `silu(a + b)` => `n0 = input 0, n1 = input 1, n2 = n0 + n1, n3 = sigmoid n2, n4 = n2 * n3`. Equal nodes
//! are merged, so that equal groups have equal expressions and share one compiled function.

use std::collections::HashMap;

use ir::body::OpRef;
use ir::scalar::{Binary, Unary};
use ir::{Kind, Scalar, Signedness};

use crate::elem::ElemType;
use crate::refusal::CodeRefusal;

/// The index of a node; operands have smaller indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ExprNode(pub(crate) u32);

/// One step of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NodeData {
    /// The type of its value.
    pub(crate) elem: ElemType,
    /// How the value is computed.
    pub(crate) op: NodeOp,
}

/// How a node's value is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NodeOp {
    /// The element of input `n`.
    Input(u32),
    /// A constant, by its bits.
    Const(u64),
    /// A function of one node.
    Unary(Unary, ExprNode),
    /// A function of two nodes; their types are equal.
    Binary(Binary, ExprNode, ExprNode),
    /// `a * b + c`, rounded once.
    Fma(ExprNode, ExprNode, ExprNode),
    /// The second if the first is true, otherwise the third.
    Select(ExprNode, ExprNode, ExprNode),
    /// The node converted to this node's type.
    Convert(ExprNode),
}

impl NodeOp {
    /// The nodes that it reads.
    pub(crate) fn operands(self) -> impl Iterator<Item = ExprNode> {
        let (a, b, c) = match self {
            NodeOp::Input(_) | NodeOp::Const(_) => (None, None, None),
            NodeOp::Unary(_, a) | NodeOp::Convert(a) => (Some(a), None, None),
            NodeOp::Binary(_, a, b) => (Some(a), Some(b), None),
            NodeOp::Fma(a, b, c) | NodeOp::Select(a, b, c) => (Some(a), Some(b), Some(c)),
        };
        [a, b, c].into_iter().flatten()
    }
}

/// Nodes, operands before their users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Expr {
    nodes: Vec<NodeData>,
}

impl Expr {
    /// A node's content.
    pub(crate) fn node(&self, node: ExprNode) -> NodeData {
        self.nodes[node.0 as usize]
    }

    /// All nodes, operands before their users.
    pub(crate) fn nodes(&self) -> impl DoubleEndedIterator<Item = (ExprNode, NodeData)> + '_ {
        self.nodes.iter().enumerate().map(|(index, data)| (ExprNode(index as u32), *data))
    }
}

/// Makes an expression without duplicates.
#[derive(Default)]
pub(crate) struct ExprBuilder {
    expr: Expr,
    known: HashMap<NodeData, ExprNode>,
}

impl ExprBuilder {
    /// The expression made so far.
    pub(crate) fn finish(self) -> Expr {
        self.expr
    }

    /// The type of a node's value.
    pub(crate) fn elem(&self, node: ExprNode) -> ElemType {
        self.expr.node(node).elem
    }

    /// The node with this content, new or known.
    pub(crate) fn add(&mut self, elem: ElemType, op: NodeOp) -> ExprNode {
        let data = NodeData { elem, op };
        if let Some(&node) = self.known.get(&data) {
            return node;
        }
        let node = ExprNode(self.expr.nodes.len() as u32);
        self.expr.nodes.push(data);
        self.known.insert(data, node);
        node
    }

    /// The value of an elementwise operation, given the nodes of its operands.
    pub(crate) fn apply(&mut self, op: OpRef<'_>, args: &[ExprNode]) -> Result<ExprNode, CodeRefusal> {
        let Kind::Elementwise(scalar) = op.kind() else {
            return Err(CodeRefusal::new("it is not elementwise"));
        };
        if let Scalar::Arg(n) = scalar {
            return Ok(args[*n as usize]);
        }
        let result = ElemType::stored(op.ctx, op.result_type(0))
            .ok_or_else(|| CodeRefusal::new("generated code does not compute with this element type"))?;
        let args: Vec<ExprNode> =
            args.iter().map(|arg| self.converted(*arg, self.elem(*arg).computed())).collect();
        let chosen = match scalar {
            Scalar::Choose(name, all) => op.chosen(name, all).unwrap_or(scalar),
            _ => scalar,
        };
        if let (Scalar::Convert(Scalar::Arg(0)), &[arg]) = (chosen, &args[..])
            && self.elem(arg) == ElemType::F64
        {
            // Rounded once, not to `f32` first.
            return Ok(self.converted(arg, result));
        }
        let node = Tree { builder: self, op, args: &args }.build(scalar, result.computed())?;
        Ok(self.converted(node, result))
    }

    /// A node converted to another type, unless it has it.
    fn converted(&mut self, node: ExprNode, to: ElemType) -> ExprNode {
        if self.elem(node) == to { node } else { self.add(to, NodeOp::Convert(node)) }
    }
}

/// Translates one operation's scalar tree into an expression.
struct Tree<'a, 'b> {
    builder: &'b mut ExprBuilder,
    op: OpRef<'a>,
    args: &'b [ExprNode],
}

impl Tree<'_, '_> {
    /// The node of a tree; numbers whose type is not determined otherwise have type `elem`.
    fn build(&mut self, tree: &Scalar, elem: ElemType) -> Result<ExprNode, CodeRefusal> {
        let op = match tree {
            Scalar::Arg(n) => return Ok(self.args[*n as usize]),
            Scalar::Const(value) => NodeOp::Const(elem.constant_bits(*value)),
            Scalar::Attr(name) => {
                let value = self.op.float(name);
                let value =
                    value.ok_or_else(|| CodeRefusal::new(format!("its attribute `{name}` is no float")))?;
                NodeOp::Const(elem.constant_bits(value))
            }
            Scalar::Unary(function, a) => NodeOp::Unary(*function, self.build(a, elem)?),
            Scalar::Binary(function, a, b) => return self.binary(*function, a, b, elem),
            Scalar::Fma(a, b, c) => {
                NodeOp::Fma(self.build(a, elem)?, self.build(b, elem)?, self.build(c, elem)?)
            }
            Scalar::Select(cond, a, b) => {
                let cond = self.build(cond, ElemType::Bool)?;
                NodeOp::Select(cond, self.build(a, elem)?, self.build(b, elem)?)
            }
            Scalar::Convert(a) => return self.convert(a, elem),
            Scalar::ConvertUnsigned(a) => {
                let unsigned = self.convert(a, elem.with_sign(Signedness::Unsigned))?;
                return Ok(self.builder.converted(unsigned, elem));
            }
            Scalar::Resize(a) => return self.resize(a, elem),
            Scalar::Signed(a) => return self.signed(a, Signedness::Signed, elem),
            Scalar::Unsigned(a) => return self.signed(a, Signedness::Unsigned, elem),
            Scalar::Choose(name, all) => {
                let chosen = self.op.chosen(name, all);
                let none = || CodeRefusal::new(format!("nothing is computed for its attribute `{name}`"));
                return self.build(chosen.ok_or_else(none)?, elem);
            }
        };
        Ok(self.builder.add(elem, op))
    }

    fn convert(&mut self, tree: &Scalar, to: ElemType) -> Result<ExprNode, CodeRefusal> {
        let from = self.elem_of(tree).unwrap_or(to);
        let node = self.build(tree, from)?;
        Ok(self.builder.converted(node, to))
    }

    /// An integer's low bits; for a truth value the lowest.
    fn resize(&mut self, tree: &Scalar, to: ElemType) -> Result<ExprNode, CodeRefusal> {
        let from = self.elem_of(tree).unwrap_or(to);
        let node = self.build(tree, from)?;
        if to != ElemType::Bool || from == ElemType::Bool {
            return Ok(self.builder.converted(node, to));
        }
        let one = self.builder.add(from, NodeOp::Const(1));
        let lowest = self.builder.add(from, NodeOp::Binary(Binary::And, node, one));
        Ok(self.builder.converted(lowest, to))
    }

    /// The same bits as a signed or unsigned integer. A truth value as a signed integer is a byte 0 or -1.
    fn signed(&mut self, tree: &Scalar, sign: Signedness, elem: ElemType) -> Result<ExprNode, CodeRefusal> {
        let own = self.elem_of(tree).unwrap_or(elem);
        let node = self.build(tree, own)?;
        if own != ElemType::Bool || sign == Signedness::Unsigned {
            return Ok(self.builder.converted(node, own.with_sign(sign)));
        }
        let byte = ElemType::Int { bits: 8, signed: true };
        let wide = self.builder.converted(node, byte);
        Ok(self.builder.add(byte, NodeOp::Unary(Unary::Neg, wide)))
    }

    fn binary(
        &mut self,
        function: Binary,
        a: &Scalar,
        b: &Scalar,
        elem: ElemType,
    ) -> Result<ExprNode, CodeRefusal> {
        let compares = is_comparison(function);
        let operands = if compares { self.elem_of(a).or_else(|| self.elem_of(b)) } else { None };
        let operands = operands.unwrap_or(elem);
        let op = NodeOp::Binary(function, self.build(a, operands)?, self.build(b, operands)?);
        Ok(self.builder.add(if compares { ElemType::Bool } else { elem }, op))
    }

    /// The type that a tree's arguments give it.
    fn elem_of(&self, tree: &Scalar) -> Option<ElemType> {
        match tree {
            Scalar::Arg(n) => Some(self.builder.expr.node(self.args[*n as usize]).elem),
            Scalar::Attr(_) | Scalar::Const(_) | Scalar::Convert(_) => None,
            Scalar::ConvertUnsigned(_) | Scalar::Resize(_) => None,
            Scalar::Unary(_, a) => self.elem_of(a),
            Scalar::Signed(a) => match self.elem_of(a)? {
                ElemType::Bool => Some(ElemType::Int { bits: 8, signed: true }),
                own => Some(own.with_sign(Signedness::Signed)),
            },
            Scalar::Unsigned(a) => Some(self.elem_of(a)?.with_sign(Signedness::Unsigned)),
            Scalar::Choose(name, all) => self.elem_of(self.op.chosen(name, all)?),
            Scalar::Binary(function, ..) if is_comparison(*function) => Some(ElemType::Bool),
            Scalar::Binary(_, a, b) | Scalar::Select(_, a, b) => self.elem_of(a).or_else(|| self.elem_of(b)),
            Scalar::Fma(a, b, c) => self.elem_of(a).or_else(|| self.elem_of(b)).or_else(|| self.elem_of(c)),
        }
    }
}

/// Whether a function gives a truth value.
pub(crate) fn is_comparison(function: Binary) -> bool {
    matches!(function, Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge)
}
