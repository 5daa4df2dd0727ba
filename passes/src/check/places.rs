//! Parser of places: `mem.place` and `mem.args`, read strictly.

use ir::body::Decisions;
use ir::{Attr, Block, Op, Type, size};
use smallvec::SmallVec;

use super::PlanChecker;
use super::memory::{Home, MemorySpace};

/// The homes of a step's results.
pub(super) type ResultHomes = SmallVec<[Home; 1]>;

/// The homes of a step's results, and of its scratch.
pub(super) type StepHomes = (ResultHomes, Option<Home>);

/// The key of cached places, for an operation with one result: equal keys mean equal homes.
#[derive(PartialEq, Eq)]
pub(super) struct PlaceAttrs {
    place: Attr,
    scratch: Option<Attr>,
    ty: Type,
}

impl PlanChecker<'_> {
    /// The homes of the results, and of scratch if there is some; none without a `mem.place`.
    pub(super) fn parse_places(&mut self, op: Op, decided: &Decisions) -> Result<Option<StepHomes>, String> {
        let Some(place) = decided.place else { return Ok(None) };
        let said = self.said_of(op, place, decided.scratch);
        match &self.read_last {
            Some((last, places)) if said.as_ref() == Some(last) => Ok(Some(places.clone())),
            _ => {
                let places = self.read_places(op, place, decided.scratch)?;
                self.read_last = said.map(|said| (said, places.clone()));
                Ok(Some(places))
            }
        }
    }

    /// The key that determines the homes of an operation with one result.
    fn said_of(&self, op: Op, place: Attr, scratch: Option<Attr>) -> Option<PlaceAttrs> {
        let mut results = self.body.results(op);
        let result = results.next().filter(|_| results.next().is_none())?;
        Some(PlaceAttrs { place, scratch, ty: self.body.ty(result) })
    }

    fn read_places(&self, op: Op, place: Attr, scratch: Option<Attr>) -> Result<StepHomes, String> {
        let entries = self.ctx.array_value(place).ok_or("`mem.place` is not an array")?;
        let results = self.body.result_count(op);
        let scratch = scratch.and_then(|attr| self.ctx.int_value(attr)).filter(|bytes| *bytes > 0);
        if entries.len() != results + usize::from(scratch.is_some()) {
            return Err(format!(
                "`mem.place` has {} entries, expected one for each result and scratch",
                entries.len()
            ));
        }
        let mut homes = ResultHomes::new();
        for (index, entry) in entries.iter().enumerate() {
            let bytes = if index < results {
                size::tensor_bytes(self.ctx, self.body.ty(self.body.result(op, index)))
            } else {
                scratch.map(|bytes| bytes as u64)
            };
            homes.push(self.parse_home(*entry, bytes.ok_or("the size of a result is not known")?)?);
        }
        let scratch = scratch.and_then(|_| homes.pop());
        scratch.iter().try_for_each(|scratch| self.is_in_arena(scratch))?;
        Ok((homes, scratch))
    }

    pub(super) fn parse_home(&self, entry: Attr, expected_bytes: u64) -> Result<Home, String> {
        let malformed = "an entry of `mem.place` is not [pool, offset, bytes] or [pool, offset, bytes, first, row, pitch]";
        let [pool, numbers @ ..] = self.ctx.array_value(entry).ok_or(malformed)? else {
            return Err(malformed.into());
        };
        let number = |attr: &Attr| self.ctx.int_value(*attr).and_then(|value| u64::try_from(value).ok());
        let numbers: SmallVec<[u64; 5]> = numbers.iter().filter_map(number).collect();
        let (offset, bytes, [first, row, pitch]) = match numbers[..] {
            [offset, bytes] => (offset, bytes, [0, bytes, bytes]),
            [offset, bytes, first, row, pitch] => (offset, bytes, [first, row, pitch]),
            _ => return Err(malformed.into()),
        };
        let pool = self.ctx.str_value(*pool).ok_or(malformed)?;
        if bytes != expected_bytes {
            return Err(format!("a place has {bytes} bytes, expected {expected_bytes}"));
        }
        if row > pitch || (bytes > 0 && (row == 0 || !bytes.is_multiple_of(row))) {
            return Err(format!("a place of {bytes} bytes has rows of {row} at a distance of {pitch}"));
        }
        let span =
            (bytes / row.max(1)).saturating_sub(1).checked_mul(pitch).and_then(|last| last.checked_add(row));
        let end = span.and_then(|span| span.checked_add(first)).ok_or(malformed)?;
        let (pool, start) = match pool {
            "in" if self
                .donated_bytes
                .get(offset as usize)
                .is_none_or(|size| size.is_none_or(|size| end > size)) =>
            {
                return Err(format!("input {offset} is not donated, or has fewer than {end} bytes"));
            }
            "in" => (MemorySpace::Input(offset as usize), 0),
            "out" if self.output_bytes.get(offset as usize).is_none_or(|size| end > *size) => {
                return Err(format!("{end} bytes do not fit the caller's buffer {offset}"));
            }
            "out" => (MemorySpace::Output(offset as usize), 0),
            name => self.in_pool(name, offset, end)?,
        };
        Ok(Home::of_rows(pool, start + first, bytes.checked_div(row).unwrap_or(0), row, pitch))
    }

    /// Reads the homes of a block's arguments from its list in `mem.args`.
    pub(super) fn place_args(&mut self, block: Block, list: Option<Attr>) -> Result<(), String> {
        let args = self.body.args(block).to_vec();
        let list = list.and_then(|list| self.ctx.array_value(list)).unwrap_or(&[]);
        if list.len() != args.len() {
            return Err(format!(
                "`mem.args` has {} places for {} arguments of a block",
                list.len(),
                args.len()
            ));
        }
        for (arg, entry) in args.into_iter().zip(list) {
            let bytes = size::tensor_bytes(self.ctx, self.body.ty(arg));
            let home = self.parse_home(*entry, bytes.ok_or("the size of an argument is not known")?)?;
            self.is_in_arena(&home)?;
            self.homes.set(arg, &home);
        }
        Ok(())
    }
}
