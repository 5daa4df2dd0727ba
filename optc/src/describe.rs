//! Descriptions of passes and operations in words, for lists, the reference and editors.

use ir::Kind;
use ir::opdef::{Arity, AttrDef, AttrKind, OpDef, Presence};
use passes::manager::PassDef;

/// A full description of a pass: its effect, options, and an example.
pub fn pass(def: &PassDef) -> String {
    let mut text = format!("{}\n\n{}\n", def.name, def.doc);
    for option in def.options {
        let expected = option.kind.expected();
        text += &format!("\n  {}={}   {} ({expected})\n", option.name, option.default, option.doc);
    }
    if !def.example.before.is_empty() {
        text += &format!(
            "\nbefore:\n{}\nafter:\n{}\n",
            def.example.before.trim_end(),
            def.example.after.trim_end()
        );
    }
    text
}

/// A full description of an operation: its meaning, an example, its operands, results and attributes.
pub fn op(def: &OpDef) -> String {
    let mut text = format!("{}\n\n{}\n", def.name, def.doc);
    if !def.example.is_empty() {
        text += &format!("\n  {}\n", def.example);
    }
    for (what, values) in [("operand", def.operands), ("result", def.results)] {
        for value in values {
            let arity = match value.arity {
                Arity::One => "",
                Arity::Optional => ", optional",
                Arity::Variadic => ", any number",
            };
            text += &format!("\n  {what} {}: {}{arity}", value.name, value.types.words());
        }
    }
    def.attrs.iter().for_each(|def| text += &format!("\n  {}", attr(def)));
    text += &format!("\n\n  kind: {}\n", kind(def.kind));
    let traits = traits(def);
    if !traits.is_empty() {
        text += &format!("  traits: {}\n", traits.join(", "));
    }
    text
}

/// The traits of an operation, in words.
pub fn traits(def: &OpDef) -> Vec<String> {
    def.traits.iter_names().map(|(name, _)| name.to_lowercase().replace('_', "-")).collect()
}

/// An attribute of an operation, as one line.
pub fn attr(def: &AttrDef) -> String {
    format!("{} ({}, {}): {}", def.name, attr_kind(def.kind), presence(def.presence), def.doc)
}

/// The kind of computation of an operation, in words.
pub fn kind(kind: Kind) -> String {
    match kind {
        Kind::Elementwise(_) => "elementwise".to_owned(),
        Kind::Reduce(reduce) => format!("reduction ({reduce:?})"),
        Kind::View(_) => "view".to_owned(),
        Kind::Contract(contract) => format!("contraction ({contract:?})"),
        Kind::Kernel(name) => format!("kernel ({name})"),
        Kind::Group => "group".to_owned(),
        Kind::Region(flow) => format!("control flow ({flow:?})"),
        Kind::Branch(branch) => format!("branch ({branch:?})"),
        Kind::Source => "constant".to_owned(),
        Kind::Structure => "structure".to_owned(),
    }
}

/// The kind of attribute in words.
pub fn attr_kind(kind: AttrKind) -> String {
    match kind {
        AttrKind::OneOf(words) => words.join(" or "),
        AttrKind::Word(words) => words.words.join(" or "),
        AttrKind::Flags(flags) => format!("any of {}", flags.words.join(", ")),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// In words, whether an attribute is required, or its default.
pub fn presence(presence: Presence) -> String {
    match presence {
        Presence::Required => "required".to_owned(),
        Presence::Optional => "optional".to_owned(),
        Presence::DefaultInt(value) => format!("default {value}"),
        Presence::DefaultFloat(value) => format!("default {value}"),
        Presence::DefaultInts(values) => format!("default {values:?}"),
        Presence::DefaultText(text) => format!("default {text}"),
        Presence::NoFlags => "default none".to_owned(),
    }
}
