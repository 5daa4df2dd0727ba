//! Frames of named sizes: read from tables in the object file, and written into the caller's memory.
//!
//! `aot` writes the tables. A number for each combination of sizes identifies the layout of its frame; the
//! layout's template and columns give all words. Distances are in bytes from the start of [`Sizes`].

use std::ffi::c_int;

use super::{BAD_FRAME, BAD_SIZES, EntryFn, Program, Threads, check, is_aligned, optc_program};

/// The first words of a frame: the program that bound it, its entry, the number of statuses before its own,
/// the bytes of its arena. They are followed by the bytes of each input and output.
const PROGRAM: usize = 0;
const ENTRY: usize = 1;
const STATUSES: usize = 2;
const ARENA: usize = 3;
const HEADER: usize = 4;

/// The layout number of sizes that the program can't have.
const NONE: u32 = u32::MAX;

/// The kind of a column whose numbers are a polynomial of the sizes.
const POLYNOMIAL: u64 = 0;

/// The tables of named sizes.
#[repr(C)]
pub struct Sizes {
    /// The number of named sizes.
    symbols: u64,
    /// The least and the greatest value of each size.
    ranges: u64,
    /// The layout and the row of each combination of sizes; the last size changes first.
    members: u64,
    layouts: u64,
}

/// Frames with the same number of words.
#[repr(C)]
struct Layout {
    words: u64,
    template: u64,
    /// The words that are indices of functions.
    functions: u64,
    function_count: u64,
    columns: u64,
    column_count: u64,
    /// The words of all columns.
    targets: u64,
    /// The origin of each symbol in polynomials.
    origin: u64,
}

/// A number that varies in the frames of a layout.
#[repr(C)]
struct Column {
    /// [`POLYNOMIAL`], or the bytes of an entry.
    kind: u64,
    base: i64,
    scale: i64,
    /// Coefficients or entries.
    data: u64,
    /// The index of its first word in `targets`, and the number of its words.
    first: u64,
    count: u64,
}

impl Sizes {
    /// The data at this number of bytes after the start.
    ///
    /// # Safety
    /// There is data of this type.
    #[inline(always)]
    unsafe fn at<T>(&self, offset: u64) -> *const T {
        // SAFETY: by the caller's contract.
        unsafe { std::ptr::from_ref(self).cast::<u8>().add(offset as usize).cast() }
    }

    /// The layout at some sizes, and the row in it; none if the program can't have the sizes.
    ///
    /// # Safety
    /// There is a size for each symbol.
    unsafe fn find(&self, sizes: *const u64) -> Option<(&Layout, usize)> {
        // SAFETY: `aot` wrote the tables, with a member for each combination of sizes.
        unsafe {
            let ranges: *const [u64; 2] = self.at(self.ranges);
            let mut number = 0;
            for symbol in 0..self.symbols as usize {
                let ([least, most], size) = (*ranges.add(symbol), *sizes.add(symbol));
                if size < least || size > most {
                    return None;
                }
                number = number * (most - least + 1) + (size - least);
            }
            let members: *const [u32; 2] = self.at(self.members);
            let [layout, row] = *members.add(number as usize);
            let layouts: *const Layout = self.at(self.layouts);
            (layout != NONE).then(|| (&*layouts.add(layout as usize), row as usize))
        }
    }

    /// The number of a column in a row, at some sizes.
    ///
    /// # Safety
    /// The layout has the column and the row, and there is a size for each symbol.
    unsafe fn number(&self, layout: &Layout, column: &Column, row: usize, sizes: *const u64) -> i64 {
        // SAFETY: `aot` wrote the tables.
        unsafe {
            let entry = match column.kind {
                POLYNOMIAL => return self.polynomial(layout, self.at(column.data), sizes),
                1 => u64::from(*self.at::<u8>(column.data).add(row)),
                2 => u64::from(*self.at::<u16>(column.data).add(row)),
                4 => u64::from(*self.at::<u32>(column.data).add(row)),
                _ => *self.at::<u64>(column.data).add(row),
            };
            column.base.wrapping_add(column.scale.wrapping_mul(entry as i64))
        }
    }

    /// The sum of coefficients times products of binomials `(x - o)` over 0, 1 or 2, one factor for each size
    /// x.
    ///
    /// # Safety
    /// There is a size for each symbol, and 3 to the power of their number coefficients.
    unsafe fn polynomial(&self, layout: &Layout, coefficients: *const i64, sizes: *const u64) -> i64 {
        let symbols = self.symbols as usize;
        let mut count = 1;
        for _ in 0..symbols {
            count *= 3;
        }
        let mut sum = 0i64;
        // SAFETY: by the caller's contract.
        unsafe {
            let origin: *const u64 = self.at(layout.origin);
            for index in 0..count {
                let mut product = *coefficients.add(index);
                let mut digits = index;
                for symbol in (0..symbols).rev() {
                    let x = (*sizes.add(symbol)).wrapping_sub(*origin.add(symbol)) as i64;
                    match digits % 3 {
                        0 => {}
                        1 => product = product.wrapping_mul(x),
                        _ => product = product.wrapping_mul(x.wrapping_mul(x.wrapping_sub(1)) / 2),
                    }
                    digits /= 3;
                }
                sum = sum.wrapping_add(product);
            }
        }
        sum
    }

    /// One word of the frame at some sizes; the largest number if the program can't have them.
    ///
    /// # Safety
    /// All frames have the word, and there is a size for each symbol.
    unsafe fn word(&self, sizes: *const u64, word: usize) -> u64 {
        // SAFETY: `aot` wrote the tables.
        unsafe {
            let Some((layout, row)) = self.find(sizes) else { return u64::MAX };
            let columns: *const Column = self.at(layout.columns);
            let targets: *const u32 = self.at(layout.targets);
            for index in 0..layout.column_count as usize {
                let column = &*columns.add(index);
                for target in column.first..column.first + column.count {
                    if *targets.add(target as usize) as usize == word {
                        return self.number(layout, column, row, sizes) as u64;
                    }
                }
            }
            *self.at::<u64>(layout.template).add(word)
        }
    }

    /// Writes the frame at some sizes. Returns whether the program can have them.
    ///
    /// # Safety
    /// There is room for the largest frame, and a size for each symbol.
    unsafe fn bind(&self, sizes: *const u64, frame: *mut u64, callees: *const u64) -> bool {
        // SAFETY: `aot` wrote the tables: all words are in the frame.
        unsafe {
            let Some((layout, row)) = self.find(sizes) else { return false };
            std::ptr::copy_nonoverlapping(self.at(layout.template), frame, layout.words as usize);
            let columns: *const Column = self.at(layout.columns);
            let targets: *const u32 = self.at(layout.targets);
            for index in 0..layout.column_count as usize {
                let column = &*columns.add(index);
                let number = self.number(layout, column, row, sizes) as u64;
                for target in column.first..column.first + column.count {
                    *frame.add(*targets.add(target as usize) as usize) = number;
                }
            }
            let functions: *const u32 = self.at(layout.functions);
            for index in 0..layout.function_count as usize {
                let word = frame.add(*functions.add(index) as usize);
                *word = *callees.add(*word as usize);
            }
            true
        }
    }
}

/// `M_bind`: writes the frame for some sizes.
///
/// # Safety
/// The sizes and the frame match the header file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_bind(sizes: *const u64, frame: *mut u64) -> c_int {
    // SAFETY: by the caller's contract; the program has named sizes.
    unsafe {
        if frame.is_null() || !is_aligned(frame.cast(), 8) {
            return BAD_FRAME;
        }
        *frame.add(PROGRAM) = 0;
        if sizes.is_null() || !(*optc_program.sizes).bind(sizes, frame, optc_program.callees) {
            return BAD_SIZES;
        }
        *frame.add(PROGRAM) = own_mark();
        0
    }
}

/// The first word of a frame that this program bound.
#[inline(always)]
fn own_mark() -> u64 {
    &raw const optc_program as u64
}

/// `M_arena_bytes`: the bytes of arena at some sizes.
///
/// # Safety
/// As for [`optc_standalone_bind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_arena_bytes(sizes: *const u64) -> u64 {
    // SAFETY: by the caller's contract; each frame has the word.
    unsafe { word(sizes, ARENA) }
}

/// `M_input_bytes`: the bytes of an input at some sizes.
///
/// # Safety
/// As for [`optc_standalone_bind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_input_bytes(sizes: *const u64, index: u32) -> u64 {
    // SAFETY: by the caller's contract; each frame has a word for each input.
    unsafe {
        if u64::from(index) >= optc_program.inputs {
            return u64::MAX;
        }
        word(sizes, HEADER + index as usize)
    }
}

/// `M_output_bytes`: the bytes of an output at some sizes.
///
/// # Safety
/// As for [`optc_standalone_bind`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_output_bytes(sizes: *const u64, index: u32) -> u64 {
    // SAFETY: by the caller's contract; each frame has a word for each output after those of inputs.
    unsafe {
        if u64::from(index) >= optc_program.outputs {
            return u64::MAX;
        }
        word(sizes, HEADER + optc_program.inputs as usize + index as usize)
    }
}

/// # Safety
/// As for [`Sizes::word`]; or the sizes are null.
unsafe fn word(sizes: *const u64, word: usize) -> u64 {
    // SAFETY: by the caller's contract.
    unsafe { if sizes.is_null() { u64::MAX } else { (*optc_program.sizes).word(sizes, word) } }
}

/// `M_run` of a program with named sizes whose weights are in a file.
///
/// # Safety
/// The frame, the arena, the weights and the buffers match the header file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_run_sized(
    frame: *const u64,
    arena: *mut u8,
    weights: *const u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
) -> c_int {
    // SAFETY: passed on.
    unsafe { run(frame, arena, weights, inputs, outputs, std::ptr::null()) }
}

/// `M_run_threads` of a program with named sizes whose weights are in a file.
///
/// # Safety
/// As for [`optc_standalone_run_sized`]; `threads` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_run_threads_sized(
    frame: *const u64,
    arena: *mut u8,
    weights: *const u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    threads: *const Threads,
) -> c_int {
    // SAFETY: passed on.
    unsafe { run(frame, arena, weights, inputs, outputs, threads) }
}

/// `M_run` of a program with named sizes whose weights are in the object file.
///
/// # Safety
/// As for [`optc_standalone_run_sized`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_run_sized_embedded(
    frame: *const u64,
    arena: *mut u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
) -> c_int {
    // SAFETY: passed on; the program is constant.
    unsafe { run(frame, arena, optc_program.weights, inputs, outputs, std::ptr::null()) }
}

/// `M_run_threads` of a program with named sizes whose weights are in the object file.
///
/// # Safety
/// As for [`optc_standalone_run_threads_sized`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_standalone_run_threads_sized_embedded(
    frame: *const u64,
    arena: *mut u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    threads: *const Threads,
) -> c_int {
    // SAFETY: passed on; the program is constant.
    unsafe { run(frame, arena, optc_program.weights, inputs, outputs, threads) }
}

/// # Safety
/// As for [`optc_standalone_run_threads_sized`].
#[inline(always)]
unsafe fn run(
    frame: *const u64,
    arena: *mut u8,
    weights: *const u8,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    threads: *const Threads,
) -> c_int {
    // SAFETY: by the caller's contract. A frame bound by the program has all words of its layout.
    unsafe {
        if frame.is_null() || !is_aligned(frame.cast(), 8) || *frame.add(PROGRAM) != own_mark() {
            return BAD_FRAME;
        }
        let bytes = |index: usize| *frame.add(HEADER + index);
        let status = check(arena, weights, [inputs.cast(), outputs.cast()], threads, bytes);
        if status != 0 {
            return status;
        }
        let Program { inputs: input_count, outputs: output_count, .. } = &optc_program;
        let entry: EntryFn = std::mem::transmute::<u64, EntryFn>(*frame.add(ENTRY));
        let words = frame.add(HEADER + (*input_count + *output_count) as usize);
        let status = entry(threads, arena, weights, inputs, outputs, words.cast());
        if status > 0 { status + *frame.add(STATUSES) as c_int } else { status }
    }
}
