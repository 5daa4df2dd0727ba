//! Which pretty form an operation has: it follows from the row.

use crate::opdef::{Arity, AttrKind, Kind, OpDef, Presence, Traits};

/// Dialects whose name may be left out, as in `return`, `module`.
pub(super) const SHORT_DIALECTS: [&str; 2] = ["func", "builtin"];

/// The shape of an operation's pretty text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
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
    /// `%0 = nn.add %a, %b {...} : f32`.
    Plain,
}

impl Form {
    /// The form of a row's operations.
    pub(super) fn of(def: &OpDef) -> Form {
        let is_module = Traits::ISOLATED.union(Traits::SYMBOL_TABLE);
        if def.traits.contains(Traits::FUNCTION.union(Traits::ISOLATED)) {
            return Form::Function;
        }
        if def.traits.contains(is_module) && def.operands.is_empty() && def.results.is_empty() {
            return Form::Module;
        }
        if def.traits.contains(Traits::CONSTANT) {
            return Form::Constant;
        }
        if matches!(def.kind, Kind::Group) {
            return Form::Group;
        }
        if symbol_attr(def).is_some() { Form::Call } else { Form::Plain }
    }
}

/// The attribute that says whom an operation calls.
pub(super) fn symbol_attr(def: &OpDef) -> Option<&'static str> {
    let is_callee = |kind| kind == AttrKind::Symbol;
    def.attrs
        .iter()
        .find(|attr| is_callee(attr.kind) && attr.presence == Presence::Required)
        .map(|attr| attr.name)
}

/// Whether the types behind the colon are those of the operands, each for itself.
pub(super) fn lists_types(def: &OpDef) -> bool {
    def.traits.contains(Traits::TERMINATOR) && def.results.is_empty()
}

/// Whether the number of results follows from the row.
pub(super) fn counts_results(def: &OpDef) -> bool {
    def.results.iter().all(|result| result.arity == Arity::One)
}
