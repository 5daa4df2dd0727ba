//! Copies between strided layouts: transposes, operands of concatenations, slices, broadcasts.
//!
//! Axes with matching strides on both sides are joined. If the innermost axis is then contiguous on both
//! sides, whole runs are copied; short runs count as elements. If the source repeats an element, runs are
//! filled. Otherwise two axes are walked in tiles that stay in cache: the one contiguous in the source
//! and the one contiguous in the target; the other axes are loops around them. Elements of up to four
//! bytes are transposed in registers, in squares of eight. If two to four words of four bytes are
//! interleaved, like the channels of an image, the squares have four.

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::isa::Isa;
use crate::simd::{SQUARE, Simd, turn_small};

/// The greatest number of axes of a copy.
const MAX_RANK: usize = 8;
/// Elements along each side of a tile.
const TILE: usize = 16;
/// Bytes of a cache line, which is read as a whole.
const LINE: usize = 64;

/// A copy between strided layouts. Operands: `[out, x]`, which do not overlap.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Copy {
    dims: [u64; MAX_RANK],
    from_strides: [i64; MAX_RANK],
    to_strides: [i64; MAX_RANK],
    element_bytes: u32,
    parts: u32,
    isa: Isa,
    reserved: u32,
}

#[derive(Clone, Copy)]
struct CopyAxis {
    size: usize,
    from: i64,
    to: i64,
}

impl Copy {
    /// A copy of a box of elements of 1, 2, 4 or 8 bytes. Strides count elements, outermost axis first;
    /// strides of the source may be zero or negative.
    pub fn new(
        dims: &[usize],
        from_strides: &[i64],
        to_strides: &[i64],
        element_bytes: usize,
        isa: Isa,
        threads: usize,
    ) -> Copy {
        assert!([1, 2, 4, 8].contains(&element_bytes), "elements of {element_bytes} bytes");
        assert!(dims.len() == from_strides.len() && dims.len() == to_strides.len(), "a stride for each axis");
        let axes = dims.iter().zip(from_strides.iter().zip(to_strides));
        let axes = axes.map(|(size, (from, to))| CopyAxis { size: *size, from: *from, to: *to }).collect();
        let (axes, wide_bytes) = with_runs_as_elements(arrange(axes, element_bytes), element_bytes);
        assert!(axes.len() <= MAX_RANK, "at most {MAX_RANK} axes remain");
        let mut copy = Copy {
            dims: [1; MAX_RANK],
            from_strides: [0; MAX_RANK],
            to_strides: [0; MAX_RANK],
            element_bytes: wide_bytes as u32,
            parts: 1,
            isa,
            reserved: 0,
        };
        let first = MAX_RANK - axes.len();
        for (index, axis) in axes.iter().enumerate() {
            copy.dims[first + index] = axis.size as u64;
            copy.from_strides[first + index] = axis.from;
            copy.to_strides[first + index] = axis.to;
        }
        let count: usize = dims.iter().product();
        let widest = copy.split_axis();
        let parts = (threads * 4).min(copy.dims[widest] as usize);
        copy.parts = if count == 0 {
            0
        } else if count * element_bytes < 65_536 {
            1
        } else {
            parts as u32
        };
        copy
    }

    /// The axis divided into parts: the outermost with more than a few elements, or else the longest.
    fn split_axis(&self) -> usize {
        let outermost = (0..MAX_RANK - 1).find(|axis| self.dims[*axis] >= 8);
        outermost.unwrap_or_else(|| (0..MAX_RANK).max_by_key(|axis| self.dims[*axis]).unwrap_or(0))
    }

    /// Copies the box with the sizes `dims` from `from` to `to`.
    #[inline(always)]
    unsafe fn moved<S: Simd, T: std::marker::Copy>(
        &self,
        s: S,
        dims: [usize; MAX_RANK],
        from: *const T,
        to: *mut T,
    ) {
        let mut index = [0usize; MAX_RANK];
        loop {
            let offset = |strides: &[i64; MAX_RANK]| -> isize {
                (0..MAX_RANK - 2).map(|axis| index[axis] as isize * strides[axis] as isize).sum()
            };
            // SAFETY: the indices stay below the sizes for which the caller's operands are valid.
            unsafe {
                self.plane(
                    s,
                    [dims[6], dims[7]],
                    from.offset(offset(&self.from_strides)),
                    to.offset(offset(&self.to_strides)),
                );
            }
            let Some(axis) = (0..MAX_RANK - 2).rev().find(|axis| index[*axis] + 1 < dims[*axis]) else {
                return;
            };
            index[axis] += 1;
            index[axis + 1..].fill(0);
        }
    }

    /// The two innermost axes.
    #[inline(always)]
    unsafe fn plane<S: Simd, T: std::marker::Copy>(
        &self,
        s: S,
        [rows, columns]: [usize; 2],
        from: *const T,
        to: *mut T,
    ) {
        let from_strides = [self.from_strides[6] as isize, self.from_strides[7] as isize];
        let to_strides = [self.to_strides[6] as isize, self.to_strides[7] as isize];
        if from_strides[1] == 1 && to_strides[1] == 1 {
            for row in 0..rows as isize {
                // SAFETY: a row of `columns` elements is contiguous on both sides.
                unsafe {
                    let source = from.offset(row * from_strides[0]);
                    std::ptr::copy_nonoverlapping(source, to.offset(row * to_strides[0]), columns);
                }
            }
            return;
        }
        let is_joined =
            size_of::<T>() == 4 && (2..=4).contains(&columns) && to_strides[0] == columns as isize;
        if from_strides[1] == 0 && to_strides[1] == 1 && !is_joined {
            // SAFETY: the caller's promise; rows of `columns` elements are contiguous in the target.
            unsafe { fill_rows([rows, columns], (from, to), [from_strides[0], to_strides[0]]) };
            return;
        }
        if size_of::<T>() <= 4 && from_strides[0] == 1 && to_strides[1] == 1 {
            let words = (from.cast::<u32>(), to.cast::<u32>());
            let strides = [from_strides[1], to_strides[0]];
            if rows >= SQUARE && columns >= SQUARE {
                // SAFETY: the caller's promise; there is at least one square.
                return unsafe { turn_squares(s, [rows, columns], (from, to), strides) };
            }
            if is_joined {
                // SAFETY: the caller's promise; the written words are contiguous.
                return unsafe { join_channels(s, [rows, columns], words, strides[0]) };
            }
        }
        for row0 in (0..rows).step_by(TILE) {
            for column0 in (0..columns).step_by(TILE) {
                for column in column0..columns.min(column0 + TILE) {
                    let (first, column) = (row0 as isize, column as isize);
                    // SAFETY: the indices stay below the sizes for which the operands are valid.
                    unsafe {
                        let mut from = from.offset(first * from_strides[0] + column * from_strides[1]);
                        let mut to = to.offset(first * to_strides[0] + column * to_strides[1]);
                        for _ in row0..rows.min(row0 + TILE) {
                            *to = *from;
                            // The pointers past the last row are computed but never dereferenced.
                            from = from.wrapping_offset(from_strides[0]);
                            to = to.wrapping_offset(to_strides[0]);
                        }
                    }
                }
            }
        }
    }

    /// Runs a part on elements of type `T`.
    #[inline(always)]
    unsafe fn part<S: Simd, T: std::marker::Copy>(&self, s: S, operands: OperandTable, part: usize) {
        let axis = self.split_axis();
        let mut dims = self.dims.map(|size| size as usize);
        let range = piece(dims[axis], self.parts as usize, part);
        dims[axis] = range.len();
        if range.is_empty() {
            return;
        }
        let start = range.start as isize;
        // SAFETY: the part's box lies within the operands, and parts write disjoint boxes.
        unsafe {
            let from = operands.get::<T>(1).offset(start * self.from_strides[axis] as isize);
            let to = operands.get::<T>(0).offset(start * self.to_strides[axis] as isize);
            self.moved(s, dims, from, to);
        }
    }
}

/// Fills each row of `columns` contiguous elements with one element of the source.
///
/// # Safety
/// The elements are valid for reads and writes; `strides` are those between rows.
#[inline(always)]
unsafe fn fill_rows<T: std::marker::Copy>(
    [rows, columns]: [usize; 2],
    (from, to): (*const T, *mut T),
    strides: [isize; 2],
) {
    for row in 0..rows as isize {
        // SAFETY: the caller's promise.
        unsafe {
            let run = std::slice::from_raw_parts_mut(to.offset(row * strides[1]).cast(), columns);
            run.fill(std::mem::MaybeUninit::new(*from.offset(row * strides[0])));
        }
    }
}

/// Transposes elements that are contiguous along rows in the source, and along columns in the target;
/// `strides` are those of the other axis. At the ends, squares overlap.
///
/// # Safety
/// The elements have at most four bytes, and are valid for reads and writes; there are at least [`SQUARE`]
/// rows and columns.
#[inline(always)]
pub(crate) unsafe fn turn_squares<S: Simd, T: std::marker::Copy>(
    s: S,
    [rows, columns]: [usize; 2],
    (from, to): (*const T, *mut T),
    [from_stride, to_stride]: [isize; 2],
) {
    let line = LINE / size_of::<T>();
    for tile in (0..rows).step_by(line) {
        for column in (0..columns).step_by(SQUARE) {
            for row in (tile..rows.min(tile + line)).step_by(SQUARE) {
                let (row, column) = (row.min(rows - SQUARE) as isize, column.min(columns - SQUARE) as isize);
                // SAFETY: the square lies within the rows and columns.
                unsafe {
                    let from = from.offset(row + column * from_stride);
                    let to = to.offset(row * to_stride + column);
                    match size_of::<T>() {
                        4 => s.transpose::<SQUARE>(from.cast(), from_stride, to.cast(), to_stride),
                        _ => turn_small(from, from_stride, to, to_stride),
                    }
                }
            }
        }
    }
}

/// Interleaves the words of two to four planes.
///
/// # Safety
/// The words are valid for reads and writes; those of a plane are contiguous, and the planes `stride` words
/// apart.
#[inline(always)]
unsafe fn join_channels<S: Simd>(
    s: S,
    [words, planes]: [usize; 2],
    (from, to): (*const u32, *mut u32),
    stride: isize,
) {
    let mut at = 0;
    // With fewer than four planes, a row's store writes extra words, and the next row overwrites them: so
    // there must be a next row.
    while at + 4 + usize::from(planes < 4) <= words {
        // SAFETY: four words at `at` and the next row's are within the planes.
        unsafe {
            let mut square = [[0u32; 4]; 4];
            for (plane, row) in square.iter_mut().enumerate().take(planes) {
                *row = from.offset(plane as isize * stride).add(at).cast::<[u32; 4]>().read_unaligned();
            }
            s.transpose::<4>(square.as_ptr().cast(), 4, to.add(at * planes), planes as isize);
        }
        at += 4;
    }
    for at in at..words {
        for plane in 0..planes {
            // SAFETY: one word of a plane.
            unsafe {
                let word = from.offset(plane as isize * stride).add(at).read_unaligned();
                to.add(at * planes + plane).write_unaligned(word);
            }
        }
    }
}

/// Runs of few bytes as one element each: axes in order, and the bytes of an element.
fn with_runs_as_elements(mut axes: Vec<CopyAxis>, element_bytes: usize) -> (Vec<CopyAxis>, usize) {
    let Some(run) = axes.pop() else { return (axes, element_bytes) };
    let wide = run.size * element_bytes;
    let is_whole = |stride: i64| stride % run.size as i64 == 0;
    let is_element = [run.from, run.to] == [1, 1] && [2, 4, 8].contains(&wide) && !axes.is_empty();
    if !is_element || !axes.iter().all(|axis| is_whole(axis.from) && is_whole(axis.to)) {
        axes.push(run);
        return (axes, element_bytes);
    }
    let of_runs = |stride: i64| stride / run.size as i64;
    let axes =
        axes.into_iter().map(|axis| CopyAxis { from: of_runs(axis.from), to: of_runs(axis.to), ..axis });
    (arrange(axes.collect(), wide), wide)
}

/// The axes in order, without those of size 1 and with neighbours joined if their strides match. The
/// innermost is the one contiguous in the target; before it come the one contiguous in the source, and one
/// whose neighbours share a cache line there.
fn arrange(axes: Vec<CopyAxis>, element_bytes: usize) -> Vec<CopyAxis> {
    let mut joined: Vec<CopyAxis> = Vec::new();
    for axis in axes.into_iter().filter(|axis| axis.size != 1) {
        match joined.last_mut() {
            Some(outer)
                if outer.from == axis.from * axis.size as i64 && outer.to == axis.to * axis.size as i64 =>
            {
                *outer = CopyAxis { size: outer.size * axis.size, ..axis };
            }
            _ => joined.push(axis),
        }
    }
    joined.sort_by_key(|axis| std::cmp::Reverse(axis.to.unsigned_abs()));
    let last = joined.len().saturating_sub(1);
    let reads_apart = joined.last().is_some_and(|axis| axis.from != 1);
    if let Some(read) = (0..last).find(|index| joined[*index].from == 1).filter(|_| reads_apart) {
        let axis = joined.remove(read);
        joined.insert(last - 1, axis);
        let is_near = |axis: &CopyAxis| axis.from.unsigned_abs() as usize * element_bytes < LINE;
        if let Some(near) = joined[..last - 1].iter().position(is_near) {
            joined[near..last - 1].rotate_left(1);
        }
    }
    joined
}

/// An element at any address: a run of several may begin at each of them.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct AnywhereElement<E>(E);

// SAFETY: 24 eight-byte integers and four `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for Copy {
    fn parts(&self) -> u32 {
        self.parts
    }

    fn scratch_bytes(&self) -> usize {
        0
    }

    fn entry(&self) -> KernelFn {
        entry_of::<Copy>(self.isa)
    }
}

impl KernelBody for Copy {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, s: S, operands: OperandTable, part: u32, _scratch: *mut u8) {
        // SAFETY: the caller's promise; the element type has the size that the descriptor names.
        unsafe {
            match self.element_bytes {
                1 => self.part::<S, u8>(s, operands, part as usize),
                2 => self.part::<S, AnywhereElement<u16>>(s, operands, part as usize),
                4 => self.part::<S, AnywhereElement<u32>>(s, operands, part as usize),
                _ => self.part::<S, AnywhereElement<u64>>(s, operands, part as usize),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row_major(dims: &[usize]) -> Vec<i64> {
        let mut strides = vec![1i64; dims.len()];
        for axis in (1..dims.len()).rev() {
            strides[axis - 1] = strides[axis] * dims[axis] as i64;
        }
        strides
    }

    fn run<T>(copy: &Copy, out: &mut [T], x: &[T]) {
        let ptrs: [*mut u8; 2] = [out.as_mut_ptr().cast(), x.as_ptr().cast_mut().cast()];
        // Last part first, so that a write beyond a part's end shows.
        for part in (0..copy.parts()).rev() {
            // SAFETY: the operands have the extents that the test made the descriptor for; no scratch is
            // used.
            unsafe { copy.entry()(copy.as_bytes().as_ptr(), ptrs.as_ptr(), part, std::ptr::null_mut()) }
        }
    }

    /// Checks a copy into contiguous memory; source elements are told apart by `number`.
    fn check<T: PartialEq + std::marker::Copy + std::fmt::Debug>(
        dims: &[usize],
        from: &[i64],
        number: impl Fn(usize) -> T,
    ) {
        let last: i64 = dims.iter().zip(from).map(|(size, stride)| (*size as i64 - 1) * stride).sum();
        let x: Vec<T> = (0..=last as usize).map(&number).collect();
        let count = dims.iter().product::<usize>();
        for isa in Isa::available() {
            let copy = Copy::new(dims, from, &row_major(dims), size_of::<T>(), isa, 2);
            let mut out = vec![number(usize::MAX); count + 4];
            run(&copy, &mut out, &x);
            assert_eq!(out.split_off(count), [number(usize::MAX); 4], "{dims:?} {from:?}");
            for (index, found) in out.iter().enumerate() {
                let mut rest = index;
                let mut at = 0;
                for axis in (0..dims.len()).rev() {
                    at += (rest % dims[axis]) as i64 * from[axis];
                    rest /= dims[axis];
                }
                assert_eq!(*found, x[at as usize], "{dims:?} {from:?} at {index}, {isa:?}");
            }
        }
    }

    /// The same for elements of 1, 2, 4 and 8 bytes.
    fn check_all_sizes(dims: &[usize], from: &[i64]) {
        let mixed = |index: usize| (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        check(dims, from, |index| (mixed(index) >> 56) as u8);
        check(dims, from, |index| (mixed(index) >> 48) as u16);
        check(dims, from, |index| (mixed(index) >> 32) as u32);
        check(dims, from, mixed);
    }

    #[test]
    fn every_transpose_moves_each_element_to_its_place() {
        // The last shapes are divided into parts.
        let some = &[
            [2, 3, 5, 7],
            [1, 3, 40, 41],
            [3, 1, 33, 64],
            [2, 70, 1, 90],
            [2, 4, 5, 3],
            [1, 2, 101, 90],
            [1, 3, 101, 90],
            [1, 4, 101, 90],
            [2, 103, 1, 97],
        ];
        let few = &[[2, 3, 5, 2], [1, 2, 17, 18], [3, 1, 3, 16], [2, 19, 1, 2]];
        for dims in if cfg!(miri) { &few[..] } else { &some[..] } {
            let strides = row_major(dims);
            for permutation in
                [[0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0], [1, 0, 2, 3], [0, 1, 2, 3], [2, 0, 3, 1]]
            {
                let to_dims = permutation.map(|axis: usize| dims[axis]);
                check_all_sizes(&to_dims, &permutation.map(|axis| strides[axis]));
            }
        }
    }

    /// Blocks of an image's pixels from channels and the other way, and rows of few elements.
    #[test]
    fn short_runs_are_moved_as_elements() {
        let some = &[
            ([1, 19, 17, 9, 2, 2], [0, 3, 1, 4, 2, 5]),
            ([2, 9, 2, 10, 2, 17], [0, 1, 3, 2, 4, 5]),
            ([3, 5, 9, 33, 1, 4], [2, 0, 3, 1, 4, 5]),
            ([1, 40, 3, 37, 1, 8], [0, 3, 1, 2, 4, 5]),
            ([2, 1, 3, 5, 7, 3], [4, 3, 2, 0, 1, 5]),
        ];
        for (dims, permutation) in some.iter().take(if cfg!(miri) { 1 } else { some.len() }) {
            let strides = row_major(dims);
            let to_dims = permutation.map(|axis: usize| dims[axis]);
            check_all_sizes(&to_dims, &permutation.map(|axis| strides[axis]));
        }
    }

    /// Runs of bytes are elements of up to eight bytes, whose addresses are no multiples of that.
    #[test]
    fn short_runs_may_begin_at_any_address() {
        let [rows, columns] = [17, 19];
        for run_bytes in [2, 4, 8] {
            let count = rows * columns * run_bytes;
            let x: Vec<u8> = (0..count + 3).map(|index| (index * 7 / 5) as u8).collect();
            let stride = |count: usize| (count * run_bytes) as i64;
            let from = [stride(1), stride(rows), 1];
            let to = [stride(columns), stride(1), 1];
            for (isa, first) in Isa::available().into_iter().flat_map(|isa| [1, 3].map(|first| (isa, first)))
            {
                let copy = Copy::new(&[rows, columns, run_bytes], &from, &to, 1, isa, 2);
                assert_eq!(copy.element_bytes as usize, run_bytes);
                let mut out = vec![0u8; count + 3];
                run(&copy, &mut out[first..], &x[first..]);
                for (index, found) in out[first..][..count].iter().enumerate() {
                    let [run, byte] = [index / run_bytes, index % run_bytes];
                    let source = (run % columns * rows + run / columns) * run_bytes + byte;
                    assert_eq!(*found, x[first + source], "{isa:?}, {run_bytes} from {first} on, at {index}");
                }
            }
        }
    }

    #[test]
    fn elements_and_rows_are_repeated_along_any_axis() {
        for [rows, columns] in [[3, 5], [1, 40], [41, 1], [9, 70], [100, 33]] {
            check_all_sizes(&[rows, columns], &[1, 0]);
            check_all_sizes(&[rows, columns], &[0, 1]);
            check_all_sizes(&[rows, columns], &[0, 0]);
            check_all_sizes(&[2, rows, columns], &[rows as i64 + 3, 1, 0]);
            check_all_sizes(&[rows, 3, columns], &[columns as i64, 0, 1]);
        }
    }

    #[test]
    fn a_part_of_a_wider_tensor_is_written_and_nothing_beside() {
        let x: Vec<u32> = (0..20 * 30).collect();
        let mut out = vec![u32::MAX; 20 * 50];
        let copy = Copy::new(&[20, 30], &[30, 1], &[50, 1], 4, Isa::detect(), 2);
        run(&copy, &mut out, &x);
        for (index, value) in out.iter().enumerate() {
            let (row, column) = (index / 50, index % 50);
            let wanted = if column < 30 { (row * 30 + column) as u32 } else { u32::MAX };
            assert_eq!(*value, wanted, "row {row}, column {column}");
        }
    }

    #[test]
    fn a_broadcast_and_a_reversal_are_read_by_their_strides() {
        let x = [1, 2, 3];
        let mut out = vec![0; 6];
        run(&Copy::new(&[2, 3], &[0, 1], &[3, 1], 4, Isa::detect(), 1), &mut out, &x);
        assert_eq!(out, [1, 2, 3, 1, 2, 3]);
        // All rows are the same row (stride 0), with an element stride of two.
        let x: Vec<u32> = (0..40).collect();
        let mut out = vec![0; 20 * 20];
        run(&Copy::new(&[20, 20], &[0, 2], &[20, 1], 4, Isa::detect(), 1), &mut out, &x);
        assert!(out.iter().enumerate().all(|(index, found)| *found == 2 * (index as u32 % 20)), "{out:?}");
        let x = [1, 2, 3];
        let mut out = vec![0; 6];
        let copy = Copy::new(&[3], &[-1], &[1], 4, Isa::detect(), 1);
        let ptrs: [*mut u8; 2] = [out.as_mut_ptr().cast(), x.as_ptr().wrapping_add(2).cast_mut().cast()];
        // SAFETY: three elements are read backwards from the last one, and three are written.
        unsafe { copy.entry()(copy.as_bytes().as_ptr(), ptrs.as_ptr(), 0, std::ptr::null_mut()) }
        assert_eq!(out[..3], [3, 2, 1]);
    }
}
