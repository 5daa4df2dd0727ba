//! Comparison of a program's results with expected ones.
//!
//! The expectation is a `.npz` file with an array for each output, or a JSON file: for each output its
//! `shape`, `mean`, `std`, `absmax`, and samples (`index`, `value`). A result is right if every compared
//! number is within `tolerance * absmax` of the expected one; mean and standard deviation are compared too.
//!
//! It may also be a folder with `output_0.pb`, `output_1.pb`, ..., as in ONNX's tests. Then each element has
//! its own tolerance, see [`elements_agree`].

use std::collections::BTreeMap;
use std::path::Path;
use std::{fmt, fs};

use runtime::ElementKind;
use serde::{Deserialize, Serialize};

use crate::arrays::{Array, read_npz};
use crate::failure::Failure;
use crate::protobuf::read_folder;

/// The expectation for one output.
#[derive(Deserialize)]
struct Sampled {
    shape: Vec<u64>,
    mean: f64,
    std: f64,
    absmax: f64,
    index: Vec<usize>,
    value: Vec<f64>,
}

/// Checks that there is a file or folder with expected results, before long work; a `.json` file is parsed.
///
/// # Errors
/// If there is none.
pub fn check_readable(expected: &Path) -> Result<(), Failure> {
    if expected.extension().is_some_and(|extension| extension == "json") {
        return from_json(expected).map(drop);
    }
    let fault = |error| Failure::input(format!("{}: {error}", expected.display()));
    fs::metadata(expected).map(drop).map_err(fault)
}

/// Compares outputs with expected results; returns a line for each output.
///
/// # Errors
/// If the expectation can't be read; otherwise all outputs that are missing, of another shape, or outside the
/// tolerance.
pub fn check(outputs: &[Array], expected: &Path, tolerance: f64) -> Result<Vec<String>, Failure> {
    if expected.is_dir() {
        return check_folder(outputs, expected);
    }
    let is_npz = expected.extension().is_some_and(|extension| extension == "npz");
    let wanted = if is_npz { from_npz(expected, outputs)? } else { from_json(expected)? };
    if wanted.is_empty() && !outputs.is_empty() {
        return Err(Failure::input(format!("{}: there is no output to compare with", expected.display())));
    }
    let mut lines = Vec::new();
    let mut faults = Vec::new();
    for (name, wanted) in &wanted {
        let output = outputs.iter().find(|output| output.name == *name);
        match output
            .ok_or_else(|| "the program has no such output".to_owned())
            .and_then(|o| compare(o, wanted))
        {
            Ok(worst) if worst <= tolerance => {
                lines.push(format!("output `{name}`: within {worst:.1e} of absmax {}", wanted.absmax));
            }
            Ok(worst) => faults.push(format!(
                "output `{name}` is off by {worst:.1e} of its absmax, more than the tolerance {tolerance:.1e}"
            )),
            Err(reason) => faults.push(format!("output `{name}`: {reason}")),
        }
    }
    Failure::unless_none(faults)?;
    Ok(lines)
}

/// Compares outputs with others of the same names. Returns a line for each, with the difference as a share of
/// the absolute maximum.
///
/// # Errors
/// If an output is missing or of another shape.
pub fn compare_outputs(outputs: &[Array], others: &[Array]) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    let mut faults = Vec::new();
    for other in others {
        let output = outputs.iter().find(|output| output.name == other.name);
        let output = output.ok_or_else(|| "the program has no such output".to_owned());
        let expected = sampled(other);
        match output.and_then(|output| compare(output, &expected)) {
            Ok(worst) => lines.push(format!(
                "output `{}`: {worst:.1e} of absmax {} from the other",
                other.name, expected.absmax
            )),
            Err(reason) => faults.push(format!("output `{}`: {reason}", other.name)),
        }
    }
    Failure::unless_none(faults)?;
    Ok(lines)
}

/// The expectation of exactly this array.
fn sampled(array: &Array) -> Sampled {
    let value = array.to_f64();
    let (mean, std) = mean_and_std(&value);
    let absmax = value.iter().fold(0.0f64, |max, x| max.max(x.abs()));
    Sampled { shape: array.shape.clone(), mean, std, absmax, index: (0..value.len()).collect(), value }
}

fn from_json(path: &Path) -> Result<BTreeMap<String, Sampled>, Failure> {
    let fault = |error: String| Failure::input(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| {
        let form = "expected an object with shape, mean, std, absmax, index and value for each output";
        fault(format!("{form} ({error})"))
    })
}

fn from_npz(path: &Path, outputs: &[Array]) -> Result<BTreeMap<String, Sampled>, Failure> {
    let sampled = |array: Array| {
        let sampled = sampled(&array);
        (array.name, sampled)
    };
    let element = |name: &str| outputs.iter().find(|output| output.name == name).map(|output| output.element);
    Ok(read_npz(path, &element)?.into_iter().map(sampled).collect())
}

/// Compares outputs with those of a folder, by their positions.
fn check_folder(outputs: &[Array], folder: &Path) -> Result<Vec<String>, Failure> {
    let expected = read_folder(folder, "output")?;
    if expected.len() != outputs.len() {
        let counts = format!("{} outputs, expected {}", outputs.len(), expected.len());
        return Err(Failure::input(format!("{}: the program has {counts}", folder.display())));
    }
    let mut lines = Vec::new();
    let mut faults = Vec::new();
    for (output, expected) in outputs.iter().zip(&expected) {
        match elements_agree(expected, output) {
            Ok(()) => lines.push(format!("output `{}`: every element is as expected", output.name)),
            Err(reason) => faults.push(format!("output `{}`: {reason}", output.name)),
        }
    }
    Failure::unless_none(faults)?;
    Ok(lines)
}

/// The relative and the absolute tolerance of an element; none if the bits must be equal.
fn tolerance_of(element: ElementKind) -> Option<(f64, f64)> {
    match element {
        ElementKind::F32 | ElementKind::F64 => Some((1e-3, 1e-5)),
        ElementKind::F16 => Some((5e-3, 1e-3)),
        ElementKind::BF16 => Some((1.0 / 64.0, 1e-2)),
        ElementKind::F4E2M1FN | ElementKind::F8E4M3FN | ElementKind::F8E4M3FNUZ => Some((0.0, 0.0)),
        ElementKind::F8E5M2 | ElementKind::F8E5M2FNUZ | ElementKind::F8E8M0FNU => Some((0.0, 0.0)),
        _ => None,
    }
}

/// Whether two arrays agree as ONNX compares the results of its tests: type and shape are the same, floats of
/// 32 and 64 bits within 1e-3 of the expected number plus 1e-5, narrower ones within the resolution of their
/// format, and everything else is equal. NaN equals NaN.
///
/// # Errors
/// Says the first difference.
pub fn elements_agree(expected: &Array, found: &Array) -> Result<(), String> {
    let types = [expected, found].map(|array| (array.element, &array.shape));
    if types[0] != types[1] {
        return Err(format!("it is {:?}, expected {:?}", types[1], types[0]));
    }
    if let (Some(expected), Some(found)) = (expected.to_strings(), found.to_strings()) {
        let mut pairs = expected.iter().zip(&found).enumerate();
        let unlike = pairs.find(|(_, (expected, found))| expected != found);
        return unlike.map_or(Ok(()), |(at, (expected, found))| {
            Err(format!("{found:?} at {at}, expected {expected:?}"))
        });
    }
    let (relative, absolute) = tolerance_of(expected.element).unwrap_or_default();
    let is_near = |(a, b): &(f64, f64)| {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= absolute + relative * a.abs()
    };
    let pairs: Vec<(f64, f64)> = expected.to_f64().into_iter().zip(found.to_f64()).collect();
    if let Some(at) = pairs.iter().position(|pair| !is_near(pair)) {
        let (expected, found) = pairs[at];
        return Err(format!("{found} at {at}, expected {expected}"));
    }
    match tolerance_of(expected.element) {
        // Integers that are too large to differ as numbers.
        None if expected.bytes != found.bytes => Err("its elements differ by less than 2^-53 of them".into()),
        _ => Ok(()),
    }
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
    Ok(pairs.into_iter().map(|(found, expected)| off(found, expected, wanted.absmax)).fold(0.0, f64::max))
}

/// The difference of two numbers as a share of an absolute maximum; infinite if one of them is NaN.
fn off(found: f64, expected: f64, absmax: f64) -> f64 {
    let scale = if absmax > 0.0 && absmax.is_finite() { absmax } else { 1.0 };
    if found == expected || (found.is_nan() && expected.is_nan()) {
        0.0
    } else if found.is_nan() || expected.is_nan() {
        f64::INFINITY
    } else {
        (found - expected).abs() / scale
    }
}

/// A difference between an array and the expected one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// The name of the expected array.
    pub name: String,
    /// Its shape.
    pub shape: Vec<u64>,
    /// The shape of the found array; the next three fields have no meaning if it differs from the expected
    /// shape.
    pub found_shape: Vec<u64>,
    /// The index of the first element that differs.
    pub index: Vec<u64>,
    /// The expected element.
    pub expected: f64,
    /// The found element.
    pub found: f64,
    /// How many elements differ.
    pub count: usize,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { name, shape, found_shape, index, expected, found, count } = self;
        if shape != found_shape {
            return write!(f, "`{name}` has shape {found_shape:?}, expected {shape:?}");
        }
        let total: u64 = shape.iter().product();
        write!(
            f,
            "`{name}` is {found} at {index:?}, expected {expected} ({count} of {total} elements differ)"
        )
    }
}

/// The first array that is not the expected one, within a tolerance that is a share of its absolute maximum.
/// Arrays are compared in order.
pub fn first_difference(found: &[Array], expected: &[Array], tolerance: f64) -> Option<Difference> {
    found.iter().zip(expected).find_map(|(found, expected)| difference(found, expected, tolerance))
}

/// The difference between an array and the expected one, within a tolerance that is a share of its absolute
/// maximum.
pub fn difference(found: &Array, expected: &Array, tolerance: f64) -> Option<Difference> {
    let unlike = |index: usize, pair: (f64, f64), count: usize| Difference {
        name: expected.name.clone(),
        shape: expected.shape.clone(),
        found_shape: found.shape.clone(),
        index: index_of(index as u64, &expected.shape),
        expected: pair.1,
        found: pair.0,
        count,
    };
    if found.shape != expected.shape {
        return Some(unlike(0, (0.0, 0.0), 0));
    }
    if found.bytes == expected.bytes {
        return None;
    }
    let values = expected.to_f64();
    let absmax = values.iter().filter(|x| x.is_finite()).fold(0.0f64, |max, x| max.max(x.abs()));
    let pairs: Vec<(f64, f64)> = found.to_f64().into_iter().zip(values).collect();
    let differs = |pair: &(f64, f64)| off(pair.0, pair.1, absmax) > tolerance;
    let first = pairs.iter().position(differs)?;
    Some(unlike(first, pairs[first], pairs.iter().filter(|pair| differs(pair)).count()))
}

/// The index along each axis of the element of this number.
fn index_of(mut number: u64, shape: &[u64]) -> Vec<u64> {
    let mut index = vec![0; shape.len()];
    for (axis, size) in shape.iter().enumerate().rev() {
        index[axis] = number % size.max(&1);
        number /= size.max(&1);
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(values: &[f32]) -> Array {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let shape = vec![values.len() as u64];
        Array { name: "y".into(), element: ElementKind::F32, shape, bytes }
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
    fn elements_agree_within_their_own_size() {
        let agree = |expected: &[f32], found: &[f32]| elements_agree(&array(expected), &array(found));
        assert_eq!(agree(&[1000.0, f32::NAN, f32::INFINITY], &[1000.9, f32::NAN, f32::INFINITY]), Ok(()));
        assert_eq!(agree(&[0.0], &[9e-6]), Ok(()));
        assert_eq!(agree(&[1.0, 0.0], &[1.0, 0.5]), Err("0.5 at 1, expected 0".into()));
        assert!(agree(&[0.0], &[2e-5]).is_err());
        assert!(agree(&[1.0], &[1.002]).is_err() && agree(&[1.0], &[f32::NAN]).is_err());
        assert!(agree(&[1.0], &[1.0, 2.0]).is_err());
        let integer = |number: i64| Array {
            name: "y".into(),
            element: ElementKind::I64,
            shape: vec![],
            bytes: number.to_le_bytes().to_vec(),
        };
        assert!(elements_agree(&integer(i64::MAX), &integer(i64::MAX - 1)).is_err());
        assert!(elements_agree(&integer(1000), &integer(1001)).is_err());
        let strings = |strings: &[&str; 2]| Array::strings("y", &[2], strings).unwrap();
        assert_eq!(elements_agree(&strings(&["a", ""]), &strings(&["a", ""])), Ok(()));
        let unlike = elements_agree(&strings(&["a", "b"]), &strings(&["a", ""]));
        assert_eq!(unlike, Err("\"\" at 1, expected \"b\"".into()));
    }

    #[test]
    fn the_first_difference_says_where_and_what() {
        let [mut found, expected] = [array(&[1.0, -2.0, 0.5, 9.0]), array(&[1.0, -2.0, 0.5, 4.0])]
            .map(|array| Array { shape: vec![2, 2], ..array });
        let text = |found: &Array| difference(found, &expected, 1e-4).map(|found| found.to_string());
        let said = "`y` is 9 at [1, 1], expected 4 (1 of 4 elements differ)";
        assert_eq!(text(&found).as_deref(), Some(said));
        assert_eq!(text(&expected), None);
        found.shape = vec![4];
        assert_eq!(text(&found).as_deref(), Some("`y` has shape [4], expected [2, 2]"));
        let near = Array { bytes: array(&[1.0, -2.0, 0.5, 4.0002]).bytes, ..expected.clone() };
        assert_eq!(text(&near), None);
    }

    #[test]
    fn another_shape_is_refused() {
        assert!(compare(&array(&[1.0]), &wanted(&[1.0, 2.0])).is_err());
    }
}
