//! Generation of the operation builders (`optc::ops`) from rows.

use ir::opdef::{Arity, AttrDef, AttrKind, Infer, OpDef, OperandDef, Presence, RegionCount};
use ir::{Kind, Traits};
use optc::describe;

/// The most columns of a line.
const COLUMNS: usize = 110;
/// Words of Rust that rows use as names.
const KEYWORDS: [&str; 1] = ["in"];

/// A module with the builders of rows; `doc` is its description.
pub fn module(doc: &str, uses: &str, rows: &[&OpDef]) -> String {
    let how = "//! Written from the rows: `OPTC_BLESS=1 cargo test -p optc-tests --test it reference`.";
    let builders: Vec<String> = rows.iter().filter(|def| has_builder(def)).map(|def| builder(def)).collect();
    format!("//! {doc}\n//!\n{how}\n\n{uses}super::builders! {{\n{}}}\n", builders.join("\n"))
}

/// Whether an operation is built from operands and attributes alone.
fn has_builder(def: &OpDef) -> bool {
    let stands_alone =
        matches!(def.regions, RegionCount::Exactly(0)) && !def.traits.contains(Traits::TERMINATOR);
    stands_alone && !def.traits.contains(Traits::CONSTANT)
}

/// The line of a row, with its documentation.
fn builder(def: &OpDef) -> String {
    let short = def.name.split_once('.').map_or(def.name, |(_, name)| name);
    let mut text = lines(def.doc, 4);
    let required = def.attrs.iter().filter(|attr| attr.presence == Presence::Required);
    if !def.attrs.is_empty() {
        text += "    ///\n";
        for attr in required.clone() {
            text += &lines(&format!("`{}`: {}", attr.name, attr.doc), 4);
        }
        if required.clone().next().is_none() {
            text.truncate(text.len() - "    ///\n".len());
        }
    }
    let operands = def.operands.iter().filter_map(operand);
    let attrs = required.map(|attr| format!("{}: {}", attr.name, parameter(def, attr)));
    let result = matches!(def.infer, Infer::Declared).then(|| "result: result".to_owned());
    let parameters: Vec<String> = operands.chain(attrs).chain(result).collect();
    let optional = optional(def);
    let builder = if optional.is_empty() { String::new() } else { format!(" -> {} {{", camel(short)) };
    let parameters = parameters.join(", ");
    let line = format!("    \"{}\" {short}({parameters}){builder}", def.name);
    text += &match line.len() < COLUMNS {
        true => line,
        false => format!("    \"{}\" {short}(\n        {parameters}\n    ){builder}", def.name),
    };
    if !optional.is_empty() {
        text += &format!("\n{optional}    }}");
    }
    text + ";\n"
}

/// The parameter for an operand; none if it is optional.
fn operand(operand: &OperandDef) -> Option<String> {
    let name =
        if KEYWORDS.contains(&operand.name) { format!("r#{}", operand.name) } else { operand.name.into() };
    match operand.arity {
        Arity::One => Some(format!("{name}: value")),
        Arity::Variadic => Some(format!("{name}: values")),
        Arity::Optional => None,
    }
}

/// The type of the parameter for an attribute.
fn parameter(def: &OpDef, attr: &AttrDef) -> &'static str {
    match attr.kind {
        AttrKind::Type => "ty",
        AttrKind::Word(_) => "word",
        _ => method(attr).unwrap_or_else(|| panic!("`{}`: no parameter takes `{}`", def.name, attr.name)),
    }
}

/// The type of the method's parameter for an attribute; none if it has no method.
fn method(attr: &AttrDef) -> Option<&'static str> {
    match attr.kind {
        AttrKind::Unit => Some("flag"),
        AttrKind::Int | AttrKind::Axis => Some("int"),
        AttrKind::Ints | AttrKind::Axes | AttrKind::PerAxis | AttrKind::Sizes => Some("ints"),
        AttrKind::Float => Some("float"),
        AttrKind::Text | AttrKind::OneOf(_) => Some("text"),
        _ => None,
    }
}

/// The methods of a builder.
fn optional(def: &OpDef) -> String {
    let mut text = String::new();
    for operand in def.operands.iter().filter(|operand| operand.arity == Arity::Optional) {
        let last = def.operands.last().map(|operand| operand.name);
        assert_eq!(last, Some(operand.name), "`{}`: one optional operand, the last", def.name);
        text += &lines(&format!("The optional operand: {}.", operand.types.words()), 8);
        text += &format!("        {}: operand,\n", operand.name);
    }
    for attr in def.attrs.iter().filter(|attr| attr.presence != Presence::Required) {
        let Some(method) = method(attr) else { continue };
        let default = match attr.presence {
            Presence::Optional => String::new(),
            presence => format!(" ({})", describe::presence(presence)),
        };
        text += &lines(&format!("{}{default}", attr.doc), 8);
        text += &format!("        {}: {method},\n", attr.name);
    }
    text
}

/// A text as lines of documentation.
fn lines(text: &str, indent: usize) -> String {
    let start = format!("{:indent$}///", "");
    let mut lines = vec![start.clone()];
    for word in escaped(text).split_whitespace() {
        let last = lines.last_mut().expect("there is a line");
        if last.len() + 1 + word.len() > COLUMNS {
            lines.push(format!("{start} {word}"));
        } else {
            *last += &format!(" {word}");
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A text with its brackets escaped, outside of code, so that they are no links.
fn escaped(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(number, part)| match number % 2 {
        0 => part.replace('[', "\\[").replace(']', "\\]").replace('<', "\\<"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<String>>().join("`")
}

/// `max_pool2d` => `MaxPool2d`.
fn camel(name: &str) -> String {
    let upper = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    };
    name.split('_').map(upper).collect()
}

/// Whether a row is one of the short ones of `nn`: elementwise.
pub fn is_elementwise(def: &OpDef) -> bool {
    matches!(def.kind, Kind::Elementwise(_))
}
