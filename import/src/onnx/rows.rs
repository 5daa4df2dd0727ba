//! Which ONNX operators the importer knows, in which versions, and what converts each.
//!
//! A row stands for an operator over a range of versions of ONNX's operator set; where an operator's inputs or attributes
//! changed, it has a row before and a row after. What changed in meaning only is asked by the converter. The versions are
//! those of onnx.ai/onnx/operators.

use std::ops::RangeInclusive;

use ir::Value;

use super::call::{Call, Refusal};
use super::convert::{linear, pointwise, shape, window};

/// The newest version of ONNX's operator set of which the rows were checked.
pub const NEWEST: i64 = 28;

/// What is known of an operator, over a range of versions.
pub struct Row {
    /// The operator's name in ONNX.
    pub op: &'static str,
    /// Versions of the operator set in which the row holds.
    pub versions: RangeInclusive<i64>,
    /// How many inputs a node may have, left-out ones included.
    pub inputs: RangeInclusive<usize>,
    /// Names of the attributes that a node may have, those without effect on inference included.
    pub attributes: &'static [&'static str],
    /// What converts a node.
    pub convert: Convert,
}

/// What converts a node.
#[derive(Clone, Copy)]
pub enum Convert {
    /// The IR's unary operation of this name.
    Unary(&'static str),
    /// The IR's binary operation of this name, with broadcasting.
    Binary(&'static str),
    /// The IR's binary operation of this name, from left to right over any number of operands.
    Fold(&'static str),
    /// A converter of its own.
    With(fn(&mut Call<'_, '_>) -> Result<Vec<Value>, Refusal>),
}

impl Convert {
    /// The values that stand for the node's results, as many as are supported.
    pub fn run(self, call: &mut Call<'_, '_>) -> Result<Vec<Value>, Refusal> {
        match self {
            Convert::Unary(name) => pointwise::unary(call, name),
            Convert::Binary(name) => pointwise::binary(call, name),
            Convert::Fold(name) => pointwise::fold(call, name),
            Convert::With(convert) => convert(call),
        }
    }
}

/// The row for `op` in `version`, if there is one.
pub fn find(op: &str, version: i64) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.op == op && row.versions.contains(&version))
}

use Convert::{Binary, Fold, Unary, With};

const fn row(
    op: &'static str,
    versions: RangeInclusive<i64>,
    inputs: RangeInclusive<usize>,
    attributes: &'static [&'static str],
    convert: Convert,
) -> Row {
    Row { op, versions, inputs, attributes, convert }
}

const ANY: usize = usize::MAX;
const CONV: &[&str] = &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"];
const NORM: &[&str] = &["consumed_inputs", "epsilon", "is_test", "momentum", "spatial", "training_mode"];
const GEMM: &[&str] = &["alpha", "beta", "broadcast", "transA", "transB"];
const VALUE: &[&str] = &["value", "value_float", "value_floats", "value_int", "value_ints"];
/// Up to version 5, operators may name inputs that they destroy; nothing follows from it.
const OLD: &[&str] = &["consumed_inputs"];
const OLD_BROADCAST: &[&str] = &["axis", "broadcast", "consumed_inputs"];
const POOL: &[&str] = &[
    "auto_pad",
    "ceil_mode",
    "count_include_pad",
    "dilations",
    "kernel_shape",
    "pads",
    "storage_order",
    "strides",
];

/// Every row, by name.
#[rustfmt::skip]
pub static ROWS: &[Row] = &[
    row("Abs", 1..=NEWEST, 1..=1, OLD, Unary("nn.abs")),
    row("Add", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.add")),
    row("Add", 7..=NEWEST, 2..=2, &[], Binary("nn.add")),
    row("AveragePool", 1..=NEWEST, 1..=1, POOL, With(window::average_pool)),
    row("BatchNormalization", 1..=NEWEST, 5..=5, NORM, With(linear::batch_normalization)),
    row("Clip", 1..=10, 1..=1, &["consumed_inputs", "max", "min"], With(pointwise::clip)),
    row("Clip", 11..=NEWEST, 1..=3, &[], With(pointwise::clip)),
    row("Concat", 1..=NEWEST, 1..=ANY, &["axis"], With(shape::concat)),
    row("Constant", 1..=NEWEST, 0..=0, VALUE, With(shape::constant)),
    row("Conv", 1..=NEWEST, 2..=3, CONV, With(window::conv)),
    row("Div", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.div")),
    row("Div", 7..=NEWEST, 2..=2, &[], Binary("nn.div")),
    row("Dropout", 1..=11, 1..=1, &["consumed_inputs", "is_test", "ratio"], With(pointwise::dropout)),
    row("Dropout", 12..=NEWEST, 1..=3, &["seed"], With(pointwise::dropout)),
    row("Elu", 1..=NEWEST, 1..=1, &["alpha", "consumed_inputs"], With(pointwise::elu)),
    row("Exp", 1..=NEWEST, 1..=1, OLD, Unary("nn.exp")),
    row("Flatten", 1..=NEWEST, 1..=1, &["axis"], With(shape::flatten)),
    row("Gemm", 1..=10, 3..=3, GEMM, With(linear::gemm)),
    row("Gemm", 11..=NEWEST, 2..=3, GEMM, With(linear::gemm)),
    row("GlobalAveragePool", 1..=NEWEST, 1..=1, &[], With(window::global_average_pool)),
    row("GlobalMaxPool", 1..=NEWEST, 1..=1, &[], With(window::global_max_pool)),
    row("HardSigmoid", 1..=NEWEST, 1..=1, &["alpha", "beta", "consumed_inputs"], With(pointwise::hard_sigmoid)),
    row("HardSwish", 14..=NEWEST, 1..=1, &[], Unary("nn.hard_swish")),
    row("Identity", 1..=NEWEST, 1..=1, &[], With(pointwise::identity)),
    row("LeakyRelu", 1..=NEWEST, 1..=1, &["alpha", "consumed_inputs"], With(pointwise::leaky_relu)),
    row("MatMul", 1..=NEWEST, 2..=2, &[], With(linear::matmul)),
    row("MaxPool", 1..=NEWEST, 1..=1, POOL, With(window::max_pool)),
    row("Mul", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.mul")),
    row("Mul", 7..=NEWEST, 2..=2, &[], Binary("nn.mul")),
    row("Neg", 1..=NEWEST, 1..=1, OLD, Unary("nn.neg")),
    row("Relu", 1..=NEWEST, 1..=1, OLD, Unary("nn.relu")),
    row("Reshape", 1..=4, 1..=1, &["consumed_inputs", "shape"], With(shape::reshape)),
    row("Reshape", 5..=NEWEST, 2..=2, &["allowzero"], With(shape::reshape)),
    row("Shape", 1..=14, 1..=1, &[], With(shape::shape)),
    row("Shape", 15..=NEWEST, 1..=1, &["end", "start"], With(shape::shape)),
    row("Sigmoid", 1..=NEWEST, 1..=1, OLD, Unary("nn.sigmoid")),
    row("Softmax", 1..=NEWEST, 1..=1, &["axis"], With(linear::softmax)),
    row("Sqrt", 1..=NEWEST, 1..=1, OLD, Unary("nn.sqrt")),
    row("Squeeze", 1..=12, 1..=1, &["axes"], With(shape::squeeze)),
    row("Squeeze", 13..=NEWEST, 1..=2, &[], With(shape::squeeze)),
    row("Sub", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.sub")),
    row("Sub", 7..=NEWEST, 2..=2, &[], Binary("nn.sub")),
    row("Sum", 1..=NEWEST, 1..=ANY, OLD, Fold("nn.add")),
    row("Tanh", 1..=NEWEST, 1..=1, OLD, Unary("nn.tanh")),
    row("Transpose", 1..=NEWEST, 1..=1, &["perm"], With(shape::transpose)),
    row("Unsqueeze", 1..=12, 1..=1, &["axes"], With(shape::unsqueeze)),
    row("Unsqueeze", 13..=NEWEST, 2..=2, &[], With(shape::unsqueeze)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_each_version_has_at_most_one() {
        for pair in ROWS.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            assert!(
                a.op < b.op || (a.op == b.op && a.versions.end() < b.versions.start()),
                "{} {}",
                a.op,
                b.op
            );
        }
    }

    #[test]
    fn a_row_holds_for_its_versions_only() {
        assert_eq!(find("Clip", 10).unwrap().inputs, 1..=1);
        assert_eq!(find("Clip", 11).unwrap().inputs, 1..=3);
        assert!(find("HardSwish", 13).is_none() && find("Clip", NEWEST + 1).is_none());
    }
}
