//! Operations of the caller's own: a dialect of them, whose kernels are C functions.
//!
//! A row of an operation, and of a kernel, is one for the whole process ([`OpDef`], [`KernelRow`]): programs,
//! modules and contexts point to it. So what a caller says of operations is kept for good, a few hundred
//! bytes for each, and found again by the address of its row.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use optc::codegen::{KernelRow, KernelWork, element_kind};
use optc::ir::body::OpRef;
use optc::ir::interp::{EvalError, Tensor};
use optc::ir::opdef::{Access, Reuse, TypeClass};
use optc::ir::size::{static_extents, tensor_bytes};
use optc::ir::{Context, Dialect, Infer, Kind, OpDef, OperandDef, Traits, Type};
use optc::runtime::AlignedBuffer;

use crate::handle::{borrowed, changed, free, hand_over, listed, text};
use crate::options::Options;
use crate::program::element;
use crate::status::{Diagnostics, Refusal, Status, ended};

/// The most dimensions of a value that a kernel of the caller takes.
pub const OPTC_MOST_DIMENSIONS: usize = 8;

/// The type of a value at a call of a kernel. Its elements are without gaps, rows first.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ValueType {
    /// Its elements, as in `optc_tensor`.
    pub element: *const c_char,
    /// How many dimensions it has.
    pub rank: usize,
    /// Their sizes.
    pub sizes: [u64; OPTC_MOST_DIMENSIONS],
}

/// How the work of an operation is shared, and what it needs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNeeds {
    /// Parts that may run at one time; 0 if there is nothing to do.
    pub parts: u32,
    /// Bytes of scratch for each thread.
    pub scratch_bytes: usize,
}

/// Says of an operation whose results, then operands, have these types how its work is shared among
/// `threads`: writes it to `*needs`, where there is one part without scratch. If it returns something else
/// than 0, the operation is refused. It is called by any thread that compiles, plans or prepares, and does
/// not unwind.
pub type DescribeFn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        types: *const ValueType,
        threads: usize,
        needs: *mut KernelNeeds,
    ) -> c_int,
>;

/// Does part `part` of an operation's work. `types` and `values` have the results, then the operands; each
/// value begins at a multiple of 4. `scratch` begins at a multiple of 64, is for this call alone, and holds
/// garbage. It is called by any thread that runs a program, or computes a constant, for several parts at one
/// time, and does not unwind.
pub type CallersKernelFn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        types: *const ValueType,
        values: *const *mut c_void,
        part: u32,
        scratch: *mut c_void,
    ),
>;

/// An operation on tensors, without effects but its results.
#[repr(C)]
pub struct Operation {
    /// Its name after that of the dialect and a dot: `fir` for `dsp.fir`.
    pub name: *const c_char,
    /// How many operands it has.
    pub operands: usize,
    /// How many results it has.
    pub results: usize,
    /// The operand whose type its only result has; -1 if types of results are as the text says.
    pub same_type_as: i32,
    /// The operand whose memory result 0 may have; -1 if there is none. The kernel then reads a row of it (of
    /// the last dimension) whole before it writes the same row of the result, and reads it nowhere else.
    pub overwrites: i32,
    /// How its work is shared; NULL: it is not.
    pub describe: DescribeFn,
    /// What does the work.
    pub kernel: CallersKernelFn,
    /// What both functions are called with.
    pub user: *mut c_void,
}

/// Operations of the caller's own, which options may have.
pub struct CallersDialect {
    dialect: &'static Dialect,
}

/// Makes a dialect of `count` operations, which are copied. They stay until the process ends, since programs
/// go back to them, and their functions are called until then.
///
/// # Safety
/// `name` is NULL or ends with 0; `operations` has `count` elements, whose names are NULL or end with 0;
/// their functions do what their types say, with `user`, until the process ends: a kernel reads operands and
/// writes results within their bytes, uses no more scratch than was asked for, and parts that run at one time
/// write disjoint bytes; `dialect` and `errors` are NULL or places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_dialect_new(
    name: *const c_char,
    operations: *const Operation,
    count: usize,
    dialect: *mut *mut CallersDialect,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let name = text(name, "`name`")?;
            check_name(name)?;
            if Context::new().dialect(name).is_some() {
                return Err(Refusal::OutOfRange(format!("there is a dialect `{name}` already")));
            }
            let operations = listed(operations, count, "`operations`")?;
            let mut own: Vec<Checked> = Vec::with_capacity(count);
            for operation in operations {
                let checked = Checked::of(name, operation)?;
                if own.iter().any(|known| known.name == checked.name) {
                    return Err(Refusal::OutOfRange(format!("`{}` is named twice", checked.name)));
                }
                own.push(checked);
            }
            if dialect.is_null() {
                return Err(Refusal::Null("the place for the result"));
            }
            hand_over(CallersDialect { dialect: kept(name, own) }, dialect)
        })
    }
}

/// Has modules that are made with these options know the operations, and programs that are compiled with them
/// run their kernels.
///
/// # Safety
/// `options` is NULL or a handle, and so is `dialect`; `errors` is NULL or a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_options_add_dialect(
    options: *mut Options,
    dialect: *const CallersDialect,
    errors: *mut *mut Diagnostics,
) -> Status {
    // SAFETY: as the caller vouches.
    unsafe {
        ended(errors, || {
            let added = borrowed(dialect, "`dialect`")?.dialect;
            let options = changed(options, "`options`")?;
            let known = &mut options.read.dialects;
            if known.iter().any(|known| known.name == added.name) {
                return Err(Refusal::OutOfRange(format!("there is a dialect `{}` already", added.name)));
            }
            known.push(added);
            options.compile.cpu = options.compile.cpu.with_kernels(rows_of(known));
            Ok(())
        })
    }
}

/// Frees a dialect; its operations stay.
///
/// # Safety
/// `dialect` is NULL or a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_dialect_free(dialect: *mut CallersDialect) {
    // SAFETY: as the caller vouches.
    unsafe { free(dialect) }
}

/// The functions of an operation.
#[derive(Clone, Copy)]
struct Callers {
    describe: DescribeFn,
    kernel: unsafe extern "C" fn(*mut c_void, *const ValueType, *const *mut c_void, u32, *mut c_void),
    user: *mut c_void,
}

// SAFETY: `optc_dialect_new` asks that the functions may be called with it by any thread.
unsafe impl Send for Callers {}
// SAFETY: as above, by several at one time.
unsafe impl Sync for Callers {}

/// The functions of each operation, by the address of its row.
static CALLERS: Mutex<BTreeMap<usize, &'static Callers>> = Mutex::new(BTreeMap::new());

/// The kernels of dialects, by the addresses of these.
static ROWS: Mutex<BTreeMap<Vec<usize>, &'static [KernelRow]>> = Mutex::new(BTreeMap::new());

/// A name as the text of the IR has it.
fn check_name(name: &str) -> Result<(), Refusal> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_word) {
        true => Ok(()),
        false => Err(Refusal::OutOfRange(format!("`{name}` is no name: expected letters, digits and `_`"))),
    }
}

/// The most operands, and the most results, that an operation may have.
const MOST_VALUES: usize = 64;

/// An operation of which a row can be made.
struct Checked {
    /// With that of the dialect.
    name: String,
    operands: usize,
    results: usize,
    same_type_as: Option<u8>,
    overwrites: Option<u8>,
    callers: Callers,
}

impl Checked {
    /// What is said of an operation, if it can be so.
    ///
    /// # Safety
    /// The operation's name is NULL or ends with 0.
    unsafe fn of(dialect: &str, operation: &Operation) -> Result<Checked, Refusal> {
        let Operation { operands, results, describe, kernel, user, .. } = *operation;
        // SAFETY: as the caller vouches.
        let name = unsafe { text(operation.name, "the name of an operation") }?;
        check_name(name)?;
        let fault = |what: String| Refusal::OutOfRange(format!("`{dialect}.{name}`: {what}"));
        if operands > MOST_VALUES || !(1..=MOST_VALUES).contains(&results) {
            let expected = format!("expected at most {MOST_VALUES}, and at least one result");
            return Err(fault(format!("{operands} operands and {results} results, {expected}")));
        }
        let operand = |number: i32| match u8::try_from(number) {
            Ok(number) if usize::from(number) < operands => Ok(Some(number)),
            _ if number == -1 => Ok(None),
            _ => Err(fault(format!("operand {number} of {operands}"))),
        };
        let same_type_as = operand(operation.same_type_as)?;
        if same_type_as.is_some() && results != 1 {
            return Err(fault(format!("{results} results can't have an operand's type")));
        }
        let kernel = kernel.ok_or(Refusal::Null("the kernel of an operation"))?;
        Ok(Checked {
            name: format!("{dialect}.{name}"),
            operands,
            results,
            same_type_as,
            overwrites: operand(operation.overwrites)?,
            callers: Callers { describe, kernel, user },
        })
    }

    /// Its row, and its functions, for good.
    fn row(self) -> (OpDef, Callers) {
        let name: &'static str = self.name.leak();
        let reuse = |operand| Reuse { result: 0, operand, access: Access::RowWise };
        let row = OpDef {
            name,
            doc: "An operation of the caller's own.",
            operands: places(self.operands),
            results: places(self.results),
            infer: self.same_type_as.map_or(Infer::Declared, Infer::SameAs),
            traits: Traits::PURE,
            kind: Kind::Kernel(name),
            reuse: self.overwrites.map(reuse).into_iter().collect::<Vec<_>>().leak(),
            eval: Some(eval),
            ..OpDef::BLANK
        };
        (row, self.callers)
    }
}

fn places(count: usize) -> &'static [OperandDef] {
    (0..count).map(|_| OperandDef::one("value", TypeClass::Tensor)).collect::<Vec<_>>().leak()
}

/// A dialect of these operations, for good.
fn kept(name: &str, own: Vec<Checked>) -> &'static Dialect {
    let (rows, callers): (Vec<OpDef>, Vec<Callers>) = own.into_iter().map(Checked::row).unzip();
    let (rows, callers): (&'static [OpDef], &'static [Callers]) = (rows.leak(), callers.leak());
    let mut known = CALLERS.lock().unwrap_or_else(PoisonError::into_inner);
    known.extend(rows.iter().map(|row| ptr::from_ref(row).addr()).zip(callers));
    let tables: &'static [&'static [OpDef]] = vec![rows].leak();
    Box::leak(Box::new(Dialect { name: name.to_owned().leak(), doc: "The caller's own.", tables }))
}

/// The kernels of these dialects, made once.
fn rows_of(dialects: &[&'static Dialect]) -> &'static [KernelRow] {
    let key = dialects.iter().map(|dialect| ptr::from_ref(*dialect).addr()).collect();
    let mut known = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: `optc_dialect_new` asks of kernels what this asks: within the types of results and operands,
    // which `run` tells them, and the scratch that they asked for.
    let row = |def: &'static OpDef| unsafe { KernelRow::new(def.name, run, describe) };
    known.entry(key).or_insert_with(|| {
        dialects.iter().flat_map(|dialect| dialect.ops()).map(row).collect::<Vec<_>>().leak()
    })
}

/// The functions of an operation of a caller's dialect.
fn callers_of(op: OpRef<'_>) -> Result<&'static Callers, String> {
    let row = op.def().map(|def| ptr::from_ref(def).addr());
    let known = CALLERS.lock().unwrap_or_else(PoisonError::into_inner);
    row.and_then(|row| known.get(&row).copied())
        .ok_or_else(|| format!("`{}` is none of the caller's", op.name()))
}

/// The results, then the operands.
fn types(op: OpRef<'_>) -> Vec<Type> {
    let results = (0..op.body.result_count(op.op)).map(|index| op.result_type(index));
    results.chain((0..op.operand_count()).map(|index| op.operand_type(index))).collect()
}

fn value_type(ctx: &Context, ty: Type) -> Result<ValueType, String> {
    let extents = static_extents(ctx, ty).ok_or("a size is not known")?;
    let kind = element_kind(ctx, ty).ok_or("its elements are not passed to functions")?;
    if extents.len() > OPTC_MOST_DIMENSIONS {
        return Err(format!("{} dimensions, expected at most {OPTC_MOST_DIMENSIONS}", extents.len()));
    }
    let mut sizes = [0; OPTC_MOST_DIMENSIONS];
    sizes[..extents.len()].copy_from_slice(&extents);
    Ok(ValueType { element: element(kind).as_ptr().cast(), rank: extents.len(), sizes })
}

impl Callers {
    fn needs(&self, types: &[ValueType], threads: usize) -> Result<KernelNeeds, String> {
        let mut needs = KernelNeeds { parts: 1, scratch_bytes: 0 };
        if let Some(describe) = self.describe {
            // SAFETY: `optc_dialect_new` asks that it may be called so.
            let answer = unsafe { describe(self.user, types.as_ptr(), threads, &raw mut needs) };
            if answer != 0 {
                return Err(format!("the caller's function refuses it ({answer})"));
            }
        }
        Ok(needs)
    }
}

/// What [`run`] is called with: where the functions are, and the types of results and operands.
fn describe(op: OpRef<'_>, threads: usize) -> Result<KernelWork, String> {
    let callers = callers_of(op)?;
    let types = types(op).into_iter().map(|ty| value_type(op.ctx, ty)).collect::<Result<Vec<_>, _>>()?;
    let KernelNeeds { parts, scratch_bytes } = callers.needs(&types, threads)?;
    let mut words = vec![ptr::from_ref(callers).expose_provenance() as u64];
    for ty in types {
        words.extend([ty.element.expose_provenance() as u64, ty.rank as u64]);
        words.extend(ty.sizes);
    }
    let descriptor = words.into_iter().flat_map(u64::to_ne_bytes).collect();
    Ok(KernelWork { descriptor, parts, scratch_bytes: scratch_bytes as u64 })
}

/// Does part `part` of an operation's work.
///
/// # Safety
/// That of [`optc::codegen::KernelFn`], with what [`describe`] says.
unsafe extern "C" fn run(desc: *const u8, table: *const *mut u8, part: u32, scratch: *mut u8) {
    // SAFETY: `describe` wrote the address of functions that stay, and the types after it, in the form of
    // `ValueType`: words of 8 bytes.
    unsafe {
        let callers = *ptr::with_exposed_provenance::<Callers>(*desc.cast::<usize>());
        (callers.kernel)(callers.user, desc.add(8).cast(), table.cast(), part, scratch.cast());
    }
}

/// What the operation means is what its kernel does: for constants, and the interpreter.
fn eval(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let callers = callers_of(op)?;
    let all = types(op);
    let types = all.iter().map(|ty| value_type(op.ctx, *ty)).collect::<Result<Vec<_>, _>>()?;
    let KernelNeeds { parts, scratch_bytes } = callers.needs(&types, 1)?;
    let mut buffers = Vec::with_capacity(all.len());
    for ty in &all {
        let bytes = tensor_bytes(op.ctx, *ty).ok_or("a size is not known")?;
        buffers.push(AlignedBuffer::zeroed(bytes as usize).map_err(|error| error.to_string())?);
    }
    let results = all.len() - operands.len();
    for (buffer, operand) in buffers[results..].iter_mut().zip(operands) {
        buffer.as_mut_slice().copy_from_slice(&operand.bytes);
    }
    let mut scratch = AlignedBuffer::zeroed(scratch_bytes).map_err(|error| error.to_string())?;
    let values: Vec<*mut c_void> =
        buffers.iter_mut().map(|buffer| buffer.as_mut_slice().as_mut_ptr().cast()).collect();
    let scratch = scratch.as_mut_slice().as_mut_ptr().cast();
    for part in 0..parts {
        // SAFETY: `optc_dialect_new` asks that it may be called so; all values have the bytes of their types.
        unsafe { (callers.kernel)(callers.user, types.as_ptr(), values.as_ptr(), part, scratch) };
    }
    let result = |(ty, buffer): (&Type, &AlignedBuffer)| Tensor::new(op.ctx, *ty, buffer.as_slice().to_vec());
    Ok(all.iter().zip(&buffers[..results]).map(result).collect())
}
