//! Early end of parsing, if too much of a text violates laws of the verifier.
//!
//! The verifier checks whole modules. But each isolated operation has its own tables, so by then a text of
//! very small faulty ones would take a multiple of its memory. So two laws are checked during parsing: a
//! symbol is defined once and, if isolated operations are small, each of them is valid by itself. The
//! violations are reported only if they end parsing; otherwise the verifier reports them.

use super::values::{DefinedSymbols, OpenBody};
use super::{Read, TextReader};
use crate::diag::{Diagnostic, MOST_FAULTS};
use crate::entities::{Attr, Ident, Op};
use crate::verify::verify_isolated;

/// Isolated operations are small if on average they have fewer bytes of text than this.
const SMALL: usize = 64;

/// Statistics of the isolated operations of a text.
#[derive(Default)]
pub(super) struct SeenBodies {
    /// The name of the attribute with an operation's symbol, cached on first use.
    sym_name: Option<Ident>,
    /// The number of isolated operations.
    count: usize,
    /// The first violations by small ones.
    breaches: Vec<Diagnostic>,
}

impl<'c> TextReader<'c> {
    /// Checks an isolated operation that was just parsed, and begins at byte `at`; too many errors end
    /// parsing.
    pub(super) fn look_early(&mut self, frame: &mut OpenBody<'c>, op: Op, at: usize) -> Read<()> {
        self.note_symbol(&mut frame.symbols, frame.body.properties(op), at)?;
        self.seen.count += 1;
        let is_small = self.seen.count >= MOST_FAULTS && self.passed / self.seen.count < SMALL;
        if !is_small || !self.diagnostics.is_empty() {
            return Ok(());
        }
        self.seen.breaches.extend(verify_isolated(self.ctx, &frame.body, op));
        if self.seen.breaches.len() < MOST_FAULTS {
            return Ok(());
        }
        std::mem::take(&mut self.seen.breaches).into_iter().for_each(|breach| self.note_fault(breach));
        self.stop_at_most_faults()
    }

    fn note_symbol(&mut self, symbols: &mut DefinedSymbols, properties: Attr, at: usize) -> Read<()> {
        let sym_name = *self.seen.sym_name.get_or_insert_with(|| self.ctx.ident("sym_name"));
        let Some(symbol) = self.ctx.dict_get(properties, sym_name) else { return Ok(()) };
        if symbols.known.insert(symbol) {
            return Ok(());
        }
        symbols.again.push((symbol, at));
        if symbols.again.len() < MOST_FAULTS {
            return Ok(());
        }
        for &(symbol, at) in &symbols.again {
            let name = self.ctx.str_value(symbol).unwrap_or_default();
            self.note(at, format!("`@{}` is defined twice", super::shortened(name)));
        }
        self.stop_at_most_faults()
    }
}
