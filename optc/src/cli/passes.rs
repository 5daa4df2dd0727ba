//! `optc --passes=... FILE`: run passes and print the IR.

use std::path::{Path, PathBuf};

use clap::Args;

use super::limits::LimitArgs;
use super::output::Output;
use super::{FileArgs, progress, write_output};
use crate::artifact::is_artifact;
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
    /// Re-run the crash file that `--reproducer` wrote.
    #[arg(long, value_name = "CRASH", conflicts_with_all = ["file", "passes", "threads"])]
    replay: Option<PathBuf>,
    #[command(flatten)]
    opt: OptArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(super) fn run(setup: &Setup, args: &PassesArgs) -> Result<(), Failure> {
    let say = progress::print_error;
    let _limits = args.limits.hold()?;
    if let Some(crash) = &args.replay {
        return replay(setup, &args.opt, crash, args.output.as_ref());
    }
    let file = match &args.file {
        _ if args.opt.print_pipeline => {
            return write_output(&setup.pipeline_text(&args.opt)?, args.output.as_ref());
        }
        None => return Err(Failure::Usage("a file is required".to_owned())),
        Some(file) => file,
    };
    let mut output = Output::to(args.output.as_ref());
    let options = file.options(setup)?;
    let is_model = file.file.extension().is_some_and(|extension| extension == "onnx");
    let done = if is_model || is_artifact(&file.file) || file.says_sizes() {
        let mut module = load(&file.file, &options)?;
        setup.opt_module(&args.opt, &mut module, &say, &mut output)
    } else {
        let (name, text) = read_text(&file.file)?;
        let path = Some(file.file.as_path());
        let stripped = options.stripped;
        setup.opt(&args.opt, Source { name: &name, text: text.into(), path, stripped }, &say, &mut output)
    };
    output.finish(done)
}

/// Runs the pipeline of a reproducer on its program.
pub(super) fn replay(
    setup: &Setup,
    args: &OptArgs,
    crash: &Path,
    output: Option<&PathBuf>,
) -> Result<(), Failure> {
    let (name, text) = read_text(crash)?;
    let mut output = Output::to(output);
    let source = Source { path: Some(crash), ..Source::new(&name, &text) };
    let done = setup.replay(args, source, &progress::print_error, &mut output);
    output.finish(done)
}
