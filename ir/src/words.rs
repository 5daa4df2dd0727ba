//! Words: attributes that are chosen from a list of words.
//!
//! A single word is stored as its number: `slt` => `2 : i64`. A set of words is an attribute of its
//! operation's dialect: `nsw, nuw` => `#arith.overflow<nsw, nuw>`. The empty set is `none`, and some sets
//! have one word for all.

use crate::attrs::AttrData;
use crate::context::Context;
use crate::entities::Attr;
use crate::opdef::{AttrKind, OpDef, Presence};
use crate::types::{OpaquePiece, TypeData};

/// A list of words, one of which is chosen.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// The width of the integer that holds the word's number, in bits.
    pub bits: u32,
    /// The words; their numbers begin at 0.
    pub words: &'static [&'static str],
}

/// A list of words, any number of which is chosen.
#[derive(Debug, PartialEq, Eq)]
pub struct Flags {
    /// The dialect of the attribute.
    pub dialect: &'static str,
    /// The attribute's name, before the angle bracket.
    pub mnemonic: &'static str,
    /// The words, in the order of printing.
    pub words: &'static [&'static str],
    /// The word for all of them together.
    pub all: Option<&'static str>,
    /// The separator between words.
    pub separator: &'static str,
}

impl Words {
    /// The attribute of a word; none if the word is not in the list.
    pub fn attr(&self, ctx: &Context, word: &str) -> Option<Attr> {
        let number = self.words.iter().position(|own| *own == word)?;
        Some(ctx.attr(AttrData::Integer { value: number as i128, ty: ctx.int(self.bits) }))
    }

    /// The word of an attribute.
    pub fn get(&self, ctx: &Context, attr: Attr) -> Option<&'static str> {
        match ctx.attr_data(attr) {
            AttrData::Integer { value, ty } if *ty == ctx.int(self.bits) => {
                self.words.get(usize::try_from(*value).ok()?).copied()
            }
            _ => None,
        }
    }

    /// The list of allowed words, for messages.
    pub fn describe(&self) -> String {
        format!("an `i{}` that stands for one of {}", self.bits, self.words.join(", "))
    }
}

impl Flags {
    /// The attribute of the words in `chosen`, in any order; none if one is not in the list.
    pub fn attr(&self, ctx: &Context, chosen: &[&str]) -> Option<Attr> {
        let is_known = |word: &&str| self.words.contains(word) || self.all == Some(word) || *word == "none";
        if !chosen.iter().all(is_known) {
            return None;
        }
        let has_all = self.all.is_some_and(|all| chosen.contains(&all));
        let words = self.words.iter().copied().filter(|word| has_all || chosen.contains(word));
        let words: Vec<&str> = words.collect();
        let text = match self.all {
            Some(all) if words.len() == self.words.len() => all.to_owned(),
            _ if words.is_empty() => "none".to_owned(),
            _ => words.join(self.separator),
        };
        let body = OpaquePiece::Text(format!("{}<{text}>", self.mnemonic).into());
        let dialect = ctx.ident(self.dialect);
        Some(ctx.attr(AttrData::Opaque { dialect, body: Box::new([body]), ty: None }))
    }

    /// The attribute for no words.
    pub fn none(&self, ctx: &Context) -> Attr {
        self.attr(ctx, &[]).expect("no word is unknown")
    }

    /// The text after the dialect's name: `overflow<nsw, nuw>`; none if the attribute is not such a set.
    pub fn get<'a>(&self, ctx: &'a Context, attr: Attr) -> Option<&'a str> {
        let AttrData::Opaque { dialect, body, ty: None } = ctx.attr_data(attr) else { return None };
        let [OpaquePiece::Text(text)] = &**body else { return None };
        let inner = text.strip_prefix(self.mnemonic)?.strip_prefix('<')?.strip_suffix('>')?;
        let words: Vec<&str> = inner.split(',').map(str::trim).collect();
        let is_own = ctx.str(*dialect) == self.dialect && self.attr(ctx, &words) == Some(attr);
        is_own.then_some(text)
    }

    /// The list of allowed words, for messages.
    pub fn describe(&self) -> String {
        format!("`#{}.{}<...>` with some of {}", self.dialect, self.mnemonic, self.words.join(", "))
    }
}

/// The inherent attributes of an operation, completed with the defaults that its row requires to be written.
pub fn fill(ctx: &Context, def: &OpDef, properties: Attr) -> Attr {
    let mut filled = properties;
    for attr in def.attrs.iter().filter(|attr| matches!(attr.presence, Presence::NoFlags)) {
        let (AttrKind::Flags(flags), name) = (attr.kind, ctx.ident(attr.name)) else { continue };
        if ctx.dict_get(filled, name).is_none() {
            filled = ctx.dict_set(filled, name, flags.none(ctx));
        }
    }
    filled
}

/// The width of a type's elements in bits, if they are floats or integers.
pub(crate) fn element_bits(ctx: &Context, ty: crate::entities::Type) -> Option<u32> {
    match ctx.type_data(ctx.elem(ty)) {
        TypeData::Integer { width, .. } => Some(*width),
        TypeData::Float(kind) => Some(kind.bits()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: Flags =
        Flags { dialect: "d", mnemonic: "f", words: &["a", "b", "c"], all: Some("abc"), separator: "," };

    #[test]
    fn flags_are_written_in_one_order() {
        let ctx = Context::new();
        let text = |chosen: &[&str]| Some(crate::text::short_attr(&ctx, FLAGS.attr(&ctx, chosen)?));
        assert_eq!(text(&["c", "a"]).as_deref(), Some("#d.f<a,c>"));
        assert_eq!(text(&["none"]).as_deref(), Some("#d.f<none>"));
        assert_eq!(text(&["b", "c", "a"]).as_deref(), Some("#d.f<abc>"));
        assert_eq!(text(&["abc"]).as_deref(), Some("#d.f<abc>"));
        assert_eq!(text(&["a", "x"]), None);
    }

    #[test]
    fn only_an_attribute_as_it_is_written_is_a_set_of_flags() {
        let ctx = Context::new();
        let opaque = |dialect: &str, text: &str| {
            let body = Box::new([OpaquePiece::Text(text.into())]);
            ctx.attr(AttrData::Opaque { dialect: ctx.ident(dialect), body, ty: None })
        };
        assert_eq!(FLAGS.get(&ctx, opaque("d", "f<a,c>")), Some("f<a,c>"));
        assert_eq!(FLAGS.get(&ctx, opaque("d", "f<c,a>")), None);
        assert_eq!(FLAGS.get(&ctx, opaque("e", "f<a,c>")), None);
        assert_eq!(FLAGS.get(&ctx, opaque("d", "g<a>")), None);
    }

    #[test]
    fn a_word_is_its_number() {
        let ctx = Context::new();
        let words = Words { bits: 64, words: &["eq", "ne"] };
        assert_eq!(words.attr(&ctx, "ne"), Some(ctx.int_attr(1)));
        assert_eq!((words.get(&ctx, ctx.int_attr(0)), words.get(&ctx, ctx.int_attr(2))), (Some("eq"), None));
    }
}
