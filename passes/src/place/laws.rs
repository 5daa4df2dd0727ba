//! Laws that hold for every row of the registry, on random problems of every family.

use super::checker::check_placement;
use super::portfolio::{ATTEMPTS, single};
use super::testing::Family;
use super::{BufferId, PLANNERS, PlannerOptions, Problem, lower_bound, place, whole_tensor_bound};
use cranelift_entity::PrimaryMap;

/// Few nodes: most random problems miss their bound, and then every node is used.
const OPTIONS: PlannerOptions = PlannerOptions { max_nodes: 1_000, threads: 1 };

/// 500 problems of 1 to 60 buffers: 50 of each family.
fn problems() -> impl Iterator<Item = (String, Problem)> {
    Family::ALL.into_iter().flat_map(|family| {
        (0..50).map(move |seed| {
            let n = 1 + (seed as u32 * 7) % 60;
            (format!("{family:?} n={n} seed={seed}"), family.draw(n, seed))
        })
    })
}

#[test]
fn every_random_problem_is_valid() {
    for (name, problem) in problems() {
        assert_eq!(problem.validate(), [], "{name}");
    }
}

#[test]
fn every_planner_is_sound_and_at_least_the_bound() {
    for (name, problem) in problems() {
        for planner in PLANNERS {
            let placement = (planner.run)(&problem, &OPTIONS, &|| false);
            assert_eq!(check_placement(&problem, &placement), [], "{} on {name}", planner.name);
            assert!(placement.lower_bound_bytes >= lower_bound(&problem), "{} on {name}", planner.name);
            assert!(placement.gap_bytes() > 0 || placement.proved_best, "{} on {name}", planner.name);
            assert!(lower_bound(&problem) <= whole_tensor_bound(&problem), "{name}");
        }
    }
}

#[test]
fn no_classical_order_beats_the_default() {
    for (name, problem) in problems() {
        let placement = place(&problem, &OPTIONS);
        for (attempt, order, fit) in ATTEMPTS {
            let classical = single(&problem, attempt, order, fit).size_bytes;
            assert!(placement.size_bytes <= classical, "{attempt} beats {} on {name}", placement.planner);
        }
    }
}

#[test]
fn a_short_walk_meets_the_bound_of_two_in_three_chains_where_no_order_does() {
    let portfolio = super::planner("portfolio").expect("a planner of that name");
    let missed = |problem: &Problem| {
        let bound = lower_bound(problem);
        ATTEMPTS.iter().all(|&(name, order, fit)| single(problem, name, order, fit).size_bytes > bound)
    };
    let chains = (0..200).map(|seed| Family::Overlapping.draw(40, seed));
    let hard: Vec<Problem> = chains.filter(missed).collect();
    let met = hard
        .iter()
        .filter(|problem| (portfolio.run)(problem, &PlannerOptions::default(), &|| false).proved_best);
    let met = met.count();
    assert!(3 * met >= 2 * hard.len(), "{met} of {}", hard.len());
}

#[test]
fn the_same_problem_gets_the_same_bytes_at_any_thread_count() {
    for (name, problem) in problems().step_by(5) {
        for planner in PLANNERS {
            let run = |threads| (planner.run)(&problem, &PlannerOptions { threads, ..OPTIONS }, &|| false);
            assert_eq!(run(1), run(2), "{} on {name}", planner.name);
        }
    }
}

#[test]
fn every_planner_returns_at_once_when_told_to_stop() {
    for (name, problem) in problems().step_by(5) {
        for planner in PLANNERS {
            let placement = (planner.run)(&problem, &OPTIONS, &|| true);
            assert_eq!(check_placement(&problem, &placement), [], "{} on {name}", planner.name);
        }
    }
}

/// The smallest size of all placements, found by placing the buffers in every order at the lowest free
/// offset. That reaches every placement in which no buffer can be lowered, so also a smallest one.
pub(super) fn brute_force(problem: &Problem) -> u64 {
    let mut state = BruteForce {
        problem,
        offsets: problem.buffers.values().map(|b| b.pin.unwrap_or(0)).collect(),
        placed: problem.buffers.iter().filter(|(_, b)| b.pin.is_some()).map(|(id, _)| id).collect(),
        best: u64::MAX,
    };
    state.extend();
    state.best
}

struct BruteForce<'p> {
    problem: &'p Problem,
    offsets: PrimaryMap<BufferId, u64>,
    placed: Vec<BufferId>,
    best: u64,
}

impl BruteForce<'_> {
    fn extend(&mut self) {
        let end = |&id: &BufferId| self.offsets[id] + self.problem.buffers[id].size_bytes;
        let size = self.placed.iter().map(end).max().unwrap_or(0);
        if size >= self.best {
            return;
        }
        if self.placed.len() == self.problem.buffers.len() {
            self.best = size;
        }
        for id in self.problem.buffers.keys() {
            if !self.placed.contains(&id) {
                let align = self.problem.buffers[id].align;
                let offset = (0..).map(|k| k * align).find(|&offset| self.is_free(id, offset));
                self.offsets[id] = offset.expect("there is room above everything");
                self.placed.push(id);
                self.extend();
                self.placed.pop();
            }
        }
    }

    fn is_free(&self, id: BufferId, offset: u64) -> bool {
        let this = &self.problem.buffers[id];
        self.placed.iter().all(|&other| {
            let (that, that_offset) = (&self.problem.buffers[other], self.offsets[other]);
            let apart = that.last < this.first
                || this.last < that.first
                || offset + this.size_bytes <= that_offset
                || that_offset + that.size_bytes <= offset
                || this.size_bytes * that.size_bytes == 0;
            apart
                || self.problem.overlaps.iter().any(|overlap| {
                    let distance = offset as i64 - that_offset as i64;
                    (overlap.input == id && overlap.output == other && distance >= overlap.min_distance_bytes)
                        || (overlap.input == other
                            && overlap.output == id
                            && -distance >= overlap.min_distance_bytes)
                })
        })
    }
}

/// Problems that the exact search models, those without pins and overlaps.
fn is_plain(problem: &Problem) -> bool {
    problem.overlaps.is_empty() && problem.buffers.values().all(|buffer| buffer.pin.is_none())
}

#[test]
fn the_search_finds_and_proves_the_optimum() {
    let mut above_the_bound = 0;
    for family in Family::ALL {
        for seed in 0..40 {
            let problem = family.draw(3 + seed as u32 % 5, seed);
            if !is_plain(&problem) {
                continue;
            }
            let placement = place(&problem, &PlannerOptions { max_nodes: 1_000_000, threads: 1 });
            assert!(placement.proved_best, "{family:?} seed {seed}: not proved");
            assert_eq!(placement.size_bytes, brute_force(&problem), "{family:?} seed {seed}");
            assert_eq!(placement.size_bytes, placement.lower_bound_bytes, "{family:?} seed {seed}");
            above_the_bound += u32::from(placement.size_bytes > lower_bound(&problem));
        }
    }
    assert!(above_the_bound > 0, "no problem needed a proof");
}

#[test]
fn a_perfect_packing_is_found_again() {
    for seed in 0..20 {
        let problem = Family::Guillotine.draw(40, seed);
        let placement = place(&problem, &PlannerOptions { max_nodes: 200_000, threads: 1 });
        assert_eq!(placement.gap_bytes(), 0, "seed {seed} by {}", placement.planner);
    }
}

#[test]
fn pins_and_overlaps_reach_the_bound_where_it_can_be_reached() {
    let mut reachable = 0;
    for seed in 0..40 {
        for family in [Family::Pinned, Family::Overlapping] {
            let problem = family.draw(4 + seed as u32 % 4, seed);
            let placement = place(&problem, &PlannerOptions::default());
            if brute_force(&problem) == lower_bound(&problem) {
                assert_eq!(placement.gap_bytes(), 0, "{family:?} seed {seed}");
                reachable += 1;
            }
        }
    }
    assert!(reachable > 20, "only {reachable} problems reach their bound");
}

#[test]
fn no_planner_beats_brute_force() {
    for family in Family::ALL {
        for seed in 0..5 {
            let problem = family.draw(6, seed);
            let optimum = brute_force(&problem);
            for planner in PLANNERS {
                let size_bytes = (planner.run)(&problem, &OPTIONS, &|| false).size_bytes;
                assert!(size_bytes >= optimum, "{} on {family:?} seed {seed}", planner.name);
            }
        }
    }
}
