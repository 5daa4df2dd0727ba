//! The CPU as a target of passes.

use std::fmt;

use ir::body::OpRef;
use ir::diag::did_you_mean;
use ir::opdef::Access;
use ir::target::{FasterMethod, GroupPosition, KernelChoice};
use ir::window::Arrangement;
use ir::{Kind, Target};
use kernels::Isa;

use crate::arrangement;
use crate::kernels::{row_of, rows};
use crate::lower::{faster, lower};
use crate::row::{KernelRow, Machine};

/// A processor: its instruction set, and kernels of an embedder besides this crate's.
#[derive(Clone, Copy)]
pub struct Cpu {
    isa: Isa,
    own: &'static [KernelRow],
}

/// The processors without kernels of an embedder, in the order of [`Isa::ALL`].
static LEVELS: [Cpu; 4] =
    [Cpu::of(Isa::Scalar), Cpu::of(Isa::Avx2), Cpu::of(Isa::Avx512), Cpu::of(Isa::Aarch64)];

/// Other names of machines, each with the widest instruction set that runs on it.
const OTHERWISE: [(&str, &str); 5] = [
    ("aarch64-linux-gnu", "aarch64"),
    ("aarch64-unknown-linux-gnu", "aarch64"),
    ("arm64", "aarch64"),
    ("x86-64", "portable"),
    ("x86-64-v2", "portable"),
];

impl Cpu {
    /// A processor with this instruction set, which need not be the one that this process runs on.
    pub const fn of(isa: Isa) -> Cpu {
        Cpu { isa, own: &[] }
    }

    /// Like [`Cpu::of`], as a static reference.
    pub fn level(isa: Isa) -> &'static Cpu {
        &LEVELS[isa as usize]
    }

    /// The same processor with kernels of an embedder, which are preferred to this crate's.
    pub const fn with_kernels(self, own: &'static [KernelRow]) -> Cpu {
        Cpu { own, ..self }
    }

    /// The processor that this process runs on.
    pub fn native() -> &'static Cpu {
        Cpu::level(Isa::detect())
    }

    /// The processor with this name: `native`, or a value of `optc.target` (`x86-64-v3`).
    ///
    /// # Errors
    /// If there is none; the message lists the names.
    pub fn named(name: &str) -> Result<&'static Cpu, String> {
        if name == "native" {
            return Ok(Cpu::native());
        }
        let names = || ["native"].into_iter().chain(Isa::ALL.map(Isa::name));
        Isa::named(name).map(Cpu::level).ok_or_else(|| {
            let hint = match OTHERWISE.iter().find(|other| other.0 == name) {
                Some((_, known)) => Some(format!("`{known}` runs on it")),
                None => did_you_mean(name, names()),
            };
            let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
            let names: Vec<&str> = names().collect();
            format!("there is no CPU `{name}`{hint}, expected one of {}", names.join(", "))
        })
    }

    /// Its instruction set.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The same embedder's kernels on a processor with this instruction set.
    pub fn with_isa(self, isa: Isa) -> Cpu {
        Cpu { isa, ..self }
    }

    /// The machine that calls are made for.
    pub(crate) fn machine(&self, threads: usize) -> Machine {
        Machine { isa: self.isa, threads, own: self.own }
    }
}

impl Default for Cpu {
    /// The processor that this process runs on.
    fn default() -> Cpu {
        *Cpu::native()
    }
}

impl fmt::Debug for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own: Vec<&str> = self.own.iter().map(KernelRow::name).collect();
        f.debug_struct("Cpu").field("isa", &self.isa).field("own", &own).finish()
    }
}

impl Target for Cpu {
    fn name(&self) -> &str {
        self.isa.name()
    }

    /// Channels last, if the operation has the choice.
    fn layout(&self, op: OpRef<'_>) -> Option<&'static str> {
        op.def()?.attr("layout").map(|_| "NHWC")
    }

    fn fuses(&self, root: OpRef<'_>, op: OpRef<'_>, place: GroupPosition) -> bool {
        let is_computed = match root.kind() {
            Kind::Contract(contract) if contract.is_quantized() => true,
            _ => root.ctx.elem(root.result_type(0)) == root.ctx.f32(),
        };
        let joins = row_of(root, self.own).and_then(|row| row.joins);
        is_computed && joins.is_some_and(|joins| joins(root, op, place))
    }

    fn runs_as_one(&self, ops: &[OpRef<'_>]) -> bool {
        rows(self.own).filter_map(|row| row.runs_as_one).any(|runs_as_one| runs_as_one(ops))
    }

    fn select(&self, op: OpRef<'_>, threads: usize) -> Option<KernelChoice> {
        let lowered = lower(op, &self.machine(threads)).ok()?;
        Some(KernelChoice {
            kernel: lowered.kernel.to_owned(),
            scratch_bytes: lowered.scratch_bytes(threads),
            least_scratch_bytes: lowered.least_scratch_bytes(threads),
            most_scratch_bytes: lowered.most_scratch_bytes(threads),
            enough_scratch_bytes: lowered.enough_scratch_bytes(threads),
            packed_bytes: lowered.packed_bytes(),
            bands: lowered.bands,
            slow: lowered.slow(),
        })
    }

    fn faster(&self, op: OpRef<'_>, threads: usize, room_bytes: u64) -> Option<FasterMethod> {
        faster(op, &self.machine(threads))?(room_bytes)
    }

    fn access(&self, op: OpRef<'_>, operand: usize) -> Access {
        arrangement::access(op, operand, self.own)
    }

    fn writes_rows(&self, op: OpRef<'_>) -> bool {
        arrangement::writes(op, self.own) >= Arrangement::Rows
    }

    fn writes_strides(&self, op: OpRef<'_>) -> bool {
        arrangement::writes(op, self.own) == Arrangement::Strides
    }

    fn reads_rows(&self, op: OpRef<'_>, operand: usize) -> bool {
        arrangement::reads(op, operand, self.own) >= Arrangement::Rows
    }

    fn reads_strides(&self, op: OpRef<'_>, operand: usize) -> bool {
        arrangement::reads(op, operand, self.own) == Arrangement::Strides
    }

    fn reads_a_copy(&self, op: OpRef<'_>, operand: usize) -> bool {
        arrangement::reads_a_copy(op, operand, self.own)
    }
}
