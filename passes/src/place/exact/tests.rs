//! Tests of the exact search: the model, the propagation in a state, the strategies, one search, and a race.

use cranelift_entity::PrimaryMap;

use super::super::checker::check_placement;
use super::super::laws::brute_force;
use super::super::testing::{Family, aligned, buffer, problem};
use super::super::{Buffer, BufferId, Placement, PlannerOptions, Problem, Step, lower_bound};
use super::model::{PlacementItem, PlacementModel, Section};
use super::nogoods::Nogoods;
use super::race::{Verdict, race};
use super::search::{PlacementSearch, SearchOutcome};
use super::state::SearchState;
use super::strategy::{Focus, Rank, choose, strategies};
use super::{fit, is_plain};

/// More nodes than any search here takes.
const MANY_NODES: u64 = 1 << 40;

fn model(problem: &Problem) -> PlacementModel {
    PlacementModel::new(problem, usize::MAX).expect("there is no limit")
}

fn item(index: u32) -> PlacementItem {
    PlacementItem::from_u32(index)
}

fn numbers(items: &[PlacementItem]) -> Vec<u32> {
    items.iter().map(|item| item.as_u32()).collect()
}

/// The lowest offset of each item, and whether it floats.
fn positions(state: &SearchState<'_>) -> Vec<(u64, bool)> {
    state.positions.values().map(|position| (position.low, position.floats)).collect()
}

/// Enough seeds that some small problems have a smallest size above the bound.
const MANY_SEEDS: u64 = 40;

/// Small problems that the search models, with the smallest size of each.
fn small_problems(seeds: u64) -> Vec<(Problem, u64)> {
    let draw = |seed: u64| Family::ALL.map(|family| family.draw(3 + seed as u32 % 5, seed));
    let plain = (0..seeds).flat_map(draw).filter(is_plain);
    let sized = plain.map(|problem| {
        let least = brute_force(&problem);
        (problem, least)
    });
    sized.filter(|(_, least)| *least > 0).collect()
}

#[test]
fn sections_are_the_largest_sets_that_are_alive_at_once() {
    for family in Family::ALL {
        let problem = family.draw(30, 2);
        let model = model(&problem);
        let life = |item: &PlacementItem| &problem.buffers[model.items[*item].id];
        for members in model.sections.values() {
            let begin = members.iter().map(|item| life(item).first).max();
            let end = members.iter().map(|item| life(item).last).min();
            assert!(begin <= end, "{family:?}: they are not alive at once");
            let is_within = |other: &[PlacementItem]| members.iter().all(|item| other.contains(item));
            let around = model.sections.values().filter(|other| is_within(other));
            assert_eq!(around.count(), 1, "{family:?}: a section is part of another");
        }
        for (item, facts) in &model.items {
            let this = life(&item);
            let meets = |other: &PlacementItem| {
                *other != item && this.first <= life(other).last && life(other).first <= this.last
            };
            let mut found = model.neighbours(item).to_vec();
            found.sort_unstable();
            let expected: Vec<PlacementItem> = model.items.keys().filter(meets).collect();
            assert_eq!(found, expected, "{family:?} {item}");
            let holding = model.sections.iter().filter(|(_, members)| members.contains(&item));
            let holding: Vec<u32> = holding.map(|(section, _)| section.as_u32()).collect();
            assert_eq!(holding, (facts.from..facts.to).collect::<Vec<u32>>(), "{family:?} {item}");
        }
    }
}

#[test]
fn items_of_the_same_sections_size_and_alignment_are_twins() {
    let buffers = [
        buffer(0, 9, 12),
        buffer(0, 9, 12),
        buffer(0, 9, 8),
        aligned(0, 9, 12, 4),
        buffer(0, 4, 12),
        buffer(6, 9, 12),
        buffer(1, 9, 12),
        buffer(2, 3, 0),
    ];
    let model = model(&problem(&buffers));
    assert_eq!(model.items.len(), 7, "what has no bytes takes no part");
    for (index, twins) in [(0, &[0, 1, 6][..]), (1, &[0, 1, 6]), (2, &[2]), (3, &[3]), (4, &[4]), (5, &[5])] {
        assert_eq!(numbers(model.twins(item(index))), twins, "{index}");
    }
    let aligned_up = |index: u32, offsets: [u64; 3]| offsets.map(|at| model.items[item(index)].align_up(at));
    assert_eq!(aligned_up(3, [0, 8, 9]), [0, 8, 12]);
    assert_eq!(aligned_up(0, [0, 8, 9]), [0, 8, 9]);
}

#[test]
fn the_grain_divides_all_sizes_and_alignments_and_sections_are_limited() {
    let grain = |buffers: &[Buffer]| model(&problem(buffers)).grain;
    assert_eq!(grain(&[aligned(0, 1, 24, 16), aligned(0, 1, 40, 24)]), 8);
    assert_eq!(grain(&[aligned(0, 1, 12, 4), aligned(2, 3, 20, 8)]), 4);
    assert_eq!(grain(&[aligned(0, 1, 12, 4), buffer(2, 3, 20)]), 1);
    assert_eq!(grain(&[]), 1);
    let chain =
        problem(&[buffer(0, 2, 4), buffer(1, 3, 6), buffer(3, 5, 8), buffer(4, 6, 2), buffer(5, 9, 10)]);
    let found = model(&chain);
    let members: Vec<Vec<u32>> = found.sections.values().map(|members| numbers(members)).collect();
    assert_eq!(members, [vec![0, 1], vec![1, 2], vec![2, 3, 4]]);
    let is_made = |most: usize| PlacementModel::new(&chain, most).is_some();
    assert!(is_made(7) && !is_made(3) && !is_made(1), "they have seven members");
}

#[test]
fn what_does_not_fit_one_on_the_other_is_dead() {
    let model = model(&problem(&[buffer(0, 9, 4), buffer(0, 9, 6), buffer(0, 9, 5)]));
    let section = Section::from_u32(0);
    for (capacity, slack) in [(15, 0), (16, 1), (40, 25)] {
        let mut state = SearchState::new(&model, capacity);
        assert!(state.propagate().is_ok(), "{capacity}");
        assert_eq!((state.fills[section].floor, state.fills[section].slack), (0, slack));
        assert_eq!(state.weights[section], 1);
    }
    let mut state = SearchState::new(&model, 14);
    assert!(state.propagate().is_err());
    assert_eq!(state.weights[section], 2, "the section failed once");
}

/// The positions after placing an item of 2 bytes, with one of 4 on it that is alive with two others.
fn above_two(capacity: u64, align: u64, others: [u64; 2]) -> Option<Vec<(u64, bool)>> {
    let buffers =
        [buffer(0, 1, 2), aligned(1, 5, 4, align), buffer(2, 5, others[0]), buffer(2, 5, others[1])];
    let model = model(&problem(&buffers));
    let mut state = SearchState::new(&model, capacity);
    state.propagate().ok()?;
    state.place(item(0));
    state.propagate().ok()?;
    Some(positions(&state))
}

#[test]
fn an_item_that_can_not_be_first_of_those_above_it_rests_on_one_of_them() {
    let ground = (0, false);
    let with = |second: (u64, bool)| Some(vec![ground, second, ground, ground]);
    assert_eq!(above_two(12, 1, [3, 3]), with((2, false)), "all three fit above the first");
    assert_eq!(above_two(11, 1, [3, 3]), with((3, true)), "one of them goes below it");
    assert_eq!(above_two(10, 1, [3, 3]), with((3, true)));
    assert_eq!(above_two(9, 1, [3, 3]), None);
    assert_eq!(above_two(10, 1, [1, 5]), with((5, true)), "one is below it anyway, the other must be");
    assert_eq!(above_two(11, 1, [1, 5]), with((2, false)));
    assert_eq!(above_two(10, 4, [3, 3]), with((4, false)), "both end below where it may stand");
}

#[test]
fn a_lifted_item_rests_on_its_lowest_neighbour() {
    let pair = |align: u64| problem(&[aligned(0, 3, 4, align), buffer(2, 5, 6)]);
    for (align, capacity, low) in
        [(1, 10, Some(6)), (1, 9, None), (8, 12, Some(8)), (8, 11, None), (4, 12, Some(8))]
    {
        let model = model(&pair(align));
        let mut state = SearchState::new(&model, capacity);
        let lifted = state.lift(item(0)).is_ok();
        assert_eq!(lifted.then(|| positions(&state)[0]), low.map(|low| (low, true)), "{align} {capacity}");
        assert_eq!(positions(&state)[1], (0, false));
    }
    let alone = model(&problem(&[buffer(0, 1, 4), buffer(2, 3, 6)]));
    assert!(SearchState::new(&alone, 100).lift(item(0)).is_err(), "there is nothing to rest on");
}

#[test]
fn what_was_placed_and_raised_is_taken_back() {
    let chain = problem(&[buffer(0, 2, 4), aligned(1, 3, 6, 8), buffer(3, 5, 8), buffer(4, 6, 2)]);
    let model = model(&chain);
    let mut state = SearchState::new(&model, 40);
    let cuts = |state: &SearchState<'_>| state.cuts.values().copied().collect::<Vec<u32>>();
    assert_eq!(cuts(&state), [1, 1, 0], "the second and the third item span two sections each");
    state.propagate().expect("there is room");
    let mark = state.mark();
    state.severed = false;
    state.place(item(0));
    assert!(!state.severed && !state.open[item(0)], "it is in one section only");
    assert_eq!(positions(&state), [(0, false), (8, false), (0, false), (0, false)], "at its alignment");
    state.place(item(2));
    assert!(state.severed, "nothing open spans the last two sections");
    assert_eq!(cuts(&state), [1, 0, 0]);
    assert_eq!(positions(&state), [(0, false), (8, false), (0, false), (8, false)]);
    state.propagate().expect("there is room");
    let section = Section::from_u32(2);
    assert_eq!((state.fills[section].floor, state.fills[section].slack), (8, 30));
    state.undo(mark);
    assert_eq!(positions(&state), [(0, false); 4]);
    assert_eq!(cuts(&state), [1, 1, 0]);
    assert!(state.open.values().all(|open| *open));
    assert_eq!((state.fills[section].floor, state.fills[section].slack), (0, 30));
}

#[test]
fn what_floats_rests_once_something_is_placed_below_it() {
    let model = model(&problem(&[buffer(0, 3, 4), buffer(0, 3, 6)]));
    let mut state = SearchState::new(&model, 20);
    state.lift(item(0)).expect("it rests on the other");
    assert_eq!(positions(&state)[0], (6, true));
    state.place(item(1));
    assert_eq!(positions(&state)[0], (6, false));
}

#[test]
fn ranks_are_by_what_they_are_called() {
    let buffers = [buffer(0, 9, 2), buffer(0, 1, 19), buffer(3, 5, 5), buffer(5, 6, 6), buffer(8, 9, 1)];
    let model = model(&problem(&buffers));
    for (rank, expected) in [
        (Rank::Area, [1, 0, 2, 3, 4]),
        (Rank::Sections, [0, 1, 2, 3, 4]),
        (Rank::Degree, [0, 3, 2, 1, 4]),
        (Rank::Size, [1, 3, 2, 0, 4]),
        (Rank::Life, [0, 2, 1, 3, 4]),
        (Rank::SectionArea, [1, 3, 0, 2, 4]),
        (Rank::Total, [1, 0, 3, 2, 4]),
    ] {
        let positions = rank.positions(&model);
        let mut order: Vec<PlacementItem> = model.items.keys().collect();
        order.sort_by_key(|item| positions[*item]);
        assert_eq!(numbers(&order), expected, "{rank:?}");
    }
}

#[test]
fn all_pairs_of_a_focus_and_a_rank_are_tried_once() {
    let all = strategies();
    let is_once = |strategy: &(Focus, Rank)| all.iter().filter(|other| *other == strategy).count() == 1;
    assert!(all.len() == 49 && all.iter().all(is_once));
}

#[test]
fn a_focus_is_the_section_that_it_is_called_by() {
    // In each of four sections one item stands at the bottom, and another waits above it.
    let sizes = [(10, 50), (60, 20), (30, 45), (1, 1)];
    let pair = |(number, (low, high)): (u32, (u64, u64))| {
        [buffer(2 * number, 2 * number, low), buffer(2 * number, 2 * number, high)]
    };
    let buffers: Vec<Buffer> = (0..).zip(sizes).flat_map(pair).collect();
    let model = model(&problem(&buffers));
    let rank = Rank::Size.positions(&model);
    let chosen = |focus: Focus, weights: [u64; 4]| {
        let mut state = SearchState::new(&model, 100);
        state.propagate().expect("all fit");
        [0, 2, 4, 6].into_iter().for_each(|bottom| state.place(item(bottom)));
        state.propagate().expect("all fit");
        for (section, weight) in weights.into_iter().enumerate() {
            state.weights[Section::from_u32(section as u32)] = weight;
        }
        let waiting = [1, 3, 5, 7].map(item);
        choose(&state, &waiting, focus, &rank).as_u32() / 2
    };
    assert_eq!(chosen(Focus::Lowest, [1; 4]), 3);
    assert_eq!(chosen(Focus::Tightest, [1; 4]), 1);
    assert_eq!(chosen(Focus::Fullest, [1; 4]), 0);
    assert_eq!(chosen(Focus::TightAndFull, [1; 4]), 2);
    assert_eq!(chosen(Focus::TightestByFailures, [3, 1, 2, 4]), 2);
    assert_eq!(chosen(Focus::TightestByFailures, [1, 2, 1, 4]), 1);
    assert_eq!(chosen(Focus::FullestByFailures, [3, 1, 2, 4]), 0);
    assert_eq!(chosen(Focus::FullestByFailures, [1, 2, 1, 4]), 3);
    assert_eq!(chosen(Focus::Failures, [3, 1, 2, 4]), 3);
    assert_eq!(chosen(Focus::Failures, [1, 5, 1, 2]), 1);
}

#[test]
fn an_item_is_chosen_that_no_open_neighbour_can_end_below() {
    let chosen = |size: u64, rank: Rank| {
        let buffers =
            [buffer(0, 9, 2), buffer(0, 1, 6), buffer(3, 5, 5), buffer(5, 6, size), buffer(8, 9, 1)];
        let model = model(&problem(&buffers));
        let mut state = SearchState::new(&model, 30);
        state.propagate().expect("all fit");
        state.place(item(1));
        state.propagate().expect("all fit");
        // The first item, which stands on 6 bytes, is the only open one there.
        state.weights[Section::from_u32(0)] = 5;
        let waiting = [0, 2, 3, 4].map(item);
        choose(&state, &waiting, Focus::Failures, &rank.positions(&model)).as_u32()
    };
    assert_eq!(chosen(6, Rank::Size), 3, "the largest that ends where the first begins");
    assert_eq!(chosen(7, Rank::Size), 2, "that one ends above it");
    assert_eq!(chosen(6, Rank::Life), 2);
}

/// The placement that a search found.
fn solution(problem: &Problem, model: &PlacementModel, search: &PlacementSearch<'_>) -> Placement {
    let mut offsets: PrimaryMap<BufferId, u64> = problem.buffers.values().map(|_| 0).collect();
    let mut size_bytes = 0;
    for (item, facts) in &model.items {
        offsets[facts.id] = search.offset(item);
        size_bytes = size_bytes.max(search.offset(item) + facts.size);
    }
    Placement { offsets, size_bytes, lower_bound_bytes: 0, proved_best: false, planner: "test" }
}

#[test]
fn every_strategy_finds_the_smallest_placement_and_none_below_it() {
    let mut above_the_bound = 0;
    for (problem, least) in small_problems(MANY_SEEDS) {
        let model = model(&problem);
        for strategy in strategies() {
            let mut search = PlacementSearch::new(&model, least, strategy);
            assert_eq!(search.run(MANY_NODES, &|| false), SearchOutcome::Solved, "{strategy:?} {problem:?}");
            let found = solution(&problem, &model, &search);
            assert_eq!(check_placement(&problem, &found), [], "{strategy:?}");
            assert!(found.size_bytes <= least, "{strategy:?}");
            let mut search = PlacementSearch::new(&model, least - 1, strategy);
            assert_eq!(search.run(MANY_NODES, &|| false), SearchOutcome::Impossible, "{strategy:?}");
        }
        above_the_bound += u32::from(least > lower_bound(&problem));
    }
    assert!(above_the_bound > 0, "no problem needed a proof");
}

#[test]
fn a_search_goes_on_where_it_stopped() {
    for (problem, least) in small_problems(10) {
        let model = model(&problem);
        for (capacity, strategy) in [least, least - 1].into_iter().zip(strategies()) {
            let mut whole = PlacementSearch::new(&model, capacity, strategy);
            let expected = whole.run(MANY_NODES, &|| false);
            let mut pieces = PlacementSearch::new(&model, capacity, strategy);
            assert_eq!(pieces.run(MANY_NODES, &|| true), SearchOutcome::Unfinished, "it is halted at once");
            let mut found = SearchOutcome::Unfinished;
            let mut runs = 0;
            while found == SearchOutcome::Unfinished {
                assert_eq!(pieces.nodes(), runs);
                found = pieces.run(1, &|| false);
                runs += 1;
            }
            assert_eq!((found, pieces.nodes()), (expected, whole.nodes()));
        }
    }
}

/// A problem, repeated once at later steps.
fn twice(one: &Problem) -> Problem {
    let end = one.buffers.values().map(|buffer| buffer.last.as_u32() + 1).max().unwrap_or(0);
    let later = |step: Step| Step::from_u32(step.as_u32() + end);
    let again = one.buffers.values().map(|buffer| Buffer {
        first: later(buffer.first),
        last: later(buffer.last),
        ..*buffer
    });
    let buffers: Vec<Buffer> = one.buffers.values().copied().chain(again).collect();
    problem(&buffers)
}

#[test]
fn parts_that_share_no_section_are_solved_one_after_the_other() {
    for (problem, least) in small_problems(10) {
        let double = twice(&problem);
        let models = [model(&problem), model(&double)];
        for strategy in strategies() {
            let nodes = |capacity: u64| {
                let nodes = models.each_ref().map(|model| {
                    let mut search = PlacementSearch::new(model, capacity, strategy);
                    search.run(MANY_NODES, &|| false);
                    search.nodes()
                });
                (nodes[0], nodes[1])
            };
            let (one, two) = nodes(least);
            assert!(two <= 2 * one + 1, "{strategy:?}: {one} nodes, twice {two}, {problem:?}");
            let (one, two) = nodes(least - 1);
            assert!(two <= one + 1, "{strategy:?}: {one} nodes, twice {two}, {problem:?}");
        }
    }
}

#[test]
fn a_nogood_stays_until_another_takes_its_slot() {
    let mut nogoods = Nogoods::new();
    assert!(!nogoods.contains(5));
    nogoods.insert(5);
    assert!(nogoods.contains(5) && !nogoods.contains(6) && !nogoods.contains(5 + 4096));
    nogoods.insert(5 + 4096);
    assert!(nogoods.contains(5 + 4096) && !nogoods.contains(5), "there are 4096 slots at first");
    let mut many = Nogoods::new();
    (1..=4096).for_each(|key| many.insert(key));
    assert!((1..=4096).all(|key| many.contains(key)));
    many.insert(5000);
    assert!(many.contains(5000) && (1..=4096).all(|key| many.contains(key)), "slots become more");
}

#[test]
fn a_race_has_one_answer_at_any_number_of_threads_and_uses_all_nodes_before_it_gives_up() {
    for (problem, least) in small_problems(10).into_iter().step_by(3) {
        let model = model(&problem);
        for target in [least, least - 1] {
            for nodes in [0, 1, 2, 3, 7, 20, 50, 1 << 20] {
                let (verdict, used) = race(&model, target, nodes, 1, &|| false);
                assert!(used <= nodes);
                assert!(verdict != Verdict::Unknown || used == nodes, "{used} of {nodes} are used");
                assert_eq!(race(&model, target, nodes, 3, &|| false), (verdict, used), "three threads");
            }
            let (verdict, _) = race(&model, target, MANY_NODES, 1, &|| false);
            assert_eq!(verdict == Verdict::Impossible, target < least);
            assert!(verdict != Verdict::Unknown);
            assert_eq!(race(&model, target, MANY_NODES, 1, &|| true), (Verdict::Unknown, 0));
        }
    }
}

#[test]
fn a_placement_fits_the_capacity_or_there_is_none() {
    let mut refused = 0;
    for (mut problem, least) in small_problems(MANY_SEEDS) {
        let is_above_the_bound = least > lower_bound(&problem);
        let mut found = |capacity: u64| {
            problem.capacity = Some(capacity);
            let placement = fit(&problem, &PlannerOptions::default(), &|| false, usize::MAX);
            placement.map(|placement| {
                assert_eq!(check_placement(&problem, &placement), []);
                placement.size_bytes
            })
        };
        assert_eq!(found(least), Some(least));
        assert!(found(2 * least).is_some_and(|bytes| bytes <= 2 * least));
        if is_above_the_bound {
            assert_eq!(found(least - 1), None);
            refused += 1;
        }
    }
    assert!(refused > 0, "no problem is above its bound");
}
