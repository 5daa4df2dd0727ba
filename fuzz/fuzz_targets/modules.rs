//! Fuzzing of random modules (all operations, branches, loops, blocks, calls and named sizes): after passes
//! in any order, and in machine code, they have the interpreter's results.
//!
//! The fuzzer's bytes are the decisions of the generator in `tests`. `fuzz/run modules 600` runs it for ten
//! minutes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tests::modules::random_module;
use tests::random::Random;
use tests::trials::Trial;

fuzz_target!(|bytes: &[u8]| {
    let mut random = Random::of_bytes(bytes);
    let trial = Trial::new(random.bits());
    let module = random_module(&mut random);
    if let Err(fault) = trial.outcome(&module) {
        panic!("{}", trial.report(module, &fault));
    }
});
