//! Memory pools: the pools of a function, and the pool of each value.
//!
//! Every function has the pool `arena`. `optc.pools` declares others, and may set properties of the arena
//! too. `mem.pool` of an operation names the pool of each result. After planning, all pools are ranges of one
//! piece of memory, of `optc.arena` bytes:
//!
//! ```text
//! attributes {optc.pools = {vtcm = {align = 128 : i64, capacity = 4096 : i64}}}
//! %0 = nn.relu %x {mem.pool = ["vtcm"]} : tensor<16xf32>
//! ```
//!
//! In the text form of the command line and of the pass `plan`, this is `vtcm:align=128,capacity=4KiB`, with
//! `;` between several pools.

use crate::body::Body;
use crate::context::Context;
use crate::diag::did_you_mean;
use crate::entities::{Attr, Value};
use crate::plan::attrs;

/// The name of the pool that every function has.
pub const ARENA: &str = "arena";
/// The default alignment of offsets, and the least in the arena, since scratch needs it.
pub const ALIGN_BYTES: u64 = 64;
/// The least alignment of any pool: that of the widest element.
const LEAST_ALIGN_BYTES: u64 = 16;
/// Names of memory that belongs to the caller or is not planned.
const RESERVED: [&str; 3] = ["in", "out", "weights"];
const KEYS: [&str; 5] = ["align", "capacity", "pitch", "start", "bytes"];

/// A pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPool {
    /// Its name.
    pub name: String,
    /// Offsets in the pool are multiples of this power of two.
    pub align: u64,
    /// The largest size of the pool in bytes.
    pub capacity: Option<u64>,
    /// A power of two: rows of images begin at multiples of it, and so do all buffers. 1 means that rows have
    /// no gaps.
    pub pitch: u64,
    /// The pool's start in the memory of all pools, once it is planned.
    pub start: u64,
    /// The pool's size, once it is planned.
    pub size_bytes: u64,
}

impl MemoryPool {
    /// A pool with default properties.
    ///
    /// # Errors
    /// If a pool may not have this name.
    pub fn named(name: &str) -> Result<MemoryPool, String> {
        let is_word =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        if !is_word || RESERVED.contains(&name) {
            return Err(format!("`{name}` is no name for a pool"));
        }
        let name = name.to_owned();
        Ok(MemoryPool { name, align: ALIGN_BYTES, capacity: None, pitch: 1, start: 0, size_bytes: 0 })
    }

    /// Parses the text form of one pool.
    ///
    /// # Errors
    /// What is wrong with it, and in some cases a hint.
    pub fn parse(text: &str) -> Result<MemoryPool, String> {
        let (name, rest) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let mut pool = MemoryPool::named(name)?;
        for property in rest.split(',').map(str::trim).filter(|property| !property.is_empty()) {
            let (key, value) = property.split_once('=').ok_or_else(|| {
                format!("`{property}` of the pool `{name}` is not `align=`, `capacity=` or `pitch=`")
            })?;
            let bytes =
                parse_bytes(value).map_err(|fault| format!("`{property}` of the pool `{name}`: {fault}"))?;
            pool.set(key, bytes, &KEYS[..3])?;
        }
        pool.check()
    }

    /// Parses the text form of several pools.
    ///
    /// # Errors
    /// What is wrong with the first malformed pool.
    pub fn parse_all(text: &str) -> Result<Vec<MemoryPool>, String> {
        text.split(';').filter(|pool| !pool.trim().is_empty()).map(MemoryPool::parse).collect()
    }

    fn set(&mut self, key: &str, bytes: u64, known: &[&str]) -> Result<(), String> {
        match key {
            _ if !known.contains(&key) => {
                let hint = did_you_mean(key, known.iter().copied());
                let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
                return Err(format!("the pool `{}` has no `{key}`{hint}", self.name));
            }
            "align" => self.align = bytes,
            "capacity" => self.capacity = Some(bytes),
            "pitch" => self.pitch = bytes,
            "start" => self.start = bytes,
            _ => self.size_bytes = bytes,
        }
        Ok(())
    }

    fn check(mut self) -> Result<MemoryPool, String> {
        // The start of an image is the start of its first row.
        self.align = self.align.max(self.pitch);
        let least = if self.name == ARENA { ALIGN_BYTES } else { LEAST_ALIGN_BYTES };
        if self.align >= least && self.align.is_power_of_two() && self.pitch.is_power_of_two() {
            Ok(self)
        } else {
            Err(format!(
                "the pool `{}` has an alignment of {} and a pitch of {}, expected powers of two, the alignment at least {least}",
                self.name, self.align, self.pitch
            ))
        }
    }

    fn read(ctx: &Context, name: &str, dict: Attr) -> Result<MemoryPool, String> {
        let mut pool = MemoryPool::named(name)?;
        if !matches!(ctx.attr_data(dict), crate::AttrData::Dict(_)) {
            return Err(format!("the pool `{name}` is no dictionary"));
        }
        for (key, value) in ctx.dict_entries(dict) {
            let bytes = ctx.int_value(*value).and_then(|value| u64::try_from(value).ok());
            let key = ctx.str(*key);
            let bytes = bytes.ok_or_else(|| format!("`{key}` of the pool `{name}` is no number of bytes"))?;
            pool.set(key, bytes, &KEYS)?;
        }
        pool.check()
    }

    fn write(&self, ctx: &Context) -> Attr {
        let number = |key: &str, bytes: u64| (ctx.ident(key), ctx.int_attr(bytes as i64));
        let mut entries = vec![number("align", self.align)];
        entries.extend(self.capacity.map(|bytes| number("capacity", bytes)));
        entries.extend((self.pitch > 1).then(|| number("pitch", self.pitch)));
        entries.extend([number("start", self.start), number("bytes", self.size_bytes)]);
        ctx.dict(entries)
    }
}

/// The pools of a function, the arena first. Without `optc.pools` there is only the arena.
///
/// # Errors
/// What is wrong with `optc.pools`.
pub fn pools(ctx: &Context, body: &Body) -> Result<Vec<MemoryPool>, String> {
    let size_bytes = attrs::arena_bytes(ctx, body).unwrap_or(0);
    let mut pools = vec![MemoryPool { size_bytes, ..MemoryPool::named(ARENA)? }];
    let Some(dict) = body.own_attr(ctx, ctx.ident(attrs::OPTC_POOLS)) else { return Ok(pools) };
    if !matches!(ctx.attr_data(dict), crate::AttrData::Dict(_)) {
        return Err("`optc.pools` is no dictionary".to_owned());
    }
    for (name, entry) in ctx.dict_entries(dict) {
        let pool = MemoryPool::read(ctx, ctx.str(*name), *entry)?;
        if pool.name == ARENA { pools[0] = pool } else { pools.push(pool) }
    }
    Ok(pools)
}

/// Places pools one after the other, each at a multiple of its alignment; returns the total size in bytes.
pub fn stack(pools: &mut [MemoryPool]) -> u64 {
    let mut end = 0u64;
    for pool in pools {
        pool.start = end.next_multiple_of(pool.align.max(ALIGN_BYTES));
        end = pool.start.saturating_add(pool.size_bytes);
    }
    end
}

/// The value of `optc.pools` for these pools.
pub fn pools_attr(ctx: &Context, pools: &[MemoryPool]) -> Attr {
    let entries = pools.iter().map(|pool| (ctx.ident(&pool.name), pool.write(ctx)));
    ctx.dict(entries.collect())
}

/// Adds pools to those of a function; a pool replaces an earlier one of the same name.
///
/// # Errors
/// What is wrong with `optc.pools`.
pub fn add_pools(ctx: &Context, body: &mut Body, added: &[MemoryPool]) -> Result<(), String> {
    if added.is_empty() {
        return Ok(());
    }
    let mut all = pools(ctx, body)?;
    for pool in added {
        match all.iter_mut().find(|other| other.name == pool.name) {
            Some(other) => *other = pool.clone(),
            None => all.push(pool.clone()),
        }
    }
    body.set_own_attr(ctx, attrs::OPTC_POOLS, pools_attr(ctx, &all));
    Ok(())
}

/// The name of the pool that a value must be in.
pub fn wanted<'c>(ctx: &'c Context, body: &Body, value: Value) -> &'c str {
    let name = || {
        let op = body.defining_op(value)?;
        let names = ctx.array_value(body.at(ctx, op).attr(attrs::MEM_POOL)?)?;
        let index = body.results(op).position(|result| result == value)?;
        ctx.str_value(*names.get(index)?)
    };
    name().unwrap_or(ARENA)
}

/// Parses a number of bytes, with a decimal (`kB`, `MB`, `GB`) or binary (`KiB`, `MiB`, `GiB`) unit, in
/// letters of either case and with or without the `B`.
///
/// # Errors
/// What is wrong with it.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let unit = unit.trim().to_ascii_lowercase();
    let scale = match unit.strip_suffix('b').unwrap_or(&unit) {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "ki" => 1024.0,
        "mi" => 1024.0 * 1024.0,
        "gi" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err("a unit is kB, MB, GB, KiB, MiB or GiB".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "not a number of bytes".to_owned())?;
    Ok((number * scale) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<(u64, Option<u64>, u64), &str>) {
        let found = MemoryPool::parse(text);
        let found =
            found.as_ref().map(|pool| (pool.align, pool.capacity, pool.pitch)).map_err(String::as_str);
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn units_are_written_in_any_case_and_may_be_one_letter() {
        let sizes = ["4M", "4mb", "4.0MB", "100KB", "100k", "3.5KiB", "2gib", "512", "7 b"].map(parse_bytes);
        let expected = [4_000_000, 4_000_000, 4_000_000, 100_000, 100_000, 3584, 2 << 30, 512, 7];
        assert_eq!(sizes, expected.map(Ok));
        assert!(["4X", "M", "4MM", "-1"].iter().all(|text| parse_bytes(text).is_err()));
    }

    #[test]
    fn the_text_form_says_alignment_capacity_and_pitch() {
        check("vtcm", Ok((64, None, 1)));
        check("vtcm:align=128,pitch=64, capacity=4KiB", Ok((128, Some(4096), 64)));
        check("image:pitch=256", Ok((256, None, 256)));
        check("in:align=64", Err("`in` is no name for a pool"));
        check("vtcm:alin=64", Err("the pool `vtcm` has no `alin` (did you mean `align`?)"));
        check("vtcm:64", Err("`64` of the pool `vtcm` is not `align=`, `capacity=` or `pitch=`"));
        check(
            "vtcm:align=64XB",
            Err("`align=64XB` of the pool `vtcm`: a unit is kB, MB, GB, KiB, MiB or GiB"),
        );
        let expected = "the pool `vtcm` has an alignment of 48 and a pitch of 1, expected powers of two, the alignment at least 16";
        check("vtcm:align=48", Err(expected));
    }

    #[test]
    fn units_are_taken_in_either_case_and_without_their_b() {
        for (text, bytes) in [("4M", 4_000_000), ("100KB", 100_000), ("3.5mb", 3_500_000), ("2kib", 2048)] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["4T", "4 bytes", "KB", "1.2.3"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let ctx = Context::new();
        let mut body = Body::new(1);
        let given = MemoryPool::parse_all("arena:pitch=64; vtcm:capacity=1MB").unwrap();
        add_pools(&ctx, &mut body, &given).unwrap();
        assert_eq!(pools(&ctx, &body).unwrap(), given);
        add_pools(&ctx, &mut body, &[MemoryPool::parse("vtcm").unwrap()]).unwrap();
        assert_eq!(pools(&ctx, &body).unwrap()[1].capacity, None);
    }
}
