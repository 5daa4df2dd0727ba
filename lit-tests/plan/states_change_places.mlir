// RUN: optc --passes=inplace,plan

func.func @main(%a: tensor<64xf32> {optc.state}, %b: tensor<64xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}, tensor<64xf32> {optc.state = 0 : i64}) {
  return %a, %b : tensor<64xf32>, tensor<64xf32>
}
