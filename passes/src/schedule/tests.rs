//! Tests that the search finds the best order, by trying all orders.

use cranelift_entity::EntityRef;

use super::model::{ItemId, Root, RootId, RootWrite, ScheduleItem, ScheduleModel};
use super::search::best_order;

/// A pseudorandom number generator: splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// Items that each write one root, and read some of the last `reach` roots before; some results may overwrite
/// roots of their size.
fn random_model(seed: u64, count: usize, reach: usize) -> ScheduleModel {
    let mut random = Random(seed);
    let mut model = ScheduleModel::default();
    for at in 0..count {
        let mut before: Vec<ItemId> = Vec::new();
        for _ in 0..random.below(3) {
            if at > 0 {
                before.push(ItemId::new(at - 1 - random.below(at.min(reach))));
            }
        }
        before.sort_unstable();
        before.dedup();
        let reads: Vec<RootId> = before.iter().map(|item| RootId::new(item.index())).collect();
        let size_bytes = 1 + random.below(4) as u64;
        let is_fit = |root: &RootId| model.roots[*root].size_bytes == size_bytes;
        let overwrites = reads.iter().copied().filter(is_fit).filter(|_| random.below(2) > 0).collect();
        let root = model.roots.push(Root { size_bytes, lives_on: random.below(8) == 0, ..Root::default() });
        let writes = vec![RootWrite { root, overwrites }];
        model.push(ScheduleItem { before, reads, writes, scratch_bytes: random.below(3) as u64 });
    }
    model
}

fn peak(model: &ScheduleModel, order: &[ItemId]) -> u64 {
    model.costs(order).iter().map(|cost| cost.peak_bytes).max().unwrap_or(0)
}

fn is_valid(model: &ScheduleModel, order: &[ItemId]) -> bool {
    let place = |item: ItemId| order.iter().position(|other| *other == item);
    let waits = |item: ItemId| model.items[item].before.iter().all(|before| place(*before) < place(item));
    order.len() == model.items.len() && model.items.keys().all(|item| place(item).is_some() && waits(item))
}

/// The lowest peak of all orders.
fn brute_force(model: &ScheduleModel) -> u64 {
    fn go(model: &ScheduleModel, done: &mut Vec<bool>, live_bytes: u64, peak_bytes: u64, best: &mut u64) {
        if peak_bytes >= *best {
            return;
        }
        if done.iter().all(|is_done| *is_done) {
            *best = peak_bytes;
        }
        for item in model.items.keys() {
            let before = &model.items[item].before;
            if done[item.index()] || !before.iter().all(|before| done[before.index()]) {
                continue;
            }
            let cost = model.cost(item, live_bytes, |other| done[other.index()]);
            done[item.index()] = true;
            go(model, done, cost.live_bytes, peak_bytes.max(cost.peak_bytes), best);
            done[item.index()] = false;
        }
    }
    let mut best = u64::MAX;
    go(model, &mut vec![false; model.items.len()], model.bytes_on_entry(), 0, &mut best);
    best
}

#[test]
fn small_graphs_get_the_best_of_all_orders() {
    let mut better = 0;
    for seed in 0..600 {
        let model = random_model(seed, 4 + seed as usize % 6, 2 + seed as usize % 5);
        let found = best_order(&model);
        assert!(is_valid(&model, &found.order), "seed {seed}");
        assert_eq!(peak(&model, &found.order), found.peak_bytes, "seed {seed}");
        assert_eq!(found.peak_bytes, brute_force(&model), "seed {seed}");
        better += usize::from(!found.order.is_sorted());
    }
    assert!(better > 100, "only {better} orders were bettered: the graphs are too easy");
}

#[test]
fn large_graphs_are_never_made_worse() {
    for seed in 0..12 {
        let model = random_model(seed, 300, 5 + 40 * (seed as usize % 3));
        let given: Vec<ItemId> = model.items.keys().collect();
        let found = best_order(&model);
        assert!(is_valid(&model, &found.order), "seed {seed}");
        assert_eq!(peak(&model, &found.order), found.peak_bytes, "seed {seed}");
        assert!(found.peak_bytes <= peak(&model, &given), "seed {seed}");
    }
}

/// Independent chains that grow and shrink, interleaved in the given order.
fn chains(count: usize, sizes: &[u64]) -> ScheduleModel {
    let mut model = ScheduleModel::default();
    let mut ends: Vec<Option<(ItemId, RootId)>> = vec![None; count];
    for &size_bytes in sizes {
        for end in &mut ends {
            let root = model.roots.push(Root { size_bytes, ..Root::default() });
            let before = end.iter().map(|end| end.0).collect();
            let reads = end.iter().map(|end| end.1).collect();
            let writes = vec![RootWrite { root, overwrites: Vec::new() }];
            *end = Some((model.push(ScheduleItem { before, reads, writes, scratch_bytes: 0 }), root));
        }
    }
    let before = ends.iter().flatten().map(|end| end.0).collect();
    let reads = ends.iter().flatten().map(|end| end.1).collect();
    model.push(ScheduleItem { before, reads, writes: Vec::new(), scratch_bytes: 0 });
    model
}

#[test]
fn chains_run_one_after_the_other() {
    for count in [2, 5, 30] {
        let model = chains(count, &[1, 10, 10, 1]);
        let found = best_order(&model);
        assert_eq!(found.peak_bytes, 20 + (count as u64 - 1), "{count} chains");
    }
}

#[test]
fn no_segment_is_changed_that_is_not_the_highest() {
    let mut model = chains(2, &[1, 3, 1]);
    let high = model.roots.push(Root { size_bytes: 100, ..Root::default() });
    let last = model.items.keys().next_back().expect("chains end with an item");
    let writes = vec![RootWrite { root: high, overwrites: Vec::new() }];
    model.push(ScheduleItem { before: vec![last], reads: Vec::new(), writes, scratch_bytes: 0 });
    let found = best_order(&model);
    assert!(found.order.is_sorted());
    assert_eq!(found.peak_bytes, 100);
}

/// A root of this size.
fn root(size_bytes: u64) -> Root {
    Root { size_bytes, ..Root::default() }
}

/// A write of this root over the first dying one of some others.
fn write(root: usize, overwrites: &[usize]) -> RootWrite {
    let overwrites = overwrites.iter().map(|owner| RootId::new(*owner)).collect();
    RootWrite { root: RootId::new(root), overwrites }
}

/// An item that reads some roots and writes others.
fn item(reads: &[usize], writes: Vec<RootWrite>, scratch_bytes: u64) -> ScheduleItem {
    let reads = reads.iter().map(|read| RootId::new(*read)).collect();
    ScheduleItem { before: Vec::new(), reads, writes, scratch_bytes }
}

/// The bytes while each item runs, and after it, in the given order.
fn costs(roots: Vec<Root>, items: Vec<ScheduleItem>) -> Vec<(u64, u64)> {
    let mut model = ScheduleModel { roots: roots.into_iter().collect(), ..ScheduleModel::default() };
    let order: Vec<ItemId> = items.into_iter().map(|item| model.push(item)).collect();
    model.costs(&order).iter().map(|cost| (cost.peak_bytes, cost.live_bytes)).collect()
}

#[test]
fn a_step_takes_what_is_live_what_it_writes_anew_and_its_scratch() {
    let roots = || vec![Root { lives_on_entry: true, ..root(4) }, root(6), root(4)];
    let first = || item(&[0], vec![write(1, &[])], 3);
    let over = |overwrites: &[usize]| vec![first(), item(&[0, 1], vec![write(2, overwrites)], 0)];
    assert_eq!(costs(roots(), over(&[0])), [(13, 10), (10, 0)], "the last is in the bytes of the first");
    assert_eq!(costs(roots(), over(&[])), [(13, 10), (14, 0)]);
    let early = vec![item(&[0], vec![write(2, &[0])], 0), first()];
    assert_eq!(costs(roots(), early), [(8, 4), (13, 0)], "another step reads the first later");
}

#[test]
fn what_is_needed_after_the_last_step_neither_dies_nor_is_overwritten() {
    let kept = |is_kept: [u64; 2]| {
        let of = |lives_on: u64| Root { lives_on: lives_on > 0, ..root(4) };
        let roots = vec![Root { lives_on_entry: true, ..of(is_kept[0]) }, of(is_kept[1])];
        costs(roots, vec![item(&[0], vec![write(1, &[0])], 0)])
    };
    assert_eq!(kept([0, 0]), [(4, 0)]);
    assert_eq!(kept([0, 1]), [(4, 4)]);
    assert_eq!(kept([1, 0]), [(8, 4)]);
    assert_eq!(kept([1, 1]), [(8, 8)]);
}

#[test]
fn two_results_of_a_step_do_not_overwrite_the_same_bytes() {
    let over = |second: &[usize]| {
        let given = || Root { lives_on_entry: true, ..root(4) };
        let result = || Root { lives_on: true, ..root(4) };
        let writes = vec![write(2, &[0]), write(3, second)];
        costs(vec![given(), given(), result(), result()], vec![item(&[0, 1], writes, 0)])
    };
    assert_eq!(over(&[1]), [(8, 8)]);
    assert_eq!(over(&[0, 1]), [(8, 8)], "the next of those that die");
    assert_eq!(over(&[0]), [(12, 8)]);
}

#[test]
fn bytes_that_are_there_are_not_counted_again_by_who_writes_more_of_them() {
    let parts = || vec![item(&[], vec![write(0, &[])], 0), item(&[], vec![write(0, &[])], 1)];
    let mut items = parts();
    items.push(item(&[0], Vec::new(), 0));
    assert_eq!(costs(vec![root(10)], items), [(10, 10), (11, 10), (10, 0)]);
    let given = Root { lives_on_entry: true, lives_on: true, ..root(10) };
    assert_eq!(costs(vec![given], parts()), [(10, 10), (11, 10)]);
}
