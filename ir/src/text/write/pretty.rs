//! Printer of operations in the pretty form, derived from their rows.
//!
//! An operation is written in generic form if its pretty text would be parsed differently.

use std::fmt::{self, Write};

use super::{BlockHeader, Locations, TextWriter, WrittenBody};
use crate::attrs::AttrData;
use crate::body::Body;
use crate::context::Context;
use crate::entities::{Attr, Ident, Location, Op, Region, Type};
use crate::opdef::OpDef;
use crate::text::form::{self, PrettyForm, SHORT_DIALECTS};
use crate::text::lexer;
use crate::types::TypeData;

/// Attributes that are part of the form itself.
const FUNCTION_ATTRS: [&str; 5] = ["sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"];

impl<'m> TextWriter<'m> {
    /// Writes an operation in pretty form, without its results. Returns whether it has such a form.
    pub(super) fn pretty_op(
        &mut self,
        scope: WrittenBody<'m>,
        op: Op,
        out: &mut dyn Write,
    ) -> Result<bool, fmt::Error> {
        let body = scope.body;
        let Some(def) = self.ctx.def(body.name(op)).filter(|def| has_row_attrs(self.ctx, def, body, op))
        else {
            return Ok(false);
        };
        match PrettyForm::of(def) {
            PrettyForm::Group | PrettyForm::For | PrettyForm::While if self.hides_locations(body, op) => {
                Ok(false)
            }
            PrettyForm::Function => self.function(scope, op, out),
            PrettyForm::Module => self.module_op(scope, op, def, out),
            PrettyForm::Constant => Ok(self.constant(scope, op, def)),
            PrettyForm::Call => Ok(self.call(scope, op, def)),
            PrettyForm::Group => self.group(scope, op, def, out),
            PrettyForm::If => self.condition(scope, op, def, out),
            PrettyForm::For => self.counted_loop(scope, op, def, out),
            PrettyForm::While => self.conditional_loop(scope, op, def, out),
            PrettyForm::Syntax(syntax) => Ok(self.by_syntax(scope, op, def, syntax)),
            PrettyForm::Plain => self.plain(scope, op, def, out),
        }
    }

    /// Whether locations are shown, and those of arguments would be lost in a form without block headers.
    fn hides_locations(&self, body: &Body, op: Op) -> bool {
        let entries = body.regions(op).iter().filter_map(|region| body.entry(*region));
        let mut args = entries.flat_map(|entry| body.args(entry));
        self.options.locations != Locations::Hidden
            && args.any(|arg| body.arg_location(*arg) != Location::UNKNOWN)
    }

    /// The operation's name. The dialect `func` is omitted for operations directly in a function, and
    /// `builtin` for modules.
    pub(super) fn op_word(&mut self, scope: WrittenBody<'m>, op: Op, def: &OpDef) {
        let stands_in_function = || {
            scope.body.parent_op(op).is_none()
                && scope.body.own_attr(self.ctx, self.ctx.ident("function_type")).is_some()
        };
        let [functions, modules] = SHORT_DIALECTS;
        let (dialect, word) = def.name.split_once('.').unwrap_or(("", def.name));
        let is_short = dialect == functions && stands_in_function()
            || dialect == modules && PrettyForm::of(def) == PrettyForm::Module;
        self.buffer.push_str(if is_short { word } else { def.name });
    }

    /// All attributes except `hidden`, inherent or not, sorted by name.
    pub(super) fn visible_attrs(&self, body: &Body, op: Op, hidden: &[&str]) -> Vec<(Ident, Attr)> {
        let all =
            self.ctx.dict_entries(body.properties(op)).iter().chain(self.ctx.dict_entries(body.attrs(op)));
        let mut all: Vec<_> =
            all.copied().filter(|(name, _)| !hidden.contains(&self.ctx.str(*name))).collect();
        all.sort_by(|a, b| self.ctx.str(a.0).cmp(self.ctx.str(b.0)));
        all
    }

    pub(super) fn optional_dict(&mut self, prefix: &str, entries: &[(Ident, Attr)]) {
        if !entries.is_empty() {
            self.buffer.push_str(prefix);
            self.dict(entries);
        }
    }

    pub(super) fn own(&self, body: &Body, op: Op, name: &str) -> Option<Attr> {
        body.attr(self.ctx, op, self.ctx.ident(name))
    }

    /// A string attribute that can be written as `@symbol`.
    fn symbol_value(&self, attr: Option<Attr>) -> Option<Ident> {
        let text = self.ctx.str_value(attr?)?;
        (!text.is_empty()).then(|| self.ctx.ident(text))
    }

    fn module_op(
        &mut self,
        scope: WrittenBody<'m>,
        op: Op,
        def: &OpDef,
        out: &mut dyn Write,
    ) -> Result<bool, fmt::Error> {
        let (inside, regions) = self.regions(scope, op);
        let [region] = regions else { return Ok(false) };
        let [block] = inside.body.blocks(*region) else { return Ok(false) };
        if !inside.body.args(*block).is_empty() {
            return Ok(false);
        }
        self.op_word(scope, op, def);
        let name = self.symbol_value(self.own(scope.body, op, "sym_name"));
        if let Some(name) = name {
            self.buffer.push(' ');
            self.symbol(name);
        }
        let hidden: &[&str] = if name.is_some() { &["sym_name"] } else { &[] };
        let attrs = self.visible_attrs(scope.body, op, hidden);
        self.optional_dict(" attributes ", &attrs);
        self.buffer.push(' ');
        self.region(inside, *region, BlockHeader::Never, out)?;
        Ok(true)
    }

    fn function(&mut self, scope: WrittenBody<'m>, op: Op, out: &mut dyn Write) -> Result<bool, fmt::Error> {
        let (inside, regions) = self.regions(scope, op);
        let Some(header) = self.function_header(scope.body, op, inside, regions) else { return Ok(false) };
        self.buffer.push_str(self.ctx.op_name_str(scope.body.name(op)));
        self.buffer.push(' ');
        if let Some(visibility) = header.visibility {
            self.put(format_args!("{visibility} "));
        }
        self.symbol(header.symbol);
        self.buffer.push('(');
        let entry = regions.first().and_then(|region| inside.body.entry(*region));
        let args = entry.map(|block| inside.body.args(block));
        let arg_attrs = header.arg_attrs;
        self.list(header.inputs.iter().enumerate(), |writer, (i, ty)| {
            if let Some(args) = args {
                writer.value(inside, args[i]);
                writer.buffer.push_str(": ");
            }
            writer.ty(*ty);
            writer.dict_at(arg_attrs, i);
            if let Some(args) = args {
                writer.arg_location(inside.body, args[i]);
            }
        });
        self.buffer.push(')');
        self.function_results(header.results, header.res_attrs);
        let attrs = self.visible_attrs(scope.body, op, &FUNCTION_ATTRS);
        self.optional_dict(" attributes ", &attrs);
        if entry.is_some() {
            self.buffer.push(' ');
            self.region(inside, regions[0], BlockHeader::Never, out)?;
        }
        Ok(true)
    }

    /// The parts before a function's body; none if their text would be parsed differently.
    fn function_header(
        &self,
        body: &Body,
        op: Op,
        inside: WrittenBody<'m>,
        regions: &[Region],
    ) -> Option<FunctionHeader<'m>> {
        let symbol = self.symbol_value(self.own(body, op, "sym_name"))?;
        let AttrData::Type(ty) = self.ctx.attr_data(self.own(body, op, "function_type")?) else {
            return None;
        };
        let TypeData::Function { inputs, results } = self.ctx.type_data(*ty) else { return None };
        let visibility = match self.own(body, op, "sym_visibility") {
            None => None,
            Some(attr) => {
                Some(self.ctx.str_value(attr).filter(|word| ["private", "public", "nested"].contains(word))?)
            }
        };
        let [region] = regions else { return None };
        if let Some(entry) = inside.body.entry(*region) {
            if !has_plain_entry(inside.body, *region) {
                return None;
            }
            let types = inside.body.args(entry).iter().map(|arg| inside.body.ty(*arg));
            if !types.eq(inputs.iter().copied()) {
                return None;
            }
        }
        let dicts = |name, count: usize| match self.own(body, op, name) {
            None => Some(None),
            Some(attr) => {
                let items = self.ctx.array_value(attr)?;
                let is_plain =
                    items.iter().all(|item| matches!(self.ctx.attr_data(*item), AttrData::Dict(_)));
                let says_something = items.iter().any(|item| *item != Attr::EMPTY);
                (is_plain && says_something && items.len() == count).then_some(Some(items))
            }
        };
        let arg_attrs = dicts("arg_attrs", inputs.len())?;
        let res_attrs = dicts("res_attrs", results.len())?;
        Some(FunctionHeader { symbol, visibility, inputs, results, arg_attrs, res_attrs })
    }

    fn dict_at(&mut self, dicts: Option<&[Attr]>, index: usize) {
        if let Some(dict) = dicts.map(|dicts| dicts[index]).filter(|dict| *dict != Attr::EMPTY) {
            self.buffer.push(' ');
            self.attr(dict);
        }
    }

    fn function_results(&mut self, types: &[Type], attrs: Option<&[Attr]>) {
        if types.is_empty() {
            return;
        }
        self.buffer.push_str(" -> ");
        if attrs.is_none() {
            return self.result_types(types.iter().copied());
        }
        self.buffer.push('(');
        self.list(types.iter().enumerate(), |writer, (i, ty)| {
            writer.ty(*ty);
            writer.dict_at(attrs, i);
        });
        self.buffer.push(')');
    }

    fn constant(&mut self, scope: WrittenBody<'m>, op: Op, def: &OpDef) -> bool {
        let body = scope.body;
        let Some(value) = self.own(body, op, "value") else { return false };
        let is_plain = body.operand_count(op) == 0 && body.result_count(op) == 1;
        if !is_plain || self.ctx.attr_type(value) != Some(body.ty(body.result(op, 0))) {
            return false;
        }
        self.op_word(scope, op, def);
        let attrs = self.visible_attrs(body, op, &["value"]);
        self.optional_dict(" ", &attrs);
        self.buffer.push(' ');
        self.attr(value);
        true
    }

    fn call(&mut self, scope: WrittenBody<'m>, op: Op, def: &OpDef) -> bool {
        let key = form::symbol_attr(def).expect("the form asks for a symbol");
        let callee = self.own(scope.body, op, key);
        let Some(callee) =
            callee.filter(|attr| matches!(self.ctx.attr_data(*attr), AttrData::SymbolRef { .. }))
        else {
            return false;
        };
        self.op_word(scope, op, def);
        self.buffer.push(' ');
        self.attr(callee);
        self.buffer.push('(');
        self.operands(scope, op);
        self.buffer.push(')');
        let attrs = self.visible_attrs(scope.body, op, &[key]);
        self.optional_dict(" ", &attrs);
        self.buffer.push_str(" : ");
        self.signature(scope.body, op);
        true
    }

    fn group(
        &mut self,
        scope: WrittenBody<'m>,
        op: Op,
        def: &OpDef,
        out: &mut dyn Write,
    ) -> Result<bool, fmt::Error> {
        let body = scope.body;
        let [region] = body.regions(op) else { return Ok(false) };
        let [block] = body.blocks(*region) else { return Ok(false) };
        let args = body.args(*block);
        let types = args.iter().map(|arg| body.ty(*arg));
        if !types.eq(body.operands(op).map(|value| body.ty(value))) || !has_plain_entry(body, *region) {
            return Ok(false);
        }
        self.op_word(scope, op, def);
        self.buffer.push('(');
        self.list(args.iter().zip(body.operands(op)), |writer, (arg, operand)| {
            writer.value(scope, *arg);
            writer.buffer.push_str(" = ");
            writer.value(scope, operand);
        });
        self.buffer.push(')');
        let attrs = self.visible_attrs(body, op, &[]);
        self.optional_dict(" ", &attrs);
        self.buffer.push_str(" : ");
        self.signature(body, op);
        self.buffer.push(' ');
        self.region(scope, *region, BlockHeader::Never, out)?;
        Ok(true)
    }

    fn plain(
        &mut self,
        scope: WrittenBody<'m>,
        op: Op,
        def: &OpDef,
        out: &mut dyn Write,
    ) -> Result<bool, fmt::Error> {
        let body = scope.body;
        self.op_word(scope, op, def);
        if body.operand_count(op) > 0 {
            self.buffer.push(' ');
            self.operands(scope, op);
        }
        if !body.successors(op).is_empty() {
            self.buffer.push(' ');
            self.successors(scope, op);
        }
        let attrs = self.visible_attrs(body, op, &[]);
        self.optional_dict(" ", &attrs);
        self.plain_types(body, op, def);
        self.region_list(scope, op, out)?;
        Ok(true)
    }

    fn plain_types(&mut self, body: &Body, op: Op, def: &OpDef) {
        let operands: Vec<Type> = body.operands(op).map(|value| body.ty(value)).collect();
        let results: Vec<Type> = body.results(op).map(|value| body.ty(value)).collect();
        let counts = form::counts_results(def) && def.results.len() == results.len();
        if operands.is_empty() && results.is_empty() && counts {
            return;
        }
        self.buffer.push_str(" : ");
        if form::lists_types(def) && results.is_empty() {
            return self.list(operands, |writer, ty| writer.ty(ty));
        }
        let mut all = operands.iter().chain(&results);
        let first = *all.next().expect("there are operands or results");
        let is_one =
            all.all(|ty| *ty == first) && !matches!(self.ctx.type_data(first), TypeData::Function { .. });
        if is_one && counts { self.ty(first) } else { self.signature(body, op) }
    }
}

/// The parts before a function's body.
struct FunctionHeader<'m> {
    symbol: Ident,
    visibility: Option<&'m str>,
    inputs: &'m [Type],
    results: &'m [Type],
    arg_attrs: Option<&'m [Attr]>,
    res_attrs: Option<&'m [Attr]>,
}

/// Whether the row tells inherent attributes from others, so that one pair of braces can hold both.
fn has_row_attrs(ctx: &Context, def: &OpDef, body: &Body, op: Op) -> bool {
    let is_inherent = |name: Ident| def.attr(ctx.str(name)).is_some();
    ctx.dict_entries(body.properties(op)).iter().all(|(name, _)| is_inherent(*name))
        && !ctx.dict_entries(body.attrs(op)).iter().any(|(name, _)| is_inherent(*name))
        && lexer::is_bare_word(def.name.as_bytes())
}

/// Whether a region's first block needs no label: it is not empty, and has no predecessors.
fn has_plain_entry(body: &Body, region: Region) -> bool {
    let blocks = body.blocks(region);
    let Some(&entry) = blocks.first() else { return false };
    let mut next =
        blocks.iter().filter_map(|block| body.last_op(*block)).flat_map(|last| body.successors(last));
    let is_empty = body.args(entry).is_empty() && body.first_op(entry).is_none();
    !is_empty && next.all(|successor| successor.block != entry)
}
