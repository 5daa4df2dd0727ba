// RUN: optc --passes=inplace

// Only one of the branches runs.
func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %y = nn.neg %x : tensor<64xf32>
  %r = scf.if %c -> (tensor<64xf32>) {
    %0 = nn.abs %y : tensor<64xf32>
    scf.yield %0 : tensor<64xf32>
  } else {
    %0 = nn.floor %y : tensor<64xf32>
    scf.yield %0 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
// ----- output
// error: expected `:` and types, found `->`
//  --> each_branch_overwrites_what_only_it_reads_last.mlir:6:18
//   |
// 6 |   %r = scf.if %c -> (tensor<64xf32>) {
//   |                  ^
