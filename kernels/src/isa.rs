//! Which instruction sets the kernels are built for, and which this machine has.

/// An instruction set that every kernel has a path for. All three give the same bits; they differ in speed
/// alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Isa {
    /// Plain Rust, for any machine; `mul_add` may be a library call.
    Scalar = 0,
    /// x86-64 with AVX2 and FMA: 8 lanes of `f32`.
    Avx2 = 1,
    /// x86-64 with AVX-512 F, VL, BW and DQ: 16 lanes of `f32`.
    Avx512 = 2,
}

impl Isa {
    /// The widest instruction set of the machine this runs on.
    pub fn detect() -> Isa {
        Isa::available().last().copied().unwrap_or(Isa::Scalar)
    }

    /// All instruction sets that the machine this runs on has, the narrowest first.
    pub fn available() -> Vec<Isa> {
        let mut found = vec![Isa::Scalar];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            found.push(Isa::Avx2);
            let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
            if wide && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512dq") {
                found.push(Isa::Avx512);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detected_set_is_the_widest_available() {
        let available = Isa::available();
        assert_eq!(available[0], Isa::Scalar);
        assert_eq!(*available.last().unwrap(), Isa::detect());
    }
}
