//! The dialect `nn`: operations on tensors, as in neural networks.

use crate::opdef::{AttrDef, AttrKind, Dialect, Presence};

mod along;
mod bits;
mod broadcast;
mod contract;
mod elementwise;
mod functions;
mod order;
mod picked;
mod quantized;
mod reduce;
mod regions;
mod rest;
mod scalars;
#[cfg(test)]
mod tests;
mod views;
mod window;

pub use window::{SlidingWindow, window_of};

/// The dialect.
pub static DIALECT: Dialect = Dialect {
    name: "nn",
    doc: "Operations on tensors, as neural networks have them; sizes broadcast as in numpy.",
    tables: &[
        elementwise::OPS,
        functions::OPS,
        contract::OPS,
        quantized::OPS,
        window::OPS,
        views::OPS,
        reduce::OPS,
        along::OPS,
        rest::OPS,
        picked::OPS,
        regions::OPS,
        order::OPS,
        bits::OPS,
        scalars::OPS,
    ],
};

/// An attribute column of a row.
const fn attr(name: &'static str, kind: AttrKind, presence: Presence, doc: &'static str) -> AttrDef {
    AttrDef { name, kind, presence, doc }
}

const LAYOUT: AttrDef = attr(
    "layout",
    AttrKind::OneOf(&["NCHW", "NHWC"]),
    Presence::DefaultText("NCHW"),
    "Which axes of input and result are batch, channels, height and width.",
);
