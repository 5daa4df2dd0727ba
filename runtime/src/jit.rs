//! Who owns a program's machine code, and on whose word it is called.
//!
//! Calling machine code is the one act here that no check can justify: that the code stays within its buffers
//! follows from how it was made, not from anything that could be looked at now. So all constructors are
//! `unsafe`, and who calls one gives his word: **the code reads and writes only what [`EntryFn`] hands it,
//! within the sizes of the program's descriptors**. What stands after the word of the room `codegen` are the
//! IR's verifier, the plan's checker and the law tests.

use std::any::Any;
use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};

use crate::abi::EntryFn;

/// Machine code with one entry, kept loaded as long as this value (or a clone) lives.
#[derive(Clone)]
pub struct JitCode {
    entry: EntryFn,
    _owner: Arc<dyn Any + Send + Sync>,
}

/// The function named as an entry has another signature than [`EntryFn`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongSignature {
    /// The function's signature, in Cranelift's notation.
    pub found: String,
    /// The signature of an entry.
    pub expected: String,
}

impl fmt::Display for WrongSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the entry has the signature {}, expected {}", self.found, self.expected)
    }
}

impl std::error::Error for WrongSignature {}

impl JitCode {
    /// Code of a finalised Cranelift module, entered at `entry`. The module's memory is freed with the last
    /// clone.
    ///
    /// # Safety
    /// The code must touch only what the entry's arguments and the program's descriptors allow.
    ///
    /// # Errors
    /// If `entry` has not the signature of [`EntryFn`].
    ///
    /// # Panics
    /// If `entry` is not defined in the module, or the module has definitions that are not finalised.
    pub unsafe fn from_module(module: JITModule, entry: FuncId) -> Result<JitCode, WrongSignature> {
        let expected = entry_signature(&module);
        let found = &module.declarations().get_function_decl(entry).signature;
        if *found != expected {
            return Err(WrongSignature { found: found.to_string(), expected: expected.to_string() });
        }
        let address = module.get_finalized_function(entry);
        let owner = Arc::new(Loaded(Mutex::new(Some(module))));
        // SAFETY: the address belongs to the module that `owner` keeps, with the signature just compared;
        // that the code keeps to its buffers is the calling compiler's word.
        Ok(unsafe { JitCode::from_address(address, owner) })
    }

    /// Code at an address, kept loaded by `owner`.
    ///
    /// # Safety
    /// `entry` must be the address of a function of type [`EntryFn`] that stays callable while `owner` lives,
    /// and that touches only what its arguments and the program's descriptors allow.
    pub unsafe fn from_address(entry: *const u8, owner: Arc<dyn Any + Send + Sync>) -> JitCode {
        // SAFETY: what the caller vouches for; both are pointers to code.
        let entry = unsafe { mem::transmute::<*const u8, EntryFn>(entry) };
        JitCode { entry, _owner: owner }
    }

    /// As [`JitCode::from_address`], for a function that Rust or a linker knows.
    ///
    /// # Safety
    /// As for [`JitCode::from_address`].
    pub unsafe fn from_entry(entry: EntryFn, owner: Arc<dyn Any + Send + Sync>) -> JitCode {
        JitCode { entry, _owner: owner }
    }

    pub(crate) fn entry(&self) -> EntryFn {
        self.entry
    }
}

impl fmt::Debug for JitCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JitCode")
    }
}

/// The signature of [`EntryFn`] on this machine: six pointers to a 32-bit status.
fn entry_signature(module: &JITModule) -> Signature {
    let pointer = AbiParam::new(module.isa().pointer_type());
    let mut signature = Signature::new(module.isa().default_call_conv());
    signature.params = vec![pointer; 6];
    signature.returns = vec![AbiParam::new(types::I32)];
    signature
}

/// A module whose memory is freed when it is dropped, which Cranelift leaves to its user. (The lock is never
/// contended: it makes the module shareable, which it is not by itself.)
struct Loaded(Mutex<Option<JITModule>>);

impl Drop for Loaded {
    fn drop(&mut self) {
        let module = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(module) = module {
            // SAFETY: the last `JitCode` is gone, and with it all programs and contexts that could call into
            // the module.
            unsafe { module.free_memory() };
        }
    }
}
