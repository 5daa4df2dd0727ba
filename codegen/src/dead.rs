//! The bytes that are dead after each operation, for debug runs that fill them with NaN.
//!
//! The bytes of a root die at the operation with its last read on any path, and scratch dies with its
//! operation. Bytes shared with a value that is still live do not count.

use std::collections::HashMap;

use ir::alias::AliasSets;
use ir::flow::{Act, FlowGraph, Point};
use ir::liveness::{Liveness, Moment};
use ir::weights::WeightSet;
use ir::{Body, Context, Op, ranges};

use crate::address::{Address, Base};
use crate::place::{Place, Places};

/// The bytes that die with each operation.
pub(crate) fn dead_bytes(
    ctx: &Context,
    body: &Body,
    graph: &FlowGraph,
    weights: &WeightSet,
    aliases: &AliasSets,
    places: &Places,
) -> HashMap<Op, Vec<(Address, u64)>> {
    let root = |value| (!weights.contains(value)).then(|| aliases.root(value));
    let liveness = Liveness::of_parts(ctx, body, graph, root, |value| aliases.is_later_part(value));
    let place = |root| {
        let place = Place { address: places.of(root)?, bytes: aliases.extent_bytes(root)? };
        let is_kept = matches!(place.address.base, Base::Input(_)) || places.caller.is_state(root);
        (!is_kept).then_some(place)
    };
    let mut dying: HashMap<Point, Vec<Place>> = HashMap::new();
    for &root in liveness.variables() {
        for span in liveness.spans(root) {
            dying.entry(span.last.point()).or_default().extend(place(root));
        }
    }
    let mut dead = HashMap::new();
    for (point, event) in graph.events().filter(|(_, event)| event.act == Act::Run) {
        // A value that is never read dies when it is written.
        let ends = |moment: &Moment, root| liveness.spans(root).iter().any(|span| span.last == *moment);
        let now = Moment::write(point);
        let live: Vec<Place> =
            liveness.live_at(now).filter(|root| !ends(&now, *root)).filter_map(place).collect();
        let dying = dying.remove(&point).unwrap_or_default().into_iter().chain(places.scratch(event.op));
        let pieces = dying.flat_map(|place| without(place, &live));
        dead.insert(event.op, pieces.map(|place| (place.address, place.bytes)).collect());
    }
    dead
}

/// The parts of a place that no other place covers.
fn without(place: Place, others: &[Place]) -> impl Iterator<Item = Place> {
    let range = |place: &Place| place.address.offset..place.address.offset + place.bytes;
    let others = others.iter().filter(|other| other.address.base == place.address.base);
    let pieces = ranges::without(range(&place), others.map(range));
    pieces.into_iter().map(move |piece| Place {
        address: Address { offset: piece.start, ..place.address },
        bytes: piece.end - piece.start,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::Net;
    use crate::{CodegenOptions, DeadMemory, compile};
    use runtime::{AlignedBuffer, Arena, ThreadPool, as_bytes, as_bytes_mut, from_bytes};
    use std::sync::Arc;

    #[test]
    fn dead_values_become_nan_and_live_ones_stay() {
        let mut net = Net::f32(&[&[8]]);
        let first = net.op("nn.relu", &[net.arg(0)], &[]);
        let second = net.op("nn.neg", &[first], &[]);
        let third = net.op("nn.sub", &[second, first], &[]);
        let module = net.plan(&[third], 1);
        let options = CodegenOptions { dead: DeadMemory::Poisoned, ..CodegenOptions::new(1) };
        let program = Arc::new(compile(&module, "main", &options).unwrap());
        let mut arena = AlignedBuffer::zeroed(program.only().unwrap().arena_bytes()).unwrap();
        let (x, mut y) = ([1.5f32; 8], [0f32; 8]);
        let pool = Arc::new(ThreadPool::new(1));
        let mut context = program.context_in(pool, Arena::given(arena.as_mut_slice())).unwrap();
        context.run(&[as_bytes(&x)], &mut [as_bytes_mut(&mut y)]).unwrap();
        drop(context);
        assert_eq!(y, [-3.0; 8]);
        let numbers: &[f32] = from_bytes(arena.as_slice()).unwrap();
        assert!(numbers[..8].iter().chain(&numbers[16..24]).all(|x| x.is_nan()), "{numbers:?}");
    }
}
