//! Plans that lose a state are refused.

use super::tests::{faults, refuses};

/// A state with a next value, and one without.
const STATES: &str = r#"func.func @main(%x: tensor<16xf32>, %s: tensor<16xf32> {optc.state}, %k: tensor<16xf32> {optc.state}) -> (tensor<16xf32>, tensor<16xf32> {optc.state = 1 : i64}) attributes {optc.arena = 256 : i64, optc.pools = {arena = {bytes = 128 : i64}, state = {start = 128 : i64, bytes = 128 : i64}}} {
  %0 = nn.neg %s {mem.place = [["arena", 0, 64]]} : tensor<16xf32>
  %1 = nn.add %0, %k {mem.place = [["out", 0, 64]]} : tensor<16xf32>
  %2 = nn.add %0, %x {mem.place = [["state", 0, 64]]} : tensor<16xf32>
  return %1, %2 : tensor<16xf32>, tensor<16xf32>
}"#;

#[test]
fn a_state_is_read_and_written_in_its_place() {
    assert_eq!(faults(STATES, "neg", "neg"), [""; 0]);
    refuses(
        STATES,
        r#"["state", 0, 64]"#,
        r#"["arena", 64, 64]"#,
        "result 1 of the function is not in its state's place",
    );
    refuses(STATES, r#"["state", 0, 64]"#, r#"["out", 1, 64]"#, "64 bytes do not fit the caller's buffer 1");
}

#[test]
fn a_state_is_not_overwritten_before_it_is_read() {
    let wrong = STATES.replace("nn.neg %s", "nn.neg %x").replace("nn.add %0, %k", "nn.add %s, %k");
    assert_eq!(faults(&wrong, "neg", "neg"), [""; 0]);
    let expected = "the bytes of operand 0 are overwritten";
    refuses(&wrong, r#"["arena", 0, 64]"#, r#"["state", 0, 64]"#, expected);
}

#[test]
fn a_state_without_a_next_value_stays() {
    let expected = "the state 2 is overwritten, and has no next value";
    refuses(STATES, r#"["state", 0, 64]"#, r#"["state", 64, 64]"#, expected);
}

#[test]
fn states_are_in_their_pool() {
    refuses(
        STATES,
        "start = 128 : i64, bytes = 128",
        "start = 128 : i64, bytes = 64",
        "exceeds the pool `state` of 64",
    );
    refuses(STATES, "state = {start", "other = {start", "there is no pool `state`");
    refuses(
        STATES,
        "optc.state = 1",
        "optc.state = 0",
        "result 1 is the next state of argument 0, which is no state",
    );
}

#[test]
fn the_place_of_a_state_is_for_what_asks_for_no_other_pool() {
    let from = "%2 = nn.add %0, %x {";
    let asks = |pool: &str| format!(r#"%2 = nn.add %0, %x {{mem.pool = ["{pool}"], "#);
    assert_eq!(faults(STATES, from, &asks("state")), [""; 0]);
    assert_eq!(faults(STATES, from, &asks("arena")), [""; 0]);
    refuses(STATES, from, &asks("bank"), "result 0 is not in the pool `bank`, which it asks for");
}
