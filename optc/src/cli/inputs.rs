//! Inputs of a run: the arrays, and the sizes that they determine.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use import::onnx::declared::DeclaredSizes;
use ir::dims;
use ir::plan::signature::{Argument, Signature};
use ir::{Context, Dim, Ident, Module};
use runtime::ElementKind;

use super::own_sizes;
use crate::arrays::{Array, read_npy, read_npz};
use crate::compile::{SizeOptions, no_input, signature};
use crate::elements::onnx_element;
use crate::failure::Failure;
use crate::items::{Items, by_name, in_order, of_file};
use crate::protobuf::{read_folder, read_held};
use crate::sizes;
use crate::specialize::{has_named_sizes, sizes_of};

/// Where the inputs come from.
#[derive(Args, Clone)]
pub(super) struct InputArgs {
    /// Take the inputs by name from a `.npz` file, or all in order from the files `input_0.pb`, `input_1.pb`,
    /// ... of a folder, as in ONNX's tests. May be repeated: the program runs once on each, and each may have
    /// other sizes.
    #[arg(long, value_name = "X.npz|DIR")]
    inputs: Vec<PathBuf>,
    /// Take one input from a `.npy` file; may be repeated.
    #[arg(long, num_args = 2, value_names = ["NAME", "X.npy"], action = clap::ArgAction::Append)]
    input: Vec<OsString>,
    /// Fill the remaining inputs with pseudo-random numbers: floats in [-1, 1), integers below 1000.
    #[arg(long, value_name = "SEED", num_args = 0..=1, require_equals = true)]
    random: Option<Option<u64>>,
    /// Compile for the sizes of the inputs alone, not for all values of named sizes.
    #[arg(long)]
    fix_sizes: bool,
    /// The arrays of the one run, in the place of files.
    #[arg(skip)]
    held: Option<Vec<Array>>,
}

/// The inputs of one run.
pub(super) struct RunInputs {
    /// An array for each input and state, in the order of the function's arguments.
    pub inputs: Vec<Array>,
    /// The numbers of named sizes, as far as the arrays from files determine them.
    pub sizes: BTreeMap<String, u64>,
}

/// An input of a program.
struct InputDesc {
    name: String,
    /// The name that determines its pseudo-random numbers.
    random_name: String,
    element: ElementKind,
    shape: Vec<u64>,
    /// The default content, if it has one: a state begins with zeros.
    zeros: Option<Vec<u8>>,
}

impl InputArgs {
    /// Pseudo-random numbers for every input.
    pub(super) fn all_random() -> InputArgs {
        InputArgs { inputs: Vec::new(), input: Vec::new(), random: Some(None), fix_sizes: false, held: None }
    }

    /// Pseudo-random numbers for every input, at these named sizes.
    ///
    /// # Errors
    /// If a size is missing, or there is no memory.
    pub(super) fn random_arrays(
        module: &Module,
        entry: &str,
        sizes: &BTreeMap<String, u64>,
    ) -> Result<Vec<Array>, Failure> {
        let wanted = describe(&module.ctx, &signature(module, entry)?, sizes)?;
        InputArgs::all_random().arrays(Vec::new(), &wanted)
    }

    /// Whether the program is to be compiled for the sizes of its inputs alone.
    pub(super) fn fix_sizes(&self) -> bool {
        self.fix_sizes
    }

    /// For each run, the arrays from files for a model's inputs; none if some can't be read, or are no
    /// tensors.
    pub(super) fn arrays_of(&self, model: &Path) -> Option<Vec<Vec<Array>>> {
        let mut single = Vec::new();
        for pair in self.input.chunks_exact(2) {
            single.push(read_npy(pair[1].as_ref(), &pair[0].to_string_lossy(), &|_| None).ok()?);
        }
        let files: Vec<Option<&Path>> = match &self.inputs[..] {
            [] => vec![None],
            files => files.iter().map(|file| Some(file.as_path())).collect(),
        };
        let all = files.into_iter().map(|file| {
            let arrays = own_sizes::arrays_of(model, file)?;
            Some([single.clone(), arrays].concat())
        });
        all.collect()
    }

    /// The same options for one run on these arrays.
    pub(super) fn held(&self, arrays: Vec<Array>) -> InputArgs {
        InputArgs { inputs: Vec::new(), input: Vec::new(), held: Some(arrays), ..self.clone() }
    }

    /// The shapes of the first run's arrays for those inputs of a model whose types leave them open.
    pub(super) fn items(&self, model: &Path) -> Items {
        let is_model = model.extension().is_some_and(|extension| extension == "onnx");
        if let Some(held) = self.held.as_ref().filter(|_| is_model) {
            return of_file(model, |model| by_name(model, held));
        }
        if !is_model || (self.inputs.is_empty() && self.input.is_empty()) {
            return Items::new();
        }
        of_file(model, |model| match self.inputs.first() {
            Some(folder) if folder.is_dir() => {
                read_held(folder, "input").map(|held| in_order(model, &held)).unwrap_or_default()
            }
            archive => {
                let arrays = archive.map(|path| read_npz(path, &|_| None).unwrap_or_default());
                let single = self.input.chunks_exact(2);
                let single = single.filter_map(|pair| {
                    read_npy(pair[1].as_ref(), &pair[0].to_string_lossy(), &|_| None).ok()
                });
                by_name(model, &single.chain(arrays.into_iter().flatten()).collect::<Vec<Array>>())
            }
        })
    }

    /// The number of runs.
    pub(super) fn runs(&self) -> usize {
        self.inputs.len().max(1)
    }

    /// The inputs of each run: one for each `.npz` file, or one if there is none.
    ///
    /// # Errors
    /// If a file can't be read, an unknown input is named, an input has no array, or a size is not known.
    pub(super) fn cases(&self, module: &Module, entry: &str) -> Result<Vec<RunInputs>, Failure> {
        let taken = signature(module, entry)?;
        let mut cases = Vec::new();
        for given in self.given(&module.ctx, &taken)? {
            check_names(&given, &taken)?;
            let sizes = given_sizes(module, entry, &taken, &given)?;
            let wanted = describe(&module.ctx, &taken, &sizes)?;
            cases.push(RunInputs { inputs: self.arrays(given, &wanted)?, sizes });
        }
        Ok(cases)
    }

    /// The arrays from files, for each run.
    fn given(&self, ctx: &Context, taken: &Signature) -> Result<Vec<Vec<Array>>, Failure> {
        let element = |name: &str| {
            let arg = taken.args.iter().find(|arg| arg.name == name)?;
            codegen::element_kind(ctx, arg.ty)
        };
        if let Some(held) = &self.held {
            return Ok(vec![held.clone()]);
        }
        let mut single = Vec::new();
        for pair in self.input.chunks_exact(2) {
            single.push(read_npy(pair[1].as_ref(), &pair[0].to_string_lossy(), &element)?);
        }
        if self.inputs.is_empty() {
            return Ok(vec![single]);
        }
        let given = self.inputs.iter().map(|path| {
            let arrays = match path.is_dir() {
                true => of_folder(path, taken)?,
                false => read_npz(path, &element)?,
            };
            Ok([single.clone(), arrays].concat())
        });
        given.collect()
    }

    /// An array for each input, in order: from files, or generated.
    fn arrays(&self, mut given: Vec<Array>, wanted: &[InputDesc]) -> Result<Vec<Array>, Failure> {
        let mut arrays = Vec::new();
        let mut faults = Vec::new();
        for desc in wanted {
            match given.iter().position(|array| array.name == desc.name) {
                Some(index) => arrays.push(given.swap_remove(index)),
                None => match (&desc.zeros, self.random) {
                    (Some(zeros), _) => arrays.push(desc.array(zeros.clone())),
                    (None, Some(seed)) => arrays.push(random(desc, seed)?),
                    (None, None) => {
                        faults.push(format!("input `{}` is missing (see --inputs, --random)", desc.name))
                    }
                },
            }
        }
        Failure::unless_none(faults)?;
        Ok(arrays)
    }
}

/// The arrays of a folder, by the names of the inputs in order.
fn of_folder(folder: &Path, taken: &Signature) -> Result<Vec<Array>, Failure> {
    let arrays = read_folder(folder, "input")?;
    let count = taken.args.len();
    if arrays.len() > count {
        let what = format!("{} inputs, but the program has {count}", arrays.len());
        return Err(Failure::input(format!("{}: {what}", folder.display())));
    }
    let named = taken.args.iter().zip(arrays);
    Ok(named.map(|(arg, array)| Array { name: arg.name.clone(), ..array }).collect())
}

/// The size options for the compiler: code is made for the sizes of the first run.
pub(super) fn sample(cases: &[RunInputs]) -> SizeOptions {
    let sample = cases.first().map_or_else(Vec::new, |case| case.sizes.clone().into_iter().collect());
    SizeOptions { sample, ..SizeOptions::default() }
}

/// Checks that every array is an input of the program.
fn check_names(given: &[Array], taken: &Signature) -> Result<(), Failure> {
    let known = || taken.args.iter().map(|arg| arg.name.as_str());
    let unknown = given.iter().filter(|array| known().all(|name| name != array.name));
    Failure::unless_none(unknown.map(|array| no_input(&array.name, "", known())))
}

/// The numbers of named sizes determined by arrays; empty without arrays.
fn given_sizes(
    module: &Module,
    entry: &str,
    taken: &Signature,
    given: &[Array],
) -> Result<BTreeMap<String, u64>, Failure> {
    let body = module.function(entry).expect("the entry was just found");
    if given.is_empty() || !has_named_sizes(&module.ctx, body) {
        return Ok(BTreeMap::new());
    }
    let shapes: Vec<(&str, &[u64])> = given.iter().map(|array| (&*array.name, &*array.shape)).collect();
    sizes_of(&module.ctx, body, taken, &shapes)
}

/// Replaces named sizes by the sizes of the cases.
///
/// # Errors
/// If they differ between cases, or the program can't have them.
pub(super) fn fix_sizes(module: &mut Module, cases: &[RunInputs]) -> Result<(), Failure> {
    let all: BTreeSet<&BTreeMap<String, u64>> = cases.iter().map(|case| &case.sizes).collect();
    if all.len() > 1 {
        return Err(Failure::input("a program of fixed sizes can't be run on inputs of several sizes"));
    }
    match cases.first() {
        Some(case) if !case.sizes.is_empty() => {
            sizes::apply(module, &DeclaredSizes { values: case.sizes.clone(), ..DeclaredSizes::new() })
        }
        _ => Ok(()),
    }
}

fn random(desc: &InputDesc, seed: Option<u64>) -> Result<Array, Failure> {
    let blob = import::synth::input(&desc.random_name, seed, onnx_element(desc.element), &desc.shape);
    let blob =
        blob.map_err(|fault| Failure::input(format!("input `{}`: {fault}; give it by --input", desc.name)))?;
    let mut bytes = Vec::new();
    let count = blob.len_bytes();
    let reserved = bytes.try_reserve_exact(count);
    reserved.map_err(|_| {
        Failure::input(format!("no memory for input `{}`, which has {count} bytes", desc.name))
    })?;
    bytes.resize(count, 0);
    blob.read(0, &mut bytes);
    Ok(desc.array(bytes))
}

impl InputDesc {
    fn array(&self, bytes: Vec<u8>) -> Array {
        Array { name: self.name.clone(), element: self.element, shape: self.shape.clone(), bytes }
    }
}

/// The inputs of a function, including its states, at these named sizes.
fn describe(
    ctx: &Context,
    taken: &Signature,
    sizes: &BTreeMap<String, u64>,
) -> Result<Vec<InputDesc>, Failure> {
    let describe = |(index, arg): (usize, &Argument)| {
        let state = taken.states.iter().find(|state| state.index == index);
        let zeros = state.map(|state| vec![0; state.size_bytes as usize]);
        Ok(InputDesc { zeros, ..describe_one(ctx, arg, sizes)? })
    };
    taken.args.iter().enumerate().map(describe).collect()
}

fn describe_one(ctx: &Context, arg: &Argument, sizes: &BTreeMap<String, u64>) -> Result<InputDesc, Failure> {
    let Argument { name, printed_name, ty, .. } = arg;
    let number = |symbol: Ident| i64::try_from(*sizes.get(ctx.str(symbol))?).ok();
    let size = |dim: &Dim| match dim {
        Dim::Known(size) => Ok(*size),
        Dim::Symbolic(expr) => {
            let size = dims::evaluate(ctx, *expr, &number).and_then(|size| u64::try_from(size).ok());
            size.ok_or_else(|| {
                let size = dims::print(ctx, *expr);
                Failure::input(format!("size `{size}` of input `{name}` is not known (see --dim, --inputs)"))
            })
        }
        Dim::Unknown => Err(Failure::input(format!("a size of input `{name}` is not known"))),
    };
    let shape = ctx.type_data(*ty).tensor_shape().unwrap_or(&[]).iter().map(size);
    let shape = shape.collect::<Result<_, _>>()?;
    let element = codegen::element_kind(ctx, *ty);
    let element =
        element.ok_or_else(|| Failure::input(format!("input `{name}` has elements of no numeric type")))?;
    Ok(InputDesc { name: name.clone(), random_name: printed_name.clone(), element, shape, zeros: None })
}
