//! Non-maximum suppression.

use super::Operand;
use crate::body::OpRef;
use crate::interp::element::{Elem, read_all};
use crate::interp::tensor::{EvalError, Tensor};

/// For each image and class the numbers of the picked boxes, and for each place whether it holds one.
///
/// # Errors
/// If sizes do not agree, or elements have other types.
pub fn non_max_suppression(op: OpRef<'_>, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let boxes = Operand::like(op, operands, 0, Elem::F32)?;
    let scores = Operand::like(op, operands, 1, Elem::F32)?;
    let most = read_all::<i64>(Elem::of(op.ctx, op.operand_type(2))?, &operands[2].bytes);
    let floats = |index: usize| read_all::<f32>(Elem::F32, &operands[index].bytes);
    let (&[most], &[overlap], &[least]) = (&most[..], &floats(3)[..], &floats(4)[..]) else {
        return Err("a limit is not one number".into());
    };
    let (&[images, count, 4], &[own, classes, scored]) = (&boxes.shape[..], &scores.shape[..]) else {
        return Err("the boxes or the scores have other sizes".into());
    };
    let places = op.result_shape(0).and_then(|shape| shape.last().copied());
    let places = places.ok_or("has a size that is not known")? as usize;
    if (images, count) != (own, scored) {
        return Err("there is not a score for each box".into());
    }
    let (corners, _) = boxes.bytes.as_chunks::<16>();
    let corners: Vec<[f32; 4]> = corners.iter().map(corners_of).collect();
    let scores = floats(1);
    let (mut picked, mut is_picked) = (Vec::new(), Vec::new());
    for line in 0..images * classes {
        let corners = &corners[line / classes * count..][..count];
        let scores = &scores[line * count..][..count];
        let most = usize::try_from(most).unwrap_or(0).min(places);
        let found = picks(corners, scores, most, [overlap, least]);
        let place = |index: usize| found.get(index).map_or(0, |found| *found as i64);
        picked.extend((0..places).flat_map(|index| place(index).to_le_bytes()));
        is_picked.extend((0..places).map(|index| u8::from(index < found.len())));
    }
    let shape = [images, classes, places];
    let picked = Tensor::of_shape(op.ctx, op.result_type(0), &shape, picked)?;
    Ok(vec![picked, Tensor::of_shape(op.ctx, op.result_type(1), &shape, is_picked)?])
}

fn corners_of(bytes: &[u8; 16]) -> [f32; 4] {
    let corners = read_all::<f32>(Elem::F32, bytes);
    [corners[0], corners[1], corners[2], corners[3]]
}

/// The numbers of the picked boxes, in the order of picking.
fn picks(corners: &[[f32; 4]], scores: &[f32], most: usize, [overlap, least]: [f32; 2]) -> Vec<usize> {
    let is_candidate = |index: &usize| {
        let score = scores[*index];
        !score.is_nan() && (score > least || least.is_nan())
    };
    let mut candidates: Vec<usize> = (0..scores.len()).filter(is_candidate).collect();
    // Equal scores keep their order.
    candidates.sort_by(|a, b| scores[*b].partial_cmp(&scores[*a]).expect("none is NaN"));
    let mut found: Vec<usize> = Vec::new();
    for candidate in candidates {
        if found.len() == most {
            break;
        }
        if !found.iter().any(|picked| math::boxes_overlap(corners[candidate], corners[*picked], overlap)) {
            found.push(candidate);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box from 0 to 1 along one axis, and from `x` to `x + 1` along the other, with its corners swapped.
    fn shifted(x: f32) -> [f32; 4] {
        [1.0, x, 0.0, x + 1.0]
    }

    #[test]
    fn boxes_are_picked_by_score_unless_they_overlap_one_that_is() {
        let corners: Vec<[f32; 4]> = [0.0, 0.1, -0.1, 10.0, 10.1, 100.0].map(shifted).to_vec();
        let scores = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3];
        assert_eq!(picks(&corners, &scores, 9, [0.5, f32::NAN]), [3, 0, 5]);
        assert_eq!(picks(&corners, &scores, 9, [0.5, 0.3]), [3, 0]);
        assert_eq!(picks(&corners, &scores, 1, [0.5, 0.3]), [3]);
        assert_eq!(picks(&corners, &scores, 0, [0.5, 0.3]), [0; 0]);
        assert_eq!(picks(&corners, &scores, 9, [1.0, 0.0]), [3, 0, 1, 2, 4, 5]);
    }

    #[test]
    fn equal_scores_stay_in_their_order_and_nan_is_no_score() {
        let corners: Vec<[f32; 4]> = [0.0, 5.0, 10.0, 15.0].map(shifted).to_vec();
        let scores = [0.5, f32::NAN, f32::NEG_INFINITY, 0.5];
        assert_eq!(picks(&corners, &scores, 9, [0.0, f32::NAN]), [0, 3, 2]);
        assert_eq!(picks(&corners, &scores, 9, [0.0, f32::NEG_INFINITY]), [0, 3]);
    }

    #[test]
    fn as_much_as_the_threshold_is_not_more_and_nothing_overlaps_an_empty_box() {
        assert!(!math::boxes_overlap([0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 1.0], 0.5));
        assert!(math::boxes_overlap([0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 1.0], 0.49));
        assert!(!math::boxes_overlap([0.0, 0.0, 1.0, 1.0], [0.5, 0.5, 0.5, 0.5], 0.0));
        assert!(!math::boxes_overlap([0.0, 0.0, 1.0, 1.0], [f32::NAN, 0.0, 1.0, 1.0], 0.0));
    }
}
