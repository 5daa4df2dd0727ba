//! Parser of regions and blocks.
//!
//! Blocks are parsed before the operation that owns their region is made (its types follow its regions), so
//! they are attached afterwards.

use rustc_hash::FxHashMap;

use super::values::{Label, OpenBody};
use super::{Read, TextReader, shortened};
use crate::body::{Body, Successor};
use crate::entities::{Block, Location, Type};
use crate::text::index::NameRole;
use crate::text::lexer::TokenKind;

/// An argument of an entry block whose name is outside of the region.
#[derive(Clone, Copy)]
pub(super) struct EntryArgument<'c> {
    /// The name, without `%`.
    pub name: &'c str,
    pub at: usize,
    pub ty: Type,
    pub location: Option<Location>,
}

impl<'c> TextReader<'c> {
    /// `{ blocks }`. The blocks are not in a region yet.
    pub(super) fn region(
        &mut self,
        frame: &mut OpenBody<'c>,
        arguments: &[EntryArgument<'c>],
    ) -> Read<Vec<Block>> {
        self.expect(b'{')?;
        let scope = frame.scope();
        frame.region_depth += 1;
        frame.labels.push(FxHashMap::default());
        let blocks = self.nested(|reader| reader.blocks(frame, arguments));
        frame.region_depth -= 1;
        let labels = frame.labels.pop().expect("the region's own labels");
        self.close_scope(frame, scope);
        self.note_undefined(labels);
        blocks
    }

    fn note_undefined(&mut self, labels: FxHashMap<&'c str, Label>) {
        let mut missing: Vec<(&str, Label)> =
            labels.into_iter().filter(|(_, label)| !label.is_defined).collect();
        missing.sort_by_key(|(_, label)| label.at);
        for (name, label) in missing {
            self.note(label.at, format!("no block of this region is called `^{}`", shortened(name)));
        }
    }

    /// Blocks up to the closing brace, which is consumed.
    fn blocks(&mut self, frame: &mut OpenBody<'c>, arguments: &[EntryArgument<'c>]) -> Read<Vec<Block>> {
        let mut blocks = Vec::new();
        let has_header = self.token.kind == TokenKind::Caret && arguments.is_empty();
        if !has_header && (!self.is(b'}') || !arguments.is_empty()) {
            let block = frame.body.make_block();
            for argument in arguments {
                let value = frame.body.add_arg(block, argument.ty);
                if let Some(location) = argument.location {
                    frame.body.set_arg_location(value, location);
                }
                self.define(frame, argument.name, argument.at, value, 1);
            }
            blocks.push(block);
            self.block_ops(frame, block)?;
        }
        while self.token.kind == TokenKind::Caret {
            let block = self.block_header(frame)?;
            blocks.push(block);
            self.block_ops(frame, block)?;
        }
        self.expect(b'}')?;
        Ok(blocks)
    }

    fn block_ops(&mut self, frame: &mut OpenBody<'c>, block: Block) -> Read<()> {
        while self.token.kind != TokenKind::Caret && !self.is(b'}') {
            self.op(frame, block)?;
        }
        Ok(())
    }

    /// `^bb0(%a: type, ...):`.
    fn block_header(&mut self, frame: &mut OpenBody<'c>) -> Read<Block> {
        let at = self.token.start;
        let name = &self.advance()[1..];
        let block = self.label(frame, name, at, NameRole::Definition);
        let label = self.innermost(frame, name);
        if label.is_defined {
            self.note(at, format!("`^{}` is defined twice", shortened(name)));
            return Err(super::Failed);
        }
        label.is_defined = true;
        if self.eat(b'(') {
            self.list(b')', |reader| {
                let at = reader.token.start;
                let name = &reader.expect_kind(TokenKind::Percent, "an argument")?[1..];
                reader.expect(b':')?;
                let ty = reader.ty()?;
                let value = frame.body.add_arg(block, ty);
                if reader.is_word("loc") {
                    let location = reader.trailing_location(at)?;
                    frame.body.set_arg_location(value, location);
                }
                reader.define(frame, name, at, value, 1);
                Ok(())
            })?;
        }
        self.expect(b':')?;
        Ok(block)
    }

    fn innermost<'f>(&self, frame: &'f mut OpenBody<'c>, name: &'c str) -> &'f mut Label {
        let labels = frame.labels.last_mut().expect("blocks stand in regions");
        labels.get_mut(name).expect("the label was just mentioned")
    }

    /// The block called `name` in the innermost region; created if it was not parsed yet.
    pub(super) fn label(
        &mut self,
        frame: &mut OpenBody<'c>,
        name: &'c str,
        at: usize,
        role: NameRole,
    ) -> Block {
        let OpenBody { body, labels, .. } = frame;
        let labels = labels.last_mut().expect("blocks stand in regions");
        let label =
            labels.entry(name).or_insert_with(|| Label { block: body.make_block(), at, is_defined: false });
        let block = label.block;
        self.note_block(name, at, block, role);
        block
    }

    /// `[^bb1, ^bb2]`, if present.
    pub(super) fn successors(&mut self, frame: &mut OpenBody<'c>) -> Read<Vec<Successor>> {
        let mut successors = Vec::new();
        if !self.eat(b'[') {
            return Ok(successors);
        }
        if frame.labels.is_empty() {
            return Err(self.expected("no successors, for no region is around"));
        }
        self.list(b']', |reader| {
            let at = reader.token.start;
            let name = &reader.expect_kind(TokenKind::Caret, "a block")?[1..];
            let block = reader.label(frame, name, at, NameRole::Mention);
            successors.push(Successor { block, first_operand: 0, operand_count: 0 });
            Ok(())
        })?;
        Ok(successors)
    }

    /// The regions of an isolated operation, parsed into tables of their own.
    pub(super) fn isolated(&mut self, count: RegionArity, arguments: &[EntryArgument<'c>]) -> Read<Body> {
        let mut frame = OpenBody::new(0, self.token.start);
        self.open_names();
        let read = self.isolated_regions(&mut frame, count, arguments);
        self.close_names();
        read?;
        Ok(self.finish(frame))
    }

    fn isolated_regions(
        &mut self,
        frame: &mut OpenBody<'c>,
        count: RegionArity,
        arguments: &[EntryArgument<'c>],
    ) -> Read<()> {
        loop {
            let blocks = self.region(frame, arguments)?;
            let root = frame.body.add_root();
            for block in blocks {
                frame.body.attach_block(root, block);
            }
            if count == RegionArity::One || !self.eat(b',') {
                return Ok(());
            }
        }
    }
}

/// The number of regions in a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RegionArity {
    /// One region.
    One,
    /// A list separated by commas.
    Listed,
}
