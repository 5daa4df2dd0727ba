//! Options of passes and their values.

use ir::diag::did_you_mean;

/// One option of a pass.
pub struct OptionDef {
    /// Its name, as in `fuse{max-ops=64}`.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: OptionKind,
    /// Its default value, as text.
    pub default: &'static str,
    /// What it does, with its unit.
    pub doc: &'static str,
}

/// A kind of option values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionKind {
    /// `true` or `false`; the bare name stands for `true`.
    Flag,
    /// An integer within these bounds, both included.
    Int {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// A finite number.
    Float,
    /// Any text.
    Text,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    /// Of [`OptionKind::Flag`].
    Flag(bool),
    /// Of [`OptionKind::Int`].
    Int(i64),
    /// Of [`OptionKind::Float`].
    Float(f64),
    /// Of [`OptionKind::Text`] and [`OptionKind::OneOf`].
    Text(String),
}

impl OptionKind {
    /// Parses a value.
    ///
    /// # Errors
    /// The expected values, and perhaps a hint.
    pub fn parse(self, text: &str) -> Result<OptionValue, (String, Option<String>)> {
        let value = match self {
            OptionKind::Flag => text.parse().ok().map(OptionValue::Flag),
            OptionKind::Int { min, max } => {
                let value = text.parse().ok().filter(|value| (min..=max).contains(value));
                value.map(OptionValue::Int)
            }
            OptionKind::Float => {
                text.parse().ok().filter(|value: &f64| value.is_finite()).map(OptionValue::Float)
            }
            OptionKind::Text => Some(OptionValue::Text(text.to_owned())),
            OptionKind::OneOf(words) => words.contains(&text).then(|| OptionValue::Text(text.to_owned())),
        };
        value.ok_or_else(|| (self.expected(), self.hint(text)))
    }

    /// The allowed values, in words.
    pub fn expected(self) -> String {
        match self {
            OptionKind::Flag => "`true` or `false`".to_owned(),
            OptionKind::Int { min: i64::MIN, max: i64::MAX } => "an integer".to_owned(),
            OptionKind::Int { min, max: i64::MAX } => format!("an integer of at least {min}"),
            OptionKind::Int { min, max } => format!("an integer from {min} to {max}"),
            OptionKind::Float => "a number".to_owned(),
            OptionKind::Text => "text".to_owned(),
            OptionKind::OneOf(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                format!("one of {}", quoted.join(", "))
            }
        }
    }

    fn hint(self, text: &str) -> Option<String> {
        match self {
            OptionKind::Flag => did_you_mean(text, ["true", "false"]),
            OptionKind::OneOf(words) => did_you_mean(text, words.iter().copied()),
            _ => None,
        }
    }
}

/// The options of one pass in a pipeline: given values, and defaults.
///
/// Reading an option that the pass does not declare, or as another type than declared, is a defect of the
/// pass.
#[derive(Clone)]
pub struct PassOptions {
    defs: &'static [OptionDef],
    given: Vec<Option<(OptionValue, String)>>,
}

impl PassOptions {
    /// Every option at its default.
    pub fn defaults(defs: &'static [OptionDef]) -> PassOptions {
        PassOptions { defs, given: vec![None; defs.len()] }
    }

    /// Whether `name` was given explicitly.
    pub fn is_given(&self, name: &str) -> bool {
        self.given[self.index(name)].is_some()
    }

    /// Sets an option.
    ///
    /// # Errors
    /// The expected values, and perhaps a hint.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), (String, Option<String>)> {
        let index = self.index(name);
        self.given[index] = Some((self.defs[index].kind.parse(text)?, text.to_owned()));
        Ok(())
    }

    /// The options that were given, in the order of the row.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &str)> + '_ {
        let rows = self.defs.iter().zip(&self.given);
        rows.filter_map(|(def, given)| Some((def.name, given.as_ref()?.1.as_str())))
    }

    /// A value, given or default.
    pub fn value(&self, name: &str) -> OptionValue {
        let index = self.index(name);
        match &self.given[index] {
            Some((value, _)) => value.clone(),
            None => {
                let def = &self.defs[index];
                def.kind.parse(def.default).expect("a row's default is one of its values")
            }
        }
    }

    /// A flag.
    pub fn flag(&self, name: &str) -> bool {
        match self.value(name) {
            OptionValue::Flag(value) => value,
            other => panic!("option `{name}` is no flag: {other:?}"),
        }
    }

    /// An integer.
    pub fn int(&self, name: &str) -> i64 {
        match self.value(name) {
            OptionValue::Int(value) => value,
            other => panic!("option `{name}` is no integer: {other:?}"),
        }
    }

    /// A number.
    pub fn float(&self, name: &str) -> f64 {
        match self.value(name) {
            OptionValue::Float(value) => value,
            other => panic!("option `{name}` is no number: {other:?}"),
        }
    }

    /// A text or word.
    pub fn text(&self, name: &str) -> String {
        match self.value(name) {
            OptionValue::Text(value) => value,
            other => panic!("option `{name}` is no text: {other:?}"),
        }
    }

    fn index(&self, name: &str) -> usize {
        let index = self.defs.iter().position(|def| def.name == name);
        index.unwrap_or_else(|| panic!("the pass's row has no option `{name}`"))
    }
}
