// RUN: optc --passes=inplace --remarks=inplace

func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %y = nn.neg %x : tensor<64xf32>
  %r = scf.if %c -> (tensor<64xf32>) {
    %0 = nn.abs %y : tensor<64xf32>
    scf.yield %0 : tensor<64xf32>
  } else {
    scf.yield %x : tensor<64xf32>
  }
  %s = nn.add %r, %y : tensor<64xf32>
  return %s : tensor<64xf32>
}
// ----- output
// error: expected `:` and types, found `->`
//  --> a_branch_keeps_what_is_read_behind_the_if.mlir:5:18
//   |
// 5 |   %r = scf.if %c -> (tensor<64xf32>) {
//   |                  ^
