//! Registry rows: whether operations match their rows.

use smallvec::SmallVec;

use super::Checker;
use crate::attrs::AttrData;
use crate::body::OpRef;
use crate::branch;
use crate::builder::infer;
use crate::context::Context;
use crate::diag::did_you_mean;
use crate::entities::{Attr, Ident, OpName, Type, Value};
use crate::opdef::{
    Arity, AttrDef, AttrKind, Infer, OpDef, OperandDef, Presence, RegionCount, Traits, TypeClass, TypeDef,
};
use crate::text::{short_type, type_text};
use crate::types::{Dim, FloatKind, Signedness, TypeData};

/// All properties on which the checks of a row without a verifier of its own depend.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct RowKey {
    name: OpName,
    properties: Attr,
    attrs: Attr,
    operand_count: usize,
    types: SmallVec<[Type; 6]>,
}

impl RowKey {
    fn of(op: OpRef<'_>) -> RowKey {
        let OpRef { body, op, .. } = op;
        let values = body.operands(op).chain(body.results(op));
        RowKey {
            name: body.name(op),
            properties: body.properties(op),
            attrs: body.attrs(op),
            operand_count: body.operand_count(op),
            types: values.map(|value| body.ty(value)).collect(),
        }
    }
}

/// The attribute that divides the values of a row with several runs.
const SEGMENTS: &str = "operandSegmentSizes";

impl<'m> Checker<'m> {
    /// Checks an operation against its row. Most operations equal one checked before in all that matters, and
    /// cost one look-up.
    pub(super) fn row(&mut self, op: OpRef<'m>, def: &OpDef) {
        let before = self.breach_count;
        self.region_count(op, def);
        let key = RowKey::of(op);
        if def.verify.is_none() && self.checked.contains(&key) {
            return;
        }
        let operands: Vec<Value> = op.body.operands(op.op).collect();
        let results: Vec<Value> = op.body.results(op.op).collect();
        self.values(op, "operand", def.operands, &operands);
        self.values(op, "result", def.results, &results);
        self.attrs(op, def);
        self.decisions(op);
        // The later rules may rely on the checks so far.
        if self.breach_count > before {
            return;
        }
        match def.infer {
            Infer::Declared => self.same_types(op, def, &operands, &results),
            _ => {
                self.same_types(op, def, &operands, &[]);
                self.inferred(op, def, &operands, &results);
            }
        }
        match def.verify.map(|verify| verify(op)) {
            Some(Err(message)) => self.breach(op.body, op.op, format!("`{}`: {message}", def.name)),
            Some(Ok(())) => {}
            None if self.breach_count == before => {
                self.checked.insert(key);
            }
            None => {}
        }
    }

    /// Checks the number and types of operands or results.
    fn values(&mut self, op: OpRef<'m>, what: &str, defs: &[OperandDef], values: &[Value]) {
        let least = defs.iter().filter(|def| def.arity == Arity::One).count();
        let most = if defs.iter().any(|def| def.arity == Arity::Variadic) { usize::MAX } else { defs.len() };
        if !(least..=most).contains(&values.len()) {
            let expected = match most {
                usize::MAX => format!("at least {least}"),
                _ if most == least => least.to_string(),
                _ => format!("{least} to {most}"),
            };
            let plural = if let (1, 1 | usize::MAX) = (least, most) { "" } else { "s" };
            let message = format!("`{}` has {expected} {what}{plural}, found {}", op.name(), values.len());
            return self.breach(op.body, op.op, message);
        }
        let Some(counts) = self.counts(op, what, defs, values.len()) else { return };
        let places = defs.iter().zip(counts).flat_map(|(def, count)| std::iter::repeat_n(def, count));
        for (index, (def, value)) in places.zip(values).enumerate() {
            let ty = op.body.ty(*value);
            if let TypeClass::Own(own) = def.types {
                if let Err(reason) = accepts(self.ctx, own, ty) {
                    let place = format!("{what} {index} (`{}`) of `{}`", def.name, op.name());
                    self.breach(op.body, op.op, format!("{place} is a `!{}`: {reason}", own.name));
                }
                continue;
            }
            if !is_of_class(self.ctx, ty, def.types) {
                let ty = short_type(self.ctx, ty);
                let class = def.types.words();
                let message =
                    format!("{what} {index} (`{}`) of `{}` is {class}, found `{ty}`", def.name, op.name());
                self.breach(op.body, op.op, message);
            }
        }
    }

    /// The number of values at each place of a row.
    fn counts(&mut self, op: OpRef<'m>, what: &str, defs: &[OperandDef], total: usize) -> Option<Vec<usize>> {
        let runs = defs.iter().filter(|def| def.arity != Arity::One).count();
        if runs > 1 {
            return self.segments(op, what, defs, total);
        }
        let run = total - (defs.len() - runs);
        Some(defs.iter().map(|def| if def.arity == Arity::One { 1 } else { run }).collect())
    }

    fn segments(
        &mut self,
        op: OpRef<'m>,
        what: &str,
        defs: &[OperandDef],
        total: usize,
    ) -> Option<Vec<usize>> {
        if what != "operand" {
            return None;
        }
        let counts = op.attr(SEGMENTS).and_then(|attr| branch::sizes(self.ctx, attr));
        let fits = |counts: &Vec<usize>| {
            let pairs = || counts.iter().zip(defs);
            counts.len() == defs.len()
                && counts.iter().sum::<usize>() == total
                && pairs().all(|(count, def)| match def.arity {
                    Arity::One => *count == 1,
                    Arity::Optional => *count <= 1,
                    Arity::Variadic => true,
                })
        };
        let found = counts.filter(fits);
        if found.is_none() {
            let names: Vec<&str> = defs.iter().map(|def| def.name).collect();
            let message = format!(
                "`{SEGMENTS}` of `{}` is an `array<i32: ...>` that divides its {total} operands among {}",
                op.name(),
                names.join(", ")
            );
            self.breach(op.body, op.op, message);
        }
        found
    }

    /// Checks inherent attributes: all required ones are present, each is of its kind, and there are no
    /// others.
    fn attrs(&mut self, op: OpRef<'m>, def: &OpDef) {
        let properties = self.ctx.dict_entries(op.body.properties(op.op));
        for attr in def.attrs {
            let found = properties.iter().find(|(name, _)| self.ctx.str(*name) == attr.name);
            match found {
                None if attr.presence == Presence::Required => {
                    let kind = kind_text(attr.kind);
                    let message = format!("`{}` lacks its attribute `{}`, {kind}", def.name, attr.name);
                    let help = self.misspelt(op, def, attr.name);
                    self.breach_with_help(op.body, op.op, message, help);
                }
                Some((_, value)) if !is_of_kind(self.ctx, *value, attr.kind) => {
                    let kind = kind_text(attr.kind);
                    let value = crate::text::short_attr(self.ctx, *value);
                    let message =
                        format!("attribute `{}` of `{}` is {kind}, found `{value}`", attr.name, def.name);
                    self.breach(op.body, op.op, message);
                }
                _ => {}
            }
        }
        for (name, _) in properties.iter().filter(|(name, _)| def.attr(self.ctx.str(*name)).is_none()) {
            self.unknown_attr(op, def, *name);
        }
        self.misspelt_attrs(op, def);
    }

    fn unknown_attr(&mut self, op: OpRef<'m>, def: &OpDef, name: Ident) {
        let name = self.ctx.str(name);
        let help = did_you_mean(name, def.attrs.iter().map(|attr| attr.name));
        self.breach_with_help(op.body, op.op, format!("`{}` has no attribute `{name}`", def.name), help);
    }

    /// An attribute that looks like a misspelling of `name`: "did you mean `name` by `nmae`?".
    fn misspelt(&self, op: OpRef<'m>, def: &OpDef, name: &str) -> Option<String> {
        let others =
            self.ctx.dict_entries(op.body.attrs(op.op)).iter().map(|(other, _)| self.ctx.str(*other));
        let mut unknown = others.filter(|other| def.attr(other).is_none());
        let near = unknown.find(|other| !crate::diag::nearest(other, [name]).is_empty())?;
        Some(format!("did you mean `{name}` by `{near}`?"))
    }

    /// Other attributes may have any name, but one without a dialect and nearly the row's is a misspelling.
    fn misspelt_attrs(&mut self, op: OpRef<'m>, def: &OpDef) {
        let properties = self.ctx.dict_entries(op.body.properties(op.op));
        let is_absent =
            |attr: &&AttrDef| !properties.iter().any(|(name, _)| self.ctx.str(*name) == attr.name);
        let absent: Vec<&str> = def
            .attrs
            .iter()
            .filter(is_absent)
            .filter(|attr| attr.presence != Presence::Required)
            .map(|attr| attr.name)
            .collect();
        for (name, _) in self.ctx.dict_entries(op.body.attrs(op.op)) {
            let name = self.ctx.str(*name);
            if name.contains('.') || name.len() < 4 {
                continue;
            }
            if let Some(help) = did_you_mean(name, absent.iter().copied()) {
                let message = format!("`{}` has no attribute `{name}`", def.name);
                self.breach_with_help(op.body, op.op, message, Some(help));
            }
        }
    }

    fn region_count(&mut self, op: OpRef<'m>, def: &OpDef) {
        let found = op.body.child(op.op).map_or(op.body.regions(op.op).len(), |child| child.roots().len());
        match def.regions {
            RegionCount::Exactly(count) if usize::from(count) != found => {
                let message = format!("`{}` has {count} regions, found {found}", def.name);
                self.breach(op.body, op.op, message);
            }
            _ => {}
        }
    }

    /// Checks result types against inference.
    fn inferred(&mut self, op: OpRef<'m>, def: &OpDef, operands: &[Value], results: &[Value]) {
        let types: Vec<Type> = operands.iter().map(|value| op.body.ty(*value)).collect();
        let inferred = match infer(self.ctx, op.body.name(op.op), &types, op.body.properties(op.op)) {
            Ok(inferred) => inferred,
            Err(error) => return self.breach(op.body, op.op, format!("`{}`: {}", def.name, error.0)),
        };
        if inferred.len() != results.len() {
            let message = format!("`{}` has {} results, found {}", def.name, inferred.len(), results.len());
            return self.breach(op.body, op.op, message);
        }
        for (index, (expected, value)) in inferred.iter().zip(results).enumerate() {
            let found = op.body.ty(*value);
            if !agree(self.ctx, *expected, found) {
                let (expected, found) = (short_type(self.ctx, *expected), short_type(self.ctx, found));
                let message = format!("result {index} of `{}` must be `{expected}`, is `{found}`", def.name);
                self.breach(op.body, op.op, message);
            }
        }
    }

    fn same_types(&mut self, op: OpRef<'m>, def: &OpDef, operands: &[Value], results: &[Value]) {
        let mut types = operands.iter().chain(results).map(|value| op.body.ty(*value));
        let Some(first) = types.next() else { return };
        let (law, broken) = if def.traits.contains(Traits::SAME_TYPE) {
            ("one type", types.find(|ty| !agree(self.ctx, first, *ty)))
        } else if def.traits.contains(Traits::SAME_SHAPE) {
            ("one shape", types.find(|ty| !same_shape(self.ctx, first, *ty)))
        } else {
            return;
        };
        if let Some(other) = broken {
            let (first, other) = (short_type(self.ctx, first), short_type(self.ctx, other));
            let message =
                format!("operands and results of `{}` have {law}, found `{first}` and `{other}`", def.name);
            self.breach(op.body, op.op, message);
        }
    }
}

/// Whether two types are equal except for unknown sizes.
pub(super) fn agree(ctx: &Context, a: Type, b: Type) -> bool {
    if a == b {
        return true;
    }
    match (ctx.type_data(a), ctx.type_data(b)) {
        (
            TypeData::Tensor { shape: a, elem: x, encoding: e },
            TypeData::Tensor { shape: b, elem: y, encoding: f },
        ) => x == y && (e == f || e.is_none() || f.is_none()) && sizes_agree(a, b),
        _ => false,
    }
}

fn sizes_agree(a: &[Dim], b: &[Dim]) -> bool {
    let agrees = |(a, b): (&Dim, &Dim)| a == b || *a == Dim::Unknown || *b == Dim::Unknown;
    a.len() == b.len() && a.iter().zip(b).all(agrees)
}

fn same_shape(ctx: &Context, a: Type, b: Type) -> bool {
    match (ctx.type_data(a), ctx.type_data(b)) {
        (TypeData::Tensor { shape: a, .. }, TypeData::Tensor { shape: b, .. }) => sizes_agree(a, b),
        (TypeData::Vector { shape: a, .. }, TypeData::Vector { shape: b, .. }) => a == b,
        (a, b) => a.elem().is_none() == b.elem().is_none(),
    }
}

/// Whether a type is this type of a dialect, with valid parameters; else an error with the type found, or the
/// fault in the parameters.
fn accepts(ctx: &Context, own: &TypeDef, ty: Type) -> Result<(), String> {
    let text = type_text(ctx, ty);
    let rest = text.strip_prefix('!').and_then(|text| text.strip_prefix(own.name));
    let body = match rest {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')),
        None => None,
    };
    match body {
        Some(body) if matches!(ctx.type_data(ty), TypeData::Opaque { .. }) => (own.check)(body),
        _ => Err(format!("found `{}`", short_type(ctx, ty))),
    }
}

fn is_of_class(ctx: &Context, ty: Type, class: TypeClass) -> bool {
    let data = ctx.type_data(ty);
    let elem = match data {
        TypeData::Vector { elem, .. } | TypeData::Tensor { elem, .. } | TypeData::UnrankedTensor { elem } => {
            *elem
        }
        _ => ty,
    };
    let elem = ctx.type_data(elem);
    let is_tensor = matches!(data, TypeData::Tensor { .. } | TypeData::UnrankedTensor { .. });
    let is_int = matches!(elem, TypeData::Integer { .. } | TypeData::Index);
    let is_signless = matches!(elem, TypeData::Integer { signedness: Signedness::Signless, .. });
    match class {
        TypeClass::Any => true,
        TypeClass::Own(own) => accepts(ctx, own, ty).is_ok(),
        TypeClass::Tensor => is_tensor,
        TypeClass::FloatTensor => is_tensor && matches!(elem, TypeData::Float(_)),
        TypeClass::FloatOrByteTensor => {
            is_tensor && matches!(elem, TypeData::Float(_) | TypeData::Integer { width: 8, .. })
        }
        TypeClass::IntTensor => is_tensor && is_int,
        TypeClass::FloatLike => matches!(elem, TypeData::Float(_)),
        TypeClass::IntLike => is_signless || matches!(elem, TypeData::Index),
        TypeClass::FixedIntLike => is_signless,
        TypeClass::NumberLike => is_signless || matches!(elem, TypeData::Float(_)),
        TypeClass::BoolLike => is_signless && matches!(elem, TypeData::Integer { width: 1, .. }),
        TypeClass::Index => matches!(data, TypeData::Index),
        TypeClass::Bool => ty == ctx.int(1),
        TypeClass::Function => matches!(data, TypeData::Function { .. }),
        TypeClass::Int => {
            matches!(data, TypeData::Index | TypeData::Integer { signedness: Signedness::Signless, .. })
        }
    }
}

fn is_of_kind(ctx: &Context, attr: Attr, kind: AttrKind) -> bool {
    let data = ctx.attr_data(attr);
    match kind {
        AttrKind::Any => true,
        AttrKind::Int => {
            matches!(data, AttrData::Integer { .. } | AttrData::WideInteger { .. } | AttrData::Bool(_))
        }
        AttrKind::Axis => ctx.int_value(attr).is_some(),
        AttrKind::Float => matches!(data, AttrData::Float { .. }),
        AttrKind::Bool => matches!(data, AttrData::Bool(_)),
        AttrKind::Unit => matches!(data, AttrData::Unit),
        AttrKind::Text => ctx.str_value(attr).is_some(),
        AttrKind::OneOf(texts) => ctx.str_value(attr).is_some_and(|text| texts.contains(&text)),
        AttrKind::Word(words) => words.get(ctx, attr).is_some(),
        AttrKind::Flags(flags) => flags.get(ctx, attr).is_some(),
        AttrKind::Int32s => branch::sizes(ctx, attr).is_some(),
        AttrKind::Ints | AttrKind::Axes => ctx.ints_value(attr).is_some(),
        AttrKind::Sizes | AttrKind::PerAxis => {
            matches!(data, AttrData::Dims(_)) || ctx.ints_value(attr).is_some()
        }
        AttrKind::Floats => match data {
            AttrData::DenseArray { elem, .. } => {
                matches!(ctx.type_data(*elem), TypeData::Float(FloatKind::F32 | FloatKind::F64))
            }
            _ => false,
        },
        AttrKind::Type => matches!(data, AttrData::Type(_)),
        AttrKind::FunctionType => match data {
            AttrData::Type(ty) => matches!(ctx.type_data(*ty), TypeData::Function { .. }),
            _ => false,
        },
        AttrKind::Symbol => matches!(data, AttrData::SymbolRef { .. }),
        AttrKind::Elements => {
            matches!(data, AttrData::Dense { .. } | AttrData::Sparse { .. } | AttrData::Resource { .. })
        }
        AttrKind::Array => matches!(data, AttrData::Array(_)),
        AttrKind::Dict => matches!(data, AttrData::Dict(_)),
    }
}

fn kind_text(kind: AttrKind) -> String {
    let text = match kind {
        AttrKind::Any => "any attribute",
        AttrKind::Int => "an integer",
        AttrKind::Axis => "an integer (an axis)",
        AttrKind::Float => "a float",
        AttrKind::Bool => "`true` or `false`",
        AttrKind::Unit => "`unit`",
        AttrKind::Text => "a string",
        AttrKind::OneOf(texts) => {
            let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
            return format!("one of {}", quoted.join(", "));
        }
        AttrKind::Word(words) => return words.describe(),
        AttrKind::Flags(flags) => return flags.describe(),
        AttrKind::Ints => "an `array<i64: ...>`",
        AttrKind::Int32s => "an `array<i32: ...>`",
        AttrKind::Axes => "an `array<i64: ...>` of axes",
        AttrKind::Sizes => "an `array<i64: ...>` or `#optc.dims<...>` of sizes",
        AttrKind::PerAxis => "an `array<i64: ...>` with a number for each axis",
        AttrKind::Floats => "an `array` of `f32` or `f64`",
        AttrKind::Type => "a type",
        AttrKind::FunctionType => "a function type",
        AttrKind::Symbol => "a symbol",
        AttrKind::Elements => "the elements of a tensor",
        AttrKind::Array => "an array",
        AttrKind::Dict => "a dictionary",
    };
    text.to_owned()
}
