//! How one compiled program is run at any sizes by many callers: instances, their cache, and what each caller has.
//!
//! The code is compiled once ([`crate::EntryFn`]'s last argument tells it what sizes decide). An [`Instance`] is all of that for one
//! choice of sizes; it is made when sizes are first asked for, and kept in a cache of bounded length that all contexts share, where
//! the one that was not asked for the longest gives way.
//!
//! A [`ShapedContext`] has one chunk of memory for everything that lives in a run, of whatever sizes: made at the first preparation. Where it is known what is
//! enough at all sizes, it has that from the beginning; else it is replaced when sizes need more, the old one freed before. At sizes that were run before it allocates nothing. A fault of shapes is an error of that
//! run only: set others, and it runs.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::binding::{Binding, Entered, InputBuffer};
use crate::buffer::Arena;
use crate::context::RunError;
use crate::exact::{Exact, OpenOutput};
use crate::jit::JitCode;
use crate::pool::Pool;
use crate::program::TensorDesc;
use crate::shapes::{InputSpec, ShapeError, Shapes, Signature, Symbol};

/// What [`Instance::new`] takes.
pub struct InstanceParts {
    /// What the code reads through its last argument.
    pub frame: Vec<i64>,
    /// The bytes of arena that a run needs, every kernel's scratch included.
    pub arena_bytes: usize,
    /// The inputs at these sizes, in the entry's order.
    pub inputs: Vec<TensorDesc>,
    /// The outputs at these sizes, in the entry's order.
    pub outputs: Vec<TensorDesc>,
    /// What owns the memory that the frame points to.
    pub weights: Arc<dyn Any + Send + Sync>,
}

/// A program at some sizes.
pub struct Instance {
    parts: InstanceParts,
}

impl Instance {
    /// An instance of its parts. By calling this, a compiler vouches for the frame as it does for the code that reads it
    /// (see [`JitCode::from_module`]): it is no interface for others.
    pub fn new(parts: InstanceParts) -> Instance {
        Instance { parts }
    }

    /// The bytes of arena that a run needs.
    pub fn arena_bytes(&self) -> usize {
        self.parts.arena_bytes
    }

    /// The bytes of its frame.
    pub fn frame_bytes(&self) -> usize {
        size_of_val(&self.parts.frame[..])
    }

    /// The inputs at these sizes.
    pub fn inputs(&self) -> &[TensorDesc] {
        &self.parts.inputs
    }

    /// The outputs at these sizes.
    pub fn outputs(&self) -> &[TensorDesc] {
        &self.parts.outputs
    }
}

/// What makes instances.
pub trait Instantiate: Send + Sync {
    /// The instance at these sizes, one for each symbol in order.
    ///
    /// # Errors
    /// Why the program can't be run at these sizes.
    fn instance(&self, sizes: &[u64]) -> Result<Instance, String>;
}

impl<F: Fn(&[u64]) -> Result<Instance, String> + Send + Sync> Instantiate for F {
    fn instance(&self, sizes: &[u64]) -> Result<Instance, String> {
        self(sizes)
    }
}

/// What [`ShapedProgram::new`] takes.
pub struct ShapedParts {
    /// The machine code; its maker vouches that it keeps to what each instance says.
    pub code: JitCode,
    /// The threads that scratch is planned for, and so the most that a context may have.
    pub threads: usize,
    /// The sizes that are chosen at run time.
    pub symbols: Vec<Symbol>,
    /// The inputs, in the entry's order.
    pub inputs: Vec<InputSpec>,
    /// How many outputs there are.
    pub outputs: usize,
    /// What the entry's statuses 1, 2, ... mean, as messages for the user.
    pub faults: Vec<String>,
    /// What makes the code's instances.
    pub instances: Box<dyn Instantiate>,
    /// The most instances that are kept.
    pub cached: usize,
    /// The bytes of arena that are enough at all sizes, where that is known: a context holds them from its first preparation on.
    pub chunk_bytes: Option<usize>,
}

/// A compiled program without sizes. It is shared; what changes during a run belongs to a [`ShapedContext`], of which there may be many.
pub struct ShapedProgram {
    code: JitCode,
    threads: usize,
    signature: Signature,
    outputs: usize,
    open: Vec<OpenOutput>,
    faults: Vec<String>,
    instances: Box<dyn Instantiate>,
    cache: Mutex<Cache>,
    chunk_bytes: Option<usize>,
}

/// Instances by their sizes.
struct Cache {
    entries: Vec<Entry>,
    most: usize,
    /// Counts look-ups.
    now: u64,
}

struct Entry {
    sizes: Box<[u64]>,
    instance: Arc<Instance>,
    /// When it was last asked for.
    used: u64,
}

impl Cache {
    fn find(&mut self, sizes: &[u64]) -> Option<Arc<Instance>> {
        self.now += 1;
        let entry = self.entries.iter_mut().find(|entry| *entry.sizes == *sizes)?;
        entry.used = self.now;
        Some(entry.instance.clone())
    }

    /// Keeps an instance; where there is no room, the one that was not asked for the longest goes.
    fn add(&mut self, sizes: &[u64], instance: &Arc<Instance>) {
        if self.find(sizes).is_some() || self.most == 0 {
            return;
        }
        if self.entries.len() == self.most {
            let oldest = (0..self.most).min_by_key(|index| self.entries[*index].used);
            self.entries.swap_remove(oldest.expect("there are entries"));
        }
        let (sizes, instance) = (sizes.into(), instance.clone());
        self.entries.push(Entry { sizes, instance, used: self.now });
    }
}

impl ShapedProgram {
    /// A program of its parts.
    ///
    /// # Panics
    /// If `threads` is 0, or an input's dimension names a symbol that there is not: faults of the compiler.
    pub fn new(parts: ShapedParts) -> ShapedProgram {
        let ShapedParts { code, threads, symbols, inputs, outputs, faults, instances, cached, chunk_bytes } =
            parts;
        assert!(threads > 0, "a program is planned for one thread at the least");
        let cache = Cache { entries: Vec::with_capacity(cached.min(64)), most: cached, now: 0 };
        let signature = Signature::new(symbols, inputs);
        let cache = Mutex::new(cache);
        let open = Vec::new();
        ShapedProgram { code, threads, signature, outputs, open, faults, instances, cache, chunk_bytes }
    }

    /// The same program, the sizes of which outputs are known behind a run only, whatever the sizes of inputs.
    ///
    /// # Panics
    /// If there are no such outputs: a fault of the compiler.
    pub fn with_open(self, open: Vec<OpenOutput>) -> ShapedProgram {
        let is_there =
            |open: &OpenOutput| open.output.max(open.count) < self.outputs && open.axis < open.rank;
        assert!(open.iter().all(is_there), "outputs with an open axis are there, and their sizes");
        ShapedProgram { open, ..self }
    }

    /// The sizes that are chosen at run time.
    pub fn symbols(&self) -> &[Symbol] {
        &self.signature.symbols
    }

    /// The inputs, in the order in which [`ShapedContext::run`] takes them.
    pub fn inputs(&self) -> &[InputSpec] {
        &self.signature.inputs
    }

    /// The bytes of arena that are enough at all sizes, where that is known.
    pub fn chunk_bytes(&self) -> Option<usize> {
        self.chunk_bytes
    }

    /// Instances that are kept now.
    pub fn cached(&self) -> usize {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).entries.len()
    }

    /// A context with `threads` threads of its own and an arena that it allocates when it is first prepared.
    ///
    /// # Errors
    /// [`RunError::Threads`] if there are none, or more than the program was planned for.
    pub fn context(self: &Arc<Self>, threads: usize) -> Result<ShapedContext<'static>, RunError> {
        self.check_threads(threads)?;
        self.context_in(Arc::new(Pool::new(threads)), Arena::owned())
    }

    /// A context on threads that others may use too, and in an arena that may be the embedder's: sizes that need more are refused.
    ///
    /// # Errors
    /// [`RunError::Threads`] as for [`ShapedProgram::context`]; [`RunError::Arena`] if the memory given is not aligned.
    pub fn context_in<'a>(
        self: &Arc<Self>,
        pool: Arc<Pool>,
        mut arena: Arena<'a>,
    ) -> Result<ShapedContext<'a>, RunError> {
        self.check_threads(pool.threads())?;
        arena.check(0).map_err(RunError::Arena)?;
        Ok(ShapedContext {
            program: self.clone(),
            pool,
            arena,
            shapes: Shapes::new(&self.signature),
            sizes: vec![0; self.signature.symbols.len()],
            current: None,
            binding: Binding::new(self.signature.inputs.len(), self.outputs),
            exact: Exact::new(&self.open),
        })
    }

    fn check_threads(&self, found: usize) -> Result<(), RunError> {
        let most = self.threads;
        if (1..=most).contains(&found) { Ok(()) } else { Err(RunError::Threads { most, found }) }
    }

    /// The instance at these sizes, from the cache or made now. Others are not kept waiting while it is made.
    fn instance(&self, sizes: &[u64]) -> Result<Arc<Instance>, ShapeError> {
        let cache = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(instance) = cache().find(sizes) {
            return Ok(instance);
        }
        let made = self.instances.instance(sizes);
        let instance = Arc::new(made.map_err(|message| self.signature.refused(sizes, message))?);
        self.check(sizes, &instance);
        cache().add(sizes, &instance);
        Ok(instance)
    }

    /// The instance is of the program's inputs and outputs, at the sizes that were asked for: else its maker is at fault.
    fn check(&self, sizes: &[u64], instance: &Instance) {
        let Signature { inputs, .. } = &self.signature;
        let mut pairs = inputs.iter().zip(instance.inputs());
        assert!(
            (instance.inputs().len(), instance.outputs().len()) == (inputs.len(), self.outputs)
                && pairs.all(|(input, desc)| self.signature.has_shape(input, sizes, &desc.shape)),
            "an instance has the shapes that follow from its sizes"
        );
        let has_rank = |open: &OpenOutput| instance.outputs()[open.output].shape.len() == open.rank;
        assert!(self.open.iter().all(has_rank), "an instance's outputs have the program's axes");
        let most = self.chunk_bytes.unwrap_or(usize::MAX);
        assert!(instance.arena_bytes() <= most, "an instance fits what is enough for all sizes");
    }
}

/// What one caller needs to run a program at sizes of its choice.
pub struct ShapedContext<'a> {
    program: Arc<ShapedProgram>,
    pool: Arc<Pool>,
    arena: Arena<'a>,
    shapes: Shapes,
    /// The symbols' sizes, where they were last worked out.
    sizes: Vec<u64>,
    /// The instance of the shapes as they are set; none if they were set anew.
    current: Option<Arc<Instance>>,
    binding: Binding,
    exact: Exact,
}

impl ShapedContext<'_> {
    /// The program that is run.
    pub fn program(&self) -> &Arc<ShapedProgram> {
        &self.program
    }

    /// The bytes of arena held now: 0 before the first preparation, unless the arena was given.
    pub fn arena_bytes(&self) -> usize {
        self.arena.size_bytes()
    }

    /// The shape that an output had in the last run, if data decide its size; else the descriptors of [`ShapedContext::prepare`] say it, and
    /// before a run nothing is known. Its elements are the first of its buffer, which has the bytes of the greatest size that it can
    /// have; the rest is garbage.
    pub fn exact_shape(&self, output: usize) -> Option<&[u64]> {
        self.exact.shape(&self.program.open, output)
    }

    /// Sets the shape of an input for the runs that follow. What the shapes of several inputs say together is looked at when they are
    /// prepared or run, so they may be set in any order.
    ///
    /// # Errors
    /// If there is no such input, or it can't have that shape; its shape is then what it was before.
    pub fn set_shape(&mut self, input: &str, shape: &[u64]) -> Result<(), ShapeError> {
        self.shapes.set(&self.program.signature, input, shape)?;
        self.current = None;
        Ok(())
    }

    /// Forgets all shapes that were set: inputs have those that follow from the symbols' defaults.
    pub fn reset_shapes(&mut self) {
        self.shapes.unset_all();
        self.current = None;
    }

    /// Makes all ready for runs with the shapes as they are set, the arena too; a run does so by itself. Gives the inputs' and outputs'
    /// descriptors at these sizes, by way of the instance.
    ///
    /// # Errors
    /// [`RunError::Shape`] if the shapes contradict each other or the model can't be run with them; [`RunError::Arena`] if there is
    /// no memory, or the memory given is too small.
    pub fn prepare(&mut self) -> Result<&Instance, RunError> {
        let instance = self.instance()?;
        self.hold()?;
        self.arena.reserve(instance.arena_bytes()).map_err(RunError::Arena)?;
        Ok(self.current.insert(instance))
    }

    /// Runs the program on `inputs` and fills `outputs`, both in the order of the descriptors of [`ShapedContext::prepare`], each of exactly the
    /// descriptor's bytes and alignment.
    ///
    /// # Errors
    /// Anything but [`RunError::Threads`]. After an error the context is as usable as before.
    pub fn run(&mut self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), RunError> {
        self.exact.forget();
        let instance = self.instance()?;
        self.binding.share(instance.inputs(), inputs)?;
        self.run_bound(&instance, outputs)
    }

    /// As [`ShapedContext::run`], for a program that overwrites inputs: those must be [`InputBuffer::Donated`].
    ///
    /// # Errors
    /// As [`ShapedContext::run`].
    pub fn run_donating(
        &mut self,
        inputs: &mut [InputBuffer<'_>],
        outputs: &mut [&mut [u8]],
    ) -> Result<(), RunError> {
        self.exact.forget();
        let instance = self.instance()?;
        self.binding.donate(instance.inputs(), inputs)?;
        self.run_bound(&instance, outputs)
    }

    /// The instance of the shapes as they are set.
    fn instance(&mut self) -> Result<Arc<Instance>, RunError> {
        if let Some(instance) = &self.current {
            return Ok(instance.clone());
        }
        let program = &*self.program;
        self.shapes.sizes(&program.signature, &mut self.sizes).map_err(RunError::Shape)?;
        let instance = program.instance(&self.sizes).map_err(RunError::Shape)?;
        Ok(self.current.insert(instance).clone())
    }

    /// Holds what is enough at all sizes, where that is known.
    fn hold(&mut self) -> Result<(), RunError> {
        self.program.chunk_bytes.map_or(Ok(()), |bytes| self.arena.hold(bytes)).map_err(RunError::Arena)
    }

    fn run_bound(&mut self, instance: &Instance, outputs: &mut [&mut [u8]]) -> Result<(), RunError> {
        self.binding.fill(instance.outputs(), outputs)?;
        self.hold()?;
        let arena = self.arena.reserve(instance.arena_bytes()).map_err(RunError::Arena)?;
        let ShapedProgram { code, faults, open, .. } = &*self.program;
        let run =
            Entered { code, faults, pool: &self.pool, arena, weights: &[], frame: &instance.parts.frame };
        // SAFETY: the inputs were bound by our callers and the outputs above, with the instance's descriptors; the frame is the
        // instance's, whose maker vouched for it with the code, and the arena has as many bytes as it needs. Code that reads a frame
        // finds weights by it; the instance keeps them.
        unsafe { self.binding.enter(run)? };
        self.exact.cut(open, instance.outputs(), outputs);
        Ok(())
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Instance({} bytes of arena)", self.arena_bytes())
    }
}

impl fmt::Debug for ShapedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShapedProgram({:?})", self.signature)
    }
}
