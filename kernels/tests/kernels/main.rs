//! Whether every kernel computes what plain loops compute, with the same bits on every instruction set and
//! for every cut.

mod attention;
mod common;
mod conv;
mod gemm;
mod map;
mod pairs;
mod quads;
mod sort;
mod winograd;
mod winograd_bf16;
