//! Compiled programs: what they take, return and need.

use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use optc::ir::Module;
use optc::runtime::{ElementKind, Extent, Program, Symbol, TensorSpec};
use optc::{CompileOptions, Failure, Model, compile};

use crate::handle::{borrowed, c_text, free, hand_over};
use crate::module::ModuleHandle;
use crate::options::Options;
use crate::progress::Followed;
use crate::status::{Diagnostics, Refusal, Status, ended};

/// A compiled program, which several threads may use at one time.
pub struct ProgramHandle {
    pub(crate) shared: Arc<SharedProgram>,
}

/// What contexts of a program share.
pub(crate) struct SharedProgram {
    pub(crate) program: Arc<Program>,
    /// Makes contexts, and never runs.
    pub(crate) seed: Mutex<Model>,
    /// What was compiled, to be planned again for those who ask for the plan.
    pub(crate) source: Module,
    pub(crate) entry: String,
    pub(crate) options: CompileOptions,
    tensors: [Vec<TensorTexts>; 2],
    sizes: Vec<CString>,
}

struct TensorTexts {
    name: CString,
    /// The size of each dimension: `4`, `N`, `2 * N`.
    dims: Vec<CString>,
}

/// An input or output. All text lives as long as the program.
#[repr(C)]
pub struct TensorInfo {
    /// Its name in the model.
    pub name: *const c_char,
    /// Its elements: `f32`, `f64`, `f16`, `bf16`, `i8` to `i64`, `u8` to `u64`, `bool`, or a smaller type.
    pub element: *const c_char,
    /// How many dimensions it has.
    pub rank: usize,
    /// Not 0 if only the size of another output: see `optc_context_output_shape`.
    pub is_count: i32,
}

/// A named size.
#[repr(C)]
pub struct SizeRange {
    /// Its name. Lives as long as the program.
    pub name: *const c_char,
    /// The least number.
    pub least: u64,
    /// The greatest number; UINT64_MAX where there is none.
    pub most: u64,
}

/// Compiles a module, which stays as it is. `options` may be NULL.
///
/// # Safety
/// `module` is NULL or a handle, and so is `options`; `program` and `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_compile(
    module: *const ModuleHandle,
    options: *const Options,
    program: *mut *mut ProgramHandle,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let options = options.as_ref().cloned().unwrap_or_default();
            let module = &borrowed(module, "`module`")?.module;
            let shared = Arc::new(SharedProgram::compile(module.clone(), &options)?);
            hand_over(ProgramHandle { shared }, program)
        })
    }
}

/// How many inputs (`is_output` 0) or outputs it has. 0 for NULL.
///
/// # Safety
/// `program` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_program_count(program: *const ProgramHandle, is_output: i32) -> usize {
    // SAFETY: as the caller vouches.
    unsafe { program.as_ref() }.map_or(0, |program| program.shared.specs(is_output).len())
}

/// Writes what an input (`is_output` 0) or output is to `*tensor`. OPTC_USAGE if there is no such one.
///
/// # Safety
/// `program` is NULL or a handle; `tensor` is NULL or a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_program_tensor(
    program: *const ProgramHandle,
    is_output: i32,
    index: usize,
    tensor: *mut TensorInfo,
) -> Status {
    // SAFETY: as the caller vouches.
    let (program, place) = unsafe { (program.as_ref(), tensor.as_mut()) };
    let (Some(program), Some(place)) = (program, place) else { return Status::OPTC_USAGE };
    let shared = &program.shared;
    let Some(spec) = shared.specs(is_output).get(index) else { return Status::OPTC_USAGE };
    let is_count = is_output != 0 && shared.program.open().iter().any(|open| open.count == index);
    *place = TensorInfo {
        name: shared.texts(is_output)[index].name.as_ptr(),
        element: element(spec.element).as_ptr().cast(),
        rank: spec.extents.len(),
        is_count: i32::from(is_count),
    };
    Status::OPTC_OK
}

/// The size of a dimension of an input (`is_output` 0) or output, as text: `4`, `N`, `2 * N`. NULL if there
/// is none. Lives as long as the program.
///
/// # Safety
/// `program` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_program_dim(
    program: *const ProgramHandle,
    is_output: i32,
    index: usize,
    axis: usize,
) -> *const c_char {
    // SAFETY: as the caller vouches.
    let program = unsafe { program.as_ref() };
    let texts = program.and_then(|program| program.shared.texts(is_output).get(index));
    texts.and_then(|texts| texts.dims.get(axis)).map_or(ptr::null(), |dim| dim.as_ptr())
}

/// How many named sizes it has. 0 for NULL.
///
/// # Safety
/// `program` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_program_size_count(program: *const ProgramHandle) -> usize {
    // SAFETY: as the caller vouches.
    unsafe { program.as_ref() }.map_or(0, |program| program.shared.sizes.len())
}

/// Writes what a named size may be to `*size`. OPTC_USAGE if there is no such one.
///
/// # Safety
/// `program` is NULL or a handle; `size` is NULL or a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_program_size(
    program: *const ProgramHandle,
    index: usize,
    size: *mut SizeRange,
) -> Status {
    // SAFETY: as the caller vouches.
    let (program, place) = unsafe { (program.as_ref(), size.as_mut()) };
    let (Some(program), Some(place)) = (program, place) else { return Status::OPTC_USAGE };
    let shared = &program.shared;
    let Some(Symbol { least, most, .. }) = shared.program.symbols().get(index) else {
        return Status::OPTC_USAGE;
    };
    let most = if *most < i64::MAX as u64 { *most } else { u64::MAX };
    *place = SizeRange { name: shared.sizes[index].as_ptr(), least: *least, most };
    Status::OPTC_OK
}

/// Bytes of arena that are enough at all sizes; SIZE_MAX where they grow with sizes without end, and for
/// NULL.
///
/// # Safety
/// `program` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_program_arena_bytes(program: *const ProgramHandle) -> usize {
    // SAFETY: as the caller vouches.
    let program = unsafe { program.as_ref() };
    program.and_then(|program| program.shared.program.bound_bytes()).unwrap_or(usize::MAX)
}

/// Bytes of constants, as they are packed for kernels. 0 for NULL.
///
/// # Safety
/// `program` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_program_weights_bytes(program: *const ProgramHandle) -> usize {
    // SAFETY: as the caller vouches.
    unsafe { program.as_ref() }.map_or(0, |program| program.shared.program.weights_bytes())
}

/// The most threads that may run it. 0 for NULL.
///
/// # Safety
/// `program` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_program_threads(program: *const ProgramHandle) -> usize {
    // SAFETY: as the caller vouches.
    unsafe { program.as_ref() }.map_or(0, |program| program.shared.program.threads())
}

/// Frees a program. Its contexts stay.
///
/// # Safety
/// `program` is NULL or a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_program_free(program: *mut ProgramHandle) {
    // SAFETY: as the caller vouches.
    unsafe { free(program) }
}

impl SharedProgram {
    fn compile(source: Module, given: &Options) -> Result<SharedProgram, Failure> {
        let options = given.compile.clone();
        let entry = compile::entry(&source, options.entry.as_deref())?;
        let followed = Followed::by(given.progress);
        let watched = CompileOptions { observer: followed.observer(), ..options.clone() };
        let model = Model::compile(&mut source.clone(), &watched)?.without_strings()?;
        let program = model.program().clone();
        let symbols = program.symbols();
        let texts = |specs: &[TensorSpec]| specs.iter().map(|spec| TensorTexts::new(spec, symbols)).collect();
        let tensors = [texts(program.inputs()), texts(program.outputs())];
        let sizes = symbols.iter().map(|symbol| c_text(&symbol.name)).collect();
        Ok(SharedProgram { seed: Mutex::new(model), tensors, sizes, source, entry, options, program })
    }

    fn specs(&self, is_output: i32) -> &[TensorSpec] {
        if is_output == 0 { self.program.inputs() } else { self.program.outputs() }
    }

    fn texts(&self, is_output: i32) -> &[TensorTexts] {
        &self.tensors[usize::from(is_output != 0)]
    }

    /// A model that makes others.
    pub(crate) fn with_seed<R>(&self, make: impl FnOnce(&Model) -> Result<R, Refusal>) -> Result<R, Refusal> {
        make(&self.seed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl TensorTexts {
    fn new(spec: &TensorSpec, symbols: &[Symbol]) -> TensorTexts {
        let dim = |extent: &Extent| match extent {
            Extent::Known(size) => c_text(&size.to_string()),
            Extent::Symbol(symbol) => c_text(&symbols[*symbol].name),
            Extent::Expr(expr) => c_text(&expr.text),
        };
        TensorTexts { name: c_text(&spec.name), dims: spec.extents.iter().map(dim).collect() }
    }
}

/// With a 0 at its end.
pub(crate) fn element(kind: ElementKind) -> &'static str {
    match kind {
        ElementKind::Bool => "bool\0",
        ElementKind::I2 => "i2\0",
        ElementKind::U2 => "u2\0",
        ElementKind::I4 => "i4\0",
        ElementKind::U4 => "u4\0",
        ElementKind::I8 => "i8\0",
        ElementKind::U8 => "u8\0",
        ElementKind::I16 => "i16\0",
        ElementKind::U16 => "u16\0",
        ElementKind::I32 => "i32\0",
        ElementKind::U32 => "u32\0",
        ElementKind::I64 => "i64\0",
        ElementKind::U64 => "u64\0",
        ElementKind::F4E2M1FN => "f4E2M1FN\0",
        ElementKind::F8E4M3FN => "f8E4M3FN\0",
        ElementKind::F8E4M3FNUZ => "f8E4M3FNUZ\0",
        ElementKind::F8E5M2 => "f8E5M2\0",
        ElementKind::F8E5M2FNUZ => "f8E5M2FNUZ\0",
        ElementKind::F8E8M0FNU => "f8E8M0FNU\0",
        ElementKind::F16 => "f16\0",
        ElementKind::BF16 => "bf16\0",
        ElementKind::F32 => "f32\0",
        ElementKind::F64 => "f64\0",
        ElementKind::String => "string\0",
    }
}
