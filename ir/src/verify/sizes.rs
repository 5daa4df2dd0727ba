//! Named sizes: whether a function's declarations of them are well formed:
//! `optc.dims = {N = [1, 512], M = #optc.dims<2 * N>}`.

use super::Checker;
use crate::attrs::AttrData;
use crate::body::OpRef;
use crate::dims;
use crate::entities::{Attr, Ident};
use crate::opdef::OpDef;
use crate::plan::attrs;
use crate::text::short_attr;

impl<'m> Checker<'m> {
    /// Each entry is the least and the greatest value of a name, or the one size that it equals; arguments
    /// and results have no such attribute.
    pub(super) fn declared_sizes(&mut self, op: OpRef<'m>, def: &OpDef) {
        let name = self.ctx.ident(attrs::OPTC_DIMS);
        for (key, what) in [("arg_attrs", "arguments"), ("res_attrs", "results")] {
            let items = op.attr(key).and_then(|items| self.ctx.array_value(items)).unwrap_or(&[]);
            if items.iter().any(|dict| self.ctx.dict_get(*dict, name).is_some()) {
                let message = format!("`optc.dims` stands on a `{}`, not on its {what}", def.name);
                self.breach(op.body, op.op, message);
            }
        }
        let Some(declared) = op.attr(attrs::OPTC_DIMS) else { return };
        let AttrData::Dict(entries) = self.ctx.attr_data(declared) else {
            let found = short_attr(self.ctx, declared);
            let message = format!("`optc.dims` is a dictionary with a range for each name, found `{found}`");
            return self.breach(op.body, op.op, message);
        };
        for &(symbol, range) in entries {
            if let Some(message) = self.fault_of_range(symbol, range) {
                self.breach(op.body, op.op, message);
            }
        }
    }

    fn fault_of_range(&self, symbol: Ident, range: Attr) -> Option<String> {
        let name = self.ctx.str(symbol);
        if dims::one_size(self.ctx, range).is_some() {
            return None;
        }
        let bounds = self.ctx.array_value(range).unwrap_or(&[]).iter();
        let bounds: Option<Vec<i64>> = bounds.map(|bound| self.ctx.int_value(*bound)).collect();
        match bounds.as_deref() {
            Some([low, high]) if 0 <= *low && low <= high => None,
            Some([low, high]) => Some(format!("`optc.dims`: no size `{name}` is in {low} to {high}")),
            _ => {
                let found = short_attr(self.ctx, range);
                Some(format!(
                    "`optc.dims` says of `{name}` the least and the greatest value, found `{found}`"
                ))
            }
        }
    }
}
