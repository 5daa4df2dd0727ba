//! From planned IR to machine code through Cranelift; the CPU as a target.

mod activation;
mod constant;
mod contract;
mod copy;
mod cranelift;
mod dead;
mod elem;
mod entry;
mod functions;
mod group;
mod lower;
mod normalise;
mod place;
mod pointwise;
mod pool;
mod program;
mod reduce;
mod refusal;
mod target;
#[cfg(test)]
mod testing;
mod weights;

pub use kernels::Isa;
pub use program::{DeadMemory, Options, compile};
pub use target::Cpu;
