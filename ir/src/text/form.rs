//! The pretty form of an operation, derived from its row.
//!
//! A row may give its pretty text in [`OpDef::syntax`], in the notation of [`crate::text`]. This file splits
//! the notation into [`FormPiece`]s.

use crate::context::Context;
use crate::entities::OpName;
use crate::opdef::{Arity, AttrKind, Kind, OpDef, Presence, RegionFlow, Traits};

/// Dialects whose name may be left out, as in `return`, `module`.
pub(super) const SHORT_DIALECTS: [&str; 2] = ["func", "builtin"];

/// The operation that a word names in the pretty form, with or without its dialect.
pub fn op_of_word(ctx: &Context, word: &str) -> Option<(OpName, &'static OpDef)> {
    let full = ctx.op_name(word);
    if let Some(def) = ctx.def(full) {
        return Some((full, def));
    }
    let mut short = SHORT_DIALECTS.iter().map(|dialect| ctx.op_name(&format!("{dialect}.{word}")));
    short.find_map(|name| Some((name, ctx.def(name)?)))
}

/// The attribute that divides operands among the operand entries of a row.
pub(super) const SEGMENTS: &str = "operandSegmentSizes";

/// The shape of an operation's pretty text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrettyForm {
    /// `func.func @f(%arg0: f32) -> f32 attributes {...} { ... }`.
    Function,
    /// `module @m attributes {...} { ... }`.
    Module,
    /// `%0 = nn.constant dense<1.0> : tensor<4xf32>`.
    Constant,
    /// `%0 = call @f(%a) : (f32) -> f32`.
    Call,
    /// `%0 = optc.group(%a = %x) : (f32) -> f32 { ... }`.
    Group,
    /// `%0 = scf.if %c -> (f32) { ... } else { ... }`.
    If,
    /// `%0 = scf.for %i = %a to %b step %c iter_args(%y = %x) -> (f32) { ... }`.
    For,
    /// `%0 = scf.while (%y = %x) : (f32) -> f32 { ... } do { ... }`.
    While,
    /// The form in the row's syntax.
    Syntax(&'static str),
    /// `%0 = nn.add %a, %b {...} : f32`.
    Plain,
}

impl PrettyForm {
    /// The form of a row's operations.
    pub(super) fn of(def: &OpDef) -> PrettyForm {
        let is_module = Traits::ISOLATED.union(Traits::SYMBOL_TABLE);
        if let Some(syntax) = def.syntax {
            return PrettyForm::Syntax(syntax);
        }
        if def.traits.contains(Traits::FUNCTION.union(Traits::ISOLATED)) {
            return PrettyForm::Function;
        }
        if def.traits.contains(is_module) && def.operands.is_empty() && def.results.is_empty() {
            return PrettyForm::Module;
        }
        if def.traits.contains(Traits::CONSTANT) {
            return PrettyForm::Constant;
        }
        match def.kind {
            Kind::Group => PrettyForm::Group,
            Kind::Region(RegionFlow::If) => PrettyForm::If,
            Kind::Region(RegionFlow::For) => PrettyForm::For,
            Kind::Region(RegionFlow::While) => PrettyForm::While,
            _ if symbol_attr(def).is_some() => PrettyForm::Call,
            _ => PrettyForm::Plain,
        }
    }
}

/// A piece of a row's syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormPiece {
    /// `$name`: the operands at this place, or an attribute.
    Name(&'static str),
    /// `attr-dict`: the attributes that are shown nowhere else.
    Dict,
    /// `type($a, $b)`: the one type of the values at these places, or the types of a run of them.
    Types(&'static str),
    /// `type-unless-i1($c)`: the type of a value and a comma, or nothing.
    TypeUnlessBool(&'static str),
    /// `call-type($f)`: the type of a function, which is also that of the other operands and the results.
    CallType(&'static str),
    /// `block(0)`: a block, and its operands.
    Block(usize),
    /// `cases`: the blocks of a switch.
    Cases,
    /// A literal word.
    Word(&'static str),
    /// A literal punctuation byte.
    Byte(u8),
    /// `[...]`: present if the values or the attribute in it are.
    Optional(&'static str),
}

/// The pieces of a row's syntax, in order.
pub(super) fn pieces(syntax: &'static str) -> impl Iterator<Item = FormPiece> {
    let mut rest = syntax;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let (piece, length) = piece(rest)?;
        rest = &rest[length..];
        Some(piece)
    })
}

/// The names in `$a, $b`.
pub(super) fn names(list: &'static str) -> impl Iterator<Item = &'static str> + Clone {
    list.split(',').map(without_sigil)
}

fn without_sigil(name: &'static str) -> &'static str {
    name.trim().trim_start_matches('$')
}

/// The first piece, with its length.
fn piece(text: &'static str) -> Option<(FormPiece, usize)> {
    let first = *text.as_bytes().first()?;
    if first == b'[' {
        let close = text.find(']').expect("a bracket in a syntax is closed");
        return Some((FormPiece::Optional(&text[1..close]), close + 1));
    }
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let start = usize::from(first == b'$');
    let end = text.bytes().skip(start).position(|byte| !is_word(byte)).map_or(text.len(), |end| start + end);
    let word = &text[start..end];
    if word.is_empty() {
        return Some((FormPiece::Byte(first), 1));
    }
    if start == 1 {
        return Some((FormPiece::Name(word), end));
    }
    let in_parentheses = || {
        let close = end + text[end..].find(')').expect("a parenthesis in a syntax is closed");
        (&text[end + 1..close], close + 1)
    };
    let piece = match word {
        "attr-dict" => (FormPiece::Dict, end),
        "cases" => (FormPiece::Cases, end),
        "block" => {
            let (number, end) = in_parentheses();
            (FormPiece::Block(number.parse().expect("a block's number")), end)
        }
        "type" => (FormPiece::Types(in_parentheses().0), in_parentheses().1),
        "type-unless-i1" => {
            (FormPiece::TypeUnlessBool(without_sigil(in_parentheses().0)), in_parentheses().1)
        }
        "call-type" => (FormPiece::CallType(without_sigil(in_parentheses().0)), in_parentheses().1),
        word => (FormPiece::Word(word), end),
    };
    Some(piece)
}

/// The attribute that names the callee of an operation.
pub(super) fn symbol_attr(def: &OpDef) -> Option<&'static str> {
    let is_callee = |kind| kind == AttrKind::Symbol;
    def.attrs
        .iter()
        .find(|attr| is_callee(attr.kind) && attr.presence == Presence::Required)
        .map(|attr| attr.name)
}

/// Whether the types after the colon are those of the operands, one by one.
pub(super) fn lists_types(def: &OpDef) -> bool {
    def.traits.contains(Traits::TERMINATOR) && def.results.is_empty()
}

/// Whether the number of results follows from the row.
pub(super) fn counts_results(def: &OpDef) -> bool {
    def.results.iter().all(|result| result.arity == Arity::One)
}

/// The place of the operands called `name`.
pub(super) fn operand_place(def: &OpDef, name: &str) -> Option<usize> {
    def.operands.iter().position(|operand| operand.name == name)
}

/// The place of the results called `name`.
pub(super) fn result_place(def: &OpDef, name: &str) -> Option<usize> {
    def.results.iter().position(|result| result.name == name)
}

/// The place of the operands for successor `index`: the last places are those of the blocks.
pub(super) fn block_place(def: &OpDef, index: usize) -> usize {
    match def.kind {
        Kind::Branch(crate::opdef::Branch::Always) => 0,
        _ => 1 + index,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_syntax_is_cut_into_its_pieces() {
        let found: Vec<FormPiece> =
            pieces("$a, $b [weights($w)] attr-dict : type($a, $b) to block(1)").collect();
        let expected = [
            FormPiece::Name("a"),
            FormPiece::Byte(b','),
            FormPiece::Name("b"),
            FormPiece::Optional("weights($w)"),
            FormPiece::Dict,
            FormPiece::Byte(b':'),
            FormPiece::Types("$a, $b"),
            FormPiece::Word("to"),
            FormPiece::Block(1),
        ];
        assert_eq!(found, expected);
        assert_eq!(names("$a, $b").collect::<Vec<_>>(), ["a", "b"]);
    }

    /// The names in the pieces of a syntax that show values, and in those that show types.
    fn said(syntax: &'static str, values: &mut Vec<&'static str>, types: &mut Vec<&'static str>) {
        for piece in pieces(syntax) {
            match piece {
                FormPiece::Name(name) => values.push(name),
                FormPiece::Types(list) => types.extend(names(list)),
                FormPiece::TypeUnlessBool(name) => types.push(name),
                FormPiece::Optional(inner) => said(inner, values, types),
                _ => {}
            }
        }
    }

    #[test]
    fn a_syntax_says_every_operand_and_its_type() {
        use crate::opdef::TypeClass::{Bool, Index};
        let ctx = crate::Context::new();
        for def in ctx.dialects().flat_map(|dialect| dialect.ops()) {
            let Some(syntax) = def.syntax else { continue };
            let (mut values, mut types) = (Vec::new(), Vec::new());
            said(syntax, &mut values, &mut types);
            let is_known = |name: &&str| {
                let place = operand_place(def, name).or(result_place(def, name));
                place.is_some() || def.attr(name).is_some()
            };
            assert!(values.iter().chain(&types).all(is_known), "{}: {syntax}", def.name);
            let is_branch = matches!(def.kind, Kind::Branch(_));
            let is_call = syntax.contains("call-type");
            for operand in def.operands.iter().filter(|operand| !is_branch || operand.arity == Arity::One) {
                let has_one_type = matches!(operand.types, Bool | Index) && operand.arity == Arity::One;
                assert!(values.contains(&operand.name), "{} hides `{}`", def.name, operand.name);
                let is_typed = types.contains(&operand.name) || has_one_type || is_call;
                assert!(is_typed, "{} gives `{}` no type", def.name, operand.name);
            }
        }
    }
}
