//! A compiled program for C: an object file, its header, its weights, an example, and a description.
//!
//! ```
//! use optc::bundle::{Bundle, WeightsPlace};
//!
//! let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//!     %0 = nn.relu %x : tensor<4xf32>
//!     return %0 : tensor<4xf32>
//! }";
//! let mut module = optc::parse("relu.mlir", text.into(), None, &Default::default())?;
//! let bundle = Bundle::build(&mut module, &Default::default(), "relu", WeightsPlace::Embedded)?;
//! let names: Vec<&str> = bundle.files.iter().map(|file| &*file.name).collect();
//! assert_eq!(names, ["relu.o", "relu.h", "main.c", "relu.json"]);
//! # Ok::<(), optc::Failure>(())
//! ```

use std::fs;
use std::path::Path;

use aot::CTensor;
use codegen::RelocatableProgram;
use ir::Module;
use runtime::TensorDesc;
use serde::Serialize;

use crate::compile::{CompileOptions, entry, plan_known_sizes};
use crate::failure::Failure;
use crate::model::refuse_strings;
use crate::specialize::has_named_sizes;
use crate::whole_file::write_whole;

pub use aot::{EXTERNALS, WeightsPlace};

/// The files of a program for C.
pub struct Bundle {
    /// In the order in which they are written.
    pub files: Vec<BundleFile>,
    summary: String,
}

/// A file of a bundle.
pub struct BundleFile {
    /// Its name, without a folder.
    pub name: String,
    /// Its contents.
    pub bytes: Box<dyn AsRef<[u8]>>,
}

impl Bundle {
    /// Compiles a module, which is left planned, for the processor that the options say: it need not be this
    /// one. The names of files and functions begin like `name`.
    ///
    /// # Errors
    /// If the program has named sizes; every fault of the first stage that finds some; if it calls what an
    /// object file can't have.
    pub fn build(
        module: &mut Module,
        options: &CompileOptions,
        name: &str,
        place: WeightsPlace,
    ) -> Result<Bundle, Failure> {
        let entry = entry(module, options.entry.as_deref())?;
        let body = module.function(&entry).expect("the entry was just found");
        if has_named_sizes(&module.ctx, body) {
            return Err(Failure::input(
                "an object file is of known sizes: give each a number with `--dim NAME=SIZE`",
            ));
        }
        let options = &options.planned(&module.ctx, body);
        plan_known_sizes(module, &entry, options)?;
        let program = codegen::relocatable(module, &entry, &options.code())
            .map_err(|faults| Failure::diagnostics(&module.ctx, &faults))?;
        let tensors = program.inputs.iter().chain(&program.outputs);
        refuse_strings(tensors.map(|tensor| (&*tensor.name, tensor.element)))?;
        Bundle::of(program, name, place)
    }

    fn of(program: RelocatableProgram, name: &str, place: WeightsPlace) -> Result<Bundle, Failure> {
        let bundle = aot::Bundle::new(&program, name, place);
        let object = bundle.object().map_err(|fault| Failure::input(fault.to_string()))?;
        let name = bundle.name();
        let weights_bytes = program.weights.as_slice().len();
        let summary = format!(
            "{name}.o: {} bytes for {}; arena {} bytes, weights {weights_bytes} bytes\n",
            object.len(),
            program.isa.name(),
            program.arena_bytes
        );
        let description = Description::of(&bundle, &program, place);
        let mut json = serde_json::to_string_pretty(&description).expect("numbers and texts are JSON");
        json.push('\n');
        let mut files = vec![
            file(format!("{name}.o"), object),
            file(format!("{name}.h"), bundle.header()),
            file("main.c".to_owned(), bundle.example()),
            file(format!("{name}.json"), json),
        ];
        let weights_name = format!("{name}_weights.bin");
        if place == WeightsPlace::File {
            files.push(file(weights_name, program.weights));
        }
        Ok(Bundle { files, summary })
    }

    /// Writes all files into a folder, which is made if it is not there.
    ///
    /// # Errors
    /// If one can't be written.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let failed = |path: &Path, error| Failure::input(format!("{}: {error}", path.display()));
        fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        for BundleFile { name, bytes } in &self.files {
            let path = folder.join(name);
            write_whole(&path, (**bytes).as_ref()).map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }

    /// What the object file is, in a line.
    pub fn summary(&self) -> &str {
        &self.summary
    }
}

fn file(name: String, bytes: impl AsRef<[u8]> + 'static) -> BundleFile {
    BundleFile { name, bytes: Box::new(bytes) }
}

/// The description of a bundle, as JSON.
#[derive(Serialize)]
struct Description {
    version: u32,
    name: String,
    target: &'static str,
    max_threads: usize,
    arena_bytes: usize,
    arena_align: usize,
    weights_bytes: usize,
    weights_align: usize,
    weights_file: Option<String>,
    inputs: Vec<TensorDescription>,
    outputs: Vec<TensorDescription>,
    states: Vec<TensorDescription>,
    faults: Vec<String>,
}

#[derive(Serialize)]
struct TensorDescription {
    name: String,
    identifier: String,
    element: String,
    c_type: &'static str,
    shape: Vec<u64>,
    size_bytes: usize,
    /// Where a state is in the arena.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
}

impl Description {
    fn of(bundle: &aot::Bundle<'_>, program: &RelocatableProgram, place: WeightsPlace) -> Description {
        let [inputs, outputs, states] = bundle.tensors();
        let describe = |(c, desc): (CTensor, &TensorDesc)| TensorDescription {
            name: desc.name.clone(),
            identifier: c.identifier,
            element: format!("{:?}", desc.element).to_lowercase(),
            c_type: c.element,
            shape: desc.shape.clone(),
            size_bytes: desc.size_bytes,
            offset: None,
        };
        let state = |(c, (state, offset)): (CTensor, &(runtime::StateDesc, usize))| TensorDescription {
            offset: Some(*offset),
            ..describe((c, &state.tensor))
        };
        let is_file = place == WeightsPlace::File;
        Description {
            version: 1,
            name: bundle.name().to_owned(),
            target: program.isa.name(),
            max_threads: program.threads,
            arena_bytes: program.arena_bytes,
            arena_align: 64,
            weights_bytes: program.weights.as_slice().len(),
            weights_align: 64,
            weights_file: is_file.then(|| format!("{}_weights.bin", bundle.name())),
            inputs: inputs.into_iter().zip(&program.inputs).map(describe).collect(),
            outputs: outputs.into_iter().zip(&program.outputs).map(describe).collect(),
            states: states.into_iter().zip(&program.states).map(state).collect(),
            faults: program.faults.to_vec(),
        }
    }
}
