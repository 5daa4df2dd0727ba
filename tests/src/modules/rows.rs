//! Operations of random modules, from their rows.

use ir::opdef::{Arity, AttrDef, AttrKind, OpDef, TypeClass};
use ir::{Attr, Body, Context, Dim, Type, TypeData, Value};

use super::{Writer, elements, is_plain};
use crate::examples::{program, resized};

/// The number of attempts to build an operation with other operands and attributes.
const TRIALS: usize = 6;
/// Numbers at which bounds, slopes and offsets have special meanings.
const FLOATS: [f32; 8] = [0.0, -0.0, 0.5, 1.0, -1.0, 6.0, 0.1, 2.0];

impl Writer<'_> {
    /// An operation on values in scope.
    pub(super) fn direct(&mut self) {
        for _ in 0..TRIALS {
            let def = self.random.pick(self.rows);
            let Some(operands) = self.operands(def) else { continue };
            let sizes = operands.first().and_then(|value| self.ctx.static_shape(self.ty(*value)));
            let sizes = sizes.unwrap_or_default();
            let attrs: Vec<(&str, Attr)> = def
                .attrs
                .iter()
                .filter_map(|attr| Some((attr.name, self.attribute(attr, None, &sizes)?)))
                .collect();
            if self.build(def.name, &operands, &attrs, &[]).is_some() {
                return;
            }
        }
    }

    /// Operands of a row among the values in scope: most often all of the first one's type.
    fn operands(&mut self, def: &'static OpDef) -> Option<Vec<Value>> {
        let mut operands: Vec<Value> = Vec::new();
        for operand in def.operands {
            let count = match operand.arity {
                Arity::One => 1,
                Arity::Optional => self.random.below(2),
                Arity::Variadic => 1 + self.random.below(3),
            };
            for _ in 0..count {
                let first = operands.first().map(|value| self.ty(*value));
                let alike = first.filter(|_| self.random.below(4) > 0).and_then(|ty| self.of_type(ty));
                let value = alike.unwrap_or_else(|| self.any());
                if !takes(&self.ctx, operand.types, self.ty(value)) {
                    return None;
                }
                operands.push(value);
            }
        }
        Some(operands)
    }

    /// The operation of an example, at other sizes and with other attributes.
    pub(super) fn example(&mut self) {
        let def = self.random.pick(self.rows);
        let text = program(def.example);
        let module = ir::text::parse(&self.ctx, def.name, text).expect("examples are right");
        let written =
            module.functions().map(|(_, body)| body).filter(|body| !body.blocks(body.root()).is_empty());
        let Some(body) = written.last() else { return };
        let sizes: Vec<Dim> = (0..64).map(|_| self.size()).collect();
        let is_kept = self.random.below(3) == 0;
        let other = resized(&self.ctx, body, &|size| {
            if is_kept { Dim::Known(size) } else { sizes[size as usize % 64] }
        });
        self.inline(def, other.as_ref().unwrap_or(body));
    }

    /// Appends the operations of an example's function, except its end.
    fn inline(&mut self, def: &'static OpDef, body: &Body) {
        let Some(block) = body.entry(body.root()).filter(|_| body.blocks(body.root()).len() == 1) else {
            return;
        };
        let args = body.args(block);
        let is_given = |ty: Type| is_plain(&self.ctx, ty) && elements(&self.ctx, ty) <= super::MOST_ELEMENTS;
        if !args.iter().all(|arg| is_given(body.ty(*arg))) {
            return;
        }
        let mut here: Vec<(Value, Value)> =
            args.iter().map(|arg| (*arg, self.adapted(body.ty(*arg)))).collect();
        let end = body.last_op(block);
        for op in body.ops(block).filter(|op| Some(*op) != end) {
            let operands: Option<Vec<Value>> = body
                .operands(op)
                .map(|value| here.iter().find(|(there, _)| *there == value).map(|(_, here)| *here))
                .collect();
            let Some(operands) = operands else { return };
            let name = self.ctx.op_name_str(body.name(op)).to_owned();
            let types: Vec<Type> = body.results(op).map(|value| body.ty(value)).collect();
            let sizes = operands.first().and_then(|value| self.ctx.static_shape(self.ty(*value)));
            let attrs = self.attributes(def, body.properties(op), &sizes.unwrap_or_default());
            let attrs: Vec<(&str, Attr)> = attrs.iter().map(|(name, attr)| (&name[..], *attr)).collect();
            let Some(made) = self.build(&name, &operands, &attrs, &types) else { return };
            here.extend(body.results(op).zip(self.body.results(made)));
        }
    }

    /// The attributes of an example, some of them replaced.
    fn attributes(&mut self, def: &'static OpDef, given: Attr, sizes: &[u64]) -> Vec<(String, Attr)> {
        let ctx = self.ctx.clone();
        let mut attrs: Vec<(String, Attr)> =
            ctx.dict_entries(given).iter().map(|(name, attr)| (ctx.str(*name).to_owned(), *attr)).collect();
        for row in def.attrs {
            if self.random.below(3) > 0 {
                continue;
            }
            let old = attrs.iter().position(|(name, _)| name == row.name);
            let value = self.attribute(row, old.map(|at| attrs[at].1), sizes);
            match (old, value) {
                (Some(at), None) if row.kind == AttrKind::Unit => drop(attrs.remove(at)),
                (Some(at), Some(value)) => attrs[at].1 = value,
                (None, Some(value)) => attrs.push((row.name.to_owned(), value)),
                _ => {}
            }
        }
        attrs
    }

    /// A value for an attribute; none if it is omitted, or no valid value is known.
    fn attribute(&mut self, row: &AttrDef, old: Option<Attr>, sizes: &[u64]) -> Option<Attr> {
        let ctx = self.ctx.clone();
        let rank = sizes.len();
        Some(match row.kind {
            AttrKind::Unit => (self.random.below(2) == 0).then(|| ctx.unit_attr())?,
            AttrKind::Float => ctx.f32_attr(self.random.pick(&FLOATS)),
            AttrKind::Int => ctx.int_attr(self.random.pick(&[0, 1, 1, 2, 3])),
            AttrKind::Axis if rank > 0 => ctx.int_attr(self.random.below(rank) as i64),
            AttrKind::Axes if row.name == "permutation" => {
                let mut axes: Vec<i64> = (0..rank as i64).collect();
                (1..rank).for_each(|at| axes.swap(at, self.random.below(at + 1)));
                ctx.ints_attr(&axes)
            }
            AttrKind::Axes => {
                let axes: Vec<i64> = (0..rank as i64).filter(|_| self.random.below(2) == 0).collect();
                ctx.ints_attr(&axes)
            }
            AttrKind::PerAxis | AttrKind::Ints => {
                let count = old.and_then(|old| ctx.ints_value(old)).map_or(rank, |old| old.len());
                let numbers: Vec<i64> = (0..count)
                    .map(|axis| match row.name {
                        "sizes" => {
                            1 + self.random.below(sizes.get(axis).map_or(1, |size| *size as usize).max(1))
                                as i64
                        }
                        _ => self.random.pick(&[0, 0, 1, 1, 2, -1]),
                    })
                    .collect();
                ctx.ints_attr(&numbers)
            }
            AttrKind::Sizes if old.is_none() => {
                let mut all: Vec<i64> = sizes.iter().map(|size| *size as i64).collect();
                match self.random.below(4) {
                    0 if row.name == "shape" => all = vec![all.iter().product()],
                    1 if row.name == "shape" && rank > 1 => all.swap(0, 1),
                    2 if row.name == "shape" => all.insert(self.random.below(rank + 1), 1),
                    _ => all
                        .iter_mut()
                        .for_each(|size| *size = 1 + self.random.below((*size).max(1) as usize) as i64),
                }
                ctx.ints_attr(&all)
            }
            AttrKind::Word(words) => words.attr(&ctx, self.random.pick(words.words))?,
            AttrKind::OneOf(words) => ctx.str_attr(self.random.pick(words)),
            AttrKind::Type => ctx.type_attr(self.elem()),
            _ => return None,
        })
    }

    fn elem(&mut self) -> Type {
        let ctx = self.ctx.clone();
        match self.random.below(6) {
            0 => ctx.int(64),
            1 => ctx.int(32),
            2 => ctx.int(1),
            3 => ctx.float(self.random.pick(&[ir::FloatKind::F16, ir::FloatKind::F64, ir::FloatKind::Bf16])),
            _ => ctx.f32(),
        }
    }

    /// A value of a type: one in scope, one made from it by a reshape and a slice or padding, or a new one.
    fn adapted(&mut self, ty: Type) -> Value {
        let is_there = self.of_type(ty).filter(|_| self.random.below(3) > 0);
        let made = is_there.or_else(|| if self.random.below(3) > 0 { self.made(ty) } else { None });
        made.unwrap_or_else(|| self.fresh(ty))
    }

    fn made(&mut self, ty: Type) -> Option<Value> {
        let ctx = self.ctx.clone();
        let from = self.any();
        let shape = ctx.static_shape(ty)?;
        let is_float = |ty: Type| matches!(ctx.type_data(ctx.elem(ty)), TypeData::Float(_));
        let given = ctx.static_shape(self.ty(from))?;
        if !is_float(ty) || !is_float(self.ty(from)) || given.contains(&0) || shape.contains(&0) {
            return None;
        }
        let to = [("to", ctx.type_attr(ctx.elem(ty)))];
        let mut value =
            if ctx.elem(ty) == ctx.elem(self.ty(from)) { from } else { self.op("nn.cast", &[from], &to)? };
        let (have, want) = (given.iter().product::<u64>() as i64, shape.iter().product::<u64>() as i64);
        if given.len() != shape.len() {
            value = self.op("nn.reshape", &[value], &[("shape", ctx.ints_attr(&[have]))])?;
            value = self.fitted(value, &[want as u64])?;
            let sizes: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
            return self.op("nn.reshape", &[value], &[("shape", ctx.ints_attr(&sizes))]);
        }
        self.fitted(value, &shape)
    }

    /// A value sliced and padded to sizes.
    fn fitted(&mut self, value: Value, shape: &[u64]) -> Option<Value> {
        let ctx = self.ctx.clone();
        let given = ctx.static_shape(self.ty(value))?;
        let (mut starts, mut kept, mut high) = (Vec::new(), Vec::new(), Vec::new());
        for (have, want) in given.iter().zip(shape) {
            starts.push(self.random.below(1 + have.saturating_sub(*want) as usize) as i64);
            kept.push(*have.min(want) as i64);
            high.push(want.saturating_sub(*have) as i64);
        }
        let low = vec![0; high.len()];
        let attrs = [("starts", ctx.ints_attr(&starts)), ("sizes", ctx.ints_attr(&kept))];
        let is_cut = given.iter().zip(&kept).any(|(have, kept)| *have as i64 > *kept);
        let cut = if is_cut { self.op("nn.slice", &[value], &attrs)? } else { value };
        let attrs = [("low", ctx.ints_attr(&low)), ("high", ctx.ints_attr(&high))];
        if high.iter().any(|size| *size > 0) { self.op("nn.pad", &[cut], &attrs) } else { Some(cut) }
    }

    fn op(&mut self, name: &str, operands: &[Value], attrs: &[(&str, Attr)]) -> Option<Value> {
        let op = self.build(name, operands, attrs, &[])?;
        Some(self.body.result(op, 0))
    }
}

/// Whether a class of types contains a type.
fn takes(ctx: &Context, class: TypeClass, ty: Type) -> bool {
    let data = ctx.type_data(ty);
    let is_tensor = matches!(data, TypeData::Tensor { .. });
    let elem = ctx.type_data(if is_tensor { ctx.elem(ty) } else { ty });
    let is_float = matches!(elem, TypeData::Float(_));
    let is_int = matches!(elem, TypeData::Integer { .. });
    match class {
        TypeClass::Any => true,
        TypeClass::Tensor => is_tensor,
        TypeClass::FloatTensor => is_tensor && is_float,
        TypeClass::FloatOrByteTensor => {
            is_tensor && matches!(elem, TypeData::Float(_) | TypeData::Integer { width: 8, .. })
        }
        TypeClass::IntTensor => is_tensor && is_int,
        TypeClass::FloatLike => !is_tensor && is_float,
        TypeClass::IntLike | TypeClass::FixedIntLike | TypeClass::Int => !is_tensor && is_int,
        TypeClass::NumberLike => !is_tensor && (is_float || is_int),
        TypeClass::BoolLike | TypeClass::Bool => ty == ctx.int(1),
        TypeClass::Index => matches!(data, TypeData::Index),
        TypeClass::Function | TypeClass::Own(_) => false,
    }
}
