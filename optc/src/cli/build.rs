//! `optc build`: a compiled program as a file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::compiled::CompileArgs;
use super::output::{check_writable, instead, is_stdout, json};
use super::{FileArgs, progress, write_content, write_output};
use crate::artifact::{Artifact, ArtifactSummary};
use crate::compile::{DeadMemory, entry};
use crate::failure::Failure;
use crate::opt::Setup;

/// Compile a program into a file that runs without compiling again.
///
/// `optc run`, `bench`, `plan` and `explain` accept that file in place of the program.
#[derive(Args)]
pub(super) struct BuildArgs {
    #[command(flatten)]
    file: FileArgs,
    #[command(flatten)]
    compile: CompileArgs,
    /// What to write: an artifact (a file of machine code, packed weights, plan and IR), or an object file
    /// for C with its header, weights, an example and a description, into a folder. `optc doctor` lists the
    /// architectures for which there are object files.
    #[arg(long, value_name = "KIND", default_value = "artifact")]
    emit: Emit,
    /// The artifact's file (`-` for standard output), or the object file's folder.
    #[arg(short, long, value_name = "M.optc|FOLDER")]
    output: PathBuf,
    /// Make the artifact smaller: leave out the program as it was read, and constants that are stored as
    /// packed weights. It can then not be compiled again (`--recompile`). A large network's file is half as
    /// large.
    #[arg(long)]
    strip: bool,
    /// Put the weights into the object file instead of a file of their own.
    #[arg(long)]
    embed_weights: bool,
    /// Prefix of the names of the object file's functions [default: the name of the file].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Write a description of the artifact as JSON to a file; `-` prints it instead of the text. An object
    /// file always has a description in its folder.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
}

/// What `--json` writes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct BuildReport<'a> {
    version: u32,
    #[serde(flatten)]
    artifact: ArtifactSummary<'a>,
}

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    Artifact,
    Obj,
}

pub(super) fn run(setup: &Setup, args: &BuildArgs) -> Result<(), Failure> {
    check_writable(&args.json)?;
    if args.emit == Emit::Obj && args.json.is_some() {
        return Err(Failure::Usage(
            "--json is for artifacts: the folder of an object file has one".to_owned(),
        ));
    }
    if args.emit == Emit::Obj && args.strip {
        return Err(Failure::Usage("--strip is for artifacts: an object file has no source".to_owned()));
    }
    let is_printed = is_stdout(&args.output);
    if args.emit == Emit::Obj && is_printed {
        return Err(Failure::Usage("an object file is written into a folder: -o FOLDER".to_owned()));
    }
    if is_printed && args.json.as_ref().is_some_and(|path| is_stdout(path)) {
        return Err(Failure::Usage("-o and --json can't both go to standard output".to_owned()));
    }
    if args.emit == Emit::Obj {
        return write_object(setup, args);
    }
    if args.embed_weights || args.name.is_some() {
        return Err(Failure::Usage("--embed-weights and --name are for --emit=obj".to_owned()));
    }
    let limits = args.compile.limits.hold()?;
    progress::say("loading");
    let module = args.compile.load(&args.file.file, &args.file.options(setup)?)?;
    let entry = entry(&module, args.compile.entry.as_deref())?;
    let options = args.compile.options(setup, &entry, DeadMemory::Kept)?;
    let mut built = Artifact::build(&module, &options)?;
    if args.strip {
        built = built.without_source()?;
    }
    drop(limits);
    progress::say("writing");
    if is_printed {
        let mut bytes = Vec::new();
        built.write_to(&mut bytes).map_err(|error| Failure::input(error.to_string()))?;
        write_content(&bytes, None)?;
    } else {
        built.write(&args.output)?;
    }
    let report = BuildReport { version: 1, artifact: built.summary() };
    let text = format!("{}: {}\n", args.output.display(), built.summary());
    let said = instead(&args.json, || json(&report), text)?;
    if is_printed {
        progress::print_error(&said);
        return Ok(());
    }
    write_output(&said, None)
}

#[cfg(feature = "aot")]
fn write_object(setup: &Setup, args: &BuildArgs) -> Result<(), Failure> {
    use crate::bundle::{Bundle, WeightsPlace};

    let limits = args.compile.limits.hold()?;
    progress::say("loading");
    let mut module = args.compile.load(&args.file.file, &args.file.options(setup)?)?;
    let entry = entry(&module, args.compile.entry.as_deref())?;
    let options = args.compile.options(setup, &entry, DeadMemory::Kept)?;
    let place = if args.embed_weights { WeightsPlace::Embedded } else { WeightsPlace::File };
    let stem = args.file.file.file_stem().map_or("model".into(), |stem| stem.to_string_lossy());
    let name = args.name.as_deref().unwrap_or(&stem);
    let bundle = Bundle::build(&mut module, &options, name, place)?;
    drop(limits);
    progress::say("writing");
    bundle.write(&args.output)?;
    write_output(bundle.summary(), None)
}

#[cfg(not(feature = "aot"))]
fn write_object(_: &Setup, _: &BuildArgs) -> Result<(), Failure> {
    Err(Failure::Usage("this optc was built without the feature `aot`".to_owned()))
}
