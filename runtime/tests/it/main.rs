//! What the runtime promises an embedder, in one test program.

mod allocations;
mod program;
