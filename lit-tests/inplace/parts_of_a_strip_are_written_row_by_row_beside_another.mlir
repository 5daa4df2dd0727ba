// RUN: optc --passes=fuse,inplace,plan
// A column of a concatenation is itself one, whose rows are made one by one and of which one is copied. The other
// column keeps its rows meanwhile.

func.func @main(%x: tensor<1x5xf32>, %y: tensor<3x5xf32>) -> (tensor<3x10xf32>, tensor<1x5xf32>) {
  %d = nn.exp %y : tensor<3x5xf32>
  %f = nn.tanh %x : tensor<1x5xf32>
  %g = nn.neg %f : tensor<1x5xf32>
  %h = nn.sqrt %g : tensor<1x5xf32>
  %i = nn.concat %h, %g, %f {axis = 0 : i64} : (tensor<1x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<3x5xf32>
  %k = nn.concat %d, %i {axis = 1 : i64} : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x10xf32>
  return %k, %h : tensor<3x10xf32>, tensor<1x5xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x5xf32>, %arg1: tensor<3x5xf32>) -> (tensor<3x10xf32>, tensor<1x5xf32>) attributes {optc.arena = 0 : i64, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.exp %arg1 {mem.kernel = "pointwise", mem.pitch = array<i64: 20, 40>, mem.place = [["out", 0, 60, 0, 20, 40]]} : tensor<3x5xf32>
//     %1 = nn.tanh %arg0 {mem.kernel = "pointwise", mem.place = [["out", 0, 20, 100, 20, 20]]} : tensor<1x5xf32>
//     %2 = nn.neg %1 {mem.kernel = "pointwise", mem.place = [["out", 0, 20, 60, 20, 20]]} : tensor<1x5xf32>
//     %3 = nn.sqrt %2 {mem.kernel = "pointwise", mem.place = [["out", 1, 20]]} : tensor<1x5xf32>
//     %4 = nn.concat %3, %2, %1 {axis = 0 : i64, mem.kernel = "copy", mem.parts = array<i64: 1, 2>, mem.pitch = array<i64: 20, 40>, mem.place = [["out", 0, 60, 20, 20, 40]]} : (tensor<1x5xf32>, tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<3x5xf32>
//     %5 = nn.concat %0, %4 {axis = 1 : i64, mem.parts = array<i64: 0, 1>, mem.place = [["out", 0, 120]]} : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x10xf32>
//     return %5, %3 : tensor<3x10xf32>, tensor<1x5xf32>
//   }
// }
