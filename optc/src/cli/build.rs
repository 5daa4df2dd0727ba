//! `optc build`: a compiled program as a file.

use std::path::PathBuf;

use clap::Args;

use super::{FileArgs, MachineArgs, MemoryArgs, write_output};
use crate::artifact::Artifact;
use crate::compile::{DeadMemory, entry};
use crate::failure::Failure;
use crate::load::load;

/// Compile a program into a file that runs without compiling again.
///
/// `optc run`, `bench`, `plan` and `explain` take that file in place of the program.
#[derive(Args)]
pub(super) struct BuildArgs {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    memory: MemoryArgs,
    /// The file to write: an artifact of machine code, packed weights, plan and IR.
    #[arg(short, long, value_name = "M.optc")]
    output: PathBuf,
    /// Function to compile [default: the only public one, else `main`].
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
}

pub(super) fn run(args: &BuildArgs) -> Result<(), Failure> {
    let module = load(&args.file.file, &args.file.options()?)?;
    let entry = entry(&module, args.entry.as_deref())?;
    let options = args.memory.options(&args.machine, &entry, DeadMemory::Kept);
    let built = Artifact::build(&module, &options)?;
    built.write(&args.output)?;
    write_output(&format!("{}: {}\n", args.output.display(), built.summary()), None)
}
