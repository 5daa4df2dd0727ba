//! The Python package's native half: modules, models and plans for Python, without logic of their own.
//!
//! [`memory`] borrows arrays of any library, [`model`] runs on them, [`contexts`] says what runs side by
//! side, [`failure`] turns faults into exceptions.

mod contexts;
mod dlpack;
mod element;
mod failure;
mod hash;
mod memory;
mod model;
mod module;
mod options;
mod outputs;
mod plan;

use optc::runtime::CountingAllocator;

/// As the command has it: arenas and weights stand in huge pages.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// What `optc/__init__.py` is made of.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::hash::content_hash;
    #[pymodule_export]
    use crate::model::CompiledModel;
    #[pymodule_export]
    use crate::module::ParsedModule;
    #[pymodule_export]
    use crate::plan::ExplainedPlan;

    #[pymodule_export]
    const VERSION: &str = optc::VERSION;
}
