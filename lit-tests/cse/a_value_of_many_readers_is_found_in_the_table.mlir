// RUN: optc --passes=cse
// The duplicate is found through the readers of an operand; with many readers a hash table replaces the scan.
// Both ways must find the same duplicates.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  %1 = nn.neg %x : tensor<4xf32>
  %2 = nn.abs %x : tensor<4xf32>
  %3 = nn.sqrt %x : tensor<4xf32>
  %4 = nn.floor %x : tensor<4xf32>
  %5 = nn.ceil %x : tensor<4xf32>
  %6 = nn.tanh %x : tensor<4xf32>
  %7 = nn.erf %x : tensor<4xf32>
  %8 = nn.add %x, %x : tensor<4xf32>
  %9 = nn.exp %x : tensor<4xf32>
  %10 = nn.add %x, %x : tensor<4xf32>
  %11 = nn.concat %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10 {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<44xf32>
  %12 = nn.slice %11 {starts = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<44xf32>) -> tensor<4xf32>
  return %12 : tensor<4xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
//     %0 = nn.exp %arg0 : tensor<4xf32>
//     %1 = nn.neg %arg0 : tensor<4xf32>
//     %2 = nn.abs %arg0 : tensor<4xf32>
//     %3 = nn.sqrt %arg0 : tensor<4xf32>
//     %4 = nn.floor %arg0 : tensor<4xf32>
//     %5 = nn.ceil %arg0 : tensor<4xf32>
//     %6 = nn.tanh %arg0 : tensor<4xf32>
//     %7 = nn.erf %arg0 : tensor<4xf32>
//     %8 = nn.add %arg0, %arg0 : tensor<4xf32>
//     %9 = nn.concat %0, %1, %2, %3, %4, %5, %6, %7, %8, %0, %8 {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<44xf32>
//     %10 = nn.slice %9 {sizes = array<i64: 4>, starts = array<i64: 0>, strides = array<i64: 1>} : (tensor<44xf32>) -> tensor<4xf32>
//     return %10 : tensor<4xf32>
//   }
// }
