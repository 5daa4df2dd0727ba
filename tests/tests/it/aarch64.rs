//! Comparison of programs compiled for AArch64 with those for this machine.
//!
//! Plans, frames and weights are compared on any machine. If `OPTC_AARCH64` names the folder of a C library,
//! object files are linked by a cross compiler and run in an emulator; the kernels are available if `optc` is
//! built with its feature `aarch64`:
//!
//! ```sh
//! OPTC_AARCH64=/usr/aarch64-linux-gnu cargo test -p optc-tests --features optc/aarch64 --test it aarch64
//! ```

use codegen::{CodegenOptions, Cpu, FrameCallee, Isa, RelocatableProgram};
use ir::Module;
use optc::bundle::{Bundle, WeightsPlace, architectures};
use optc::{CompileOptions, Model};
use passes::manager::RunOptions;
use runtime::RelocationKind;
use tests::graphs::graph;
use tests::programs::array;

use crate::object_files::{
    FLOW, FUNCTIONS, a_fault_is_a_status, check, function_inputs, integers, module, options,
};
use crate::object_sizes::check_random_graphs;

/// A program as it is compiled for an instruction set.
fn program(module: &Module, isa: Isa) -> (String, RelocatableProgram) {
    let mut module = module.clone();
    let options = RunOptions { threads: 2, ..RunOptions::new(Cpu::level(isa)) };
    optc::run_pipeline(&mut module, "default", &options).unwrap_or_else(|failure| panic!("{failure}"));
    let options = CodegenOptions { cpu: Cpu::of(isa), ..CodegenOptions::new(2) };
    let made = codegen::relocatable(&module, "main", &options);
    (ir::text::print(&module), made.unwrap_or_else(|faults| panic!("{}", faults[0].message)))
}

fn callees(program: &RelocatableProgram) -> Vec<(usize, FrameCallee)> {
    program.frame.callees.clone()
}

#[test]
fn plans_frames_and_weights_are_those_of_portable_code() {
    let mut modules: Vec<Module> = (0..9).map(|seed| graph(seed).0).collect();
    modules.extend([FUNCTIONS, FLOW].map(module));
    for module in modules {
        let [(plain_plan, plain), (plan, own)] = [Isa::Scalar, Isa::Aarch64].map(|isa| program(&module, isa));
        assert_eq!(plain_plan.replace("\"portable\"", "\"aarch64\""), plan);
        assert_eq!(callees(&plain), callees(&own), "{plan}");
        // Kernels are told their instruction set, a number of 4 bytes: here it is 3 instead of 0.
        let told = |word: &i64| [0, 3, 3 << 32, 3 << 32 | 3].contains(word);
        assert_eq!(plain.frame.words.len(), own.frame.words.len(), "{plan}");
        let mut words = plain.frame.words.iter().zip(&own.frame.words);
        assert!(words.all(|(plain, own)| told(&(plain ^ own))), "{plan}");
        assert_eq!(plain.weights.as_slice(), own.weights.as_slice(), "{plan}");
        assert_eq!(plain.arena_bytes, own.arena_bytes, "{plan}");
        let names = |program: &RelocatableProgram| -> Vec<String> {
            program.images[0].functions.iter().map(|function| function.name.clone()).collect()
        };
        assert_eq!(names(&plain), names(&own), "{plan}");
    }
}

/// What `aot` makes of addresses in generated code is known for these.
#[test]
fn code_for_aarch64_has_addresses_beside_its_instructions_and_calls() {
    for seed in 0..9 {
        let (_, program) = program(&graph(seed).0, Isa::Aarch64);
        for image in &program.images {
            image.check().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
            for relocation in &image.relocations {
                let kind = relocation.kind;
                let at = relocation.offset as usize;
                let word =
                    |at: usize| u32::from_le_bytes(image.code[at..at + 4].try_into().expect("4 bytes"));
                let is_known = match kind {
                    // ldr x, 8 bytes on; b 12 bytes on
                    RelocationKind::Absolute64 => {
                        word(at - 8) & !31 == 0x5800_0040 && word(at - 4) == 0x1400_0003
                    }
                    RelocationKind::Arm64Call => word(at) == 0x9400_0000,
                    RelocationKind::Relative32 => false,
                };
                assert!(is_known, "seed {seed}: {kind:?} at {at}");
            }
        }
    }
}

#[test]
fn what_is_for_aarch64_does_not_run_elsewhere() {
    let options = options(Isa::Aarch64);
    let made = Model::compile(&mut module(FLOW), &options).map(drop);
    match (made, cfg!(target_arch = "aarch64")) {
        (Ok(()), is_here) => assert!(is_here),
        (Err(failure), is_here) => {
            let said = failure.to_string();
            assert!(!is_here && said.contains("the plan is for `aarch64`, and this machine lacks"), "{said}");
        }
    }
}

#[test]
fn an_object_file_without_its_kernels_is_refused_with_what_makes_them() {
    let foreign = if cfg!(target_arch = "aarch64") { Isa::Avx2 } else { Isa::Aarch64 };
    if architectures().any(|architecture| architecture == foreign.architecture()) {
        return;
    }
    let built = Bundle::build(&mut module(FLOW), &options(foreign), "net", WeightsPlace::File);
    let said = built.err().map(|failure| failure.to_string()).expect("there are no kernels");
    assert!(said.contains(&format!("no kernels for {}", foreign.architecture())), "{said}");
    if foreign == Isa::Aarch64 {
        assert!(said.contains("rustup target add aarch64-unknown-linux-gnu"), "{said}");
        assert!(said.contains("cargo build --release -p optc --features aarch64"), "{said}");
    }
}

#[test]
fn an_object_file_for_aarch64_is_one() {
    if architectures().all(|architecture| architecture != "aarch64") {
        return;
    }
    for seed in 0..9 {
        let place = [WeightsPlace::File, WeightsPlace::Embedded][seed as usize % 2];
        let options = CompileOptions { cpu: Cpu::of(Isa::Aarch64), ..options(Isa::Aarch64) };
        let built = Bundle::build(&mut graph(seed).0, &options, "net", place);
        let built = built.unwrap_or_else(|failure| panic!("{failure}"));
        let object = (*built.files[0].bytes).as_ref();
        // A relocatable ELF file of 64 bits, little-endian, for machine 183.
        assert_eq!(object[..6], [0x7f, b'E', b'L', b'F', 2, 1]);
        assert_eq!(object[16..20], [1, 0, 183, 0]);
    }
}

#[test]
#[cfg_attr(not(given = "OPTC_AARCH64"), ignore = "needs OPTC_AARCH64")]
fn random_graphs_give_the_same_bits_on_aarch64() {
    for seed in 0..9 {
        let (module, inputs) = graph(seed);
        let place = [WeightsPlace::File, WeightsPlace::Embedded][seed as usize % 2];
        check(&module, &inputs, Isa::Aarch64, place, &format!("seed {seed}"));
    }
    check_random_graphs(Isa::Aarch64);
}

#[test]
#[cfg_attr(not(given = "OPTC_AARCH64"), ignore = "needs OPTC_AARCH64")]
fn functions_loops_and_faults_are_the_same_on_aarch64() {
    let isa = Isa::Aarch64;
    check(&module(FUNCTIONS), &function_inputs(), isa, WeightsPlace::Embedded, "functions");
    for rounds in [0, 3] {
        let inputs = [integers("arg0", &[], &[rounds]), array("arg1", &[8], &[0.75; 8])];
        check(&module(FLOW), &inputs, isa, WeightsPlace::File, "a loop");
    }
    a_fault_is_a_status(isa);
}
