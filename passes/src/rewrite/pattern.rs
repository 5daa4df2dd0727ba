//! Patterns: the text form of a law's sides.
//!
//! ```text
//! (nn.mul ?x (nn.sigmoid ?x))   an operation with its operands; the same variable stands for equal values
//! $w                            a variable that takes only what is known before the program runs
//! 0.5                           a constant all of whose elements are this number
//! ```
//!
//! The operands of a commutative operation match in either order. Attributes of a matched operation are
//! ignored, unless the law's right side asks for them; an operation of a right side has none.

/// One side of a law.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Pattern {
    /// A variable with its index.
    Var(usize),
    /// A variable that takes weights only.
    Weight(usize),
    /// A constant of equal elements.
    Number(f64),
    /// An operation.
    Op(&'static str, Vec<Pattern>),
}

impl Pattern {
    /// The name of the outermost operation.
    pub(crate) fn root(&self) -> &'static str {
        match self {
            Pattern::Op(name, _) => name,
            _ => panic!("the left side of a law is an operation"),
        }
    }
}

/// Parses patterns that share variables: the two sides of a law.
#[derive(Default)]
pub(crate) struct PatternReader {
    names: Vec<&'static str>,
}

impl PatternReader {
    /// Parses a side. The tables of laws are ours, so an error in one is a defect.
    pub(crate) fn read(&mut self, text: &'static str) -> Pattern {
        let mut rest = text;
        let pattern = self.pattern(&mut rest);
        assert!(rest.trim().is_empty(), "`{rest}` stands after the pattern `{text}`");
        pattern
    }

    fn pattern(&mut self, rest: &mut &'static str) -> Pattern {
        *rest = rest.trim_start();
        if let Some(inner) = rest.strip_prefix('(') {
            *rest = inner;
            return self.operation(rest);
        }
        let word = word(rest);
        match word.chars().next() {
            Some('?') => Pattern::Var(self.variable(&word[1..])),
            Some('$') => Pattern::Weight(self.variable(&word[1..])),
            _ => Pattern::Number(word.parse().expect("a pattern holds variables, numbers and operations")),
        }
    }

    fn operation(&mut self, rest: &mut &'static str) -> Pattern {
        let name = word(rest);
        let mut children = Vec::new();
        loop {
            *rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix(')') {
                *rest = after;
                return Pattern::Op(name, children);
            }
            children.push(self.pattern(rest));
        }
    }

    fn variable(&mut self, name: &'static str) -> usize {
        let known = self.names.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }
}

fn word(rest: &mut &'static str) -> &'static str {
    let end = rest.find(|c: char| c.is_whitespace() || c == '(' || c == ')').unwrap_or(rest.len());
    assert!(end > 0, "a word is missing at `{rest}`");
    let word = &rest[..end];
    *rest = &rest[end..];
    word
}
