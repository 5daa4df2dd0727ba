//! What `optc passes --json` and `optc ops --json` write.

use import::onnx::element::Element;
use import::onnx::rows::Coverage;
use ir::opdef::{Arity, OpDef, OperandDef};
use passes::manager::PassDef;
use serde::Serialize;

use crate::describe;

/// Passes, version 1.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct PassList {
    version: u32,
    passes: Vec<PassReport>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PassReport {
    name: &'static str,
    doc: &'static str,
    /// The stage of the pipeline that it is, if it is one.
    stage: Option<&'static str>,
    options: Vec<OptionReport>,
}

/// An option of a pass: `pass{name=value}`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OptionReport {
    name: &'static str,
    /// What it takes, in words.
    takes: String,
    default: &'static str,
    doc: &'static str,
}

impl PassList {
    pub(super) fn of(defs: &[&PassDef]) -> PassList {
        let option = |def: &passes::manager::OptionDef| OptionReport {
            name: def.name,
            takes: def.kind.expected(),
            default: def.default,
            doc: def.doc,
        };
        let pass = |def: &&PassDef| PassReport {
            name: def.name,
            doc: def.doc,
            stage: def.stage.stage().map(|stage| stage.name()),
            options: def.options.iter().map(option).collect(),
        };
        PassList { version: 1, passes: defs.iter().map(pass).collect() }
    }
}

/// Operations of the IR, version 1.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct OpList {
    version: u32,
    ops: Vec<OpReport>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OpReport {
    name: &'static str,
    doc: &'static str,
    /// IR text that uses it.
    example: &'static str,
    operands: Vec<OperandReport>,
    results: Vec<OperandReport>,
    attributes: Vec<AttributeReport>,
    /// What kind of computation it is, in words.
    kind: String,
    traits: Vec<String>,
}

/// An operand or a result.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OperandReport {
    name: &'static str,
    /// The types that it may have, in words.
    types: &'static str,
    /// How many there may be: `one`, `optional` or `any`.
    count: &'static str,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct AttributeReport {
    name: &'static str,
    /// What it holds, in words.
    holds: String,
    /// Whether it must be there, in words.
    presence: String,
    doc: &'static str,
}

impl OpList {
    pub(super) fn of(defs: &[&'static OpDef]) -> OpList {
        OpList { version: 1, ops: defs.iter().copied().map(op).collect() }
    }
}

fn op(def: &'static OpDef) -> OpReport {
    let attribute = |attr: &ir::opdef::AttrDef| AttributeReport {
        name: attr.name,
        holds: describe::attr_kind(attr.kind),
        presence: describe::presence(attr.presence),
        doc: attr.doc,
    };
    OpReport {
        name: def.name,
        doc: def.doc,
        example: def.example,
        operands: def.operands.iter().map(operand).collect(),
        results: def.results.iter().map(operand).collect(),
        attributes: def.attrs.iter().map(attribute).collect(),
        kind: describe::kind(def.kind),
        traits: describe::traits(def),
    }
}

fn operand(def: &OperandDef) -> OperandReport {
    let count = match def.arity {
        Arity::One => "one",
        Arity::Optional => "optional",
        Arity::Variadic => "any",
    };
    OperandReport { name: def.name, types: def.types.words(), count }
}

/// Operators of ONNX, version 1.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct OperatorList {
    version: u32,
    operators: Vec<OperatorReport>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OperatorReport {
    name: &'static str,
    /// The versions of the operator set from the first to the last in which it is known.
    versions: [i64; 2],
    /// The attributes that a node may have in the newest of them.
    attributes: &'static [&'static str],
    /// The element types of the inputs that it computes with or moves, by ONNX's names.
    element_types: Vec<&'static str>,
}

impl OperatorList {
    pub(super) fn of(known: &[&Coverage]) -> OperatorList {
        let operator = |known: &&Coverage| OperatorReport {
            name: known.op,
            versions: [*known.versions.start(), *known.versions.end()],
            attributes: known.attributes,
            element_types: known.elements().into_iter().map(Element::name).collect(),
        };
        OperatorList { version: 1, operators: known.iter().map(operator).collect() }
    }
}
