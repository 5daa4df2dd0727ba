//! How each ONNX operator is said in the IR, a file for each family of them.

pub(crate) mod along;
pub(crate) mod attention;
pub(crate) mod composed;
pub(crate) mod counted;
pub(crate) mod einsum;
pub(crate) mod gather;
pub(crate) mod integer;
pub(crate) mod linear;
pub(crate) mod loss;
pub(crate) mod opened;
pub(crate) mod pads;
pub(crate) mod pick;
pub(crate) mod picked;
pub(crate) mod pointwise;
pub(crate) mod quantised;
pub(crate) mod recurrent;
pub(crate) mod reduce;
pub(crate) mod resize;
pub(crate) mod sample;
pub(crate) mod scatter;
pub(crate) mod shape;
pub(crate) mod signal;
pub(crate) mod split;
pub(crate) mod spread;
pub(crate) mod vocabulary;
pub(crate) mod window;
