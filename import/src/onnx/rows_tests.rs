//! That every elementwise operator and every reduction of ONNX has rows, in all versions, or a reason why
//! not.

use super::{NEWEST, find};

/// Operators of ONNX 1.23's main domain that compute each element from elements at the same (broadcast)
/// index, and the versions that changed them: from `onnx.defs.get_all_schemas_with_history()`.
const ELEMENTWISE: &[(&str, &[i64])] = &[
    ("Abs", &[1, 6, 13]),
    ("Acos", &[7, 22]),
    ("Acosh", &[9, 22]),
    ("Add", &[1, 6, 7, 13, 14]),
    ("And", &[1, 7]),
    ("Asin", &[7, 22]),
    ("Asinh", &[9, 22]),
    ("Atan", &[7, 22]),
    ("Atanh", &[9, 22]),
    ("Bernoulli", &[15, 22]),
    ("BitCast", &[26]),
    ("BitShift", &[11, 28]),
    ("BitwiseAnd", &[18]),
    ("BitwiseNot", &[18]),
    ("BitwiseOr", &[18]),
    ("BitwiseXor", &[18]),
    ("Cast", &[1, 6, 9, 13, 19, 21, 23, 24, 25, 28]),
    ("CastLike", &[15, 19, 21, 23, 24, 25]),
    ("Ceil", &[1, 6, 13]),
    ("Celu", &[12, 28]),
    ("Clip", &[1, 6, 11, 12, 13]),
    ("Cos", &[7, 22]),
    ("Cosh", &[9, 22]),
    ("DequantizeLinear", &[10, 13, 19, 21, 23, 24, 25, 28]),
    ("Div", &[1, 6, 7, 13, 14]),
    ("Dropout", &[1, 6, 7, 10, 12, 13, 22]),
    ("Elu", &[1, 6, 22]),
    ("Equal", &[1, 7, 11, 13, 19]),
    ("Erf", &[9, 13]),
    ("Exp", &[1, 6, 13]),
    ("Floor", &[1, 6, 13]),
    ("Gelu", &[20]),
    ("Greater", &[1, 7, 9, 13]),
    ("GreaterOrEqual", &[12, 16]),
    ("HardSigmoid", &[1, 6, 22]),
    ("HardSwish", &[14, 22]),
    ("Identity", &[1, 13, 14, 16, 19, 21, 23, 24, 25]),
    ("IsInf", &[10, 20]),
    ("IsNaN", &[9, 13, 20]),
    ("LeakyRelu", &[1, 6, 16]),
    ("Less", &[1, 7, 9, 13]),
    ("LessOrEqual", &[12, 16]),
    ("Log", &[1, 6, 13]),
    ("Max", &[1, 6, 8, 12, 13]),
    ("Mean", &[1, 6, 8, 13]),
    ("Min", &[1, 6, 8, 12, 13]),
    ("Mish", &[18, 22]),
    ("Mod", &[10, 13, 28]),
    ("Mul", &[1, 6, 7, 13, 14]),
    ("Neg", &[1, 6, 13]),
    ("Not", &[1]),
    ("Or", &[1, 7]),
    ("PRelu", &[1, 6, 7, 9, 16]),
    ("Pow", &[1, 7, 12, 13, 15]),
    ("QuantizeLinear", &[10, 13, 19, 21, 23, 24, 25, 28]),
    ("RandomNormalLike", &[1, 22]),
    ("RandomUniformLike", &[1, 22]),
    ("Reciprocal", &[1, 6, 13]),
    ("RegexFullMatch", &[20]),
    ("Relu", &[1, 6, 13, 14]),
    ("Round", &[11, 22]),
    ("Selu", &[1, 6, 22]),
    ("Shrink", &[9]),
    ("Sigmoid", &[1, 6, 13]),
    ("Sign", &[9, 13]),
    ("Sin", &[7, 22]),
    ("Sinh", &[9, 22]),
    ("Softplus", &[1, 22]),
    ("Softsign", &[1, 22]),
    ("Sqrt", &[1, 6, 13]),
    ("StringConcat", &[20]),
    ("Sub", &[1, 6, 7, 13, 14]),
    ("Sum", &[1, 6, 8, 13]),
    ("SwiGLU", &[28]),
    ("Swish", &[24]),
    ("Tan", &[7, 22]),
    ("Tanh", &[1, 6, 13]),
    ("ThresholdedRelu", &[10, 22]),
    ("Where", &[9, 16]),
    ("Xor", &[1, 7]),
];

/// Those that fold axes, accumulate along one, or normalise by what they folded; with their versions.
const REDUCTIONS: &[(&str, &[i64])] = &[
    ("ArgMax", &[1, 11, 12, 13]),
    ("ArgMin", &[1, 11, 12, 13]),
    ("CumProd", &[26]),
    ("CumSum", &[11, 14]),
    ("DynamicQuantizeLinear", &[11]),
    ("GlobalAveragePool", &[1, 22]),
    ("GlobalLpPool", &[1, 2, 22]),
    ("GlobalMaxPool", &[1, 22]),
    ("Hardmax", &[1, 11, 13]),
    ("LogSoftmax", &[1, 11, 13]),
    ("LpNormalization", &[1, 22]),
    ("MeanVarianceNormalization", &[9, 13]),
    ("NegativeLogLikelihoodLoss", &[12, 13, 22]),
    ("ReduceL1", &[1, 11, 13, 18]),
    ("ReduceL2", &[1, 11, 13, 18]),
    ("ReduceLogSum", &[1, 11, 13, 18, 28]),
    ("ReduceLogSumExp", &[1, 11, 13, 18, 28]),
    ("ReduceMax", &[1, 11, 12, 13, 18, 20]),
    ("ReduceMean", &[1, 11, 13, 18]),
    ("ReduceMin", &[1, 11, 12, 13, 18, 20]),
    ("ReduceProd", &[1, 11, 13, 18]),
    ("ReduceSum", &[1, 11, 13]),
    ("ReduceSumSquare", &[1, 11, 13, 18]),
    ("Softmax", &[1, 11, 13]),
    ("SoftmaxCrossEntropyLoss", &[12, 13]),
];

/// Operators of the tables that are not imported, and why.
const REFUSED: &[(&str, &str)] =
    &[("RegexFullMatch", "it looks into strings, and there is no engine for its expressions here")];

#[test]
fn every_elementwise_operator_and_reduction_is_known_in_every_version() {
    for (op, versions) in ELEMENTWISE.iter().chain(REDUCTIONS) {
        let is_refused = REFUSED.iter().any(|(refused, _)| refused == op);
        for version in versions.iter().flat_map(|version| *version..=NEWEST) {
            let is_known = find(op, version).is_some();
            assert_ne!(is_known, is_refused, "{op} in version {version}");
        }
    }
}

#[test]
fn only_operators_of_the_tables_are_refused() {
    for (op, reason) in REFUSED {
        let mut listed = ELEMENTWISE.iter().chain(REDUCTIONS);
        assert!(listed.any(|(listed, _)| listed == op) && !reason.is_empty(), "{op}");
    }
}
