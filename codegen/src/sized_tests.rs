//! That code compiled at one size runs at every other with the same bits, with any kernels, forms and
//! packings.

use std::sync::Arc;

use ir::plan::attrs;
use ir::{Context, Module, Value};
use runtime::as_bytes;

use crate::CodegenOptions;
use crate::program::Planned;
use crate::sized::copied;
use crate::testing::{Net, THREADS, run_bytes, run_with_code_of};

fn numbers(count: u64, seed: u64) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919 + seed * 104_729) % 2003) as f32 * 0.001 - 1.0).collect()
}

fn weight(net: &mut Net, shape: &[u64], seed: u64) -> Value {
    let values = numbers(shape.iter().product(), seed);
    net.constant(shape, &values)
}

/// A function at some sizes: the shapes of its `f32` arguments, and its result.
struct Family {
    shapes: fn(&[u64]) -> Vec<Vec<u64>>,
    build: fn(&mut Net) -> Vec<Value>,
}

impl Family {
    fn module(&self, ctx: &Arc<Context>, sizes: &[u64]) -> Module {
        let shapes = (self.shapes)(sizes);
        let args: Vec<_> = shapes.iter().map(|shape| (&shape[..], ctx.f32())).collect();
        let mut net = Net::new(&args, ctx.clone());
        let returned = (self.build)(&mut net);
        net.plan(&returned, THREADS)
    }

    /// Checks that code compiled at each of the sizes runs at all others like code compiled there.
    fn check(&self, all: &[&[u64]]) {
        let ctx = Arc::new(Context::new());
        let modules: Vec<Module> = all.iter().map(|sizes| self.module(&ctx, sizes)).collect();
        for (sizes, module) in all.iter().zip(&modules) {
            let shapes = (self.shapes)(sizes);
            let inputs = shapes.iter().enumerate();
            let inputs = inputs.map(|(index, shape)| numbers(shape.iter().product(), 3 + index as u64));
            let inputs: Vec<Vec<f32>> = inputs.collect();
            let inputs: Vec<&[u8]> = inputs.iter().map(|input| as_bytes(input)).collect();
            let expected = run_bytes(module, &inputs);
            for (sample, compiled) in all.iter().zip(&modules) {
                let found = run_with_code_of(compiled, module, &inputs);
                assert_eq!(found, expected, "compiled at {sample:?}, run at {sizes:?}");
            }
        }
    }
}

#[test]
fn convolutions_choose_their_path_and_blocks_by_size() {
    let family = Family {
        shapes: |sizes| vec![vec![sizes[0], sizes[1], sizes[2], 8]],
        build: |net| {
            let attrs = |net: &Net, stride: i64, pad: i64, groups: i64| {
                vec![
                    ("strides", net.ctx.ints_attr(&[stride, stride])),
                    ("pads", net.ctx.ints_attr(&[pad; 4])),
                    ("groups", net.ctx.int_attr(groups)),
                    ("layout", net.ctx.str_attr("NHWC")),
                ]
            };
            let (filter, bias) = (weight(net, &[16, 8, 3, 3], 1), weight(net, &[16], 2));
            let window = attrs(net, 2, 1, 1);
            let x = net.op("nn.conv2d", &[net.arg(0), filter, bias], &window);
            let filter = weight(net, &[16, 1, 3, 3], 4);
            let window = attrs(net, 1, 1, 16);
            let x = net.op("nn.conv2d", &[x, filter], &window);
            let filter = weight(net, &[1024, 16, 1, 1], 5);
            let window = attrs(net, 1, 0, 1);
            let wide = net.op("nn.conv2d", &[x, filter], &window);
            let (filter, bias) = (weight(net, &[8, 1024, 1, 1], 6), weight(net, &[8], 7));
            let narrow = net.op("nn.conv2d", &[wide, filter, bias], &window);
            vec![narrow]
        },
    };
    family.check(&[&[1, 9, 7], &[3, 4, 4], &[2, 1, 1], &[1, 31, 20]]);
}

#[test]
fn loops_that_one_size_joins_and_another_does_not_give_the_same_bits() {
    let family = Family {
        shapes: |sizes| {
            let [n, h, c] = *sizes else { unreachable!("three sizes") };
            vec![vec![n, h, h, c], vec![n, 1, 1, c], vec![1, h, 1, 1]]
        },
        build: |net| {
            let [x, scale, row] = [0, 1, 2].map(|index| net.arg(index));
            let scale = net.op("nn.sigmoid", &[scale], &[]);
            let y = net.op("nn.mul", &[x, scale], &[]);
            let y = net.op("nn.add", &[y, row], &[]);
            let z = net.group(&[y, x, scale], |builder, args| {
                let sum = builder.value("nn.add", &[args[0], args[2]], &[]).unwrap();
                let power = builder.value("nn.exp", &[sum], &[]).unwrap();
                let product = builder.value("nn.mul", &[power, args[1]], &[]).unwrap();
                builder.value("nn.silu", &[product], &[]).unwrap()
            });
            vec![y, z]
        },
    };
    family.check(&[&[1, 5, 70], &[3, 5, 70], &[2, 1, 1], &[4, 6, 1], &[1, 1, 33], &[1, 40, 2]]);
}

#[test]
fn reductions_fold_in_the_order_of_the_size_that_runs() {
    let family = Family {
        shapes: |sizes| vec![sizes.to_vec()],
        build: |net| {
            let mut results = Vec::new();
            for axes in [&[0][..], &[1, 2], &[3], &[0, 2], &[2, 3], &[0, 1, 2, 3]] {
                for name in ["nn.reduce_sum", "nn.reduce_mean", "nn.reduce_sum_square"] {
                    let axes = [("axes", net.ctx.ints_attr(axes))];
                    results.push(net.op(name, &[net.arg(0)], &axes));
                }
            }
            results
        },
    };
    family.check(&[&[2, 3, 37, 5], &[1, 3, 1, 40], &[4, 1, 9, 1], &[1, 1, 1, 1], &[3, 50, 1, 2]]);
}

#[test]
fn softmax_pools_products_and_copies_take_their_sizes_from_the_frame() {
    let family = Family {
        shapes: |sizes| {
            let [n, h] = *sizes else { unreachable!("two sizes") };
            vec![vec![n, h, h, 4], vec![n, h, 6], vec![n, 6, h]]
        },
        build: |net| {
            let [image, left, right] = [0, 1, 2].map(|index| net.arg(index));
            let window = [
                ("kernel", net.ctx.ints_attr(&[2, 2])),
                ("strides", net.ctx.ints_attr(&[1, 1])),
                ("pads", net.ctx.ints_attr(&[1, 1, 0, 0])),
                ("layout", net.ctx.str_attr("NHWC")),
            ];
            let most = net.op("nn.max_pool2d", &[image], &window);
            let mean = net.op("nn.avg_pool2d", &[most], &window);
            let product = net.op("nn.matmul", &[left, right], &[]);
            let axis = [("axis", net.ctx.int_attr(2))];
            let shares = net.op("nn.softmax", &[product], &axis);
            let filter = weight(net, &[6, 9], 7);
            let rows = net.op("nn.matmul", &[left, filter], &[]);
            let permutation = [("permutation", net.ctx.ints_attr(&[0, 3, 1, 2]))];
            let turned = net.op("nn.transpose", &[mean], &permutation);
            // At some sizes it needs no copy, yet the structure of a plan says for all sizes that it is one.
            let (ctx, op) = (net.ctx.clone(), net.body.defining_op(turned).unwrap());
            net.body.set_attr(&ctx, op, attrs::MEM_COPY, ctx.unit_attr());
            let axis = [("axis", net.ctx.int_attr(3))];
            let joined = net.op("nn.concat", &[image, most], &axis);
            let edges = [
                ("low", net.ctx.ints_attr(&[0, 1, 2, 0])),
                ("high", net.ctx.ints_attr(&[0, 0, 1, 3])),
                ("value", net.ctx.f32_attr(1.5)),
            ];
            let padded = net.op("nn.pad", &[joined], &edges);
            vec![shares, rows, turned, padded]
        },
    };
    family.check(&[&[1, 5], &[3, 8], &[2, 1], &[1, 1]]);
}

/// `relu(x) + y`, or the same with another function.
fn sum(ctx: &Arc<Context>, function: &str, size: u64) -> Module {
    let shape = [size];
    let mut net = Net::new(&[(&shape[..], ctx.f32()), (&shape[..], ctx.f32())], ctx.clone());
    let x = net.op(function, &[net.arg(0)], &[]);
    let y = net.op("nn.add", &[x, net.arg(1)], &[]);
    net.plan(&[y], THREADS)
}

#[test]
fn what_no_sample_computes_is_refused() {
    let ctx = Arc::new(Context::new());
    let options = CodegenOptions::new(THREADS);
    let sample = sum(&ctx, "nn.relu", 8);
    let planned = Planned::of(&sample, "main", &options).unwrap_or_else(|_| panic!("it is planned"));
    let code = planned.compile(Some(copied(&ctx, sample.function("main").unwrap())), None);
    let code = code.unwrap_or_else(|_| panic!("it has code"));
    let said = |module: &Module| {
        let mut planned = Planned::of(module, "main", &options).unwrap_or_else(|_| panic!("it is planned"));
        planned.specialization(&code, &Arc::default()).err().map(|faults| faults[0].message.clone())
    };
    assert_eq!(said(&sum(&ctx, "nn.relu", 9)), None);
    let other = said(&sum(&ctx, "nn.neg", 8)).unwrap();
    assert!(other.contains("computes what no sample does"), "{other}");
}
