// RUN: optc --passes=cse,dce,simplify
// Two fills that are equal stay two: each is made for a loop that overwrites it. One for both would have to
// be copied.

func.func @main(%i: tensor<1xi64>, %x: tensor<1x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y = optc.fill {shape = array<i64: 4, 8>, to = f32} : tensor<4x8xf32>
  %z = optc.fill {shape = array<i64: 4, 8>, to = f32} : tensor<4x8xf32>
  %a = nn.scatter %y, %i, %x : (tensor<4x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %n = nn.neg %x : tensor<1x8xf32>
  %b = nn.scatter %z, %i, %n : (tensor<4x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1xi64>, %arg1: tensor<1x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {optc.stage = "simplify"} {
//     %0 = optc.fill {shape = array<i64: 4, 8>, to = f32} : tensor<4x8xf32>
//     %1 = optc.fill {shape = array<i64: 4, 8>, to = f32} : tensor<4x8xf32>
//     %2 = nn.scatter %0, %arg0, %arg1 : (tensor<4x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<4x8xf32>
//     %3 = nn.neg %arg1 : tensor<1x8xf32>
//     %4 = nn.scatter %1, %arg0, %3 : (tensor<4x8xf32>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<4x8xf32>
//     return %2, %4 : tensor<4x8xf32>, tensor<4x8xf32>
//   }
// }
