// RUN: optc run --random=1 --threads=1
// Only the columns of the 3 whose number in %c is above 0 are kept. The output is cut from its upper bound to
// that count after the run.

func.func @main(%x: tensor<2x3xf32> {optc.name = "x"}, %c: tensor<3xf32> {optc.name = "c"}) -> (tensor<3x2xf32> {optc.name = "y", optc.open = array<i64: 0, 1>}, tensor<i64> {optc.name = "y.size0", optc.count}) {
  %0 = nn.constant dense<0.0> : tensor<f32>
  %1 = nn.gt %c, %0 : (tensor<3xf32>, tensor<f32>) -> tensor<3xi1>
  %2, %3 = nn.compress %x, %1 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<3xi1>) -> (tensor<2x3xf32>, tensor<i64>)
  %4 = nn.exp %2 : tensor<2x3xf32>
  %5 = nn.transpose %4 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %5, %3 : tensor<3x2xf32>, tensor<i64>
}
// ----- output
// output `y` [2, 2]: 2.36786, 0.85114, 1.96073, 1.44584
// arena 24 bytes, optimal for this order and these kernels; 3.5 times less than without reuse (83 bytes); weights 64 bytes
