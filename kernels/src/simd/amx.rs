//! Matrix tiles of x86-64 (AMX): products of tiles of up to 16 rows of 64 bytes, with sums in registers.
//!
//! A tile of `a` has the rows of a product, one of `b` rows of pairs of `bf16` (or quads of bytes), a column
//! in each lane: the layout of packed weights. The instructions are written as assembly, since Rust's
//! functions for them are not stable. Reference: Intel 64 and IA-32 Architectures Software Developer's
//! Manual, volume 1, chapter 18.

use std::cell::Cell;

/// Rows of a tile, and its columns of 4 bytes.
pub(crate) const ROWS: usize = 16;
/// Columns of the largest product: two tiles side by side.
pub(crate) const SUM_COLUMNS: usize = 2 * ROWS;
/// Sums of the largest product: two tiles below each other.
pub(crate) const SUMS: usize = 2 * ROWS * SUM_COLUMNS;

/// The fewest rows of `b` in a step, unless K has fewer: with fewer, loads of tiles take longer than
/// products.
const LEAST_STEP: usize = 8;

/// The types of the numbers of `a` and `b`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TileNumbers {
    /// Pairs of `bf16`, with sums in `f32`.
    Bf16,
    /// Quads of unsigned bytes in `a`, of signed ones in `b`, with sums in `i32` that wrap.
    UnsignedBySigned,
    /// The other way round.
    SignedByUnsigned,
}

/// A product of one or two tiles of rows and one or two of columns, over all of K: steps of equal length, in
/// segments of rows of `a`.
#[repr(C)]
pub(crate) struct TileProduct {
    /// The first rows of the tiles of rows.
    pub(crate) a: [*const u8; 2],
    /// Bytes between rows of `a`, from step to step, and from the end of a segment to the next.
    pub(crate) a_stride: usize,
    pub(crate) a_step: usize,
    pub(crate) a_jump: usize,
    pub(crate) b: *const u8,
    /// Bytes between rows of `b`, and from step to step.
    pub(crate) b_stride: usize,
    pub(crate) b_step: usize,
    /// Steps of a segment, at least 1, and segments, at least 1.
    pub(crate) steps: usize,
    pub(crate) segments: usize,
    /// Where the sums of each tile of rows go, and the bytes between rows: 16 or 32 columns.
    pub(crate) sums: [*mut u8; 2],
    pub(crate) sums_stride: usize,
    pub(crate) former: Former,
    /// Cache lines that are fetched to the second-level cache: `ahead_lines` in each step, from `ahead` on.
    pub(crate) ahead: *const u8,
    pub(crate) ahead_lines: usize,
}

/// What a product does with the former contents of its sums.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Former {
    /// It overwrites them.
    Overwritten,
    /// It adds to them.
    Kept,
}

/// The pairs (or quads) of a step for `unit` consecutive ones of `a`, which steps must not leave: as many as
/// divide `unit` evenly; or none if only few do, so that rows must be padded to whole steps of 16.
pub(crate) fn step_within(unit: usize) -> Option<usize> {
    match unit {
        0 => None,
        1..=ROWS => Some(unit),
        _ => (LEAST_STEP..=ROWS).rev().find(|step| unit.is_multiple_of(*step)),
    }
}

/// The tiles' sizes that are set in this thread.
pub(crate) struct TileSizes {
    /// Rows and step; zeros if nothing is set.
    current: Cell<[usize; 2]>,
}

impl TileSizes {
    /// Nothing set yet. Asks for permission, if this process has not yet.
    ///
    /// # Panics
    /// If the machine has no tiles.
    #[inline(always)]
    pub(crate) fn new() -> TileSizes {
        assert!(has_bf16() || has_bytes(), "the program was compiled for a machine with matrix tiles");
        TileSizes { current: Cell::new([0; 2]) }
    }

    /// Sets the sizes for products of these rows and steps.
    #[inline(always)]
    pub(crate) fn set(&self, rows: usize, step: usize) {
        if self.current.replace([rows, step]) != [rows, step] {
            // SAFETY: `new` has found tiles.
            unsafe { machine::configure(rows, step) };
        }
    }
}

impl Drop for TileSizes {
    fn drop(&mut self) {
        if self.current.get() != [0; 2] {
            // SAFETY: `new` has found tiles.
            unsafe { machine::release() };
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri), not(optc_object)))]
mod machine {
    use super::{Former, ROWS, TileNumbers, TileProduct};
    use std::arch::asm;
    use std::arch::x86_64::__cpuid_count;
    use std::mem::offset_of;
    use std::sync::OnceLock;

    /// Bits of CPUID leaf 7's EDX.
    const TILES: u32 = 1 << 24;
    const BF16: u32 = 1 << 22;
    const BYTES: u32 = 1 << 25;
    /// `arch_prctl`, its request for permission to use a part of the state, and that of tiles.
    const ARCH_PRCTL: usize = 158;
    const REQUEST_PERMISSION: usize = 0x1023;
    const TILE_DATA: usize = 18;

    /// Whether the machine multiplies tiles of `bf16`, and the system permits it. The first call asks for
    /// permission, for all threads of the process.
    pub(crate) fn has_bf16() -> bool {
        features() & BF16 != 0 && is_x86_feature_detected!("avx512bf16")
    }

    /// Whether the machine multiplies tiles of bytes, and the system permits it.
    pub(crate) fn has_bytes() -> bool {
        features() & BYTES != 0 && is_x86_feature_detected!("avx512vnni")
    }

    /// Bits of CPUID leaf 7's EDX; none of it without tiles that the system permits.
    fn features() -> u32 {
        static FOUND: OnceLock<u32> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let edx = __cpuid_count(7, 0).edx;
            let has_tiles = is_x86_feature_detected!("avx512f") && edx & TILES != 0;
            if has_tiles && is_permitted() { edx } else { 0 }
        })
    }

    #[cfg(target_os = "linux")]
    fn is_permitted() -> bool {
        let mut result = ARCH_PRCTL;
        // SAFETY: the call reads and writes no memory of the process.
        unsafe {
            asm!(
                "syscall",
                inout("rax") result,
                in("rdi") REQUEST_PERMISSION,
                in("rsi") TILE_DATA,
                out("rcx") _,
                out("r11") _,
                options(nostack)
            );
        }
        result == 0
    }

    #[cfg(not(target_os = "linux"))]
    fn is_permitted() -> bool {
        false
    }

    /// The sizes of the tiles, as the instruction reads them.
    #[repr(C, align(64))]
    struct Configuration {
        palette: u8,
        start: u8,
        reserved: [u8; 14],
        row_bytes: [u16; 16],
        rows: [u8; 16],
    }

    /// Sets the sizes of tiles: `rows` of `a` and of the sums, and `step` rows of `b`.
    ///
    /// # Safety
    /// [`has_bf16`]; both are from 1 to 16.
    pub(super) unsafe fn configure(rows: usize, step: usize) {
        let mut sizes =
            Configuration { palette: 1, start: 0, reserved: [0; 14], row_bytes: [0; 16], rows: [0; 16] };
        let [rows, step] = [rows, step].map(|count| count.min(ROWS) as u8);
        sizes.row_bytes[..8].copy_from_slice(&[64; 8]);
        sizes.row_bytes[4..6].fill(u16::from(step) * 4);
        sizes.rows[..6].fill(rows);
        sizes.rows[6..8].fill(step);
        // SAFETY: the caller's promise; the sizes are those of palette 1.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &sizes, options(nostack, preserves_flags)) }
    }

    /// Gives the tiles back: a thread that does not use them has less state to save.
    ///
    /// # Safety
    /// [`has_bf16`].
    pub(super) unsafe fn release() {
        // SAFETY: the caller's promise.
        unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) }
    }

    /// The loop over K: `$load` loads the tiles of a step and multiplies them, `$store` stores the sums.
    macro_rules! product {
        ($tile:expr, [$($begin:expr),*], [$($step:expr),*], [$($store:expr),*]) => {
            asm!(
                "mov {a}, [{t} + {TO}]",
                "mov {c}, [{t} + {TO} + 8]",
                "mov {count}, [{t} + {TO_STRIDE}]",
                $($begin,)*
                "mov {a}, [{t} + {A}]",
                "mov {c}, [{t} + {A} + 8]",
                "2:",
                "mov {count}, [{t} + {STEPS}]",
                "3:",
                $($step,)*
                "mov {lines}, [{t} + {AHEAD_LINES}]",
                "test {lines}, {lines}",
                "jz 5f",
                "4:",
                "prefetcht1 [{ahead}]",
                "add {ahead}, 64",
                "dec {lines}",
                "jnz 4b",
                "5:",
                "add {a}, [{t} + {A_STEP}]",
                "add {c}, [{t} + {A_STEP}]",
                "add {b}, [{t} + {B_STEP}]",
                "dec {count}",
                "jnz 3b",
                "add {a}, [{t} + {A_JUMP}]",
                "add {c}, [{t} + {A_JUMP}]",
                "dec {segments}",
                "jnz 2b",
                "mov {a}, [{t} + {TO}]",
                "mov {c}, [{t} + {TO} + 8]",
                "mov {count}, [{t} + {TO_STRIDE}]",
                $($store,)*
                t = in(reg) std::ptr::from_ref::<TileProduct>($tile),
                a = out(reg) _,
                c = out(reg) _,
                a_stride = in(reg) $tile.a_stride,
                b = inout(reg) $tile.b => _,
                b_stride = in(reg) $tile.b_stride,
                segments = inout(reg) $tile.segments => _,
                count = out(reg) _,
                ahead = inout(reg) $tile.ahead => _,
                lines = out(reg) _,
                AHEAD_LINES = const offset_of!(TileProduct, ahead_lines),
                A = const offset_of!(TileProduct, a),
                STEPS = const offset_of!(TileProduct, steps),
                A_STEP = const offset_of!(TileProduct, a_step),
                A_JUMP = const offset_of!(TileProduct, a_jump),
                B_STEP = const offset_of!(TileProduct, b_step),
                TO = const offset_of!(TileProduct, sums),
                TO_STRIDE = const offset_of!(TileProduct, sums_stride),
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack)
            )
        };
    }

    /// `product` for the tiles of rows and columns that there are. The sums begin with `$first`, which makes
    /// those of a tile from its register and its place.
    macro_rules! products {
        ($tile:expr, $tiles:expr, $multiply:literal, $first:ident) => {
            match $tiles {
                [1, 1] => product!(
                    $tile,
                    [$first!("tmm0", "{a} + {count}")],
                    [
                        "tileloadd tmm4, [{a} + {a_stride}]",
                        "tileloadd tmm6, [{b} + {b_stride}]",
                        concat!($multiply, " tmm0, tmm4, tmm6")
                    ],
                    ["tilestored [{a} + {count}], tmm0"]
                ),
                [1, _] => product!(
                    $tile,
                    [$first!("tmm0", "{a} + {count}"), $first!("tmm1", "{a} + {count} + 64")],
                    [
                        "tileloadd tmm4, [{a} + {a_stride}]",
                        "tileloadd tmm6, [{b} + {b_stride}]",
                        concat!($multiply, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm7, [{b} + {b_stride} + 64]",
                        concat!($multiply, " tmm1, tmm4, tmm7")
                    ],
                    ["tilestored [{a} + {count}], tmm0", "tilestored [{a} + {count} + 64], tmm1"]
                ),
                [_, 1] => product!(
                    $tile,
                    [$first!("tmm0", "{a} + {count}"), $first!("tmm2", "{c} + {count}")],
                    [
                        "tileloadd tmm6, [{b} + {b_stride}]",
                        "tileloadd tmm4, [{a} + {a_stride}]",
                        concat!($multiply, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm5, [{c} + {a_stride}]",
                        concat!($multiply, " tmm2, tmm5, tmm6")
                    ],
                    ["tilestored [{a} + {count}], tmm0", "tilestored [{c} + {count}], tmm2"]
                ),
                _ => product!(
                    $tile,
                    [
                        $first!("tmm0", "{a} + {count}"),
                        $first!("tmm1", "{a} + {count} + 64"),
                        $first!("tmm2", "{c} + {count}"),
                        $first!("tmm3", "{c} + {count} + 64")
                    ],
                    [
                        "tileloadd tmm4, [{a} + {a_stride}]",
                        "tileloadd tmm6, [{b} + {b_stride}]",
                        concat!($multiply, " tmm0, tmm4, tmm6"),
                        "tileloadd tmm7, [{b} + {b_stride} + 64]",
                        concat!($multiply, " tmm1, tmm4, tmm7"),
                        "tileloadd tmm5, [{c} + {a_stride}]",
                        concat!($multiply, " tmm2, tmm5, tmm6"),
                        concat!($multiply, " tmm3, tmm5, tmm7")
                    ],
                    [
                        "tilestored [{a} + {count}], tmm0",
                        "tilestored [{a} + {count} + 64], tmm1",
                        "tilestored [{c} + {count}], tmm2",
                        "tilestored [{c} + {count} + 64], tmm3"
                    ]
                ),
            }
        };
    }

    macro_rules! zero {
        ($register:literal, $place:literal) => {
            concat!("tilezero ", $register)
        };
    }

    macro_rules! former {
        ($register:literal, $place:literal) => {
            concat!("tileloadd ", $register, ", [", $place, "]")
        };
    }

    /// Multiplies tiles: 1 or 2 of rows by 1 or 2 of columns.
    ///
    /// # Safety
    /// The machine multiplies these numbers. [`super::TileSizes::set`] was called in this thread for the rows
    /// of each tile and the words of a step; `a` is valid for that many rows from each start, `b` for the
    /// tiles of columns, and the places of the sums for whole tiles.
    pub(crate) unsafe fn multiply(numbers: TileNumbers, tile: &TileProduct, tiles: [usize; 2]) {
        // SAFETY: the caller's promise.
        unsafe {
            match (numbers, tile.former) {
                (TileNumbers::Bf16, Former::Overwritten) => products!(tile, tiles, "tdpbf16ps", zero),
                (TileNumbers::Bf16, Former::Kept) => products!(tile, tiles, "tdpbf16ps", former),
                (TileNumbers::UnsignedBySigned, Former::Overwritten) => {
                    products!(tile, tiles, "tdpbusd", zero);
                }
                (TileNumbers::UnsignedBySigned, Former::Kept) => products!(tile, tiles, "tdpbusd", former),
                (TileNumbers::SignedByUnsigned, Former::Overwritten) => {
                    products!(tile, tiles, "tdpbsud", zero);
                }
                (TileNumbers::SignedByUnsigned, Former::Kept) => products!(tile, tiles, "tdpbsud", former),
            }
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri), not(optc_object))))]
mod machine {
    use super::{TileNumbers, TileProduct};

    /// No machine of this architecture has them. (Object files do not use them, and Miri knows none.)
    pub(crate) fn has_bf16() -> bool {
        false
    }

    pub(crate) fn has_bytes() -> bool {
        false
    }

    pub(super) unsafe fn configure(_rows: usize, _step: usize) {
        unreachable!("this machine has no tiles")
    }

    pub(super) unsafe fn release() {
        unreachable!("this machine has no tiles")
    }

    pub(crate) unsafe fn multiply(_numbers: TileNumbers, _tile: &TileProduct, _tiles: [usize; 2]) {
        unreachable!("this machine has no tiles")
    }
}

pub(crate) use machine::{has_bf16, has_bytes, multiply};
