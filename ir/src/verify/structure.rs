//! Structure: whether blocks end with terminators, and values are passed with the right types.

use super::rows::agree;
use super::{Checker, RegionOwner};
use crate::attrs::AttrData;
use crate::body::{Body, OpRef};
use crate::branch;
use crate::diag::Diagnostic;
use crate::entities::{Attr, Block, Op, Region, Type, Value};
use crate::opdef::{Kind, OpDef, Traits};
use crate::text::short_type;
use crate::types::TypeData;

impl<'m> Checker<'m> {
    /// A block ends with a terminator, and has no other, unless its owner's row needs none.
    pub(super) fn block_end(&mut self, body: &'m Body, block: Block, owner: RegionOwner) {
        let needs_none = owner.def.is_none_or(|def| def.traits.contains(Traits::NO_TERMINATOR));
        let is_terminator = |op: Op| OpRef::new(self.ctx, body, op).has(Traits::TERMINATOR);
        let last = body.last_op(block);
        let early: Vec<Op> = body.ops(block).filter(|op| Some(*op) != last && is_terminator(*op)).collect();
        let is_open = match last {
            Some(last) => OpRef::new(self.ctx, body, last).def().is_some() && !is_terminator(last),
            None => true,
        };
        for op in early {
            let name = self.ctx.op_name_str(body.name(op));
            self.breach(body, op, format!("`{name}` ends a block, but stands before its end"));
        }
        if !is_open || needs_none {
            return;
        }
        let owner_name = owner.def.map_or("", |def| def.name);
        match last {
            Some(last) => {
                let name = self.ctx.op_name_str(body.name(last));
                self.breach(
                    body,
                    last,
                    format!("a block of `{owner_name}` ends with a terminator, found `{name}`"),
                );
            }
            None => {
                let message = format!("a block of `{owner_name}` ends with a terminator, found nothing");
                self.note(Diagnostic::error(owner.location, message));
            }
        }
    }

    /// Branches lead to blocks of their own region, and never to its first.
    pub(super) fn ways(&mut self, body: &'m Body, region: Region) {
        let blocks = body.blocks(region);
        for last in blocks.iter().filter_map(|block| body.last_op(*block)) {
            for successor in body.successors(last) {
                let name = self.ctx.op_name_str(body.name(last));
                if Some(&successor.block) == blocks.first() {
                    self.breach(body, last, format!("`{name}` goes to the first block of its region"));
                } else if body.region_of(successor.block) != Some(region) {
                    self.breach(body, last, format!("`{name}` goes to a block of another region"));
                }
            }
        }
    }

    /// Checks the demands of an operation's traits and kind on its regions, successors and neighbours.
    pub(super) fn op_structure(&mut self, op: OpRef<'m>, def: &OpDef) {
        let (inside, regions) = match op.body.child(op.op) {
            Some(child) => (child, child.roots()),
            None => (op.body, op.body.regions(op.op)),
        };
        if def.traits.contains(Traits::SINGLE_BLOCK) && regions.iter().any(|r| inside.blocks(*r).len() > 1) {
            self.breach(op.body, op.op, format!("a region of `{}` has one block, found more", def.name));
        }
        if def.traits.contains(Traits::CONSTANT) {
            self.constant_type(op);
        }
        if def.traits.contains(Traits::RETURN) {
            self.returned(op, def);
        }
        if !def.traits.contains(Traits::TERMINATOR) && !op.body.successors(op.op).is_empty() {
            self.breach(op.body, op.op, format!("`{}` ends no block, but has successors", def.name));
        }
        self.block_arguments(op);
        match def.kind {
            Kind::Group => regions.iter().for_each(|region| self.group(op, *region)),
            Kind::Region(flow) => self.flow(op, flow),
            _ => {}
        }
        if def.traits.contains(Traits::FUNCTION) {
            self.function_attrs(op, def);
            self.declared_sizes(op, def);
        }
        if def.traits.contains(Traits::SYMBOL_TABLE) {
            self.no_arguments(op, def, inside, regions);
        }
        self.place_of_end(op, def);
    }

    /// Blocks of symbols have no predecessor and no caller, so they have no arguments.
    fn no_arguments(&mut self, op: OpRef<'m>, def: &OpDef, inside: &Body, regions: &[Region]) {
        let mut blocks = regions.iter().flat_map(|region| inside.blocks(*region));
        if blocks.any(|block| !inside.args(*block).is_empty()) {
            self.breach(op.body, op.op, format!("the block of `{}` has no arguments", def.name));
        }
    }

    /// There are attributes for each argument and result, or for none; and a declaration is not public.
    fn function_attrs(&mut self, op: OpRef<'m>, def: &OpDef) {
        let Some(body) = op.body.child(op.op) else { return };
        let Some((inputs, results)) = self.function_type(body) else { return };
        let name = def.name;
        for (key, what, count) in
            [("arg_attrs", "argument", inputs.len()), ("res_attrs", "result", results.len())]
        {
            let Some(items) = op.attr(key).and_then(|attr| self.ctx.array_value(attr)) else { continue };
            let is_dict = |item: &Attr| matches!(self.ctx.attr_data(*item), AttrData::Dict(_));
            if items.len() != count || !items.iter().all(is_dict) {
                let message = format!("`{key}` of `{name}` has a dictionary for each {what}: {count}");
                self.breach(op.body, op.op, message);
            }
        }
        let is_public = op.text("sym_visibility").is_none_or(|visibility| visibility == "public");
        if is_public && body.roots().iter().all(|region| body.blocks(*region).is_empty()) {
            let message = format!("a `{name}` without a body is not public");
            self.breach_with_help(op.body, op.op, message, Some("declare it as `private`".to_owned()));
        }
    }

    fn constant_type(&mut self, op: OpRef<'m>) {
        let Some(value) = op.attr("value") else { return };
        let Some(given) = self.ctx.attr_type(value).filter(|_| op.body.result_count(op.op) == 1) else {
            return;
        };
        self.same(op, "the value of the constant", op.result_type(0), given);
    }

    /// Reports two types that must agree but do not.
    fn same(&mut self, op: OpRef<'m>, what: &str, expected: Type, found: Type) {
        if !agree(self.ctx, expected, found) {
            let (expected, found) = (short_type(self.ctx, expected), short_type(self.ctx, found));
            self.breach(op.body, op.op, format!("{what} must be `{expected}`, is `{found}`"));
        }
    }

    /// Checks values against types, one by one.
    pub(super) fn handed(&mut self, op: OpRef<'m>, what: &str, types: &[Type], values: &[Value]) {
        if types.len() != values.len() {
            let (expected, found) = (types.len(), values.len());
            return self.breach(
                op.body,
                op.op,
                format!("`{}`: the number of {what}s is {expected}, found {found}", op.name()),
            );
        }
        for (index, (ty, value)) in types.iter().zip(values).enumerate() {
            self.same(op, &format!("{what} {index}"), *ty, op.body.ty(*value));
        }
    }

    /// A function's entry block has arguments of the types in the function's type.
    pub(super) fn own_signature(&mut self, body: &'m Body, owner: RegionOwner) {
        let Some((inputs, _)) = self.function_type(body) else { return };
        let Some(entry) = body.roots().first().and_then(|region| body.entry(*region)) else { return };
        let types: Vec<Type> = body.args(entry).iter().map(|arg| body.ty(*arg)).collect();
        if types == inputs {
            return;
        }
        let types: Vec<String> = types.iter().map(|ty| short_type(self.ctx, *ty)).collect();
        let message = format!("the function's type and its arguments ({}) differ", types.join(", "));
        self.note(Diagnostic::error(owner.location, message));
    }

    /// Inputs and results of a function, if the body is one.
    fn function_type(&self, body: &Body) -> Option<(&'m [Type], &'m [Type])> {
        let AttrData::Type(ty) =
            self.ctx.attr_data(body.own_attr(self.ctx, self.ctx.ident("function_type"))?)
        else {
            return None;
        };
        match self.ctx.type_data(*ty) {
            TypeData::Function { inputs, results } => Some((inputs, results)),
            _ => None,
        }
    }

    /// A return is directly in a function, and returns the declared types.
    fn returned(&mut self, op: OpRef<'m>, def: &OpDef) {
        let signature = self.function_type(op.body).filter(|_| op.body.parent_op(op.op).is_none());
        match signature {
            Some((_, results)) => {
                let operands: Vec<Value> = op.body.operands(op.op).collect();
                self.handed(op, "returned value", results, &operands);
            }
            None => self.breach(op.body, op.op, format!("`{}` stands directly in a function", def.name)),
        }
    }

    /// A group's block takes its operands, reads nothing else, and yields its results.
    fn group(&mut self, op: OpRef<'m>, region: Region) {
        let body = op.body;
        let Some(block) = body.entry(region) else { return };
        let types: Vec<Type> = body.operands(op.op).map(|value| body.ty(value)).collect();
        self.handed(op, "argument", &types, body.args(block));
        for inner in body.ops(block) {
            let outside = body.operands(inner).position(|value| body.def_block(value) != Some(block));
            if let Some(index) = outside {
                let name = self.ctx.op_name_str(body.name(inner));
                let message = format!("operand {index} of `{name}` comes from outside of the group");
                self.breach_with_help(
                    body,
                    inner,
                    message,
                    Some("pass it as an operand of the group".to_owned()),
                );
            }
        }
        let Some(last) = body.last_op(block).map(|last| OpRef::new(self.ctx, body, last)) else { return };
        if last.has(Traits::YIELD) {
            let types: Vec<Type> = body.results(op.op).map(|value| body.ty(value)).collect();
            let operands: Vec<Value> = body.operands(last.op).collect();
            self.handed(last, "yielded value", &types, &operands);
        }
    }

    /// Each block receives the arguments that it declares: attributes and successors agree on the operands.
    fn block_arguments(&mut self, op: OpRef<'m>) {
        let successors = op.body.successors(op.op);
        if successors.is_empty() {
            return;
        }
        let Some(ranges) = branch::forwarded(op) else {
            let message = format!("`{}` does not say which operands it passes to each block", op.name());
            return self.breach(op.body, op.op, message);
        };
        let operands: Vec<Value> = op.body.operands(op.op).collect();
        for (successor, range) in successors.iter().zip(ranges) {
            if successor.first_operand as usize != range.start
                || successor.operand_count as usize != range.len()
            {
                let message =
                    format!("`{}`: successors and attributes divide the operands differently", op.name());
                self.breach(op.body, op.op, message);
            }
            let types: Vec<Type> = op.body.args(successor.block).iter().map(|arg| op.body.ty(*arg)).collect();
            self.handed(op, "block argument", &types, &operands[range]);
        }
    }
}
