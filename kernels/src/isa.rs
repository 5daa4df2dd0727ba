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

/// A feature of a machine, by its name, and whether the machine this runs on has it.
type Feature = (&'static str, fn() -> bool);

/// The features of these names.
macro_rules! features {
    ($($name:tt),*) => {
        &[$(($name, || {
            #[cfg(target_arch = "x86_64")]
            let has = is_x86_feature_detected!($name);
            #[cfg(not(target_arch = "x86_64"))]
            let has = false;
            has
        })),*]
    };
}

/// Each instruction set with its name and the features that it takes, the narrowest first.
static SETS: [(Isa, &str, &[Feature]); 3] = [
    (Isa::Scalar, "portable", &[]),
    (Isa::Avx2, "x86-64-v3", features!("avx2", "fma", "bmi1", "bmi2", "lzcnt")),
    (
        Isa::Avx512,
        "x86-64-v4",
        features!("avx2", "fma", "bmi1", "bmi2", "lzcnt", "avx512f", "avx512vl", "avx512bw", "avx512dq"),
    ),
];

impl Isa {
    /// All of them, the narrowest first.
    pub const ALL: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

    /// The widest instruction set of the machine this runs on.
    pub fn detect() -> Isa {
        Isa::available().last().copied().unwrap_or(Isa::Scalar)
    }

    /// All instruction sets that the machine this runs on has, the narrowest first.
    pub fn available() -> Vec<Isa> {
        Isa::ALL.into_iter().filter(|isa| isa.missing().is_none()).collect()
    }

    /// Its name: that of the level of x86-64 that has it, or `portable`.
    pub fn name(self) -> &'static str {
        SETS[self as usize].1
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Isa> {
        Isa::ALL.into_iter().find(|isa| isa.name() == name)
    }

    /// The first feature of it that the machine this runs on lacks, by the name that Rust and the kernel of
    /// Linux have for it; none if code for it runs here.
    pub fn missing(self) -> Option<&'static str> {
        let (_, _, features) = SETS[self as usize];
        features.iter().find(|(_, has)| !has()).map(|(name, _)| *name)
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

    #[test]
    fn the_table_stands_in_the_order_of_the_sets() {
        for (isa, row) in Isa::ALL.into_iter().zip(&SETS) {
            assert_eq!(isa, row.0);
            assert_eq!(Isa::named(isa.name()), Some(isa));
        }
        assert_eq!(Isa::Scalar.missing(), None);
    }
}
