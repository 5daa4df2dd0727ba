//! A cache of compiled programs in a folder.
//!
//! Each program is an artifact ([`crate::artifact`]), named by a hash of everything that determines it: the
//! program with the bytes of its constants, the options, and the build of the compiler. Any number of
//! processes may use a folder at once, and may end at any moment: a file appears in it as a whole, by
//! renaming. An embedder's own kernels are identified by their names.

use std::fs::{self, DirBuilder, File, Metadata};
use std::hash::Hasher;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ir::Module;
use twox_hash::XxHash3_64;

use crate::artifact::{Artifact, ArtifactOptions, BUILD, blob_hash, named_blobs, text};
use crate::compile::{CompileOptions, entry};
use crate::failure::Failure;

/// A folder of compiled programs.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    most_bytes: u64,
}

/// The default limit of a cache's size in bytes.
pub const MOST_BYTES: u64 = 4 << 30;

/// The suffix of a program's file name, after its hash.
const SUFFIX: &str = "optc";

/// An unfinished file of this age was left by a process that ended.
const ABANDONED: Duration = Duration::from_secs(3600);

impl Cache {
    /// Opens the cache in a folder, which is created if necessary. Above about `most_bytes` bytes, the least
    /// recently used programs are removed.
    ///
    /// # Errors
    /// If it can't be created, if its owner is not the user of this process, or if others can write to it:
    /// they could have their machine code run.
    pub fn open(folder: &Path, most_bytes: u64) -> Result<Cache, Failure> {
        let name = folder.display();
        let fault = |error: std::io::Error| Failure::input(format!("the cache {name}: {error}"));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(fault)?;
        let metadata = fs::metadata(folder).map_err(fault)?;
        let own = fs::metadata("/proc/self").map_err(fault)?.uid();
        if metadata.mode() & 0o022 != 0 || metadata.uid() != own {
            return Err(Failure::input(format!(
                "the cache {name} can be written to by others, expected a folder of this user alone \
                 (mode 700)"
            )));
        }
        Ok(Cache { folder: folder.to_owned(), most_bytes })
    }

    /// The planned module, with options to compile it from the cache. A program that is not in the cache is
    /// compiled and added.
    ///
    /// # Errors
    /// All errors of the first stage that finds any; if the folder can't be written to.
    pub fn program(
        &self,
        module: &Module,
        options: &CompileOptions,
    ) -> Result<(Module, CompileOptions), Failure> {
        let path = self.folder.join(format!("{}.{SUFFIX}", key(module, options)?));
        let dialects: Vec<_> = module.ctx.dialects().collect();
        let how = ArtifactOptions { cpu: Some(options.cpu), ..ArtifactOptions::default() };
        let load = || Artifact::open(&path)?.with_dialects(&dialects).program(&how);
        if let Ok(found) = load() {
            // Marks the file as used now; if that fails, it is removed sooner.
            let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
            return Ok(found);
        }
        // Only this build on this processor finds it, so its source is not needed.
        let built = Artifact::build(module, options)?.without_source()?;
        built.write(&path)?;
        self.make_room(&path);
        // When mapped, it shares its pages with other processes; but one of them may have removed it.
        load().or_else(|_| {
            let (module, compile) = built.program()?;
            Ok((module, CompileOptions { cpu: options.cpu, ..compile }))
        })
    }

    /// Removes the least recently used programs, except `newest`, until the rest fits; also files left by
    /// processes that ended. A file in use stays readable for its users.
    fn make_room(&self, newest: &Path) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let files = entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)));
        let files: Vec<(PathBuf, Metadata)> = files.filter(|(_, metadata)| metadata.is_file()).collect();
        let used = |metadata: &Metadata| metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let (mut kept, begun): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|(path, _)| path.extension().is_some_and(|found| found == SUFFIX));
        for (path, metadata) in begun {
            let is_ours = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".optc-"));
            let age = used(&metadata).elapsed().unwrap_or_default();
            if is_ours && age > ABANDONED {
                let _ = fs::remove_file(&path);
            }
        }
        kept.sort_by_key(|(_, metadata)| used(metadata));
        let mut bytes: u64 = kept.iter().map(|(_, metadata)| metadata.len()).sum();
        for (path, metadata) in kept.iter().filter(|(path, _)| path != newest) {
            if bytes <= self.most_bytes {
                break;
            }
            // Another process may have removed it.
            let _ = fs::remove_file(path);
            bytes -= metadata.len();
        }
    }
}

/// A name derived from everything that determines the compiled module.
fn key(module: &Module, options: &CompileOptions) -> Result<String, Failure> {
    let CompileOptions { cpu, threads, donated, goal, precision, budget_bytes, pools, sizes, .. } = options;
    let entry = entry(module, options.entry.as_deref())?;
    let decided = (cpu, threads, donated, goal, precision, budget_bytes, pools, sizes, entry);
    let machine = (std::env::consts::ARCH, codegen::PairUnit::fastest(cpu.isa()));
    let said = format!("{BUILD} {decided:?} {machine:?}\n{}", text(module));
    let mut hashers = [XxHash3_64::with_seed(0), XxHash3_64::with_seed(1)];
    for (name, blob) in named_blobs(&[module]) {
        hashers[0].write(name.as_bytes());
        hashers[0].write_u64(blob_hash(&blob));
    }
    hashers.iter_mut().for_each(|hasher| hasher.write(said.as_bytes()));
    let first = hashers[0].finish();
    hashers[1].write_u64(first);
    Ok(format!("{first:016x}{:016x}", hashers[1].finish()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::arrays::Array;
    use crate::model::Model;

    fn module(op: &str) -> Module {
        let text = format!(
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %0 = nn.{op} %x : tensor<4xf32>\n  \
             return %0 : tensor<4xf32>\n}}"
        );
        crate::load::parse("test", text, None, &Default::default()).unwrap()
    }

    /// The results of a program compiled through the cache, and whether it had to be compiled.
    fn run(cache: &Cache, op: &str, options: &CompileOptions) -> (Vec<f64>, bool) {
        let before = names(&cache.folder);
        let (mut module, options) = cache.program(&module(op), options).unwrap();
        let mut model = Model::compile(&mut module, &options).unwrap();
        let outputs = model.run(&[Array::f32("x", &[4], &[-4.0, 0.0, 4.0, 9.0])]).unwrap();
        (outputs[0].to_f64(), names(&cache.folder) != before)
    }

    fn names(folder: &Path) -> Vec<PathBuf> {
        let mut names: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names
    }

    const RELU: [f64; 4] = [0.0, 0.0, 4.0, 9.0];

    #[test]
    fn a_program_is_compiled_once_and_others_are_others() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("a/b"), MOST_BYTES).unwrap();
        let options = CompileOptions::default();
        assert_eq!(run(&cache, "relu", &options), (RELU.to_vec(), true));
        assert_eq!(run(&cache, "relu", &options), (RELU.to_vec(), false));
        assert_eq!(run(&cache, "neg", &options), (vec![4.0, 0.0, -4.0, -9.0], true));
        let other = CompileOptions { goal: crate::Goal::Memory, ..CompileOptions::default() };
        assert_eq!(run(&cache, "relu", &other), (RELU.to_vec(), true));
        for path in names(&cache.folder) {
            fs::write(path, "damaged").unwrap();
        }
        assert_eq!(run(&cache, "relu", &options).0, RELU);
        assert_eq!(run(&cache, "relu", &options), (RELU.to_vec(), false));
    }

    #[test]
    fn what_was_not_used_the_longest_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let all = Cache::open(folder.path(), MOST_BYTES).unwrap();
        run(&all, "relu", &CompileOptions::default());
        let one = fs::metadata(&names(folder.path())[0]).unwrap().len();
        let cache = Cache { most_bytes: 2 * one + one / 2, ..all };
        run(&cache, "neg", &CompileOptions::default());
        assert!(!run(&cache, "relu", &CompileOptions::default()).1, "two have room");
        run(&cache, "exp", &CompileOptions::default());
        assert_eq!(names(folder.path()).len(), 2);
        assert!(!run(&cache, "relu", &CompileOptions::default()).1, "`neg` went");
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o722)).unwrap();
        let fault = Cache::open(folder.path(), MOST_BYTES).unwrap_err().to_string();
        assert!(fault.ends_with("by others, expected a folder of this user alone (mode 700)"), "{fault}");
    }

    #[test]
    fn many_may_use_a_folder_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), 1).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let cache = &cache;
                scope.spawn(move || {
                    for turn in 0..4 {
                        let op = ["relu", "neg", "exp"][(thread + turn) % 3];
                        let found = run_anyway(cache, op);
                        assert!(op != "relu" || found == RELU);
                    }
                });
            }
        });
    }

    /// The results of a program while others add and remove files.
    fn run_anyway(cache: &Cache, op: &str) -> Vec<f64> {
        let (mut module, options) = cache.program(&module(op), &CompileOptions::default()).unwrap();
        let mut model = Model::compile(&mut module, &options).unwrap();
        model.run(&[Array::f32("x", &[4], &[-4.0, 0.0, 4.0, 9.0])]).unwrap()[0].to_f64()
    }
}
