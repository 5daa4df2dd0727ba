//! Random attributes and sizes for left sides of laws: drawn by the kinds of the attributes.
//!
//! A given attribute or size is usually kept, so that most requirements of a law are met and a few are not.

use ir::opdef::{AttrDef, AttrKind};
use ir::{Attr, Context, OpDef, Type};

use crate::place::random::Random;

/// Numbers at which bounds, slopes and offsets change their meaning.
const FLOATS: [f32; 12] =
    [0.0, -0.0, 0.5, 1.0, -1.0, 6.0, 1.0 / 6.0, 5.999_999_5, 2.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];

fn one<T: Copy>(random: &mut Random, of: &[T]) -> T {
    of[random.range(0, of.len() as u64 - 1) as usize]
}

/// The attributes of an operation on operands of these types: the given ones, some of them changed.
pub(super) fn attributes(
    ctx: &Context,
    def: &'static OpDef,
    operands: &[Type],
    mut given: Attr,
    random: &mut Random,
) -> Attr {
    let sizes = operands.first().and_then(|ty| ctx.static_shape(*ty)).unwrap_or_default();
    for row in def.attrs {
        let name = ctx.ident(row.name);
        let old = ctx.dict_get(given, name);
        if random.range(0, 3) != 0 {
            continue;
        }
        if row.kind == AttrKind::Unit && old.is_some() {
            given = ctx.dict_remove(given, name);
        } else if let Some(value) = attribute(ctx, row, old, &sizes, random) {
            given = ctx.dict_set(given, name, value);
        }
    }
    given
}

/// Another value for an attribute; none if no other value of its kind is valid.
fn attribute(
    ctx: &Context,
    row: &AttrDef,
    old: Option<Attr>,
    sizes: &[u64],
    random: &mut Random,
) -> Option<Attr> {
    let rank = sizes.len() as i64;
    let value = match row.kind {
        AttrKind::Unit => ctx.unit_attr(),
        AttrKind::Float => ctx.f32_attr(one(random, &FLOATS)),
        AttrKind::Int => ctx.int_attr(random.range(0, 9) as i64),
        AttrKind::Axis if rank > 0 => ctx.int_attr(random.range(0, rank as u64 - 1) as i64),
        AttrKind::Axes if row.name == "permutation" => ctx.ints_attr(&shuffled(rank, random)),
        AttrKind::Axes => {
            let axes: Vec<i64> = (0..rank).filter(|_| random.range(0, 1) == 0).collect();
            ctx.ints_attr(&axes)
        }
        AttrKind::PerAxis | AttrKind::Ints => {
            let count = match (row.kind, old.and_then(|old| ctx.ints_value(old))) {
                (AttrKind::Ints, Some(old)) => old.len(),
                (AttrKind::Ints, None) => 2 * (1 + usize::from(row.name == "pads")),
                _ => sizes.len(),
            };
            let numbers: Vec<i64> = (0..count)
                .map(|axis| match row.name {
                    "sizes" => sizes.get(axis).map_or(1, |size| random.range(0, *size) as i64),
                    _ => one(random, &[0, 0, 1, 1, 2, -1]),
                })
                .collect();
            ctx.ints_attr(&numbers)
        }
        AttrKind::Sizes => ctx.ints_attr(&regrouped(sizes, random)),
        AttrKind::Word(words) => words.attr(ctx, one(random, words.words))?,
        AttrKind::OneOf(words) => ctx.str_attr(one(random, words)),
        _ => return None,
    };
    Some(value)
}

/// The numbers from 0 on in random order; often only the last two are swapped.
fn shuffled(count: i64, random: &mut Random) -> Vec<i64> {
    let mut numbers: Vec<i64> = (0..count).collect();
    if count > 1 {
        if random.range(0, 1) == 0 {
            numbers.swap(count as usize - 2, count as usize - 1);
        } else {
            for index in 1..count as u64 {
                numbers.swap(index as usize, random.range(0, index) as usize);
            }
        }
    }
    numbers
}

/// Sizes with the same number of elements: adjacent sizes merged, ones inserted, one split, or two swapped.
fn regrouped(sizes: &[u64], random: &mut Random) -> Vec<i64> {
    let mut sizes: Vec<i64> = sizes.iter().map(|size| *size as i64).collect();
    for _ in 0..random.range(1, 3) {
        let place = random.range(0, sizes.len() as u64) as usize;
        match random.range(0, 4) {
            0 => sizes.insert(place, 1),
            1 if place + 1 < sizes.len() => {
                let next = sizes.remove(place + 1);
                sizes[place] *= next;
            }
            2 if place < sizes.len() && sizes[place] % 2 == 0 => {
                sizes[place] /= 2;
                sizes.insert(place, 2);
            }
            3 if place + 1 < sizes.len() => sizes.swap(place, place + 1),
            _ => {}
        }
    }
    sizes
}

/// The given sizes, now and then with a different size, or with one size more or less.
pub(super) fn sizes(given: &str, random: &mut Random) -> String {
    let mut sizes: Vec<u64> = given.split('x').filter_map(|size| size.parse().ok()).collect();
    for size in &mut sizes {
        if random.range(0, 7) == 0 {
            *size = random.range(0, 4);
        }
    }
    match random.range(0, 11) {
        0 => sizes.insert(0, 1),
        1 => sizes.push(1),
        2 => drop(sizes.pop()),
        3 if !sizes.is_empty() => drop(sizes.remove(0)),
        _ => {}
    }
    sizes.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}
