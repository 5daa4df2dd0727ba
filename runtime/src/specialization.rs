//! A specialization: the parts of a program that depend on sizes. The last few are cached.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::code::LoadedCode;
use crate::tensor::TensorDesc;

/// The arguments of [`Specialization::new`].
pub struct SpecializationParts {
    /// The machine code; most specializations of a program share it.
    pub code: LoadedCode,
    /// The messages of the code's statuses 1, 2, ...
    pub faults: Arc<[String]>,
    /// The numbers that the code reads through its last argument; empty for code that does not read it.
    pub frame: Vec<i64>,
    /// The bytes of arena that a run needs, with every kernel's scratch.
    pub arena_bytes: usize,
    /// The inputs at these sizes, in the entry's order.
    pub inputs: Vec<TensorDesc>,
    /// The outputs at these sizes, in the entry's order.
    pub outputs: Vec<TensorDesc>,
    /// The bytes of constants that only this specialization has.
    pub weights_bytes: usize,
    /// The owner of the memory that the frame points to.
    pub weights: Arc<dyn Any + Send + Sync>,
}

/// A program at given sizes.
pub struct Specialization {
    parts: SpecializationParts,
    /// The start of each state in the arena.
    states: Vec<usize>,
    given_up: usize,
}

impl Specialization {
    /// A specialization made from its parts.
    ///
    /// # Safety
    /// Run with this frame, the code must touch only what its arguments and the descriptors here allow, and
    /// memory that `weights` owns.
    ///
    /// # Panics
    /// If an alignment is not a power of two: an error of the compiler.
    pub unsafe fn new(parts: SpecializationParts) -> Specialization {
        for desc in parts.inputs.iter().chain(&parts.outputs) {
            let TensorDesc { name, align, .. } = desc;
            assert!(align.is_power_of_two(), "{name} is aligned to {align}, which is no power of two");
        }
        Specialization { parts, states: Vec::new(), given_up: 0 }
    }

    /// The same, with the start of each of the program's [states](crate::Program::states) in the arena.
    #[must_use]
    pub fn with_states(self, states: Vec<usize>) -> Specialization {
        Specialization { states, ..self }
    }

    /// The same, with the number of steps that use their usual algorithm because the arena of all sizes has
    /// no room for the scratch of a faster one.
    #[must_use]
    pub fn with_given_up(self, given_up: usize) -> Specialization {
        Specialization { given_up, ..self }
    }

    /// The number of steps that use their usual algorithm because the arena of all sizes has no room for the
    /// scratch of a faster one.
    pub fn given_up(&self) -> usize {
        self.given_up
    }

    /// The bytes of arena that a run needs.
    pub fn arena_bytes(&self) -> usize {
        self.parts.arena_bytes
    }

    /// The bytes of constants that only this specialization has.
    pub fn weights_bytes(&self) -> usize {
        self.parts.weights_bytes
    }

    /// The bytes of its frame.
    pub fn frame_bytes(&self) -> usize {
        size_of_val(&self.parts.frame[..])
    }

    /// The inputs at these sizes.
    pub fn inputs(&self) -> &[TensorDesc] {
        &self.parts.inputs
    }

    /// The outputs at these sizes. A data-dependent dimension has its greatest size.
    pub fn outputs(&self) -> &[TensorDesc] {
        &self.parts.outputs
    }

    /// The start of each of the program's states in the arena.
    pub fn states(&self) -> &[usize] {
        &self.states
    }

    pub(crate) fn frame(&self) -> &[i64] {
        &self.parts.frame
    }

    pub(crate) fn code(&self) -> &LoadedCode {
        &self.parts.code
    }

    pub(crate) fn faults(&self) -> &[String] {
        &self.parts.faults
    }
}

impl fmt::Debug for Specialization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Specialization({} bytes of arena)", self.arena_bytes())
    }
}

/// Makes the specializations of a program.
pub trait Specialize: Send + Sync {
    /// The specialization at these sizes, one for each symbol in order.
    ///
    /// # Errors
    /// The reason why the program can't be run at these sizes.
    fn specialize(&self, sizes: &[u64]) -> Result<Specialization, String>;

    /// The bytes of constants packed so far for all sizes.
    fn weights_bytes(&self) -> usize;
}

/// Specializations by their sizes; a full cache drops the least recently used one.
pub(crate) struct SpecializationCache {
    most: usize,
    kept: Mutex<KeptEntries>,
}

#[derive(Default)]
struct KeptEntries {
    entries: Vec<CacheEntry>,
    /// The number of look-ups.
    now: u64,
    /// The number of specializations added, including those without room.
    made: u64,
}

struct CacheEntry {
    sizes: Box<[u64]>,
    specialization: Arc<Specialization>,
    /// The time of its last look-up.
    used: u64,
}

impl SpecializationCache {
    /// A cache with room for `most` entries.
    pub(crate) fn new(most: usize) -> SpecializationCache {
        let entries = Vec::with_capacity(most.min(64));
        SpecializationCache { most, kept: Mutex::new(KeptEntries { entries, ..KeptEntries::default() }) }
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// The bytes of constants that the cached specializations have for themselves.
    pub(crate) fn weights_bytes(&self) -> usize {
        self.lock().entries.iter().map(|entry| entry.specialization.weights_bytes()).sum()
    }

    pub(crate) fn made(&self) -> u64 {
        self.lock().made
    }

    pub(crate) fn find(&self, sizes: &[u64]) -> Option<Arc<Specialization>> {
        self.lock().find(sizes)
    }

    pub(crate) fn add(&self, sizes: &[u64], specialization: &Arc<Specialization>) {
        let mut kept = self.lock();
        kept.made += 1;
        if kept.find(sizes).is_some() || self.most == 0 {
            return;
        }
        if kept.entries.len() == self.most {
            let oldest = (0..self.most).min_by_key(|index| kept.entries[*index].used);
            kept.entries.swap_remove(oldest.expect("there are entries"));
        }
        let used = kept.now;
        kept.entries.push(CacheEntry { sizes: sizes.into(), specialization: specialization.clone(), used });
    }

    fn lock(&self) -> MutexGuard<'_, KeptEntries> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptEntries {
    fn find(&mut self, sizes: &[u64]) -> Option<Arc<Specialization>> {
        self.now += 1;
        let entry = self.entries.iter_mut().find(|entry| *entry.sizes == *sizes)?;
        entry.used = self.now;
        Some(entry.specialization.clone())
    }
}
