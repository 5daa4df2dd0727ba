//! Which contexts the concurrent calls of a model run in: one for each call, with its own arena.
//!
//! Contexts that are not in use are kept, so there are as many as calls ran at one time. They share the
//! model's threads, which serve one call at a time; another one meanwhile does its work in its caller's
//! thread. A model with states has one context, and its calls wait for each other.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use optc::runtime::{Arena, ThreadPool};
use optc::{Failure, Model};

/// The contexts of a model.
pub(crate) struct Contexts {
    kept: Mutex<KeptContexts>,
    returned: Condvar,
    has_states: bool,
}

struct KeptContexts {
    /// Makes others, and never runs.
    seed: Model,
    idle: Vec<Model>,
    /// The process whose threads they have: a child has none of its parent's.
    process: u32,
}

/// A context that a call has, until it is dropped.
pub(crate) struct TakenContext<'c> {
    model: Option<Model>,
    contexts: &'c Contexts,
    process: u32,
}

impl Contexts {
    pub(crate) fn new(seed: Model) -> Result<Contexts, Failure> {
        let has_states = !seed.program().states().is_empty();
        let idle = if has_states { vec![another(&seed)?] } else { Vec::new() };
        let kept = Mutex::new(KeptContexts { seed, idle, process: std::process::id() });
        Ok(Contexts { kept, returned: Condvar::new(), has_states })
    }

    /// A context, without waiting; none if one must be waited for.
    pub(crate) fn try_take(&self) -> Result<Option<TakenContext<'_>>, Failure> {
        let mut kept = self.lock();
        self.leave_parent(&mut kept)?;
        let model = match kept.idle.pop() {
            Some(model) => model,
            None if self.has_states => return Ok(None),
            None => another(&kept.seed)?,
        };
        Ok(Some(TakenContext { model: Some(model), contexts: self, process: kept.process }))
    }

    /// A context; of a model with states the only one, once nobody has it.
    pub(crate) fn take(&self) -> Result<TakenContext<'_>, Failure> {
        loop {
            if let Some(taken) = self.try_take()? {
                return Ok(taken);
            }
            let kept = self.lock();
            if kept.idle.is_empty() {
                drop(self.returned.wait(kept).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    /// In a child of the process that made the contexts, threads are started anew. What a parent's state held
    /// is in its memory, which is not touched.
    fn leave_parent(&self, kept: &mut KeptContexts) -> Result<(), Failure> {
        if kept.process == std::process::id() {
            return Ok(());
        }
        let threads = Arc::new(ThreadPool::new(kept.seed.threads().threads()));
        kept.seed = kept.seed.beside(threads, Arena::owned())?;
        kept.idle = if self.has_states { vec![another(&kept.seed)?] } else { Vec::new() };
        kept.process = std::process::id();
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, KeptContexts> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn another(seed: &Model) -> Result<Model, Failure> {
    seed.beside(seed.threads().clone(), Arena::owned())
}

impl Deref for TakenContext<'_> {
    type Target = Model;

    fn deref(&self) -> &Model {
        self.model.as_ref().expect("a call has its context until its end")
    }
}

impl DerefMut for TakenContext<'_> {
    fn deref_mut(&mut self) -> &mut Model {
        self.model.as_mut().expect("a call has its context until its end")
    }
}

impl Drop for TakenContext<'_> {
    fn drop(&mut self) {
        let mut kept = self.contexts.lock();
        if let Some(model) = self.model.take().filter(|_| kept.process == self.process) {
            kept.idle.push(model);
        }
        drop(kept);
        self.contexts.returned.notify_one();
    }
}
