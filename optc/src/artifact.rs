//! A compiled program as a file: built once, then loaded by any number of processes, which share its pages.
//!
//! An artifact contains the program as read and as planned (IR as text), the bytes of its constants, its
//! machine code, and its weights as packed for the kernels. Loading it compiles the planned IR like any
//! other, with all checks, but takes machine code and packed weights from the file instead of producing them
//! ([`Prepared`]). So there is only one way to run a program, and the artifact's plan is the one that runs.
//!
//! ```
//! let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//!     %0 = nn.relu %x : tensor<4xf32>
//!     return %0 : tensor<4xf32>
//! }";
//! let module = optc::parse("relu.mlir", text.into(), None, &Default::default())?;
//! let path = std::env::temp_dir().join(format!("optc-doc-{}.optc", std::process::id()));
//! optc::Artifact::build(&module, &Default::default())?.write(&path)?;
//! let mut model = optc::Artifact::open(&path)?.model(&Default::default())?;
//! let outputs = model.run(&[optc::Array::f32("x", &[4], &[-1.0, 0.0, 1.0, 2.0])])?;
//! assert_eq!(outputs[0].to_f64(), [0.0, 0.0, 1.0, 2.0]);
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), optc::Failure>(())
//! ```

use std::fmt;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use codegen::{Cpu, Isa, PairUnit};
use ir::text::{Locations, PrintOptions, ResourceText, print_with};
use ir::{Blob, Dialect, Module, SharedBytes};
use runtime::MappedFile;
use serde::Serialize;

use crate::compile::{
    CompileOptions, Goal, MACHINE_CODE, Precision, Prepared, SizeOptions, compile, entry, plan_known_sizes,
};
use crate::failure::Failure;
use crate::load::{Given, named_resources, parse_stored};
use crate::model::Model;
use crate::specialize::{AllSizes, has_named_sizes};
use crate::whole_file::WholeFile;

mod format;

use format::{Contents, Header, StoredArtifact, VERSION, WatchedConstant};

pub(crate) use format::blob_hash;

/// A compiled program that can be written to a file.
pub struct BuiltArtifact {
    header: Header,
    contents: Contents,
    dialects: Vec<&'static Dialect>,
}

/// A compiled program that was read from a file.
pub struct Artifact {
    stored: StoredArtifact,
    header: Header,
    /// Its name in messages.
    name: String,
    /// Dialects besides the built-in ones.
    dialects: Vec<&'static Dialect>,
}

/// Options for loading an artifact.
#[derive(Clone, Debug, Default)]
pub struct ArtifactOptions {
    /// The number of threads that run it, at most the number that it was built for, which is the default.
    pub threads: Option<usize>,
    /// The machine code to run.
    pub code: ArtifactCode,
    /// The processor with an embedder's own kernels, if the program uses any; the instruction set is that of
    /// the artifact.
    pub cpu: Option<Cpu>,
}

/// The machine code that runs an artifact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArtifactCode {
    /// The code in the file.
    #[default]
    Stored,
    /// New code, compiled from the IR in the file for this processor.
    Recompiled,
}

/// Whether a file begins like an artifact. `-` is standard input and no file.
pub fn is_artifact(path: &Path) -> bool {
    if path == Path::new("-") {
        return false;
    }
    let mut start = [0; format::MAGIC.len()];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *format::MAGIC
}

/// Whether these are the first bytes of an artifact.
pub(crate) fn begins_artifact(bytes: &[u8]) -> bool {
    bytes.starts_with(format::MAGIC)
}

/// The build of this compiler. An artifact's machine code runs only in the build that made it, because code,
/// frames and kernels depend on each other's layouts.
pub(crate) const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("OPTC_BUILD"));

impl Artifact {
    /// Compiles a module into an artifact.
    ///
    /// # Errors
    /// All errors of the first stage that finds any.
    pub fn build(module: &Module, options: &CompileOptions) -> Result<BuiltArtifact, Failure> {
        let entry = entry(module, options.entry.as_deref())?;
        let body = module.function(&entry).expect("the entry was just found");
        let options = options.planned(&module.ctx, body);
        let mut planned = module.clone();
        let mut header = Header {
            version: VERSION,
            build: BUILD.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            cpu: options.cpu.isa().name().to_owned(),
            threads: options.threads,
            goal: options.goal.name().to_owned(),
            precision: options.precision.name().to_owned(),
            pairs: PairUnit::fastest(options.cpu.isa()).name().to_owned(),
            ..Header::default()
        };
        if has_named_sizes(&module.ctx, body) {
            let all = AllSizes::decide(&mut planned, &options)?;
            planned = all.planned()?;
            // A budget may have changed it; offsets are found for it when the artifact runs.
            header.goal = all.goal().name().to_owned();
            let names = all.symbols().iter().map(|symbol| symbol.name.clone());
            header.sizes = names.zip(all.sample().iter().copied()).collect();
        } else {
            plan_known_sizes(&mut planned, &entry, &options)?;
        }
        header.entry = entry;
        let prepared = Arc::new(Prepared::default());
        let contents = Contents {
            source: Some(text(module)),
            plan: text(&planned),
            images: Vec::new(),
            weights: Vec::new(),
            resources: named_blobs(&[module, &planned]),
        };
        // The artifact contains the result of compiling the text, because that is what loading does.
        let dialects = module.ctx.dialects();
        let resources = contents.resources.iter().cloned();
        let mut again = parse_stored("plan", contents.plan.clone(), resources, Given::All, dialects)?;
        options.begins(MACHINE_CODE)?;
        compile(&mut again, &CompileOptions { cpu: options.cpu, ..header.options(&prepared)? })?;
        let (images, weights) = (prepared.images(), prepared.weights());
        let dialects = module.ctx.dialects().collect();
        Ok(BuiltArtifact { header, contents: Contents { images, weights, ..contents }, dialects })
    }

    /// Maps an artifact's file, and checks the parts that running it needs.
    ///
    /// # Errors
    /// If it can't be read, is damaged, or was made by another version of this crate.
    pub fn open(path: &Path) -> Result<Artifact, Failure> {
        let name = path.display().to_string();
        let mapped = MappedFile::open(path);
        let mapped = mapped.map_err(|error| Failure::input(format!("{name}: {error}")))?;
        Artifact::from_bytes(&name, mapped.into_shared())
    }

    /// Reads an artifact from bytes that are aligned to 64; `name` is its name in messages.
    ///
    /// # Errors
    /// As for [`Artifact::open`].
    pub fn from_bytes(name: &str, bytes: SharedBytes) -> Result<Artifact, Failure> {
        let name = name.to_owned();
        match StoredArtifact::open(bytes) {
            Ok((stored, header)) => Ok(Artifact { stored, header, name, dialects: Vec::new() }),
            Err(why) => Err(Failure::input(format!("{name} is no artifact of this version: {why}"))),
        }
    }

    /// The same artifact, whose program may have operations of these dialects.
    #[must_use]
    pub fn with_dialects(mut self, dialects: &[&'static Dialect]) -> Artifact {
        self.dialects.extend_from_slice(dialects);
        self
    }

    /// The named sizes of the program, each with its sample value, for which code was made first.
    pub fn sizes(&self) -> &[(String, u64)] {
        &self.header.sizes
    }

    /// The maximum number of threads.
    pub fn threads(&self) -> usize {
        self.header.threads
    }

    /// The options that it was built with, as far as a file keeps them.
    ///
    /// # Errors
    /// If it is damaged.
    #[cfg(feature = "cli")]
    pub(crate) fn built_options(&self) -> Result<CompileOptions, Failure> {
        self.header.options(&Arc::default())
    }

    /// The name of the entry function.
    pub fn entry(&self) -> &str {
        &self.header.entry
    }

    /// The processor that it was compiled for, as in `--target-cpu`.
    pub fn cpu(&self) -> &str {
        &self.header.cpu
    }

    /// The planned program. In a stripped artifact it lacks constants that running does not need.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn plan(&self) -> Result<Module, Failure> {
        self.module(&self.header.plan, "its plan")
    }

    /// The program as read.
    ///
    /// # Errors
    /// If it is damaged, or was left out.
    pub fn source(&self) -> Result<Module, Failure> {
        let source = self.header.source.as_ref().ok_or_else(|| {
            self.fault(
                "the program's source was left out, so it can't be compiled again (`optc build` without \
                 `--strip` keeps it)",
            )
        })?;
        self.module(source, "its source")
    }

    /// The program with options for [`crate::compile()`] that reuse the contents of the file.
    ///
    /// # Errors
    /// If the file is damaged; for stored machine code, also if another build of this crate made it, or this
    /// processor lacks instructions.
    pub fn program(&self, options: &ArtifactOptions) -> Result<(Module, CompileOptions), Failure> {
        let threads = options.threads.unwrap_or(self.header.threads);
        if options.code == ArtifactCode::Recompiled {
            let compile = self.header.options(&Arc::default())?;
            let cpu = options.cpu.unwrap_or(compile.cpu);
            return Ok((self.source()?, CompileOptions { cpu, prepared: None, threads, ..compile }));
        }
        self.runs_here()?;
        let damaged = |why: String| self.fault(&why);
        let images = self.stored.images(&self.header).map_err(damaged)?;
        let weights = self.stored.weights(&self.header).map_err(damaged)?;
        let prepared = Arc::new(Prepared::of(images, weights));
        let compile = self.header.options(&prepared)?;
        Ok((self.plan()?, CompileOptions { cpu: options.cpu.unwrap_or(compile.cpu), ..compile }))
    }

    /// The program, ready to run.
    ///
    /// # Errors
    /// As for [`Artifact::program`].
    pub fn model(&self, options: &ArtifactOptions) -> Result<Model, Failure> {
        let (mut module, compile) = self.program(options)?;
        let threads = options.threads.unwrap_or(self.header.threads).min(self.header.threads);
        Model::compile_for(&mut module, &compile, threads)
    }

    /// Checks that this process can run its machine code.
    fn runs_here(&self) -> Result<(), Failure> {
        let Header { build, architecture, cpu, pairs, .. } = &self.header;
        let here = std::env::consts::ARCH;
        let why = if architecture != here {
            format!("it is for {architecture}, and this is {here}")
        } else if build != BUILD {
            format!("it was built by optc {build}, and this is {BUILD}")
        } else {
            match Isa::named(cpu).map(Isa::missing) {
                Some(None) if self.multiplies_pairs_here() => return Ok(()),
                Some(None) => format!(
                    "it multiplies bf16 by {pairs}, and this machine by {}",
                    self.pairs_here().unwrap_or_default()
                ),
                Some(Some(feature)) => format!("it is for `{cpu}`, and this machine lacks {feature}"),
                None => format!("it is for `{cpu}`, which is no processor that is known here"),
            }
        };
        let help = if self.header.source.is_some() { "; `--recompile` compiles the IR inside" } else { "" };
        Err(self.fault(&format!("its machine code can't run: {why}{help}")))
    }

    /// Whether this machine multiplies pairs of `bf16` as the one that made it, if that matters: kernels are
    /// chosen again, and their scratch and packed weights must be the same.
    fn multiplies_pairs_here(&self) -> bool {
        let Header { precision, pairs, .. } = &self.header;
        precision != Precision::Bf16.name() || self.pairs_here() == Some(pairs)
    }

    /// What multiplies pairs of `bf16` on this machine.
    fn pairs_here(&self) -> Option<&'static str> {
        Isa::named(&self.header.cpu).map(|isa| PairUnit::fastest(isa).name())
    }

    fn module(&self, section: &format::FileSection, what: &str) -> Result<Module, Failure> {
        let resources = self.stored.resources(&self.header).map_err(|why| self.fault(&why))?;
        let text = self.stored.section(section, what).map_err(|why| self.fault(&why))?;
        let text = std::str::from_utf8(text).map_err(|_| self.fault("its IR is not UTF-8"))?;
        let given = if self.header.source.is_some() { Given::All } else { Given::Some };
        let dialects = self.dialects.iter().copied();
        parse_stored(&self.name, text.to_owned(), resources.into_iter(), given, dialects)
    }

    fn fault(&self, why: &str) -> Failure {
        Failure::input(format!("{}: {why}", self.name))
    }
}

/// A description of an artifact's contents. It is displayed as a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArtifactSummary<'a> {
    /// The instructions that its machine code uses: a value of `--target-cpu`.
    pub cpu: &'a str,
    /// The maximum number of threads.
    pub threads: usize,
    /// Bytes of machine code.
    pub code_bytes: usize,
    /// Bytes of weights, packed for the kernels.
    pub weights_bytes: usize,
    /// Bytes of constants of the program's text.
    pub constants_bytes: usize,
}

impl fmt::Display for ArtifactSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ArtifactSummary { cpu, threads, code_bytes, weights_bytes, constants_bytes } = self;
        let threads = if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        write!(f, "for {cpu} and {threads}; machine code {code_bytes} bytes, ")?;
        write!(f, "packed weights {weights_bytes}, constants {constants_bytes}")
    }
}

impl BuiltArtifact {
    /// A description of the contents.
    pub fn summary(&self) -> ArtifactSummary<'_> {
        let Contents { images, weights, resources, .. } = &self.contents;
        ArtifactSummary {
            cpu: &self.header.cpu,
            threads: self.header.threads,
            code_bytes: images.iter().map(|(_, image)| image.code.len()).sum(),
            weights_bytes: weights.iter().map(|weight| weight.bytes().len()).sum(),
            constants_bytes: resources.iter().map(|(_, blob)| blob.len_bytes()).sum(),
        }
    }

    /// The program with options for [`crate::compile()`] that reuse these contents.
    ///
    /// # Errors
    /// As for [`Artifact::program`].
    pub fn program(&self) -> Result<(Module, CompileOptions), Failure> {
        let Contents { plan, images, weights, resources, .. } = &self.contents;
        let given = if self.contents.source.is_some() { Given::All } else { Given::Some };
        let dialects = self.dialects.iter().copied();
        let module = parse_stored("plan", plan.clone(), resources.iter().cloned(), given, dialects)?;
        let prepared = Arc::new(Prepared::of(images.clone(), weights.clone()));
        Ok((module, self.header.options(&prepared)?))
    }

    /// A stripped artifact: without the program as read, and without constants that neither loading nor
    /// running reads, most of which exist as packed weights. It can't be compiled again, for another
    /// processor or by another build. With named sizes all constants of the plan are kept, since a size may
    /// need another packing.
    ///
    /// # Errors
    /// If the artifact can't be loaded.
    pub fn without_source(mut self) -> Result<BuiltArtifact, Failure> {
        let watched = |(name, blob): (String, Blob)| {
            (name, Arc::new(WatchedConstant { blob, was_read: AtomicBool::new(false) }))
        };
        let watched: Vec<_> = self.contents.resources.drain(..).map(watched).collect();
        let blob =
            |(name, constant): &(String, Arc<WatchedConstant>)| (name.clone(), Blob::Lazy(constant.clone()));
        self.contents.resources = watched.iter().map(blob).collect();
        let (mut module, options) = self.program()?;
        let named = named_resources(&module);
        compile(&mut module, &options)?;
        let is_sized = !self.header.sizes.is_empty();
        let is_needed = |(name, constant): &(String, Arc<WatchedConstant>)| {
            named.contains(name) && (is_sized || constant.was_read.load(Ordering::Relaxed))
        };
        let kept = watched.into_iter().filter(is_needed);
        self.contents.resources = kept.map(|(name, constant)| (name, constant.blob.clone())).collect();
        self.contents.source = None;
        Ok(self)
    }

    /// Writes the artifact to a file, atomically: readers see the old file or the complete new one.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        self.replace(path).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
    }

    fn replace(&self, path: &Path) -> io::Result<()> {
        let mut file = WholeFile::create(path)?;
        self.write_to(&mut BufWriter::new(&mut file))?;
        file.sync()?;
        file.finish()
    }

    /// Writes the artifact's bytes.
    ///
    /// # Errors
    /// If writing to `to` fails.
    pub fn write_to(&self, to: &mut dyn Write) -> io::Result<()> {
        format::write(&self.header, &self.contents, to)
    }
}

impl Header {
    /// The options for compiling the planned program with its prepared code and weights.
    fn options(&self, prepared: &Arc<Prepared>) -> Result<CompileOptions, Failure> {
        let goal = Goal::named(&self.goal);
        let goal = goal.ok_or_else(|| Failure::input(format!("`{}` is no goal", self.goal)))?;
        let precision = Precision::named(&self.precision);
        let precision =
            precision.ok_or_else(|| Failure::input(format!("`{}` is no precision", self.precision)))?;
        Ok(CompileOptions {
            threads: self.threads,
            entry: Some(self.entry.clone()),
            goal,
            precision,
            sizes: SizeOptions { sample: self.sizes.clone(), ..SizeOptions::default() },
            prepared: Some(prepared.clone()),
            ..CompileOptions::default()
        })
    }
}

/// A module's text with the names of its values and without the bytes of its resources.
pub(crate) fn text(module: &Module) -> String {
    let options = PrintOptions {
        locations: Locations::Named,
        resources: ResourceText::Omitted,
        ..PrintOptions::default()
    };
    print_with(module, &options)
}

/// The resources named in modules of one context.
pub(crate) fn named_blobs(modules: &[&Module]) -> Vec<(String, Blob)> {
    let mut names = indexmap::IndexSet::new();
    modules.iter().for_each(|module| names.extend(named_resources(module)));
    let ctx = &modules[0].ctx;
    let resource = |name: String| Some((name.clone(), ctx.blob(ctx.ident(&name))?));
    names.into_iter().filter_map(resource).collect()
}

#[cfg(test)]
mod tests;
