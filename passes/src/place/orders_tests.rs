//! Which orders are kept for other sizes, and which placements are good enough.

use cranelift_entity::EntityRef;

use super::super::testing::{aligned, buffer, problem};
use super::*;

fn id(index: usize) -> BufferId {
    BufferId::new(index)
}

fn sizes(sizes: &[u64]) -> PrimaryMap<BufferId, u64> {
    sizes.iter().copied().collect()
}

/// A placement at these offsets.
fn placed(offsets: &[u64]) -> BoundedPlacement {
    BoundedPlacement { offsets: sizes(offsets), size_bytes: 0, bound_bytes: 0 }
}

/// The first two are alive together, and the last two.
fn three() -> KnownOrders {
    KnownOrders::new(problem(&[buffer(0, 0, 0), buffer(0, 1, 0), buffer(1, 1, 0)]))
}

#[test]
fn an_order_goes_up_the_offsets_with_what_has_no_bytes_at_its_end() {
    let mut orders = three();
    orders.learn(&sizes(&[4, 4, 4]), &placed(&[8, 0, 4]));
    orders.learn(&sizes(&[0, 4, 4]), &placed(&[0, 4, 0]));
    orders.learn(&sizes(&[7, 7, 7]), &placed(&[80, 0, 40]));
    let found: Vec<Vec<usize>> =
        orders.orders.iter().map(|order| order.iter().map(|id| id.index()).collect()).collect();
    assert_eq!(found, [[1, 2, 0], [2, 1, 0]], "the last one is as the first");
}

#[test]
fn few_orders_are_kept() {
    let mut orders = KnownOrders::new(problem(&[buffer(0, 9, 0); 4]));
    for number in 0..24 {
        let mut left = vec![0, 16, 32, 48];
        let mut rest = number;
        let next = |count: usize| {
            let at = rest % count;
            rest /= count;
            left.remove(at)
        };
        let offsets: Vec<u64> = (1..=4).rev().map(next).collect();
        orders.learn(&sizes(&[1; 4]), &placed(&offsets));
        assert_eq!(orders.orders.len(), MOST_ORDERS.min(number + 1), "each is another order");
    }
}

/// Buffers of 200, 400 and 600 bytes with a known order that leaves a gap: it takes 1200 bytes; the best one
/// takes 1000, the bound.
fn with_a_gap(enough: u64, effort: Effort) -> u64 {
    let mut orders = three();
    let bytes = sizes(&[200, 400, 600]);
    orders.learn(&bytes, &placed(&[0, 200, 600]));
    let in_order = orders.place_in_order(&bytes, Vec::new(), &orders.orders[0]);
    assert_eq!((in_order.size_bytes, in_order.bound_bytes), (1200, 1000));
    let found = orders.place(&bytes, Vec::new(), enough, effort);
    assert_eq!(found.bound_bytes, 1000);
    found.size_bytes
}

#[test]
fn a_known_order_is_taken_if_it_is_at_most_a_25th_above_what_is_enough() {
    for effort in [Effort::Little, Effort::AsNeeded] {
        assert_eq!(with_a_gap(0, effort), 1000, "the bound is wanted, which is met");
        assert_eq!(with_a_gap(1153, effort), 1000, "1153 and 46 are 1199");
        assert_eq!(with_a_gap(1154, effort), 1200, "1154 and 46 are 1200");
        assert_eq!(with_a_gap(5000, effort), 1200);
    }
    assert_eq!(with_a_gap(5000, Effort::Full), 1000);
}

#[test]
fn what_may_share_bytes_has_no_bound() {
    let orders = three();
    let bytes = sizes(&[200, 400, 600]);
    let overlap = Overlap { input: id(0), output: id(1), min_distance_bytes: 0 };
    let both = [Effort::Little, Effort::AsNeeded, Effort::Full]
        .map(|effort| orders.place(&bytes, vec![overlap], 0, effort));
    for found in both {
        assert_eq!((found.size_bytes, found.bound_bytes), (1000, 0));
    }
    let order = [1, 2, 0].map(id);
    let found = orders.place_in_order(&bytes, vec![overlap], &order);
    assert_eq!(found.offsets, sizes(&[0, 0, 400]), "the first lies in the second");
    assert_eq!((found.size_bytes, found.bound_bytes), (1000, 0));
    let found = orders.place_in_order(&bytes, Vec::new(), &order);
    assert_eq!(found.offsets, sizes(&[400, 0, 400]));
    assert_eq!((found.size_bytes, found.bound_bytes), (1000, 1000));
}

#[test]
fn what_is_rounded_up_at_the_top_is_not_counted() {
    let orders = KnownOrders::new(problem(&[aligned(0, 1, 0, 64), aligned(1, 2, 0, 64)]));
    let order = [0, 1].map(id);
    for (bytes, size_bytes, bound_bytes) in
        [([5, 7], 71, 71), ([64, 7], 71, 71), ([65, 64], 192, 192), ([0, 7], 7, 7), ([0, 0], 0, 0)]
    {
        let found = orders.place_in_order(&sizes(&bytes), Vec::new(), &order);
        assert_eq!((found.size_bytes, found.bound_bytes), (size_bytes, bound_bytes), "{bytes:?}");
        for effort in [Effort::Little, Effort::AsNeeded, Effort::Full] {
            let found = orders.place(&sizes(&bytes), Vec::new(), 0, effort);
            assert!(found.bound_bytes <= found.size_bytes, "{bytes:?}: {found:?}");
        }
    }
}

#[test]
fn a_placement_off_its_alignment_is_refused() {
    let orders = KnownOrders::new(problem(&[aligned(0, 1, 0, 64), aligned(1, 2, 0, 64)]));
    let problem = orders.sized(&sizes(&[5, 7]));
    let is_right = |offsets: [u64; 2], end: u64| orders.is_right(&problem, &sizes(&offsets), end);
    assert!(is_right([0, 64], 128) && is_right([64, 0], 128));
    assert!(!is_right([0, 64], 127), "beyond the end");
    assert!(!is_right([0, 96], 192), "no multiple of 64");
    assert!(!is_right([32, 128], 192));
    let problem = orders.sized(&sizes(&[5, 0]));
    assert!(orders.is_right(&problem, &sizes(&[0, 3]), 64), "what has no bytes is nowhere");
}
