//! How tests of pointwise steps compare them with the interpreter, at each level of instructions.

use std::sync::Arc;

use half::{bf16, f16};
use ir::interp::Tensor;
use ir::{Module, Value};
use kernels::Isa;
use runtime::AlignedBuffer;

use super::stages::LoopSchedule;
use crate::call::KernelCode;
use crate::elem::ElemType;
use crate::lower::lower;
use crate::testing::{Net, THREADS, aligned};
use crate::{CodegenOptions, Cpu};

/// The levels of instructions that this processor has, least first.
pub(super) fn levels() -> Vec<Isa> {
    match Isa::detect() {
        Isa::Avx512 => vec![Isa::Scalar, Isa::Avx2, Isa::Avx512],
        Isa::Avx2 => vec![Isa::Scalar, Isa::Avx2],
        only => vec![only],
    }
}

/// Whether an element's bytes are a NaN.
pub(super) fn is_nan(elem: ElemType, bytes: &[u8]) -> bool {
    match elem {
        ElemType::F32 => f32::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        ElemType::F64 => f64::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        ElemType::F16 => f16::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        ElemType::Bf16 => bf16::from_le_bytes(bytes.try_into().unwrap()).is_nan(),
        _ => false,
    }
}

/// How many of the last operation's calls are vector code, and how many calls there are.
pub(super) fn vector_calls(net: &Net, value: Value) -> [usize; 2] {
    let op = net.body.defining_op(value).expect("it was just made");
    let lowered = lower(net.body.at(&net.ctx, op), &Cpu::native().machine(THREADS)).expect("it has code");
    let is_vector = |code: &KernelCode| match code {
        KernelCode::Pointwise { form, .. } => matches!(form.schedule(), LoopSchedule::Vector(_)),
        KernelCode::Kernel(_) => true,
        KernelCode::Reduce { .. } => false,
    };
    let vectors = lowered.calls.iter().filter(|call| is_vector(&call.code)).count();
    [vectors, lowered.calls.len()]
}

/// Runs `main` as compiled for an instruction set, on a number of threads.
pub(super) fn run_for(module: &Module, isa: Isa, threads: usize, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
    let options = CodegenOptions { cpu: Cpu::of(isa), ..CodegenOptions::new(THREADS) };
    let program = Arc::new(crate::compile(module, "main", &options).unwrap_or_else(|faults| {
        panic!("{}", faults.iter().map(|fault| fault.render(&module.ctx)).collect::<String>())
    }));
    let only = program.only().expect("its sizes are known");
    let descs = only.outputs().iter();
    let mut outputs: Vec<AlignedBuffer> =
        descs.map(|desc| AlignedBuffer::zeroed(desc.size_bytes).unwrap()).collect();
    outputs.iter_mut().for_each(|output| output.as_mut_slice().fill(0xa5));
    let mut buffers: Vec<&mut [u8]> = outputs.iter_mut().map(AlignedBuffer::as_mut_slice).collect();
    program.context(threads).unwrap().run(inputs, &mut buffers).unwrap();
    outputs.iter().map(|output| output.as_slice().to_vec()).collect()
}

/// Compares machine code for the oldest and for this processor with the interpreter.
pub(super) fn check(net: Net, value: Value, inputs: &[Vec<u8>], what: &str) {
    let module = net.plan(&[value], THREADS);
    let body = module.function("main").unwrap();
    let args = body.args(body.entry(body.root()).unwrap()).iter().zip(inputs);
    let tensors: Vec<Tensor> =
        args.map(|(arg, input)| Tensor::new(&module.ctx, body.ty(*arg), input.clone())).collect();
    let expected = ir::interp::run(&module, "main", &tensors);
    let expected = expected.unwrap_or_else(|fault| panic!("{}", fault.render(&module.ctx)));
    let aligned: Vec<AlignedBuffer> = inputs.iter().map(|input| aligned(input)).collect();
    let bytes: Vec<&[u8]> = aligned.iter().map(AlignedBuffer::as_slice).collect();
    let elem = ElemType::moved(&module.ctx, expected[0].ty).expect("the result has elements");
    let width = elem.bytes() as usize;
    let others = levels().into_iter().map(|isa| (isa, 1));
    for (isa, threads) in [(Isa::detect(), THREADS)].into_iter().chain(others) {
        let found = run_for(&module, isa, threads, &bytes);
        let pairs = found[0].chunks_exact(width).zip(expected[0].bytes.chunks_exact(width));
        for (at, (found, expected)) in pairs.enumerate() {
            let same = found == expected || is_nan(elem, found) && is_nan(elem, expected);
            assert!(same, "{what}, {isa:?}, element {at}: {found:?}, expected {expected:?} of {elem:?}");
        }
        assert_eq!(found[0].len(), expected[0].bytes.len());
    }
    let options = CodegenOptions { cpu: Cpu::of(Isa::Aarch64), ..CodegenOptions::new(THREADS) };
    assert!(crate::relocatable(&module, "main", &options).is_ok(), "{what}: there is code for AArch64");
}

/// A pseudo-random number generator.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    /// Less than `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// One of them.
    pub(super) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}
