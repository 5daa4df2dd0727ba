//! The source of a program that a verb runs: a file to compile, or an artifact.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use codegen::Cpu;
use import::onnx::declared::DeclaredSizes;
use ir::Module;
use ir::memory_pools::parse_bytes;

use super::compiled::{BUILT_ONCE, CompileArgs};
use super::inputs::{InputArgs, RunInputs, fix_sizes, sample};
use super::{FileArgs, MachineArgs, progress};
use crate::artifact::{Artifact, ArtifactCode, ArtifactOptions, is_artifact};
use crate::cache::{Cache, MOST_BYTES};
use crate::compile::{CompileOptions, DeadMemory, StepTimes, entry};
use crate::failure::Failure;
use crate::load::load;
use crate::model::Model;
use crate::opt::Setup;
use crate::specialize::has_named_sizes;

/// How a program that was compiled before is used.
#[derive(Args, Clone)]
pub(super) struct ArtifactArgs {
    /// Compile the IR inside an artifact again, for this CPU, instead of running its machine code.
    #[arg(long)]
    recompile: bool,
    /// Keep compiled programs in this folder, and reuse them.
    #[arg(long, value_name = "DIR", env = "OPTC_CACHE")]
    cache: Option<PathBuf>,
    /// Maximum size of the cache, also given as `4GiB`; programs that were not used for the longest time are
    /// removed.
    #[arg(long, value_name = "BYTES", default_value_t = MOST_BYTES, value_parser = parse_bytes)]
    cache_limit: u64,
}

/// The arguments about a program.
pub(super) struct ProgramSource<'a> {
    pub(super) setup: &'a Setup,
    pub(super) file: &'a FileArgs,
    pub(super) inputs: &'a InputArgs,
    pub(super) compile: &'a CompileArgs,
    /// Declarations about a model's sizes and inputs, in addition to the options.
    pub(super) said: &'a DeclaredSizes,
}

/// A program to be compiled or loaded.
pub(super) struct SourceProgram {
    pub(super) module: Module,
    pub(super) entry: String,
    /// The threads that run it.
    pub(super) threads: usize,
    options: CompileOptions,
    /// The cache for the compiled program.
    cache: Option<Cache>,
    /// The time of reading an artifact, which is part of loading it; zero for compiled programs.
    pub(super) read: Duration,
}

impl ProgramSource<'_> {
    /// The program, with the treatment `dead` of dead memory.
    pub(super) fn program(&self, args: &ArtifactArgs, dead: DeadMemory) -> Result<SourceProgram, Failure> {
        let path = &self.file.file;
        if is_artifact(path) {
            let start = Instant::now();
            let artifact = Artifact::open(path)?.with_dialects(&self.setup.dialects);
            let program = self.artifact(&artifact, args, dead)?;
            return Ok(SourceProgram { read: start.elapsed(), ..program });
        }
        if args.recompile {
            return Err(Failure::Usage("--recompile is for artifacts, which `optc build` writes".to_owned()));
        }
        progress::say("loading");
        let mut options = self.file.options(self.setup)?;
        options.sizes.items = self.inputs.items(path);
        for (name, size) in &self.said.values {
            options.sizes.values.entry(name.clone()).or_insert(*size);
        }
        options.sizes.constants.clone_from(&self.said.constants);
        let module = load(path, &options)?;
        let entry = entry(&module, self.compile.entry.as_deref())?;
        let options = self.compile.options(self.setup, &entry, dead)?;
        let cache = args.cache.as_ref().map(|folder| Cache::open(folder, args.cache_limit)).transpose()?;
        let (threads, read) = (self.compile.machine.threads, Duration::ZERO);
        Ok(SourceProgram { module, entry, threads, options, cache, read })
    }

    /// The program in an artifact. Decisions made when it was built are fixed.
    fn artifact(
        &self,
        artifact: &Artifact,
        args: &ArtifactArgs,
        dead: DeadMemory,
    ) -> Result<SourceProgram, Failure> {
        if self.file.says_sizes() || self.compile.memory.has_budget() {
            return Err(Failure::Usage(BUILT_ONCE.to_owned()));
        }
        let MachineArgs { threads, target_cpu } = self.compile.machine;
        let (code, threads) = if args.recompile {
            (ArtifactCode::Recompiled, threads)
        } else {
            (ArtifactCode::Stored, threads.min(artifact.threads()))
        };
        self.compile.check_built(artifact, code)?;
        let cpu = Some(self.setup.cpu_of(target_cpu));
        let how = ArtifactOptions { threads: Some(threads), code, cpu };
        let (module, options) = artifact.program(&how)?;
        let options = CompileOptions { dead, ..options };
        let entry = artifact.entry().to_owned();
        Ok(SourceProgram { module, entry, threads, options, cache: None, read: Duration::ZERO })
    }
}

impl SourceProgram {
    /// Whether sizes of its inputs are named.
    pub(super) fn has_named_sizes(&self) -> bool {
        let body = self.module.function(&self.entry);
        body.is_some_and(|body| has_named_sizes(&self.module.ctx, body))
    }

    /// Replaces named sizes by those of the inputs.
    pub(super) fn fix_sizes(&mut self, cases: &[RunInputs]) -> Result<(), Failure> {
        self.options.prepared = None;
        fix_sizes(&mut self.module, cases)
    }

    /// The program, ready to run; if it is compiled now, code is made first for the sizes of these inputs.
    pub(super) fn compile(&mut self, cases: &[RunInputs]) -> Result<Model, Failure> {
        if self.options.prepared.is_none() {
            self.options.sizes = sample(cases);
        }
        if let Some(cache) = &self.cache {
            let (module, options) = cache.program(&self.module, &self.options)?;
            self.module = module;
            self.options = CompileOptions { dead: self.options.dead, ..options };
        }
        Model::compile_for(&mut self.module, &self.options, self.threads)
    }

    /// Makes its code record the times of steps. Such code is not cached.
    pub(super) fn time_steps(&mut self) {
        self.options.steps = StepTimes::Stamped;
        self.cache = None;
    }

    /// The processor that it is compiled for.
    pub(super) fn cpu(&self) -> Cpu {
        self.options.cpu
    }

    /// The kind of preparation before its first run.
    pub(super) fn made(&self) -> &'static str {
        match &self.options.prepared {
            Some(prepared) if prepared.missed() == Default::default() => "loaded",
            _ => "compiled",
        }
    }
}
