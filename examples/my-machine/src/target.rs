//! A target with a second memory, based on the CPU.

use codegen::Cpu;
use ir::body::OpRef;
use ir::memory_pools::MemoryPool;
use ir::opdef::Access;
use ir::target::{GroupPosition, KernelChoice};
use ir::{Kind, Target};

/// A CPU with a fast memory for the results of contractions, which fuses only activations into them.
pub struct Board {
    /// The CPU, with its kernels.
    pub cpu: Cpu,
    /// The size of the fast memory in bytes.
    pub fast_bytes: u64,
}

impl Target for Board {
    /// Code is generated for the CPU, so its plan is for the CPU, too.
    fn name(&self) -> &str {
        self.cpu.name()
    }

    fn layout(&self, op: OpRef<'_>) -> Option<&'static str> {
        self.cpu.layout(op)
    }

    fn fuses(&self, root: OpRef<'_>, op: OpRef<'_>, place: GroupPosition) -> bool {
        place == GroupPosition::Activation && self.cpu.fuses(root, op, place)
    }

    /// The kernels and their scratch are the CPU's.
    fn select(&self, op: OpRef<'_>, threads: usize) -> Option<KernelChoice> {
        self.cpu.select(op, threads)
    }

    fn access(&self, op: OpRef<'_>, operand: usize) -> Access {
        self.cpu.access(op, operand)
    }

    fn pools(&self) -> Vec<MemoryPool> {
        let fast = MemoryPool::named("fast").expect("it is a word");
        vec![MemoryPool { align: 128, capacity: Some(self.fast_bytes), ..fast }]
    }

    fn pool(&self, op: OpRef<'_>, _result: usize) -> Option<&str> {
        matches!(op.kind(), Kind::Contract(_)).then_some("fast")
    }
}
