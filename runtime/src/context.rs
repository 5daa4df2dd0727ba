//! Runs of a program: sets shapes, looks up specializations, checks buffers, and calls the machine code.

use std::sync::Arc;

use crate::binding::{Binding, Entered, InputBuffer};
use crate::buffer::Arena;
use crate::error::RunError;
use crate::exact::Exact;
use crate::observer::RunObserver;
use crate::program::Program;
use crate::shapes::{ShapeError, Shapes};
use crate::specialization::Specialization;
use crate::states::KeptStates;
use crate::threads::ThreadPool;

/// The state of one caller of a program: threads, an arena, the shapes of its inputs, and tables of pointers.
/// A run at sizes of an earlier run allocates nothing.
pub struct RunContext<'a> {
    program: Arc<Program>,
    pool: Arc<ThreadPool>,
    arena: Arena<'a>,
    shapes: Shapes,
    /// The symbols' sizes, as last computed.
    sizes: Vec<u64>,
    /// The specialization for the current shapes; none after the shapes have changed.
    current: Option<Arc<Specialization>>,
    binding: Binding,
    exact: Exact,
    states: KeptStates,
    observer: Option<Arc<dyn RunObserver>>,
}

impl<'a> RunContext<'a> {
    pub(crate) fn new(
        program: Arc<Program>,
        pool: Arc<ThreadPool>,
        mut arena: Arena<'a>,
    ) -> Result<Self, RunError> {
        let current = program.only();
        let needed = current.as_ref().map_or(0, |only| only.arena_bytes());
        arena.check(needed).map_err(RunError::Arena)?;
        let shapes = Shapes::new(program.declared());
        let sizes = vec![0; program.symbols().len()];
        let binding = Binding::new(program.inputs().len(), program.outputs().len());
        let exact = Exact::new(program.open());
        let states = KeptStates::of(&program).map_err(|error| RunError::Arena(error.into()))?;
        let observer = None;
        Ok(RunContext { program, pool, arena, shapes, sizes, current, binding, exact, states, observer })
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The threads that run it.
    pub fn pool(&self) -> &Arc<ThreadPool> {
        &self.pool
    }

    /// Sets the observer of the following runs, which may stop them; none at first. An `AtomicBool` stops a
    /// run once it is true:
    ///
    /// ```no_run
    /// # fn run(mut context: runtime::RunContext<'_>) -> Result<(), runtime::RunError> {
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    ///
    /// let cancelled = Arc::new(AtomicBool::new(false));
    /// context.watch(Some(cancelled.clone()));
    /// std::thread::spawn(move || cancelled.store(true, Relaxed));
    /// context.run(&[], &mut [])
    /// # }
    /// ```
    pub fn watch(&mut self, observer: Option<Arc<dyn RunObserver>>) {
        self.observer = observer;
    }

    /// The current size of the arena: 0 before the first preparation or run, unless the embedder provides it.
    pub fn arena_bytes(&self) -> usize {
        self.arena.size_bytes()
    }

    /// The named sizes of the last preparation, in the order of the program's symbols; zeros before.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The shape of an output in the last run, if it depends on data. Otherwise the descriptors of
    /// [`RunContext::prepare`] have the shape; before a run, the shape is unknown. The elements come first in
    /// the buffer, which has room for the greatest size; the rest is arbitrary.
    pub fn exact_shape(&self, output: usize) -> Option<&[u64]> {
        self.exact.shape(self.program.open(), output)
    }

    /// The bytes of a state, by its number in [`Program::states`]: its value after the last run, or the value
    /// written here; before, zeros or the contents of the embedder's memory. Prepares the context first.
    ///
    /// # Errors
    /// Like [`RunContext::prepare`].
    ///
    /// # Panics
    /// If there is no such state.
    pub fn state(&mut self, index: usize) -> Result<&mut [u8], RunError> {
        let specialization = self.specialization()?;
        let start = specialization.states()[index];
        let bytes = start..start + self.program.states()[index].tensor.size_bytes;
        let RunContext { arena, program, states, .. } = self;
        Ok(&mut reserve(arena, states, program, &specialization)?[bytes])
    }

    /// Sets the shape of an input for the following runs. Shapes may be set in any order; their consistency
    /// is checked when the context is prepared or runs.
    ///
    /// # Errors
    /// If there is no such input, or it can't have this shape; the shape is then unchanged.
    pub fn set_shape(&mut self, input: &str, shape: &[u64]) -> Result<(), ShapeError> {
        self.shapes.set(self.program.declared(), input, shape)?;
        self.current = None;
        Ok(())
    }

    /// Resets all shapes: named sizes have their defaults.
    pub fn reset_shapes(&mut self) {
        self.shapes.unset_all();
        self.current = None;
    }

    /// Prepares runs with the current shapes, including the arena; otherwise the next run does so. Returns
    /// the inputs and outputs at these sizes.
    ///
    /// # Errors
    /// [`RunError::Shape`] if the shapes contradict each other or the program can't be run with them;
    /// [`RunError::Arena`] if there is no memory, or the memory given is too small.
    pub fn prepare(&mut self) -> Result<Arc<Specialization>, RunError> {
        let specialization = self.specialization()?;
        reserve(&mut self.arena, &mut self.states, &self.program, &specialization)?;
        Ok(specialization)
    }

    /// Runs the program on `inputs` and fills `outputs`, both in the order of the descriptors of
    /// [`RunContext::prepare`]. Each buffer must have exactly the descriptor's bytes, and its alignment. A
    /// truth value ([`ElementKind::Bool`](crate::ElementKind::Bool)) is a byte 0 or 1. This is not checked:
    /// the results of another byte are arbitrary.
    ///
    /// # Errors
    /// All errors except [`RunError::Threads`]. After an error the context remains usable; states then have
    /// the values from the steps that ran.
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), RunError> {
        self.exact.forget();
        let specialization = self.specialization()?;
        self.binding.share(specialization.inputs(), inputs)?;
        self.run_bound(&specialization, outputs)
    }

    /// Like [`RunContext::run`], for a program that overwrites inputs, which must be
    /// [`InputBuffer::Donated`].
    ///
    /// # Errors
    /// Like [`RunContext::run`].
    pub fn run_donating(
        &mut self,
        inputs: &mut [InputBuffer<'_>],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), RunError> {
        self.exact.forget();
        let specialization = self.specialization()?;
        self.binding.donate(specialization.inputs(), inputs)?;
        self.run_bound(&specialization, outputs)
    }

    /// The inputs and outputs with the current shapes; like [`RunContext::prepare`], without the arena.
    ///
    /// # Errors
    /// [`RunError::Shape`], as for [`RunContext::prepare`].
    pub fn specialization(&mut self) -> Result<Arc<Specialization>, RunError> {
        if let Some(current) = &self.current {
            return Ok(current.clone());
        }
        self.shapes.sizes(self.program.declared(), &mut self.sizes).map_err(RunError::Shape)?;
        let specialization = self.program.at(&self.sizes).map_err(RunError::Shape)?;
        Ok(self.current.insert(specialization).clone())
    }

    /// Binds the outputs and enters the code; the inputs are bound and checked.
    fn run_bound(
        &mut self,
        specialization: &Arc<Specialization>,
        outputs: &mut [&mut [u8]],
    ) -> Result<(), RunError> {
        self.binding.fill(specialization.outputs(), outputs)?;
        let arena = reserve(&mut self.arena, &mut self.states, &self.program, specialization)?;
        let run = Entered {
            code: specialization.code(),
            faults: specialization.faults(),
            pool: &self.pool,
            observer: self.observer.as_deref(),
            arena,
            weights: self.program.parts().weights.bytes(),
            frame: specialization.frame(),
        };
        let begin = self.pool.backoff.run_begins();
        // SAFETY: the inputs were bound by our callers and the outputs above, with the specialization's
        // descriptors. Frame, arena and code are the specialization's, and its maker guaranteed that they fit
        // together. Weights are the program's, and the specialization keeps those that a frame points to.
        let entered = unsafe { self.binding.enter(run) };
        if let Some(begin) = begin {
            self.pool.backoff.run_ends(&begin);
        }
        entered?;
        self.exact.cut(self.program.open(), specialization.outputs(), outputs);
        Ok(())
    }
}

/// The most address space reserved for an arena that suffices at all sizes, in bytes; if all sizes need more,
/// the arena grows with those of the runs. A process has 2^47 bytes.
const MOST_HELD: usize = usize::MAX >> 18;

/// The arena of a specialization, with the states in it. An owned arena has the size that suffices at all
/// sizes, if it is known.
fn reserve<'m>(
    arena: &'m mut Arena<'_>,
    states: &mut KeptStates,
    program: &Program,
    specialization: &Arc<Specialization>,
) -> Result<&'m mut [u8], RunError> {
    states.leave(arena.contents(), specialization);
    if let Some(bytes) = program.bound_bytes().filter(|bytes| *bytes <= MOST_HELD) {
        arena.hold(bytes).map_err(RunError::Arena)?;
    }
    let memory = arena.reserve(specialization.arena_bytes()).map_err(RunError::Arena)?;
    states.enter(memory, specialization);
    Ok(memory)
}
