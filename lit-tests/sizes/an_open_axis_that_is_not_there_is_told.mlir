// RUN: optc run --random=1 --threads=1
// `optc.open` names an axis that result 0 does not have. That is an error, not an access out of range.

func.func @main(%x: tensor<3xf32>, %c: tensor<3xf32>) -> (tensor<3xf32> {optc.open = array<i64: 1, 1>}, tensor<i64> {optc.count}) {
  %b = nn.cast %c {to = i1} : (tensor<3xf32>) -> tensor<3xi1>
  %0, %1 = nn.compress %x, %b : (tensor<3xf32>, tensor<3xi1>) -> (tensor<3xf32>, tensor<i64>)
  return %0, %1 : tensor<3xf32>, tensor<i64>
}
// ----- output
// error: `optc.open` of result 0 is axis 1 with result 1, expected an axis below 1 and a tensor<i64>
