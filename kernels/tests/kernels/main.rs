//! That every kernel computes the results of plain loops, with the same bits on every instruction set and for
//! every division into parts.

mod attention;
mod common;
mod conv;
mod depthwise;
mod gemm;
mod map;
mod pairs;
mod quad_depthwise;
mod quad_groups;
mod quad_steps;
mod quads;
mod sort;
mod winograd;
mod winograd_bf16;
