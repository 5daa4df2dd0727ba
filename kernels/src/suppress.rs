//! Non-maximum suppression: of overlapping boxes, the one with the highest score is kept.

use std::cmp::Ordering;

use crate::abi::{Kernel, KernelBody, KernelFn, OperandTable, entry_of, piece};
use crate::isa::Isa;
use crate::simd::Simd;

/// For each of `images` times `classes` lines of scores, the indices of the selected boxes. Operands:
/// `[picked, is_picked, boxes, scores, most, overlap, least]`: `places` 64-bit indices for each line, as many
/// bytes, `count` boxes of four `f32` for each image, `count` scores for each line, an `i64` and two `f32`.
/// Scratch holds the indices of a line's candidates.
///
/// A box is `[y, x, y, x]` of two opposite corners. A box is no candidate if its score is NaN or not above
/// `least` (a NaN `least` is no limit). Equal scores keep the order of their boxes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct NonMaxSuppression {
    images: u64,
    classes: u64,
    count: u64,
    places: u64,
    parts: u32,
    isa: Isa,
}

impl NonMaxSuppression {
    /// The kernel for boxes `[images, count]`, scores `[images, classes, count]` and results
    /// `[images, classes, places]`.
    ///
    /// # Panics
    /// If there are more boxes than 32-bit numbers.
    pub fn new(
        [images, classes, count]: [usize; 3],
        places: usize,
        isa: Isa,
        threads: usize,
    ) -> NonMaxSuppression {
        assert!(u32::try_from(count).is_ok(), "{count} boxes are too many");
        let parts = (images * classes).min(threads) as u32;
        let [images, classes, count, places] = [images, classes, count, places].map(|size| size as u64);
        NonMaxSuppression { images, classes, count, places, parts, isa }
    }
}

// SAFETY: four `u64` and two `u32`, without padding; `entry` reads this type.
unsafe impl Kernel for NonMaxSuppression {
    fn parts(&self) -> u32 {
        if self.places == 0 { 0 } else { self.parts }
    }

    fn scratch_bytes(&self) -> usize {
        // An empty slice needs an address, too.
        size_of::<u32>() * (self.count as usize).max(1)
    }

    fn entry(&self) -> KernelFn {
        entry_of::<NonMaxSuppression>(self.isa)
    }
}

impl KernelBody for NonMaxSuppression {
    #[inline(always)]
    unsafe fn run<S: Simd>(&self, _simd: S, operands: OperandTable, part: u32, scratch: *mut u8) {
        let [images, classes, count, places] =
            [self.images, self.classes, self.count, self.places].map(|size| size as usize);
        // SAFETY: the operands have the extents that the descriptor was made for, and scratch has room for
        // `count` numbers; each line is one part's.
        unsafe {
            let most = operands.get::<i64>(4).read_unaligned();
            let most = usize::try_from(most).unwrap_or(0).min(places);
            let limits = [5, 6].map(|index| operands.get::<f32>(index).read_unaligned());
            for line in piece(images * classes, self.parts as usize, part as usize) {
                let boxes = operands.get::<[f32; 4]>(2).add(line / classes * count);
                let scores = operands.get::<f32>(3).add(line * count);
                let boxes = std::slice::from_raw_parts(boxes.cast_const(), count);
                let scores = std::slice::from_raw_parts(scores.cast_const(), count);
                let candidates = std::slice::from_raw_parts_mut(scratch.cast::<u32>(), count);
                let picked =
                    std::slice::from_raw_parts_mut(operands.get::<i64>(0).add(line * places), places);
                let found = pick(boxes, scores, limits, candidates, &mut picked[..most]);
                picked[found..].fill(0);
                let is_picked = operands.get::<u8>(1).add(line * places);
                is_picked.write_bytes(1, found);
                is_picked.add(found).write_bytes(0, places - found);
            }
        }
    }
}

/// Selects boxes until no candidates or no places are left, and returns their number. `candidates` has one
/// element for each box.
#[inline(always)]
fn pick(
    boxes: &[[f32; 4]],
    scores: &[f32],
    [overlap, least]: [f32; 2],
    candidates: &mut [u32],
    picked: &mut [i64],
) -> usize {
    let mut count = 0;
    for (index, score) in scores.iter().enumerate() {
        if *score > least || (least.is_nan() && !score.is_nan()) {
            candidates[count] = index as u32;
            count += 1;
        }
    }
    let score = |index: u32| scores[index as usize];
    let candidates = &mut candidates[..count];
    candidates.sort_unstable_by(|a, b| {
        let order = score(*b).partial_cmp(&score(*a)).unwrap_or(Ordering::Equal);
        order.then(a.cmp(b))
    });
    let mut found = 0;
    for candidate in candidates.iter() {
        if found == picked.len() {
            break;
        }
        let own = boxes[*candidate as usize];
        if !picked[..found].iter().any(|picked| math::boxes_overlap(own, boxes[*picked as usize], overlap)) {
            picked[found] = i64::from(*candidate);
            found += 1;
        }
    }
    found
}
