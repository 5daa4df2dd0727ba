// RUN: optc --passes=integers
// A table of words stays bytes: what is picked from it is dequantized. A scale for each word can't be left
// for later, and one with more axes than what is picked would give it more. A negative one may be left.

func.func @main(%i: tensor<5xi64>, %n: tensor<i64>) -> (tensor<5x4xf32>, tensor<5x4xf32>, tensor<4xf32>) {
  %w = nn.constant dense<3> : tensor<9x4xi8>
  %z = nn.constant dense<1> : tensor<i8>
  %s = nn.constant dense<-0.5> : tensor<f32>
  %t = nn.constant dense<0.5> : tensor<9x1xf32>
  %u = nn.constant dense<0.5> : tensor<1x1xf32>
  %0 = nn.cast %w {to = f32} : (tensor<9x4xi8>) -> tensor<9x4xf32>
  %1 = nn.cast %z {to = f32} : (tensor<i8>) -> tensor<f32>
  %2 = nn.sub %0, %1 : (tensor<9x4xf32>, tensor<f32>) -> tensor<9x4xf32>
  %3 = nn.mul %2, %s : (tensor<9x4xf32>, tensor<f32>) -> tensor<9x4xf32>
  %4 = nn.gather %3, %i {axis = 0 : i64} : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
  %5 = nn.mul %2, %t : (tensor<9x4xf32>, tensor<9x1xf32>) -> tensor<9x4xf32>
  %6 = nn.gather %5, %i {axis = 0 : i64} : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
  %7 = nn.mul %2, %u : (tensor<9x4xf32>, tensor<1x1xf32>) -> tensor<9x4xf32>
  %8 = nn.gather %7, %n {axis = 0 : i64} : (tensor<9x4xf32>, tensor<i64>) -> tensor<4xf32>
  return %4, %6, %8 : tensor<5x4xf32>, tensor<5x4xf32>, tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<5xi64>, %arg1: tensor<i64>) -> (tensor<5x4xf32>, tensor<5x4xf32>, tensor<4xf32>) {
//     %0 = nn.constant dense<3> : tensor<9x4xi8>
//     %1 = nn.constant dense<1> : tensor<i8>
//     %2 = nn.constant dense<-5.000000e-01> : tensor<f32>
//     %3 = nn.constant dense<5.000000e-01> : tensor<9x1xf32>
//     %4 = nn.constant dense<5.000000e-01> : tensor<1x1xf32>
//     %5 = nn.cast %0 {to = f32} : (tensor<9x4xi8>) -> tensor<9x4xf32>
//     %6 = nn.cast %1 {to = f32} : (tensor<i8>) -> tensor<f32>
//     %7 = nn.sub %5, %6 : (tensor<9x4xf32>, tensor<f32>) -> tensor<9x4xf32>
//     %8 = nn.gather %0, %arg0 {axis = 0 : i64} : (tensor<9x4xi8>, tensor<5xi64>) -> tensor<5x4xi8>
//     %9 = nn.cast %8 {to = f32} : (tensor<5x4xi8>) -> tensor<5x4xf32>
//     %10 = nn.sub %9, %6 : (tensor<5x4xf32>, tensor<f32>) -> tensor<5x4xf32>
//     %11 = nn.mul %10, %2 : (tensor<5x4xf32>, tensor<f32>) -> tensor<5x4xf32>
//     %12 = nn.mul %7, %3 : (tensor<9x4xf32>, tensor<9x1xf32>) -> tensor<9x4xf32>
//     %13 = nn.gather %12, %arg0 {axis = 0 : i64} : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
//     %14 = nn.mul %7, %4 : (tensor<9x4xf32>, tensor<1x1xf32>) -> tensor<9x4xf32>
//     %15 = nn.gather %14, %arg1 {axis = 0 : i64} : (tensor<9x4xf32>, tensor<i64>) -> tensor<4xf32>
//     return %11, %13, %15 : tensor<5x4xf32>, tensor<5x4xf32>, tensor<4xf32>
//   }
// }
