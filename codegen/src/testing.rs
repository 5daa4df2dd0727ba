//! Helpers with which tests of this crate build, plan and run functions; every value has an offset of its
//! own.

use std::sync::Arc;

use ir::alias::{AliasSets, ties};
use ir::builder::OpSpec;
use ir::interp::Tensor;
use ir::plan::attrs;
use ir::size::tensor_bytes;
use ir::weights::WeightSet;
use ir::{Attr, Body, Builder, Context, DenseData, Location, Module, Traits, Type, Value};
use runtime::{AlignedBuffer, Program, ProgramParts, Weights, as_bytes};

use crate::lower::lower;
use crate::program::Planned;
use crate::sized::copied;
use crate::{CodegenOptions, compile};

/// A function under construction.
pub(crate) struct Net {
    /// The context of its future module.
    pub(crate) ctx: Arc<Context>,
    /// Its body.
    pub(crate) body: Body,
}

impl Net {
    /// A function without operations, with arguments of these types.
    pub(crate) fn new(args: &[(&[u64], Type)], ctx: Arc<Context>) -> Net {
        let mut body = Body::new(1);
        let block = body.add_block(body.root());
        for (shape, elem) in args {
            body.add_arg(block, ctx.tensor(shape, *elem));
        }
        Net { ctx, body }
    }

    /// A function of `f32` tensors.
    pub(crate) fn f32(args: &[&[u64]]) -> Net {
        let ctx = Arc::new(Context::new());
        let args: Vec<(&[u64], Type)> = args.iter().map(|shape| (*shape, ctx.f32())).collect();
        Net::new(&args, ctx.clone())
    }

    /// Argument `index`.
    pub(crate) fn arg(&self, index: usize) -> Value {
        self.body.args(self.body.entry(self.body.root()).unwrap())[index]
    }

    /// Appends an operation and returns its first result.
    pub(crate) fn op(&mut self, name: &str, operands: &[Value], attrs: &[(&str, Attr)]) -> Value {
        let ctx = self.ctx.clone();
        let block = self.body.entry(self.body.root()).unwrap();
        Builder::at_end(&ctx, &mut self.body, block).value(name, operands, attrs).unwrap()
    }

    /// Appends a constant of `f32`.
    pub(crate) fn constant(&mut self, shape: &[u64], values: &[f32]) -> Value {
        let ctx = self.ctx.clone();
        let ty = ctx.tensor(shape, ctx.f32());
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let data = DenseData::Bytes { splat: ir::attrs::Splat::All, bytes: bytes.into() };
        let value = ctx.attr(ir::AttrData::Dense { ty, data });
        let block = self.body.entry(self.body.root()).unwrap();
        Builder::at_end(&ctx, &mut self.body, block).constant(value, ty)
    }

    /// Appends a group. `fill` gets a builder that inserts into its block, and the block's arguments, and
    /// returns the yielded values.
    pub(crate) fn group(
        &mut self,
        operands: &[Value],
        fill: impl FnOnce(&mut Builder<'_>, &[Value]) -> Value,
    ) -> Value {
        let ctx = self.ctx.clone();
        let outer = self.body.entry(self.body.root()).unwrap();
        let types: Vec<Type> = operands.iter().map(|operand| self.body.ty(*operand)).collect();
        let op = self.body.make_op(ctx.op_name("optc.group"), operands, &types[..1], Location::UNKNOWN);
        self.body.append(op, outer);
        let region = self.body.add_op_region(op);
        let block = self.body.add_block(region);
        let args: Vec<Value> = types.iter().map(|ty| self.body.add_arg(block, *ty)).collect();
        let mut builder = Builder::at_end(&ctx, &mut self.body, block);
        let value = fill(&mut builder, &args);
        builder.build("optc.yield", OpSpec { operands: &[value], ..OpSpec::default() }).unwrap();
        let result = self.body.result(op, 0);
        let ty = self.body.ty(value);
        self.body.set_ty(result, ty);
        result
    }

    /// Ends the function, plans it and puts it into a module.
    pub(crate) fn plan(mut self, returned: &[Value], threads: usize) -> Module {
        let ctx = self.ctx.clone();
        let block = self.body.entry(self.body.root()).unwrap();
        let mut builder = Builder::at_end(&ctx, &mut self.body, block);
        builder.build("func.return", OpSpec { operands: returned, ..OpSpec::default() }).unwrap();
        place(&ctx, &mut self.body, returned, threads);
        let mut module = Module::new(ctx.clone());
        let top = module.block();
        let body = module.body_mut();
        let op = body.make_op(ctx.op_name("func.func"), &[], &[], Location::UNKNOWN);
        let name = ctx.dict(vec![(ctx.ident("sym_name"), ctx.str_attr("main"))]);
        body.set_properties(op, name);
        let own = self.body.attrs;
        body.set_attrs(op, own);
        body.set_child(op, self.body);
        body.append(op, top);
        module
    }

    /// Compiles the function and runs it on `f32` inputs; also checks that one thread gives the same bits.
    pub(crate) fn run(self, returned: &[Value], inputs: &[&[f32]]) -> Vec<Vec<f32>> {
        run(&self.plan(returned, THREADS), inputs)
    }
}

/// Compiles `main` and runs it on `f32` inputs.
pub(crate) fn run(module: &Module, inputs: &[&[f32]]) -> Vec<Vec<f32>> {
    let inputs: Vec<&[u8]> = inputs.iter().map(|input| as_bytes(input)).collect();
    let numbers = |bytes: Vec<u8>| {
        bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
    };
    run_bytes(module, &inputs).into_iter().map(numbers).collect()
}

/// The number of threads of the plans: more than there are processors, and no power of two.
pub(crate) const THREADS: usize = 5;

/// Compiles `main` and runs it; one thread and several must give the same bytes.
pub(crate) fn run_bytes(module: &Module, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
    let program = compile(module, "main", &CodegenOptions::new(THREADS));
    let program = Arc::new(program.unwrap_or_else(|faults| {
        panic!("{}", faults.iter().map(|fault| fault.render(&module.ctx)).collect::<String>())
    }));
    let only = program.only().expect("its sizes are known");
    let results = [THREADS, 1].map(|threads| {
        let descs = only.outputs().iter();
        let mut outputs: Vec<AlignedBuffer> =
            descs.map(|desc| AlignedBuffer::zeroed(desc.size_bytes).unwrap()).collect();
        outputs.iter_mut().for_each(|output| output.as_mut_slice().fill(0xff));
        let mut buffers: Vec<&mut [u8]> = outputs.iter_mut().map(AlignedBuffer::as_mut_slice).collect();
        program.context(threads).unwrap().run(inputs, &mut buffers).unwrap();
        outputs.iter().map(|output| output.as_slice().to_vec()).collect::<Vec<_>>()
    });
    assert_eq!(results[0], results[1], "threads change no bit");
    let [result, _] = results;
    result
}

/// Compiles `main` of `sample`, for all sizes, and runs that code at the sizes of `module`.
pub(crate) fn run_with_code_of(sample: &Module, module: &Module, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
    let ctx = &module.ctx;
    let said =
        |faults: Vec<ir::Diagnostic>| -> String { faults.iter().map(|fault| fault.render(ctx)).collect() };
    let options = CodegenOptions::new(THREADS);
    let planned =
        |module| Planned::of(module, "main", &options).unwrap_or_else(|faults| panic!("{}", said(faults)));
    let code = planned(sample).compile(Some(copied(ctx, sample.function("main").unwrap())), None);
    let code = code.unwrap_or_else(|faults| panic!("{}", said(faults)));
    let only = planned(module).specialization(&code, &Arc::default());
    let only = only.unwrap_or_else(|faults| panic!("{}", said(faults)));
    let mut outputs: Vec<AlignedBuffer> =
        only.outputs().iter().map(|desc| AlignedBuffer::zeroed(desc.size_bytes).unwrap()).collect();
    outputs.iter_mut().for_each(|output| output.as_mut_slice().fill(0xff));
    let mut buffers: Vec<&mut [u8]> = outputs.iter_mut().map(AlignedBuffer::as_mut_slice).collect();
    let program = Program::new(ProgramParts { weights: Arc::new(Weights::none()), threads: THREADS }, only);
    Arc::new(program).context(THREADS).unwrap().run(inputs, &mut buffers).unwrap();
    outputs.iter().map(|output| output.as_slice().to_vec()).collect()
}

/// Compiles a function, runs it, and compares every bit of its outputs with the interpreter's.
pub(crate) fn check(net: Net, returned: &[Value], inputs: &[&[f32]]) {
    compare(net, returned, inputs, |found, expected| {
        found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan()
    });
}

/// Like [`check`], for sums in any order: the outputs differ by less than `tolerance`.
pub(crate) fn close(net: Net, returned: &[Value], inputs: &[&[f32]], tolerance: f32) {
    compare(net, returned, inputs, |found, expected| (found - expected).abs() <= tolerance);
}

/// Like [`check`], on inputs and outputs of any types; every byte is compared.
pub(crate) fn check_bytes(net: Net, returned: &[Value], inputs: &[&[u8]]) {
    let module = net.plan(returned, THREADS);
    let body = module.function("main").unwrap();
    let args = body.args(body.entry(body.root()).unwrap()).iter().zip(inputs);
    let tensors: Vec<Tensor> =
        args.map(|(arg, input)| Tensor::new(&module.ctx, body.ty(*arg), input.to_vec())).collect();
    let expected = ir::interp::run(&module, "main", &tensors);
    let expected = expected.unwrap_or_else(|fault| panic!("{}", fault.render(&module.ctx)));
    let aligned: Vec<AlignedBuffer> = inputs.iter().map(|input| aligned(input)).collect();
    let inputs: Vec<&[u8]> = aligned.iter().map(AlignedBuffer::as_slice).collect();
    for (index, (found, expected)) in run_bytes(&module, &inputs).iter().zip(&expected).enumerate() {
        assert_eq!(**found, *expected.bytes, "output {index}");
    }
}

/// The bytes in a buffer that is aligned for every type.
pub(crate) fn aligned(bytes: &[u8]) -> AlignedBuffer {
    let mut buffer = AlignedBuffer::zeroed(bytes.len()).unwrap();
    buffer.as_mut_slice().copy_from_slice(bytes);
    buffer
}

fn compare(net: Net, returned: &[Value], inputs: &[&[f32]], same: impl Fn(f32, f32) -> bool) {
    let module = net.plan(returned, THREADS);
    let body = module.function("main").unwrap();
    let args = body.args(body.entry(body.root()).unwrap());
    let tensors: Vec<Tensor> = args
        .iter()
        .zip(inputs)
        .map(|(arg, input)| {
            let bytes = input.iter().flat_map(|x| x.to_le_bytes()).collect();
            Tensor::new(&module.ctx, body.ty(*arg), bytes)
        })
        .collect();
    let expected = ir::interp::run(&module, "main", &tensors);
    let expected = expected.unwrap_or_else(|fault| panic!("{}", fault.render(&module.ctx)));
    for (index, (found, expected)) in run(&module, inputs).iter().zip(&expected).enumerate() {
        for (at, (found, expected)) in found.iter().zip(expected.to_f32()).enumerate() {
            assert!(same(*found, expected), "output {index}, element {at}: {found:e}, expected {expected:e}");
        }
    }
}

/// Gives each value with memory of its own an offset, or the output if it is returned; weights get none.
fn place(ctx: &Context, body: &mut Body, returned: &[Value], threads: usize) {
    let block = body.entry(body.root()).unwrap();
    let (weights, aliases) = (WeightSet::of(ctx, body), AliasSets::of(ctx, body));
    let machine = crate::Cpu::native().machine(threads);
    let mut arena = 0u64;
    let mut reserve = |bytes: u64| {
        let offset = arena;
        arena = (arena + bytes).next_multiple_of(64);
        [ctx.str_attr("arena"), ctx.int_attr(offset as i64), ctx.int_attr(bytes as i64)]
    };
    for op in body.ops(block).collect::<Vec<_>>() {
        let op_ref = body.at(ctx, op);
        if weights.is_weight_op(body, op) || op_ref.has(Traits::TERMINATOR) {
            continue;
        }
        let mut entries = Vec::new();
        for (index, result) in body.results(op).enumerate() {
            let bytes = tensor_bytes(ctx, body.ty(result)).unwrap();
            let root = aliases.root(result);
            let output = returned.iter().position(|value| aliases.root(*value) == root);
            let is_root = root == result || ties(op_ref).any(|tie| tie.0 == index);
            entries.push(match output {
                _ if !is_root => ctx.unit_attr(),
                Some(output) => ctx.array_attr(&[
                    ctx.str_attr("out"),
                    ctx.int_attr(output as i64),
                    ctx.int_attr(bytes as i64),
                ]),
                None => ctx.array_attr(&reserve(bytes)),
            });
        }
        let scratch = lower(op_ref, &machine).map_or(0, |lowered| lowered.scratch_bytes(threads));
        if scratch > 0 {
            entries.push(ctx.array_attr(&reserve(scratch)));
        }
        body.set_attr(ctx, op, attrs::MEM_PLACE, ctx.array_attr(&entries));
    }
    body.set_own_attr(ctx, attrs::OPTC_ARENA, ctx.int_attr(arena as i64));
}
