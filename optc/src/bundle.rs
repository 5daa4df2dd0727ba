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

use aot::{CTensor, SizeRange, SizedFrames};
use codegen::RelocatableProgram;
use ir::Module;
use runtime::TensorDesc;
use serde::Serialize;

use crate::compile::{CompileOptions, entry, plan_known_sizes};
use crate::failure::Failure;
use crate::model::refuse_strings;
use crate::specialize::{AllSizes, has_named_sizes};
use crate::whole_file::write_whole;

mod sized;

pub use aot::{EXTERNALS, WeightsPlace, architectures};

/// The files of a program for C.
pub struct Bundle {
    /// The files, in the order of writing.
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
    /// Compiles and plans a module for the processor of the options, which may differ from this one. Names of
    /// files and functions begin with `name`. A program with named sizes gets a frame for each combination of
    /// sizes.
    ///
    /// # Errors
    /// All errors of the first stage that finds any; if the program calls functions that an object file can't
    /// contain, or has too many sizes; if this build has no kernels for the processor's architecture
    /// ([`architectures`]).
    pub fn build(
        module: &mut Module,
        options: &CompileOptions,
        name: &str,
        place: WeightsPlace,
    ) -> Result<Bundle, Failure> {
        let entry = entry(module, options.entry.as_deref())?;
        let body = module.function(&entry).expect("the entry was just found");
        let options = &options.planned(&module.ctx, body);
        aot::check(options.cpu.isa()).map_err(|fault| Failure::input(fault.to_string()))?;
        let (program, sizes) = if has_named_sizes(&module.ctx, body) {
            let (program, sizes) = sized::build(AllSizes::decide(module, options)?, options)?;
            (program, Some(sizes))
        } else {
            plan_known_sizes(module, &entry, options)?;
            let program = codegen::relocatable(module, &entry, &options.code());
            (program.map_err(|faults| Failure::diagnostics(&module.ctx, &faults))?, None)
        };
        let tensors = program.inputs.iter().chain(&program.outputs);
        refuse_strings(tensors.map(|tensor| (&*tensor.name, tensor.element)))?;
        Bundle::of(program, sizes.as_ref(), name, place)
    }

    fn of(
        program: RelocatableProgram,
        sizes: Option<&SizedFrames>,
        name: &str,
        place: WeightsPlace,
    ) -> Result<Bundle, Failure> {
        let bundle = aot::Bundle::new(&program, name, place);
        let bundle = sizes.into_iter().fold(bundle, aot::Bundle::with_sizes);
        let object = bundle.object().map_err(|fault| Failure::input(fault.to_string()))?;
        let name = bundle.name();
        let weights_bytes = program.weights.as_slice().len();
        let most = sizes.map_or_else(String::new, |sizes| {
            let (count, frame_bytes) = (sizes.count().0, sizes.frame_bytes());
            format!(" at most at {count} combinations of sizes, frame {frame_bytes} bytes")
        });
        let summary = format!(
            "{name}.o: {} bytes for {}; arena {} bytes{most}, weights {weights_bytes} bytes\n",
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

    /// Writes all files into a folder, which is created if it is missing.
    ///
    /// # Errors
    /// If a file can't be written.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let failed = |path: &Path, error| Failure::input(format!("{}: {error}", path.display()));
        fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        for BundleFile { name, bytes } in &self.files {
            let path = folder.join(name);
            write_whole(&path, (**bytes).as_ref()).map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }

    /// A description of the object file, as one line.
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
    /// The arena at the sizes that need the most.
    arena_bytes: usize,
    arena_align: usize,
    /// The named sizes, each with the member of the structure of sizes; with them the bytes of a frame.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sizes: Vec<SizeDescription>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_bytes: Option<usize>,
    weights_bytes: usize,
    weights_align: usize,
    weights_file: Option<String>,
    inputs: Vec<TensorDescription>,
    outputs: Vec<TensorDescription>,
    states: Vec<TensorDescription>,
    faults: Vec<String>,
}

#[derive(Serialize)]
struct SizeDescription {
    name: String,
    identifier: String,
    least: u64,
    most: u64,
}

#[derive(Serialize)]
struct TensorDescription {
    name: String,
    identifier: String,
    element: String,
    c_type: &'static str,
    /// At the greatest sizes.
    shape: Vec<u64>,
    /// The shape by the named sizes, if there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    dims: Option<Vec<String>>,
    size_bytes: usize,
    /// The offset of a state in the arena.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
}

impl Description {
    fn of(bundle: &aot::Bundle<'_>, program: &RelocatableProgram, place: WeightsPlace) -> Description {
        let [inputs, outputs, states] = bundle.tensors();
        let describe = |(c, desc): (CTensor, &TensorDesc), dims: Option<&Vec<String>>| TensorDescription {
            name: desc.name.clone(),
            identifier: c.identifier,
            element: format!("{:?}", desc.element).to_lowercase(),
            c_type: c.element,
            shape: desc.shape.clone(),
            dims: dims.cloned(),
            size_bytes: desc.size_bytes,
            offset: None,
        };
        let shapes = bundle.shapes();
        let side = |tensors: Vec<CTensor>, descs: &[TensorDesc], side: usize| {
            let dims = |index: usize| shapes.map(|shapes| &shapes[side][index]);
            let described = tensors.into_iter().zip(descs).enumerate();
            described.map(|(index, tensor)| describe(tensor, dims(index))).collect()
        };
        let state = |(c, (state, offset)): (CTensor, &(runtime::StateDesc, usize))| TensorDescription {
            offset: Some(*offset),
            ..describe((c, &state.tensor), None)
        };
        let size = |(identifier, range): (String, &SizeRange)| SizeDescription {
            name: range.name.clone(),
            identifier,
            least: range.least,
            most: range.most,
        };
        let is_file = place == WeightsPlace::File;
        Description {
            version: 1,
            name: bundle.name().to_owned(),
            target: program.isa.name(),
            max_threads: program.threads,
            arena_bytes: program.arena_bytes,
            arena_align: 64,
            sizes: bundle.sizes().into_iter().map(size).collect(),
            frame_bytes: bundle.frame_bytes(),
            weights_bytes: program.weights.as_slice().len(),
            weights_align: 64,
            weights_file: is_file.then(|| format!("{}_weights.bin", bundle.name())),
            inputs: side(inputs, &program.inputs, 0),
            outputs: side(outputs, &program.outputs, 1),
            states: states.into_iter().zip(&program.states).map(state).collect(),
            faults: program.faults.to_vec(),
        }
    }
}
