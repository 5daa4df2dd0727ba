//! Code generation for the loop nest of a reduction.
//!
//! Elements are folded in the interpreter's order, so the bits are equal. If the innermost axis is kept,
//! vectors run across results, and each lane folds its elements in order. If it is folded, element `k` of a
//! result goes to accumulator `k mod 16` (four vectors of four lanes). At the end the accumulators are joined
//! pairwise, one half with the other.

use ir::opdef::Reduce;
use ir::scalar::Binary;

use crate::cranelift::{
    Clif, Emitter, FloatCC, FunctionNumber, ImageBuilder, InstBuilder, PLAIN, StackSlotData, StackSlotKind,
    Value, types,
};
use crate::elem::ElemType;
use crate::pointwise::integers;
use crate::pointwise::lanes::{LaneLowering, Lanes};
use crate::pointwise::rows::{self, DescriptorLayout, OuterLoops, word};

/// Accumulators of a fold along the innermost axis.
const ACCUMULATORS: i64 = 16;

/// The only integer type whose accumulators have the type itself.
pub(crate) const UNSIGNED: ElemType = ElemType::Int { bits: 64, signed: false };

/// Everything that determines the code of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoldForm {
    /// The operation that joins two elements.
    pub(crate) reduce: Reduce,
    /// The type of the elements.
    pub(crate) elem: ElemType,
    /// Loops over kept axes, around the innermost loop.
    pub(crate) outer: usize,
    /// Loops over folded axes, around the innermost of them.
    pub(crate) folded_outer: usize,
    /// Whether the innermost axis is kept or folded.
    pub(crate) innermost: Innermost,
}

/// Whether the innermost axis is kept or folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Innermost {
    /// It is kept.
    Kept,
    /// It is folded.
    Folded,
}

impl FoldForm {
    /// The forms that give the same results at any sizes, given the number of kept and of folded axes.
    pub(crate) fn general(self, [kept, folded]: [usize; 2]) -> [FoldForm; 2] {
        let folded_outer = folded.max(1) - 1;
        let with = |outer, innermost| FoldForm { outer, folded_outer, innermost, ..self };
        [with(kept.max(1) - 1, Innermost::Kept), with(kept.max(1), Innermost::Folded)]
    }

    /// Whether this form's code can run `other`'s reduction, with extra outer loops of one iteration: it
    /// folds the same elements in the same order into the same accumulators.
    pub(crate) fn serves(self, other: FoldForm) -> bool {
        let FoldForm { outer, folded_outer, .. } = self;
        let is_same = FoldForm { outer, folded_outer, ..other } == self;
        is_same && outer >= other.outer && folded_outer >= other.folded_outer
    }

    /// Whether its code works on four elements at once.
    fn is_vector(self) -> bool {
        self.elem == ElemType::F32
    }

    /// Why elements are folded one by one, if they are.
    pub(crate) fn slow(self) -> Option<String> {
        if self.is_vector() {
            return None;
        }
        let elem = self.elem;
        Some(format!("its elements are folded one by one: only `f32` is folded by vectors, not `{elem}`"))
    }

    /// The number of loops, for choosing the form with the fewest.
    pub(crate) fn loops(self) -> usize {
        self.outer + self.folded_outer
    }

    /// This form's descriptor, rewritten for the form `wide`, which serves it.
    pub(crate) fn widen(self, descriptor: &[u8], wide: FoldForm) -> Vec<u8> {
        let [from, to] = [self, wide].map(|form| DescriptorLayout { outer: form.outer });
        let mut bytes = rows::widen(descriptor, 2, from, to);
        let loops = 8 * (to.end(2) + 1);
        let added = wide.folded_outer - self.folded_outer;
        bytes.splice(loops..loops, [1i64, 0].map(i64::to_le_bytes).concat().repeat(added));
        bytes
    }
}

/// Compiles a form.
pub(crate) fn emit(image: &mut ImageBuilder, name: &str, form: FoldForm) -> FunctionNumber {
    let pointer = image.pointer();
    let signature = image.signature(&[pointer, pointer, types::I32, pointer], &[]);
    image.define(name, signature, |emitter| {
        let layout = DescriptorLayout { outer: form.outer };
        let fold = FoldEmitter { form, first_word: layout.end(2) };
        OuterLoops { layout, count: 2 }.emit(emitter, |e, bases, start, end| match form.innermost {
            Innermost::Kept => fold.across(e, bases[0], bases[1], start, end),
            Innermost::Folded => fold.along(e, bases[0], bases[1]),
        });
        emitter.ins.ins().return_(&[]);
    })
}

struct FoldEmitter {
    form: FoldForm,
    /// The first word of the descriptor about folded axes.
    first_word: usize,
}

impl FoldEmitter {
    fn runs(&self, e: &mut Emitter<'_>) -> Value {
        word(e, self.first_word)
    }

    fn size(&self, e: &mut Emitter<'_>, axis: usize) -> Value {
        word(e, self.first_word + 1 + 2 * axis)
    }

    fn distance(&self, e: &mut Emitter<'_>, axis: usize) -> Value {
        word(e, self.first_word + 2 + 2 * axis)
    }

    /// The start of run `number` of the innermost folded loop.
    fn run_base(&self, e: &mut Emitter<'_>, base: Value, number: Value) -> Value {
        let (mut address, mut rest) = (base, number);
        for axis in (0..self.form.folded_outer).rev() {
            let size = self.size(e, axis);
            let index = e.ins.ins().urem(rest, size);
            rest = e.ins.ins().udiv(rest, size);
            let distance = self.distance(e, axis);
            let offset = e.ins.ins().imul(index, distance);
            address = e.ins.ins().iadd(address, offset);
        }
        address
    }

    fn start(&self, e: &mut Emitter<'_>, ty: Clif) -> Value {
        let start = match self.form.reduce {
            Reduce::Sum | Reduce::Mean | Reduce::SumSquare => 0.0,
            Reduce::Prod => 1.0,
            Reduce::Max => f64::NEG_INFINITY,
            Reduce::Min => f64::INFINITY,
        };
        let one = match self.form.elem {
            ElemType::F64 => e.ins.ins().f64const(start),
            ElemType::F32 => e.ins.ins().f32const(start as f32),
            // The extreme number of the type; for booleans, `false` or `true`.
            elem => match elem.range() {
                Some((least, _)) if start == f64::NEG_INFINITY => e.int(least),
                Some((_, most)) if start == f64::INFINITY => e.int(most),
                _ => e.int(start as i64),
            },
        };
        if ty.is_vector() { e.ins.ins().splat(ty, one) } else { one }
    }

    /// `sum` with one more element folded in.
    fn take(&self, e: &mut Emitter<'_>, lanes: Lanes, x: Value, sum: Value) -> Value {
        match self.form.reduce {
            Reduce::SumSquare if self.form.elem.is_float() => e.ins.ins().fma(x, x, sum),
            Reduce::SumSquare => {
                let square = e.ins.ins().imul(x, x);
                e.ins.ins().iadd(sum, square)
            }
            _ => self.join(e, lanes, x, sum),
        }
    }

    /// Joins two partial results.
    fn join(&self, e: &mut Emitter<'_>, lanes: Lanes, x: Value, sum: Value) -> Value {
        let (function, a, b) = match self.form.reduce {
            Reduce::Sum | Reduce::Mean | Reduce::SumSquare => (Binary::Add, sum, x),
            Reduce::Prod => (Binary::Mul, sum, x),
            Reduce::Max => (Binary::Max, x, sum),
            Reduce::Min => (Binary::Min, x, sum),
        };
        let elem = self.accumulator();
        let mut lowering = LaneLowering { emitter: e, lanes };
        let joined = lowering.binary(function, elem, a, b);
        if !elem.is_float() || !matches!(function, Binary::Max | Binary::Min) {
            return joined;
        }
        // A comparison ignores NaN, but NaN must win.
        let is_number = lowering.compare(FloatCC::Equal, x, x);
        lowering.select(is_number, joined, x)
    }

    /// The type of an accumulator.
    fn accumulator(&self) -> ElemType {
        match self.form.elem {
            UNSIGNED => UNSIGNED,
            ElemType::Int { .. } | ElemType::Bool => ElemType::Int { bits: 64, signed: true },
            float => float,
        }
    }

    /// Loads the element (or vector) at an offset in bytes from an address and converts it to the
    /// accumulator's type.
    fn load(&self, e: &mut Emitter<'_>, lanes: Lanes, address: Value, offset: i32) -> Value {
        let x = e.ins.ins().load(lanes.clif(self.form.elem), PLAIN, address, offset);
        match self.form.elem {
            ElemType::F32 | ElemType::F64 => x,
            elem => integers::convert(e, elem, self.accumulator(), x),
        }
    }

    /// Stores an accumulator as a result; of an integer, the low bits.
    fn store(&self, e: &mut Emitter<'_>, sum: Value, address: Value, offset: i32) {
        let result = match self.form.elem {
            ElemType::F32 | ElemType::F64 => sum,
            ElemType::Bool => {
                let lowest = e.ins.ins().band_imm_u(sum, 1);
                e.ins.ins().ireduce(types::I8, lowest)
            }
            elem => integers::convert(e, self.accumulator(), elem, sum),
        };
        e.ins.ins().store(PLAIN, result, address, offset);
    }

    /// The final step: a mean is the sum divided by the count.
    fn finish(&self, e: &mut Emitter<'_>, sum: Value) -> Value {
        if self.form.reduce != Reduce::Mean {
            return sum;
        }
        let runs = self.runs(e);
        let size = self.size(e, self.form.folded_outer);
        let count = e.ins.ins().imul(runs, size);
        if !self.form.elem.is_float() {
            let one = e.int(1);
            let count = e.ins.ins().smax(count, one);
            return e.ins.ins().sdiv(sum, count);
        }
        let elem = self.form.elem.clif();
        let count = e.ins.ins().fcvt_from_sint(elem, count);
        let ty = e.ins.func.dfg.value_type(sum);
        let count = if ty.is_vector() { e.ins.ins().splat(ty, count) } else { count };
        e.ins.ins().fdiv(sum, count)
    }

    /// Computes results `start..end` of a row, neighbouring ones in vectors.
    fn across(&self, e: &mut Emitter<'_>, to: Value, from: Value, start: Value, end: Value) {
        let mut i = start;
        if self.form.is_vector() {
            i = e.count(i, end, 16, |e, i| self.columns(e, Lanes::Four, 4, to, from, i));
            i = e.count(i, end, 4, |e, i| self.columns(e, Lanes::Four, 1, to, from, i));
        }
        e.count(i, end, 1, |e, i| self.columns(e, Lanes::One, 1, to, from, i));
    }

    /// Computes `count` neighbouring vectors (or single results) from result `i` on.
    fn columns(&self, e: &mut Emitter<'_>, lanes: Lanes, count: i32, to: Value, from: Value, i: Value) {
        let ty = lanes.clif(self.accumulator());
        let bytes = lanes.clif(self.form.elem).bytes() as i32;
        let offset = e.ins.ins().imul_imm_s(i, i64::from(self.form.elem.bytes()));
        let (to, from) = (e.ins.ins().iadd(to, offset), e.ins.ins().iadd(from, offset));
        let sums: Vec<_> = (0..count).map(|_| e.ins.declare_var(ty)).collect();
        for sum in &sums {
            let start = self.start(e, ty);
            e.ins.def_var(*sum, start);
        }
        let axis = self.form.folded_outer;
        let zero = e.int(0);
        let runs = self.runs(e);
        e.count(zero, runs, 1, |e, run| {
            let base = self.run_base(e, from, run);
            let zero = e.int(0);
            let size = self.size(e, axis);
            let distance = self.distance(e, axis);
            e.count(zero, size, 1, |e, k| {
                let offset = e.ins.ins().imul(k, distance);
                let address = e.ins.ins().iadd(base, offset);
                for (index, sum) in sums.iter().enumerate() {
                    let x = self.load(e, lanes, address, index as i32 * bytes);
                    let before = e.ins.use_var(*sum);
                    let after = self.take(e, lanes, x, before);
                    e.ins.def_var(*sum, after);
                }
            });
        });
        for (index, sum) in sums.iter().enumerate() {
            let sum = e.ins.use_var(*sum);
            let result = self.finish(e, sum);
            self.store(e, result, to, index as i32 * bytes);
        }
    }

    /// Computes one result from elements that are contiguous in each run.
    fn along(&self, e: &mut Emitter<'_>, to: Value, from: Value) {
        let elem = self.accumulator();
        let bytes = i64::from(elem.bytes());
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, (ACCUMULATORS * bytes) as u32, 4);
        let slot = e.ins.create_sized_stack_slot(slot);
        let accumulators = e.ins.ins().stack_addr(types::I64, slot, 0);
        // Accumulators are stored in the width of their later loads: a vector load after narrower stores
        // stalls.
        let (ty, lanes) = if self.form.is_vector() { (types::F32X4, 4) } else { (elem.clif(), 1) };
        for index in (0..ACCUMULATORS).step_by(lanes) {
            let start = self.start(e, ty);
            e.ins.ins().store(PLAIN, start, accumulators, (index * bytes) as i32);
        }
        let zero = e.int(0);
        let runs = self.runs(e);
        let size = self.size(e, self.form.folded_outer);
        e.count(zero, runs, 1, |e, number| {
            let before = e.ins.ins().imul(number, size);
            let run = FoldedRun { base: self.run_base(e, from, number), before, accumulators };
            let mut done = zero;
            if self.form.is_vector() {
                let missing = e.ins.ins().ineg(before);
                let missing = e.ins.ins().band_imm_u(missing, ACCUMULATORS - 1);
                let head = e.ins.ins().smin(missing, size);
                self.singles(e, &run, [zero, head]);
                done = self.rounds(e, &run, [head, size]);
            }
            self.singles(e, &run, [done, size]);
        });
        let mut sums: Vec<Value> = (0..ACCUMULATORS)
            .map(|index| e.ins.ins().load(elem.clif(), PLAIN, accumulators, (index * bytes) as i32))
            .collect();
        while sums.len() > 1 {
            let upper = sums.split_off(sums.len() / 2);
            for (sum, other) in sums.iter_mut().zip(upper) {
                *sum = self.join(e, Lanes::One, other, *sum);
            }
        }
        let result = self.finish(e, sums[0]);
        self.store(e, result, to, 0);
    }

    /// Folds the complete rounds of sixteen elements of a run. The run's first element belongs to accumulator
    /// 0. Returns the end of the last round.
    fn rounds(&self, e: &mut Emitter<'_>, run: &FoldedRun, [first, end]: [Value; 2]) -> Value {
        let sums: Vec<_> = (0..4).map(|_| e.ins.declare_var(types::F32X4)).collect();
        for (index, sum) in sums.iter().enumerate() {
            let start = e.ins.ins().load(types::F32X4, PLAIN, run.accumulators, 16 * index as i32);
            e.ins.def_var(*sum, start);
        }
        let done = e.count(first, end, ACCUMULATORS, |e, k| {
            let offset = e.ins.ins().imul_imm_s(k, 4);
            let address = e.ins.ins().iadd(run.base, offset);
            for (index, sum) in sums.iter().enumerate() {
                let x = e.ins.ins().load(types::F32X4, PLAIN, address, 16 * index as i32);
                let before = e.ins.use_var(*sum);
                let after = self.take(e, Lanes::Four, x, before);
                e.ins.def_var(*sum, after);
            }
        });
        for (index, sum) in sums.iter().enumerate() {
            let sum = e.ins.use_var(*sum);
            e.ins.ins().store(PLAIN, sum, run.accumulators, 16 * index as i32);
        }
        done
    }

    /// Folds elements of a run one by one.
    fn singles(&self, e: &mut Emitter<'_>, run: &FoldedRun, [first, end]: [Value; 2]) {
        let elem = self.accumulator();
        let distance = self.distance(e, self.form.folded_outer);
        e.count(first, end, 1, |e, k| {
            let offset = e.ins.ins().imul(k, distance);
            let address = e.ins.ins().iadd(run.base, offset);
            let x = self.load(e, Lanes::One, address, 0);
            let number = e.ins.ins().iadd(run.before, k);
            let index = e.ins.ins().band_imm_u(number, ACCUMULATORS - 1);
            let offset = e.ins.ins().imul_imm_s(index, i64::from(elem.bytes()));
            let accumulator = e.ins.ins().iadd(run.accumulators, offset);
            let sum = e.ins.ins().load(elem.clif(), PLAIN, accumulator, 0);
            let sum = self.take(e, Lanes::One, x, sum);
            e.ins.ins().store(PLAIN, sum, accumulator, 0);
        });
    }
}

/// One of the innermost loops of a fold.
struct FoldedRun {
    /// Where its elements begin.
    base: Value,
    /// The number of elements folded before it.
    before: Value,
    /// Where the accumulators are.
    accumulators: Value,
}
