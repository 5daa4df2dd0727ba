//! The trait `Target`: facts about the machine that passes need.
//!
//! A target answers questions about single operations. The pass `select` writes its answers into the IR, so
//! that planning can add up scratch without knowing the kernels.

use crate::body::OpRef;
use crate::memory_pools::MemoryPool;
use crate::opdef::Access;

/// A machine to compile for.
pub trait Target: Sync {
    /// The name in `optc.target`.
    fn name(&self) -> &str;

    /// The data layout in which this operation runs best (`"NHWC"`), if it supports several.
    fn layout(&self, op: OpRef<'_>) -> Option<&'static str>;

    /// Whether `op` can join a group at the given position, such that the group's kernel runs both.
    ///
    /// `root` is the contraction (or pool) that the group is built around.
    fn fuses(&self, root: OpRef<'_>, op: OpRef<'_>, place: GroupPosition) -> bool;

    /// Whether one kernel runs all these operations as a group around several contractions or kernels, for
    /// any sizes. One operation makes the result; the results of the others are read only inside the group.
    fn runs_as_one(&self, ops: &[OpRef<'_>]) -> bool {
        let _ = ops;
        false
    }

    /// The kernel that runs an operation (or group), and its needs; none if general code is generated.
    fn select(&self, op: OpRef<'_>, threads: usize) -> Option<KernelChoice>;

    /// A faster algorithm for an operation, if there is one with another rounding or more scratch. It takes
    /// at most `room_bytes` of scratch, unless it needs more ([`FasterMethod::least_room_bytes`]). Whether
    /// there is one must not depend on the number of threads. An operation uses the algorithm named by its
    /// `mem.method`, and [`Target::select`] then returns the needs of this algorithm.
    fn faster(&self, op: OpRef<'_>, threads: usize, room_bytes: u64) -> Option<FasterMethod> {
        let _ = (op, threads, room_bytes);
        None
    }

    /// The order in which a contraction, or a group, reads an operand while it writes result 0. It determines
    /// how the result may overwrite the operand, and is the same for all sizes.
    fn access(&self, op: OpRef<'_>, operand: usize) -> Access {
        let _ = (op, operand);
        Access::Never
    }

    /// Whether the kernel of `op` can write its result in rows with gaps between them (`mem.pitch`), for any
    /// sizes.
    fn writes_rows(&self, op: OpRef<'_>) -> bool {
        let _ = op;
        false
    }

    /// Whether the kernel of `op`, which can write rows, can write rows shorter than its result's last axis,
    /// for any sizes.
    fn writes_strides(&self, op: OpRef<'_>) -> bool {
        let _ = op;
        false
    }

    /// Whether the kernel of `op` can read an operand in rows with gaps between them, for any sizes.
    fn reads_rows(&self, op: OpRef<'_>, operand: usize) -> bool {
        let _ = (op, operand);
        false
    }

    /// Whether the kernel of `op` can read an operand with any stride along each axis.
    fn reads_strides(&self, op: OpRef<'_>, operand: usize) -> bool {
        let _ = (op, operand);
        false
    }

    /// Whether the kernel of `op`, which can read an operand with any strides, copies it before it computes,
    /// and so takes no longer if the operand's axes are in another order in memory.
    fn reads_a_copy(&self, op: OpRef<'_>, operand: usize) -> bool {
        let _ = (op, operand);
        false
    }

    /// The memory pools of the machine beside the arena. One called `arena` sets properties of the arena.
    fn pools(&self) -> Vec<MemoryPool> {
        Vec::new()
    }

    /// The name of the pool for a result of an operation; none for the arena.
    fn pool(&self, op: OpRef<'_>, result: usize) -> Option<&str> {
        let _ = (op, result);
        None
    }
}

/// The position of an operation in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupPosition {
    /// On the root's first operand, before it is read.
    Prologue,
    /// Adds a value for each output channel.
    Bias,
    /// Adds a value of the result's own shape.
    Residual,
    /// Maps each element of the result; nothing follows it.
    Activation,
    /// Maps each sum of a quantized contraction, with at most one other operand: a number, one for each
    /// output channel, or one for each sum.
    Rescaling,
}

/// A kernel, and its needs for one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelChoice {
    /// Its name: `mem.kernel`.
    pub kernel: String,
    /// Scratch of all threads together, in bytes, 64-byte aligned: `mem.scratch`.
    pub scratch_bytes: u64,
    /// The least scratch that the kernel can run with; `mem.scratch` may be as low.
    pub least_scratch_bytes: u64,
    /// An upper bound of `scratch_bytes` for the operation at all sizes up to these, where another kernel may
    /// be chosen.
    pub most_scratch_bytes: u64,
    /// Scratch that is enough for the operation at all sizes up to these: an upper bound of
    /// `least_scratch_bytes`.
    pub enough_scratch_bytes: u64,
    /// Bytes of repacked weights; 0 if the weights are used as they are.
    pub packed_bytes: u64,
    /// How it can overwrite rows that it has read with result 0; none if it reads in another order.
    pub bands: Option<Bands>,
    /// Why the operation runs slower than others of its kind, if it does: the text of the remark.
    pub slow: Option<String>,
}

/// An algorithm that may replace a kernel's usual one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FasterMethod {
    /// Its name: `mem.method`.
    pub name: &'static str,
    /// The speedup, as a ratio of times.
    pub speedup: f64,
    /// The largest error in a sample, relative to the largest result.
    pub error: f64,
    /// Scratch of all threads together, within the offered room, in bytes.
    pub scratch_bytes: u64,
    /// The least scratch of all threads together, in bytes. With less, fewer threads run it: `mem.scratch`
    /// may be as low as `least_room_bytes`.
    pub least_scratch_bytes: u64,
    /// The least room that it can run in, in bytes; independent of the number of threads.
    pub least_room_bytes: u64,
    /// How it can overwrite rows that it has read with result 0.
    pub bands: Option<Bands>,
}

/// A kernel's ability to run in bands of rows: each band's rows of the result are written before a later band
/// reads anything. A band has rows of one image of the batch.
///
/// If a target allows it for an operation at some sizes, it also does at all other sizes with more than one
/// row of the result in all images together, and a first and a last window of an image that are not entirely
/// in the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    /// The operand that is read by rows.
    pub operand: usize,
    /// Bands of at least this many rows cost almost no time; a multiple of `multiple`.
    pub free_rows: u64,
    /// The rows of each band but the last one of an image are a multiple of this.
    pub multiple: u64,
}
