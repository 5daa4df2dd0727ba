//! The addresses of values, calls and scratch of a function of named sizes, once its sizes are set.

use std::collections::HashMap;
use std::ops::Range;

use ir::plan::storage::Storage;
use ir::sized::SizedBody;
use ir::{Body, Context, Op, Value};

use super::{Offsets, SizedCode};
use crate::address::{Address, Base};
use crate::call::Lowered;
use crate::frame::{Callee, PlacedFunction};
use crate::place::Place;

/// A function of named sizes at given sizes, with everything that a frame needs.
pub(super) struct SizedFunction<'a, C> {
    pub(super) code: &'a SizedCode<C>,
    pub(super) sized: &'a SizedBody,
    pub(super) lowered: &'a [Lowered],
    pub(super) callees: &'a [Callee],
    pub(super) firsts: &'a [usize],
    pub(super) own: &'a [(Lowered, Vec<Callee>)],
    pub(super) own_of: &'a [Option<u32>],
    pub(super) offsets: &'a Offsets<'a>,
    pub(super) dead: HashMap<Op, Vec<(Address, u64)>>,
}

impl<C> PlacedFunction for SizedFunction<'_, C> {
    fn ctx(&self) -> &Context {
        self.sized.ctx()
    }

    fn body(&self) -> &Body {
        self.sized.body()
    }

    fn address(&self, value: Value) -> Option<Address> {
        let (base, start) = match self.code.homes.values[value]? {
            Storage::Input(index) => (Base::Input(index), 0),
            Storage::Output(index) => (Base::Output(index), 0),
            Storage::Buffer(buffer) => (Base::Arena, (self.offsets.buffers)(buffer).start),
            Storage::Pool(pool, buffer) => (Base::Arena, (self.offsets.pools)(pool, buffer)),
        };
        let first = self.sized.first_byte(value).expect("the structure of a plan has known windows");
        Some(Address { base, offset: start + first })
    }

    fn scratch(&self, op: Op) -> Option<Place> {
        let Range { start, end } = (self.offsets.buffers)(self.code.scratch[op]? as usize);
        Some(Place { address: Address { base: Base::Arena, offset: start }, bytes: end - start })
    }

    fn lowered(&self, op: Op) -> (&Lowered, &[Callee]) {
        let number = self.code.numbers[op] as usize;
        if let Some(own) = self.own_of[number] {
            let (lowered, callees) = &self.own[own as usize];
            return (lowered, callees);
        }
        let class = self.code.classes.of_step[number] as usize;
        let (lowered, first) = (&self.lowered[class], self.firsts[class]);
        (lowered, &self.callees[first..first + lowered.calls.len()])
    }

    fn dead(&self, op: Op) -> &[(Address, u64)] {
        self.dead.get(&op).map_or(&[], |dead| dead)
    }
}
