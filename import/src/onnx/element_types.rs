//! The element types that each operator supports: of the inputs that it computes with or moves, which ONNX
//! calls `T` or `T1`. A model's constants may have more types while the model is read.
//!
//! They follow from the converted operations and their kernels, so a test compares them with both
//! (`tests/tests/it/onnx_table.rs`).

use super::element::Element;

/// The meaning of the words in [`of`]. Every other word is the name of one element type.
pub const WORDS: &[(&str, &[Element])] = &[
    ("floats", &[Element::Float16, Element::Bfloat16, Element::Float, Element::Double]),
    (
        "integers",
        &[
            Element::Int8,
            Element::Int16,
            Element::Int32,
            Element::Int64,
            Element::Uint8,
            Element::Uint16,
            Element::Uint32,
            Element::Uint64,
        ],
    ),
    (
        "float8",
        &[Element::Float8E4m3fn, Element::Float8E4m3fnuz, Element::Float8E5m2, Element::Float8E5m2fnuz],
    ),
    ("float4", &[Element::Float4E2m1]),
    ("packed integers", &[Element::Int4, Element::Uint4, Element::Int2, Element::Uint2]),
];

/// Element types, and the operators that take them.
const TAKEN: &[(&str, &[&str])] = &[
    ("bool", &["And", "Not", "Or", "Xor"]),
    ("float", &["DynamicQuantizeLinear", "NonMaxSuppression"]),
    ("float, double", &["ai.onnx.ml.TreeEnsemble"]),
    ("float, integers, string", &["ai.onnx.ml.LabelEncoder"]),
    ("float16, bfloat16, float", &["CausalConvWithState", "LinearAttention", "RotaryEmbedding"]),
    (
        "floats",
        &[
            "Acos",
            "Acosh",
            "AffineGrid",
            "Asin",
            "Asinh",
            "Atan",
            "Atanh",
            "Attention",
            "AveragePool",
            "BatchNormalization",
            "Bernoulli",
            "Ceil",
            "Celu",
            "Conv",
            "ConvTranspose",
            "Cos",
            "Cosh",
            "DFT",
            "DeformConv",
            "Det",
            "Elu",
            "Erf",
            "Exp",
            "Floor",
            "GRU",
            "Gelu",
            "GlobalAveragePool",
            "GlobalLpPool",
            "GlobalMaxPool",
            "GroupNormalization",
            "HardSigmoid",
            "HardSwish",
            "Hardmax",
            "InstanceNormalization",
            "IsInf",
            "IsNaN",
            "LRN",
            "LSTM",
            "LayerNormalization",
            "LeakyRelu",
            "Log",
            "LogSoftmax",
            "LpNormalization",
            "LpPool",
            "MaxUnpool",
            "Mean",
            "MeanVarianceNormalization",
            "Mish",
            "Multinomial",
            "NegativeLogLikelihoodLoss",
            "RMSNormalization",
            "RNN",
            "RandomNormal",
            "RandomNormalLike",
            "RandomUniform",
            "RandomUniformLike",
            "Reciprocal",
            "ReduceL2",
            "ReduceLogSum",
            "ReduceLogSumExp",
            "RoiAlign",
            "Round",
            "STFT",
            "Selu",
            "Sigmoid",
            "Sin",
            "Sinh",
            "Softmax",
            "SoftmaxCrossEntropyLoss",
            "Softplus",
            "Softsign",
            "Sqrt",
            "SwiGLU",
            "Swish",
            "Tan",
            "Tanh",
            "ThresholdedRelu",
            "ai.onnx.preview.FlexAttention",
        ],
    ),
    ("floats, float8", &["Dropout"]),
    ("floats, int16, int32, int64", &["Range"]),
    ("floats, int32", &["QuantizeLinear"]),
    ("floats, int32, int64, uint32, uint64", &["CumProd", "CumSum", "Gemm", "MatMul"]),
    ("floats, int8, int16, int32, int64, uint8, uint16, uint32", &["ReduceMean"]),
    ("floats, int8, uint8", &["MaxPool"]),
    (
        "floats, integers",
        &[
            "Abs",
            "Add",
            "ArgMax",
            "ArgMin",
            "Clip",
            "Col2Im",
            "Div",
            "Einsum",
            "Greater",
            "GreaterOrEqual",
            "Less",
            "LessOrEqual",
            "Max",
            "Min",
            "Mod",
            "Mul",
            "Neg",
            "PRelu",
            "Pow",
            "ReduceL1",
            "ReduceProd",
            "ReduceSum",
            "ReduceSumSquare",
            "Relu",
            "Shrink",
            "Sign",
            "Sub",
            "Sum",
            "TopK",
            "ai.onnx.ml.Binarizer",
        ],
    ),
    (
        "floats, integers, bool",
        &[
            "CenterCropPad",
            "DepthToSpace",
            "EyeLike",
            "GridSample",
            "NonZero",
            "OneHot",
            "ReduceMax",
            "ReduceMin",
            "Resize",
            "ReverseSequence",
            "Scatter",
            "ScatterElements",
            "ScatterND",
            "SpaceToDepth",
            "TensorScatter",
            "Trilu",
            "Unique",
            "Upsample",
        ],
    ),
    ("floats, integers, bool, float8, float8e8m0", &["BitCast", "Pad"]),
    ("floats, integers, bool, float8, float8e8m0, float4, packed integers", &["Cast", "CastLike"]),
    (
        "floats, integers, bool, string",
        &[
            "Compress",
            "Concat",
            "ConcatFromSequence",
            "Equal",
            "Expand",
            "Gather",
            "GatherElements",
            "GatherND",
            "If",
            "Loop",
            "Scan",
            "SequenceAt",
            "SequenceConstruct",
            "SequenceEmpty",
            "SequenceErase",
            "SequenceInsert",
            "SequenceLength",
            "SequenceMap",
            "Slice",
            "Split",
            "SplitToSequence",
            "Tile",
            "Where",
            "ai.onnx.ml.ArrayFeatureExtractor",
        ],
    ),
    (
        "floats, integers, bool, string, float8, float8e8m0",
        &["Flatten", "Identity", "Optional", "OptionalGetElement", "Squeeze", "Transpose", "Unsqueeze"],
    ),
    (
        "floats, integers, bool, string, float8, float8e8m0, float4, packed integers",
        &["Constant", "OptionalHasElement", "Reshape", "Shape", "Size"],
    ),
    (
        "int32, int64",
        &["BlackmanWindow", "HammingWindow", "HannWindow", "MelWeightMatrix", "TfIdfVectorizer"],
    ),
    ("int64", &["ConstantOfShape"]),
    ("int8, int16, int32, uint8, uint16, float8, float4, packed integers", &["DequantizeLinear"]),
    ("int8, uint8", &["ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul"]),
    ("integers", &["BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor"]),
    ("string", &["RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"]),
    ("uint8", &["ImageDecoder"]),
];

/// The operators that take strings, in addition to those of sequences and graphs: they move or compare
/// elements, or depend only on sizes.
pub(super) const STRINGS: &[&str] = &[
    "Compress",
    "Concat",
    "Equal",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Identity",
    "RegexFullMatch",
    "Reshape",
    "Shape",
    "Size",
    "Slice",
    "Split",
    "Squeeze",
    "StringConcat",
    "StringNormalizer",
    "StringSplit",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Where",
    "ai.onnx.ml.ArrayFeatureExtractor",
    "ai.onnx.ml.LabelEncoder",
];

/// The element types that an operator supports, as words with commas; none if it is not known.
pub fn of(op: &str) -> &'static str {
    TAKEN.iter().find(|(_, ops)| ops.contains(&op)).map_or("", |(words, _)| words)
}

/// The element types of these words.
///
/// # Panics
/// If a word is unknown.
pub fn elements(words: &str) -> Vec<Element> {
    let of_word = |word: &str| match WORDS.iter().find(|(known, _)| *known == word) {
        Some((_, elements)) => elements.to_vec(),
        None => {
            let named = Element::ALL.iter().find(|element| element.name() == word);
            vec![*named.unwrap_or_else(|| panic!("`{word}` is no element type"))]
        }
    };
    words.split(", ").filter(|word| !word.is_empty()).flat_map(of_word).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rows::ROWS;
    use super::*;

    #[test]
    fn every_operator_takes_some_element_types_and_is_named_once() {
        let named: Vec<&str> = TAKEN.iter().flat_map(|(_, ops)| ops.iter().copied()).collect();
        for row in ROWS {
            let count = named.iter().filter(|op| **op == row.op).count();
            assert_eq!((row.op, count), (row.op, 1));
            assert!(!elements(of(row.op)).is_empty(), "{}", row.op);
        }
        assert!(named.iter().all(|op| ROWS.iter().any(|row| row.op == *op)));
    }

    #[test]
    fn strings_are_taken_where_the_rows_take_them() {
        for row in ROWS {
            let are_said = elements(of(row.op)).contains(&Element::String);
            assert_eq!(are_said, row.takes_strings() || row.op == "Constant", "{}", row.op);
        }
    }
}
