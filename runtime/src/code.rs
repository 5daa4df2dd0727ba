//! Loaded machine code, and the promise under which it is called.
//!
//! No check here can show that machine code stays within its buffers: that follows from its generation. So
//! all constructors are `unsafe`, and their callers promise: **the code reads and writes only the memory that
//! [`EntryFn`] gives it, within the sizes of the program's descriptors**. `codegen` bases its promise on the
//! IR's verifier, the checker of plans and the law tests.

use std::any::Any;
use std::fmt;
use std::mem;
use std::sync::Arc;

use memmap2::MmapMut;

use crate::abi::EntryFn;
use crate::image::{CodeImage, LoadError};

/// Machine code with one entry, loaded as long as this value (or a clone) lives.
#[derive(Clone)]
pub struct LoadedCode {
    entry: EntryFn,
    _owner: Arc<dyn Any + Send + Sync>,
}

impl LoadedCode {
    /// Loads an image with the entry function `entry`, and returns the address of each of its functions;
    /// `resolve` finds external symbols. The memory is first writable and then executable, never both; it is
    /// freed with the last clone.
    ///
    /// # Safety
    /// The code must be for this machine, `entry` must be a function of type [`EntryFn`], and it must touch
    /// only what its arguments and the program's descriptors allow.
    ///
    /// # Errors
    /// If the image is inconsistent, a symbol or the entry is unknown, or the system refuses.
    pub unsafe fn load(
        image: &CodeImage,
        entry: &str,
        resolve: impl Fn(&str) -> Option<*const u8>,
    ) -> Result<(LoadedCode, Vec<u64>), LoadError> {
        image.check()?;
        let unknown = |name: &str| LoadError::Image(format!("nothing is called `{name}`"));
        let symbol = |name: &String| {
            let address = resolve(name).ok_or_else(|| unknown(name))?;
            Ok(address as usize as u64)
        };
        let symbols = image.symbols.iter().map(symbol).collect::<Result<Vec<u64>, LoadError>>()?;
        let entry = image.function(entry).ok_or_else(|| unknown(entry))?;
        let refused = |error: std::io::Error| LoadError::Memory(error.to_string());
        let mut memory = MmapMut::map_anon(image.code.len()).map_err(refused)?;
        memory.copy_from_slice(&image.code);
        let start = memory.as_ptr() as usize as u64;
        image.relocate(&mut memory, start, &symbols)?;
        let memory = memory.make_exec().map_err(refused)?;
        synchronize(&memory);
        let addresses = image.functions.iter().map(|function| start + u64::from(function.start));
        let addresses = addresses.collect();
        let entry = memory[entry.start as usize..].as_ptr();
        // SAFETY: the address is that of a function in memory that the owner keeps; the rest is the caller's
        // promise.
        Ok((unsafe { LoadedCode::from_address(entry, Arc::new(memory)) }, addresses))
    }

    /// Code at an address, which `owner` keeps loaded.
    ///
    /// # Safety
    /// `entry` must be the address of a function of type [`EntryFn`] that stays callable while `owner` lives,
    /// and that touches only what its arguments and the program's descriptors allow.
    pub unsafe fn from_address(entry: *const u8, owner: Arc<dyn Any + Send + Sync>) -> LoadedCode {
        // SAFETY: by the caller's promise; both are pointers to code.
        let entry = unsafe { mem::transmute::<*const u8, EntryFn>(entry) };
        LoadedCode { entry, _owner: owner }
    }

    /// Like [`LoadedCode::from_address`], for a function known to Rust or a linker.
    ///
    /// # Safety
    /// As for [`LoadedCode::from_address`].
    pub unsafe fn from_entry(entry: EntryFn, owner: Arc<dyn Any + Send + Sync>) -> LoadedCode {
        LoadedCode { entry, _owner: owner }
    }

    pub(crate) fn entry(&self) -> EntryFn {
        self.entry
    }
}

impl fmt::Debug for LoadedCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LoadedCode")
    }
}

/// Makes written data visible as instructions: x86-64 does so by itself.
#[cfg(not(target_arch = "aarch64"))]
fn synchronize(_: &[u8]) {}

/// Makes written data visible as instructions, as the Arm ARM prescribes (B2.7.4, "Concurrent modification
/// and execution of instructions"): by lines of the data cache, then by lines of the instruction cache.
#[cfg(target_arch = "aarch64")]
fn synchronize(code: &[u8]) {
    use std::arch::asm;

    let range = code.as_ptr_range();
    let lines = |bytes: usize| ((range.start as usize & !(bytes - 1))..range.end as usize).step_by(bytes);
    // SAFETY: these instructions change no memory, and the addresses are in the borrowed mapping.
    unsafe {
        let kinds: u64;
        asm!("mrs {}, ctr_el0", out(reg) kinds);
        for line in lines(4 << (kinds >> 16 & 15)) {
            asm!("dc cvau, {}", in(reg) line);
        }
        asm!("dsb ish");
        for line in lines(4 << (kinds & 15)) {
            asm!("ic ivau, {}", in(reg) line);
        }
        asm!("dsb ish", "isb");
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::image::{FUNCTION_ALIGNMENT, ImageFunction, Relocation, RelocationKind, RelocationTarget};

    extern "C" fn seven() -> i32 {
        7
    }

    /// An entry that returns the result of a function whose address is beside it.
    fn image() -> CodeImage {
        // movabs rax, <seven>; sub rsp, 8; call rax; add rsp, 8; ret
        let mut code = vec![0x48, 0xb8];
        code.extend([0; 8]);
        code.extend([0x48, 0x83, 0xec, 0x08, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3]);
        let size = code.len() as u32;
        CodeImage {
            code,
            functions: vec![ImageFunction { name: "entry".to_owned(), start: 0, size }],
            symbols: vec!["seven".to_owned()],
            relocations: vec![Relocation {
                offset: 2,
                kind: RelocationKind::Absolute64,
                target: RelocationTarget::Symbol(0),
                addend: 0,
            }],
        }
    }

    fn resolve(name: &str) -> Option<*const u8> {
        (name == "seven").then_some(seven as *const u8)
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri runs no machine code")]
    fn an_image_runs_where_it_is_loaded() {
        // SAFETY: the entry reads none of its arguments.
        let (code, addresses) = unsafe { LoadedCode::load(&image(), "entry", resolve) }.unwrap();
        assert_eq!(addresses.len(), 1);
        assert!(addresses[0].is_multiple_of(u64::from(FUNCTION_ALIGNMENT)));
        let null = std::ptr::null();
        // SAFETY: as above.
        let status = unsafe {
            (code.entry())(
                null,
                std::ptr::null_mut(),
                std::ptr::null(),
                std::ptr::null(),
                std::ptr::null(),
                std::ptr::null(),
            )
        };
        assert_eq!(status, 7);
    }

    #[test]
    fn unknown_names_and_damaged_images_are_refused() {
        let load = |image: &CodeImage, entry: &str, resolve: fn(&str) -> Option<*const u8>| {
            // SAFETY: it is refused, and never called.
            unsafe { LoadedCode::load(image, entry, resolve) }.map(drop).unwrap_err().to_string()
        };
        assert_eq!(
            load(&image(), "other", resolve),
            "the machine code is damaged: nothing is called `other`"
        );
        assert_eq!(
            load(&image(), "entry", |_| None),
            "the machine code is damaged: nothing is called `seven`"
        );
        let damaged = CodeImage { code: vec![0; 4], ..image() };
        let fault = "the machine code is damaged: the function `entry` has no place of its own";
        assert_eq!(load(&damaged, "entry", resolve), fault);
    }
}
