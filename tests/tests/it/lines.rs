//! Row streaming: less memory, the same bits, at any number of threads and with dead memory poisoned.

use optc::{Array, CompileOptions, DeadMemory, Goal, LoadOptions, Model};

/// An inverted bottleneck after a stem: the wide images between 1x1 convolutions and depthwise ones are
/// streamed.
const BOTTLENECK: &str = r#"func.func @main(%x: tensor<1x3x64x64xf32>) -> tensor<1x16x16x16xf32> {
  %w0 = nn.constant dense<0.25> : tensor<16x3x3x3xf32>
  %w1 = nn.constant dense<0.125> : tensor<96x16x1x1xf32>
  %b1 = nn.constant dense<0.5> : tensor<96xf32>
  %w2 = nn.constant dense<0.375> : tensor<96x1x3x3xf32>
  %w3 = nn.constant dense<0.0625> : tensor<16x96x1x1xf32>
  %w4 = nn.constant dense<0.1875> : tensor<16x16x1x1xf32>
  %0 = nn.conv2d %x, %w0 {layout = "NCHW", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x3x64x64xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x32x32xf32>
  %1 = nn.conv2d %0, %w1, %b1 {layout = "NCHW"} : (tensor<1x16x32x32xf32>, tensor<96x16x1x1xf32>, tensor<96xf32>) -> tensor<1x96x32x32xf32>
  %2 = nn.clip %1 {hi = 6.0 : f32, lo = 0.0 : f32} : tensor<1x96x32x32xf32>
  %3 = nn.conv2d %2, %w2 {groups = 96 : i64, layout = "NCHW", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x96x32x32xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x32x32xf32>
  %4 = nn.silu %3 : tensor<1x96x32x32xf32>
  %5 = nn.conv2d %4, %w3 {layout = "NCHW"} : (tensor<1x96x32x32xf32>, tensor<16x96x1x1xf32>) -> tensor<1x16x32x32xf32>
  %6 = nn.add %5, %0 : tensor<1x16x32x32xf32>
  %7 = nn.max_pool2d %6 {kernel = array<i64: 3, 3>, layout = "NCHW", pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<1x16x32x32xf32>) -> tensor<1x16x16x16xf32>
  %8 = nn.conv2d %7, %w4 {layout = "NCHW"} : (tensor<1x16x16x16xf32>, tensor<16x16x1x1xf32>) -> tensor<1x16x16x16xf32>
  %9 = nn.relu %8 : tensor<1x16x16x16xf32>
  return %9 : tensor<1x16x16x16xf32>
}"#;

/// A dense layer: its input and its result are in one concatenation, and the value between them is wider than
/// its result.
const DENSE: &str = r#"func.func @main(%x: tensor<1x24x20x20xf32>) -> tensor<1x32x20x20xf32> {
  %w1 = nn.constant dense<0.125> : tensor<64x24x1x1xf32>
  %w2 = nn.constant dense<0.0625> : tensor<8x64x3x3xf32>
  %0 = nn.sqrt %x : tensor<1x24x20x20xf32>
  %1 = nn.conv2d %0, %w1 {layout = "NCHW"} : (tensor<1x24x20x20xf32>, tensor<64x24x1x1xf32>) -> tensor<1x64x20x20xf32>
  %2 = nn.relu %1 : tensor<1x64x20x20xf32>
  %3 = nn.conv2d %2, %w2 {layout = "NCHW", pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x20x20xf32>, tensor<8x64x3x3xf32>) -> tensor<1x8x20x20xf32>
  %4 = nn.concat %0, %3 {axis = 1 : i64} : (tensor<1x24x20x20xf32>, tensor<1x8x20x20xf32>) -> tensor<1x32x20x20xf32>
  %5 = nn.tanh %4 : tensor<1x32x20x20xf32>
  return %5 : tensor<1x32x20x20xf32>
}"#;

/// Bytes of the arena, the bits of the outputs, and the number of streamed groups.
fn run(text: &str, goal: Goal, threads: usize) -> (u64, Vec<Array>, usize) {
    let module = optc::parse("lines.mlir", text.to_owned(), None, &LoadOptions::default());
    let mut module = module.unwrap_or_else(|failure| panic!("{failure}"));
    let options = CompileOptions { threads, goal, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
    let mut model = Model::compile(&mut module, &options).unwrap_or_else(|failure| panic!("{failure}"));
    let only = model.program().only().expect("its sizes are known");
    let inputs = only.inputs().iter().map(|desc| Array {
        name: desc.name.clone(),
        element: desc.element,
        shape: desc.shape.clone(),
        bytes: (0..desc.size_bytes / 4)
            .flat_map(|i| ((i * 7919 % 2003) as f32 / 999.0).to_le_bytes())
            .collect(),
    });
    let inputs: Vec<Array> = inputs.collect();
    let outputs = model.run(&inputs).unwrap_or_else(|failure| panic!("{failure}"));
    let groups = ir::text::print(&module).matches(ir::plan::attrs::MEM_LINES).count();
    (only.arena_bytes() as u64, outputs, groups)
}

#[test]
fn wide_images_between_narrow_ones_never_exist_whole() {
    let batch = |text: &str| text.replace("tensor<1x", "tensor<3x");
    for text in [BOTTLENECK.to_owned(), DENSE.to_owned(), batch(BOTTLENECK), batch(DENSE)] {
        let (whole_bytes, expected, _) = run(&text, Goal::Speed, 2);
        for threads in [1, 2] {
            let (bytes, found, groups) = run(&text, Goal::Memory, threads);
            assert!(found == expected, "other bits on {threads} threads");
            assert!(groups > 0 && bytes * 2 < whole_bytes, "{bytes} of {whole_bytes} bytes, {groups} groups");
        }
    }
}

#[test]
fn other_goals_keep_images_whole() {
    for goal in [Goal::Speed, Goal::Balanced] {
        assert_eq!(run(BOTTLENECK, goal, 2).2, 0);
    }
}
