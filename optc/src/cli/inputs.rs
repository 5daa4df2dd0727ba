//! Which arrays a program is run on.

use std::path::PathBuf;

use clap::Args;
use import::onnx::element::Element;
use ir::{Context, Dim, FloatKind, Module, Type, TypeData, Value};
use runtime::ElementKind;

use crate::arrays::{Array, read_npy, read_npz};
use crate::compile::input_names;
use crate::failure::Failure;

/// Where the inputs come from.
#[derive(Args, Clone)]
pub(super) struct InputArgs {
    /// Take the inputs of these names from a `.npz` file.
    #[arg(long, value_name = "X.npz")]
    inputs: Option<PathBuf>,
    /// Take one input from a `.npy` file; may be repeated.
    #[arg(long, num_args = 2, value_names = ["NAME", "X.npy"], action = clap::ArgAction::Append)]
    input: Vec<String>,
    /// Make the other inputs by a rule, from a seed: floats in [-1, 1), integers below 1000.
    #[arg(long, value_name = "SEED", num_args = 0..=1, require_equals = true)]
    random: Option<Option<u64>>,
}

/// An input of a program.
pub(super) struct InputDesc {
    name: String,
    element: ElementKind,
    shape: Vec<u64>,
    /// What it holds if nothing is given: a state begins with zeros.
    zeros: Option<Vec<u8>>,
}

impl InputArgs {
    /// The arrays that files give.
    ///
    /// # Errors
    /// If a file can't be read.
    pub(super) fn given(&self) -> Result<Vec<Array>, Failure> {
        let mut given = match &self.inputs {
            Some(path) => read_npz(path)?,
            None => Vec::new(),
        };
        for pair in self.input.chunks_exact(2) {
            given.push(read_npy(pair[1].as_ref(), &pair[0])?);
        }
        Ok(given)
    }

    /// An array for each input, in order: of those that files give, or made.
    ///
    /// # Errors
    /// If an input that the program lacks is named, or an input is left without an array.
    pub(super) fn arrays(&self, mut given: Vec<Array>, wanted: &[InputDesc]) -> Result<Vec<Array>, Failure> {
        for pair in self.input.chunks_exact(2) {
            if !wanted.iter().any(|desc| desc.name == pair[0]) {
                let hint = ir::diag::did_you_mean(&pair[0], wanted.iter().map(|desc| desc.name.as_str()));
                let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
                return Err(Failure::input(format!("the program has no input `{}`{hint}", pair[0])));
            }
        }
        let mut arrays = Vec::new();
        let mut faults = Vec::new();
        for desc in wanted {
            match given.iter().position(|array| array.name == desc.name) {
                Some(index) => arrays.push(given.swap_remove(index)),
                None => match (&desc.zeros, self.random) {
                    (Some(zeros), _) => arrays.push(desc.array(zeros.clone())),
                    (None, Some(seed)) => arrays.push(random(desc, seed)?),
                    (None, None) => faults
                        .push(format!("error: input `{}` is missing (see --inputs, --random)", desc.name)),
                },
            }
        }
        if faults.is_empty() { Ok(arrays) } else { Err(Failure::Input(faults)) }
    }
}

fn random(desc: &InputDesc, seed: Option<u64>) -> Result<Array, Failure> {
    let element = match desc.element {
        ElementKind::F32 => Element::Float,
        ElementKind::I64 => Element::Int64,
        other => {
            let what =
                format!("no rule makes elements of {other:?} for input `{}`; give it by --input", desc.name);
            return Err(Failure::input(what));
        }
    };
    let blob = import::synth::input(&desc.name, seed, element, &desc.shape).map_err(Failure::input)?;
    Ok(desc.array(blob.to_vec()))
}

impl InputDesc {
    fn array(&self, bytes: Vec<u8>) -> Array {
        Array { name: self.name.clone(), element: self.element, shape: self.shape.clone(), bytes }
    }
}

/// The inputs of a function: its arguments, by the names that the model gave them, else `argN`.
///
/// # Errors
/// If an argument is not a tensor of known sizes.
pub(super) fn describe(module: &Module, entry: &str) -> Result<Vec<InputDesc>, Failure> {
    let ctx = &module.ctx;
    let body = module.function(entry).expect("the entry was just found");
    let block = body.entry(body.root()).expect("the entry has a body");
    let args = body.args(block).iter().zip(input_names(ctx, body));
    let states = ir::states::states(ctx, body).map_err(Failure::input)?;
    let describe = |(arg, name): (&Value, String)| {
        let state = states.iter().find(|state| state.value == *arg);
        let zeros = state.map(|state| vec![0; state.size_bytes as usize]);
        Ok(InputDesc { zeros, ..describe_one(ctx, body, *arg, name)? })
    };
    args.map(describe).collect()
}

fn describe_one(ctx: &Context, body: &ir::Body, arg: Value, name: String) -> Result<InputDesc, Failure> {
    let ty = body.ty(arg);
    let shape = ctx.type_data(ty).tensor_shape().unwrap_or(&[]).iter().map(|dim| match dim {
        Dim::Known(size) => Ok(*size),
        Dim::Symbolic(expr) => {
            let size = ir::dims::print(ctx, *expr);
            Err(Failure::input(format!("size `{size}` of input `{name}` is not known (see --dim)")))
        }
        Dim::Unknown => Err(Failure::input(format!("a size of input `{name}` is not known"))),
    });
    let shape = shape.collect::<Result<_, _>>()?;
    let element = element_kind(ctx, ctx.elem(ty));
    let element =
        element.ok_or_else(|| Failure::input(format!("input `{name}` has elements of no numeric type")))?;
    Ok(InputDesc { name, element, shape, zeros: None })
}

pub(super) fn element_kind(ctx: &Context, elem: Type) -> Option<ElementKind> {
    Some(match ctx.type_data(elem) {
        TypeData::Float(FloatKind::F32) => ElementKind::F32,
        TypeData::Float(FloatKind::F64) => ElementKind::F64,
        TypeData::Float(FloatKind::F16) => ElementKind::F16,
        TypeData::Float(FloatKind::Bf16) => ElementKind::BF16,
        TypeData::Index => ElementKind::I64,
        TypeData::Integer { width: 1, .. } => ElementKind::Bool,
        TypeData::Integer { width, signedness } => match (width, signedness) {
            (8, ir::Signedness::Unsigned) => ElementKind::U8,
            (16, ir::Signedness::Unsigned) => ElementKind::U16,
            (32, ir::Signedness::Unsigned) => ElementKind::U32,
            (64, ir::Signedness::Unsigned) => ElementKind::U64,
            (8, _) => ElementKind::I8,
            (16, _) => ElementKind::I16,
            (32, _) => ElementKind::I32,
            (64, _) => ElementKind::I64,
            _ => return None,
        },
        _ => return None,
    })
}
