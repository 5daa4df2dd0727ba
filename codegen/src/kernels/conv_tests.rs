//! That contractions with fused operations agree with the interpreter.

use ir::plan::attrs;
use ir::{Target, Value};

use crate::testing::{Net, close, run};

fn numbers(count: usize, seed: u32) -> Vec<f32> {
    (0..count as u32).map(|i| ((i * 7919 + seed * 104_729) % 2003) as f32 * 0.001 - 1.0).collect()
}

fn conv_attrs(net: &Net, stride: i64, pad: i64, groups: i64) -> Vec<(&'static str, ir::Attr)> {
    vec![
        ("strides", net.ctx.ints_attr(&[stride, stride])),
        ("pads", net.ctx.ints_attr(&[pad; 4])),
        ("groups", net.ctx.int_attr(groups)),
        ("layout", net.ctx.str_attr("NHWC")),
    ]
}

fn weight(net: &mut Net, shape: &[u64], seed: u32) -> Value {
    let values = numbers(shape.iter().product::<u64>() as usize, seed);
    net.constant(shape, &values)
}

#[test]
fn a_small_network_gives_the_interpreters_numbers() {
    let mut net = Net::f32(&[&[1, 11, 9, 3]]);
    let (w1, b1) = (weight(&mut net, &[24, 3, 3, 3], 1), weight(&mut net, &[24], 2));
    let attrs = conv_attrs(&net, 2, 1, 1);
    let x = net.op("nn.conv2d", &[net.arg(0), w1, b1], &attrs);
    let x = net.op("nn.relu", &[x], &[]);
    let w2 = weight(&mut net, &[24, 1, 3, 3], 3);
    let attrs = conv_attrs(&net, 1, 1, 24);
    let y = net.op("nn.conv2d", &[x, w2], &attrs);
    let w3 = weight(&mut net, &[24, 24, 1, 1], 4);
    let attrs = conv_attrs(&net, 1, 0, 1);
    let z = net.op("nn.conv2d", &[y, w3], &attrs);
    let z = net.op("nn.add", &[z, x], &[]);
    let axes = [("axes", net.ctx.ints_attr(&[1, 2]))];
    let mean = net.op("nn.reduce_mean", &[z], &axes);
    let w4 = weight(&mut net, &[10, 24], 5);
    let transposed = [("transpose_b", net.ctx.unit_attr())];
    let logits = net.op("nn.matmul", &[mean, w4], &transposed);
    close(net, &[logits, z], &[&numbers(11 * 9 * 3, 6)], 1e-5);
}

#[test]
fn a_filter_that_is_computed_is_packed_before_it_is_read() {
    for (channels, groups, kernel) in [
        (1, 1, 1),
        (17, 1, 3),
        (32, 1, 2),
        (33, 1, 1),
        (64, 1, 3),
        (40, 2, 3),
        (66, 2, 1),
        (96, 3, 3),
        (24, 24, 3),
        (48, 12, 2),
    ] {
        let inputs = if groups == channels { channels } else { 8 * groups };
        let filter = [channels, inputs / groups, kernel, kernel];
        let image = [2, 6, 5, inputs];
        let mut net = Net::f32(&[&image, &filter, &[channels]]);
        let attrs = conv_attrs(&net, 1, 1, groups as i64);
        let y = net.op("nn.conv2d", &[net.arg(0), net.arg(1), net.arg(2)], &attrs);
        let count = |shape: &[u64]| shape.iter().product::<u64>() as usize;
        let arguments =
            [numbers(count(&image), 6), numbers(count(&filter), 7), numbers(channels as usize, 8)];
        close(net, &[y], &arguments.each_ref().map(|numbers| &numbers[..]), 1e-4);
    }
}

#[test]
fn a_computed_filter_may_be_a_view_and_its_convolution_may_have_little_scratch() {
    let mut net = Net::f32(&[&[1, 12, 10, 16], &[16, 24, 3, 3]]);
    let ctx = net.ctx.clone();
    let turned = [("permutation", ctx.ints_attr(&[1, 0, 2, 3]))];
    let filter = net.op("nn.transpose", &[net.arg(1)], &turned);
    let attrs = conv_attrs(&net, 1, 1, 1);
    let y = net.op("nn.conv2d", &[net.arg(0), filter], &attrs);
    let op = net.body.defining_op(y).unwrap();
    net.body.set_attr(&ctx, op, attrs::MEM_SCRATCH, ctx.int_attr(1 << 16));
    close(net, &[y], &[&numbers(12 * 10 * 16, 6), &numbers(16 * 24 * 9, 7)], 1e-4);
}

#[test]
fn a_group_adds_bias_and_residual_and_activates() {
    for residual_first in [[0, 1], [1, 0]] {
        let mut net = Net::f32(&[&[1, 6, 6, 8], &[1, 6, 6, 16]]);
        let (w, b) = (weight(&mut net, &[16, 8, 1, 1], 1), weight(&mut net, &[16], 2));
        let (scale, shift) = (weight(&mut net, &[8], 3), weight(&mut net, &[8], 4));
        let attrs = conv_attrs(&net, 1, 0, 1);
        let operands = [net.arg(0), net.arg(1), w, b, scale, shift];
        let y = net.group(&operands, |builder, args| {
            let scaled = builder.value("nn.mul", &[args[0], args[4]], &[]).unwrap();
            let shifted = builder.value("nn.add", &[scaled, args[5]], &[]).unwrap();
            let positive = builder.value("nn.relu", &[shifted], &[]).unwrap();
            let sum = builder.value("nn.conv2d", &[positive, args[2], args[3]], &attrs).unwrap();
            let pair = [sum, args[1]];
            let sum = builder.value("nn.add", &residual_first.map(|index| pair[index]), &[]).unwrap();
            builder.value("nn.silu", &[sum], &[]).unwrap()
        });
        close(net, &[y], &[&numbers(6 * 6 * 8, 5), &numbers(6 * 6 * 16, 6)], 1e-5);
    }
}

#[test]
fn weights_are_evaluated_and_the_same_weight_is_kept_once() {
    let mut net = Net::f32(&[&[3, 8]]);
    let (w, s) = (weight(&mut net, &[8, 8], 1), weight(&mut net, &[8], 2));
    let scaled = net.op("nn.mul", &[w, s], &[]);
    let a = net.op("nn.matmul", &[net.arg(0), scaled], &[]);
    let b = net.op("nn.matmul", &[a, scaled], &[]);
    let module = net.plan(&[b], 2);
    let program = crate::compile(&module, "main", &crate::CodegenOptions::new(2)).unwrap();
    assert_eq!(program.weights_bytes(), 8 * 16 * 4, "one panel of 16 columns");
    let alone = crate::weights_bytes(&module, "main", &crate::CodegenOptions::new(2));
    assert_eq!(alone.unwrap(), 8 * 16 * 4, "the same without code");
}

/// The bits of a convolution of 9 rows by 7 with everything fused to it, in bands of this many rows.
fn in_bands(rows: Option<i64>, groups: u64, kernel: u64, stride: i64, pad: i64) -> Vec<u32> {
    let input = [1, 9, 7, 32];
    let channels = 32;
    let mut net = Net::f32(&[&input]);
    let w = weight(&mut net, &[channels, 32 / groups, kernel, kernel], 1);
    let (b, scale) = (weight(&mut net, &[channels], 2), weight(&mut net, &[32], 3));
    let attrs = conv_attrs(&net, stride, pad, groups as i64);
    let residual = net.op("nn.conv2d", &[net.arg(0), w], &attrs);
    let residual = net.op("nn.neg", &[residual], &[]);
    let has_prologue = kernel == 1;
    let y = net.group(&[net.arg(0), w, b, residual, scale], |builder, args| {
        let x =
            if has_prologue { builder.value("nn.mul", &[args[0], args[4]], &[]).unwrap() } else { args[0] };
        let y = builder.value("nn.conv2d", &[x, args[1], args[2]], &attrs).unwrap();
        let y = builder.value("nn.add", &[y, args[3]], &[]).unwrap();
        builder.value("nn.silu", &[y], &[]).unwrap()
    });
    if let Some(rows) = rows {
        let group = net.body.defining_op(y).unwrap();
        let ctx = net.ctx.clone();
        net.body.set_attr(&ctx, group, attrs::MEM_OVERLAP, ctx.ints_attr(&[0, rows]));
    }
    let y = run(&net.plan(&[y], crate::testing::THREADS), &[&numbers(9 * 7 * 32, 6)]);
    y[0].iter().map(|y| y.to_bits()).collect()
}

#[test]
fn bands_of_rows_change_no_bit() {
    for (groups, kernel, stride, pad) in
        [(1, 3, 1, 1), (1, 3, 2, 1), (1, 1, 1, 0), (32, 3, 1, 1), (32, 5, 2, 2), (8, 3, 1, 1), (1, 3, 1, 0)]
    {
        let whole = in_bands(None, groups, kernel, stride, pad);
        for rows in [1, 2, 4, 100, -1, -3] {
            let bands = in_bands(Some(rows), groups, kernel, stride, pad);
            assert_eq!(bands, whole, "{rows} rows of a {kernel}x{kernel} window, {groups} groups");
        }
    }
}

/// Heights and widths of filters with a Winograd algorithm, with the rows of a tile.
const BY_WINOGRAD: [([u64; 2], i64); 11] = [
    ([2, 2], 3),
    ([1, 2], 1),
    ([2, 1], 3),
    ([3, 3], 4),
    ([5, 5], 2),
    ([1, 3], 1),
    ([3, 1], 4),
    ([1, 5], 1),
    ([5, 1], 2),
    ([1, 7], 1),
    ([7, 1], 4),
];

/// A Winograd convolution with everything that can be fused.
fn by_winograd(kernel: [u64; 2], method: &str) -> (Net, Value, [Vec<f32>; 2]) {
    by_dilated_winograd(kernel, 1, method)
}

/// The same with this dilation.
fn by_dilated_winograd(kernel: [u64; 2], dilation: i64, method: &str) -> (Net, Value, [Vec<f32>; 2]) {
    winograd_of([1, 19, 13, 40], kernel, dilation, method)
}

/// A convolution of 3x3 that Winograd's algorithm computes faster on all machines.
fn by_faster_winograd() -> (Net, Value, [Vec<f32>; 2]) {
    winograd_of([1, 31, 29, 40], [3, 3], 1, "winograd")
}

/// A convolution of an image, with a residual and a function after it.
fn winograd_of(
    image: [u64; 4],
    [height, width]: [u64; 2],
    dilation: i64,
    method: &str,
) -> (Net, Value, [Vec<f32>; 2]) {
    let mut net = Net::f32(&[&image, &image]);
    let (w, b) = (weight(&mut net, &[40, 40, height, width], 1), weight(&mut net, &[40], 2));
    let ctx = net.ctx.clone();
    let pads = [height / 2, width / 2, (height - 1) / 2, (width - 1) / 2];
    let pads = pads.map(|pad| pad as i64 * dilation);
    let attrs = [
        ("pads", ctx.ints_attr(&pads)),
        ("dilations", ctx.ints_attr(&[dilation; 2])),
        ("layout", ctx.str_attr("NHWC")),
    ];
    let y = net.group(&[net.arg(0), w, b, net.arg(1)], |builder, args| {
        let y = builder.value("nn.conv2d", &args[..3], &attrs).unwrap();
        let y = builder.value("nn.add", &[y, args[3]], &[]).unwrap();
        builder.value("nn.silu", &[y], &[]).unwrap()
    });
    let group = net.body.defining_op(y).unwrap();
    net.body.set_attr(&ctx, group, attrs::MEM_METHOD, ctx.str_attr(method));
    let count = image.iter().product::<u64>() as usize;
    (net, y, [numbers(count, 6), numbers(count, 7)])
}

#[test]
fn winograds_algorithm_agrees_with_the_same_bits_at_any_number_of_threads() {
    for (kernel, dilation) in BY_WINOGRAD.into_iter().flat_map(|(kernel, _)| [(kernel, 1), (kernel, 2)]) {
        let (net, y, inputs) = by_dilated_winograd(kernel, dilation, "winograd");
        close(net, &[y], &inputs.each_ref().map(|numbers| &numbers[..]), 2e-4);
        // One thread is also tried, and must give the same bits.
        let (net, y, inputs) = by_dilated_winograd(kernel, dilation, "winograd");
        let found = net.run(&[y], &inputs.each_ref().map(|numbers| &numbers[..]));
        assert_eq!(found.len(), 1);
    }
}

#[test]
fn no_more_workers_run_winograds_algorithm_than_there_is_scratch_for() {
    let target = crate::Cpu::native();
    let (mut net, y, _) = by_faster_winograd();
    let (ctx, group) = (net.ctx.clone(), net.body.defining_op(y).unwrap());
    let offered = target.faster(net.body.at(&ctx, group), 1, u64::MAX).expect("it is offered");
    let least = offered.least_room_bytes;
    for bytes in [least, least + 64, 2 * least, 5 * least, 20 * least] {
        net.body.set_attr(&ctx, group, attrs::MEM_SCRATCH, ctx.int_attr(bytes as i64));
        for threads in [1, 2, 3, 4, 7, 16, 64] {
            let choice = target.select(net.body.at(&ctx, group), threads).expect("it is computed so");
            assert!(choice.scratch_bytes <= bytes, "{choice:?} with {bytes} on {threads} threads");
        }
    }
}

#[test]
fn fewer_workers_than_threads_change_no_bit_of_winograds_algorithm() {
    let bits = |scratch: Option<u64>| {
        let (mut net, y, inputs) = by_faster_winograd();
        let (ctx, group) = (net.ctx.clone(), net.body.defining_op(y).unwrap());
        let bytes = scratch.map(|bytes| ctx.int_attr(bytes as i64));
        bytes.into_iter().for_each(|bytes| net.body.set_attr(&ctx, group, attrs::MEM_SCRATCH, bytes));
        let found = run(&net.plan(&[y], 8), &inputs.each_ref().map(|numbers| &numbers[..]));
        found[0].iter().map(|number| number.to_bits()).collect::<Vec<u32>>()
    };
    let whole = bits(None);
    let (net, y, _) = by_faster_winograd();
    let op = net.body.at(&net.ctx, net.body.defining_op(y).unwrap());
    let least = crate::Cpu::native().faster(op, 2, u64::MAX).expect("it is offered").least_scratch_bytes;
    for bytes in [least, least * 3 / 2, least * 2, least * 4] {
        assert!(bits(Some(bytes)) == whole, "with {bytes} bytes of scratch");
    }
}

#[test]
fn winograds_algorithm_agrees_in_groups_of_channels() {
    for (groups, inputs, outputs) in [(2, 32, 40), (4, 16, 16), (3, 48, 5)] {
        let mut net = Net::f32(&[&[1, 13, 14, groups * inputs]]);
        let w = weight(&mut net, &[groups * outputs, inputs, 3, 3], 1);
        let b = weight(&mut net, &[groups * outputs], 2);
        let attrs = conv_attrs(&net, 1, 1, groups as i64);
        let ctx = net.ctx.clone();
        let y = net.op("nn.conv2d", &[net.arg(0), w, b], &attrs);
        let conv = net.body.defining_op(y).unwrap();
        net.body.set_attr(&ctx, conv, attrs::MEM_METHOD, ctx.str_attr("winograd"));
        close(net, &[y], &[&numbers((13 * 14 * groups * inputs) as usize, 6)], 2e-4);
    }
}

/// The same in bands of `rows` rows.
fn by_winograd_in_bands(kernel: [u64; 2], dilation: i64, rows: i64) -> (Net, Value, [Vec<f32>; 2]) {
    let (mut net, y, inputs) = by_dilated_winograd(kernel, dilation, "winograd");
    let (ctx, group) = (net.ctx.clone(), net.body.defining_op(y).unwrap());
    net.body.set_attr(&ctx, group, attrs::MEM_OVERLAP, ctx.ints_attr(&[0, rows]));
    (net, y, inputs)
}

#[test]
fn bands_of_whole_strips_of_tiles_change_no_bit_of_winograds_algorithm() {
    let bits = |(net, y, inputs): (Net, Value, [Vec<f32>; 2])| {
        let module = net.plan(&[y], crate::testing::THREADS);
        let found = run(&module, &inputs.each_ref().map(|numbers| &numbers[..]));
        found[0].iter().map(|number| number.to_bits()).collect::<Vec<u32>>()
    };
    for (kernel, tile_rows) in BY_WINOGRAD {
        for dilation in [1, 2] {
            let whole = bits(by_dilated_winograd(kernel, dilation, "winograd"));
            let strip_rows = if kernel[0] == 1 { 1 } else { tile_rows * dilation };
            for rows in [1, 2, 4, -1, -3].map(|strips| strips * strip_rows).into_iter().chain([19, 104]) {
                let found = bits(by_winograd_in_bands(kernel, dilation, rows));
                assert!(found == whole, "{rows} rows by {kernel:?} {dilation}");
            }
        }
    }
}

#[test]
fn bands_of_parts_of_tiles_are_refused() {
    for (kernel, tile_rows) in BY_WINOGRAD.into_iter().filter(|(_, tile_rows)| *tile_rows > 1) {
        for rows in [1, tile_rows + 1, -tile_rows - 1] {
            let (net, y, _) = by_winograd_in_bands(kernel, 1, rows);
            let faults =
                crate::compile(&net.plan(&[y], 1), "main", &crate::CodegenOptions::new(1)).err().unwrap();
            let expected = format!("bands of multiples of {tile_rows} rows");
            assert!(faults[0].message.contains(&expected), "{}", faults[0].message);
        }
    }
}

#[test]
fn a_method_that_is_not_known_is_refused() {
    let (net, y, _) = by_winograd([3, 3], "fourier");
    let faults = crate::compile(&net.plan(&[y], 1), "main", &crate::CodegenOptions::new(1)).err().unwrap();
    assert!(faults[0].message.contains("its `mem.method` is not `winograd`"), "{}", faults[0].message);
}

#[test]
fn an_operand_that_is_not_read_by_rows_is_refused() {
    let mut net = Net::f32(&[&[1, 4, 4, 8]]);
    let w = weight(&mut net, &[8, 8, 1, 1], 1);
    let mut attrs = conv_attrs(&net, 1, 0, 1);
    attrs.push((attrs::MEM_OVERLAP, net.ctx.ints_attr(&[1, 2])));
    let y = net.op("nn.conv2d", &[net.arg(0), w], &attrs);
    let module = net.plan(&[y], 2);
    let faults = crate::compile(&module, "main", &crate::CodegenOptions::new(2)).err().unwrap();
    assert!(faults[0].message.contains("does not read operand 1 row by row"), "{}", faults[0].message);
}
