//! A limit on the changes of a pass, for bisection.
//!
//! A pass asks before each optional change (a rule applied, a group, a tie). So changes are counted and can
//! be stopped after any number, and bisection finds the wrong one (as with LLVM's `-opt-bisect-limit`). A
//! pass that never asks makes one change: everything it does to a function, or to the module. `select` is
//! such a pass, because an operation without a kernel does not run.

use std::cell::{Cell, RefCell};

/// The changes of one run of a pass on a function or module.
pub struct Changes {
    left: Cell<u64>,
    made: Cell<u64>,
    last: RefCell<Option<String>>,
}

/// The maximum number of changes of a pass in a pipeline, with functions in text order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeLimit {
    /// The pass.
    pub pass: String,
    /// The number of changes.
    pub changes: u64,
}

impl Changes {
    /// No limit.
    pub fn unlimited() -> Changes {
        Changes::at_most(u64::MAX)
    }

    /// At most `count` changes.
    pub fn at_most(count: u64) -> Changes {
        Changes { left: Cell::new(count), made: Cell::new(0), last: RefCell::default() }
    }

    /// Whether one more change may be made; if so, it is counted. `what` describes it in a phrase, and is
    /// called for the last allowed change only.
    pub fn allow(&self, what: impl FnOnce() -> String) -> bool {
        if self.is_spent() {
            return false;
        }
        self.left.set(self.left.get() - 1);
        self.made.set(self.made.get() + 1);
        if self.is_spent() {
            *self.last.borrow_mut() = Some(what());
        }
        true
    }

    /// Whether the limit is reached.
    pub fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    /// The number of changes made.
    pub fn made(&self) -> u64 {
        self.made.get()
    }

    /// The last change that was allowed, if the limit is reached.
    pub fn last(&self) -> Option<String> {
        self.last.borrow().clone()
    }
}

impl ChangeLimit {
    /// Parses `PASS:K`.
    ///
    /// # Errors
    /// A message that says what was expected.
    pub fn parse(text: &str) -> Result<ChangeLimit, String> {
        let limit = text.split_once(':').and_then(|(pass, changes)| Some((pass, changes.parse().ok()?)));
        let (pass, changes) = limit.ok_or("expected PASS:K, a pass and a number of changes")?;
        Ok(ChangeLimit { pass: pass.to_owned(), changes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_refused_after_the_last_one_which_is_described() {
        let changes = Changes::at_most(2);
        let asked: Vec<bool> = (0..4).map(|number| changes.allow(|| format!("change {number}"))).collect();
        assert_eq!(asked, [true, true, false, false]);
        assert_eq!((changes.made(), changes.last().as_deref()), (2, Some("change 1")));
        assert_eq!(Changes::unlimited().last(), None);
    }

    #[test]
    fn limits_are_read_as_a_pass_and_a_number() {
        let limit = ChangeLimit { pass: "fuse".into(), changes: 3 };
        assert_eq!(ChangeLimit::parse("fuse:3"), Ok(limit));
        for wrong in ["fuse", "fuse:", "fuse:x", "fuse:-1"] {
            assert!(ChangeLimit::parse(wrong).is_err(), "{wrong}");
        }
    }
}
