// RUN: my-opt run --random --threads=1
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = my.softsign %x : tensor<2xf32>
  %1 = nn.relu %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
// CHECK: output `result0` [2]:
