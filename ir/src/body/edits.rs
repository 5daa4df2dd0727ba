//! Whether a body was changed since it was verified.
//!
//! Every change of what the verifier looks at counts; where operations come from it does not look at. The attributes of
//! the isolated operation itself are compared, since anyone may set them.

use super::Body;
use crate::entities::Attr;

/// The changes of a body.
#[derive(Clone, Default)]
pub(super) struct Edits {
    count: u64,
    verified: Option<Verified>,
}

/// A body as it was verified.
#[derive(Clone, Copy, PartialEq)]
struct Verified {
    count: u64,
    properties: Attr,
    attrs: Attr,
}

impl Body {
    /// Notes a change.
    #[inline(always)]
    pub(super) fn touch(&mut self) {
        self.edits.count += 1;
    }

    /// Says that the body, as it is, keeps the laws.
    pub fn mark_verified(&mut self) {
        self.edits.verified = Some(self.present());
    }

    /// Whether the body is as it was when it was marked as verified.
    pub fn is_verified(&self) -> bool {
        self.edits.verified == Some(self.present())
    }

    /// Whether the inherent attributes of the isolated operation itself, which say its name and its type, are those that
    /// were verified.
    pub fn has_verified_signature(&self) -> bool {
        self.edits.verified.is_some_and(|verified| verified.properties == self.properties)
    }

    /// Whether its attributes are those that were verified.
    pub fn has_verified_attrs(&self) -> bool {
        self.has_verified_signature()
            && self.edits.verified.is_some_and(|verified| verified.attrs == self.attrs)
    }

    fn present(&self) -> Verified {
        Verified { count: self.edits.count, properties: self.properties, attrs: self.attrs }
    }
}
