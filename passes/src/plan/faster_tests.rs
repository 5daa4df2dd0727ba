//! When is there room for the scratch of a faster algorithm, and when is its error small enough?

use ir::target::Bands;

use super::*;
use crate::overlap::{OperandRows, RowOrder};
use crate::tradeoff::{BandCandidate, OverlapCandidate, settled};

/// Steps with 3000, 2900 and 2000 live bytes. Operand and result of the second one are images of 1024 bytes,
/// which share 768 bytes in bands of two rows.
struct ThreeSteps;

/// The live bytes of each step.
const LIVE: [u64; 3] = [3000, 2900, 2000];

impl Question for ThreeSteps {
    fn goal(&self) -> Goal {
        Goal::Memory
    }

    fn steps(&self) -> Vec<RunningStep> {
        let step = |(number, live): (u32, u64)| RunningStep { op: Op::from_u32(number), live, preferred: 0 };
        (0..).zip(LIVE).map(step).collect()
    }

    fn scratch(&self, _op: Op, preferred: u64) -> (u64, Option<Bands>) {
        (preferred, None)
    }

    fn rows(&self, op: Op, operand: usize) -> Option<(OperandRows, [u64; 2])> {
        let rows = OperandRows {
            images: 1,
            input: 8,
            input_bytes: 128,
            output: 8,
            output_bytes: 128,
            extent: 1,
            stride: 1,
            pad_top: 0,
        };
        (op == Op::from_u32(1) && operand == 0).then_some((rows, [1024; 2]))
    }
}

/// An algorithm that needs this much room, and is `speedup` times as fast.
fn needing(least_room_bytes: u64, speedup: f64) -> FasterMethod {
    FasterMethod {
        name: "fast",
        speedup,
        error: 0.0,
        scratch_bytes: 320,
        least_scratch_bytes: 64,
        least_room_bytes,
        bands: Some(Bands { operand: 0, free_rows: 2, multiple: 1 }),
    }
}

/// Whether a step is computed by the algorithm, and then whether in bands; otherwise the reason.
fn found(goal: Goal, number: usize, method: FasterMethod) -> Result<bool, String> {
    let room = Room::of(goal, &ThreeSteps);
    let step = ThreeSteps.steps()[number];
    let found = room.method(&ThreeSteps, &step, &|_| Some(method)).expect("there is one");
    assert_eq!(found.method, method);
    found.scratch.map(|scratch| {
        assert_eq!(scratch, 320);
        found.in_bands
    })
}

fn lacks(needed: u64, free: u64) -> Result<bool, String> {
    Err(format!("it needs {needed} bytes of scratch, of which {free} are free"))
}

#[test]
fn scratch_fits_beneath_the_peak_or_the_step_is_as_usual() {
    let balanced = |number, needed| found(Goal::Balanced, number, needing(needed, 1.2));
    assert_eq!(balanced(0, 0), Ok(false), "at the peak itself nothing is free");
    assert_eq!(balanced(0, 1), lacks(1, 0));
    assert_eq!(balanced(2, 1000), Ok(false));
    assert_eq!(balanced(2, 1001), lacks(1001, 1000));
}

#[test]
fn rows_that_were_read_make_room() {
    let balanced = |needed| found(Goal::Balanced, 1, needing(needed, 1.2));
    assert_eq!(balanced(100), Ok(false));
    assert_eq!(balanced(101), Ok(true));
    assert_eq!(balanced(100 + 768), Ok(true));
    assert_eq!(balanced(100 + 769), lacks(869, 100));
    let without = FasterMethod { bands: None, ..needing(101, 1.2) };
    assert_eq!(found(Goal::Balanced, 1, without), lacks(101, 100));
    let other =
        FasterMethod { bands: Some(Bands { operand: 1, free_rows: 2, multiple: 1 }), ..needing(101, 1.2) };
    assert_eq!(found(Goal::Balanced, 1, other), lacks(101, 100), "the rows of another operand");
}

#[test]
fn the_arena_grows_for_what_is_much_faster() {
    let balanced = |number, needed, speedup| found(Goal::Balanced, number, needing(needed, speedup));
    assert_eq!(balanced(2, 1300, 1.25), Ok(false), "by a tenth of the peak");
    assert_eq!(balanced(2, 1301, 1.5), lacks(1301, 1000));
    assert_eq!(balanced(2, 1300, 1.2), lacks(1300, 1000));
    assert_eq!(balanced(1, 400, 1.5), Ok(true), "first in bands beneath the peak");
    assert_eq!(balanced(1, 868, 1.5), Ok(true));
    assert_eq!(balanced(1, 1168, 1.5), Ok(true), "in bands, in the arena that has grown");
    assert_eq!(balanced(1, 1169, 1.5), lacks(1169, 100));
    assert_eq!(balanced(1, 1168, 1.2), lacks(1168, 100));
    let without = FasterMethod { bands: None, ..needing(400, 1.5) };
    assert_eq!(found(Goal::Balanced, 1, without), Ok(false));
    assert_eq!(found(Goal::Balanced, 1, FasterMethod { least_room_bytes: 401, ..without }), lacks(401, 100));
}

/// Equal layers, the first of four steps, before others with 1000 live bytes: operand and result are images
/// of 1024 bytes, of which 768 are shared in bands.
struct Chain {
    layers: u32,
}

impl Question for Chain {
    fn goal(&self) -> Goal {
        Goal::Memory
    }

    fn steps(&self) -> Vec<RunningStep> {
        let live = |number| if number < self.layers { 2048 } else { 1000 };
        (0..4)
            .map(|number| RunningStep { op: Op::from_u32(number), live: live(number), preferred: 0 })
            .collect()
    }

    fn scratch(&self, _op: Op, preferred: u64) -> (u64, Option<Bands>) {
        (preferred, Some(Bands { operand: 0, free_rows: 2, multiple: 1 }))
    }

    fn rows(&self, op: Op, operand: usize) -> Option<(OperandRows, [u64; 2])> {
        (op < Op::from_u32(self.layers) && operand == 0).then_some((rows(1, 0), [1024; 2]))
    }
}

#[test]
fn in_a_chain_of_equal_layers_the_arena_grows_to_the_peak_without_bands() {
    let found = |layers, goal, method: FasterMethod| {
        let chain = Chain { layers };
        let found = Room::of(goal, &chain).method(&chain, &chain.steps()[0], &|_| Some(method));
        found.expect("there is one").scratch
    };
    let peak = tradeoff::peak_of_tensors(&Chain { layers: 3 });
    let saved = 2048 - peak;
    assert!(saved > 600, "{saved} bytes are shared in bands of single rows");
    let in_bands = 2048 - 768;
    let most = 2048 - in_bands;
    assert_eq!(found(3, Goal::Balanced, needing(most, 1.5)), Ok(320));
    assert!(found(3, Goal::Balanced, needing(most + 1, 1.5)).is_err(), "above the peak without bands");
    assert!(found(3, Goal::Balanced, needing(most, 1.2)).is_err(), "not much faster");
    assert!(found(3, Goal::Memory, needing(most, 1.5)).is_err());
    assert!(found(2, Goal::Balanced, needing(most, 1.5)).is_err(), "half of the steps are no chain");
}

#[test]
fn for_speed_all_scratch_is_there_and_for_memory_what_is_free_beneath_the_peak() {
    assert_eq!(found(Goal::Speed, 0, needing(1 << 60, 1.01)), Ok(false));
    let memory = |number, needed| found(Goal::Memory, number, needing(needed, 3.0));
    assert_eq!(memory(0, 1), lacks(1, 0));
    assert_eq!(memory(2, 1000), Ok(false));
    assert_eq!(memory(2, 1001), lacks(1001, 1000), "the arena does not grow");
    assert_eq!(memory(1, 101), lacks(101, 100), "not in bands");
}

#[test]
fn for_memory_the_scratch_of_many_threads_is_what_is_free() {
    let of_many = FasterMethod { scratch_bytes: 3200, least_scratch_bytes: 1600, ..needing(100, 1.2) };
    let found = |goal, method: FasterMethod| {
        let room = Room::of(goal, &ThreeSteps);
        let found =
            room.method(&ThreeSteps, &ThreeSteps.steps()[2], &|_| Some(method)).expect("there is one");
        (found.scratch, found.least_scratch_bytes)
    };
    assert_eq!(found(Goal::Memory, of_many), (Ok(1000), 100));
    assert_eq!(found(Goal::Balanced, of_many), (Ok(3200), 1600));
    let of_one = FasterMethod { scratch_bytes: 320, least_scratch_bytes: 50, ..of_many };
    assert_eq!(found(Goal::Memory, of_one), (Ok(320), 50));
}

#[test]
fn an_error_is_at_most_what_the_goal_allows() {
    let with_error = |goal, error| found(goal, 2, FasterMethod { error, ..needing(10, 1.2) });
    let above =
        |error: &str, most: &str| Err(format!("its error of {error} of the largest number is above {most}"));
    assert_eq!(with_error(Goal::Balanced, 1e-4), Ok(false));
    assert_eq!(with_error(Goal::Balanced, 2e-4), above("2e-4", "1e-4"));
    assert_eq!(with_error(Goal::Memory, 1e-4), Ok(false));
    assert_eq!(with_error(Goal::Memory, 2e-4), above("2e-4", "1e-4"));
    assert_eq!(with_error(Goal::Speed, 1e-3), Ok(false));
    assert_eq!(with_error(Goal::Speed, 2e-3), above("2e-3", "1e-3"));
}

#[test]
fn a_method_may_depend_on_the_room_that_it_is_offered() {
    let room = Room::of(Goal::Balanced, &ThreeSteps);
    let step = ThreeSteps.steps()[2];
    let from = |least: u64, speedup: f64| {
        let faster = move |room: u64| (room >= least).then(|| needing(least, speedup));
        room.method(&ThreeSteps, &step, &faster).map(|found| found.scratch)
    };
    assert_eq!(from(1000, 1.2), Some(Ok(320)));
    assert_eq!(from(1300, 1.5), Some(Ok(320)));
    assert_eq!(from(1001, 1.2), Some(lacks(1001, 1000).map(|_| 0)), "it is told what would be there");
    assert!(room.method(&ThreeSteps, &step, &|_| None).is_none());
}

/// 8 rows of 128 bytes; each row of the result reads `extent` rows, without the padding.
fn rows(extent: u64, pad_top: u64) -> OperandRows {
    OperandRows {
        images: 1,
        input: 8,
        input_bytes: 128,
        output: 8,
        output_bytes: 128,
        extent,
        stride: 1,
        pad_top,
    }
}

/// The bytes that an operand and a result of 1024 bytes share, if bands of `free_rows` rows cost no time.
fn saved(goal: Goal, rows: OperandRows, free_rows: u64, share: u64) -> Option<u64> {
    let bands = Bands { operand: 0, free_rows, multiple: 1 };
    OverlapCandidate::new(goal, rows, [1024; 2], bands, share).map(|candidate| candidate.saved())
}

#[test]
fn two_share_what_the_better_order_of_their_rows_lets_them() {
    let balanced = |rows: OperandRows, free_rows: u64| saved(Goal::Balanced, rows, free_rows, 1);
    assert_eq!(balanced(rows(1, 0), 2), Some(768));
    assert_eq!(balanced(rows(1, 0), 7), Some(128));
    assert_eq!(balanced(rows(1, 0), 8), None, "all rows are no band");
    let batch = OperandRows { images: 2, input: 4, output: 4, ..rows(1, 0) };
    assert_eq!(balanced(batch, 4), Some(512), "all rows of one image of two");
    assert_eq!(balanced(batch, 5), None, "no band has rows of two images");
    assert_eq!(balanced(rows(8, 0), 2), Some(768), "upwards they would lie apart");
    assert_eq!(balanced(rows(8, 7), 2), Some(768), "downwards they would lie apart");
    let narrow = OperandRows { input_bytes: 100, output_bytes: 100, ..rows(1, 0) };
    let bands = Bands { operand: 0, free_rows: 1, multiple: 1 };
    let found = OverlapCandidate::new(Goal::Balanced, narrow, [800; 2], bands, 1);
    assert_eq!(found.map(|found| found.saved()), Some(672), "100 bytes apart are two places");
}

#[test]
fn for_memory_bands_are_as_wide_as_a_share_of_the_bytes_allows() {
    let memory = |share: u64| saved(Goal::Memory, rows(1, 0), 8, share);
    assert_eq!(memory(256), Some(896), "4 bytes more than one row");
    assert_eq!(memory(9), Some(896), "113 bytes more");
    assert_eq!(memory(8), Some(768), "a row more");
    assert_eq!(memory(1), None, "all rows fit");
}

#[test]
fn bands_are_settled_by_where_an_operand_and_a_result_lie() {
    let settled = |input: u64, output: u64, multiple: u64| {
        let op = Op::from_u32(0);
        let candidate = BandCandidate { op, operand: 0, band_rows: multiple, multiple, rows: rows(1, 0) };
        settled(&candidate, [input..input + 1024, output..output + 1024])
    };
    assert_eq!(settled(1024, 0, 1), None);
    assert_eq!(settled(0, 1024, 1), None);
    assert_eq!(settled(1023, 0, 1), Some((7, RowOrder::Down)));
    assert_eq!(settled(0, 1023, 1), Some((7, RowOrder::Up)));
    assert_eq!(settled(256, 0, 1), Some((2, RowOrder::Down)));
    assert_eq!(settled(0, 300, 1), Some((2, RowOrder::Up)));
    assert_eq!(settled(128, 0, 1), Some((1, RowOrder::Down)), "just as far apart as it must be");
    assert_eq!(settled(384, 0, 2), Some((2, RowOrder::Down)), "three rows are no multiple of two");
    assert_eq!(settled(0, 512, 2), Some((4, RowOrder::Up)));
}
