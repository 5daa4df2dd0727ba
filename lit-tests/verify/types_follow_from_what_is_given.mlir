// RUN: optc --verify-diagnostics
// Each inference of `nn` refuses operands that do not fit, with one error for each way to be wrong.

func.func @f(%s: tensor<f32>, %a: tensor<4xf32>, %b: tensor<3xf32>, %ab: tensor<4x3xf32>, %i: tensor<4xi32>, %t: tensor<4xi1>, %u: tensor<*xf32>, %x: tensor<1x3x8x8xf32>, %w: tensor<6x3x3x3xf32>, %h: tensor<4xf16>, %d: tensor<?xf32>, %n: tensor<?x4xf32, #optc.dims<N>>, %z: tensor<4x0xf32>, %v: tensor<6x3x?x?xf32>, %wh: tensor<6x3x3x3xf16>, %w6: tensor<6x3x3x3xf32>, %x12: tensor<1x12x8x8xf32>, %hab: tensor<4x3xf16>, %c: tensor<4x4xf32>, %sq: tensor<3x3xf32>, %huge: tensor<9223372036854775807xi8>, %tt: tensor<2x4xi1>) {
  // expected-error@+1 {{`nn.add`: sizes 4 and 3 of axis 0 do not broadcast}}
  %0 = "nn.add"(%a, %b) : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.add`: operands 0 and 1 differ in element type}}
  %1 = "nn.add"(%a, %h) : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.arg_max`: there is no element along `axis`}}
  %2 = "nn.arg_max"(%z) <{axis = 1 : i64}> : (tensor<4x0xf32>) -> tensor<4xi64>
  // expected-error@+1 {{`nn.softmax`: axis 3 is not one of the operand's 1}}
  %3 = "nn.softmax"(%a) <{axis = 3 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.conv2d`: the filter has not 4 axes}}
  %4 = "nn.conv2d"(%x, %a) : (tensor<1x3x8x8xf32>, tensor<4xf32>) -> tensor<1x6x8x8xf32>
  // expected-error@+1 {{`nn.conv2d`: the filter's rows and columns are not known}}
  %5 = "nn.conv2d"(%x, %v) : (tensor<1x3x8x8xf32>, tensor<6x3x?x?xf32>) -> tensor<1x6x8x8xf32>
  // expected-error@+1 {{`nn.conv2d`: channels of input and filter: 3 and 12 differ}}
  %6 = "nn.conv2d"(%x, %w) <{groups = 4 : i64}> : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x8x8xf32>
  // expected-error@+1 {{`nn.matmul`: the bias differs in element type from the other operands}}
  %half = "nn.matmul"(%c, %c, %h) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf16>) -> tensor<4x4xf32>
  // expected-error@+1 {{`nn.conv2d`: input and filter differ in element type}}
  %7 = "nn.conv2d"(%x, %wh) : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf16>) -> tensor<1x6x8x8xf32>
  // expected-error@+1 {{`nn.conv2d`: the bias is not a tensor of one axis}}
  %8 = "nn.conv2d"(%x, %w, %ab) : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>, tensor<4x3xf32>) -> tensor<1x6x8x8xf32>
  // expected-error@+1 {{`nn.conv2d`: sizes of bias and result channels: 4 and 6 differ}}
  %9 = "nn.conv2d"(%x, %w, %a) : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>, tensor<4xf32>) -> tensor<1x6x8x8xf32>
  // expected-error@+1 {{`nn.matmul`: a tensor without axes is no matrix}}
  %10 = "nn.matmul"(%s, %ab) : (tensor<f32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  // expected-error@+1 {{`nn.matmul`: the operands differ in element type}}
  %11 = "nn.matmul"(%ab, %h) : (tensor<4x3xf32>, tensor<4xf16>) -> tensor<4x3xf32>
  // expected-error@+1 {{`nn.reduce_sum`: axis 3 is not one of the operand's 1}}
  %12 = "nn.reduce_sum"(%a) <{axes = array<i64: 3>}> : (tensor<4xf32>) -> tensor<f32>
  // expected-error@+1 {{`nn.sizes`: `value` has a size that is not given}}
  %13 = "nn.sizes"() <{value = #optc.dims<_>}> : () -> tensor<1xi64>
  // expected-error@+1 {{`nn.iota`: `size` is not one size that is a number or follows from named ones}}
  %14 = "nn.iota"() <{size = array<i64: 1, 2>}> : () -> tensor<1xi64>
  // expected-error@+1 {{`nn.pad`: `low` and `high` do not have 1 numbers each}}
  %15 = "nn.pad"(%a) <{low = array<i64: 1, 2>, high = array<i64: 1>}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.pad`: a padded size is below zero}}
  %16 = "nn.pad"(%a) <{low = array<i64: -9>, high = array<i64: 1>}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.repeat`: `counts` has 2 numbers for 1 axes}}
  %17 = "nn.repeat"(%a) <{counts = array<i64: 1, 2>}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.bitcast`: the bits of an element are no element of type `to`}}
  %18 = "nn.bitcast"(%t) <{to = f32}> : (tensor<4xi1>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.reshape`: at most one size of `shape` is not given}}
  %19 = "nn.reshape"(%a) <{shape = #optc.dims<_, _>}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.reshape`: 4 elements do not fit the shape [5]}}
  %20 = "nn.reshape"(%a) <{shape = array<i64: 5>}> : (tensor<4xf32>) -> tensor<5xf32>
  // expected-error@+1 {{`nn.transpose`: [0, 0] is no permutation of the operand's 2 axes}}
  %21 = "nn.transpose"(%ab) <{permutation = array<i64: 0, 0>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // expected-error@+1 {{`nn.slice`: a size of the window is not given}}
  %22 = "nn.slice"(%a) <{starts = array<i64: 0>, sizes = #optc.dims<_>}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.slice`: `starts`, `sizes` and `strides` do not have 1 numbers each}}
  %23 = "nn.slice"(%a) <{starts = array<i64: 0, 0>, sizes = array<i64: 1>}> : (tensor<4xf32>) -> tensor<1xf32>
  // expected-error@+1 {{`nn.slice`: the window along axis 0 leaves the operand}}
  %24 = "nn.slice"(%a) <{starts = array<i64: 2>, sizes = array<i64: 3>}> : (tensor<4xf32>) -> tensor<3xf32>
  // expected-error@+1 {{`nn.insert_slice`: the operands differ in element type or number of axes}}
  %25 = "nn.insert_slice"(%h, %a) <{starts = array<i64: 2>}> : (tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.insert_slice`: the sizes of the first operand are not known}}
  %26 = "nn.insert_slice"(%d, %a) <{starts = array<i64: 0>}> : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.broadcast`: an operand of 2 axes does not stretch to [3]}}
  %27 = "nn.broadcast"(%ab) <{shape = array<i64: 3>}> : (tensor<4x3xf32>) -> tensor<3xf32>
  // expected-error@+1 {{`nn.broadcast`: a size that is not 1 does not stretch}}
  %28 = "nn.broadcast"(%a) <{shape = array<i64: 8>}> : (tensor<4xf32>) -> tensor<8xf32>
  // expected-error@+1 {{`nn.concat`: `axis` is not one of the operands' 1 axes}}
  %29 = "nn.concat"(%a, %b) <{axis = 3 : i64}> : (tensor<4xf32>, tensor<3xf32>) -> tensor<7xf32>
  // expected-error@+1 {{`nn.concat`: operands 0 and 1 differ in axes or element type}}
  %30 = "nn.concat"(%a, %ab) <{axis = 0 : i64}> : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<7xf32>
  // expected-error@+1 {{`nn.max_pool2d`: operand 0 has too few axes, expected 4}}
  %31 = "nn.max_pool2d"(%a) <{kernel = array<i64: 2, 2>}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.max_pool2d`: `kernel` is [2], not 2 numbers of at least 1}}
  %32 = "nn.max_pool2d"(%x) <{kernel = array<i64: 2>}> : (tensor<1x3x8x8xf32>) -> tensor<1x7x7x3xf32>
  // expected-error@+1 {{`nn.max_pool2d`: a window of [9, 9] does not fit an image of size 8}}
  %33 = "nn.max_pool2d"(%x) <{kernel = array<i64: 9, 9>}> : (tensor<1x3x8x8xf32>) -> tensor<1x7x7x3xf32>
  // expected-error@+1 {{`nn.softmax`: axis 0 is not one of the operand's 0}}
  %34 = "nn.softmax"(%u) <{axis = 0 : i64}> : (tensor<*xf32>) -> tensor<*xf32>
  // expected-error@+1 {{`nn.reshape`: `shape` is [-4], with a size below 0}}
  %35 = "nn.reshape"(%a) <{shape = array<i64: -4>}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.reduce_sum`: operand 0 is not a ranked tensor}}
  %36 = "nn.reduce_sum"(%u) <{axes = array<i64: 0>}> : (tensor<*xf32>) -> tensor<f32>
  // expected-error@+1 {{`nn.slice`: `starts` is [-2], with a size below 0}}
  %37 = "nn.slice"(%a) <{starts = array<i64: -2>, sizes = array<i64: 3>}> : (tensor<4xf32>) -> tensor<3xf32>
  // expected-error@+1 {{`nn.transpose`: operand 0 is not a ranked tensor}}
  %38 = "nn.transpose"(%u) <{permutation = array<i64: 0, 0>}> : (tensor<*xf32>) -> tensor<4x3xf32>
  // expected-error@+1 {{`nn.select`: the condition's elements are not `i1`}}
  %39 = "nn.select"(%i, %a, %a) : (tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.bitcast`: bits need not be a truth value}}
  %40 = "nn.bitcast"(%a) <{to = i1}> : (tensor<4xf32>) -> tensor<4xi1>
  // expected-error@+1 {{`nn.arg_max`: `axis` is not one of the operand's axes}}
  %41 = "nn.arg_max"(%a) <{axis = 2 : i64}> : (tensor<4xf32>) -> tensor<4xi64>
  // expected-error@+1 {{`nn.gather`: `axis` is not one of the operand's axes}}
  %42 = "nn.gather"(%a, %i) <{axis = 2 : i64}> : (tensor<4xf32>, tensor<4xi32>) -> tensor<3xf32>
  // expected-error@+1 {{`nn.repeat`: a count is not at least 1}}
  %43 = "nn.repeat"(%a) <{counts = array<i64: -1>}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.conv2d`: 4 groups do not divide the filter's output channels}}
  %44 = "nn.conv2d"(%x12, %w6) <{groups = 4 : i64}> : (tensor<1x12x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x8x8xf32>
  // expected-error@+1 {{`nn.matmul`: columns of the left matrix and rows of the right: 3 and 4 differ}}
  %45 = "nn.matmul"(%ab, %ab) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  // expected-error@+1 {{`nn.add`: operand 1 is not a ranked tensor}}
  %46 = "nn.add"(%a, %u) : (tensor<4xf32>, tensor<*xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.max_pool2d`: `kernel` is [0, 2], not 2 numbers of at least 1}}
  %47 = "nn.max_pool2d"(%x) <{kernel = array<i64: 0, 2>}> : (tensor<1x3x8x8xf32>) -> tensor<1x7x7x3xf32>
  // expected-error@+1 {{`nn.sizes`: `value` has only numbers, which `nn.constant` is for}}
  %48 = "nn.sizes"() <{value = array<i64: 3>}> : () -> tensor<1xi64>
  // expected-error@+1 {{`nn.concat`: sizes 3 and 4 of axis 1 differ}}
  %49 = "nn.concat"(%ab, %c) <{axis = 0 : i64}> : (tensor<4x3xf32>, tensor<4x4xf32>) -> tensor<8x3xf32>
  // expected-error@+1 {{`nn.conv2d`: `groups` is not a positive number}}
  %80 = "nn.conv2d"(%x, %w) <{groups = 0 : i64}> : (tensor<1x3x8x8xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x8x8xf32>
  // expected-error@+1 {{`nn.conv2d`: the input has not 4 axes}}
  %81 = "nn.conv2d"(%a, %w) : (tensor<4xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x8x8xf32>
  // expected-error@+1 {{`nn.repeat`: a size is too large}}
  %82 = "nn.repeat"(%a) <{counts = array<i64: 9223372036854775807>}> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{`nn.concat`: too many elements}}
  %83 = "nn.concat"(%huge, %huge, %huge) <{axis = 0 : i64}> : (tensor<9223372036854775807xi8>, tensor<9223372036854775807xi8>, tensor<9223372036854775807xi8>) -> tensor<4xi8>
  // expected-error@+1 {{`nn.compress`: the condition has more than one axis, or none}}
  %84, %85 = "nn.compress"(%a, %tt) : (tensor<4xf32>, tensor<2x4xi1>) -> (tensor<4xf32>, tensor<i64>)
  return
}
// ----- output
