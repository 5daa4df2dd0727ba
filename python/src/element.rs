//! What an array library calls the element types of tensors.

use optc::runtime::ElementKind;

/// An element type, by its names.
#[derive(Debug)]
pub(crate) struct ElementRow {
    pub(crate) kind: ElementKind,
    /// As `numpy` and `ml_dtypes` call it.
    pub(crate) name: &'static str,
    /// As DLPack codes it.
    pub(crate) code: u8,
    /// Of an element.
    pub(crate) bits: u8,
}

/// DLPack's codes of integers, which buffers have too.
pub(crate) const SIGNED: u8 = 0;
pub(crate) const UNSIGNED: u8 = 1;
pub(crate) const FLOAT: u8 = 2;
const BFLOAT: u8 = 4;
pub(crate) const BOOL: u8 = 6;
const F8E4M3FN: u8 = 10;
const F8E4M3FNUZ: u8 = 11;
const F8E5M2: u8 = 12;
const F8E5M2FNUZ: u8 = 13;
const F8E8M0FNU: u8 = 14;
const F4E2M1FN: u8 = 17;

const fn row(kind: ElementKind, name: &'static str, code: u8, bits: u8) -> ElementRow {
    ElementRow { kind, name, code, bits }
}

static ELEMENTS: [ElementRow; 23] = [
    row(ElementKind::Bool, "bool", BOOL, 8),
    row(ElementKind::I2, "int2", SIGNED, 2),
    row(ElementKind::U2, "uint2", UNSIGNED, 2),
    row(ElementKind::I4, "int4", SIGNED, 4),
    row(ElementKind::U4, "uint4", UNSIGNED, 4),
    row(ElementKind::I8, "int8", SIGNED, 8),
    row(ElementKind::U8, "uint8", UNSIGNED, 8),
    row(ElementKind::I16, "int16", SIGNED, 16),
    row(ElementKind::U16, "uint16", UNSIGNED, 16),
    row(ElementKind::I32, "int32", SIGNED, 32),
    row(ElementKind::U32, "uint32", UNSIGNED, 32),
    row(ElementKind::I64, "int64", SIGNED, 64),
    row(ElementKind::U64, "uint64", UNSIGNED, 64),
    row(ElementKind::F4E2M1FN, "float4_e2m1fn", F4E2M1FN, 4),
    row(ElementKind::F8E4M3FN, "float8_e4m3fn", F8E4M3FN, 8),
    row(ElementKind::F8E4M3FNUZ, "float8_e4m3fnuz", F8E4M3FNUZ, 8),
    row(ElementKind::F8E5M2, "float8_e5m2", F8E5M2, 8),
    row(ElementKind::F8E5M2FNUZ, "float8_e5m2fnuz", F8E5M2FNUZ, 8),
    row(ElementKind::F8E8M0FNU, "float8_e8m0fnu", F8E8M0FNU, 8),
    row(ElementKind::F16, "float16", FLOAT, 16),
    row(ElementKind::BF16, "bfloat16", BFLOAT, 16),
    row(ElementKind::F32, "float32", FLOAT, 32),
    row(ElementKind::F64, "float64", FLOAT, 64),
];

impl ElementRow {
    pub(crate) fn of(kind: ElementKind) -> &'static ElementRow {
        ELEMENTS.iter().find(|row| row.kind == kind).expect("the table has every element type")
    }

    pub(crate) fn named(name: &str) -> Option<&'static ElementRow> {
        ELEMENTS.iter().find(|row| row.name == name)
    }

    pub(crate) fn coded(code: u8, bits: usize) -> Option<&'static ElementRow> {
        ELEMENTS.iter().find(|row| row.code == code && usize::from(row.bits) == bits)
    }

    /// The element type that a buffer's format says, of elements of `item_bytes` bytes.
    pub(crate) fn of_format(format: &[u8], item_bytes: usize) -> Option<&'static ElementRow> {
        let code = match format {
            [code] | [b'@' | b'=' | b'<', code] => *code,
            _ => return None,
        };
        let code = match code {
            b'?' => BOOL,
            b'b' | b'h' | b'i' | b'l' | b'q' | b'n' => SIGNED,
            b'c' | b'B' | b'H' | b'I' | b'L' | b'Q' | b'N' => UNSIGNED,
            b'e' | b'f' | b'd' => FLOAT,
            _ => return None,
        };
        ElementRow::coded(code, item_bytes * 8)
    }

    /// The bytes of an element; none if several share one.
    pub(crate) fn bytes(&self) -> Option<usize> {
        (self.bits >= 8).then_some(usize::from(self.bits) / 8)
    }

    /// Whether numpy has the type without a further package.
    pub(crate) fn is_in_numpy(&self) -> bool {
        self.bits >= 8 && [SIGNED, UNSIGNED, FLOAT, BOOL].contains(&self.code)
    }
}
