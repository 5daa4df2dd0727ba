//! `optc passes`, `optc ops`: lists of passes and operations.

pub(super) mod report;

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use import::onnx::rows::{Coverage, coverage};
use ir::Dialect;
use ir::diag::nearest;
use ir::opdef::OpDef;
use passes::canonicalize::CANONICALIZE;
use passes::manager::{PassDef, Registry};
use passes::rewrite::Action;
use passes::simplify::SIMPLIFY;

use self::report::{OpList, OperatorList, PassList};
use super::output::{instead, json};
use super::write_output;
use crate::describe;
use crate::failure::Failure;
use crate::opt::Setup;

/// The pass or operation to describe.
#[derive(Args)]
pub(super) struct NameArgs {
    /// A pass to describe in full [default: list all].
    name: Option<String>,
    /// Write the list as JSON to a file; `-` prints it instead of the text.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
}

/// The operation to describe, or the operators of ONNX.
#[derive(Args)]
pub(super) struct OpsArgs {
    /// An operation to describe in full, or a dialect whose operations to list [default: list all].
    name: Option<String>,
    /// List the supported operators of ONNX, or describe one: the versions of the operator set, the
    /// attributes and the element types.
    #[arg(long)]
    onnx: bool,
    /// Write the list as JSON to a file; `-` prints it instead of the text.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
}

pub(super) fn passes(setup: &Setup, args: &NameArgs) -> Result<(), Failure> {
    let registry = &setup.registry;
    let mut text = String::new();
    let listed: Vec<&PassDef> = match &args.name {
        None => {
            registry.iter().for_each(|def| line(&mut text, def.name, def.doc));
            registry.iter().map(|def| &**def).collect()
        }
        Some(name) => {
            let near = || nearest(name, registry.iter().map(|def| def.name)).first().copied();
            let def = registry.get(name).ok_or_else(|| unknown("pass", name, near()))?;
            text.push_str(&describe::pass(def));
            if def.name == CANONICALIZE.name {
                list_rules(&mut text, registry, |action| !matches!(action, Action::Law { exact: false, .. }));
            } else if def.name == SIMPLIFY.name {
                list_rules(&mut text, registry, |action| matches!(action, Action::Law { .. }));
            }
            vec![&**def]
        }
    };
    write_output(&instead(&args.json, || json(&PassList::of(&listed)), text)?, None)
}

pub(super) fn ops(setup: &Setup, args: &OpsArgs) -> Result<(), Failure> {
    if args.onnx {
        return onnx_operators(args);
    }
    let ctx = setup.context();
    let mut text = String::new();
    let found = args.name.as_ref().map(|name| (name, ctx.def(ctx.op_name(name))));
    let listed: Vec<&OpDef> = match found {
        Some((_, Some(def))) => {
            text.push_str(&describe::op(def));
            vec![def]
        }
        wanted => {
            let name = wanted.map(|(name, _)| name.as_str());
            let dialects: Vec<&Dialect> =
                ctx.dialects().filter(|dialect| name.is_none_or(|name| name == dialect.name)).collect();
            if let (Some(name), true) = (name, dialects.is_empty()) {
                return Err(unknown("operation", name, ctx.similar_op(name)));
            }
            let listed: Vec<&OpDef> = dialects.into_iter().flat_map(Dialect::ops).collect();
            listed.iter().for_each(|def| line(&mut text, def.name, def.doc));
            listed
        }
    };
    write_output(&instead(&args.json, || json(&OpList::of(&listed)), text)?, None)
}

fn onnx_operators(args: &OpsArgs) -> Result<(), Failure> {
    let all = coverage();
    let name = args.name.as_deref();
    let listed: Vec<&Coverage> =
        all.iter().filter(|known| name.is_none_or(|name| name == known.op)).collect();
    if let (Some(name), true) = (name, listed.is_empty()) {
        let near = nearest(name, all.iter().map(|known| known.op));
        return Err(unknown("operator of ONNX", name, near.first().copied()));
    }
    let mut text = String::new();
    for Coverage { op, versions, attributes, element_types } in &listed {
        let versions = format!("{} to {}", versions.start(), versions.end());
        let line = format!("{op:34} {versions:9} {element_types:38} {}", attributes.join(", "));
        writeln!(text, "{}", line.trim_end()).expect("writing to a string");
    }
    write_output(&instead(&args.json, || json(&OperatorList::of(&listed)), text)?, None)
}

fn unknown(what: &str, name: &str, near: Option<&str>) -> Failure {
    let hint = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
    Failure::input(format!("there is no {what} `{name}`{hint}"))
}

fn line(text: &mut String, name: &str, doc: &str) {
    let first = doc.split_inclusive(". ").next().unwrap_or(doc).trim_end();
    writeln!(text, "{name:24} {first}").expect("writing to a string");
}

/// The rules that a pass applies, including those of other crates, with a mark for near laws.
fn list_rules(text: &mut String, registry: &Registry, applies: impl Fn(&Action) -> bool) {
    text.push_str("\nrules:\n");
    for rule in registry.rules().iter().filter(|rule| applies(&rule.action)) {
        let near = if let Action::Law { exact: false, .. } = rule.action { "  (near)" } else { "" };
        writeln!(text, "  {:26} {}{near}", rule.name, rule.doc()).expect("writing to a string");
    }
}
