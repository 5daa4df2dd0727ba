//! Edit tracking: whether a body has changed since it was verified.
//!
//! Every change of data that the verifier reads counts; locations do not. The attributes of the isolated
//! operation itself are compared, since anyone may set them.

use super::Body;
use crate::entities::Attr;

/// The changes of a body.
#[derive(Clone)]
pub(super) struct Edits {
    /// Whether the body was changed since it was verified.
    is_touched: bool,
    was_verified: bool,
    /// The owner's attributes when it was verified.
    verified: OwnerAttrs,
}

impl Edits {
    /// The edits of a body that was never verified.
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
    /// Records a change.
    #[inline(always)]
    pub(super) fn touch(&mut self) {
        self.edits.is_touched = true;
    }

    /// Marks the body in its current state as verified.
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
