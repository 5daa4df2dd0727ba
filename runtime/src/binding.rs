//! Binding: the caller's buffers for a run, checked against the program's inputs and outputs.

use std::ptr::NonNull;

use crate::abi::{CodeContext, STOPPED};
use crate::code::LoadedCode;
use crate::error::RunError;
use crate::observer::RunObserver;
use crate::tensor::TensorDesc;
use crate::threads::ThreadPool;

/// An input buffer of a program that may overwrite some inputs.
#[derive(Debug)]
pub enum InputBuffer<'a> {
    /// An input that stays unchanged.
    Shared(&'a [u8]),
    /// An input whose memory the program may use; its contents are garbage afterwards.
    Donated(&'a mut [u8]),
}

/// The side of a tensor: input or output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorSide {
    /// An input.
    Input,
    /// An output.
    Output,
}

/// The tables of pointers for compiled code, allocated once and rewritten for each run.
pub(crate) struct Binding {
    inputs: Vec<*const u8>,
    outputs: Vec<*mut u8>,
}

// SAFETY: the pointers in the tables are leftovers of the last run, never followed; each run rewrites them.
unsafe impl Send for Binding {}

/// The other arguments of a run, without the buffers.
pub(crate) struct Entered<'r> {
    pub(crate) code: &'r LoadedCode,
    pub(crate) faults: &'r [String],
    pub(crate) pool: &'r ThreadPool,
    pub(crate) observer: Option<&'r (dyn RunObserver + 'static)>,
    pub(crate) arena: &'r mut [u8],
    pub(crate) weights: &'r [u8],
    pub(crate) frame: &'r [i64],
}

impl Binding {
    /// Tables for these numbers of buffers.
    pub(crate) fn new(inputs: usize, outputs: usize) -> Binding {
        Binding {
            inputs: vec![NonNull::dangling().as_ptr() as *const u8; inputs],
            outputs: vec![NonNull::dangling().as_ptr(); outputs],
        }
    }

    /// Checks and binds inputs that stay unchanged.
    pub(crate) fn share(&mut self, descs: &[TensorDesc], inputs: &[&[u8]]) -> Result<(), RunError> {
        check_count(TensorSide::Input, descs, inputs.len())?;
        for ((desc, input), slot) in descs.iter().zip(inputs).zip(&mut self.inputs) {
            *slot = shared_input(desc, input)?;
        }
        Ok(())
    }

    /// Checks and binds inputs, some of which may be overwritten.
    pub(crate) fn donate(
        &mut self,
        descs: &[TensorDesc],
        inputs: &mut [InputBuffer<'_>],
    ) -> Result<(), RunError> {
        check_count(TensorSide::Input, descs, inputs.len())?;
        for ((desc, input), slot) in descs.iter().zip(inputs).zip(&mut self.inputs) {
            *slot = match input {
                InputBuffer::Shared(bytes) => shared_input(desc, bytes)?,
                InputBuffer::Donated(bytes) => {
                    check_buffer(TensorSide::Input, desc, bytes)?;
                    bytes.as_mut_ptr()
                }
            };
        }
        Ok(())
    }

    /// Checks and binds the outputs.
    pub(crate) fn fill(&mut self, descs: &[TensorDesc], outputs: &mut [&mut [u8]]) -> Result<(), RunError> {
        check_count(TensorSide::Output, descs, outputs.len())?;
        for ((desc, output), slot) in descs.iter().zip(outputs).zip(&mut self.outputs) {
            check_buffer(TensorSide::Output, desc, output)?;
            *slot = output.as_mut_ptr();
        }
        Ok(())
    }

    /// Enters the code.
    ///
    /// # Safety
    /// All inputs and outputs were bound, with the descriptors of this code and frame, since the last run,
    /// and are borrowed until this returns. The arena, weights and frame belong to this code.
    pub(crate) unsafe fn enter(&self, run: Entered<'_>) -> Result<(), RunError> {
        let context = CodeContext::new(run.pool, run.observer);
        // SAFETY: the maker of the code guaranteed that it touches only its arguments (see `jit`): an arena
        // and weights of the planned sizes, and buffers that were compared with the descriptors. They are
        // borrowed until the call returns: inputs shared (or exclusive, if they are overwritten), outputs and
        // arena exclusive, so none of these overlap.
        let status = unsafe {
            (run.code.entry())(
                &context,
                run.arena.as_mut_ptr(),
                run.weights.as_ptr(),
                self.inputs.as_ptr(),
                self.outputs.as_ptr(),
                run.frame.as_ptr(),
            )
        };
        match status {
            0 => Ok(()),
            STOPPED => Err(RunError::Stopped),
            _ => Err(fault(run.faults, status)),
        }
    }
}

fn check_count(side: TensorSide, descs: &[TensorDesc], found: usize) -> Result<(), RunError> {
    let expected = descs.len();
    if found == expected { Ok(()) } else { Err(RunError::Count { side, expected, found }) }
}

fn check_buffer(side: TensorSide, desc: &TensorDesc, buffer: &[u8]) -> Result<(), RunError> {
    let name = || desc.name.clone();
    if buffer.len() != desc.size_bytes {
        let (expected, found) = (desc.size_bytes, buffer.len());
        return Err(RunError::Size { side, name: name(), shape: desc.shape.clone(), expected, found });
    }
    if !buffer.is_empty() && buffer.as_ptr().align_offset(desc.align) != 0 {
        return Err(RunError::Alignment { side, name: name(), align: desc.align });
    }
    Ok(())
}

fn shared_input(desc: &TensorDesc, bytes: &[u8]) -> Result<*const u8, RunError> {
    if desc.overwritten {
        return Err(RunError::NotDonated { name: desc.name.clone() });
    }
    check_buffer(TensorSide::Input, desc, bytes)?;
    Ok(bytes.as_ptr())
}

fn fault(faults: &[String], status: i32) -> RunError {
    let known = usize::try_from(status).ok().and_then(|number| faults.get(number.checked_sub(1)?));
    let message = known.cloned().unwrap_or_else(|| "a fault that the compiler did not name".to_owned());
    RunError::Fault { status, message }
}
