//! Results that overwrite rows of their operands: the same bits for every optimization goal, and fewer bytes.

use ir::plan::attrs;
use std::fmt::Write;
use std::sync::Arc;

use ir::{Context, Module};
use optc::{Array, CompileOptions, DeadMemory, Goal};
use tests::programs::{array, execute};
use tests::random::Random;

use crate::faster_methods::chosen;

/// Random chains that are run.
const CHAINS: u64 = 12;

#[derive(Clone, Copy)]
struct Image {
    /// Images of the batch.
    images: u64,
    rows: u64,
    columns: u64,
    channels: u64,
}

impl Image {
    fn ty(self) -> String {
        format!("tensor<{}x{}x{}x{}xf32>", self.images, self.rows, self.columns, self.channels)
    }
}

/// A chain of windows over images.
struct Chain {
    text: String,
    image: Image,
    value: String,
}

impl Chain {
    fn push(&mut self, step: u64, random: &mut Random) {
        let from = self.image;
        let kind = below(random, 4);
        let kernel = if kind == 0 { 1 } else { 3 };
        let stride = if from.rows > 8 { 1 + below(random, 2) } else { 1 };
        let pad = kernel / 2;
        let channels = if kind < 2 { 16 * (1 + below(random, 5)) } else { from.channels };
        let slid = |size: u64| (size + 2 * pad - kernel) / stride + 1;
        let to = Image { rows: slid(from.rows), columns: slid(from.columns), channels, ..from };
        let value = format!("%{step}");
        let window = format!(
            "pads = array<i64: {pad}, {pad}, {pad}, {pad}>, strides = array<i64: {stride}, {stride}>"
        );
        let written = match kind {
            3 => writeln!(
                self.text,
                "{value} = nn.max_pool2d {} {{kernel = array<i64: 3, 3>, layout = \"NHWC\", {window}}} : ({}) -> {}",
                self.value,
                from.ty(),
                to.ty()
            ),
            _ => {
                let (groups, depth) = if kind == 2 { (channels, 1) } else { (1, from.channels) };
                let weights = format!("tensor<{channels}x{depth}x{kernel}x{kernel}xf32>");
                let number = 0.01 + step as f64 * 0.002;
                writeln!(self.text, "%w{step} = nn.constant dense<{number}> : {weights}").and_then(|()| {
                    writeln!(
                        self.text,
                        "{value} = nn.conv2d {}, %w{step} {{groups = {groups} : i64, layout = \"NHWC\", {window}}} : ({}, {weights}) -> {}",
                        self.value,
                        from.ty(),
                        to.ty()
                    )
                })
            }
        };
        written.expect("a string takes all text");
        (self.image, self.value) = (to, value);
    }
}

fn below(random: &mut Random, bound: usize) -> u64 {
    random.below(bound) as u64
}

/// A program of windows over a batch of images, and the shape of its input.
fn chain(random: &mut Random, images: u64) -> (String, [u64; 4]) {
    let image = Image {
        images,
        rows: 12 + below(random, 20),
        columns: 9 + below(random, 20),
        channels: 16 * (1 + below(random, 3)),
    };
    let mut chain = Chain { text: String::new(), image, value: "%x".to_owned() };
    writeln!(chain.text, "%first = nn.neg %x : {}", image.ty()).expect("a string takes all text");
    chain.value = "%first".to_owned();
    for step in 0..3 + below(random, 4) {
        chain.push(step, random);
    }
    let result = chain.image.ty();
    let value = &chain.value;
    let text = format!(
        "func.func @main(%x: {}) -> {result} {{\n{}%last = nn.abs {value} : {result}\nreturn %last : {result}\n}}",
        image.ty(),
        chain.text
    );
    (text, [images, image.rows, image.columns, image.channels])
}

fn parse(text: &str) -> Module {
    let ctx = Arc::new(Context::new());
    let module = ir::text::parse(&ctx, "chain.mlir", text.to_owned());
    module.unwrap_or_else(|faults| panic!("{text}\n{}", faults[0].render(&ctx)))
}

/// The largest difference between two lists of `f32`, relative to the largest number.
fn difference(found: &[u8], expected: &[u8]) -> f32 {
    let floats = |bytes: &[u8]| {
        let words = bytes.chunks_exact(4);
        words.map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect::<Vec<f32>>()
    };
    let expected = floats(expected);
    let apart = floats(found).into_iter().zip(&expected).map(|(found, expected)| (found - expected).abs());
    apart.fold(0.0, f32::max) / expected.iter().map(|x| x.abs()).fold(f32::MIN_POSITIVE, f32::max)
}

/// A run of a compiled program.
struct Run {
    output: Vec<u8>,
    arena_bytes: u64,
    /// For each convolution, whether a faster algorithm computes it.
    are_faster: Vec<bool>,
}

fn run(text: &str, input: &Array, options: &CompileOptions) -> Run {
    let mut module = parse(text);
    let outputs = execute(&mut module, std::slice::from_ref(input), options);
    let outputs = outputs.unwrap_or_else(|failure| panic!("{text}\n{failure}"));
    let body = module.function("main").expect("it is called so");
    let arena_bytes = attrs::arena_bytes(&module.ctx, body).expect("it is planned");
    Run { output: outputs[0].bytes.clone(), arena_bytes, are_faster: chosen(&module) }
}

/// Goals have other bits only if they use other algorithms: then the results are equal except for rounding.
#[test]
fn what_is_optimised_for_changes_no_bit_of_the_same_algorithms() {
    let mut smaller = 0;
    let mut same_algorithms = 0;
    for seed in 0..CHAINS {
        let random = &mut Random::new(seed);
        let (text, shape) = chain(random, 1 + seed % 3);
        let count = shape.iter().product::<u64>();
        let input = array("x", &shape, &random.floats(count));
        let of = |goal, threads, dead| {
            run(&text, &input, &CompileOptions { threads, goal, dead, ..CompileOptions::default() })
        };
        let fast = of(Goal::Speed, 1, DeadMemory::Kept);
        let balanced = of(Goal::Balanced, 1, DeadMemory::Kept);
        let memory = of(Goal::Memory, 1, DeadMemory::Kept);
        for (one, other) in [(&fast, &balanced), (&balanced, &memory), (&fast, &memory)] {
            assert!(difference(&one.output, &other.output) < 1e-3, "{text}");
            if one.are_faster == other.are_faster {
                assert!(one.output == other.output, "{:?}:\n{text}", one.are_faster);
                same_algorithms += 1;
            }
        }
        for (goal, expected) in [(Goal::Balanced, &balanced), (Goal::Memory, &memory)] {
            for threads in [1, 2] {
                let found = of(goal, threads, DeadMemory::Poisoned);
                assert!(found.output == expected.output, "{goal:?} on {threads} threads:\n{text}");
            }
        }
        smaller += u64::from(memory.arena_bytes < fast.arena_bytes);
    }
    assert!(smaller > CHAINS / 2, "{smaller} of {CHAINS} chains take fewer bytes");
    assert!(same_algorithms > CHAINS / 2, "{same_algorithms} pairs of plans use the same algorithms");
}

/// The images of a batch are computed one after the other, so that rows of one are overwritten before the
/// next is read.
#[test]
fn a_batch_has_the_bits_of_its_images_and_takes_no_more_bytes_than_they_do() {
    let mut same_algorithms = 0;
    for seed in 0..CHAINS {
        let images = 2 + seed % 3;
        let random = &mut Random::new(seed);
        let (text, shape) = chain(random, images);
        let (text_of_one, shape_of_one) = chain(&mut Random::new(seed), 1);
        let numbers = random.floats(shape.iter().product::<u64>());
        for threads in [1, 2] {
            let options = CompileOptions {
                threads,
                goal: Goal::Memory,
                dead: DeadMemory::Poisoned,
                ..CompileOptions::default()
            };
            let Run { output: found, arena_bytes: arena, are_faster } =
                run(&text, &array("x", &shape, &numbers), &options);
            let count = shape_of_one.iter().product::<u64>() as usize;
            let alone: Vec<Run> = numbers
                .chunks_exact(count)
                .map(|numbers| run(&text_of_one, &array("x", &shape_of_one, numbers), &options))
                .collect();
            let expected = alone.iter().flat_map(|run| &run.output).copied().collect::<Vec<u8>>();
            assert!(difference(&found, &expected) < 1e-3, "{images} images on {threads} threads:\n{text}");
            if alone.iter().all(|run| run.are_faster == are_faster) {
                assert!(found == expected, "{images} images on {threads} threads:\n{text}");
                same_algorithms += 1;
            }
            let most = alone.iter().map(|run| run.arena_bytes).sum::<u64>();
            assert!(
                arena <= most,
                "{arena} of {most} bytes for {images} images on {threads} threads:\n{text}"
            );
        }
    }
    assert!(same_algorithms > CHAINS, "{same_algorithms} batches use the algorithms of their images");
}
