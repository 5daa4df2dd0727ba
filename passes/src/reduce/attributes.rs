//! Attributes: removed, or replaced by smaller numbers.

use ir::opdef::Presence;
use ir::{Attr, Context, Ident, Module};

use super::retype::infer_all;
use super::search::{Search, change_each};
use super::sites::{self, OpSite, body_at, body_at_mut, mapped};

/// An attribute of an operation.
type AttrSite = (OpSite, Ident);

/// Tries to remove attributes, and to replace numbers in others by 0, 1 or -1, or half their value.
pub(super) fn run(search: &mut Search<'_>) {
    let found = attributes(&search.program, |_, _| true);
    search.halve(found, |module, found| {
        change_each(found.iter(), |attribute| remove(module, attribute)) && infer_all(module)
    });
    let smaller: [fn(i64) -> i64; 3] =
        [|_| 0, |number| number.clamp(-1, 1), |number| if number.abs() > 2 { number / 2 } else { number }];
    for smaller in smaller {
        let found = attributes(&search.program, |ctx, attr| mapped(ctx, attr, smaller).is_some());
        search.halve(found, |module, found| {
            change_each(found.iter(), |attribute| shrink(module, attribute, smaller)) && infer_all(module)
        });
    }
}

/// The attributes that satisfy a condition: optional ones, and numbers.
fn attributes(module: &Module, holds: impl Fn(&Context, Attr) -> bool) -> Vec<AttrSite> {
    let ctx = &module.ctx;
    let mut found = Vec::new();
    for site in sites::sites(module) {
        let body = body_at(module, &site.path).expect("the place was just found");
        let entries = [body.properties(site.op), body.attrs(site.op)].map(|dict| ctx.dict_entries(dict));
        let held = entries.into_iter().flatten().filter(|(_, attr)| holds(ctx, *attr));
        found.extend(held.map(|(name, _)| (site.clone(), *name)));
    }
    found
}

fn remove(module: &mut Module, (site, name): &AttrSite) -> bool {
    let ctx = module.ctx.clone();
    let Some(body) = body_at_mut(module, &site.path) else { return false };
    let def = body.at(&ctx, site.op).def().and_then(|def| def.attr(ctx.str(*name)));
    if def.is_some_and(|def| matches!(def.presence, Presence::Required | Presence::NoFlags)) {
        return false;
    }
    body.remove_attr(&ctx, site.op, ctx.str(*name));
    true
}

fn shrink(module: &mut Module, (site, name): &AttrSite, smaller: fn(i64) -> i64) -> bool {
    let ctx = module.ctx.clone();
    let Some(body) = body_at_mut(module, &site.path) else { return false };
    let attr = body.attr(&ctx, site.op, *name);
    let Some(new) = attr.and_then(|attr| mapped(&ctx, attr, smaller)) else { return false };
    body.set_attr(&ctx, site.op, ctx.str(*name), new);
    true
}
