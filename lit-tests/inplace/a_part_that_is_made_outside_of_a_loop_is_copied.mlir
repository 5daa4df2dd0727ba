// RUN: optc --passes=inplace --remarks=inplace
// Made at its place in the result, it would be there in the first iteration only: the buffer of the result
// holds other values until the next.

func.func @main(%x: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %n = arith.constant 3 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = nn.exp %x : tensor<4x8xf32>
  %start = nn.constant dense<0.0> : tensor<8x8xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %start) -> (tensor<8x8xf32>) {
    %1 = nn.neg %x : tensor<4x8xf32>
    %2 = nn.concat %0, %1 {axis = 0} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
    %3 = nn.add %2, %a : tensor<8x8xf32>
    scf.yield %3 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}
