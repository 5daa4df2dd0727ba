//! Printer of locations.

use super::aliases::AliasSubject;
use super::{Locations, TextWriter};
use crate::body::Body;
use crate::entities::{Ident, Location, Value};
use crate::location::LocationData;

impl TextWriter<'_> {
    /// ` loc(...)` of a block's argument, if locations are shown; in full, even if it has a name.
    pub(super) fn arg_location(&mut self, body: &Body, arg: Value) {
        if self.options.locations != Locations::Hidden {
            self.buffer.push(' ');
            self.location_itself(body.arg_location(arg));
        }
    }

    /// `loc(...)`, or `loc(#name)`.
    pub(super) fn location(&mut self, location: Location) {
        self.buffer.push_str("loc(");
        self.location_inside(location);
        self.buffer.push(')');
    }

    /// `loc(...)`, or `#name`.
    pub(super) fn location_attr(&mut self, location: Location) {
        let location = self.lines.interned(self.ctx, location);
        if !self.alias(AliasSubject::Location(location)) {
            self.location_itself(location);
        }
    }

    /// `loc(...)`, in full even if it has a name.
    pub(super) fn location_itself(&mut self, location: Location) {
        self.buffer.push_str("loc(");
        self.location_content(location);
        self.buffer.push(')');
    }

    fn location_inside(&mut self, location: Location) {
        let location = self.lines.interned(self.ctx, location);
        if self.buffer.len() <= self.limit && !self.alias(AliasSubject::Location(location)) {
            self.location_content(location);
        }
    }

    fn location_content(&mut self, location: Location) {
        let location = self.lines.interned(self.ctx, location);
        match self.ctx.location_data(location) {
            LocationData::Unknown => self.buffer.push_str("unknown"),
            LocationData::FileLineCol { file, line, column, end } => {
                self.quoted_ident(*file);
                self.put(format_args!(":{line}:{column}"));
                match end {
                    Some((end_line, end_column)) if end_line == line => {
                        self.put(format_args!(" to :{end_column}"))
                    }
                    Some((end_line, end_column)) => self.put(format_args!(" to {end_line}:{end_column}")),
                    None => {}
                }
            }
            LocationData::Name { name, child } => {
                self.quoted_ident(*name);
                if *child != Location::UNKNOWN {
                    self.buffer.push('(');
                    self.location_inside(*child);
                    self.buffer.push(')');
                }
            }
            LocationData::CallSite { callee, caller } => {
                self.buffer.push_str("callsite(");
                self.location_inside(*callee);
                self.buffer.push_str(" at ");
                self.location_inside(*caller);
                self.buffer.push(')');
            }
            LocationData::Fused { metadata, parts } => {
                self.buffer.push_str("fused");
                if let Some(metadata) = metadata {
                    self.buffer.push('<');
                    self.attr(*metadata);
                    self.buffer.push('>');
                }
                self.buffer.push('[');
                self.list(parts, |writer, part| writer.location_inside(*part));
                self.buffer.push(']');
            }
        }
    }

    fn quoted_ident(&mut self, ident: Ident) {
        self.quoted(self.ctx.str(ident).as_bytes());
    }
}
