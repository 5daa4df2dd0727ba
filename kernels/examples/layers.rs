//! Times of single layers of real networks: milliseconds and GFLOP/s at a given number of threads.
//!
//! `cargo run --release -p optc-kernels --example layers -- THREADS [PART OF A NAME] [ISA] [NUMBERS]`, where
//! `ISA` is `scalar`, `avx2` or `avx512`, and `NUMBERS` are `f32`, `bf16` or `u8`.

use kernels::{
    Activation, ByteSign, Conv2d, Conv2dShape, ConvNumbers, ConvPrologue, ConvStrides, ImageStrides, Isa,
    Kernel, PairConv2d, PairUnit, QuadConv2d, QuadNumbers, StepOperand, StoredFloat, StoredSum, SumStep,
    WeightZero, Winograd,
};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Name, input channels, output channels, height, width, kernel, stride, groups.
type Layer = (&'static str, usize, usize, [usize; 2], [usize; 2], usize, usize);

const LAYERS: &[Layer] = &[
    ("1x1 768>3072 197", 768, 3072, [1, 197], [1, 1], 1, 1),
    ("1x1 3072>768 197", 3072, 768, [1, 197], [1, 1], 1, 1),
    ("1x1 384>1536 1500", 384, 1536, [1, 1500], [1, 1], 1, 1),
    ("stem 7x7s2 3>64 224", 3, 64, [224, 224], [7, 7], 2, 1),
    ("stem 3x3s2 3>32 224", 3, 32, [224, 224], [3, 3], 2, 1),
    ("stem 1x1s2 3>48 224", 3, 48, [224, 224], [1, 1], 2, 1),
    ("stem 4x4s4 3>96 224", 3, 96, [224, 224], [4, 4], 4, 1),
    ("3x3s2 3>32 224", 3, 32, [224, 224], [3, 3], 2, 1),
    ("7x7s2 3>64 224", 3, 64, [224, 224], [7, 7], 2, 1),
    ("3x3s2 16>32 112", 16, 32, [112, 112], [3, 3], 2, 1),
    ("3x3s2 32>32 112", 32, 32, [112, 112], [3, 3], 2, 1),
    ("3x3s2 32>64 112", 32, 64, [112, 112], [3, 3], 2, 1),
    ("3x3s2 32>96 56", 32, 96, [56, 56], [3, 3], 2, 1),
    ("3x3s2 24>192 56", 24, 192, [56, 56], [3, 3], 2, 1),
    ("3x3 16>16 56", 16, 16, [56, 56], [3, 3], 1, 1),
    ("3x3 8>32 56", 8, 32, [56, 56], [3, 3], 1, 1),
    ("5x5 8>64 30", 8, 64, [30, 30], [5, 5], 1, 1),
    ("1x1 64>64 56", 64, 64, [56, 56], [1, 1], 1, 1),
    ("1x1 64>256 56", 64, 256, [56, 56], [1, 1], 1, 1),
    ("1x1 256>64 56", 256, 64, [56, 56], [1, 1], 1, 1),
    ("1x1 512>128 28", 512, 128, [28, 28], [1, 1], 1, 1),
    ("1x1 256>1024 14", 256, 1024, [14, 14], [1, 1], 1, 1),
    ("1x1 1024>256 14", 1024, 256, [14, 14], [1, 1], 1, 1),
    ("1x1 2048>512 7", 2048, 512, [7, 7], [1, 1], 1, 1),
    ("1x1 512>2048 7", 512, 2048, [7, 7], [1, 1], 1, 1),
    ("1x1s2 256>512 56", 256, 512, [56, 56], [1, 1], 2, 1),
    ("1x1s2 1024>2048 14", 1024, 2048, [14, 14], [1, 1], 2, 1),
    ("3x3 64>64 56", 64, 64, [56, 56], [3, 3], 1, 1),
    ("3x3 128>128 28", 128, 128, [28, 28], [3, 3], 1, 1),
    ("3x3 256>256 14", 256, 256, [14, 14], [3, 3], 1, 1),
    ("3x3 512>512 7", 512, 512, [7, 7], [3, 3], 1, 1),
    ("3x3 128>32 28", 128, 32, [28, 28], [3, 3], 1, 1),
    ("3x3 128>32 14", 128, 32, [14, 14], [3, 3], 1, 1),
    ("3x3 64>64 150", 64, 64, [150, 150], [3, 3], 1, 1),
    ("3x3 16>64 55", 16, 64, [55, 55], [3, 3], 1, 1),
    ("3x3 48>192 27", 48, 192, [27, 27], [3, 3], 1, 1),
    ("3x3 64>256 13", 64, 256, [13, 13], [3, 3], 1, 1),
    ("3x3 96>96 35", 96, 96, [35, 35], [3, 3], 1, 1),
    ("3x3 448>384 8", 448, 384, [8, 8], [3, 3], 1, 1),
    ("3x3 128>32 56", 128, 32, [56, 56], [3, 3], 1, 1),
    ("3x3 128>32 7", 128, 32, [7, 7], [3, 3], 1, 1),
    ("3x3 256>256 128", 256, 256, [128, 128], [3, 3], 1, 1),
    ("3x3 128>128 256", 128, 128, [256, 256], [3, 3], 1, 1),
    ("3x3 512>512 64", 512, 512, [64, 64], [3, 3], 1, 1),
    ("3x3 512>4 32", 512, 4, [32, 32], [3, 3], 1, 1),
    ("3x3 32>3 256", 32, 3, [256, 256], [3, 3], 1, 1),
    ("3x3 64>3 128", 64, 3, [128, 128], [3, 3], 1, 1),
    ("3x3 64>1 128", 64, 1, [128, 128], [3, 3], 1, 1),
    ("3x3 64>2 128", 64, 2, [128, 128], [3, 3], 1, 1),
    ("3x3 16>4 256", 16, 4, [256, 256], [3, 3], 1, 1),
    ("3x3 128>5 64", 128, 5, [64, 64], [3, 3], 1, 1),
    ("3x3 64>6 128", 64, 6, [128, 128], [3, 3], 1, 1),
    ("3x3 64>8 128", 64, 8, [128, 128], [3, 3], 1, 1),
    ("3x3 256>4 20", 256, 4, [20, 20], [3, 3], 1, 1),
    ("5x5 32>3 128", 32, 3, [128, 128], [5, 5], 1, 1),
    ("2x2 64>3 128", 64, 3, [128, 128], [2, 2], 1, 1),
    ("3x3 4>512 32", 4, 512, [32, 32], [3, 3], 1, 1),
    ("1x7 192>192 17", 192, 192, [17, 17], [1, 7], 1, 1),
    ("7x1 192>192 17", 192, 192, [17, 17], [7, 1], 1, 1),
    ("3x3 80>192 71", 80, 192, [71, 71], [3, 3], 1, 1),
    ("3x3 32>64 147", 32, 64, [147, 147], [3, 3], 1, 1),
    ("1x7 128>128 17", 128, 128, [17, 17], [1, 7], 1, 1),
    ("5x5 48>64 35", 48, 64, [35, 35], [5, 5], 1, 1),
    ("1x3 384>384 8", 384, 384, [8, 8], [1, 3], 1, 1),
    ("3x1 384>384 8", 384, 384, [8, 8], [3, 1], 1, 1),
    ("1x3 80>384 3000", 80, 384, [1, 3000], [1, 3], 1, 1),
    ("1x1 16>96 112", 16, 96, [112, 112], [1, 1], 1, 1),
    ("1x1 96>24 56", 96, 24, [56, 56], [1, 1], 1, 1),
    ("1x1 144>32 28", 144, 32, [28, 28], [1, 1], 1, 1),
    ("1x1 288>64 35", 288, 64, [35, 35], [1, 1], 1, 1),
    ("1x1 768>192 17", 768, 192, [17, 17], [1, 1], 1, 1),
    ("1x7 160>160 17", 160, 160, [17, 17], [1, 7], 1, 1),
    ("1x1 1280>384 8", 1280, 384, [8, 8], [1, 1], 1, 1),
    ("1x1 384>64 14", 384, 64, [14, 14], [1, 1], 1, 1),
    ("1x1 576>96 14", 576, 96, [14, 14], [1, 1], 1, 1),
    ("1x1 160>960 7", 160, 960, [7, 7], [1, 1], 1, 1),
    ("1x1 320>1280 7", 320, 1280, [7, 7], [1, 1], 1, 1),
    ("dw 3x3 32 112", 32, 32, [112, 112], [3, 3], 1, 32),
    ("dw 3x3s2 96 112", 96, 96, [112, 112], [3, 3], 2, 96),
    ("dw 3x3 144 56", 144, 144, [56, 56], [3, 3], 1, 144),
    ("dw 3x3 384 14", 384, 384, [14, 14], [3, 3], 1, 384),
    ("dw 3x3 960 7", 960, 960, [7, 7], [3, 3], 1, 960),
    ("dw 5x5 240 28", 240, 240, [28, 28], [5, 5], 1, 240),
    ("dw 5x5 1104 7", 1104, 1104, [7, 7], [5, 5], 1, 1104),
    ("dw 7x7 96 56", 96, 96, [56, 56], [7, 7], 1, 96),
    ("dw 7x7 384 14", 384, 384, [14, 14], [7, 7], 1, 384),
    ("dw 3x3 40 28", 40, 40, [28, 28], [3, 3], 1, 40),
    ("dw 5x5 672 14", 672, 672, [14, 14], [5, 5], 1, 672),
    ("3x3 g32 128 56", 128, 128, [56, 56], [3, 3], 1, 32),
    ("3x3 g32 256 28", 256, 256, [28, 28], [3, 3], 1, 32),
    ("3x3 g32 512 14", 512, 512, [14, 14], [3, 3], 1, 32),
    ("3x3 g32 1024 7", 1024, 1024, [7, 7], [3, 3], 1, 32),
    ("3x3 g4 32 112", 32, 32, [112, 112], [3, 3], 1, 4),
    ("3x3 g13 104 28", 104, 104, [28, 28], [3, 3], 1, 13),
    ("3x3 g8 128 56", 128, 128, [56, 56], [3, 3], 1, 8),
    ("3x3 g24 384 14", 384, 384, [14, 14], [3, 3], 1, 24),
    ("3x3 g16 384 14", 384, 384, [14, 14], [3, 3], 1, 16),
    ("3x3 g8 256 14", 256, 256, [14, 14], [3, 3], 1, 8),
    ("fc 2048>1000", 2048, 1000, [1, 1], [1, 1], 1, 1),
];

/// A kernel run by several threads. They start together at `round` and take parts until none is left, each
/// from its own share first, as in a program.
struct Pool<'k, K> {
    kernel: &'k K,
    operands: [usize; 9],
    /// For each thread's share, the first part that is not taken yet.
    next: Vec<AtomicU32>,
    round: AtomicU32,
    done: AtomicU32,
}

impl<K: Kernel + Sync> Pool<'_, K> {
    fn share(&self, owner: usize) -> Range<u32> {
        let begin = |owner: usize| self.kernel.parts() * owner as u32 / self.next.len() as u32;
        begin(owner)..begin(owner + 1)
    }

    fn take_parts(&self, worker: usize, scratch: &mut [[u64; 8]]) {
        let operands = self.operands.map(|address| address as *mut u8);
        for owner in (worker..self.next.len()).chain(0..worker) {
            let end = self.share(owner).end;
            let take = || Some(self.next[owner].fetch_add(1, Ordering::AcqRel)).filter(|part| *part < end);
            while let Some(part) = take() {
                // SAFETY: operands were made for this kernel; scratch is this thread's and large enough; each
                // part is taken once.
                unsafe {
                    let desc = self.kernel.as_bytes().as_ptr();
                    (self.kernel.entry())(desc, operands.as_ptr(), part, scratch.as_mut_ptr().cast());
                }
            }
        }
    }

    fn work(&self, worker: usize, scratch_lines: usize) {
        let mut scratch = aligned_lines(scratch_lines);
        let mut seen = 0;
        loop {
            let round = self.round.load(Ordering::Acquire);
            if round == u32::MAX {
                return;
            }
            if round == seen {
                std::hint::spin_loop();
                continue;
            }
            seen = round;
            self.take_parts(worker, &mut scratch);
            self.done.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Runs once with `helpers` other threads.
    fn run(&self, helpers: u32, scratch: &mut [[u64; 8]]) {
        self.done.store(0, Ordering::Release);
        for (owner, next) in self.next.iter().enumerate() {
            next.store(self.share(owner).start, Ordering::Release);
        }
        self.round.fetch_add(1, Ordering::AcqRel);
        self.take_parts(0, scratch);
        while self.done.load(Ordering::Acquire) < helpers {
            std::hint::spin_loop();
        }
    }
}

/// Memory in cache lines; the first is skipped to reach alignment where the allocator gave less.
fn aligned_lines(count: usize) -> Vec<[u64; 8]> {
    vec![[0; 8]; count + 1]
}

fn measure(kernel: &(impl Kernel + Sync), operands: [*mut u8; 9], threads: usize) -> Duration {
    let operands = operands.map(|pointer| pointer as usize);
    let zero = || AtomicU32::new(0);
    let next = (0..threads).map(|_| zero()).collect();
    let pool = Pool { kernel, operands, next, round: zero(), done: zero() };
    let helpers = threads as u32 - 1;
    let lines = kernel.scratch_bytes() / 64 + 1;
    std::thread::scope(|scope| {
        for worker in 1..threads {
            let pool = &pool;
            scope.spawn(move || pool.work(worker, lines));
        }
        let mut scratch = aligned_lines(lines);
        let mut times = Vec::new();
        let begin = Instant::now();
        while times.len() < 20 || begin.elapsed() < Duration::from_millis(200) {
            let start = Instant::now();
            pool.run(helpers, &mut scratch);
            times.push(start.elapsed());
        }
        pool.round.store(u32::MAX, Ordering::Release);
        times.sort();
        times[times.len() / 4]
    })
}

/// The time of a layer with output, input and bias; all packed weights are equal.
fn layer_time(
    kernel: &(impl Kernel + Sync),
    [out, x, bias]: [*mut u8; 3],
    packed_len: usize,
    threads: usize,
) -> Duration {
    // Read as `bf16`, each half is a small number too.
    let weights = vec![f32::from_bits(0x3c00_3c00); packed_len + 16];
    let packed = weights.as_ptr().wrapping_byte_add(weights.as_ptr().align_offset(64) * 4);
    let none = std::ptr::null_mut();
    let operands = [out, x, packed.cast_mut().cast(), bias, none, none, bias, bias, bias];
    measure(kernel, operands, threads)
}

/// Prints the time of the usual kernel for a layer of `flops` operations.
fn print_layer(
    name: &str,
    flops: f64,
    kernel: &(impl Kernel + Sync),
    images: [*mut u8; 3],
    packed_len: usize,
    threads: usize,
) {
    let time = layer_time(kernel, images, packed_len, threads).as_secs_f64();
    let parts = kernel.parts();
    println!("{name:22} {:8.4} ms {:6.1} GFLOP/s  {parts} parts", time * 1e3, flops / time / 1e9);
}

/// Prints the speedup of Winograd's algorithm over the usual kernel, with its preferred scratch and with the
/// least.
fn print_winograd(
    usual: &(impl Kernel + Sync),
    winograd: Winograd,
    images: [*mut u8; 3],
    packed_len: usize,
    threads: usize,
) {
    let expected = winograd.speedup();
    for winograd in [winograd, winograd.within(0)].map(|winograd| winograd.on(threads)) {
        let [mut usual_time, mut time] = [Duration::MAX; 2];
        // They take turns, so both run under the same conditions.
        for _ in 0..3 {
            usual_time = usual_time.min(layer_time(usual, images, packed_len, threads));
            time = time.min(layer_time(&winograd, images, packed_len, threads));
        }
        println!(
            "  winograd {:6.2} times as fast ({expected:.2} expected) with {} bytes, {} parts",
            usual_time.as_secs_f64() / time.as_secs_f64(),
            winograd.scratch_bytes(),
            winograd.parts()
        );
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let threads = args.first().map_or(1, |text| text.parse().expect("a number of threads"));
    let wanted = args.get(1).map_or("", String::as_str);
    let isa = match args.get(2).map(String::as_str) {
        Some("scalar") => Isa::Scalar,
        Some("avx2") => Isa::Avx2,
        _ => Isa::detect(),
    };
    for &(name, in_channels, out_channels, input, kernel, step, groups) in LAYERS {
        if !name.contains(wanted) {
            continue;
        }
        let pads = [kernel[0] / 2, kernel[1] / 2, kernel[0] / 2, kernel[1] / 2];
        let (stride, dilation) = ([step; 2], [1; 2]);
        let shape = Conv2dShape {
            batch: 1,
            input,
            in_channels,
            out_channels,
            kernel,
            stride,
            dilation,
            pads,
            groups,
        };
        let [h, w] = shape.output();
        // Whole cache lines, as in an arena; otherwise rows share cache lines that are separate in a program.
        let floats = |n: usize| vec![[0.5f32; 16]; n / 16 + 2];
        let aligned = |pointer: *mut u8| pointer.wrapping_add(pointer.align_offset(64));
        let (x, bias) = (floats(input[0] * input[1] * in_channels), floats(out_channels));
        let mut out = floats(h * w * out_channels);
        let images =
            [out.as_mut_ptr().cast::<u8>(), x.as_ptr().cast_mut().cast(), bias.as_ptr().cast_mut().cast()]
                .map(aligned);
        let mut strides = ConvStrides::dense(&shape);
        // The first layer reads the model's input: `f32`, channels first.
        let is_first = name.starts_with("stem");
        if is_first {
            strides.input = ImageStrides::nchw(input, in_channels);
        }
        let layer = MeasuredLayer { name, shape, strides, isa, threads };
        let input = if is_first { StoredFloat::F32 } else { StoredFloat::Bf16 };
        match args.get(3).map(String::as_str) {
            Some("bf16") => layer.print_bf16(images, input),
            Some("u8") => layer.print_u8(images),
            _ => layer.print(images),
        }
    }
}

/// A layer that is measured.
struct MeasuredLayer {
    name: &'static str,
    shape: Conv2dShape,
    strides: ConvStrides,
    isa: Isa,
    threads: usize,
}

impl MeasuredLayer {
    /// Measures `f32`.
    fn print(&self, images: [*mut u8; 3]) {
        let MeasuredLayer { shape, strides, isa, threads, .. } = self;
        let conv = Conv2d::new(shape, strides, ConvPrologue::None, Activation::Relu, *isa, *threads);
        self.print_kernels(&conv, self.winograd(), images, conv.packed_len());
    }

    /// Measures `bf16`, except for the input.
    fn print_bf16(&self, images: [*mut u8; 3], input: StoredFloat) {
        let MeasuredLayer { shape, strides, isa, threads, .. } = self;
        let stored = StoredFloat::Bf16;
        let numbers = ConvNumbers { input, residual: stored, output: stored };
        let prologue = ConvPrologue::None;
        let conv = PairConv2d::new(shape, strides, numbers, prologue, Activation::Relu, *isa, *threads);
        let Some(conv) = conv else { return };
        let winograd =
            self.winograd().and_then(|winograd| winograd.of_bf16(numbers, PairUnit::fastest(*isa)));
        self.print_kernels(&conv, winograd, images, conv.packed_len());
    }

    /// Measures quantized layers: sums are scaled by channel, biased, rounded, and stored as bytes.
    fn print_u8(&self, images: [*mut u8; 3]) {
        let MeasuredLayer { name, shape, strides, isa, threads } = self;
        let [image, weights] = [ByteSign::Unsigned, ByteSign::Signed];
        let numbers = QuadNumbers { image, weights, zero: WeightZero::None, output: StoredSum::U8 };
        let operand = StepOperand::Channel;
        let steps = [SumStep::Mul(operand), SumStep::Add(operand), SumStep::Round];
        let conv = QuadConv2d::new(shape, strides, &numbers, &steps, *isa, *threads);
        let Some(conv) = conv else { return };
        print_layer(name, self.flops(), &conv, images, conv.packed_len(), *threads);
    }

    fn flops(&self) -> f64 {
        let Conv2dShape { in_channels, out_channels, kernel, groups, .. } = self.shape;
        let [h, w] = self.shape.output();
        2.0 * (h * w * out_channels * in_channels / groups * kernel[0] * kernel[1]) as f64
    }

    fn winograd(&self) -> Option<Winograd> {
        Winograd::new(&self.shape, &self.strides, Activation::Relu, self.isa)
    }

    fn print_kernels(
        &self,
        usual: &(impl Kernel + Sync),
        winograd: Option<Winograd>,
        images: [*mut u8; 3],
        packed_len: usize,
    ) {
        print_layer(self.name, self.flops(), usual, images, packed_len, self.threads);
        if let Some(winograd) = winograd {
            print_winograd(usual, winograd, images, packed_len, self.threads);
        }
    }
}
