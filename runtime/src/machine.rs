//! Facts about this machine, and the memory of this process.

use std::thread;

/// The number of threads of the process that the system runs at once; 1 if unknown.
pub fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The architecture and the vector features that determine the kernels, as one line: `x86_64 avx avx2 fma
/// avx512f`.
pub fn cpu_features() -> String {
    let mut line = std::env::consts::ARCH.to_owned();
    for feature in vector_features() {
        line.push(' ');
        line.push_str(feature);
    }
    line
}

#[cfg(target_arch = "x86_64")]
fn vector_features() -> Vec<&'static str> {
    macro_rules! detected {
        ($($name:tt)*) => {
            [$(($name, std::arch::is_x86_feature_detected!($name))),*]
        };
    }
    let features = detected!("sse4.1" "avx" "f16c" "fma" "avx2" "avx512f" "avx512bw" "avx512dq" "avx512vl"
        "avx512vnni" "avx512bf16");
    features.iter().filter(|(_, present)| *present).map(|(name, _)| *name).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn vector_features() -> Vec<&'static str> {
    Vec::new()
}

/// The peak of resident memory of the process in bytes; `None` if the system does not report it (Linux does,
/// in `/proc/self/status`).
pub fn peak_resident_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// The current resident memory of the process in bytes, without mapped files; `None` if the system does not
/// report it (Linux does, in `/proc/self/status`).
pub fn own_resident_bytes() -> Option<u64> {
    status_bytes("RssAnon:")
}

/// A line of the process status that Linux reports, in bytes.
fn status_bytes(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_begin_with_the_architecture() {
        let line = cpu_features();
        assert!(line.starts_with(std::env::consts::ARCH), "{line}");
        assert!(line.split(' ').all(|word| !word.is_empty()), "{line}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    #[cfg_attr(miri, ignore = "the process that is measured would be that of Miri")]
    fn the_peak_grows_with_what_is_touched() {
        let before = peak_resident_bytes().unwrap();
        let touched = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(peak_resident_bytes().unwrap() >= 64 << 20, "before {before}");
        drop(touched);
    }

    #[cfg(target_os = "linux")]
    #[test]
    #[cfg_attr(miri, ignore = "the process that is measured would be that of Miri")]
    fn own_memory_is_what_is_touched_and_not_given_back() {
        let touched = std::hint::black_box(vec![1u8; 256 << 20]);
        assert!(own_resident_bytes().unwrap() >= 256 << 20);
        drop(touched);
        assert!(own_resident_bytes().unwrap() < 256 << 20);
    }
}
