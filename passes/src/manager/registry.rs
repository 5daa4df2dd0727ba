//! The registry of passes and rules, with extensions of the pipeline `default`.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use ir::{Body, Diagnostic, Module};

use super::{OptionDef, PassContext, Stage, StageRule};
use crate::rewrite::{Rule, RuleSet};

/// A row that describes a pass.
pub struct PassDef {
    /// Its name in pipelines.
    pub name: &'static str,
    /// What it does, in a sentence or two.
    pub doc: &'static str,
    /// Its options.
    pub options: &'static [OptionDef],
    /// A program before and after it, checked by a test.
    pub example: Example,
    /// Where in the canonical pipeline it may run.
    pub stage: StageRule,
    /// Its implementation.
    pub run: PassRun,
}

impl PassDef {
    /// A pass without effect, options or example, to start a row from.
    pub const BLANK: PassDef = PassDef {
        name: "",
        doc: "",
        options: &[],
        example: Example { before: "", after: "" },
        stage: StageRule::Any,
        run: PassRun::Function(|_, _| Ok(())),
    };
}

/// An example: a program before and after a pass.
pub struct Example {
    /// IR text.
    pub before: &'static str,
    /// The printed program after the pass ran on it with its default options.
    pub after: &'static str,
}

/// A pass on a function. It may hold state: a table of costs, a connection.
pub type FunctionPass = dyn Fn(&PassContext<'_>, &mut Body) -> Result<(), Vec<Diagnostic>> + Send + Sync;

/// A pass on a module. It may hold state.
pub type ModulePass = dyn Fn(&PassContext<'_>, &mut Module) -> Result<(), Vec<Diagnostic>> + Send + Sync;

/// The implementation of a pass. It returns all its errors at once; the module is then in no defined state.
#[derive(Clone)]
pub enum PassRun {
    /// Runs on each function by itself (not declarations), in parallel if there are several.
    Function(fn(&PassContext<'_>, &mut Body) -> Result<(), Vec<Diagnostic>>),
    /// Runs on the whole module.
    Module(fn(&PassContext<'_>, &mut Module) -> Result<(), Vec<Diagnostic>>),
    /// As `Function`, with state.
    SharedFunction(Arc<FunctionPass>),
    /// As `Module`, with state.
    SharedModule(Arc<ModulePass>),
}

impl PassRun {
    /// A pass on functions, as a closure. With several threads it runs on several functions at once, so
    /// shared state must not depend on their order.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use std::sync::Arc;
    /// use passes::manager::{PassDef, PassRun, Registry};
    ///
    /// let seen = Arc::new(Mutex::new(Vec::new()));
    /// let log = seen.clone();
    /// let run = PassRun::on_functions(move |pass, body| {
    ///     log.lock().unwrap().extend(body.symbol(pass.ctx).map(str::to_owned));
    ///     Ok(())
    /// });
    /// let mut registry = Registry::new();
    /// registry.add(PassDef { name: "log", doc: "Notes the names of functions.", run, ..PassDef::BLANK });
    /// ```
    pub fn on_functions(
        run: impl Fn(&PassContext<'_>, &mut Body) -> Result<(), Vec<Diagnostic>> + Send + Sync + 'static,
    ) -> PassRun {
        PassRun::SharedFunction(Arc::new(run))
    }

    /// A pass on modules, as a closure.
    pub fn on_module(
        run: impl Fn(&PassContext<'_>, &mut Module) -> Result<(), Vec<Diagnostic>> + Send + Sync + 'static,
    ) -> PassRun {
        PassRun::SharedModule(Arc::new(run))
    }

    /// The function that it calls for each function; none if it works on modules.
    pub fn function(&self) -> Option<&FunctionPass> {
        match self {
            PassRun::Function(run) => Some(run),
            PassRun::SharedFunction(run) => Some(&**run),
            PassRun::Module(_) | PassRun::SharedModule(_) => None,
        }
    }
}

/// A pass in a registry: a row of a static table, or one created at run time.
#[derive(Clone)]
pub enum PassRow {
    /// A row of a table.
    Table(&'static PassDef),
    /// A pass created at run time.
    Made(Arc<PassDef>),
}

impl Deref for PassRow {
    type Target = PassDef;

    fn deref(&self) -> &PassDef {
        match self {
            PassRow::Table(def) => def,
            PassRow::Made(def) => def,
        }
    }
}

/// Passes in the pipeline `default` after one of its stages, or before all.
#[derive(Clone)]
struct DefaultPasses {
    after: Option<Stage>,
    passes: String,
}

/// Rules of tables, parsed on first use by this set or a clone of it.
#[derive(Clone, Default)]
pub(super) struct TabledRules {
    tables: Vec<&'static [Rule]>,
    read: Arc<OnceLock<RuleSet>>,
}

impl TabledRules {
    fn add(&mut self, rules: &'static [Rule]) {
        self.tables.push(rules);
        self.read = Arc::default();
    }

    /// All of the rules.
    pub(super) fn read(&self) -> &RuleSet {
        self.read.get_or_init(|| {
            let mut set = RuleSet::default();
            self.tables.iter().copied().flatten().for_each(|rule| set.add(rule));
            set
        })
    }
}

/// The passes that pipelines may name, and the rules that `canonicalize` and `simplify` apply.
#[derive(Clone)]
pub struct Registry {
    passes: Vec<PassRow>,
    rules: TabledRules,
    extensions: Vec<DefaultPasses>,
}

impl Registry {
    /// A registry without passes and rules.
    pub fn empty() -> Registry {
        Registry { passes: Vec::new(), rules: TabledRules::default(), extensions: Vec::new() }
    }

    /// Adds a pass. A duplicate name is a defect of the caller.
    pub fn register(&mut self, def: &'static PassDef) {
        self.push(PassRow::Table(def));
    }

    /// Adds a pass created at run time, usually a closure ([`PassRun::on_functions`]). It is dropped with the
    /// last registry or pipeline that contains it. A duplicate name is a defect of the caller.
    pub fn add(&mut self, def: PassDef) {
        self.push(PassRow::Made(Arc::new(def)));
    }

    fn push(&mut self, row: PassRow) {
        assert!(self.get(row.name).is_none(), "two passes are named `{}`", row.name);
        self.passes.push(row);
    }

    /// Inserts passes into the pipeline `default`: directly after a stage, or before all stages. Passes
    /// inserted at the same position run in the order of these calls. They do not run on a program that has
    /// already reached the stage.
    ///
    /// ```
    /// use passes::manager::{Pipeline, Registry, Stage};
    ///
    /// let mut registry = Registry::new();
    /// registry.extend_default(Some(Stage::Simplify), "cse,dce");
    /// let pipeline = Pipeline::parse(&ir::Context::new(), "default", &registry).unwrap().to_string();
    /// assert!(pipeline.contains("simplify,cse,dce,layout"), "{pipeline}");
    /// ```
    pub fn extend_default(&mut self, after: Option<Stage>, passes: &str) {
        self.extensions.push(DefaultPasses { after, passes: passes.to_owned() });
    }

    /// The passes inserted into `default` after a stage, or before all.
    pub fn extensions(&self, after: Option<Stage>) -> impl Iterator<Item = &str> {
        self.extensions.iter().filter(move |some| some.after == after).map(|some| some.passes.as_str())
    }

    /// Adds rules for `canonicalize`, and laws for `canonicalize` and `simplify`. A duplicate name is a
    /// defect of the caller, which is found when the rules are first used.
    pub fn register_rules(&mut self, rules: &'static [Rule]) {
        self.rules.add(rules);
    }

    /// All rules, including laws.
    pub fn rules(&self) -> &RuleSet {
        self.rules.read()
    }

    /// All rules, not parsed yet.
    pub(super) fn tabled_rules(&self) -> &TabledRules {
        &self.rules
    }

    /// The pass of this name.
    pub fn get(&self, name: &str) -> Option<&PassRow> {
        self.iter().find(|def| def.name == name)
    }

    /// All passes, in the order of their registration.
    pub fn iter(&self) -> impl Iterator<Item = &PassRow> {
        self.passes.iter()
    }

    /// The pass of a stage.
    pub fn of_stage(&self, stage: Stage) -> Option<&PassRow> {
        self.iter().find(|def| def.stage == StageRule::Is(stage))
    }
}
