//! Position-independent code: turns generated code with addresses into code for object files.

use object::Architecture;

use crate::Fault;
use crate::library::{Relocation, RelocationKind, Target};

/// The relocations of an object file for one of generated code. The code's bytes may change.
///
/// # Errors
/// If the relocation has no such form.
pub(crate) fn relocations(
    architecture: Architecture,
    bytes: &mut [u8],
    relocation: Relocation,
) -> Result<Vec<Relocation>, Fault> {
    match (architecture, relocation.kind, relocation.target) {
        (Architecture::X86_64, RelocationKind::Absolute, _) => Ok(vec![on_x86_64(bytes, relocation)]),
        (Architecture::X86_64, RelocationKind::Relative, Target::Symbol(_)) => {
            Ok(vec![Relocation { kind: RelocationKind::Call, ..relocation }])
        }
        (Architecture::X86_64, RelocationKind::Relative, _) => Ok(vec![relocation]),
        (Architecture::Aarch64, RelocationKind::Absolute, _) => Ok(on_aarch64(bytes, relocation).to_vec()),
        (Architecture::Aarch64, RelocationKind::Call, _) => Ok(vec![relocation]),
        (_, other, _) => {
            Err(Fault(format!("no object file for {architecture:?} has addresses of kind {other:?}")))
        }
    }
}

/// Replaces an instruction of x86-64 with an address of 8 bytes by one with a distance: position-independent
/// code has no addresses.
///
/// `movabs $address, %register` => `lea distance(%rip), %register; nop`
fn on_x86_64(bytes: &mut [u8], relocation: Relocation) -> Relocation {
    let at = relocation.offset as usize;
    let (prefix, code) = (bytes[at - 2], bytes[at - 1]);
    assert!(prefix & 0xfe == 0x48 && code & 0xf8 == 0xb8, "generated code moves addresses to registers");
    bytes[at - 2] = 0x48 | (prefix & 1) << 2;
    bytes[at - 1] = 0x8d;
    bytes[at] = 0x05 | (code & 7) << 3;
    bytes[at + 5..at + 8].copy_from_slice(&[0x0f, 0x1f, 0x00]);
    let (offset, addend) = (relocation.offset + 1, relocation.addend - 4);
    Relocation { offset, kind: RelocationKind::Call, addend, ..relocation }
}

/// The same for AArch64, whose code has the address among its instructions. No kept code calls library
/// functions: AArch64 has instructions for their results.
///
/// `ldr x, address; b over; address: .xword 0; over:` => `adrp x, page; add x, x, within; nop; nop`
fn on_aarch64(bytes: &mut [u8], relocation: Relocation) -> [Relocation; 2] {
    const NOP: u32 = 0xd503_201f;
    let at = relocation.offset as usize - 8;
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("there are four bytes"));
    let register = word(at) & 31;
    let is_known = word(at) == 0x5800_0040 | register && word(at + 4) == 0x1400_0003;
    assert!(is_known, "generated code jumps over the addresses that it loads");
    let code = [0x9000_0000 | register, 0x9100_0000 | register << 5 | register, NOP, NOP];
    for (index, word) in code.into_iter().enumerate() {
        bytes[at + 4 * index..at + 4 * index + 4].copy_from_slice(&u32::to_le_bytes(word));
    }
    [
        Relocation { offset: at as u32, kind: RelocationKind::Page, ..relocation },
        Relocation { offset: at as u32 + 4, kind: RelocationKind::Within, ..relocation },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_in_an_instruction_of_x86_64_becomes_a_distance() {
        // movabs $0, %r10; call *%r10
        let mut bytes = [0x49, 0xba, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0xd2];
        let relocation =
            Relocation { offset: 2, kind: RelocationKind::Absolute, target: Target::Piece(0), addend: 0 };
        let near = on_x86_64(&mut bytes, relocation);
        // lea 0(%rip), %r10; nop; call *%r10
        assert_eq!(bytes, [0x4c, 0x8d, 0x15, 0, 0, 0, 0, 0x0f, 0x1f, 0, 0x41, 0xff, 0xd2]);
        assert_eq!((near.offset, near.addend), (3, -4));
    }

    #[test]
    fn an_address_among_instructions_of_aarch64_becomes_a_distance() {
        // nop; ldr x17, address; b over; address: .xword 0; over: blr x17
        let code = [0xd503_201f_u32, 0x5800_0051, 0x1400_0003, 0, 0, 0xd63f_0220];
        let mut bytes: Vec<u8> = code.into_iter().flat_map(u32::to_le_bytes).collect();
        let relocation =
            Relocation { offset: 12, kind: RelocationKind::Absolute, target: Target::Piece(0), addend: 8 };
        let found = relocations(Architecture::Aarch64, &mut bytes, relocation).unwrap();
        // nop; adrp x17, page; add x17, x17, within; nop; nop; blr x17
        let code = [0xd503_201f_u32, 0x9000_0011, 0x9100_0231, 0xd503_201f, 0xd503_201f, 0xd63f_0220];
        assert_eq!(bytes, code.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
        let found: Vec<_> = found.iter().map(|found| (found.offset, found.kind, found.addend)).collect();
        assert_eq!(found, [(4, RelocationKind::Page, 8), (8, RelocationKind::Within, 8)]);
    }

    #[test]
    fn addresses_that_object_files_cannot_have_are_refused() {
        let foreign = |kind| Relocation { offset: 8, kind, target: Target::Symbol(0), addend: 0 };
        let refused =
            [(Architecture::Aarch64, RelocationKind::Relative), (Architecture::X86_64, RelocationKind::Page)];
        for (architecture, kind) in refused {
            let found = relocations(architecture, &mut [0; 16], foreign(kind));
            assert!(found.is_err(), "{architecture:?} {kind:?}");
        }
    }
}
