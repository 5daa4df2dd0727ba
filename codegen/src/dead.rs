//! Which bytes are dead after each operation: for debug runs that fill them with NaN.
//!
//! Bytes die with the last operation that reads their root, and scratch with its operation, as far as nothing that is still
//! read lies on them.

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use ir::alias::AliasSets;
use ir::{Block, Body, Op, Value};

use crate::place::{Address, Base, Place, Places};

/// From an operation to an operation, by number in text order, both included.
#[derive(Clone, Copy)]
struct Life {
    first: usize,
    last: usize,
    place: Place,
}

/// The bytes that die with each operation.
pub(crate) fn dead_bytes(
    body: &Body,
    block: Block,
    aliases: &AliasSets,
    places: &Places,
) -> HashMap<Op, Vec<(Address, u64)>> {
    let ops: Vec<Op> = body.ops(block).collect();
    let lives = lives(body, &ops, aliases, places);
    let mut dead = HashMap::new();
    for (number, op) in ops.iter().enumerate() {
        let dying = lives.iter().filter(|life| life.last == number).map(|life| life.place);
        let live = lives.iter().filter(|life| life.first <= number && number < life.last);
        let live: Vec<Place> = live.map(|life| life.place).collect();
        let pieces = dying.chain(places.scratch(*op)).flat_map(|place| without(place, &live));
        dead.insert(*op, pieces.map(|place| (place.address, place.bytes)).collect());
    }
    dead
}

/// The lives of all roots that are no inputs and no weights.
fn lives(body: &Body, ops: &[Op], aliases: &AliasSets, places: &Places) -> Vec<Life> {
    let mut lives: Vec<Life> = Vec::new();
    let mut life_of: SecondaryMap<Value, Option<usize>> = SecondaryMap::new();
    for (number, op) in ops.iter().enumerate() {
        let is_last = number + 1 == ops.len();
        for operand in body.operands(*op) {
            if let Some(index) = life_of[aliases.root(operand)] {
                // What the terminator reads is returned: it stays.
                lives[index].last = if is_last { usize::MAX } else { number };
            }
        }
        for result in body.results(*op) {
            let root = aliases.root(result);
            if let Some(index) = life_of[root] {
                lives[index].last = lives[index].last.max(number);
            } else if let (Some(address), Some(bytes)) = (places.of(root), aliases.size_bytes(root))
                && !matches!(address.base, Base::Input(_))
            {
                life_of[root] = Some(lives.len());
                lives.push(Life { first: number, last: number, place: Place { address, bytes } });
            }
        }
    }
    lives
}

/// What remains of a place where others lie on it.
fn without(place: Place, others: &[Place]) -> Vec<Place> {
    let mut pieces = vec![place];
    for other in others.iter().filter(|other| other.address.base == place.address.base) {
        let (start, end) = (other.address.offset, other.address.offset + other.bytes);
        let cut = |piece: Place| {
            let (first, last) = (piece.address.offset, piece.address.offset + piece.bytes);
            let below = (first, last.min(start));
            let above = (first.max(end), last);
            [below, above].into_iter().filter(|(from, to)| from < to).map(move |(from, to)| Place {
                address: Address { offset: from, ..piece.address },
                bytes: to - from,
            })
        };
        pieces = pieces.into_iter().flat_map(cut).collect();
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Net;
    use crate::{DeadMemory, Options, compile};
    use runtime::{AlignedBuffer, Arena, Pool, as_bytes, as_bytes_mut, from_bytes};
    use std::sync::Arc;

    #[test]
    fn bytes_under_a_live_value_stay() {
        let place = |offset, bytes| Place { address: Address { base: Base::Arena, offset }, bytes };
        assert_eq!(without(place(0, 100), &[place(20, 10), place(90, 50)]), [place(0, 20), place(30, 60)]);
        assert_eq!(without(place(0, 100), &[place(0, 100)]), []);
        assert_eq!(without(place(0, 8), &[place(100, 8)]), [place(0, 8)]);
    }

    #[test]
    fn dead_values_become_nan_and_live_ones_stay() {
        let mut net = Net::f32(&[&[8]]);
        let first = net.op("nn.relu", &[net.arg(0)], &[]);
        let second = net.op("nn.neg", &[first], &[]);
        let third = net.op("nn.sub", &[second, first], &[]);
        let module = net.plan(&[third], 1);
        let options = Options { dead: DeadMemory::Poisoned, ..Options::new(1) };
        let program = Arc::new(compile(&module, "main", &options).unwrap());
        let mut arena = AlignedBuffer::zeroed(program.arena_bytes()).unwrap();
        let (x, mut y) = ([1.5f32; 8], [0f32; 8]);
        let pool = Arc::new(Pool::new(1));
        let mut context = program.context_in(pool, Arena::given(arena.as_mut_slice())).unwrap();
        context.run(&[as_bytes(&x)], &mut [as_bytes_mut(&mut y)]).unwrap();
        drop(context);
        assert_eq!(y, [-3.0; 8]);
        let numbers: &[f32] = from_bytes(arena.as_slice()).unwrap();
        assert!(numbers[..8].iter().chain(&numbers[16..24]).all(|x| x.is_nan()), "{numbers:?}");
    }
}
