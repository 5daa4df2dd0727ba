//! Subjects of a reduction: a program as IR text, or an ONNX model.

use std::borrow::Cow;
use std::path::Path;

use ir::{Module, text};
use passes::reduce::{ReduceOptions, Reduced, Reducible, reduce, reduce_by};

use crate::cli::FileArgs;
use crate::failure::Failure;
use crate::load::load;
use crate::opt::Setup;
use crate::reduce_model::{ModelCandidate, STEPS};

/// A program that can be reduced, and its file for a command.
pub(super) trait Subject: Reducible + Send + 'static {
    /// The extension of its file.
    const EXTENSION: &str;
    /// The unit of its size.
    const COUNTED: &str;

    /// The program in a file.
    fn load(setup: &Setup, file: &FileArgs) -> Result<Self, Failure>;

    /// The contents of its file.
    fn content(&self) -> Vec<u8>;

    /// The program without any contents.
    fn emptied(&self) -> Self;

    /// The module for passes.
    fn module(&self) -> Result<Cow<'_, Module>, Failure>;

    /// The folder of the files that its file refers to.
    fn folder<'a>(&self, file: &'a FileArgs) -> Option<&'a Path>;

    /// Reduces it as far as possible while it fails.
    fn reduce(
        self,
        options: &ReduceOptions<'_, Self>,
        still_fails: &mut dyn FnMut(&Self) -> bool,
    ) -> Reduced<Self>;
}

impl Subject for Module {
    const EXTENSION: &str = "mlir";
    const COUNTED: &str = "operations";

    fn load(setup: &Setup, file: &FileArgs) -> Result<Module, Failure> {
        load(&file.file, &file.options(setup)?)
    }

    fn content(&self) -> Vec<u8> {
        text::print(self).into_bytes()
    }

    fn emptied(&self) -> Module {
        Module::new(self.ctx.clone())
    }

    fn module(&self) -> Result<Cow<'_, Module>, Failure> {
        Ok(Cow::Borrowed(self))
    }

    fn folder<'a>(&self, _: &'a FileArgs) -> Option<&'a Path> {
        None
    }

    fn reduce(
        self,
        options: &ReduceOptions<'_, Module>,
        still_fails: &mut dyn FnMut(&Module) -> bool,
    ) -> Reduced {
        reduce(self, options, still_fails)
    }
}

impl Subject for ModelCandidate {
    const EXTENSION: &str = "onnx";
    const COUNTED: &str = "nodes";

    fn load(setup: &Setup, file: &FileArgs) -> Result<ModelCandidate, Failure> {
        ModelCandidate::open(file.file.clone(), file.options(setup)?)
    }

    fn content(&self) -> Vec<u8> {
        self.to_bytes()
    }

    fn emptied(&self) -> ModelCandidate {
        ModelCandidate::emptied(self)
    }

    fn module(&self) -> Result<Cow<'_, Module>, Failure> {
        ModelCandidate::module(self).map(Cow::Owned)
    }

    fn folder<'a>(&self, file: &'a FileArgs) -> Option<&'a Path> {
        let folder = file.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        self.has_files_beside().then(|| folder.unwrap_or(Path::new(".")))
    }

    fn reduce(
        self,
        options: &ReduceOptions<'_, ModelCandidate>,
        still_fails: &mut dyn FnMut(&ModelCandidate) -> bool,
    ) -> Reduced<ModelCandidate> {
        reduce_by(STEPS, self, options, still_fails)
    }
}
