//! `func`: functions, their calls and returns.

use crate::attrs::AttrData;
use crate::body::OpRef;
use crate::entities::Type;
use crate::interp::{EvalError, Tensor};
use crate::opdef::{
    AttrDef, AttrKind, Dialect, Kind, OpDef, OperandDef, Presence, RegionCount, RegionFlow, Traits, TypeClass,
};
use crate::text::short_type;
use crate::types::TypeData;

/// The dialect.
pub static DIALECT: Dialect =
    Dialect { name: "func", doc: "Functions, their calls and returns.", tables: &[OPS] };

static OPS: &[OpDef] = &[
    OpDef {
        name: "func.func",
        doc: "A function; without a body, a declaration.",
        example: "func.func @f(%arg0: f32) -> f32 { return %arg0 : f32 }",
        attrs: &[
            AttrDef {
                name: "sym_name",
                kind: AttrKind::Text,
                presence: Presence::Required,
                doc: "Its symbol.",
            },
            AttrDef {
                name: "function_type",
                kind: AttrKind::FunctionType,
                presence: Presence::Required,
                doc: "Types of arguments and results.",
            },
            AttrDef {
                name: "sym_visibility",
                kind: AttrKind::OneOf(&["public", "private", "nested"]),
                presence: Presence::Optional,
                doc: "`private` hides it from outside; absent means public.",
            },
            AttrDef {
                name: "arg_attrs",
                kind: AttrKind::Array,
                presence: Presence::Optional,
                doc: "A dictionary for each argument.",
            },
            AttrDef {
                name: "res_attrs",
                kind: AttrKind::Array,
                presence: Presence::Optional,
                doc: "A dictionary for each result.",
            },
            AttrDef {
                name: "no_inline",
                kind: AttrKind::Unit,
                presence: Presence::Optional,
                doc: "Calls of it stay calls.",
            },
        ],
        regions: RegionCount::Exactly(1),
        traits: Traits::ISOLATED.union(Traits::SYMBOL).union(Traits::FUNCTION),
        ..OpDef::BLANK
    },
    OpDef {
        name: "func.return",
        doc: "Ends a function with its results.",
        example: "return %0 : f32",
        syntax: Some("attr-dict [$values : type($values)]"),
        operands: &[OperandDef::variadic("values", TypeClass::Any)],
        traits: Traits::TERMINATOR.union(Traits::RETURN),
        ..OpDef::BLANK
    },
    OpDef {
        name: "func.call",
        doc: "Runs a function of the module.",
        example: "%0 = call @f(%x) : (f32) -> f32",
        operands: &[OperandDef::variadic("arguments", TypeClass::Any)],
        results: &[OperandDef::variadic("results", TypeClass::Any)],
        attrs: &[AttrDef {
            name: "callee",
            kind: AttrKind::Symbol,
            presence: Presence::Required,
            doc: "The function.",
        }],
        kind: Kind::Region(RegionFlow::Call),
        ..OpDef::BLANK
    },
    OpDef {
        name: "func.call_indirect",
        doc: "Runs the function that operand 0 is.",
        example: "func.func @f(%g: (f32) -> f32, %x: f32) -> f32 {\n  %0 = call_indirect %g(%x) : (f32) -> f32\n  return %0 : f32\n}",
        syntax: Some("$callee($arguments) attr-dict : call-type($callee)"),
        operands: &[
            OperandDef::one("callee", TypeClass::Function),
            OperandDef::variadic("arguments", TypeClass::Any),
        ],
        results: &[OperandDef::variadic("results", TypeClass::Any)],
        verify: Some(called_as_it_is),
        kind: Kind::Region(RegionFlow::Call),
        ..OpDef::BLANK
    },
    OpDef {
        name: "func.constant",
        doc: "A function of the module as a value.",
        example: "func.func @f() -> (() -> ()) {\n  %0 = constant @g : () -> ()\n  return %0 : () -> ()\n}\nfunc.func private @g()",
        syntax: Some("attr-dict $value : type($result)"),
        results: &[OperandDef::one("result", TypeClass::Function)],
        attrs: &[AttrDef {
            name: "value",
            kind: AttrKind::Symbol,
            presence: Presence::Required,
            doc: "The function.",
        }],
        traits: Traits::PURE,
        kind: Kind::Source,
        eval: Some(function_value),
        ..OpDef::BLANK
    },
];

/// Operands and results have the types of the function's type.
fn called_as_it_is(op: OpRef<'_>) -> Result<(), String> {
    let OpRef { ctx, body, op, .. } = op;
    let operands: Vec<Type> = body.operands(op).map(|value| body.ty(value)).collect();
    let given = TypeData::Function {
        inputs: operands[1..].into(),
        results: body.results(op).map(|value| body.ty(value)).collect(),
    };
    let expected = operands[0];
    let found = ctx.ty(given);
    if expected == found {
        Ok(())
    } else {
        let (expected, found) = (short_type(ctx, expected), short_type(ctx, found));
        Err(format!("operand 0 is a `{expected}`, called as a `{found}`"))
    }
}

/// A function as a value: its symbol.
fn function_value(op: OpRef<'_>, _: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    match op.attr("value").map(|attr| op.ctx.attr_data(attr)) {
        Some(AttrData::SymbolRef { root, nested }) if nested.is_empty() => {
            let bytes = op.ctx.str(*root).as_bytes().to_vec();
            Ok(vec![Tensor { ty: op.result_type(0), bytes: bytes.into() }])
        }
        _ => Err("`value` is not the symbol of a function of this module".into()),
    }
}
