//! Which element types each operator takes: of the inputs that it computes with or moves, which ONNX calls
//! `T` or `T1`. What a model's constants are made of while it is read may have more.
//!
//! They follow from what the conversion makes and for which of it there is machine code, so a test holds them
//! against both (`tests/tests/it/onnx_table.rs`).

use super::element::Element;

/// What the words in [`of`] stand for. Every other word is the name of one element type.
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
    ("float, double", &["Det", "ai.onnx.ml.TreeEnsemble"]),
    ("float, double, int32, int64, uint32, uint64", &["CumProd", "CumSum"]),
    ("floats, integers", &["ArgMax", "ArgMin"]),
    ("float, integers, string", &["ai.onnx.ml.LabelEncoder"]),
    (
        "float16, bfloat16, float",
        &[
            "AffineGrid",
            "Attention",
            "AveragePool",
            "CausalConvWithState",
            "Conv",
            "ConvTranspose",
            "DFT",
            "DeformConv",
            "GRU",
            "LSTM",
            "LinearAttention",
            "LpPool",
            "RNN",
            "RotaryEmbedding",
            "STFT",
        ],
    ),
    ("floats, int32, int64, uint32, uint64", &["Gemm", "MatMul"]),
    ("float16, bfloat16, float, int8, uint8", &["MaxPool"]),
    (
        "floats",
        &[
            "Acos",
            "Acosh",
            "Asin",
            "Asinh",
            "Atan",
            "Atanh",
            "BatchNormalization",
            "Bernoulli",
            "Ceil",
            "Celu",
            "Cos",
            "Cosh",
            "Dropout",
            "Elu",
            "Erf",
            "Exp",
            "Floor",
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
            "LayerNormalization",
            "LeakyRelu",
            "Log",
            "LogSoftmax",
            "LpNormalization",
            "MaxUnpool",
            "Mean",
            "MeanVarianceNormalization",
            "Mish",
            "Multinomial",
            "NegativeLogLikelihoodLoss",
            "RMSNormalization",
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
        ],
    ),
    ("floats, int16, int32, int64", &["Range"]),
    ("floats, int32", &["QuantizeLinear"]),
    ("floats, int8, int16, int32, int64, uint8, uint16, uint32", &["ReduceMean"]),
    (
        "floats, integers",
        &[
            "Abs",
            "Add",
            "Clip",
            "Col2Im",
            "Div",
            "Einsum",
            "Greater",
            "GreaterOrEqual",
            "GridSample",
            "Less",
            "LessOrEqual",
            "Max",
            "Min",
            "Mod",
            "Mul",
            "Neg",
            "OneHot",
            "PRelu",
            "Pow",
            "ReduceL1",
            "ReduceProd",
            "ReduceSum",
            "ReduceSumSquare",
            "Relu",
            "ScatterND",
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
            "NonZero",
            "ReduceMax",
            "ReduceMin",
            "Resize",
            "ReverseSequence",
            "Scatter",
            "ScatterElements",
            "SpaceToDepth",
            "TensorScatter",
            "Trilu",
            "Unique",
            "Upsample",
        ],
    ),
    ("floats, integers, bool, float8", &["BitCast", "Pad"]),
    ("floats, integers, bool, float8, float4, packed integers", &["Cast", "CastLike"]),
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
            "Optional",
            "OptionalGetElement",
            "OptionalHasElement",
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
    ("floats, integers, bool, string, float8", &["Flatten", "Identity", "Squeeze", "Transpose", "Unsqueeze"]),
    (
        "floats, integers, bool, string, float8, float4, packed integers",
        &["Constant", "Reshape", "Shape", "Size"],
    ),
    (
        "int32, int64",
        &["BlackmanWindow", "HammingWindow", "HannWindow", "MelWeightMatrix", "TfIdfVectorizer"],
    ),
    ("int64", &["ConstantOfShape"]),
    ("int8, uint8", &["ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul"]),
    ("int8, uint8, int16, uint16, int32, float8, float4, packed integers", &["DequantizeLinear"]),
    ("integers", &["BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor"]),
    ("string", &["RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"]),
];

/// The element types that an operator takes, in words with commas between them; none if it is not known.
pub fn of(op: &str) -> &'static str {
    TAKEN.iter().find(|(_, ops)| ops.contains(&op)).map_or("", |(words, _)| words)
}

/// The element types that words stand for.
///
/// # Panics
/// If a word is none.
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
