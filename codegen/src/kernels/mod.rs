//! The table of kernels: a file for each family, with its rows and how operations become their calls.

pub(crate) mod along;
pub(crate) mod assert;
pub(crate) mod attention;
pub(crate) mod bits;
pub(crate) mod compress;
pub(crate) mod conv;
pub(crate) mod copy;
pub(crate) mod gather;
pub(crate) mod lookup;
pub(crate) mod matmul;
pub(crate) mod norm;
pub(crate) mod order;
pub(crate) mod packing;
pub(crate) mod pointwise;
pub(crate) mod pooling;
pub(crate) mod quantized;
pub(crate) mod reduce;
pub(crate) mod regions;
pub(crate) mod resample;
pub(crate) mod suppress;

use ir::body::OpRef;

use crate::row::KernelRow;

/// The kernels of this crate; an operation is run by the first that accepts it.
static KERNELS: &[KernelRow] = &[
    pointwise::ROW,
    copy::VIEW,
    copy::PAD,
    copy::FILL,
    copy::REPEAT,
    copy::INSERT_SLICE,
    reduce::ROW,
    conv::ROW,
    matmul::ROW,
    quantized::CONV,
    quantized::MATMUL,
    attention::ROW,
    pooling::MAX,
    pooling::AVERAGE,
    norm::SOFTMAX,
    norm::BATCH_NORM,
    norm::GROUP_NORM,
    along::ARG_MAX,
    along::ARG_MIN,
    along::CUM_SUM,
    along::CUM_PROD,
    gather::ROW,
    lookup::ROW,
    resample::ROW,
    order::SCATTER,
    order::ARG_SORT,
    bits::UNPACK,
    bits::PACK,
    compress::ROW,
    suppress::ROW,
    regions::ROW,
    assert::ROW,
];

/// The kernels of this crate.
pub fn kernels() -> &'static [KernelRow] {
    KERNELS
}

/// The kernel that runs an operation or a group around one: an embedder's, otherwise one of this crate.
pub(crate) fn row_of(op: OpRef<'_>, own: &'static [KernelRow]) -> Option<&'static KernelRow> {
    KernelRow::find(own, op).or_else(|| KernelRow::find(KERNELS, op))
}

/// All kernels, an embedder's own first.
pub(crate) fn rows(own: &'static [KernelRow]) -> impl Iterator<Item = &'static KernelRow> {
    own.iter().chain(KERNELS)
}
