//! The runtime of compiled programs: arena, mapped files, fork-join pool, the call into machine code.
//!
//! This crate depends neither on the IR nor on the kernels. Machine code is an address with an owner
//! ([`LoadedCode`]). Together with the facts that depend on sizes (the arena's bytes, the descriptors of
//! inputs and outputs) it forms a [`Specialization`]. A [`Program`] without named sizes has one; others have
//! one for each combination of sizes that occurs. A program is run from a [`RunContext`], which owns the
//! arena and the threads of one caller. Many contexts share one program.
//!
//! ```
//! use runtime::{ElementKind, LoadedCode, Program, ProgramParts, Specialization, SpecializationParts};
//! use runtime::{TensorDesc, Weights};
//! use runtime::{as_bytes, as_bytes_mut};
//! use std::sync::Arc;
//!
//! // What machine code looks like from here: one entry. This one doubles its only input.
//! unsafe extern "C" fn double(
//!     _: *const runtime::CodeContext, _: *mut u8, _: *const u8,
//!     inputs: *const *const u8, outputs: *const *mut u8, _: *const i64,
//! ) -> i32 {
//!     // SAFETY: the descriptors below promise four f32 on both sides.
//!     unsafe {
//!         for i in 0..4 {
//!             *(*outputs).cast::<f32>().add(i) = 2.0 * *(*inputs).cast::<f32>().add(i);
//!         }
//!     }
//!     0
//! }
//!
//! let tensor = |name: &str| TensorDesc::new(name, ElementKind::F32, vec![4], 16);
//! // SAFETY: `double` is a function, which stays loaded, and touches only what the descriptors name.
//! let code = unsafe { LoadedCode::from_entry(double, Arc::new(())) };
//! // SAFETY: `double` reads and writes four numbers.
//! let only = unsafe { Specialization::new(SpecializationParts {
//!     code,
//!     faults: Arc::new([]),
//!     frame: vec![],
//!     arena_bytes: 0,
//!     inputs: vec![tensor("x")],
//!     outputs: vec![tensor("y")],
//!     weights_bytes: 0,
//!     weights: Arc::new(()),
//! }) };
//! let parts = ProgramParts { weights: Arc::new(Weights::none()), threads: 1 };
//! let program = Arc::new(Program::new(parts, only));
//! let mut context = program.context(1)?;
//! let mut y = [0.0f32; 4];
//! context.run(&[as_bytes(&[1.0f32, 2.0, 3.0, 4.0])], &mut [as_bytes_mut(&mut y)])?;
//! assert_eq!(y, [2.0, 4.0, 6.0, 8.0]);
//! # Ok::<(), runtime::RunError>(())
//! ```

mod abi;
mod allocations;
mod backoff;
mod binding;
mod buffer;
mod bytes;
mod code;
mod context;
mod error;
mod exact;
mod extent;
mod image;
mod interrupt;
mod large;
mod machine;
mod mapped;
mod observer;
mod program;
mod shapes;
mod specialization;
mod stamps;
mod states;
mod sync;
mod tensor;
mod threads;
mod wait;

pub use abi::{CodeContext, EntryFn, KernelFn, optc_parallel, optc_poison, optc_step, symbols};
pub use allocations::{Allocations, CountingAllocator};
pub use binding::{InputBuffer, TensorSide};
pub use buffer::{AlignedBuffer, Arena, ArenaError, OutOfMemory, POISON, poison, zeros};
pub use bytes::{Plain, as_bytes, as_bytes_mut, from_bytes, from_bytes_mut};
pub use code::LoadedCode;
pub use context::RunContext;
pub use error::RunError;
pub use exact::{OpenOutput, cut};
pub use extent::{Extent, SizeExpr, SizeStep};
pub use image::{
    CodeImage, FUNCTION_ALIGNMENT, ImageFunction, LoadError, Relocation, RelocationKind, RelocationTarget,
};
pub use interrupt::before_interrupt;
pub use machine::{available_threads, cpu_features, own_resident_bytes, peak_resident_bytes};
pub use mapped::MappedFile;
pub use observer::RunObserver;
pub use program::{NamedSizes, Program, ProgramParts, Weights};
pub use shapes::{InputDimension, ShapeError, Symbol, sizes_of, undetermined};
pub use specialization::{Specialization, SpecializationParts, Specialize};
pub use stamps::{Stamp, optc_stamp, stamped};
pub use tensor::{ElementKind, StateDesc, TensorDesc, TensorSpec};
pub use threads::{ParallelFor, ThreadPool};
