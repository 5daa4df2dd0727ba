//! Which passes and which rules there are.

use std::sync::Arc;

use ir::{Body, Diagnostic, Module};

use super::{OptionDef, PassContext, Stage, StageRule};
use crate::rewrite::{Rule, RuleSet};

/// The row of a pass.
pub struct PassDef {
    /// Its name in pipelines.
    pub name: &'static str,
    /// What it does, in a sentence or two.
    pub doc: &'static str,
    /// What can be set.
    pub options: &'static [OptionDef],
    /// A program before and after it, run by a test.
    pub example: Example,
    /// Where in the canonical pipeline it may run.
    pub stage: StageRule,
    /// What does it.
    pub run: PassRun,
}

impl PassDef {
    /// A pass that does nothing, anywhere, without options or example: what rows start from.
    pub const BLANK: PassDef = PassDef {
        name: "",
        doc: "",
        options: &[],
        example: Example { before: "", after: "" },
        stage: StageRule::Any,
        run: PassRun::Function(|_, _| Ok(())),
    };
}

/// A program before and after a pass.
pub struct Example {
    /// IR text.
    pub before: &'static str,
    /// What is printed after the pass ran on it with its default options.
    pub after: &'static str,
}

/// What a pass works on. It gives all its errors at once; the module is then in no defined state.
#[derive(Clone, Copy)]
pub enum PassRun {
    /// Each function by itself (not declarations), in parallel where there are several.
    Function(fn(&PassContext<'_>, &mut Body) -> Result<(), Vec<Diagnostic>>),
    /// The whole module.
    Module(fn(&PassContext<'_>, &mut Module) -> Result<(), Vec<Diagnostic>>),
}

/// The passes that pipelines may name, and the rules by which `canonicalize` and `simplify` rewrite.
#[derive(Clone)]
pub struct Registry {
    passes: Vec<&'static PassDef>,
    rules: Arc<RuleSet>,
}

impl Registry {
    /// No passes and no rules.
    pub fn empty() -> Registry {
        Registry { passes: Vec::new(), rules: Arc::default() }
    }

    /// Adds a pass. A name that is taken is a defect of whoever registers it.
    pub fn register(&mut self, def: &'static PassDef) {
        assert!(self.get(def.name).is_none(), "two passes are named `{}`", def.name);
        self.passes.push(def);
    }

    /// Adds rules for `canonicalize`, and laws for it and for `simplify`. A name that is taken is a defect
    /// of whoever registers it.
    pub fn register_rules(&mut self, rules: &'static [Rule]) {
        let set = Arc::make_mut(&mut self.rules);
        rules.iter().for_each(|rule| set.add(rule));
    }

    /// All rules, laws among them.
    pub fn rules(&self) -> &Arc<RuleSet> {
        &self.rules
    }

    /// The pass of this name.
    pub fn get(&self, name: &str) -> Option<&'static PassDef> {
        self.iter().find(|def| def.name == name)
    }

    /// All passes, in the order of their registration.
    pub fn iter(&self) -> impl Iterator<Item = &'static PassDef> + '_ {
        self.passes.iter().copied()
    }

    /// The pass that is this stage.
    pub fn of_stage(&self, stage: Stage) -> Option<&'static PassDef> {
        self.iter().find(|def| def.stage == StageRule::Is(stage))
    }
}
