//! `CheckedMemory` knows what each byte holds, with interleaved rows too.

use super::*;

fn home(first: u64, end: u64) -> Home {
    Home::dense(MemorySpace::Planned(0), first..end)
}

/// Three rows at a distance of 20 bytes.
fn rows(first: u64, row: u64) -> Home {
    Home::of_rows(MemorySpace::Planned(0), first, 3, row, 20)
}

fn values() -> [Value; 3] {
    [1, 2, 3].map(Value::from_u32)
}

#[test]
fn two_ways_agree_on_the_bytes_that_hold_the_same() {
    let [x, y, _] = values();
    let (mut a, mut b) = (CheckedMemory::default(), CheckedMemory::default());
    a.write(&home(0, 100), Some(x));
    b.write(&home(0, 100), Some(x));
    b.write(&home(40, 60), Some(y));
    let met = a.meet(&b);
    assert!(met.holds(&home(0, 40), x, 0) && met.holds(&home(60, 100), x, 60));
    assert!(!met.holds(&home(30, 50), x, 30) && !met.holds(&home(40, 60), y, 0));
    assert_eq!(met, b.meet(&a));
    a.write(&home(40, 60), Some(y));
    assert!(a.meet(&b).holds(&home(40, 60), y, 0));
}

#[test]
fn two_ways_agree_on_rows() {
    let [x, y, z] = values();
    let (mut a, mut b) = (CheckedMemory::default(), CheckedMemory::default());
    for memory in [&mut a, &mut b] {
        memory.write(&rows(0, 8), Some(x));
        memory.write(&rows(8, 12), Some(y));
    }
    b.write(&rows(10, 4), Some(z));
    let met = a.meet(&b);
    assert!(met.holds(&rows(0, 8), x, 0) && !met.holds(&rows(8, 12), y, 0));
    assert_eq!(met, b.meet(&a));
}

#[test]
fn rows_before_and_after_one_that_is_overwritten_stay() {
    let [x, y, _] = values();
    let of = |first: u64, count: u64| Home::of_rows(MemorySpace::Planned(0), first, count, 8, 20);
    for rows in 2..=7 {
        for written in 0..rows {
            let mut memory = CheckedMemory::default();
            memory.write(&of(0, rows), Some(x));
            memory.write(&of(20 * written, 1), Some(y));
            for row in 0..rows {
                let home = of(20 * row, 1);
                assert_eq!(memory.holds(&home, x, 8 * row), row != written, "row {row} of {rows}, {written}");
            }
        }
    }
}

#[test]
fn two_ways_agree_on_a_row_that_only_one_has_all_around_of() {
    let [x, y, _] = values();
    let (mut a, mut b) = (CheckedMemory::default(), CheckedMemory::default());
    for memory in [&mut a, &mut b] {
        memory.write(&rows(0, 8), Some(x));
    }
    b.write(&home(0, 8), Some(y));
    b.write(&home(40, 48), Some(y));
    for met in [a.meet(&b), b.meet(&a)] {
        assert!(met.holds(&home(20, 28), x, 8), "{met:?}");
        assert!(!met.holds(&home(0, 8), x, 0) && !met.holds(&home(40, 48), x, 16), "{met:?}");
    }
}

#[test]
fn rows_meet_where_one_byte_is_in_both() {
    assert!(!rows(0, 8).meets(&rows(8, 12)) && !rows(8, 12).meets(&rows(0, 8)));
    assert!(rows(0, 9).meets(&rows(8, 12)) && rows(8, 12).meets(&rows(0, 9)));
    assert!(!rows(0, 8).meets(&home(28, 40)) && !home(48, 60).meets(&rows(0, 8)));
    assert!(rows(0, 8).meets(&home(47, 60)) && home(39, 41).meets(&rows(0, 8)));
}

#[test]
fn a_part_of_rows_is_rows_or_lies_in_one() {
    assert_eq!(rows(100, 8).part(8, 16), Some(Home::of_rows(MemorySpace::Planned(0), 120, 2, 8, 20)));
    assert_eq!(rows(100, 8).part(10, 4), Some(home(122, 126)));
    assert_eq!(rows(100, 8).part(4, 8), None);
}

#[test]
fn rows_beside_rows_stay() {
    let [x, y, z] = values();
    let mut memory = CheckedMemory::default();
    memory.write(&rows(0, 8), Some(x));
    memory.write(&rows(8, 12), Some(y));
    assert!(memory.holds(&rows(0, 8), x, 0) && memory.holds(&rows(8, 12), y, 0));
    memory.write(&rows(4, 8), Some(z));
    assert!(!memory.holds(&rows(0, 8), x, 0) && !memory.holds(&rows(8, 12), y, 0));
    let left = ValueBytes { value: x, from: 0, step: 8 };
    let right = ValueBytes { value: y, from: 4, step: 12 };
    assert!(memory.holds_content(&rows(0, 4), left) && memory.holds_content(&rows(12, 8), right));
}

/// Rows are written one by one and then all at once, as in a concatenation with one operand copied.
#[test]
fn rows_stay_whole_where_others_are_written_between_them() {
    let [x, y, z] = values();
    let mut memory = CheckedMemory::default();
    memory.write(&rows(0, 8), Some(x));
    memory.write(&home(28, 40), Some(y));
    memory.write(&home(9, 11), Some(z));
    assert!(memory.holds(&rows(0, 8), x, 0) && memory.holds(&home(28, 40), y, 0));
    memory.write(&rows(8, 12), Some(z));
    assert!(memory.holds(&rows(0, 8), x, 0) && !memory.holds(&home(28, 40), y, 0));
    memory.write(&Home::of_rows(MemorySpace::Planned(0), 8, 2, 12, 20), Some(y));
    assert!(memory.holds(&rows(0, 8), x, 0));
    memory.write(&Home::of_rows(MemorySpace::Planned(0), 28, 2, 13, 20), Some(y));
    assert!(!memory.holds(&rows(0, 8), x, 0));
}

#[test]
fn a_whole_holds_the_rows_of_its_parts() {
    let [x, y, _] = values();
    let mut memory = CheckedMemory::default();
    memory.write(&home(0, 60), Some(x));
    let rows_of_x = ValueBytes { value: x, from: 8, step: 20 };
    assert!(memory.holds_content(&rows(8, 4), rows_of_x));
    assert!(!memory.holds_content(&rows(8, 4), ValueBytes { step: 19, ..rows_of_x }));
    memory.write(&rows(12, 8), Some(y));
    assert!(!memory.holds(&home(0, 60), x, 0));
    let between = Home::of_rows(MemorySpace::Planned(0), 24, 2, 8, 20);
    assert!(memory.holds_content(&between, ValueBytes { from: 24, ..rows_of_x }));
    assert!(memory.holds_content(&home(0, 12), ValueBytes { value: x, from: 0, step: 12 }));
}

/// Compares each write and query with an array of bytes.
#[test]
fn it_knows_no_byte_that_an_array_of_bytes_does_not() {
    let mut state = 7u64;
    let mut random = |low: u64, high: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (state >> 33) % (high - low + 1)
    };
    for _ in 0..300 {
        let mut memory = CheckedMemory::default();
        let mut bytes: Vec<Option<(Value, u64)>> = vec![None; 200];
        let mut homes = Vec::new();
        for number in 0..12 {
            let (row, pitch) = (random(1, 8), random(8, 12));
            let home = match random(0, 2) {
                0 => Home::of_rows(MemorySpace::Planned(0), random(0, 60), random(1, 10), row, pitch),
                1 => Home::of_rows(MemorySpace::Planned(0), 40 + random(0, 10), 6, row, 20),
                _ => home(random(0, 90), 90 + random(0, 100)),
            };
            let value = Value::from_u32(number);
            memory.write(&home, Some(value));
            let addresses = home.starts().flat_map(|start| start..start + home.row);
            addresses
                .enumerate()
                .for_each(|(at, address)| bytes[address as usize] = Some((value, at as u64)));
            homes.push((home, value));
            for (home, value) in &homes {
                let mut addresses = home.starts().flat_map(|start| start..start + home.row).enumerate();
                let is_there =
                    addresses.all(|(at, address)| bytes[address as usize] == Some((*value, at as u64)));
                assert!(is_there || !memory.holds(home, *value, 0), "{home:?} of {homes:?}");
            }
            let (home, value) = homes.last().expect("one was written");
            assert!(memory.holds(home, *value, 0), "{home:?}");
        }
    }
}

/// The addresses of a home's bytes, in ascending order.
fn addresses(home: &Home) -> Vec<u64> {
    home.starts().flat_map(|start| start..(start + home.row).min(home.bytes.end)).collect()
}

/// Homes with few rows.
fn small_homes() -> Vec<Home> {
    let rows = (0..3 * 4 * 4 * 4u64).map(|number| {
        let (row, gap) = (1 + number / 3 % 4, number / 12 % 4);
        Home::of_rows(MemorySpace::Planned(0), number % 3, 1 + number / 48, row, row + gap)
    });
    rows.collect()
}

#[test]
fn homes_meet_if_a_byte_is_in_both_and_only_then() {
    let homes = small_homes();
    for a in &homes {
        for b in &homes {
            let (bytes, others) = (addresses(a), addresses(b));
            let is_shared = bytes.iter().any(|byte| others.contains(byte));
            assert_eq!(a.meets(b), is_shared, "{a:?} and {b:?}");
            let elsewhere = Home { pool: MemorySpace::Planned(1), ..b.clone() };
            assert!(!a.meets(&elsewhere));
        }
    }
}

#[test]
fn parts_and_rows_of_a_home_have_the_bytes_that_they_say() {
    for home in small_homes() {
        let bytes = addresses(&home);
        assert_eq!(home.count(), bytes.len() as u64 / home.row, "{home:?}");
        for from in 0..bytes.len() {
            for count in 1..=bytes.len() - from {
                let wanted = &bytes[from..from + count];
                let part = home.part(from as u64, count as u64);
                let (first, row) = (from as u64 % home.row, home.row);
                let is_rows = first + count as u64 <= row || first == 0 && (count as u64).is_multiple_of(row);
                assert_eq!(part.is_some(), is_rows, "{from}, {count} of {home:?}");
                assert!(part.is_none_or(|part| addresses(&part) == wanted), "{from}, {count} of {home:?}");
            }
            for number in 0..5 * 3 * 6 {
                let (rows, row, pitch) = (1 + number % 5, 1 + number / 5 % 3, 1 + number / 15);
                let end = from + (rows - 1) * pitch + row;
                if end > bytes.len() || row > pitch {
                    continue;
                }
                let wanted: Vec<u64> =
                    (0..rows).flat_map(|at| &bytes[from + at * pitch..][..row]).copied().collect();
                let found = home.rows_within(from as u64, rows as u64, row as u64, pitch as u64);
                assert!(
                    found.as_ref().is_none_or(|found| addresses(found) == wanted),
                    "{rows} rows of {row} at {pitch} from {from} of {home:?}: {found:?}"
                );
                let is_dense = home.is_dense() && found.is_none();
                assert!(!is_dense, "{rows} rows of {row} at {pitch} from {from} of {home:?}");
            }
        }
    }
}

/// Pseudorandom numbers between two bounds, both included.
fn numbers() -> impl FnMut(u64, u64) -> u64 {
    let mut state = 11u64;
    move |low, high| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (state >> 33) % (high - low + 1)
    }
}

#[test]
fn of_bytes_without_gaps_it_knows_each_that_an_array_of_bytes_does() {
    let mut random = numbers();
    for _ in 0..200 {
        let mut memory = CheckedMemory::default();
        let mut bytes: Vec<Option<(Value, u64)>> = vec![None; 100];
        let mut written: Vec<(u64, u64, Value)> = Vec::new();
        for number in 0..12 {
            let start = random(0, 90);
            let count = random(1, 100 - start);
            let value = Value::from_u32(number);
            let is_known = random(0, 4) > 0;
            memory.write(&home(start, start + count), is_known.then_some(value));
            let content = |at: u64| is_known.then_some((value, at));
            (0..count).for_each(|at| bytes[(start + at) as usize] = content(at));
            written.push((start, count, value));
            for (start, count, value) in &written {
                let from = random(0, count - 1);
                let asked = random(1, count - from);
                let mut all = from..from + asked;
                let is_there = all.all(|at| bytes[(start + at) as usize] == Some((*value, at)));
                let asked = home(start + from, start + from + asked);
                assert_eq!(memory.holds(&asked, *value, from), is_there, "{asked:?} in {memory:?}");
            }
        }
    }
}

#[test]
fn two_ways_agree_on_bytes_without_gaps_wherever_both_know_them() {
    let mut random = numbers();
    for _ in 0..200 {
        let mut ways = [CheckedMemory::default(), CheckedMemory::default()];
        let mut written: Vec<(u64, Value)> = Vec::new();
        for number in 0..10 {
            let value = Value::from_u32(number % 4);
            let start = random(0, 3) * 20;
            // Now and then a value is elsewhere on one of the edges, or absent.
            for way in &mut ways {
                let at = start + if random(0, 4) == 0 { 4 } else { 0 };
                if random(0, 4) > 0 {
                    way.write(&home(at, at + 30), Some(value));
                }
            }
            written.push((start, value));
        }
        let met = ways[0].meet(&ways[1]);
        assert_eq!(met, ways[1].meet(&ways[0]));
        for (start, value) in written {
            for from in (0..30).step_by(3) {
                let asked = home(start + from, start + from + random(1, 30 - from));
                let both = ways.iter().all(|way| way.holds(&asked, value, from));
                assert_eq!(met.holds(&asked, value, from), both, "{asked:?} in {ways:?}");
            }
        }
    }
}

/// Columns of three rows of 20 bytes that overwrite each other.
#[test]
fn of_rows_at_one_distance_it_knows_each_byte_that_an_array_of_bytes_does() {
    let mut random = numbers();
    for _ in 0..200 {
        let mut memory = CheckedMemory::default();
        let mut columns: Vec<Option<(Value, u64)>> = vec![None; 20];
        let mut written: Vec<(u64, u64, Value)> = Vec::new();
        for number in 0..10 {
            let first = random(0, 19);
            let width = random(1, 20 - first).min(19);
            let value = Value::from_u32(number);
            memory.write(&rows(first, width), Some(value));
            (0..width).for_each(|at| columns[(first + at) as usize] = Some((value, at)));
            written.push((first, width, value));
            for (first, width, value) in &written {
                let from = random(0, width - 1);
                let asked = random(1, width - from);
                let mut all = from..from + asked;
                let is_there = all.all(|at| columns[(first + at) as usize] == Some((*value, at)));
                let content = ValueBytes { value: *value, from, step: *width };
                let found = memory.holds_content(&rows(first + from, asked), content);
                assert_eq!(found, is_there, "{from} and {asked} columns of {written:?}");
                for row in 0..3 {
                    let start = 20 * row + first + from;
                    let found = memory.holds(&home(start, start + asked), *value, row * width + from);
                    assert_eq!(found, is_there, "row {row}, {from} and {asked} columns of {written:?}");
                }
            }
        }
    }
}
