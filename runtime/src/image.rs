//! Code images: machine code before it is loaded, as bytes, functions and relocations.
//!
//! The same image is loaded by a JIT, stored in an artifact, or written into an object file. It contains no
//! addresses.

use std::fmt;
use std::ops::Range;

/// Relocatable machine code of some functions, for one architecture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeImage {
    /// The instructions and constants, one function after the other.
    pub code: Vec<u8>,
    /// The functions, in the order of their bytes.
    pub functions: Vec<ImageFunction>,
    /// The names of external symbols.
    pub symbols: Vec<String>,
    /// The places where addresses must be written, in order.
    pub relocations: Vec<Relocation>,
}

/// A function of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFunction {
    /// Its name, unique in the image.
    pub name: String,
    /// Its start in bytes; a multiple of [`FUNCTION_ALIGNMENT`].
    pub start: u32,
    /// Its size in bytes.
    pub size: u32,
}

/// A place in the image where an address must be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The offset of its first byte.
    pub offset: u32,
    /// The form in which the address is written.
    pub kind: RelocationKind,
    /// The function or symbol whose address is written.
    pub target: RelocationTarget,
    /// A number added to the address.
    pub addend: i64,
}

/// The form in which an address is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationKind {
    /// The address, in 8 bytes.
    Absolute64,
    /// The distance to it from these bytes, in 4 bytes.
    Relative32,
    /// The distance in instructions of 4 bytes, in the low 26 bits of an AArch64 branch.
    Arm64Call,
}

impl RelocationKind {
    /// The number of bytes that change.
    fn bytes(self) -> u32 {
        match self {
            RelocationKind::Absolute64 => 8,
            RelocationKind::Relative32 | RelocationKind::Arm64Call => 4,
        }
    }
}

/// The function or symbol whose address is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationTarget {
    /// A function of the image, by its number.
    Function(u32),
    /// A symbol, by its number.
    Symbol(u32),
}

/// The alignment of functions, in bytes.
pub const FUNCTION_ALIGNMENT: u32 = 64;

/// The reason why an image can't be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// It is inconsistent, or refers to something missing.
    Image(String),
    /// The system has no memory for it, or does not let it run.
    Memory(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Image(what) => write!(f, "the machine code is damaged: {what}"),
            LoadError::Memory(what) => write!(f, "the machine code can't be loaded: {what}"),
        }
    }
}

impl std::error::Error for LoadError {}

impl CodeImage {
    /// The function with this name.
    pub fn function(&self, name: &str) -> Option<&ImageFunction> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// Checks that the functions are in the code, one after the other, and each relocation is in one of them.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self) -> Result<(), LoadError> {
        let mut end = 0;
        for ImageFunction { name, start, size } in &self.functions {
            let is_apart = *start >= end && start % FUNCTION_ALIGNMENT == 0 && *size > 0;
            end = start.saturating_add(*size);
            if !is_apart || end as usize > self.code.len() {
                return Err(LoadError::Image(format!("the function `{name}` has no place of its own")));
            }
        }
        for relocation in &self.relocations {
            let Relocation { offset, kind, target, .. } = relocation;
            let next = self.functions.partition_point(|function| function.start <= *offset);
            let within = next.checked_sub(1).map(|last| &self.functions[last]).is_some_and(|function| {
                u64::from(*offset) + u64::from(kind.bytes()) <= u64::from(function.start + function.size)
            });
            let is_known = match target {
                RelocationTarget::Function(number) => (*number as usize) < self.functions.len(),
                RelocationTarget::Symbol(number) => (*number as usize) < self.symbols.len(),
            };
            if !within || !is_known {
                return Err(LoadError::Image(format!("byte {offset} names an address that is none")));
            }
        }
        Ok(())
    }

    /// Writes addresses into `bytes`, which hold the code and are to be loaded at the address `at`; `symbols`
    /// are the addresses of the image's symbols.
    ///
    /// # Errors
    /// If a target is too far away.
    pub(crate) fn relocate(&self, bytes: &mut [u8], at: u64, symbols: &[u64]) -> Result<(), LoadError> {
        for Relocation { offset, kind, target, addend } in &self.relocations {
            let to = match target {
                RelocationTarget::Function(number) => at + u64::from(self.functions[*number as usize].start),
                RelocationTarget::Symbol(number) => symbols[*number as usize],
            };
            let to = to.wrapping_add_signed(*addend);
            let distance = to.wrapping_sub(at + u64::from(*offset)) as i64;
            let far = || LoadError::Image(format!("what byte {offset} names is too far away"));
            let field = field(*offset, *kind);
            match kind {
                RelocationKind::Absolute64 => bytes[field].copy_from_slice(&to.to_le_bytes()),
                RelocationKind::Relative32 => {
                    let distance = i32::try_from(distance).map_err(|_| far())?;
                    bytes[field].copy_from_slice(&distance.to_le_bytes());
                }
                RelocationKind::Arm64Call => {
                    let is_near = distance % 4 == 0 && (-(1 << 27)..1 << 27).contains(&distance);
                    let steps = is_near.then_some((distance / 4) as u32 & 0x03ff_ffff).ok_or_else(far)?;
                    let old: [u8; 4] = bytes[field.clone()].try_into().expect("four bytes");
                    let new = u32::from_le_bytes(old) & 0xfc00_0000 | steps;
                    bytes[field].copy_from_slice(&new.to_le_bytes());
                }
            }
        }
        Ok(())
    }
}

fn field(offset: u32, kind: RelocationKind) -> Range<usize> {
    offset as usize..(offset + kind.bytes()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, start: u32, size: u32) -> ImageFunction {
        ImageFunction { name: name.to_owned(), start, size }
    }

    fn image() -> CodeImage {
        let relocation = |offset, kind, target| Relocation { offset, kind, target, addend: 0 };
        CodeImage {
            code: vec![0; 80],
            functions: vec![function("a", 0, 20), function("b", 64, 16)],
            symbols: vec!["s".to_owned()],
            relocations: vec![
                relocation(4, RelocationKind::Absolute64, RelocationTarget::Symbol(0)),
                relocation(12, RelocationKind::Relative32, RelocationTarget::Function(1)),
                relocation(64, RelocationKind::Arm64Call, RelocationTarget::Function(0)),
            ],
        }
    }

    #[test]
    fn addresses_and_distances_are_written() {
        let image = image();
        assert_eq!(image.check(), Ok(()));
        let mut bytes = image.code.clone();
        image.relocate(&mut bytes, 0x1000, &[0x1122_3344_5566_7788]).unwrap();
        assert_eq!(bytes[4..12], 0x1122_3344_5566_7788u64.to_le_bytes());
        assert_eq!(bytes[12..16], 52i32.to_le_bytes());
        assert_eq!(bytes[64..68], (-16i32 as u32 & 0x03ff_ffff).to_le_bytes());
    }

    #[test]
    fn what_lies_outside_of_a_function_is_refused() {
        type Damage = fn(&mut CodeImage);
        let damages: [Damage; 9] = [
            |image| image.functions[1].size = 17,
            |image| image.functions[1].size = u32::MAX,
            |image| image.functions[1].size = 0,
            |image| image.functions[1].start = 65,
            |image| image.functions[0].size = 65,
            |image| image.relocations[0].offset = 13,
            |image| image.relocations[2].offset = 40,
            |image| image.relocations[1].target = RelocationTarget::Function(2),
            |image| image.relocations[0].target = RelocationTarget::Symbol(1),
        ];
        for (number, damage) in damages.into_iter().enumerate() {
            let mut image = image();
            damage(&mut image);
            assert!(matches!(image.check(), Err(LoadError::Image(_))), "damage {number}");
        }
    }

    #[test]
    fn what_is_too_far_away_is_refused() {
        let mut image = image();
        image.relocations[1].target = RelocationTarget::Symbol(0);
        let mut bytes = image.code.clone();
        let far = image.relocate(&mut bytes, 0x1000, &[0x1_0000_0000]);
        assert!(matches!(far, Err(LoadError::Image(_))));
    }
}
