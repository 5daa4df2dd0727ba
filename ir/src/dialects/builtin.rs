//! `builtin`: modules.

use crate::opdef::{AttrDef, AttrKind, Dialect, OpDef, Presence, RegionCount, Traits};

/// The dialect.
pub static DIALECT: Dialect =
    Dialect { name: "builtin", doc: "Modules: what holds everything else.", tables: &[OPS] };

static OPS: &[OpDef] = &[OpDef {
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
}];
