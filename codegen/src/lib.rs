//! From planned IR to machine code through Cranelift; the CPU as a target.
//!
//! The plan is in the IR: `mem.place` says where each result lies, `mem.tie` which operand it overwrites,
//! `mem.scratch` how much a kernel needs besides. Code generation reads that, checks it, and turns each
//! operation into *calls*:
//!
//! 1. [`Cpu`] answers the passes' questions; `lower` lists the calls of an operation. Both use one function,
//!    so the planned scratch is the used scratch.
//! 2. Contractions, pools and copies are calls of `kernels`. Pointwise groups and reductions are generated
//!    loops with the kernels' interface; steps of one form share one function, whatever their sizes.
//! 3. Constants are evaluated by the interpreter and packed for their kernels, once, into one buffer.
//! 4. The entry runs the calls in order, each on all threads, and follows branches and loops. Functions and
//!    arguments of the calls are in a *frame*, which the code reads: only the frame depends on sizes.
//!
//! [`compile`] makes code and the frame of a function of known sizes. [`SizedCode`] makes code of a function
//! with named sizes, and one frame for each choice of them.
//!
//! ```
//! let text = r#"
//! func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {optc.arena = 0 : i64} {
//!     %0 = nn.relu %x {mem.place = [["out", 0, 16]]} : tensor<4xf32>
//!     return %0 : tensor<4xf32>
//! }"#;
//! let ctx = std::sync::Arc::new(ir::Context::new());
//! let module = ir::text::parse(&ctx, "relu.mlir", text.to_owned()).expect("the text is right");
//! let options = codegen::CodegenOptions::new(1);
//! let program = codegen::compile(&module, "main", &options).expect("the plan is right");
//! let mut y = [0f32; 4];
//! let mut context = std::sync::Arc::new(program).context(1)?;
//! context.run(&[runtime::as_bytes(&[-1f32, 2.0, -3.0, 4.0])], &mut [runtime::as_bytes_mut(&mut y)])?;
//! assert_eq!(y, [0.0, 2.0, 0.0, 4.0]);
//! # Ok::<(), runtime::RunError>(())
//! ```
//!
//! This crate makes no choices: earlier passes decided about fusion, ties and placement.

mod activation;
mod address;
mod arrangement;
mod bands;
mod call;
mod caller;
mod classes;
mod constant;
mod cranelift;
mod dead;
mod elem;
mod entry;
mod flow;
mod fold;
mod forms;
mod frame;
mod functions;
mod group;
mod kernels;
mod lines;
mod lower;
mod machine_code;
mod options;
mod place;
mod plan;
mod pointwise;
mod prepared;
mod program;
mod refusal;
mod relocatable;
mod row;
mod shape;
mod sized;
mod store;
mod target;
#[cfg(test)]
mod testing;
mod trust;
mod weights;

pub use crate::kernels::kernels;
pub use ::kernels::{Isa, KernelFn, PairUnit};
pub use entry::NAME as ENTRY;
pub use options::{CodegenOptions, DeadMemory, StepTimes};
pub use plan::{PlaceMemory, ReadPlan, ValuePlace};
pub use prepared::{Prepared, PreparedMisses, PreparedWeight, WeightKey};
pub use program::{compile, element_kind, open_outputs, relocatable, weights_bytes};
pub use relocatable::{FrameCallee, RelocatableFrame, RelocatableProgram};
pub use row::{KernelRow, KernelWork};
pub use sized::{
    KernelNeeds, Offsets, SizeFault, SizedCode, SizedFrame, SizedPlan, SizedStep, WeightFile, Workspace,
};
pub use target::Cpu;
