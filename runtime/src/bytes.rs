//! Typed slices viewed as bytes, and bytes as typed slices, without a copy.
//!
//! Crates without `unsafe` fill weights and bind inputs with these functions.

mod sealed {
    /// Restricts `Plain` to the types of this file.
    pub trait Sealed {}
}

/// A number type without padding, for which every bit pattern is valid.
pub trait Plain: Copy + sealed::Sealed + 'static {}

macro_rules! plain {
    ($($ty:ty)*) => { $(impl sealed::Sealed for $ty {} impl Plain for $ty {})* };
}
plain!(f32 f64 i8 i16 i32 i64 u8 u16 u32 u64);

/// The bytes of `values`, in the machine's byte order.
pub fn as_bytes<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: `Plain` types have no padding; a byte has no alignment.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The bytes of `values`, for writing.
pub fn as_bytes_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `as_bytes`; and any bytes written are valid values, since `T` is `Plain`.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// `bytes` as numbers, or `None` if they are not aligned for `T` or not a whole number of them.
pub fn from_bytes<T: Plain>(bytes: &[u8]) -> Option<&[T]> {
    // SAFETY: every bit pattern of a `Plain` type is a value; `align_to` checks the bounds.
    let (before, values, after) = unsafe { bytes.align_to() };
    (before.is_empty() && after.is_empty()).then_some(values)
}

/// `bytes` as numbers for writing, or `None` as for [`from_bytes`].
pub fn from_bytes_mut<T: Plain>(bytes: &mut [u8]) -> Option<&mut [T]> {
    // SAFETY: as in `from_bytes`.
    let (before, values, after) = unsafe { bytes.align_to_mut() };
    (before.is_empty() && after.is_empty()).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_to_bytes_and_back() {
        let mut values = [1.5f32, -2.0, f32::NAN];
        assert_eq!(as_bytes(&values)[..4], 1.5f32.to_ne_bytes());
        as_bytes_mut(&mut values)[4..8].copy_from_slice(&7.0f32.to_ne_bytes());
        assert_eq!(from_bytes::<f32>(as_bytes(&values)).unwrap()[..2], [1.5, 7.0]);
        from_bytes_mut::<f32>(as_bytes_mut(&mut values)).unwrap()[0] = 3.0;
        assert_eq!(values[0], 3.0);
    }

    #[test]
    fn odd_lengths_and_addresses_are_refused() {
        let mut values = [0u64; 2];
        assert!(from_bytes::<u64>(&as_bytes(&values)[..15]).is_none());
        assert!(from_bytes::<u32>(&as_bytes(&values)[2..6]).is_none());
        assert!(from_bytes_mut::<u32>(&mut as_bytes_mut(&mut values)[1..5]).is_none());
        assert!(from_bytes::<u32>(&as_bytes(&values)[4..12]).is_some());
    }
}
