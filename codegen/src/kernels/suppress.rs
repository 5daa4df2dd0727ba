//! Non-maximum suppression: boxes that overlap boxes of higher scores are dropped.

use ir::body::OpRef;
use kernels::NonMaxSuppression;

use crate::call::{Lowered, LoweredCall, Pointer};
use crate::refusal::CodeRefusal;
use crate::row::{KernelRow, Machine, Runs};
use crate::shape::known_shape;

/// `nn.non_max_suppression`.
pub(crate) const ROW: KernelRow = KernelRow {
    name: "non_max_suppression",
    doc: "Boxes in the order of their scores, without those that overlap one before them.",
    runs: Runs::Kernel("non_max_suppression"),
    lower,
    ..KernelRow::PLAIN
};

fn lower(op: OpRef<'_>, machine: &Machine) -> Result<Lowered, CodeRefusal> {
    let (scores, picked) = (known_shape(op, op.operand(1))?, known_shape(op, op.result(0))?);
    let (&[images, classes, count], &[.., places]) = (&scores[..], &picked[..]) else {
        return Err(CodeRefusal::new("the scores have not three axes"));
    };
    if count > u64::from(u32::MAX) {
        return Err(CodeRefusal::new("its boxes are too many"));
    }
    let sizes = [images, classes, count].map(|size| size as usize);
    let kernel = NonMaxSuppression::new(sizes, places as usize, machine.isa, machine.threads);
    let results = [0, 1].map(|result| Pointer::Result(result, 0));
    let operands = [0, 1, 2, 3, 4].map(|operand| Pointer::Operand(operand, 0));
    let operands = [&results[..], &operands].concat();
    Ok(Lowered::new("non_max_suppression", vec![LoweredCall::kernel(&kernel, operands)]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ir::Context;

    use crate::testing::{Net, check_bytes};

    /// Pseudo-random numbers below 1.
    fn numbers(count: usize, seed: u64) -> Vec<f32> {
        let number = |index: usize| (index as u64 + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        (0..count).map(|index| number(index) as f32 / (1 << 24) as f32).collect()
    }

    fn bytes(numbers: &[f32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn boxes_are_picked_as_the_interpreter_says() {
        for [images, classes, count] in [[1, 1, 1], [2, 3, 40], [3, 1, 7], [1, 2, 0], [0, 2, 3]] {
            for (most, places) in [(3, 5), (100, 40), (7, 2), (-1, 4), (2, 0)] {
                for (overlap, least) in [(0.0, f32::NAN), (0.2, 0.3), (0.5, f32::NEG_INFINITY)] {
                    let ctx = Arc::new(Context::new());
                    let shapes: [&[u64]; 5] = [&[images, count, 4], &[images, classes, count], &[], &[], &[]];
                    let elems = [ctx.f32(), ctx.f32(), ctx.int(64), ctx.f32(), ctx.f32()];
                    let inputs: Vec<_> = shapes.into_iter().zip(elems).collect();
                    let mut net = Net::new(&inputs, ctx.clone());
                    let operands = [0, 1, 2, 3, 4].map(|index| net.arg(index));
                    let attrs = [("places", ctx.ints_attr(&[places]))];
                    let picked = net.op("nn.non_max_suppression", &operands, &attrs);
                    let op = net.body.defining_op(picked).expect("it is a result");
                    let is_picked = net.body.result(op, 1);
                    let boxes = numbers((images * count * 4) as usize, 1);
                    let mut scores = numbers((images * classes * count) as usize, 7);
                    for (index, score) in scores.iter_mut().enumerate() {
                        match index % 6 {
                            0 => *score = f32::NAN,
                            1 => *score = f32::NEG_INFINITY,
                            2 => *score = 0.5,
                            _ => {}
                        }
                    }
                    let limits = [i64::to_le_bytes(most).to_vec(), bytes(&[overlap]), bytes(&[least])];
                    let data = [&[bytes(&boxes), bytes(&scores)][..], &limits].concat();
                    let data: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
                    check_bytes(net, &[picked, is_picked], &data);
                }
            }
        }
    }
}
