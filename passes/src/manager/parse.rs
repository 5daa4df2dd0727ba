//! Parser of a pipeline's text.
//!
//! ```text
//! pipeline := [element {"," element}]
//! element  := pass [options]  |  "default" [options]  |  ("module" | "func") "(" pipeline ")"
//! options  := "{" [option {("," | " ") option}] "}"
//! option   := name ["=" (word | "\"" text "\"")]
//! ```
//!
//! Spaces are allowed between any two of these. `builtin.module` and `func.func` are other names of the two
//! nests. `default` stands for the passes from a function to its plan, and has the options of `plan`.

use ir::diag::did_you_mean;
use ir::{Context, Diagnostic, Location};

use super::default::{DEFAULT, default_pipeline};
use super::pipeline::ends_value;
use super::{
    Anchor, Invocation, OptionKind, Origin, PassDef, PassOptions, PassRow, Pipeline, PipelineItem, Registry,
    Stage,
};
use crate::precision::Precision;
use crate::tradeoff::Goal;

/// The option of `plan` for the goal of its optimization.
const OPTIMIZE: &str = "optimize";

/// The limit of nesting.
const DEPTH_LIMIT: usize = 32;

impl Pipeline {
    /// Parses a pipeline and adds the mandatory stages.
    ///
    /// # Errors
    /// All errors at once, with locations in `text` and hints: unknown passes and options, values of the
    /// wrong type, passes that can't run where they are nested, wrong order. A syntax error ends parsing.
    pub fn parse(ctx: &Context, text: &str, registry: &Registry) -> Result<Pipeline, Vec<Diagnostic>> {
        let start = ctx.add_source("--passes", text.to_owned()).start;
        let mut parser = Parser { text, at: 0, start, registry, errors: Vec::new() };
        let items = parser.items(Anchor::Module, 0).and_then(|items| parser.end().map(|()| items));
        match items {
            Ok(items) if parser.errors.is_empty() => Pipeline::new(items, registry),
            Ok(_) => Err(parser.errors),
            Err(error) => {
                parser.errors.push(error);
                Err(parser.errors)
            }
        }
    }
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    start: u32,
    registry: &'a Registry,
    errors: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn items(&mut self, anchor: Anchor, depth: usize) -> Result<Vec<PipelineItem>, Diagnostic> {
        let mut items = Vec::new();
        self.skip_space();
        if self.rest().is_empty() || self.rest().starts_with(')') {
            return Ok(items);
        }
        loop {
            items.extend(self.item(anchor, depth)?);
            if !self.eat(',') {
                return Ok(items);
            }
        }
    }

    /// One element, or the passes that it stands for; none if it was refused, with an error recorded.
    fn item(&mut self, anchor: Anchor, depth: usize) -> Result<Vec<PipelineItem>, Diagnostic> {
        self.skip_space();
        let at = self.at;
        let name = self.word("a pass")?;
        let nested = match name {
            "module" | "builtin.module" => Some(Anchor::Module),
            "func" | "func.func" => Some(Anchor::Function),
            _ => None,
        };
        match nested {
            Some(nested) => Ok(vec![self.nest(at, anchor, nested, depth)?]),
            None if name == DEFAULT && anchor == Anchor::Module => self.default_passes(at),
            None => Ok(self.pass(at, name, anchor)?.into_iter().collect()),
        }
    }

    /// The passes of `default`. They have its location, and so do errors in passes that the registry inserts.
    fn default_passes(&mut self, at: usize) -> Result<Vec<PipelineItem>, Diagnostic> {
        let options = self.options(self.registry.of_stage(Stage::Plan).map(|def| &**def))?;
        let goal = options.is_given(OPTIMIZE).then(|| Goal::named(&options.text(OPTIMIZE))).flatten();
        let text = default_pipeline(self.registry, None, goal.unwrap_or_default(), None, Precision::F32);
        let mut parser = Parser { text: &text, at: 0, errors: Vec::new(), ..*self };
        let items = parser.items(Anchor::Module, 0).and_then(|items| parser.end().map(|()| items));
        let location = self.location(at);
        let here = |error: Diagnostic| Diagnostic { location, ..error };
        self.errors.extend(parser.errors.into_iter().map(here));
        let mut items = items.map_err(here)?;
        let is_said = options.given().next().is_some();
        let is_plan = |pass: &&mut Invocation| pass.def.stage.stage() == Some(Stage::Plan);
        let passes = items.iter_mut().filter_map(|item| match item {
            PipelineItem::Pass(pass) => Some(pass),
            PipelineItem::Nest(..) => None,
        });
        if let Some(plan) = passes.filter(is_plan).last().filter(|_| is_said) {
            plan.options = options;
        }
        Ok(items)
    }

    fn nest(
        &mut self,
        at: usize,
        around: Anchor,
        anchor: Anchor,
        depth: usize,
    ) -> Result<PipelineItem, Diagnostic> {
        let name = anchor.name();
        if around == Anchor::Function {
            self.errors.push(self.error(at, format!("`{name}(...)` can't stand inside `func(...)`")));
        }
        if depth == DEPTH_LIMIT {
            return Err(self.error(at, format!("nests are at most {DEPTH_LIMIT} deep")));
        }
        self.expect('(', &format!("after `{name}`"))?;
        let items = self.items(anchor, depth + 1)?;
        self.expect(')', &format!("at the end of `{name}(`"))?;
        Ok(PipelineItem::Nest(anchor, items))
    }

    fn pass(&mut self, at: usize, name: &str, anchor: Anchor) -> Result<Option<PipelineItem>, Diagnostic> {
        let def = self.registry.get(name);
        let location = self.location(at);
        match def {
            None if name == DEFAULT => {
                let message = format!("`{DEFAULT}` works on a module, and can't stand inside `func(...)`");
                self.errors.push(self.error(at, message));
            }
            None => self.unknown_pass(at, name),
            Some(def) if !anchor.takes(&def.run) => {
                let message = format!("pass `{name}` works on a module, and can't run inside `func(...)`");
                let error = self.error(at, message).with_help(format!("name `{name}` outside of the nest"));
                self.errors.push(error);
            }
            Some(_) => {}
        }
        let options = self.options(def.map(|def| &**def))?;
        let named = |def: &PassRow| Invocation { def: def.clone(), options, origin: Origin::Named, location };
        Ok(def.map(named).map(PipelineItem::Pass))
    }

    fn unknown_pass(&mut self, at: usize, name: &str) {
        let known = self.registry.iter().map(|def| def.name).chain([DEFAULT, "module", "func"]);
        let hint = did_you_mean(name, known)
            .unwrap_or_else(|| "`optc passes` lists the passes that there are".to_owned());
        let error = self.error(at, format!("there is no pass `{name}`")).with_help(hint);
        self.errors.push(error);
    }

    fn options(&mut self, def: Option<&PassDef>) -> Result<PassOptions, Diagnostic> {
        let mut options = PassOptions::defaults(def.map_or(&[], |def| def.options));
        if !self.eat('{') {
            return Ok(options);
        }
        loop {
            while self.eat(',') {}
            if self.eat('}') {
                return Ok(options);
            }
            self.option(def, &mut options)?;
        }
    }

    fn option(&mut self, def: Option<&PassDef>, options: &mut PassOptions) -> Result<(), Diagnostic> {
        self.skip_space();
        let at = self.at;
        let name = self.word("an option or `}`")?;
        let value = if self.eat('=') { Some(self.value()?) } else { None };
        let Some(def) = def else {
            return Ok(());
        };
        let Some(option) = def.options.iter().find(|option| option.name == name) else {
            self.unknown_option(at, def, name);
            return Ok(());
        };
        let (value_at, value) = match value {
            Some(value) => value,
            None if option.kind == OptionKind::Flag => (at, "true".to_owned()),
            None => {
                let message = format!("option `{name}` of `{}` needs a value", def.name);
                let help = format!("write `{name}=` and {}", option.kind.expected());
                let error = self.error(at, message).with_help(help);
                self.errors.push(error);
                return Ok(());
            }
        };
        if options.is_given(name) {
            let error = self.error(at, format!("option `{name}` of `{}` is given twice", def.name));
            self.errors.push(error);
        }
        if let Err((expected, hint)) = options.set(name, &value) {
            let message = format!("option `{name}` of `{}` takes {expected}, found `{value}`", def.name);
            let error = self.error(value_at, message);
            self.errors.push(Diagnostic { help: hint, ..error });
        }
        Ok(())
    }

    fn unknown_option(&mut self, at: usize, def: &PassDef, name: &str) {
        let names = def.options.iter().map(|option| option.name);
        let hint = did_you_mean(name, names.clone()).unwrap_or_else(|| {
            let list: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            if list.is_empty() { "it has none".to_owned() } else { format!("it has {}", list.join(", ")) }
        });
        let message = format!("pass `{}` has no option `{name}`", def.name);
        let error = self.error(at, message).with_help(hint);
        self.errors.push(error);
    }

    /// A value, with its start.
    fn value(&mut self) -> Result<(usize, String), Diagnostic> {
        self.skip_space();
        let at = self.at;
        if self.rest().starts_with('"') {
            return Ok((at, self.quoted()?));
        }
        let rest = self.rest();
        let length = rest.find(ends_value).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.error(at, "expected a value after `=`"));
        }
        self.at += length;
        Ok((at, rest[..length].to_owned()))
    }

    fn quoted(&mut self) -> Result<String, Diagnostic> {
        let at = self.at;
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((index, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += index + 1;
                    return Ok(text);
                }
                '\\' => text.extend(chars.next().map(|(_, escaped)| escaped)),
                c => text.push(c),
            }
        }
        Err(self.error(at, "expected `\"` at the end of the text"))
    }

    fn word(&mut self, expected: &str) -> Result<&'a str, Diagnostic> {
        self.skip_space();
        let rest = self.rest();
        let length = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.error(self.at, format!("expected {expected}, found {}", self.found())));
        }
        self.at += length;
        Ok(&rest[..length])
    }

    fn end(&mut self) -> Result<(), Diagnostic> {
        self.skip_space();
        if self.rest().is_empty() {
            Ok(())
        } else {
            Err(self.error(self.at, format!("expected `,` or the end, found {}", self.found())))
        }
    }

    fn expect(&mut self, wanted: char, place: &str) -> Result<(), Diagnostic> {
        if self.eat(wanted) {
            Ok(())
        } else {
            Err(self.error(self.at, format!("expected `{wanted}` {place}, found {}", self.found())))
        }
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn found(&self) -> String {
        self.rest().chars().next().map_or("the end".to_owned(), |c| format!("`{c}`"))
    }

    fn location(&self, at: usize) -> Location {
        Location::at_source(self.start + at as u32)
    }

    fn error(&self, at: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.location(at), message)
    }
}
