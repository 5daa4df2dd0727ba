//! The handles of the IR: operations, values, blocks, types, attributes and other entities.
//!
//! Handles of a body ([`Op`], [`Value`], [`Block`], [`Region`], [`Use`]) are dense indices into that body's
//! tables; handles of the context ([`Type`], [`Attr`], [`Ident`], [`DimExpr`], [`OpName`], [`Location`]) are
//! interned, so that equality of handles is equality of content.

use cranelift_entity::entity_impl;

macro_rules! entities {
    ($($(#[$doc:meta])* $name:ident, $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);
        entity_impl!($name, $prefix);
    )*};
}

entities! {
    /// An operation of a body.
    Op, "op";
    /// A result of an operation or an argument of a block.
    Value, "v";
    /// A list of operations with arguments.
    Block, "bb";
    /// A list of blocks, owned by an operation.
    Region, "region";
    /// One operand slot: the value that an operation reads at one position.
    Use, "use";
    /// The body of an isolated operation nested in a body.
    Child, "child";
    /// An interned type.
    Type, "type";
    /// An interned attribute.
    Attr, "attr";
    /// An interned string.
    Ident, "ident";
    /// An interned size expression of named sizes (see [`crate::dims`]).
    DimExpr, "dim";
    /// An interned operation name, with its row if a dialect registered it.
    OpName, "opname";
    /// A source location: an interned one, or an offset in a source text.
    Location, "loc";
}

impl Attr {
    /// The empty dictionary: the attributes of an operation that has none.
    pub const EMPTY: Attr = Attr(0);
}

impl Region {
    /// The first regions of a body.
    pub(crate) const FIRST: [Region; 4] = [Region(0), Region(1), Region(2), Region(3)];
}

impl Location {
    /// The location of operations that were made without one: `loc(unknown)`.
    pub const UNKNOWN: Location = Location(0);
    const SOURCE_TAG: u32 = 1 << 31;

    /// The place at byte `offset` of the context's concatenated source texts (see `Context::add_source`).
    pub fn at_source(offset: u32) -> Location {
        assert!(offset < Self::SOURCE_TAG - 1, "source texts are at most 2 GiB");
        Location(offset | Self::SOURCE_TAG)
    }

    /// The byte offset in the context's source texts, if this location is one.
    pub fn source_offset(self) -> Option<u32> {
        (self.0 & Self::SOURCE_TAG != 0).then_some(self.0 & !Self::SOURCE_TAG)
    }
}
