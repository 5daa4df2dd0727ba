//! The table of kernels: the machine code of each, for each instruction set.
//!
//! A process knows a kernel by its address, an object file by its name. This table connects both, since every
//! address of a descriptor ([`crate::Kernel::entry`]) is read from it.

use crate::abi::{KernelBody, KernelFn, entries};
use crate::isa::Isa;
use crate::{
    ArgExtreme, ArgSort, Attention, Bits, CheckBoxes, CheckIndices, ColumnSoftmax, Compress, Conv2d, Copy,
    Cumulate, DepthwiseConv2d, GlobalAveragePool, GroupNorm, Lookup, NonMaxSuppression, PairConv2d, Pool2d,
    Put, QuadConv2d, Requantize, Resample, RoiAlign, RowNorm, RowSoftmax, Take, VectorMap, Winograd,
};

/// A kernel whose machine code is in the table.
pub(crate) trait Tabled: KernelBody {
    /// Its machine code, for each of [`Isa::PATHS`].
    fn entries() -> &'static [KernelFn; 3];
}

macro_rules! kernels {
    ($($kernel:ident)+) => {
        enum Number { $($kernel),+ }

        $(impl Tabled for $kernel {
            fn entries() -> &'static [KernelFn; 3] {
                &ENTRIES[Number::$kernel as usize]
            }
        })+

        const NAMES: &[&str] = &[$(stringify!($kernel)),+];

        // SAFETY: nothing else has a name that begins with `optc_`.
        #[unsafe(export_name = "optc_kernels")]
        static ENTRIES: [[KernelFn; 3]; NAMES.len()] = [$(entries::<$kernel>()),+];
    };
}

kernels! {
    ArgExtreme
    ArgSort
    Attention
    Bits
    CheckBoxes
    CheckIndices
    ColumnSoftmax
    Compress
    Conv2d
    Copy
    Cumulate
    DepthwiseConv2d
    GlobalAveragePool
    GroupNorm
    Lookup
    NonMaxSuppression
    PairConv2d
    Pool2d
    Put
    QuadConv2d
    Requantize
    Resample
    RoiAlign
    RowNorm
    RowSoftmax
    Take
    VectorMap
    Winograd
}

/// The number of the kernel with its machine code at an address, and its instruction set of [`Isa::PATHS`];
/// none if the address is no kernel of this crate. If several kernels share the code, it is the first.
pub fn kernel_number(address: u64) -> Option<(usize, Isa)> {
    let find =
        |row: &[KernelFn; 3]| Isa::PATHS.into_iter().find(|isa| row[isa.path()] as usize as u64 == address);
    ENTRIES.iter().enumerate().find_map(|(number, row)| Some((number, find(row)?)))
}

/// The number of kernels.
pub fn kernel_count() -> usize {
    NAMES.len()
}

/// The kernels whose descriptors depend on features of the machine that made them: object files use none of
/// these.
// SAFETY: nothing else has a name that begins with `optc_`.
#[unsafe(export_name = "optc_only_here")]
static ONLY_HERE: [bool; NAMES.len()] = {
    let mut only_here = [false; NAMES.len()];
    only_here[Number::PairConv2d as usize] = true;
    only_here
};

/// Whether descriptors of a kernel depend on features of the machine that made them.
pub fn is_for_this_machine(number: usize) -> bool {
    ONLY_HERE[number]
}

/// The name of a kernel.
///
/// # Panics
/// If there is no kernel with this number.
pub fn kernel_name(number: usize) -> &'static str {
    NAMES[number]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;

    #[test]
    fn a_descriptors_function_is_found_in_the_table() {
        for isa in Isa::available() {
            let kernel = Copy::new(&[3], &[1], &[1], 4, isa, 1);
            let (number, found) = kernel_number(kernel.entry() as usize as u64).unwrap();
            assert_eq!((kernel_name(number), found), ("Copy", Isa::PATHS[isa.path()]));
        }
        assert_eq!(kernel_number(0), None);
    }
}
