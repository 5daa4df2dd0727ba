// RUN: optc --passes=plan

// The two regions' values lie on each other; what they yield is made where the result is.
func.func @main(%c: i1, %x: tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.if %c -> (tensor<64xf32>) {
    %0 = nn.neg %x : tensor<64xf32>
    %1 = nn.abs %0 : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  } else {
    %0 = nn.sqrt %x : tensor<64xf32>
    %1 = nn.floor %0 : tensor<64xf32>
    scf.yield %1 : tensor<64xf32>
  }
  %s = nn.ceil %r : tensor<64xf32>
  return %s : tensor<64xf32>
}
// ----- output
// error: expected `:` and types, found `->`
//  --> the_branches_of_an_if_share_bytes.mlir:5:18
//   |
// 5 |   %r = scf.if %c -> (tensor<64xf32>) {
//   |                  ^
