//! A row of the table of kernels: the operations that a kernel computes, the layouts of its operands and
//! results, its fused operations, and its calls.
//!
//! The facts about kernels for passes ([`crate::Cpu`]) and the code ([`crate::lower`]) both come from these
//! rows, so they cannot disagree. The preferred, the least and the greatest scratch of a kernel follow from
//! the sizes of an operation: [`KernelRow::lower`] returns them with the calls.

use ir::Kind;
use ir::body::OpRef;
use ir::opdef::{Access, Contract};
use ir::target::{FasterMethod, GroupPosition};
use ir::window::Arrangement;
use kernels::{Isa, KernelFn};

use crate::bands::Rowwise;
use crate::call::{KernelCode, Lowered, LoweredCall, Pointer};
use crate::group;
use crate::refusal::CodeRefusal;

/// The machine that code is generated for.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    /// The instruction set of the kernels.
    pub(crate) isa: Isa,
    /// The number of threads that share each call.
    pub(crate) threads: usize,
    /// Kernels of the embedder, which are tried before those of this crate.
    pub(crate) own: &'static [KernelRow],
}

/// A kernel to which operations are lowered.
pub struct KernelRow {
    /// Its name: `mem.kernel` of the operations that it runs.
    pub(crate) name: &'static str,
    /// What it computes, in a sentence.
    pub(crate) doc: &'static str,
    /// Which operations it runs.
    pub(crate) runs: Runs,
    /// The widest arrangement in which it takes an operand of an operation, or of a group around that.
    pub(crate) reads: fn(OpRef<'_>, usize) -> Arrangement,
    /// Whether it copies an operand before it computes, so that any order of the axes is as fast.
    pub(crate) reads_a_copy: fn(OpRef<'_>, usize) -> bool,
    /// Whether it also takes an operand through a view in the group's body.
    pub(crate) reads_views: bool,
    /// The widest arrangement in which it writes results.
    pub(crate) writes: Arrangement,
    /// The order in which it reads an operand of a group while it writes the group's result 0. For a lone
    /// operation, the operation's own row says which operands may be overwritten.
    pub(crate) access: fn(OpRef<'_>, usize) -> Access,
    /// Whether it can do another `f32` operation at a position in a group; none if it runs no groups.
    pub(crate) joins: Option<Joins>,
    /// Whether it runs a list of operations as one group; none if it runs no groups around several kernels.
    pub(crate) runs_as_one: Option<RunsAsOne>,
    /// A faster algorithm for an operation, if it has one.
    pub(crate) faster: Option<Faster>,
    /// The kernel on some rows of its image, if it supports that.
    pub(crate) rowwise: Option<ByRows>,
    /// Whether it may stop the program: then it also runs if it has nothing to write.
    pub(crate) stops: bool,
    /// The embedder's function that runs an operation, instead of the calls of `lower`.
    pub(crate) own: Option<EmbedderKernel>,
    /// The lowering of an operation, or of a group around one.
    pub(crate) lower: fn(OpRef<'_>, &Machine) -> Result<Lowered, CodeRefusal>,
}

/// Whether the kernel of the first operation can do the second at a position in a group.
pub(crate) type Joins = fn(OpRef<'_>, OpRef<'_>, GroupPosition) -> bool;

/// Whether a kernel runs a list of operations as one.
pub(crate) type RunsAsOne = fn(&[OpRef<'_>]) -> bool;

/// A faster algorithm for an operation.
pub(crate) type Faster = fn(OpRef<'_>, &Machine) -> Option<FasterInRoom>;

/// The faster algorithm with this number of bytes of scratch; none if it is not faster then.
pub(crate) type FasterInRoom = Box<dyn Fn(u64) -> Option<FasterMethod> + Send>;

/// The kernel of an operation, restricted to rows of its image.
pub(crate) type ByRows = fn(OpRef<'_>, &Machine) -> Result<Rowwise, CodeRefusal>;

/// Which operations a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// Elementwise operations, and groups of these with views.
    Elementwise,
    /// Views that are copied.
    View,
    /// Groups around several contractions and other kernels.
    Chain,
    /// Reductions.
    Reduce,
    /// Contractions, alone or with what is fused to them.
    Contract(Contract),
    /// Operations whose kind has this name.
    Kernel(&'static str),
}

/// An embedder's function, as one call.
#[derive(Clone, Copy)]
pub(crate) struct EmbedderKernel {
    /// The function.
    pub(crate) entry: KernelFn,
    /// The call for an operation, given the number of threads.
    pub(crate) describe: fn(OpRef<'_>, usize) -> Result<KernelWork, String>,
}

/// The call of an embedder's kernel for one operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelWork {
    /// The kernel's own descriptor of sizes, which is passed to it aligned to 8.
    pub descriptor: Vec<u8>,
    /// The number of parts, which may run at the same time; 0 if there is nothing to do.
    pub parts: u32,
    /// Scratch of each thread in bytes; it is aligned to 64.
    pub scratch_bytes: u64,
}

impl EmbedderKernel {
    fn lower(&self, name: &'static str, op: OpRef<'_>, threads: usize) -> Result<Lowered, CodeRefusal> {
        let work = (self.describe)(op, threads).map_err(CodeRefusal::new)?;
        let results = (0..op.body.result_count(op.op)).map(|index| Pointer::Result(index, 0));
        let operands = (0..op.operand_count()).map(|index| Pointer::Operand(index, 0));
        let scratch_bytes = work.scratch_bytes.next_multiple_of(64);
        let call = LoweredCall {
            code: KernelCode::Kernel(self.entry),
            descriptor: work.descriptor,
            parts: work.parts,
            scratch_bytes,
            most_scratch_bytes: scratch_bytes,
            enough_scratch_bytes: scratch_bytes,
            operands: results.chain(operands).collect(),
        };
        Ok(Lowered::new(name, vec![call]))
    }
}

impl Runs {
    /// The kind of kernel that can run an operation, or a group around one.
    fn of(op: OpRef<'_>) -> Option<Runs> {
        Some(match op.kind() {
            Kind::Group => match group::roots(op)[..] {
                [] => Runs::Elementwise,
                [root] => return Runs::of(op.body.at(op.ctx, root)),
                _ => Runs::Chain,
            },
            Kind::Elementwise(_) => Runs::Elementwise,
            Kind::View(_) => Runs::View,
            Kind::Reduce(_) => Runs::Reduce,
            Kind::Contract(contract) => Runs::Contract(contract),
            Kind::Kernel(name) => Runs::Kernel(name),
            Kind::Region(_) | Kind::Branch(_) | Kind::Source | Kind::Structure => return None,
        })
    }
}

impl KernelRow {
    /// A kernel whose operands and results are all contiguous; it runs no groups and overwrites nothing.
    pub(crate) const PLAIN: KernelRow = KernelRow {
        name: "",
        doc: "",
        runs: Runs::Kernel(""),
        reads: |_, _| Arrangement::Plain,
        reads_a_copy: |_, _| false,
        reads_views: false,
        writes: Arrangement::Plain,
        access: |_, _| Access::Never,
        joins: None,
        runs_as_one: None,
        faster: None,
        rowwise: None,
        stops: false,
        own: None,
        lower: |_, _| Err(CodeRefusal::new("it has no lowering")),
    };

    /// Its name in `mem.kernel`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it computes, in a sentence.
    pub fn doc(&self) -> &'static str {
        self.doc
    }

    /// The row among these that runs an operation, or a group around one.
    pub(crate) fn find(rows: &'static [KernelRow], op: OpRef<'_>) -> Option<&'static KernelRow> {
        let runs = Runs::of(op)?;
        rows.iter().find(|row| row.runs == runs)
    }

    /// Lowers an operation, or a group around one.
    ///
    /// # Errors
    /// If the kernel does not run it, with the reason.
    pub(crate) fn lower(&self, op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
        if matches!(op.kind(), Kind::Group) && self.joins.is_none() {
            return Err(CodeRefusal::new("its kernel fuses no other operations"));
        }
        match &self.own {
            Some(own) => own.lower(self.name, op, machine.threads),
            None => (self.lower)(op, machine),
        }
    }
}
