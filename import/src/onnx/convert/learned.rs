//! Conversion of operators of `ai.onnx.ml`: labels, thresholds, feature extraction, and trees.

use ir::strings::digests;
use ir::{Blob, Dim, TypeData, Value};

use super::pick::gather_along;
use crate::onnx::call::{NodeConversion, Refusal, Results};
use crate::onnx::element::Element;
use crate::onnx::weights::Weight;

/// ArrayFeatureExtractor: the elements at some indices of the last axis; a row, if there is no other axis.
pub(crate) fn array_feature_extractor(call: &mut NodeConversion<'_, '_>) -> Results {
    let (x, indices) = (call.operand(0)?, call.operand(1)?);
    let shape = call.dims(x)?;
    let count = call.shape(indices)?.iter().product();
    let indices = call.reshape(indices, &[count])?;
    let last = shape.len().checked_sub(1).ok_or("a scalar, expected an axis")?;
    let picked = gather_along(call, x, indices, last)?;
    Ok(vec![if last == 0 { call.reshape(picked, &[1, count])? } else { picked }])
}

/// Binarizer: 1 where the operand is above a threshold, else 0.
pub(crate) fn binarizer(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let threshold = call.number("threshold", 0.0)?;
    let elem = call.element(x);
    let is_integer = matches!(call.ctx().type_data(elem), TypeData::Integer { .. });
    // An integer is above a number if it is above the number's floor.
    let threshold = if is_integer { threshold.floor() } else { threshold };
    let is_above = call.with_number("nn.gt", x, threshold)?;
    Ok(vec![call.cast(is_above, elem)?])
}

/// The elements of an attribute that is one of `NAME_strings`, `NAME_int64s`, `NAME_floats`, `NAME_tensor`.
fn listed(call: &mut NodeConversion<'_, '_>, name: &str) -> Result<Weight, Refusal> {
    let node = call.node;
    if let Some(tensor) = node.tensor(&format!("{name}_tensor"))? {
        let weight = call.read_tensor(tensor, "")?;
        let count = weight.dims.iter().product();
        return Ok(Weight { dims: vec![count], ..weight });
    }
    let (element, count, bytes) = if let Some(strings) = node.strings(&format!("{name}_strings"))? {
        (Element::String, strings.len(), digests(strings.iter().map(|string| string.as_bytes()))?)
    } else if let Some(numbers) = node.ints(&format!("{name}_int64s"))? {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        (Element::Int64, numbers.len(), bytes)
    } else if let Some(numbers) = node.floats(&format!("{name}_floats"))? {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        (Element::Float, numbers.len(), bytes)
    } else {
        return Err(format!("no attribute says the {name}").into());
    };
    Ok(Weight { element, dims: vec![count as u64], blob: Blob::from_bytes(bytes) })
}

/// The bytes of LabelEncoder's value for an element that is no key.
fn default_label(call: &mut NodeConversion<'_, '_>, element: Element) -> Result<Vec<u8>, Refusal> {
    let node = call.node;
    if let Some(tensor) = node.tensor("default_tensor")? {
        let weight = call.read_tensor(tensor, "")?;
        return match (weight.element == element, weight.dims.iter().product()) {
            (true, 1u64) => Ok(weight.blob.to_vec()),
            _ => Err("`default_tensor` is not one element of the values' type".into()),
        };
    }
    match element {
        Element::String => Ok(digests([node.text("default_string")?.unwrap_or("_Unused").as_bytes()])?),
        Element::Int64 => Ok(node.int("default_int64")?.unwrap_or(-1).to_le_bytes().to_vec()),
        Element::Float => Ok(node.float("default_float")?.unwrap_or(-0.0).to_le_bytes().to_vec()),
        _ => Err("values of this type need a `default_tensor`".into()),
    }
}

/// LabelEncoder: the value of the last key that equals an element. Each element is compared with all keys;
/// strings are compared by their digests. A key that is NaN is equal to every NaN, as in version 4; older
/// versions require the same bits.
pub(crate) fn label_encoder(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let (keys, values) = (listed(call, "keys")?, listed(call, "values")?);
    let count = keys.dims[0];
    if count == 0 || values.dims[0] != count {
        return Err(format!("{count} keys of {} values", values.dims[0]).into());
    }
    if keys.element.is_float() && keys.element != Element::Float {
        return Err("keys of floats other than f32".into());
    }
    let has_nan = keys.element == Element::Float && nans(&keys).contains(&true);
    let default = default_label(call, values.element)?;
    let table = [default, values.blob.to_vec()].concat();
    let table = Weight { element: values.element, dims: vec![count + 1], blob: Blob::from_bytes(table) };
    let name = call.node.outputs[0];
    let (keys, table) = (call.constant(keys, name)?, call.constant(table, name)?);
    let shape = call.dims(x)?;
    let apart = call.reshape_to(x, &[&shape[..], &[Dim::Known(1)]].concat())?;
    if call.element(keys) != call.element(x) {
        return Err("keys of another type than the input".into());
    }
    let [elements, keys] = call.digests_of_strings([apart, keys])?;
    let mut hits = call.two("nn.eq", elements, keys)?;
    if has_nan {
        let [element, key] = [elements, keys].map(|value| call.two("nn.ne", value, value));
        let both = call.two("nn.and", element?, key?)?;
        hits = call.two("nn.or", hits, both)?;
    }
    let hits = call.cast(hits, call.ctx().int(64))?;
    let numbers = call.int64_constant(&(1..=count.cast_signed()).collect::<Vec<_>>(), &[count])?;
    let numbered = call.two("nn.mul", hits, numbers)?;
    let found = call.folded("max", numbered, &[shape.len() as i64])?;
    let found = call.reshape_to(found, &shape)?;
    Ok(vec![gather_along(call, table, found, 0)?])
}

/// The greatest number of tree nodes that are unrolled; a node counts each time that it is reached.
const MOST_NODES: usize = 4096;
/// The greatest depth of a tree.
const MOST_DEPTH: usize = 64;

/// The trees of a TreeEnsemble. Conditions are numbered, and so are leaves; an edge leads to one of either.
struct Trees<'n> {
    features: &'n [i64],
    modes: Vec<u8>,
    tracks_missing: Option<&'n [i64]>,
    /// For each condition, the node if it is false and the node if it is true.
    edges: [(&'n [i64], &'n [i64]); 2],
    splits: Vec<Value>,
    /// For each membership condition, the numbers in its set.
    sets: Vec<Vec<Value>>,
    leaves: Vec<Value>,
    /// The number of nodes that may still be unrolled.
    left: usize,
}

/// The elements of a constant row, as values of shape `[1, 1]`.
fn scalars(call: &mut NodeConversion<'_, '_>, weight: &Weight) -> Result<Vec<Value>, Refusal> {
    let bytes = weight.blob.to_vec();
    let width = (weight.element.bits() / 8) as usize;
    let scalar = |part: &[u8]| {
        let blob = Blob::from_bytes(part.to_vec());
        call.constant(Weight { element: weight.element, dims: vec![1, 1], blob }, "")
    };
    bytes.chunks(width).map(scalar).collect()
}

fn required<'n>(list: Option<&'n [i64]>, name: &str) -> Result<&'n [i64], Refusal> {
    list.ok_or_else(|| format!("`{name}` is left out").into())
}

fn floats_of(call: &mut NodeConversion<'_, '_>, name: &str) -> Result<Weight, Refusal> {
    let tensor = call.node.tensor(name)?.ok_or_else(|| format!("`{name}` is left out"))?;
    let weight = call.read_tensor(tensor, "")?;
    match weight.element {
        Element::Float | Element::Double => Ok(weight),
        _ => Err(format!("`{name}` does not hold f32 or f64").into()),
    }
}

/// Whether an element of a constant of floats is NaN.
fn nans(weight: &Weight) -> Vec<bool> {
    let bytes = weight.blob.to_vec();
    match weight.element {
        Element::Double => {
            bytes.as_chunks().0.iter().map(|word| f64::from_le_bytes(*word).is_nan()).collect()
        }
        _ => bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word).is_nan()).collect(),
    }
}

impl<'n> Trees<'n> {
    fn of(call: &mut NodeConversion<'n, '_>, targets: u64) -> Result<Trees<'n>, Refusal> {
        let node = call.node;
        let list = |name: &str| node.ints(name).map_err(Refusal::from).and_then(|list| required(list, name));
        let edges = [
            (list("nodes_falsenodeids")?, list("nodes_falseleafs")?),
            (list("nodes_truenodeids")?, list("nodes_trueleafs")?),
        ];
        let (features, leaf_targets) = (list("nodes_featureids")?, list("leaf_targetids")?);
        let tracks_missing = node.ints("nodes_missing_value_tracks_true")?;
        let modes = node.tensor("nodes_modes")?.ok_or("`nodes_modes` is left out")?;
        let modes = call.read_tensor(modes, "")?.blob.to_vec();
        let count = features.len();
        let lengths = edges.iter().flat_map(|(to, is_leaf)| [to.len(), is_leaf.len()]);
        let splits = floats_of(call, "nodes_splits")?;
        let mut lengths = lengths.chain([modes.len(), splits.dims.iter().product::<u64>() as usize]);
        let mut lengths = lengths.by_ref().chain(tracks_missing.map(<[i64]>::len));
        if lengths.any(|length| length != count) || count > MOST_NODES {
            return Err(format!("conditions of different numbers, or more than {MOST_NODES}").into());
        }
        let weights = floats_of(call, "leaf_weights")?;
        let splits = scalars(call, &splits)?;
        let sets = sets(call)?;
        let leaves = leaves(call, &weights, leaf_targets, targets)?;
        Ok(Trees { features, modes, tracks_missing, edges, splits, sets, leaves, left: MOST_NODES })
    }

    /// The value of a condition or a leaf for each row of `x`.
    fn value(
        &mut self,
        call: &mut NodeConversion<'_, '_>,
        x: Value,
        at: (i64, bool),
        depth: usize,
    ) -> Result<Value, Refusal> {
        self.left =
            self.left.checked_sub(1).ok_or_else(|| format!("trees of more than {MOST_NODES} nodes"))?;
        if depth > MOST_DEPTH {
            return Err(format!("trees that are more than {MOST_DEPTH} deep").into());
        }
        let (number, is_leaf) = at;
        let number = usize::try_from(number).map_err(|_| "a node of a negative number")?;
        if is_leaf {
            return self.leaves.get(number).copied().ok_or_else(|| format!("no leaf {number}").into());
        }
        if number >= self.features.len() {
            return Err(format!("no condition {number}").into());
        }
        let holds = self.condition(call, x, number)?;
        let [otherwise, then] = self.edges.map(|(to, is_leaf)| (to[number], is_leaf[number] != 0));
        let then = self.value(call, x, then, depth + 1)?;
        let otherwise = self.value(call, x, otherwise, depth + 1)?;
        call.select(holds, then, otherwise)
    }

    /// Whether a condition holds, for each row.
    fn condition(
        &self,
        call: &mut NodeConversion<'_, '_>,
        x: Value,
        number: usize,
    ) -> Result<Value, Refusal> {
        let feature = u64::try_from(self.features[number]).map_err(|_| "a feature of a negative number")?;
        if call.dims(x)?[1].known().is_none_or(|count| feature >= count) {
            return Err(format!("no feature {feature}").into());
        }
        let x = call.part(x, 1, Dim::Known(feature), Dim::Known(1))?;
        let split = self.splits[number];
        if call.element(split) != call.element(x) {
            return Err("splits of another type than the input".into());
        }
        let holds = match self.modes[number] {
            0 => call.two("nn.le", x, split)?,
            1 => call.two("nn.lt", x, split)?,
            2 => call.two("nn.ge", x, split)?,
            3 => call.two("nn.gt", x, split)?,
            4 => call.two("nn.eq", x, split)?,
            5 => call.two("nn.ne", x, split)?,
            6 => {
                let before = self.modes[..number].iter().filter(|mode| **mode == 6).count();
                let set = self.sets.get(before).ok_or("fewer sets than conditions of membership")?;
                let mut is_member = call.two("nn.lt", x, x)?;
                for member in set {
                    let equal = call.two("nn.eq", x, *member)?;
                    is_member = call.two("nn.or", is_member, equal)?;
                }
                is_member
            }
            other => return Err(format!("mode {other} of a condition").into()),
        };
        match self.tracks_missing {
            Some(tracks) if tracks[number] != 0 => {
                let is_missing = call.two("nn.ne", x, x)?;
                call.two("nn.or", holds, is_missing)
            }
            _ => Ok(holds),
        }
    }
}

/// The sets of `membership_values`, each terminated by NaN.
fn sets(call: &mut NodeConversion<'_, '_>) -> Result<Vec<Vec<Value>>, Refusal> {
    if call.node.tensor("membership_values")?.is_none() {
        return Ok(Vec::new());
    }
    let values = floats_of(call, "membership_values")?;
    if values.dims.iter().product::<u64>() > MOST_NODES as u64 {
        return Err(format!("more than {MOST_NODES} members of sets").into());
    }
    let mut sets = vec![Vec::new()];
    for (value, is_nan) in scalars(call, &values)?.into_iter().zip(nans(&values)) {
        match is_nan {
            true => sets.push(Vec::new()),
            false => sets.last_mut().expect("it begins with one").push(value),
        }
    }
    Ok(sets)
}

/// For each leaf, a row with its weight at its target.
fn leaves(
    call: &mut NodeConversion<'_, '_>,
    weights: &Weight,
    targets: &[i64],
    count: u64,
) -> Result<Vec<Value>, Refusal> {
    let width = (weights.element.bits() / 8) as usize;
    let bytes = weights.blob.to_vec();
    if bytes.len() != targets.len() * width || targets.len() > MOST_NODES {
        return Err(
            format!("weights and targets of leaves of different numbers, or above {MOST_NODES}").into()
        );
    }
    let mut leaves = Vec::new();
    for (weight, target) in bytes.chunks(width).zip(targets) {
        let target = usize::try_from(*target).ok().filter(|target| (*target as u64) < count);
        let at = target.ok_or_else(|| format!("a target beyond {count}"))? * width;
        let mut row = vec![0; count as usize * width];
        row[at..at + width].copy_from_slice(weight);
        let row = Weight { element: weights.element, dims: vec![1, count], blob: Blob::from_bytes(row) };
        leaves.push(call.constant(row, "")?);
    }
    Ok(leaves)
}

/// TreeEnsemble: the sum, or the mean, of what trees give for each row.
pub(crate) fn tree_ensemble(call: &mut NodeConversion<'_, '_>) -> Results {
    let x = call.operand(0)?;
    let shape = call.dims(x)?;
    if shape.len() != 2 {
        return Err(format!("an input of rank {}, expected rows of features", shape.len()).into());
    }
    if call.node.int("post_transform")?.unwrap_or(0) != 0 {
        return Err("`post_transform`, expected 0".into());
    }
    let targets = u64::try_from(call.node.int("n_targets")?.unwrap_or(1))
        .ok()
        .filter(|targets| (1..=MOST_NODES as u64).contains(targets))
        .ok_or("`n_targets` is no number of targets")?;
    let combine = match (call.node.int("aggregate_function")?.unwrap_or(1), targets) {
        (0 | 1, _) => "nn.add",
        (2, 1) => "nn.min",
        (3, 1) => "nn.max",
        (other, _) => return Err(format!("`aggregate_function` {other} of {targets} targets").into()),
    };
    let roots = required(call.node.ints("tree_roots")?, "tree_roots")?;
    let mut trees = Trees::of(call, targets)?;
    let mut sum = None;
    for root in roots {
        let value = trees.value(call, x, (*root, false), 0)?;
        sum = Some(match sum {
            None => value,
            Some(sum) => call.two(combine, sum, value)?,
        });
    }
    let sum = sum.ok_or("no trees")?;
    match call.node.int("aggregate_function")? {
        Some(0) => Ok(vec![call.with_number("nn.div", sum, roots.len() as f64)?]),
        _ => Ok(vec![sum]),
    }
}
