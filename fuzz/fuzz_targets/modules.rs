//! Does any module of the operations that there are, with choices, loops, blocks, calls and named sizes,
//! compute after passes in any order, and in machine code, what the interpreter computes of it?
//!
//! The fuzzer's bytes are the decisions of the generator of `tests`. `fuzz/run modules 600` runs it for ten
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
