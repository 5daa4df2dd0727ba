//! Locations: the source places of operations.

use crate::entities::{Attr, Ident, Location};

/// The content of an interned [`Location`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LocationData {
    /// `unknown`.
    Unknown,
    /// `"file":line:column`, or a range.
    FileLineCol {
        /// The file's name.
        file: Ident,
        /// First line, from 1.
        line: u32,
        /// First column, from 1.
        column: u32,
        /// Last line and column of a range, if it is one.
        end: Option<(u32, u32)>,
    },
    /// `"name"(child)`.
    Name {
        /// The name.
        name: Ident,
        /// The location that is named.
        child: Location,
    },
    /// `callsite(callee at caller)`.
    CallSite {
        /// The location of the callee's operation.
        callee: Location,
        /// The location of the inlined call.
        caller: Location,
    },
    /// `fused<metadata>[a, b]`.
    Fused {
        /// The reason of the fusion.
        metadata: Option<Attr>,
        /// The parts.
        parts: Box<[Location]>,
    },
}
