//! In which words the columns of a row are told, in lists and in the reference.

use ir::Kind;
use ir::opdef::{AttrKind, Presence};

/// What kind of computation an operation is.
pub fn kind(kind: Kind) -> String {
    match kind {
        Kind::Elementwise(_) => "elementwise".to_owned(),
        Kind::Reduce(reduce) => format!("reduction ({reduce:?})"),
        Kind::View(_) => "view".to_owned(),
        Kind::Contract(contract) => format!("contraction ({contract:?})"),
        Kind::Kernel(name) => format!("kernel ({name})"),
        Kind::Group => "group".to_owned(),
        Kind::Region(flow) => format!("control flow ({flow:?})"),
        Kind::Branch(branch) => format!("branch ({branch:?})"),
        Kind::Source => "constant".to_owned(),
        Kind::Structure => "structure".to_owned(),
    }
}

/// Which attributes are taken.
pub fn attr_kind(kind: AttrKind) -> String {
    match kind {
        AttrKind::OneOf(words) => words.join(" or "),
        AttrKind::Word(words) => words.words.join(" or "),
        AttrKind::Flags(flags) => format!("any of {}", flags.words.join(", ")),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// Whether an attribute must be there, or what its absence stands for.
pub fn presence(presence: Presence) -> String {
    match presence {
        Presence::Required => "required".to_owned(),
        Presence::Optional => "optional".to_owned(),
        Presence::DefaultInt(value) => format!("default {value}"),
        Presence::DefaultFloat(value) => format!("default {value}"),
        Presence::DefaultInts(values) => format!("default {values:?}"),
        Presence::DefaultText(text) => format!("default {text}"),
        Presence::NoFlags => "default none".to_owned(),
    }
}
