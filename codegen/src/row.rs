//! A row of the table of kernels: the operations that a kernel computes, the layouts of its operands and
//! results, its fused operations, and its calls.
//!
//! What passes may know of kernels ([`crate::Cpu`]) and what code is made ([`crate::lower`]) both come from
//! these rows, so that they can't disagree. How much scratch a kernel wishes, and the least and the most that
//! it takes, follows from the sizes of an operation: [`KernelRow::lower`] says that with the calls.

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

/// What code is generated for.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    /// The instruction set of the kernels.
    pub(crate) isa: Isa,
    /// Threads that share each call.
    pub(crate) threads: usize,
    /// Kernels of the embedder, which are asked before those of this crate.
    pub(crate) own: &'static [KernelRow],
}

/// A kernel that operations are lowered to.
pub struct KernelRow {
    /// Its name: `mem.kernel` of the operations that it runs.
    pub(crate) name: &'static str,
    /// What it computes, in a sentence.
    pub(crate) doc: &'static str,
    /// Which operations it runs.
    pub(crate) runs: Runs,
    /// The widest arrangement in which it takes an operand of an operation, or of a group around that.
    pub(crate) reads: fn(OpRef<'_>, usize) -> Arrangement,
    /// Whether it also takes an operand so that a view in the group's body reads.
    pub(crate) reads_views: bool,
    /// The widest arrangement in which it writes results.
    pub(crate) writes: Arrangement,
    /// In which order it reads an operand of a group while it writes the group's result 0. What may overwrite
    /// an operand of a lone operation is for the operation's own row to say.
    pub(crate) access: fn(OpRef<'_>, usize) -> Access,
    /// Whether it does an operation besides its own, of type `f32`, at a place in a group; none if it runs no
    /// groups.
    pub(crate) joins: Option<Joins>,
    /// Whether it runs all of some operations as one group; none if it runs no groups around several kernels.
    pub(crate) runs_as_one: Option<RunsAsOne>,
    /// A faster algorithm that it has for an operation, if it has one.
    pub(crate) faster: Option<Faster>,
    /// The kernel on some rows of its image, if it can run so.
    pub(crate) rowwise: Option<ByRows>,
    /// Whether it may stop the program: then it runs even where it has nothing to write.
    pub(crate) stops: bool,
    /// The embedder's function that runs an operation, in the place of what `lower` says.
    pub(crate) own: Option<EmbedderKernel>,
    /// What an operation becomes, or a group around one.
    pub(crate) lower: fn(OpRef<'_>, &Machine) -> Result<Lowered, CodeRefusal>,
}

/// Whether the kernel of the first operation does the second at a place in a group.
pub(crate) type Joins = fn(OpRef<'_>, OpRef<'_>, GroupPosition) -> bool;

/// Whether a kernel runs all of some operations as one.
pub(crate) type RunsAsOne = fn(&[OpRef<'_>]) -> bool;

/// A faster algorithm for an operation.
pub(crate) type Faster = fn(OpRef<'_>, &Machine) -> Option<FasterInRoom>;

/// What a faster algorithm takes with that many bytes of scratch; none if it is not faster then.
pub(crate) type FasterInRoom = Box<dyn Fn(u64) -> Option<FasterMethod> + Send>;

/// An operation as a kernel that runs on any rows of its image.
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
    /// Those whose kind names it.
    Kernel(&'static str),
}

/// An embedder's function, as one call.
#[derive(Clone, Copy)]
pub(crate) struct EmbedderKernel {
    /// The function.
    pub(crate) entry: KernelFn,
    /// What it is told of an operation, given the number of threads.
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
            operands: results.chain(operands).collect(),
        };
        Ok(Lowered::new(name, vec![call]))
    }
}

impl Runs {
    /// What a kernel must run to run an operation, or a group around one.
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
    /// A kernel that takes and writes everything without gaps, runs no groups and overwrites nothing.
    pub(crate) const PLAIN: KernelRow = KernelRow {
        name: "",
        doc: "",
        runs: Runs::Kernel(""),
        reads: |_, _| Arrangement::Plain,
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

    /// The row that runs an operation, or a group around one, among these.
    pub(crate) fn find(rows: &'static [KernelRow], op: OpRef<'_>) -> Option<&'static KernelRow> {
        let runs = Runs::of(op)?;
        rows.iter().find(|row| row.runs == runs)
    }

    /// What an operation becomes, or a group around one.
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
