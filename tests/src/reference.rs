//! Tables of the documents, generated from rows: the operations of each dialect (`docs/IR.md`), and the
//! attributes of a plan (`docs/book/attributes.md`).

use std::fmt::Write;

use ir::opdef::{Arity, AttrDef, OpDef, OperandDef, RegionCount};
use ir::plan::attrs;
use ir::{Context, Dialect};
use optc::describe;

/// The marks around the operations of the dialects.
const OPERATIONS: [&str; 2] = [
    "<!-- from the rows: OPTC_BLESS=1 cargo test -p optc-tests --test it reference -->\n",
    "<!-- end of the rows -->\n",
];
/// The marks around the attributes of a plan.
const ATTRIBUTES: [&str; 2] = [
    "<!-- from ir::plan::attrs: OPTC_BLESS=1 cargo test -p optc-tests --test it reference -->\n",
    "<!-- end of the attributes -->\n",
];

/// A document with the text between its marks replaced by tables of all dialects of `ctx`.
///
/// # Errors
/// If it does not have the marks.
pub fn with_operations(document: &str, ctx: &Context) -> Result<String, String> {
    let operations: String = ctx.dialects().map(table).collect();
    replaced(document, OPERATIONS, &format!("{operations}\n"))
}

/// A document with the text between its marks replaced by a table of all attributes of a plan.
///
/// # Errors
/// If it does not have the marks.
pub fn with_attributes(document: &str) -> Result<String, String> {
    replaced(document, ATTRIBUTES, &plan_table())
}

fn replaced(document: &str, [begin, end]: [&str; 2], text: &str) -> Result<String, String> {
    let missing = |mark: &str| format!("the document lacks the line {}", mark.trim_end());
    let (before, rest) = document.split_once(begin).ok_or_else(|| missing(begin))?;
    let (_, after) = rest.split_once(end).ok_or_else(|| missing(end))?;
    Ok(format!("{before}{begin}{text}{end}{after}"))
}

fn plan_table() -> String {
    let mut text = "| attribute | on | meaning | written by | read by |\n|---|---|---|---|---|\n".to_owned();
    for attr in attrs::ALL {
        let cells = [attr.on, attr.says, attr.written_by, attr.read_by].map(cell).join(" | ");
        writeln!(text, "| `{}` | {cells} |", attr.name).expect("writing to a string");
    }
    text
}

fn table(dialect: &Dialect) -> String {
    let mut text = format!("\n### `{}`\n\n{}\n\n", dialect.name, cell(dialect.doc));
    text += "| operation | what it is | operands | attributes | kind |\n|---|---|---|---|---|\n";
    for def in dialect.ops() {
        let operands = values(def.operands);
        let attrs = attributes(def.attrs);
        let doc = cell(def.doc);
        writeln!(text, "| `{}` | {doc} | {operands} | {attrs} | {} |", def.name, kind(def))
            .expect("writing to a string");
    }
    text
}

fn values(values: &[OperandDef]) -> String {
    let named = values.iter().map(|value| match value.arity {
        Arity::One => value.name.to_owned(),
        Arity::Optional => format!("{}?", value.name),
        Arity::Variadic => format!("{}...", value.name),
    });
    named.collect::<Vec<_>>().join(", ")
}

fn attributes(attrs: &[AttrDef]) -> String {
    let named = attrs.iter().map(|attr| {
        let kind = describe::attr_kind(attr.kind);
        let presence = describe::presence(attr.presence);
        format!("`{}`: {kind}, {presence}", attr.name)
    });
    named.collect::<Vec<_>>().join("; ")
}

fn kind(def: &OpDef) -> String {
    let kind = describe::kind(def.kind);
    match def.regions {
        RegionCount::Exactly(0) => kind,
        RegionCount::Exactly(1) => format!("{kind}, 1 region"),
        RegionCount::Exactly(count) => format!("{kind}, {count} regions"),
        RegionCount::Any => format!("{kind}, regions"),
    }
}

/// A sentence, escaped for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_between_the_marks_is_replaced() {
        let ctx = Context::new();
        let stale = |[begin, end]: [&str; 2]| format!("a\n{begin}STALE\n{end}c\n");
        let check = |found: &str, row: &str| {
            let is_around = found.starts_with("a\n") && found.ends_with("c\n");
            assert!(is_around && !found.contains("STALE") && found.contains(row), "{found}");
        };
        let operations = with_operations(&stale(OPERATIONS), &ctx).unwrap();
        check(&operations, "| `nn.relu` |");
        assert_eq!(with_operations(&operations, &ctx).unwrap(), operations);
        let attributes = with_attributes(&stale(ATTRIBUTES)).unwrap();
        check(&attributes, "| `mem.tie` |");
        assert_eq!(with_attributes(&attributes).unwrap(), attributes);
        for missing in [with_operations("a\nb\n", &ctx), with_attributes("a\nb\n")] {
            assert!(missing.unwrap_err().starts_with("the document lacks the line <!--"));
        }
    }
}
