//! `optc passes`, `optc ops`: what there is.

use std::fmt::Write;

use clap::Args;
use import::onnx::rows::{Coverage, coverage};
use ir::diag::nearest;
use passes::canonicalize::CANONICALIZE;
use passes::manager::Registry;
use passes::rewrite::Action;
use passes::simplify::SIMPLIFY;

use super::write_output;
use crate::describe;
use crate::failure::Failure;
use crate::opt::Setup;

/// The pass or operation to describe.
#[derive(Args)]
pub(super) struct NameArgs {
    /// The one to describe in full, or a dialect whose operations to list [default: list all].
    name: Option<String>,
}

/// The operation to describe, or the operators of ONNX.
#[derive(Args)]
pub(super) struct OpsArgs {
    /// The one to describe in full, or a dialect whose operations to list [default: list all].
    name: Option<String>,
    /// List the operators of ONNX that models may have, with the versions of the operator set in which they
    /// are known and their attributes, or the one of this name.
    #[arg(long)]
    onnx: bool,
}

pub(super) fn passes(setup: &Setup<'_>, args: &NameArgs) -> Result<(), Failure> {
    let registry = &setup.registry;
    let mut text = String::new();
    match &args.name {
        None => registry.iter().for_each(|def| line(&mut text, def.name, def.doc)),
        Some(name) => match registry.get(name) {
            Some(def) => {
                text.push_str(&describe::pass(def));
                if def.name == CANONICALIZE.name {
                    list_rules(&mut text, registry, |action| {
                        !matches!(action, Action::Law { exact: false, .. })
                    });
                } else if def.name == SIMPLIFY.name {
                    list_rules(&mut text, registry, |action| matches!(action, Action::Law { .. }));
                }
            }
            None => {
                let near = nearest(name, registry.iter().map(|def| def.name));
                return Err(unknown("pass", name, near.first().copied()));
            }
        },
    }
    write_output(&text, None)
}

pub(super) fn ops(setup: &Setup<'_>, args: &OpsArgs) -> Result<(), Failure> {
    if args.onnx {
        return onnx_operators(args.name.as_deref());
    }
    let ctx = setup.context();
    let mut text = String::new();
    match &args.name {
        None => ctx.dialects().flat_map(ir::Dialect::ops).for_each(|def| line(&mut text, def.name, def.doc)),
        Some(name) => {
            match (ctx.def(ctx.op_name(name)), ctx.dialects().find(|dialect| dialect.name == name.as_str())) {
                (Some(def), _) => text.push_str(&describe::op(def)),
                (None, Some(dialect)) => dialect.ops().for_each(|def| line(&mut text, def.name, def.doc)),
                (None, None) => {
                    return Err(unknown("operation", name, ctx.similar_ops(name).first().copied()));
                }
            }
        }
    }
    write_output(&text, None)
}

fn onnx_operators(name: Option<&str>) -> Result<(), Failure> {
    let all = coverage();
    let mut text = String::new();
    for Coverage { op, versions, attributes } in &all {
        if name.is_none_or(|name| name == *op) {
            let versions = format!("{} to {}", versions.start(), versions.end());
            let line = format!("{op:26} {versions:9} {}", attributes.join(", "));
            writeln!(text, "{}", line.trim_end()).expect("writing to a string");
        }
    }
    match name {
        Some(name) if text.is_empty() => {
            let near = nearest(name, all.iter().map(|known| known.op));
            Err(unknown("operator of ONNX", name, near.first().copied()))
        }
        _ => write_output(&text, None),
    }
}

fn unknown(what: &str, name: &str, near: Option<&str>) -> Failure {
    let hint = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
    Failure::input(format!("there is no {what} `{name}`{hint}"))
}

fn line(text: &mut String, name: &str, doc: &str) {
    let first = doc.split_inclusive(". ").next().unwrap_or(doc).trim_end();
    writeln!(text, "{name:24} {first}").expect("writing to a string");
}

/// The rules that a pass applies, those of other crates too, and which laws hold for numbers only.
fn list_rules(text: &mut String, registry: &Registry, applies: impl Fn(&Action) -> bool) {
    text.push_str("\nrules:\n");
    for rule in registry.rules().iter().filter(|rule| applies(&rule.action)) {
        let near = if let Action::Law { exact: false, .. } = rule.action { "  (near)" } else { "" };
        writeln!(text, "  {:26} {}{near}", rule.name, rule.doc()).expect("writing to a string");
    }
}
