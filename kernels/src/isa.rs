//! The instruction sets that kernels are built for, and those of this machine.

/// An instruction set with a path in every kernel. All give the same bits; they differ only in speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Isa {
    /// Plain Rust, for any machine; `mul_add` may be a library call.
    Scalar = 0,
    /// x86-64 with AVX2 and FMA: 8 lanes of `f32`.
    Avx2 = 1,
    /// x86-64 with AVX-512 F, VL, BW and DQ: 16 lanes of `f32`.
    Avx512 = 2,
    /// AArch64 with its baseline vectors and `mul_add`: the path of [`Isa::Scalar`].
    Aarch64 = 3,
}

/// A feature of a machine: its name, and whether this machine has it.
type Feature = (&'static str, fn() -> bool);

/// The features of x86-64 with these names.
macro_rules! x86_features {
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

/// Each instruction set with its name and required features, the narrowest first.
static SETS: [(Isa, &str, &[Feature]); 4] = [
    (Isa::Scalar, "portable", &[]),
    (Isa::Avx2, "x86-64-v3", x86_features!("avx2", "fma", "bmi1", "bmi2", "lzcnt")),
    (
        Isa::Avx512,
        "x86-64-v4",
        x86_features!("avx2", "fma", "bmi1", "bmi2", "lzcnt", "avx512f", "avx512vl", "avx512bw", "avx512dq"),
    ),
    (Isa::Aarch64, "aarch64", &[("aarch64", || cfg!(target_arch = "aarch64"))]),
];

impl Isa {
    /// All of them, the narrowest of each architecture first.
    pub const ALL: [Isa; 4] = [Isa::Scalar, Isa::Avx2, Isa::Avx512, Isa::Aarch64];

    /// The sets with machine code of their own in every kernel, in the order of tables.
    pub const PATHS: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

    /// The widest instruction set of this machine.
    pub fn detect() -> Isa {
        Isa::available().last().copied().unwrap_or(Isa::Scalar)
    }

    /// All instruction sets of this machine, the narrowest first.
    pub fn available() -> Vec<Isa> {
        Isa::ALL.into_iter().filter(|isa| isa.missing().is_none()).collect()
    }

    /// The index in [`Isa::PATHS`] of the set's path.
    pub const fn path(self) -> usize {
        match self {
            Isa::Scalar | Isa::Aarch64 => 0,
            Isa::Avx2 => 1,
            Isa::Avx512 => 2,
        }
    }

    /// Its architecture, by Rust's name; for a set of any machine, this machine's.
    pub fn architecture(self) -> &'static str {
        match self {
            Isa::Scalar => std::env::consts::ARCH,
            Isa::Avx2 | Isa::Avx512 => "x86_64",
            Isa::Aarch64 => "aarch64",
        }
    }

    /// Its name: the x86-64 level that has it, `aarch64`, or `portable`.
    pub fn name(self) -> &'static str {
        SETS[self as usize].1
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Isa> {
        Isa::ALL.into_iter().find(|isa| isa.name() == name)
    }

    /// Its first feature that this machine lacks, by the name used by Rust and Linux; none if its code runs
    /// here.
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
        Isa::PATHS.into_iter().enumerate().for_each(|(path, isa)| assert_eq!(isa.path(), path));
        assert_eq!(Isa::Scalar.missing(), None);
    }

    #[test]
    fn what_is_there_is_of_this_machines_architecture() {
        let is_here = |isa: &Isa| isa.architecture() == std::env::consts::ARCH;
        assert!(Isa::available().iter().all(is_here));
    }
}
