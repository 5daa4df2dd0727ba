//! Which bodies have changed since they were verified.
//!
//! Every change of what the verifier looks at counts; where operations come from it does not look at. The
//! attributes of the isolated operation itself are compared, since anyone may set them.

use super::Body;
use crate::entities::Attr;

/// The changes of a body.
#[derive(Clone)]
pub(super) struct Edits {
    /// Whether there were any since it was verified.
    is_touched: bool,
    was_verified: bool,
    /// What it was when it was verified.
    verified: OwnerAttrs,
}

impl Edits {
    /// Those of a body that was never verified.
    pub(super) fn new() -> Edits {
        let verified = OwnerAttrs { properties: Attr::EMPTY, attrs: Attr::EMPTY };
        Edits { is_touched: false, was_verified: false, verified }
    }
}

/// The attributes of the isolated operation itself.
#[derive(Clone, Copy, PartialEq)]
struct OwnerAttrs {
    properties: Attr,
    attrs: Attr,
}

impl Body {
    /// Notes a change.
    #[inline(always)]
    pub(super) fn touch(&mut self) {
        self.edits.is_touched = true;
    }

    /// Marks the body in its present state as verified.
    pub fn mark_verified(&mut self) {
        self.edits = Edits { is_touched: false, was_verified: true, verified: self.own() };
    }

    /// Whether the body has not changed since it was marked as verified.
    pub fn is_verified(&self) -> bool {
        !self.edits.is_touched && self.has_verified_attrs()
    }

    /// Whether the inherent attributes of the isolated operation itself, among them its name and type, have
    /// not changed since it was marked as verified.
    pub fn has_verified_signature(&self) -> bool {
        self.edits.was_verified && self.edits.verified.properties == self.properties
    }

    /// Whether no attribute of the isolated operation itself, inherent or not, has changed since it was
    /// marked as verified.
    pub fn has_verified_attrs(&self) -> bool {
        self.edits.was_verified && self.edits.verified == self.own()
    }

    fn own(&self) -> OwnerAttrs {
        OwnerAttrs { properties: self.properties, attrs: self.attrs }
    }
}
