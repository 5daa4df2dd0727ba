//! `optc --passes=... FILE`: run passes and print the IR.

use std::path::PathBuf;

use clap::Args;

use super::{FileArgs, write_output};
use crate::failure::Failure;
use crate::load::{load, read_text};
use crate::opt::{OptArgs, Setup, Source};

/// Run passes over a program and print it.
#[derive(Args)]
pub(super) struct PassesArgs {
    #[command(flatten)]
    file: Option<FileArgs>,
    /// Write the output to a file.
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    opt: OptArgs,
}

pub(super) fn run(args: &PassesArgs) -> Result<(), Failure> {
    let setup = Setup { threads: runtime::available_threads().clamp(1, 2), ..Setup::default() };
    let printed = match &args.file {
        _ if args.opt.print_pipeline => setup.pipeline_text(&args.opt)?,
        None => return Err(Failure::Usage("a file is required".to_owned())),
        Some(file) => transformed(&setup, &args.opt, file)?,
    };
    write_output(&printed, args.output.as_ref())
}

fn transformed(setup: &Setup<'_>, args: &OptArgs, file: &FileArgs) -> Result<String, Failure> {
    let say = |text: &str| eprint!("{text}");
    if file.file.extension().is_some_and(|extension| extension == "onnx") {
        let mut module = load(&file.file, &file.options())?;
        return setup.opt_module(args, &mut module, &say);
    }
    let (name, text) = read_text(&file.file)?;
    let source =
        Source { name: &name, text: &text, path: Some(&file.file), stripped: file.options().stripped };
    setup.opt_text(args, &source, &say)
}
