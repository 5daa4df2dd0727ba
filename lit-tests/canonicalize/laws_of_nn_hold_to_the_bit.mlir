// RUN: optc --passes=canonicalize
// `canonicalize` applies only those laws of `nn` that change no bit. `x + 0.0` and `0.0 - x` stay because of
// the sign of zero, and a product that broadcasts stays because of its shape.

func.func @applies(%x: tensor<4xf32>, %y: tensor<2x2xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
  %zero = nn.constant dense<0.0> : tensor<4xf32>
  %one = nn.constant dense<1.0> : tensor<4xf32>
  %0 = nn.sub %x, %zero : tensor<4xf32>
  %1 = nn.mul %one, %0 : tensor<4xf32>
  %2 = nn.div %1, %one : tensor<4xf32>
  %3 = nn.neg %2 : tensor<4xf32>
  %4 = nn.neg %3 : tensor<4xf32>
  %5 = nn.relu %4 : tensor<4xf32>
  %6 = nn.relu %5 : tensor<4xf32>
  %7 = nn.reshape %y {shape = array<i64: 4>} : (tensor<2x2xf32>) -> tensor<4xf32>
  %8 = nn.reshape %7 {shape = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>
  return %6, %8 : tensor<4xf32>, tensor<2x2xf32>
}

func.func @refuses(%x: tensor<4xf32>, %y: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = nn.constant dense<0.0> : tensor<4xf32>
  %one = nn.constant dense<1.0> : tensor<4xf32>
  %0 = nn.add %x, %zero : tensor<4xf32>
  %1 = nn.mul %y, %one : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = nn.sub %zero, %x : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// ----- output
// module {
//   func.func @applies(%arg0: tensor<4xf32>, %arg1: tensor<2x2xf32>) -> (tensor<4xf32>, tensor<2x2xf32>) {
//     %0 = nn.relu %arg0 : tensor<4xf32>
//     return %0, %arg1 : tensor<4xf32>, tensor<2x2xf32>
//   }
//   func.func @refuses(%arg0: tensor<4xf32>, %arg1: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
//     %0 = nn.constant dense<0.000000e+00> : tensor<4xf32>
//     %1 = nn.constant dense<1.000000e+00> : tensor<4xf32>
//     %2 = nn.add %arg0, %0 : tensor<4xf32>
//     %3 = nn.mul %arg1, %1 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
//     %4 = nn.sub %0, %arg0 : tensor<4xf32>
//     return %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
//   }
// }
