//! That each kernel has the properties of its row. Operands and results in rows or with strides are read and
//! written in place exactly if the row says so, and the results are the interpreter's.

use std::collections::BTreeSet;
use std::sync::Arc;

use codegen::Cpu;
use ir::plan::attrs;
use ir::{Context, Module, Op, Target};
use optc::{Array, CompileOptions, DeadMemory};
use passes::manager::RunOptions;
use tests::programs::{array, execute, interpret};
use tests::random::Random;

/// An operation that a kernel runs.
struct Example {
    /// Its `mem.kernel`.
    kernel: &'static str,
    /// The shapes of the function's arguments, which are its first operands.
    args: &'static [&'static [u64]],
    /// Further constants that the operation reads.
    constants: &'static str,
    /// The operation on `%0`, `%1`, ...
    op: &'static str,
    /// The shape of its result.
    result: &'static [u64],
    /// Its element type.
    elem: &'static str,
}

const F32: Example = Example { kernel: "", args: &[], constants: "", op: "", result: &[], elem: "f32" };

static EXAMPLES: &[Example] = &[
    Example {
        kernel: "pointwise",
        args: &[&[3, 8], &[3, 8]],
        op: "nn.sub %0, %1 : tensor<3x8xf32>",
        result: &[3, 8],
        ..F32
    },
    Example {
        kernel: "copy",
        args: &[&[3, 8], &[3, 8]],
        op: "nn.concat %0, %1 {axis = 0 : i64} : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<6x8xf32>",
        result: &[6, 8],
        ..F32
    },
    Example {
        kernel: "reduce",
        args: &[&[3, 8]],
        op: "nn.reduce_sum %0 {axes = array<i64: 0>, keepdims} : (tensor<3x8xf32>) -> tensor<1x8xf32>",
        result: &[1, 8],
        ..F32
    },
    Example {
        kernel: "attention",
        args: &[&[5, 4], &[4, 6], &[6, 3], &[5, 6]],
        op: "optc.group(%a = %0, %b = %1, %c = %2, %d = %3) : (tensor<5x4xf32>, tensor<4x6xf32>, tensor<6x3xf32>, tensor<5x6xf32>) -> tensor<5x3xf32> {
  %s = nn.matmul %a, %b : (tensor<5x4xf32>, tensor<4x6xf32>) -> tensor<5x6xf32>
  %t = nn.add %s, %d : tensor<5x6xf32>
  %u = nn.softmax %t {axis = 1 : i64} : tensor<5x6xf32>
  %x = nn.matmul %u, %c : (tensor<5x6xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
  optc.yield %x : tensor<5x3xf32>
}",
        result: &[5, 3],
        ..F32
    },
    Example {
        kernel: "conv2d",
        args: &[&[1, 6, 5, 4]],
        constants: "%w = nn.constant dense<0.25> : tensor<3x4x3x3xf32>",
        op: "nn.conv2d %0, %w {layout = \"NHWC\"} : (tensor<1x6x5x4xf32>, tensor<3x4x3x3xf32>) -> tensor<1x4x3x3xf32>",
        result: &[1, 4, 3, 3],
        ..F32
    },
    Example {
        kernel: "gemm",
        args: &[&[5, 8], &[8, 6]],
        op: "nn.matmul %0, %1 : (tensor<5x8xf32>, tensor<8x6xf32>) -> tensor<5x6xf32>",
        result: &[5, 6],
        ..F32
    },
    Example {
        kernel: "gemm",
        args: &[&[2, 5, 8], &[2, 8, 6]],
        op: "nn.matmul %0, %1 : (tensor<2x5x8xf32>, tensor<2x8x6xf32>) -> tensor<2x5x6xf32>",
        result: &[2, 5, 6],
        ..F32
    },
    Example {
        kernel: "gemm",
        args: &[&[2, 5, 8], &[8]],
        op: "nn.matmul %0, %1 : (tensor<2x5x8xf32>, tensor<8xf32>) -> tensor<2x5xf32>",
        result: &[2, 5],
        ..F32
    },
    Example {
        kernel: "max_pool2d",
        args: &[&[1, 6, 6, 4]],
        op: "nn.max_pool2d %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, layout = \"NHWC\"} : (tensor<1x6x6x4xf32>) -> tensor<1x3x3x4xf32>",
        result: &[1, 3, 3, 4],
        ..F32
    },
    Example {
        kernel: "avg_pool2d",
        args: &[&[1, 6, 6, 4]],
        op: "nn.avg_pool2d %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, layout = \"NHWC\"} : (tensor<1x6x6x4xf32>) -> tensor<1x3x3x4xf32>",
        result: &[1, 3, 3, 4],
        ..F32
    },
    Example {
        kernel: "pad",
        args: &[&[3, 8]],
        op: "nn.pad %0 {low = array<i64: 1, 0>, high = array<i64: 0, 2>} : (tensor<3x8xf32>) -> tensor<4x10xf32>",
        result: &[4, 10],
        ..F32
    },
    Example {
        kernel: "fill",
        args: &[],
        op: "optc.fill {shape = array<i64: 3, 8>, to = f32, value = 0.5 : f32} : tensor<3x8xf32>",
        result: &[3, 8],
        ..F32
    },
    Example {
        kernel: "repeat",
        args: &[&[3, 8]],
        op: "nn.repeat %0 {counts = array<i64: 1, 2>} : (tensor<3x8xf32>) -> tensor<3x16xf32>",
        result: &[3, 16],
        ..F32
    },
    Example {
        kernel: "insert_slice",
        args: &[&[2, 4], &[3, 8]],
        op: "nn.insert_slice %0, %1 {starts = array<i64: 1, 2>} : (tensor<2x4xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>",
        result: &[3, 8],
        ..F32
    },
    Example {
        kernel: "softmax",
        args: &[&[3, 8]],
        op: "nn.softmax %0 {axis = 1 : i64} : tensor<3x8xf32>",
        result: &[3, 8],
        ..F32
    },
    // Rows of one element, with gaps if they are part of longer rows.
    Example {
        kernel: "reduce",
        args: &[&[3, 4, 1]],
        op: "nn.reduce_sum %0 {axes = array<i64: 1>, keepdims} : (tensor<3x4x1xf32>) -> tensor<3x1x1xf32>",
        result: &[3, 1, 1],
        ..F32
    },
    Example {
        kernel: "reduce",
        args: &[&[3, 4, 1]],
        op: "nn.reduce_mean %0 {axes = array<i64: 0, 2>} : (tensor<3x4x1xf32>) -> tensor<4xf32>",
        result: &[4],
        ..F32
    },
    Example {
        kernel: "conv2d",
        args: &[&[1, 6, 5, 1]],
        constants: "%w = nn.constant dense<0.25> : tensor<1x1x3x3xf32>",
        op: "nn.conv2d %0, %w {layout = \"NHWC\"} : (tensor<1x6x5x1xf32>, tensor<1x1x3x3xf32>) -> tensor<1x4x3x1xf32>",
        result: &[1, 4, 3, 1],
        ..F32
    },
    Example {
        kernel: "max_pool2d",
        args: &[&[1, 6, 6, 1]],
        op: "nn.max_pool2d %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, layout = \"NHWC\"} : (tensor<1x6x6x1xf32>) -> tensor<1x3x3x1xf32>",
        result: &[1, 3, 3, 1],
        ..F32
    },
    Example {
        kernel: "avg_pool2d",
        args: &[&[3, 2, 2, 1]],
        op: "nn.avg_pool2d %0 {kernel = array<i64: 2, 2>, layout = \"NHWC\"} : (tensor<3x2x2x1xf32>) -> tensor<3x1x1x1xf32>",
        result: &[3, 1, 1, 1],
        ..F32
    },
    Example {
        kernel: "softmax",
        args: &[&[3, 1]],
        op: "nn.softmax %0 {axis = 0 : i64} : tensor<3x1xf32>",
        result: &[3, 1],
        ..F32
    },
    // It is computed by a loop nest.
    Example {
        kernel: "pointwise",
        args: &[&[2, 8, 3], &[8], &[8], &[8], &[8]],
        op: "nn.batch_norm %0, %1, %2, %3, %4 : (tensor<2x8x3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8x3xf32>",
        result: &[2, 8, 3],
        ..F32
    },
    Example {
        kernel: "group_norm",
        args: &[&[1, 8, 4], &[8], &[8]],
        op: "nn.group_norm %0, %1, %2 {axes = array<i64: 2>, groups = 2 : i64} : (tensor<1x8x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4xf32>",
        result: &[1, 8, 4],
        ..F32
    },
    Example {
        kernel: "group_norm",
        args: &[&[3, 8], &[8], &[8]],
        op: "nn.group_norm %0, %1, %2 {axes = array<i64>, groups = 1 : i64} : (tensor<3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<3x8xf32>",
        result: &[3, 8],
        ..F32
    },
    Example {
        kernel: "arg_extreme",
        args: &[&[3, 8]],
        op: "nn.arg_max %0 {axis = 1 : i64, keepdims} : (tensor<3x8xf32>) -> tensor<3x1xi64>",
        result: &[3, 1],
        elem: "i64",
        ..F32
    },
    Example {
        kernel: "cumulate",
        args: &[&[3, 8]],
        op: "nn.cum_sum %0 {axis = 1 : i64} : tensor<3x8xf32>",
        result: &[3, 8],
        ..F32
    },
    Example {
        kernel: "take",
        args: &[&[3, 8]],
        constants: "%i = nn.constant dense<[2, 0]> : tensor<2xi64>",
        op: "nn.gather %0, %i {axis = 0 : i64} : (tensor<3x8xf32>, tensor<2xi64>) -> tensor<2x8xf32>",
        result: &[2, 8],
        ..F32
    },
    Example {
        kernel: "resample",
        args: &[&[3, 8]],
        constants: "%i = nn.constant dense<[[0, 2], [1, 9]]> : tensor<2x2xi64>\n  \
            %k = nn.constant dense<[[0.5, 2.0], [0.25, -1.0]]> : tensor<2x2xf32>",
        op: "nn.resample %0, %i, %k {axis = 1 : i64} \
            : (tensor<3x8xf32>, tensor<2x2xi64>, tensor<2x2xf32>) -> tensor<3x2xf32>",
        result: &[3, 2],
        ..F32
    },
    Example {
        kernel: "compress",
        args: &[&[3, 8]],
        constants: "%c = nn.constant dense<[true, false, true]> : tensor<3xi1>",
        op: "nn.compress %0, %c {axis = 0 : i64} : (tensor<3x8xf32>, tensor<3xi1>) -> (tensor<3x8xf32>, tensor<i64>)",
        result: &[3, 8],
        ..F32
    },
    Example {
        kernel: "non_max_suppression",
        args: &[&[1, 8, 4], &[1, 2, 8]],
        constants: "%k = nn.constant dense<3> : tensor<i64>\n%o = nn.constant dense<0.5> : tensor<f32>\n%l = nn.constant dense<0.0> : tensor<f32>",
        op: "nn.non_max_suppression %0, %1, %k, %o, %l {places = array<i64: 3>} : (tensor<1x8x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<1x2x3xi64>, tensor<1x2x3xi1>)",
        result: &[1, 2, 3],
        elem: "i64",
    },
    Example {
        kernel: "roi_align",
        args: &[&[1, 8, 8, 4], &[2, 4]],
        constants: "%i = nn.constant dense<0> : tensor<2xi64>",
        op: "nn.roi_align %0, %1, %i {bins = array<i64: 2, 3>} : (tensor<1x8x8x4xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x2x3x4xf32>",
        result: &[2, 2, 3, 4],
        ..F32
    },
    Example {
        kernel: "put",
        args: &[&[3, 8]],
        constants: "%i = nn.constant dense<[2, 0]> : tensor<2xi64>\n%u = nn.constant dense<0.25> : tensor<2x8xf32>",
        op: "nn.scatter %0, %i, %u {join = \"add\"} : (tensor<3x8xf32>, tensor<2xi64>, tensor<2x8xf32>) -> tensor<3x8xf32>",
        result: &[3, 8],
        ..F32
    },
    Example {
        kernel: "arg_sort",
        args: &[&[3, 8]],
        op: "nn.arg_sort %0 {axis = 1 : i64} : (tensor<3x8xf32>) -> tensor<3x8xi64>",
        result: &[3, 8],
        elem: "i64",
        ..F32
    },
];

fn ty(shape: &[u64], elem: &str) -> String {
    let sizes: String = shape.iter().map(|size| format!("{size}x")).collect();
    format!("tensor<{sizes}{elem}>")
}

fn numbers(numbers: &[u64]) -> String {
    let all: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("array<i64: {}>", all.join(", "))
}

impl Example {
    /// A program with arguments of these shapes; `before` computes the operands from them, and `after` the
    /// returned value of this shape from the result `%r`.
    fn program(&self, args: &[Vec<u64>], before: &str, after: &str, returned: &[u64]) -> Module {
        let list: Vec<String> =
            args.iter().enumerate().map(|(index, shape)| format!("%{index}: {}", ty(shape, "f32"))).collect();
        let result = if self.op.contains("-> (") { "%r, %n" } else { "%r" };
        let returned = ty(returned, self.elem);
        let value = if after.is_empty() { "%r" } else { "%whole" };
        let text = format!(
            "func.func @main({}) -> {returned} {{\n{}\n{before}\n{result} = {}\n{after}\nreturn {value} : {returned}\n}}",
            list.join(", "),
            self.constants,
            self.op,
        );
        let ctx = Arc::new(Context::new());
        ir::text::parse(&ctx, self.kernel, text.clone())
            .unwrap_or_else(|faults| panic!("{}\n{text}", faults[0].render(&ctx)))
    }

    fn shapes(&self) -> Vec<Vec<u64>> {
        self.args.iter().map(|shape| shape.to_vec()).collect()
    }

    /// The operation, in a program without anything else.
    fn plain(&self) -> (Module, Op) {
        let module = planned(&self.program(&self.shapes(), "", "", self.result), "select");
        let op = find(&module, |name, kernel| kernel == Some(self.kernel) && name != "func.return");
        let op = op.unwrap_or_else(|| panic!("no `{}` in {}", self.kernel, ir::text::print(&module)));
        (module, op)
    }

    /// The program with operand `index` as a window of some columns of a wider tensor.
    fn in_rows(&self, index: usize) -> Module {
        let mut args = self.shapes();
        let wide = args[index].last_mut().expect("it has axes");
        *wide += 3;
        let mut starts = vec![0; args[index].len()];
        *starts.last_mut().expect("it has axes") = 2;
        let (from, to) = (ty(&args[index], "f32"), ty(self.args[index], "f32"));
        let (starts, sizes) = (numbers(&starts), numbers(self.args[index]));
        let view =
            format!("%v = nn.slice %{index} {{starts = {starts}, sizes = {sizes}}} : ({from}) -> {to}");
        self.reading(index, &args, &view)
    }

    /// The program with operand `index` as every second column of a wider tensor.
    fn apart(&self, index: usize) -> Module {
        let mut args = self.shapes();
        let axes = args[index].len();
        args[index][axes - 1] *= 2;
        let mut steps = vec![1; axes];
        steps[axes - 1] = 2;
        let (from, to) = (ty(&args[index], "f32"), ty(self.args[index], "f32"));
        let (starts, sizes, steps) = (numbers(&vec![0; axes]), numbers(self.args[index]), numbers(&steps));
        let view = format!(
            "%v = nn.slice %{index} {{starts = {starts}, sizes = {sizes}, strides = {steps}}} : ({from}) -> {to}"
        );
        self.reading(index, &args, &view)
    }

    fn reading(&self, index: usize, args: &[Vec<u64>], view: &str) -> Module {
        let own = format!("%{index}");
        let op: Vec<String> = self.op.split(' ').map(|word| word.replacen(&own, "%v", 1)).collect();
        let op: &'static str = Box::leak(op.join(" ").into_boxed_str());
        Example { op, ..*self }.program(args, view, "", self.result)
    }

    /// The program with the result next to another tensor in rows of a concatenation.
    fn joined(&self) -> Module {
        let mut args = self.shapes();
        let mut whole = self.result.to_vec();
        let axis = whole.len() - 1;
        whole[axis] *= 2;
        args.push(self.result.to_vec());
        let part = ty(self.result, "f32");
        let to = ty(&whole, "f32");
        let last = args.len() - 1;
        let join = format!(
            "%e = nn.exp %{last} : {part}\n%whole = nn.concat %r, %e {{axis = {axis} : i64}} : ({part}, {part}) -> {to}"
        );
        self.program(&args, "", &join, &whole)
    }
}

/// The first operation in `main` of this kind, by name and `mem.kernel`.
fn find(module: &Module, is_it: impl Fn(&str, Option<&str>) -> bool) -> Option<Op> {
    let body = module.function("main").expect("it is called so");
    let block = body.entry(body.root()).expect("it has a body");
    body.ops(block).find(|op| {
        let op = body.at(&module.ctx, *op);
        is_it(op.name(), op.text(attrs::MEM_KERNEL))
    })
}

fn planned(module: &Module, pipeline: &str) -> Module {
    let mut planned = module.clone();
    let done = optc::run_pipeline(&mut planned, pipeline, &RunOptions::new(Cpu::native()));
    done.unwrap_or_else(|failure| panic!("{failure}"));
    planned
}

/// The program with its slice as a view in place, planned; none if that is refused.
fn viewed(module: &Module) -> Option<Module> {
    let mut module = module.clone();
    let op = find(&module, |name, _| name == "nn.slice").expect("there is a slice");
    let ctx = module.ctx.clone();
    let body = module.function_mut("main").expect("it is called so");
    body.set_attr(&ctx, op, attrs::MEM_VIEW, ctx.unit_attr());
    optc::run_pipeline(&mut module, "plan", &RunOptions::new(Cpu::native())).ok()?;
    let text = ir::text::print(&module);
    assert!(text.contains(attrs::MEM_VIEW), "it is no view any more: {text}");
    codegen::compile(&module, "main", &codegen::CodegenOptions::new(1)).is_ok().then_some(module)
}

/// Compiles and runs a planned program: the results are the interpreter's, except for rounding.
fn check_run(example: &Example, module: &Module, planned: &Module) {
    let body = module.function("main").expect("it is called so");
    let args = body.args(body.entry(body.root()).expect("it has a body")).iter().enumerate();
    let mut random = Random::new(11);
    let inputs: Vec<Array> = args
        .map(|(index, arg)| {
            let shape = module.ctx.static_shape(body.ty(*arg)).expect("its sizes are known");
            let values: Vec<f32> =
                random.floats(shape.iter().product()).iter().map(|x| x.abs() + 0.25).collect();
            array(&format!("arg{index}"), &shape, &values)
        })
        .collect();
    let expected = interpret(module, &inputs);
    let options = CompileOptions { threads: 1, dead: DeadMemory::Poisoned, ..CompileOptions::default() };
    let found = execute(&mut planned.clone(), &inputs, &options);
    let found = found.unwrap_or_else(|failure| panic!("{}: {failure}", example.kernel));
    // The interpreter's arrays are said to be of f32.
    let expected = Array { element: found[0].element, ..expected[0].clone() };
    for (found, expected) in found[0].to_f64().into_iter().zip(expected.to_f64()) {
        let is_near = (found - expected).abs() <= 1e-4 * expected.abs().max(1.0);
        assert!(is_near, "{}: {found} is not {expected}\n{}", example.kernel, ir::text::print(planned));
    }
}

#[test]
fn every_row_has_an_example() {
    let rows: BTreeSet<&str> = codegen::kernels().iter().map(|row| row.name()).collect();
    let examples = EXAMPLES.iter().map(|example| example.kernel);
    // The first has no result, so it is tested in a branch condition; the others take no floats, and are
    // compared with the interpreter in tests of their own.
    assert_eq!(
        rows,
        examples
            .chain(["assert", "lookup", "pack", "quantized_conv2d", "quantized_gemm", "unpack"])
            .collect()
    );
    assert!(codegen::kernels().iter().all(|row| row.doc().ends_with('.')));
}

#[test]
fn operands_are_read_where_they_lie_if_the_row_says_so() {
    for example in EXAMPLES {
        let (plain, op) = example.plain();
        check_run(example, &plain, &planned(&plain, "inplace,plan"));
        for index in 0..example.args.len() {
            let op = plain.function("main").expect("it is called so").at(&plain.ctx, op);
            let rows = Cpu::native().reads_rows(op, index);
            let strides = Cpu::native().reads_strides(op, index);
            assert!(rows || !strides, "{}: who reads any strides reads rows", example.kernel);
            // Elements with gaps are rows of one element.
            let apart = if example.args[index].last() == Some(&1) { rows } else { strides };
            for (says, module) in [(rows, example.in_rows(index)), (apart, example.apart(index))] {
                if example.args[index].len() < 2 {
                    continue;
                }
                let in_place = viewed(&module);
                assert_eq!(in_place.is_some(), says, "operand {index} of `{}`", example.op);
                check_run(example, &module, &in_place.unwrap_or_else(|| planned(&module, "plan")));
            }
        }
    }
}

#[test]
fn results_are_written_in_rows_if_the_row_says_so() {
    for example in EXAMPLES.iter().filter(|example| example.elem == "f32") {
        let (plain, op) = example.plain();
        let op = plain.function("main").expect("it is called so").at(&plain.ctx, op);
        let rows = Cpu::native().writes_rows(op);
        let strides = Cpu::native().writes_strides(op);
        assert!(rows || !strides, "{}: who writes any strides writes rows", example.kernel);
        let module = example.joined();
        let in_place = planned(&module, "select,inplace,plan");
        let op = find(&in_place, |_, kernel| kernel == Some(example.kernel)).expect("it is there");
        let op = in_place.function("main").expect("it is called so").at(&in_place.ctx, op);
        let what = format!("{}:\n{}", example.kernel, ir::text::print(&in_place));
        assert_eq!(op.attr(attrs::MEM_PITCH).is_some(), rows, "{what}");
        check_run(example, &module, &in_place);
    }
}

#[test]
fn kernels_take_as_little_scratch_as_they_say() {
    for example in EXAMPLES {
        for threads in [1, 3] {
            let (mut plain, op) = example.plain();
            let ctx = plain.ctx.clone();
            let body = plain.function_mut("main").expect("it is called so");
            body.remove_attr(&ctx, op, attrs::MEM_SCRATCH);
            let choice = Cpu::native().select(body.at(&ctx, op), threads).expect("it was selected before");
            assert_eq!(choice.kernel, example.kernel);
            assert!(choice.least_scratch_bytes <= choice.scratch_bytes, "{}", example.kernel);
            assert!(choice.scratch_bytes <= choice.most_scratch_bytes, "{}", example.kernel);
            assert!(choice.least_scratch_bytes <= choice.enough_scratch_bytes, "{}", example.kernel);
            body.set_attr(&ctx, op, attrs::MEM_SCRATCH, ctx.int_attr(choice.least_scratch_bytes as i64));
            let least = Cpu::native().select(body.at(&ctx, op), threads).expect("it takes the least");
            assert!(least.scratch_bytes <= choice.least_scratch_bytes, "{}", example.kernel);
        }
    }
}
