//! What the reference of the operations in `docs/IR.md` says: a table for each dialect, from its rows.

use std::fmt::Write;

use ir::opdef::{Arity, AttrDef, OpDef, OperandDef, RegionCount};
use ir::{Context, Dialect};
use optc::describe;

const BEGIN: &str = "<!-- from the rows: OPTC_BLESS=1 cargo test -p optc-tests --test reference -->\n";
const END: &str = "<!-- end of the rows -->\n";

/// A document with what stands between its two marks replaced by tables of all dialects of `ctx`.
///
/// # Errors
/// If it does not have the marks.
pub fn with_tables(document: &str, ctx: &Context) -> Result<String, String> {
    let missing = |mark: &str| format!("the document lacks the line {}", mark.trim_end());
    let (before, rest) = document.split_once(BEGIN).ok_or_else(|| missing(BEGIN))?;
    let (_, after) = rest.split_once(END).ok_or_else(|| missing(END))?;
    let tables: String = ctx.dialects().map(table).collect();
    Ok(format!("{before}{BEGIN}{tables}\n{END}{after}"))
}

fn table(dialect: &Dialect) -> String {
    let mut text = format!("\n### `{}`\n\n{}\n\n", dialect.name, cell(dialect.doc));
    text += "| operation | what it is | operands | attributes | kind |\n|---|---|---|---|---|\n";
    for def in dialect.ops() {
        let (operands, attrs) = (values(def.operands), attributes(def.attrs));
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
        let (kind, presence) = (describe::attr_kind(attr.kind), describe::presence(attr.presence));
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

/// A sentence as it may stand in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_the_marks_is_replaced() {
        let ctx = Context::new();
        let document = format!("a\n{BEGIN}what was\n{END}b\n");
        let found = with_tables(&document, &ctx).unwrap();
        assert!(found.starts_with("a\n") && found.ends_with("b\n") && !found.contains("what was"), "{found}");
        assert!(found.contains("| `nn.relu` |"), "{found}");
        assert_eq!(with_tables(&found, &ctx).unwrap(), found);
        assert!(with_tables("a\nb\n", &ctx).unwrap_err().starts_with("the document lacks the line <!--"));
    }
}
