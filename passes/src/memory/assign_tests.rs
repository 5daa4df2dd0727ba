//! When is an arena small enough?

use super::*;

#[test]
fn an_arena_within_a_25th_of_the_target_is_small_enough() {
    let is_enough = |bytes: u64, target_bytes: u64| {
        is_enough(bytes, &TradeOff { candidates: Vec::new(), scratch: Vec::new(), target_bytes })
    };
    for (target_bytes, most) in [(0, 0), (24, 24), (25, 26), (100, 104), (1000, 1040)] {
        assert!(is_enough(most, target_bytes) && is_enough(target_bytes, target_bytes));
        assert!(!is_enough(most + 1, target_bytes), "{most} of {target_bytes}");
    }
}
