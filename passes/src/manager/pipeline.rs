//! Pipelines: the passes to run, and their order.

use std::fmt;

use ir::{Diagnostic, Location};

use super::registry::TabledRules;
use super::{PassOptions, PassRow, PassRun, Registry, Stage, StageRule};
use crate::rewrite::RuleSet;

/// A sequence of passes, completed with the mandatory ones. Its text form parses back to the same pipeline.
#[derive(Clone)]
pub struct Pipeline {
    items: Vec<PipelineItem>,
    rules: TabledRules,
}

/// One element of a pipeline.
#[derive(Clone)]
pub enum PipelineItem {
    /// A pass.
    Pass(Invocation),
    /// `func(...)`: passes on the operations inside.
    Nest(Anchor, Vec<PipelineItem>),
}

/// The operations that a nest works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// `module(...)`: modules.
    Module,
    /// `func(...)`: functions.
    Function,
}

/// A pass with its options.
#[derive(Clone)]
pub struct Invocation {
    /// The pass.
    pub def: PassRow,
    /// Its options.
    pub options: PassOptions,
    /// Whether it was given or inserted.
    pub origin: Origin,
    /// Its position in the pipeline's text, or the reason why it was inserted.
    pub location: Location,
}

/// Whether a pass was given or inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user named it.
    Named,
    /// It was missing and was inserted; it skips functions that have reached its stage.
    Inserted,
}

impl Anchor {
    /// Its name in pipelines.
    pub fn name(self) -> &'static str {
        match self {
            Anchor::Module => "module",
            Anchor::Function => "func",
        }
    }

    /// Whether a pass can run here.
    pub(super) fn takes(self, run: &PassRun) -> bool {
        self == Anchor::Module || run.function().is_some()
    }
}

impl Pipeline {
    /// All stages of the registry, in order; a function skips the stages that it has already reached.
    pub fn canonical(registry: &Registry) -> Pipeline {
        let defs = Stage::ALL.into_iter().filter_map(|stage| registry.of_stage(stage));
        let items = defs.map(|def| PipelineItem::Pass(inserted(def, Location::UNKNOWN))).collect();
        Pipeline { items, rules: registry.tabled_rules().clone() }
    }

    /// These passes, with missing mandatory stages inserted.
    ///
    /// # Errors
    /// If a pass comes after one that must come later.
    pub fn new(mut items: Vec<PipelineItem>, registry: &Registry) -> Result<Pipeline, Vec<Diagnostic>> {
        let mut completion = Completion { registry, reached: None, errors: Vec::new() };
        completion.complete(&mut items);
        if completion.errors.is_empty() {
            Ok(Pipeline { items, rules: registry.tabled_rules().clone() })
        } else {
            Err(completion.errors)
        }
    }

    /// The elements.
    pub fn items(&self) -> &[PipelineItem] {
        &self.items
    }

    /// The rules for the passes: those of this pipeline's registry.
    pub fn rules(&self) -> &RuleSet {
        self.rules.read()
    }

    /// The passes in the order in which they run.
    pub fn passes(&self) -> Vec<&Invocation> {
        let mut passes = Vec::new();
        flatten(&self.items, &mut passes);
        passes
    }
}

fn flatten<'a>(items: &'a [PipelineItem], out: &mut Vec<&'a Invocation>) {
    for item in items {
        match item {
            PipelineItem::Pass(pass) => out.push(pass),
            PipelineItem::Nest(_, items) => flatten(items, out),
        }
    }
}

fn inserted(def: &PassRow, location: Location) -> Invocation {
    let options = PassOptions::defaults(def.options);
    Invocation { def: def.clone(), options, origin: Origin::Inserted, location }
}

/// Inserts missing stages, and reports passes in the wrong order.
struct Completion<'a> {
    registry: &'a Registry,
    reached: Option<Stage>,
    errors: Vec<Diagnostic>,
}

impl Completion<'_> {
    fn complete(&mut self, items: &mut Vec<PipelineItem>) {
        let mut completed = Vec::with_capacity(items.len());
        for item in items.drain(..) {
            match item {
                PipelineItem::Nest(anchor, mut nested) => {
                    self.complete(&mut nested);
                    completed.push(PipelineItem::Nest(anchor, nested));
                }
                PipelineItem::Pass(pass) => {
                    let missing = self.missing_before(&pass);
                    completed.extend(missing.into_iter().map(PipelineItem::Pass));
                    completed.push(PipelineItem::Pass(pass));
                }
            }
        }
        *items = completed;
    }

    /// The mandatory passes missing before `pass`, which then counts as run.
    fn missing_before(&mut self, pass: &Invocation) -> Vec<Invocation> {
        if !pass.def.stage.allows(self.reached) {
            let reached = self.reached.expect("every pass may run on what has just been read").name();
            let message = format!("pass `{}` can't run after `{reached}`", pass.def.name);
            let help = format!("name `{}` before `{reached}`", pass.def.name);
            self.errors.push(Diagnostic::error(pass.location, message).with_help(help));
        }
        let StageRule::Is(stage) = pass.def.stage else {
            return Vec::new();
        };
        let between = |other: &Stage| Some(*other) > self.reached && *other < stage && other.is_mandatory();
        let missing = Stage::ALL.into_iter().filter(between);
        let defs = missing.filter_map(|stage| self.registry.of_stage(stage));
        let inserted = defs.map(|def| inserted(def, pass.location)).collect();
        self.reached = self.reached.max(Some(stage));
        inserted
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_items(f, &self.items)
    }
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.def.name)?;
        let given: Vec<String> = self.options.given().map(write_option).collect();
        if given.is_empty() { Ok(()) } else { write!(f, "{{{}}}", given.join(" ")) }
    }
}

fn write_items(f: &mut fmt::Formatter<'_>, items: &[PipelineItem]) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(",")?;
        }
        match item {
            PipelineItem::Pass(pass) => write!(f, "{pass}")?,
            PipelineItem::Nest(anchor, items) => {
                write!(f, "{}(", anchor.name())?;
                write_items(f, items)?;
                f.write_str(")")?;
            }
        }
    }
    Ok(())
}

/// Whether a value without quotes ends before this character.
pub(super) fn ends_value(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | '}')
}

/// `name=value`, quoted if the plain value would not parse back.
fn write_option((name, value): (&str, &str)) -> String {
    let is_plain = !value.is_empty() && !value.contains(ends_value) && !value.contains(['"', '\\']);
    if is_plain {
        format!("{name}={value}")
    } else {
        format!("{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
    }
}
