//! Parser of locations.
//!
//! An operation may use a location's alias before the alias is defined, at the end of the file. Until the
//! whole text is parsed, its location is then the place of the alias's name in the text. No operation's own
//! location is such a place.

use cranelift_entity::EntityRef;

use super::attrs::Suffix;
use super::{Read, TextReader};
use crate::attrs::AttrData;
use crate::body::Body;
use crate::context::Context;
use crate::entities::{Attr, Location, Op};
use crate::location::LocationData;
use crate::text::lexer::TokenKind;

/// The context of a location.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LocationContext {
    /// After an operation or argument, where an alias may be defined later.
    Trailing,
    /// In an attribute or in another location.
    Inside,
}

impl TextReader<'_> {
    /// `loc(...)` after an operation or block argument, if present; else the place `at`.
    pub(super) fn trailing_location(&mut self, at: usize) -> Read<Location> {
        if !self.is_word("loc") {
            return Ok(self.location(at));
        }
        self.located(LocationContext::Trailing)
    }

    /// `loc(...)` as an attribute.
    pub(super) fn attr_location(&mut self) -> Read<Location> {
        self.located(LocationContext::Inside)
    }

    fn located(&mut self, place: LocationContext) -> Read<Location> {
        self.expect_word("loc")?;
        self.expect(b'(')?;
        let location = self.nested(|reader| reader.place(place))?;
        self.expect(b')')?;
        Ok(location)
    }

    fn place(&mut self, place: LocationContext) -> Read<Location> {
        match self.token.kind {
            TokenKind::Hash => self.location_alias(place),
            TokenKind::Text => self.text_location(),
            TokenKind::Word => match self.spelling() {
                "unknown" => {
                    self.advance();
                    Ok(Location::UNKNOWN)
                }
                "callsite" => self.call_site(),
                "fused" => self.fused(),
                _ => Err(self.expected("a location")),
            },
            _ => Err(self.expected("a location")),
        }
    }

    fn inner(&mut self) -> Read<Location> {
        self.nested(|reader| reader.place(LocationContext::Inside))
    }

    fn location_alias(&mut self, place: LocationContext) -> Read<Location> {
        let at = self.token.start;
        let name = &self.spelling()[1..];
        if place == LocationContext::Trailing && !self.attr_aliases.contains_key(name) {
            self.advance();
            self.has_deferred = true;
            return Ok(self.location(at));
        }
        let attr = self.hash_attr(Suffix::Leave)?;
        self.as_location(at, attr)
    }

    /// Replaces the places of aliases that were used before their definition by their locations.
    pub(super) fn resolve_locations(&mut self, body: &mut Body) {
        for index in 0..body.op_capacity() {
            let op = Op::new(index);
            let location = self.resolved(body.location(op));
            body.set_location(op, location);
        }
        let mut places: Vec<Location> = body.arg_locations_mut().map(|location| *location).collect();
        places.iter_mut().for_each(|location| *location = self.resolved(*location));
        body.arg_locations_mut().zip(places).for_each(|(location, resolved)| *location = resolved);
        for (_, child) in body.children_mut() {
            self.resolve_locations(child);
        }
    }

    /// The location of an alias, if the given location is the place of its name; else that location.
    fn resolved(&mut self, location: Location) -> Location {
        let Some(at) = location.source_offset().map(|offset| (offset - self.base) as usize) else {
            return location;
        };
        if self.bytes().get(at) != Some(&b'#') {
            return location;
        }
        self.resume(at);
        self.place(LocationContext::Inside).unwrap_or(location)
    }

    /// An attribute as a location.
    pub(super) fn as_location(&mut self, at: usize, attr: Attr) -> Read<Location> {
        match self.ctx.attr_data(attr) {
            AttrData::Location(location) => Ok(*location),
            _ => Err(self.fault(at, "expected a location, found another attribute")),
        }
    }

    /// `"file":1:2`, a range, `"name"`, `"name"(location)`.
    fn text_location(&mut self) -> Read<Location> {
        let name = self.text_ident()?;
        if self.eat(b'(') {
            let child = self.inner()?;
            self.expect(b')')?;
            return Ok(self.ctx.location(LocationData::Name { name, child }));
        }
        if !self.eat(b':') {
            return Ok(self.ctx.location(LocationData::Name { name, child: Location::UNKNOWN }));
        }
        let line = self.number()?;
        self.expect(b':')?;
        let column = self.number()?;
        let mut end = None;
        if self.eat_word("to") {
            let end_line = if self.is(b':') { line } else { self.number()? };
            self.expect(b':')?;
            end = Some((end_line, self.number()?));
        }
        let end = end.filter(|end| *end != (line, column));
        Ok(self.ctx.location(LocationData::FileLineCol { file: name, line, column, end }))
    }

    fn number(&mut self) -> Read<u32> {
        let at = self.token.start;
        let digits = self.expect_kind(TokenKind::Integer, "a line or column")?;
        digits.parse().map_err(|_| self.fault(at, "lines and columns are less than 2^32"))
    }

    fn call_site(&mut self) -> Read<Location> {
        self.advance();
        self.expect(b'(')?;
        let callee = self.inner()?;
        self.expect_word("at")?;
        let caller = self.inner()?;
        self.expect(b')')?;
        Ok(self.ctx.location(LocationData::CallSite { callee, caller }))
    }

    fn fused(&mut self) -> Read<Location> {
        self.advance();
        let mut metadata = None;
        if self.eat(b'<') {
            metadata = Some(self.attr()?);
            self.expect(b'>')?;
        }
        self.expect(b'[')?;
        let mut parts = Vec::new();
        self.list(b']', |reader| {
            parts.push(reader.inner()?);
            Ok(())
        })?;
        Ok(fuse(self.ctx, &parts, metadata))
    }
}

/// The fusion of locations: parts fused for the same reason are flattened, and unknown and repeated ones
/// dropped.
fn fuse(ctx: &Context, parts: &[Location], metadata: Option<Attr>) -> Location {
    let mut known = indexmap::IndexSet::new();
    for &part in parts {
        match ctx.location_data(part) {
            LocationData::Fused { metadata: other, parts } if *other == metadata => {
                known.extend(parts.iter().copied())
            }
            LocationData::Unknown => {}
            _ => {
                known.insert(part);
            }
        }
    }
    match (known.len(), metadata) {
        (0, None) => return Location::UNKNOWN,
        (1, None) => return known[0],
        (0, Some(_)) => {
            known.insert(Location::UNKNOWN);
        }
        _ => {}
    }
    let parts = known.into_iter().collect();
    ctx.location(LocationData::Fused { metadata, parts })
}
