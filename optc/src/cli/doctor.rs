//! `optc doctor`: the machine as optc detects it, and the resulting choices.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use codegen::Isa;
use serde::Serialize;

use super::output::{instead, json};
use super::write_output;
use crate::artifact::BUILD;
use crate::failure::Failure;

/// Print the CPU, threads and memory that optc detects, and what it chooses for them.
#[derive(Args)]
pub(super) struct DoctorArgs {
    /// Write this as JSON to a file; `-` prints it.
    #[arg(long, value_name = "F.json")]
    json: Option<PathBuf>,
}

/// What was found.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Findings {
    version: u32,
    build: &'static str,
    /// The processor's name, from the system.
    cpu: Option<String>,
    /// The architecture and the features that decide between kernels.
    features: String,
    /// The value of `--target-cpu=native`.
    target_cpu: &'static str,
    /// The first feature that is missing for a wider one.
    lacks: Option<&'static str>,
    /// The architectures for which `optc build --emit=obj` makes object files.
    object_files: Vec<&'static str>,
    /// The number of threads that the system allots to the process.
    available_threads: usize,
    /// The default of `--threads`.
    threads: usize,
    /// The system's setting for huge pages: `always`, `madvise` or `never`.
    huge_pages: Option<String>,
    /// The memory limit of the control group, in bytes, if there is one.
    memory_limit_bytes: Option<u64>,
    /// Where compiled programs are kept.
    cache: Option<PathBuf>,
}

impl Findings {
    fn here() -> Findings {
        let isa = Isa::detect();
        let available_threads = runtime::available_threads();
        let is_wider = |wider: &Isa| *wider as u32 > isa as u32 && wider.architecture() == isa.architecture();
        let wider = Isa::ALL.into_iter().find(is_wider);
        Findings {
            version: 1,
            build: BUILD,
            cpu: line_after("/proc/cpuinfo", "model name"),
            features: runtime::cpu_features(),
            target_cpu: isa.name(),
            lacks: wider.and_then(Isa::missing),
            object_files: object_files(),
            available_threads,
            threads: available_threads.clamp(1, 2),
            huge_pages: huge_pages(),
            memory_limit_bytes: read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse().ok()),
            cache: std::env::var_os("OPTC_CACHE").map(PathBuf::from),
        }
    }

    /// Each finding with its consequence.
    fn text(&self) -> String {
        let Findings { build, features, target_cpu, available_threads, threads, .. } = self;
        let mut text = format!("optc {build}\n");
        let mut line = |what: &str, found: String| text += &format!("{what:<14}{found}\n");
        line("CPU", self.cpu.clone().unwrap_or_else(|| "not named by the system".to_owned()));
        line("features", features.clone());
        let wider = match self.lacks {
            Some(lacks) => format!(" (the next wider needs {lacks})"),
            None => String::new(),
        };
        line("--target-cpu", format!("{target_cpu}: the widest instruction set that kernels have{wider}"));
        line(
            "--emit=obj",
            match &*self.object_files {
                [] => "none: this optc was built without the feature `aot`".to_owned(),
                architectures if architectures.contains(&"aarch64") => architectures.join(", "),
                architectures => {
                    format!("{}: for aarch64 it must be built with that feature", architectures.join(", "))
                }
            },
        );
        line("--threads", format!("{threads} of {available_threads}: use --threads for more"));
        line(
            "huge pages",
            match self.huge_pages.as_deref() {
                Some("never") => "never: large arenas and weights take longer to reach".to_owned(),
                Some(mode) => format!("{mode}: arenas and weights of 2 MiB or more ask for them"),
                None => "not known by the system".to_owned(),
            },
        );
        line(
            "memory",
            match self.memory_limit_bytes {
                Some(bytes) => format!("at most {bytes} bytes"),
                None => "no limit by a control group".to_owned(),
            },
        );
        line(
            "cache",
            match &self.cache {
                Some(folder) => folder.display().to_string(),
                None => "none: `--cache=DIR` or OPTC_CACHE keeps compiled programs".to_owned(),
            },
        );
        text
    }
}

#[cfg(feature = "aot")]
fn object_files() -> Vec<&'static str> {
    crate::bundle::architectures().collect()
}

#[cfg(not(feature = "aot"))]
fn object_files() -> Vec<&'static str> {
    Vec::new()
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The text after a key and a colon in a file.
fn line_after(path: &str, key: &str) -> Option<String> {
    let text = read(path)?;
    let (_, found) =
        text.lines().filter_map(|line| line.split_once(':')).find(|line| line.0.trim() == key)?;
    Some(found.trim().to_owned())
}

/// The word in brackets among the system's choices.
fn huge_pages() -> Option<String> {
    let text = read("/sys/kernel/mm/transparent_hugepage/enabled")?;
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

pub(super) fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let findings = Findings::here();
    write_output(&instead(&args.json, || json(&findings), findings.text())?, None)
}
