//! `builtin`: modules.

use crate::opdef::{
    AttrDef, AttrKind, Dialect, Kind, OpDef, OperandDef, Presence, RegionCount, Traits, TypeClass,
};

/// The dialect.
pub static DIALECT: Dialect =
    Dialect { name: "builtin", doc: "Modules: what holds everything else.", tables: &[OPS] };

static OPS: &[OpDef] = &[MODULE, CAST];

const MODULE: OpDef = OpDef {
    name: "builtin.module",
    doc: "A table of symbols: functions and nested modules.",
    example: "module { }",
    attrs: &[
        AttrDef {
            name: "sym_name",
            kind: AttrKind::Text,
            presence: Presence::Optional,
            doc: "The module's own symbol.",
        },
        AttrDef {
            name: "sym_visibility",
            kind: AttrKind::Text,
            presence: Presence::Optional,
            doc: "Who may use it.",
        },
    ],
    regions: RegionCount::Exactly(1),
    traits: Traits::ISOLATED
        .union(Traits::SYMBOL_TABLE)
        .union(Traits::NO_TERMINATOR)
        .union(Traits::SINGLE_BLOCK),
    ..OpDef::BLANK
};

const CAST: OpDef = OpDef {
    name: "builtin.unrealized_conversion_cast",
    doc: "The operands as values of other types, where nobody has said yet how. It has no evaluation.",
    example: "%0 = builtin.unrealized_conversion_cast %a : i32 to f32",
    syntax: Some("[$inputs : type($inputs)] to type($outputs) attr-dict"),
    operands: &[OperandDef::variadic("inputs", TypeClass::Any)],
    results: &[OperandDef::variadic("outputs", TypeClass::Any)],
    traits: Traits::PURE,
    kind: Kind::Kernel("cast"),
    ..OpDef::BLANK
};
