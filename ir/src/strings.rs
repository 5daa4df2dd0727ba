//! Strings: elements of type `!optc.string`, stored as 64-bit digests.
//!
//! No operation looks into a string, so a program only moves and compares digests (FNV-1a). A table of the
//! process holds the texts. A string has the same digest in every process. The digest of the empty string is
//! 0, so zeroed memory holds empty strings. A string is rejected if another string of the table has its
//! digest, so equal digests mean equal strings. The table only grows.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::attrs::DenseData;
use crate::context::Context;
use crate::entities::Type;
use crate::types::{OpaquePiece, TypeData};

/// All strings seen so far, by their digests.
static STRINGS: Mutex<BTreeMap<u64, &'static str>> = Mutex::new(BTreeMap::new());

fn table() -> MutexGuard<'static, BTreeMap<u64, &'static str>> {
    STRINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The digest of a string, which is added to the table.
///
/// # Errors
/// If another string has the same digest, or the bytes are not UTF-8.
pub fn digest(bytes: &[u8]) -> Result<u64, String> {
    let text = str::from_utf8(bytes).map_err(|_| "a string that is not UTF-8".to_owned())?;
    let digest = hash(bytes);
    let mut strings = table();
    let known = match strings.get(&digest) {
        Some(known) => known,
        None => *strings.entry(digest).or_insert(Box::leak(text.into())),
    };
    match known == text {
        true => Ok(digest),
        false => Err(format!("the strings {known:?} and {text:?} have one digest")),
    }
}

/// The digests of strings, 8 bytes each.
///
/// # Errors
/// As [`digest`].
pub fn digests<'a>(strings: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, String> {
    let digests = strings.into_iter().map(|string| Ok(digest(string)?.to_le_bytes()));
    Ok(digests.collect::<Result<Vec<_>, String>>()?.concat())
}

/// The string of a digest; none if it is not in the table.
pub fn text(digest: u64) -> Option<&'static str> {
    table().get(&digest).copied().or((digest == 0).then_some(""))
}

/// 64-bit FNV-1a, except that no bytes give 0.
fn hash(bytes: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME)) ^ BASIS
}

/// The strings of digests of 8 bytes each, as a constant holds them.
///
/// # Panics
/// If one of them is not in the table.
pub fn dense(digests: &[u8]) -> DenseData {
    let digests = digests.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    let texts = digests.map(|digest| text(digest).expect("a constant's strings have come up"));
    let mut strings: Vec<Box<[u8]>> = texts.map(|text| text.as_bytes().into()).collect();
    if strings.windows(2).all(|pair| pair[0] == pair[1]) {
        strings.truncate(1);
    }
    DenseData::Strings(strings.into())
}

/// `!optc.string`.
pub fn string_type(ctx: &Context) -> Type {
    let body = Box::new([OpaquePiece::Text("string".into())]);
    ctx.ty(TypeData::Opaque { dialect: ctx.ident("optc"), body })
}

/// Whether a type is `!optc.string`.
pub fn is_string(ctx: &Context, ty: Type) -> bool {
    match ctx.type_data(ty) {
        TypeData::Opaque { dialect, body } => {
            matches!(&**body, [OpaquePiece::Text(text)] if &**text == "string") && ctx.str(*dialect) == "optc"
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_one_string() {
        let digests = ["", "\0", "a", "b", "ab", "ba", "的"].map(|text| digest(text.as_bytes()).unwrap());
        assert_eq!(digests[0], 0);
        for (index, digest) in digests.iter().enumerate() {
            assert!(!digests[..index].contains(digest));
        }
        assert_eq!(text(digests[4]), Some("ab"));
        assert!(digest(&[0xff]).is_err());
    }

    #[test]
    fn another_string_of_a_known_digest_is_refused() {
        let taken = hash(b"this digest is another string's");
        table().insert(taken, "the other string");
        assert!(digest(b"this digest is another string's").unwrap_err().contains("one digest"));
    }

    #[test]
    fn a_type_is_a_string_by_its_whole_name() {
        let ctx = Context::new();
        let check = |text: &str, expected: bool| {
            let ty = crate::text::parse_type(&ctx, text).unwrap();
            assert_eq!(is_string(&ctx, ty), expected, "{text}");
        };
        check("!optc.string", true);
        check("!optc.strings", false);
        check("!my.string", false);
        check("i64", false);
        assert!(is_string(&ctx, string_type(&ctx)));
    }
}
