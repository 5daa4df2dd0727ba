//! `func`: functions, their calls and returns.

use crate::opdef::{
    AttrDef, AttrKind, Dialect, Flow, Kind, OpDef, OperandDef, Presence, RegionCount, Traits, TypeClass,
};

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
                kind: AttrKind::Text,
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
        kind: Kind::Region(Flow::Call),
        ..OpDef::BLANK
    },
];
