//! Tracing of a run: prints and dumps the module before and after passes.

use std::fs;
use std::path::Path;

use ir::{Diagnostic, Location, Module, text};

use super::{Invocation, RunOptions, unified_diff};

/// Prints and dumps as the options request.
pub(super) struct Trace<'a> {
    options: &'a RunOptions<'a>,
    /// The number of passes that have begun.
    count: usize,
    /// The module's text before the pass, if changes are to be detected.
    before: Option<String>,
}

impl<'a> Trace<'a> {
    /// Removes files of an earlier run from the folder of the dump.
    pub(super) fn new(options: &'a RunOptions<'a>) -> Trace<'a> {
        options.debug.dump_dir.iter().for_each(|dir| remove_dumped(dir));
        Trace { options, count: 0, before: None }
    }

    /// Called before a pass.
    pub(super) fn before(&mut self, pass: &Invocation, module: &Module) {
        self.count += 1;
        if self.options.debug.print_before.contains(pass.def.name) {
            self.options.observer.prints(&format!("// ----- before {pass}\n{}", text::print(module)));
        }
        let sees_change = self.options.debug.dump_dir.is_some()
            || self.options.debug.print_after_change.contains(pass.def.name);
        self.before = match (sees_change, self.before.take()) {
            (true, None) => Some(text::print(module)),
            (true, known) => known,
            (false, _) => None,
        };
    }

    /// Called after a pass.
    ///
    /// # Errors
    /// If a file of the dump can't be written.
    pub(super) fn after(&mut self, pass: &Invocation, module: &Module) -> Result<(), Vec<Diagnostic>> {
        let prints = self.options.debug.print_after.contains(pass.def.name);
        let before = self.before.take();
        if !prints && before.is_none() {
            return Ok(());
        }
        let after = text::print(module);
        let has_changed = before.as_ref().is_some_and(|before| *before != after);
        if prints || has_changed && self.options.debug.print_after_change.contains(pass.def.name) {
            self.options.observer.prints(&format!("// ----- after {pass}\n{after}"));
        }
        if let (true, Some(before), Some(dir)) = (has_changed, &before, &self.options.debug.dump_dir) {
            let stem = format!("{:04}_{}", self.count, pass.def.name);
            write(dir, &format!("{stem}.mlir"), &after)?;
            write(dir, &format!("{stem}.diff"), &unified_diff(before, &after))?;
        }
        self.before = before.map(|_| after);
        Ok(())
    }
}

/// Removes files that a dump wrote into a folder: `0001_fuse.mlir`, `0001_fuse.diff`. Files that can't be
/// removed stay.
fn remove_dumped(dir: &Path) {
    let is_dumped = |name: &str| {
        let number = name.split_once('_').map(|(number, _)| number);
        let is_number = number.is_some_and(|n| n.len() == 4 && n.bytes().all(|digit| digit.is_ascii_digit()));
        is_number && (name.ends_with(".mlir") || name.ends_with(".diff"))
    };
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_dumped) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn write(dir: &Path, name: &str, content: &str) -> Result<(), Vec<Diagnostic>> {
    let written = fs::create_dir_all(dir).and_then(|()| fs::write(dir.join(name), content));
    written.map_err(|error| {
        let message = format!("can't write `{}`: {error}", dir.join(name).display());
        vec![Diagnostic::error(Location::UNKNOWN, message)]
    })
}
