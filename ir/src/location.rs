//! Locations: where operations come from.

use crate::context::Context;
use crate::diag;
use crate::entities::{Attr, Ident, Location, OpName};

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
        /// Where that is.
        child: Location,
    },
    /// `callsite(callee at caller)`.
    CallSite {
        /// Where the callee's operation is.
        callee: Location,
        /// Where it was inlined.
        caller: Location,
    },
    /// `fused<metadata>[a, b]`.
    Fused {
        /// What fused them.
        metadata: Option<Attr>,
        /// The parts.
        parts: Box<[Location]>,
    },
}

/// What a person calls an operation: its name, and where it comes from, if that is known.
///
/// ```text
/// `nn.conv2d` (`Conv_5`)    of a model
/// `nn.mul` (net.mlir:3:8)   of a text
/// ```
pub fn describe_op(ctx: &Context, name: OpName, location: Location) -> String {
    let name = ctx.op_name_str(name);
    match diag::place(ctx, location) {
        Some(place) => format!("`{name}` ({place})"),
        None => format!("`{name}`"),
    }
}
