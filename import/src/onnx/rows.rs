//! The table of supported ONNX operators: versions, inputs, attributes and converters.
//!
//! A row describes an operator over a range of versions of ONNX's operator set; if an operator's inputs or
//! attributes changed, it has one row before and one after. For a change in meaning only, the converter tests
//! the version. The versions are those of onnx.ai/onnx/operators.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::call::{NodeConversion, Results};
use super::convert::{
    along, attention, boxes, composed, deformed, einsum, gather, images, integer, learned, linear,
    linear_attention, loss, ngrams, pads, pick, picked, pointwise, quantised, random, recurrent, reduce,
    resize, sample, scatter, shape, signal, split, spread, strings, transposed, unique, window,
};
use super::element::Element;
use super::element_types;
use super::flow::ControlOperator;
use super::sequences::SequenceOperator;

/// The newest version of ONNX's operator set against which the rows were checked.
pub const NEWEST: i64 = 28;
/// The newest version of the operators of `ai.onnx.ml` against which the rows were checked.
pub const NEWEST_LEARNED: i64 = 5;
/// The prefix of their names in the rows.
const LEARNED: &str = "ai.onnx.ml";
/// The prefix of operators that ONNX may still change.
const PREVIEW: &str = "ai.onnx.preview";

/// A supported operator, over a range of versions.
pub struct OperatorRow {
    /// The operator's name, with a domain before a dot if it is not ONNX's own.
    pub op: &'static str,
    /// The versions of the operator set that the row covers.
    pub versions: RangeInclusive<i64>,
    /// The number of inputs of a node, including omitted ones.
    pub inputs: RangeInclusive<usize>,
    /// The allowed attributes, including those without effect on inference.
    pub attributes: &'static [&'static str],
    /// The converter.
    pub convert: Convert,
}

/// The converter of a node.
#[derive(Clone, Copy)]
pub enum Convert {
    /// The IR's unary operation of this name.
    Unary(&'static str),
    /// The IR's binary operation of this name, with broadcasting.
    Binary(&'static str),
    /// The IR's binary operation of this name, from left to right over any number of operands.
    Fold(&'static str),
    /// Its graphs are inlined, or become regions.
    Graphs(ControlOperator),
    /// It reads or returns sequences, which exist only during the import.
    Sequences(SequenceOperator),
    /// A converter function.
    With(fn(&mut NodeConversion<'_, '_>) -> Results),
}

impl Convert {
    /// Converts a node and returns its supported results.
    pub fn run(self, call: &mut NodeConversion<'_, '_>) -> Results {
        match self {
            Convert::Unary(name) => pointwise::unary(call, name),
            Convert::Binary(name) => pointwise::binary(call, name),
            Convert::Fold(name) => pointwise::fold(call, name),
            Convert::With(convert) => convert(call),
            Convert::Graphs(_) | Convert::Sequences(_) => {
                Err("graphs and sequences are no converter's".into())
            }
        }
    }
}

impl OperatorRow {
    /// Whether operands of a node may be strings.
    pub fn takes_strings(&self) -> bool {
        match self.convert {
            Graphs(flow) => flow != ControlOperator::FlexAttention,
            Sequences(_) => true,
            _ => element_types::STRINGS.contains(&self.op),
        }
    }
}

/// The versions of the operator sets that a model uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorSets {
    /// The version of ONNX's own operators.
    pub own: i64,
    /// The version of `ai.onnx.ml`; none if the model does not use it.
    pub learned: Option<i64>,
    /// The version of `ai.onnx.preview`; none if the model does not use it.
    pub preview: Option<i64>,
}

/// The row for `op` in `version`, if there is one.
pub fn find(op: &str, version: i64) -> Option<&'static OperatorRow> {
    ROWS.iter().find(|row| row.op == op && row.versions.contains(&version))
}

/// The row for an operator of a domain, if there is one.
pub fn find_in(domain: &str, op: &str, sets: OperatorSets) -> Option<&'static OperatorRow> {
    let version = match domain {
        "" | "ai.onnx" => return find(op, sets.own),
        LEARNED => sets.learned?,
        PREVIEW => sets.preview?,
        _ => return None,
    };
    let is_named =
        |row: &&OperatorRow| row.op.strip_prefix(domain).and_then(|rest| rest.strip_prefix('.')) == Some(op);
    ROWS.iter().find(|row| is_named(row) && row.versions.contains(&version))
}

/// A supported operator, over all its versions.
pub struct Coverage {
    /// The operator's name in ONNX.
    pub op: &'static str,
    /// The range of versions of the operator set.
    pub versions: RangeInclusive<i64>,
    /// The attributes in the newest version.
    pub attributes: &'static [&'static str],
    /// The supported element types, in words: see [`element_types::WORDS`].
    pub element_types: &'static str,
}

impl Coverage {
    /// The supported element types.
    pub fn elements(&self) -> Vec<Element> {
        element_types::elements(self.element_types)
    }
}

/// The supported operators, by name.
pub fn coverage() -> Vec<Coverage> {
    let mut operators: BTreeMap<&str, Coverage> = BTreeMap::new();
    for row in ROWS {
        let OperatorRow { op, versions, attributes, .. } = row;
        let known = operators.entry(*op);
        let element_types = element_types::of(op);
        let first = || Coverage { op, versions: versions.clone(), attributes, element_types };
        let known = known.or_insert_with(first);
        known.versions =
            *known.versions.start().min(versions.start())..=*known.versions.end().max(versions.end());
        if versions.end() == known.versions.end() {
            known.attributes = *attributes;
        }
    }
    operators.into_values().collect()
}

use Convert::{Binary, Fold, Graphs, Sequences, Unary, With};

const fn row(
    op: &'static str,
    versions: RangeInclusive<i64>,
    inputs: RangeInclusive<usize>,
    attributes: &'static [&'static str],
    convert: Convert,
) -> OperatorRow {
    OperatorRow { op, versions, inputs, attributes, convert }
}

const ANY: usize = usize::MAX;
const CONV: &[&str] = &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"];
const LABELS: &[&str] = &[
    "default_float",
    "default_int64",
    "default_string",
    "default_tensor",
    "keys_floats",
    "keys_int64s",
    "keys_strings",
    "keys_tensor",
    "values_floats",
    "values_int64s",
    "values_strings",
    "values_tensor",
];
const TREES: &[&str] = &[
    "aggregate_function",
    "leaf_targetids",
    "leaf_weights",
    "membership_values",
    "n_targets",
    "nodes_falseleafs",
    "nodes_falsenodeids",
    "nodes_featureids",
    "nodes_hitrates",
    "nodes_missing_value_tracks_true",
    "nodes_modes",
    "nodes_splits",
    "nodes_trueleafs",
    "nodes_truenodeids",
    "post_transform",
    "tree_roots",
];
const NORM: &[&str] = &["consumed_inputs", "epsilon", "is_test", "momentum", "spatial", "training_mode"];
const GEMM: &[&str] = &["alpha", "beta", "broadcast", "transA", "transB"];
const VALUE: &[&str] =
    &["value", "value_float", "value_floats", "value_int", "value_ints", "value_string", "value_strings"];
const NORMALIZER: &[&str] = &["case_change_action", "is_case_sensitive", "locale", "stopwords"];
const FOLD: &[&str] = &["axes", "keepdims"];
const FOLD_BY_OPERAND: &[&str] = &["keepdims", "noop_with_empty_axes"];
const LAYER_NORM: &[&str] = &["axis", "epsilon", "stash_type"];
const RESIZE: &[&str] = &[
    "antialias",
    "axes",
    "coordinate_transformation_mode",
    "cubic_coeff_a",
    "exclude_outside",
    "extrapolation_value",
    "keep_aspect_ratio_policy",
    "mode",
    "nearest_mode",
];
const ATTENTION: &[&str] = &[
    "is_causal",
    "kv_num_heads",
    "left_window_size",
    "q_num_heads",
    "qk_matmul_output_mode",
    "right_window_size",
    "scale",
    "softcap",
    "softmax_precision",
];
const LOSS: &[&str] = &["ignore_index", "reduction"];
const LP_POOL: &[&str] = &["auto_pad", "ceil_mode", "dilations", "kernel_shape", "p", "pads", "strides"];
const CONV_TRANSPOSE: &[&str] =
    &["auto_pad", "dilations", "group", "kernel_shape", "output_padding", "output_shape", "pads", "strides"];
const RECURRENT: &[&str] = &[
    "activation_alpha",
    "activation_beta",
    "activations",
    "clip",
    "direction",
    "hidden_size",
    "input_forget",
    "layout",
    "linear_before_reset",
];
const SCAN: &[&str] = &[
    "body",
    "num_scan_inputs",
    "scan_input_axes",
    "scan_input_directions",
    "scan_output_axes",
    "scan_output_directions",
];
const DEFORMED: &[&str] = &["dilations", "group", "kernel_shape", "offset_group", "pads", "strides"];
const ROI: &[&str] = &[
    "coordinate_transformation_mode",
    "mode",
    "output_height",
    "output_width",
    "sampling_ratio",
    "spatial_scale",
];
const TF_IDF: &[&str] = &[
    "max_gram_length",
    "max_skip_count",
    "min_gram_length",
    "mode",
    "ngram_counts",
    "ngram_indexes",
    "pool_int64s",
    "pool_strings",
    "weights",
];
const WINDOW: &[&str] = &["output_datatype", "periodic"];
const ARG: &[&str] = &["axis", "keepdims", "select_last_index"];
/// The last two are about floats of 8 bits; `round_mode` is for powers of two, which are not supported.
const FLEXIBLE: &[&str] = &["prob_mod", "scale", "score_mod", "softmax_precision"];
const CAST: &[&str] = &["to", "round_mode", "saturate"];
const RUNNING: &[&str] = &["exclusive", "reverse"];
const QUANTISED: &[&str] = &["axis", "block_size", "output_dtype", "precision", "saturate"];
/// Up to version 5, operators may name inputs that they overwrite; the attribute has no effect.
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
pub static ROWS: &[OperatorRow] = &[
    row("Abs", 1..=NEWEST, 1..=1, OLD, Unary("nn.abs")),
    row("Acos", 7..=NEWEST, 1..=1, &[], Unary("nn.acos")),
    row("Acosh", 9..=NEWEST, 1..=1, &[], Unary("nn.acosh")),
    row("Add", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.add")),
    row("Add", 7..=NEWEST, 2..=2, &[], Binary("nn.add")),
    row("AffineGrid", 20..=NEWEST, 2..=2, &["align_corners"], With(sample::affine_grid)),
    row("And", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.and")),
    row("And", 7..=NEWEST, 2..=2, &[], Binary("nn.and")),
    row("ArgMax", 1..=NEWEST, 1..=1, ARG, With(along::arg_max)),
    row("ArgMin", 1..=NEWEST, 1..=1, ARG, With(along::arg_min)),
    row("Asin", 7..=NEWEST, 1..=1, &[], Unary("nn.asin")),
    row("Asinh", 9..=NEWEST, 1..=1, &[], Unary("nn.asinh")),
    row("Atan", 7..=NEWEST, 1..=1, &[], Unary("nn.atan")),
    row("Atanh", 9..=NEWEST, 1..=1, &[], Unary("nn.atanh")),
    row("Attention", 23..=NEWEST, 3..=7, ATTENTION, With(attention::attention)),
    row("AveragePool", 1..=NEWEST, 1..=1, POOL, With(window::average_pool)),
    row("BatchNormalization", 1..=NEWEST, 5..=5, NORM, With(linear::batch_normalization)),
    row("Bernoulli", 15..=NEWEST, 1..=1, &["dtype", "seed"], With(random::bernoulli)),
    row("BitCast", 26..=NEWEST, 1..=1, &["to"], With(composed::bit_cast)),
    row("BitShift", 11..=NEWEST, 2..=2, &["direction"], With(composed::bit_shift)),
    row("BitwiseAnd", 18..=NEWEST, 2..=2, &[], Binary("nn.and")),
    row("BitwiseNot", 18..=NEWEST, 1..=1, &[], Unary("nn.not")),
    row("BitwiseOr", 18..=NEWEST, 2..=2, &[], Binary("nn.or")),
    row("BitwiseXor", 18..=NEWEST, 2..=2, &[], Binary("nn.xor")),
    row("BlackmanWindow", 17..=NEWEST, 1..=1, WINDOW, With(signal::blackman_window)),
    row("Cast", 1..=NEWEST, 1..=1, CAST, With(composed::cast)),
    row("CastLike", 15..=NEWEST, 2..=2, CAST, With(composed::cast_like)),
    row("CausalConvWithState", 27..=NEWEST, 2..=4, &["activation"], With(attention::causal_convolution)),
    row("Ceil", 1..=NEWEST, 1..=1, OLD, Unary("nn.ceil")),
    row("Celu", 12..=NEWEST, 1..=1, &["alpha"], With(composed::celu)),
    row("CenterCropPad", 18..=NEWEST, 2..=2, &["axes"], With(spread::center_crop_pad)),
    row("Clip", 1..=10, 1..=1, &["consumed_inputs", "max", "min"], With(pointwise::clip)),
    row("Clip", 11..=NEWEST, 1..=3, &[], With(pointwise::clip)),
    row("Col2Im", 18..=NEWEST, 3..=3, &["dilations", "pads", "strides"], With(spread::columns_to_image)),
    row("Compress", 9..=NEWEST, 2..=2, &["axis"], With(picked::compress)),
    row("Concat", 1..=NEWEST, 1..=ANY, &["axis"], With(shape::concat)),
    row("ConcatFromSequence", 11..=NEWEST, 1..=1, &["axis", "new_axis"], Sequences(SequenceOperator::Concat)),
    row("Constant", 1..=NEWEST, 0..=0, VALUE, With(shape::constant)),
    row("ConstantOfShape", 9..=NEWEST, 1..=1, &["value"], With(pick::constant_of_shape)),
    row("Conv", 1..=NEWEST, 2..=3, CONV, With(window::conv)),
    row("ConvInteger", 10..=NEWEST, 2..=4, CONV, With(integer::conv_integer)),
    row("ConvTranspose", 1..=NEWEST, 2..=3, CONV_TRANSPOSE, With(transposed::transposed_convolution)),
    row("Cos", 7..=NEWEST, 1..=1, &[], Unary("nn.cos")),
    row("Cosh", 9..=NEWEST, 1..=1, &[], Unary("nn.cosh")),
    row("CumProd", 26..=NEWEST, 2..=2, RUNNING, With(along::cum_prod)),
    row("CumSum", 11..=NEWEST, 2..=2, RUNNING, With(along::cum_sum)),
    row("DFT", 17..=NEWEST, 1..=3, &["axis", "inverse", "onesided"], With(signal::dft)),
    row("DeformConv", 19..=NEWEST, 3..=5, DEFORMED, With(deformed::deformed_convolution)),
    row("DepthToSpace", 1..=NEWEST, 1..=1, &["blocksize", "mode"], With(pick::depth_to_space)),
    row("DequantizeLinear", 10..=NEWEST, 2..=3, QUANTISED, With(quantised::dequantize)),
    row("Det", 11..=NEWEST, 1..=1, &[], With(signal::determinant)),
    row("Div", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.div")),
    row("Div", 7..=NEWEST, 2..=2, &[], Binary("nn.div")),
    row("Dropout", 1..=11, 1..=1, &["consumed_inputs", "is_test", "ratio"], With(pointwise::dropout)),
    row("Dropout", 12..=NEWEST, 1..=3, &["seed"], With(pointwise::dropout)),
    row("DynamicQuantizeLinear", 11..=NEWEST, 1..=1, &[], With(quantised::dynamic_quantize)),
    row("Einsum", 12..=NEWEST, 1..=ANY, &["equation"], With(einsum::einsum)),
    row("Elu", 1..=NEWEST, 1..=1, &["alpha", "consumed_inputs"], With(pointwise::elu)),
    row("Equal", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.eq")),
    row("Equal", 7..=NEWEST, 2..=2, &[], Binary("nn.eq")),
    row("Erf", 9..=NEWEST, 1..=1, &[], Unary("nn.erf")),
    row("Exp", 1..=NEWEST, 1..=1, OLD, Unary("nn.exp")),
    row("Expand", 8..=NEWEST, 2..=2, &[], With(pick::expand)),
    row("EyeLike", 9..=NEWEST, 1..=1, &["dtype", "k"], With(loss::eye_like)),
    row("Flatten", 1..=NEWEST, 1..=1, &["axis"], With(shape::flatten)),
    row("Floor", 1..=NEWEST, 1..=1, OLD, Unary("nn.floor")),
    row("GRU", 7..=NEWEST, 3..=6, RECURRENT, With(recurrent::gru)),
    row("Gather", 1..=NEWEST, 2..=2, &["axis"], With(pick::gather)),
    row("GatherElements", 11..=NEWEST, 2..=2, &["axis"], With(gather::gather_elements)),
    row("GatherND", 11..=NEWEST, 2..=2, &["batch_dims"], With(gather::gather_nd)),
    row("Gelu", 20..=NEWEST, 1..=1, &["approximate"], With(composed::gelu)),
    row("Gemm", 1..=10, 3..=3, GEMM, With(linear::gemm)),
    row("Gemm", 11..=NEWEST, 2..=3, GEMM, With(linear::gemm)),
    row("GlobalAveragePool", 1..=NEWEST, 1..=1, &[], With(window::global_average_pool)),
    row("GlobalLpPool", 1..=NEWEST, 1..=1, &["p"], With(along::global_lp_pool)),
    row("GlobalMaxPool", 1..=NEWEST, 1..=1, &[], With(window::global_max_pool)),
    row("Greater", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.gt")),
    row("Greater", 7..=NEWEST, 2..=2, &[], Binary("nn.gt")),
    row("GreaterOrEqual", 12..=NEWEST, 2..=2, &[], Binary("nn.ge")),
    row("GridSample", 16..=NEWEST, 2..=2, &["align_corners", "mode", "padding_mode"],
        With(sample::grid_sample)),
    row("GroupNormalization", 18..=NEWEST, 3..=3, &["epsilon", "num_groups"],
        With(reduce::group_normalization)),
    row("HammingWindow", 17..=NEWEST, 1..=1, WINDOW, With(signal::hamming_window)),
    row("HannWindow", 17..=NEWEST, 1..=1, WINDOW, With(signal::hann_window)),
    row("HardSigmoid", 1..=NEWEST, 1..=1, &["alpha", "beta", "consumed_inputs"],
        With(pointwise::hard_sigmoid)),
    row("HardSwish", 14..=NEWEST, 1..=1, &[], Unary("nn.hard_swish")),
    row("Hardmax", 1..=NEWEST, 1..=1, &["axis"], With(along::hardmax)),
    row("Identity", 1..=NEWEST, 1..=1, &[], With(pointwise::identity)),
    row("If", 1..=NEWEST, 1..=1, &["else_branch", "then_branch"], Graphs(ControlOperator::If)),
    row("ImageDecoder", 20..=NEWEST, 1..=1, &["pixel_format"], With(images::image_decoder)),
    row("InstanceNormalization", 6..=NEWEST, 3..=3, &["epsilon"], With(reduce::instance_normalization)),
    row("IsInf", 10..=NEWEST, 1..=1, &["detect_negative", "detect_positive"], With(composed::is_inf)),
    row("IsNaN", 9..=NEWEST, 1..=1, &[], With(composed::is_nan)),
    row("LRN", 1..=NEWEST, 1..=1, &["alpha", "beta", "bias", "size"],
        With(spread::local_response_normalization)),
    row("LSTM", 7..=NEWEST, 3..=8, RECURRENT, With(recurrent::lstm)),
    row("LayerNormalization", 17..=NEWEST, 2..=3, LAYER_NORM, With(reduce::layer_normalization)),
    row("LeakyRelu", 1..=NEWEST, 1..=1, &["alpha", "consumed_inputs"], With(pointwise::leaky_relu)),
    row("Less", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.lt")),
    row("Less", 7..=NEWEST, 2..=2, &[], Binary("nn.lt")),
    row("LessOrEqual", 12..=NEWEST, 2..=2, &[], Binary("nn.le")),
    row("LinearAttention", 27..=NEWEST, 3..=6,
        &["chunk_size", "kv_num_heads", "q_num_heads", "scale", "update_rule"],
        With(linear_attention::linear_attention)),
    row("Log", 1..=NEWEST, 1..=1, OLD, Unary("nn.log")),
    row("LogSoftmax", 1..=NEWEST, 1..=1, &["axis"], With(reduce::log_softmax)),
    row("Loop", 1..=NEWEST, 2..=ANY, &["body"], Graphs(ControlOperator::Loop)),
    row("LpNormalization", 1..=NEWEST, 1..=1, &["axis", "p"], With(reduce::lp_normalization)),
    row("LpPool", 2..=NEWEST, 1..=1, LP_POOL, With(spread::lp_pool)),
    row("MatMul", 1..=NEWEST, 2..=2, &[], With(linear::matmul)),
    row("MatMulInteger", 10..=NEWEST, 2..=4, &[], With(integer::matmul_integer)),
    row("Max", 1..=NEWEST, 1..=ANY, OLD, With(pointwise::largest)),
    row("MaxPool", 1..=NEWEST, 1..=1, POOL, With(window::max_pool)),
    row("MaxUnpool", 9..=NEWEST, 2..=3, &["kernel_shape", "pads", "strides"], With(scatter::max_unpool)),
    row("Mean", 1..=NEWEST, 1..=ANY, OLD, With(composed::mean)),
    row("MeanVarianceNormalization", 9..=NEWEST, 1..=1, &["axes"], With(reduce::mean_variance_normalization)),
    row("MelWeightMatrix", 17..=NEWEST, 5..=5, &["output_datatype"], With(signal::mel_weight_matrix)),
    row("Min", 1..=NEWEST, 1..=ANY, OLD, With(pointwise::smallest)),
    row("Mish", 18..=NEWEST, 1..=1, &[], With(composed::mish)),
    row("Mod", 10..=NEWEST, 2..=2, &["fmod"], With(composed::remainder)),
    row("Mul", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.mul")),
    row("Mul", 7..=NEWEST, 2..=2, &[], Binary("nn.mul")),
    row("Multinomial", 7..=NEWEST, 1..=1, &["dtype", "sample_size", "seed"], With(random::multinomial)),
    row("Neg", 1..=NEWEST, 1..=1, OLD, Unary("nn.neg")),
    row("NegativeLogLikelihoodLoss", 12..=NEWEST, 2..=3, LOSS, With(loss::negative_log_likelihood)),
    row("NonMaxSuppression", 10..=NEWEST, 2..=5, &["center_point_box"], With(boxes::non_max_suppression)),
    row("NonZero", 9..=NEWEST, 1..=1, &[], With(picked::non_zero)),
    row("Not", 1..=NEWEST, 1..=1, &[], Unary("nn.not")),
    row("OneHot", 9..=NEWEST, 3..=3, &["axis"], With(loss::one_hot)),
    row("Optional", 15..=NEWEST, 0..=1, &["type"], Sequences(SequenceOperator::Optional)),
    row("OptionalGetElement", 15..=NEWEST, 1..=1, &[], Sequences(SequenceOperator::Get)),
    row("OptionalHasElement", 15..=NEWEST, 0..=1, &[], Sequences(SequenceOperator::Has)),
    row("Or", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.or")),
    row("Or", 7..=NEWEST, 2..=2, &[], Binary("nn.or")),
    row("PRelu", 1..=NEWEST, 2..=2, OLD, With(composed::prelu)),
    row("Pad", 1..=10, 1..=1, &["mode", "paddings", "pads", "value"], With(pads::pad)),
    row("Pad", 11..=NEWEST, 2..=4, &["mode"], With(pads::pad)),
    row("Pow", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.pow")),
    row("Pow", 7..=NEWEST, 2..=2, &[], With(composed::pow)),
    row("QLinearConv", 10..=NEWEST, 8..=9, CONV, With(integer::qlinear_conv)),
    row("QLinearMatMul", 10..=NEWEST, 8..=8, &[], With(integer::qlinear_matmul)),
    row("QuantizeLinear", 10..=NEWEST, 2..=3, QUANTISED, With(quantised::quantize)),
    row("RMSNormalization", 23..=NEWEST, 2..=2, &["axis", "epsilon", "stash_type"],
        With(reduce::rms_normalization)),
    row("RNN", 7..=NEWEST, 3..=6, RECURRENT, With(recurrent::rnn)),
    row("RandomNormal", 1..=NEWEST, 0..=0, &["dtype", "mean", "scale", "seed", "shape"],
        With(random::normal)),
    row("RandomNormalLike", 1..=NEWEST, 1..=1, &["dtype", "mean", "scale", "seed"], With(random::normal)),
    row("RandomUniform", 1..=NEWEST, 0..=0, &["dtype", "high", "low", "seed", "shape"],
        With(random::uniform)),
    row("RandomUniformLike", 1..=NEWEST, 1..=1, &["dtype", "high", "low", "seed"], With(random::uniform)),
    row("Range", 11..=NEWEST, 3..=3, &[], With(pick::range)),
    row("Reciprocal", 1..=NEWEST, 1..=1, OLD, Unary("nn.reciprocal")),
    row("ReduceL1", 1..=17, 1..=1, FOLD, With(reduce::l1)),
    row("ReduceL1", 18..=NEWEST, 1..=2, FOLD_BY_OPERAND, With(reduce::l1)),
    row("ReduceL2", 1..=17, 1..=1, FOLD, With(reduce::l2)),
    row("ReduceL2", 18..=NEWEST, 1..=2, FOLD_BY_OPERAND, With(reduce::l2)),
    row("ReduceLogSum", 1..=17, 1..=1, FOLD, With(reduce::log_sum)),
    row("ReduceLogSum", 18..=NEWEST, 1..=2, FOLD_BY_OPERAND, With(reduce::log_sum)),
    row("ReduceLogSumExp", 1..=17, 1..=1, FOLD, With(reduce::log_sum_exp)),
    row("ReduceLogSumExp", 18..=NEWEST, 1..=2, FOLD_BY_OPERAND, With(reduce::log_sum_exp)),
    row("ReduceMax", 1..=17, 1..=1, FOLD, With(reduce::max)),
    row("ReduceMax", 18..=NEWEST, 1..=2, FOLD_BY_OPERAND, With(reduce::max)),
    row("ReduceMean", 1..=17, 1..=1, FOLD, With(reduce::mean)),
    row("ReduceMean", 18..=NEWEST, 1..=2, FOLD_BY_OPERAND, With(reduce::mean)),
    row("ReduceMin", 1..=17, 1..=1, FOLD, With(reduce::min)),
    row("ReduceMin", 18..=NEWEST, 1..=2, FOLD_BY_OPERAND, With(reduce::min)),
    row("ReduceProd", 1..=17, 1..=1, FOLD, With(reduce::prod)),
    row("ReduceProd", 18..=NEWEST, 1..=2, FOLD_BY_OPERAND, With(reduce::prod)),
    row("ReduceSum", 1..=12, 1..=1, FOLD, With(reduce::sum)),
    row("ReduceSum", 13..=NEWEST, 1..=2, FOLD_BY_OPERAND, With(reduce::sum)),
    row("ReduceSumSquare", 1..=17, 1..=1, FOLD, With(reduce::sum_square)),
    row("ReduceSumSquare", 18..=NEWEST, 1..=2, FOLD_BY_OPERAND, With(reduce::sum_square)),
    row("RegexFullMatch", 20..=NEWEST, 1..=1, &["pattern"], With(strings::regex_full_match)),
    row("Relu", 1..=NEWEST, 1..=1, OLD, Unary("nn.relu")),
    row("Reshape", 1..=4, 1..=1, &["consumed_inputs", "shape"], With(shape::reshape)),
    row("Reshape", 5..=NEWEST, 2..=2, &["allowzero"], With(shape::reshape)),
    row("Resize", 10..=10, 2..=2, &["mode"], With(resize::resize)),
    row("Resize", 11..=NEWEST, 1..=4, RESIZE, With(resize::resize)),
    row("ReverseSequence", 10..=NEWEST, 2..=2, &["batch_axis", "time_axis"], With(signal::reverse_sequence)),
    row("RoiAlign", 10..=NEWEST, 3..=3, ROI, With(boxes::roi_align)),
    row("RotaryEmbedding", 23..=NEWEST, 3..=4, &["interleaved", "num_heads", "rotary_embedding_dim"],
        With(attention::rotary_embedding)),
    row("Round", 11..=NEWEST, 1..=1, &[], Unary("nn.round")),
    row("STFT", 17..=NEWEST, 2..=4, &["onesided"], With(signal::stft)),
    row("Scan", 8..=8, 2..=ANY, &["body", "directions", "num_scan_inputs"],
        Graphs(ControlOperator::BatchedScan)),
    row("Scan", 9..=NEWEST, 1..=ANY, SCAN, Graphs(ControlOperator::Scan)),
    row("Scatter", 9..=10, 3..=3, &["axis"], With(scatter::scatter_elements)),
    row("ScatterElements", 11..=NEWEST, 3..=3, &["axis", "reduction"], With(scatter::scatter_elements)),
    row("ScatterND", 11..=NEWEST, 3..=3, &["reduction"], With(scatter::scatter_nd)),
    row("Selu", 1..=NEWEST, 1..=1, &["alpha", "consumed_inputs", "gamma"], With(composed::selu)),
    row("SequenceAt", 11..=NEWEST, 2..=2, &[], Sequences(SequenceOperator::At)),
    row("SequenceConstruct", 11..=NEWEST, 1..=ANY, &[], Sequences(SequenceOperator::Construct)),
    row("SequenceEmpty", 11..=NEWEST, 0..=0, &["dtype"], Sequences(SequenceOperator::Empty)),
    row("SequenceErase", 11..=NEWEST, 1..=2, &[], Sequences(SequenceOperator::Erase)),
    row("SequenceInsert", 11..=NEWEST, 2..=3, &[], Sequences(SequenceOperator::Insert)),
    row("SequenceLength", 11..=NEWEST, 1..=1, &[], Sequences(SequenceOperator::Length)),
    row("SequenceMap", 17..=NEWEST, 1..=ANY, &["body"], Sequences(SequenceOperator::Map)),
    row("Shape", 1..=14, 1..=1, &[], With(shape::shape)),
    row("Shape", 15..=NEWEST, 1..=1, &["end", "start"], With(shape::shape)),
    row("Shrink", 9..=NEWEST, 1..=1, &["bias", "lambd"], With(composed::shrink)),
    row("Sigmoid", 1..=NEWEST, 1..=1, OLD, Unary("nn.sigmoid")),
    row("Sign", 9..=NEWEST, 1..=1, &[], With(composed::sign)),
    row("Sin", 7..=NEWEST, 1..=1, &[], Unary("nn.sin")),
    row("Sinh", 9..=NEWEST, 1..=1, &[], Unary("nn.sinh")),
    row("Size", 1..=NEWEST, 1..=1, &[], With(pick::size)),
    row("Slice", 1..=9, 1..=1, &["axes", "ends", "starts"], With(pick::slice)),
    row("Slice", 10..=NEWEST, 3..=5, &[], With(pick::slice)),
    row("Softmax", 1..=NEWEST, 1..=1, &["axis"], With(linear::softmax)),
    row("SoftmaxCrossEntropyLoss", 12..=NEWEST, 2..=3, LOSS, With(loss::softmax_cross_entropy)),
    row("Softplus", 1..=NEWEST, 1..=1, &[], Unary("nn.softplus")),
    row("Softsign", 1..=NEWEST, 1..=1, &[], With(composed::softsign)),
    row("SpaceToDepth", 1..=NEWEST, 1..=1, &["blocksize", "mode"], With(pick::space_to_depth)),
    row("Split", 2..=12, 1..=1, &["axis", "split"], With(split::split)),
    row("Split", 13..=NEWEST, 1..=2, &["axis", "num_outputs"], With(split::split)),
    row("SplitToSequence", 11..=NEWEST, 1..=2, &["axis", "keepdims"], Sequences(SequenceOperator::Split)),
    row("Sqrt", 1..=NEWEST, 1..=1, OLD, Unary("nn.sqrt")),
    row("Squeeze", 1..=12, 1..=1, &["axes"], With(shape::squeeze)),
    row("Squeeze", 13..=NEWEST, 1..=2, &[], With(shape::squeeze)),
    row("StringConcat", 20..=NEWEST, 2..=2, &[], With(strings::string_concat)),
    row("StringNormalizer", 10..=NEWEST, 1..=1, NORMALIZER, With(strings::string_normalizer)),
    row("StringSplit", 20..=NEWEST, 1..=1, &["delimiter", "maxsplit"], With(strings::string_split)),
    row("Sub", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.sub")),
    row("Sub", 7..=NEWEST, 2..=2, &[], Binary("nn.sub")),
    row("Sum", 1..=NEWEST, 1..=ANY, OLD, Fold("nn.add")),
    row("SwiGLU", 28..=NEWEST, 2..=2, &["alpha"], With(composed::swiglu)),
    row("Swish", 24..=NEWEST, 1..=1, &["alpha"], With(composed::swish)),
    row("Tan", 7..=NEWEST, 1..=1, &[], Unary("nn.tan")),
    row("Tanh", 1..=NEWEST, 1..=1, OLD, Unary("nn.tanh")),
    row("TensorScatter", 24..=NEWEST, 2..=3, &["axis", "mode"], With(scatter::tensor_scatter)),
    row("TfIdfVectorizer", 9..=NEWEST, 1..=1, TF_IDF, With(ngrams::tf_idf_vectorizer)),
    row("ThresholdedRelu", 10..=NEWEST, 1..=1, &["alpha"], With(composed::thresholded_relu)),
    row("Tile", 6..=NEWEST, 2..=2, &[], With(pick::tile)),
    row("TopK", 1..=9, 1..=1, &["axis", "k"], With(scatter::top_k)),
    row("TopK", 10..=NEWEST, 2..=2, &["axis", "largest", "sorted"], With(scatter::top_k)),
    row("Transpose", 1..=NEWEST, 1..=1, &["perm"], With(shape::transpose)),
    row("Trilu", 14..=NEWEST, 1..=2, &["upper"], With(loss::trilu)),
    row("Unique", 11..=NEWEST, 1..=1, &["axis", "sorted"], With(unique::unique)),
    row("Unsqueeze", 1..=12, 1..=1, &["axes"], With(shape::unsqueeze)),
    row("Unsqueeze", 13..=NEWEST, 2..=2, &[], With(shape::unsqueeze)),
    row("Upsample", 7..=8, 1..=1, &["mode", "scales"], With(resize::resize)),
    row("Upsample", 9..=9, 2..=2, &["mode"], With(resize::resize)),
    row("Where", 9..=NEWEST, 3..=3, &[], With(composed::choose)),
    row("Xor", 1..=6, 2..=2, OLD_BROADCAST, Binary("nn.xor")),
    row("Xor", 7..=NEWEST, 2..=2, &[], Binary("nn.xor")),
    row("ai.onnx.ml.ArrayFeatureExtractor", 1..=NEWEST_LEARNED, 2..=2, &[],
        With(learned::array_feature_extractor)),
    row("ai.onnx.ml.Binarizer", 1..=NEWEST_LEARNED, 1..=1, &["threshold"], With(learned::binarizer)),
    row("ai.onnx.ml.LabelEncoder", 2..=NEWEST_LEARNED, 1..=1, LABELS, With(learned::label_encoder)),
    row("ai.onnx.ml.TreeEnsemble", 5..=NEWEST_LEARNED, 1..=1, TREES, With(learned::tree_ensemble)),
    row("ai.onnx.preview.FlexAttention", 1..=1, 3..=3, FLEXIBLE, Graphs(ControlOperator::FlexAttention)),
];

#[cfg(test)]
#[path = "rows_tests.rs"]
mod completeness;

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
