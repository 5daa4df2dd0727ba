//! The lit runner: that passes do what the files in `lit-tests` say.

use std::path::Path;
use std::process::ExitCode;

use codegen::{Cpu, Isa};
use libtest_mimic::{Arguments, Failed, Trial};
use optc::lit::{LitMode, files, run_file};
use optc::opt::Setup;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lit-tests");
    let (mode, files) = match (LitMode::from_environment(), files(&root)) {
        (Ok(mode), Ok(files)) => (mode, files),
        (Err(fault), _) | (_, Err(fault)) => {
            eprintln!("{fault}");
            return ExitCode::FAILURE;
        }
    };
    let trials = files.into_iter().map(|path| {
        let name = path.strip_prefix(&root).unwrap_or(&path).with_extension("").display().to_string();
        Trial::test(name, move || run(&path, mode))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn run(path: &Path, mode: LitMode) -> Result<(), Failed> {
    // A fixed CPU, so that the output is the same on every machine.
    let setup = Setup { cpu: Cpu::of(Isa::Avx2), ..Setup::default() };
    run_file(&setup, path, mode).map_err(Failed::from)
}
