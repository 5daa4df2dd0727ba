// RUN: optc --passes=inplace,plan

func.func @main(%x: tensor<64xf32>, %a: tensor<64xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}, tensor<64xf32>) {
  %0 = nn.add %a, %x : tensor<64xf32>
  %1 = nn.mul %0, %a : tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}
