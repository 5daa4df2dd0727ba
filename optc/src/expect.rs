//! Are a program's results the expected ones?
//!
//! The expectation is a `.npz` file with an array for each output, or a JSON file: for each output its
//! `shape`, `mean`, `std`, `absmax`, and samples (`index`, `value`). A result counts as right where every
//! compared number is within `tolerance * absmax` of the expected one; mean and standard deviation count as
//! numbers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::arrays::{Array, read_npz};
use crate::failure::Failure;

/// What is known of one output.
#[derive(Deserialize)]
struct Sampled {
    shape: Vec<u64>,
    mean: f64,
    std: f64,
    absmax: f64,
    index: Vec<usize>,
    value: Vec<f64>,
}

/// Compares outputs with an expectation; gives a line for each output.
///
/// # Errors
/// If the expectation can't be read, or an output is missing, of another shape, or too far off: every such
/// fault.
pub fn check(outputs: &[Array], expected: &Path, tolerance: f64) -> Result<Vec<String>, Failure> {
    let is_npz = expected.extension().is_some_and(|extension| extension == "npz");
    let wanted = if is_npz { from_npz(expected)? } else { from_json(expected)? };
    let mut lines = Vec::new();
    let mut faults = Vec::new();
    for (name, wanted) in &wanted {
        let output = outputs.iter().find(|output| output.name == *name);
        match output.ok_or_else(|| "the program has no such output".to_owned()).and_then(|o| compare(o, wanted)) {
            Ok(worst) if worst <= tolerance => {
                lines.push(format!("output `{name}`: within {worst:.1e} of absmax {}", wanted.absmax));
            }
            Ok(worst) => faults.push(format!(
                "error: output `{name}` is off by {worst:.1e} of its absmax, more than the tolerance {tolerance:.1e}"
            )),
            Err(reason) => faults.push(format!("error: output `{name}`: {reason}")),
        }
    }
    if faults.is_empty() { Ok(lines) } else { Err(Failure::Input(faults)) }
}

fn from_json(path: &Path) -> Result<BTreeMap<String, Sampled>, Failure> {
    let fault = |error: String| Failure::input(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| fault(error.to_string()))
}

fn from_npz(path: &Path) -> Result<BTreeMap<String, Sampled>, Failure> {
    let sampled = |array: Array| {
        let value = array.to_f64();
        let (mean, std) = mean_and_std(&value);
        let absmax = value.iter().fold(0.0f64, |max, x| max.max(x.abs()));
        (
            array.name,
            Sampled { shape: array.shape, mean, std, absmax, index: (0..value.len()).collect(), value },
        )
    };
    Ok(read_npz(path)?.into_iter().map(sampled).collect())
}

fn mean_and_std(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// The largest difference, as a share of the expected absolute maximum; NaN where none was expected counts as
/// infinite.
fn compare(output: &Array, wanted: &Sampled) -> Result<f64, String> {
    if output.shape != wanted.shape {
        return Err(format!("its shape is {:?}, expected {:?}", output.shape, wanted.shape));
    }
    let values = output.to_f64();
    let (mean, std) = mean_and_std(&values);
    let samples = wanted.index.iter().zip(&wanted.value);
    let mut pairs: Vec<(f64, f64)> = vec![(mean, wanted.mean), (std, wanted.std)];
    for (index, expected) in samples {
        let value = values.get(*index).ok_or_else(|| format!("it has no element {index}"))?;
        pairs.push((*value, *expected));
    }
    let scale = if wanted.absmax > 0.0 { wanted.absmax } else { 1.0 };
    let off = |(found, expected): (f64, f64)| {
        if found == expected || (found.is_nan() && expected.is_nan()) {
            0.0
        } else if found.is_nan() || expected.is_nan() {
            f64::INFINITY
        } else {
            (found - expected).abs() / scale
        }
    };
    Ok(pairs.into_iter().map(off).fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(values: &[f32]) -> Array {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let shape = vec![values.len() as u64];
        Array { name: "y".into(), element: runtime::ElementKind::F32, shape, bytes }
    }

    fn wanted(values: &[f64]) -> Sampled {
        let (mean, std) = mean_and_std(values);
        let shape = vec![values.len() as u64];
        Sampled { shape, mean, std, absmax: 2.0, index: (0..values.len()).collect(), value: values.to_vec() }
    }

    #[test]
    fn differences_are_shares_of_the_absolute_maximum() {
        let worst = compare(&array(&[1.0, -2.0, 0.5]), &wanted(&[1.0, -2.0, 0.4])).unwrap();
        assert!((worst - 0.05).abs() < 1e-6, "{worst}");
    }

    #[test]
    fn a_nan_is_never_within_tolerance() {
        assert_eq!(compare(&array(&[1.0, f32::NAN]), &wanted(&[1.0, 2.0])), Ok(f64::INFINITY));
    }

    #[test]
    fn another_shape_is_refused() {
        assert!(compare(&array(&[1.0]), &wanted(&[1.0, 2.0])).is_err());
    }
}
