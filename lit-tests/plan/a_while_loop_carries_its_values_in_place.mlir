// RUN: optc --passes=plan

func.func @main(%limit: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  %y = nn.neg %x : tensor<f32>
  %r = scf.while (%a = %y) : (tensor<f32>) -> (tensor<f32>) {
    %c = nn.lt %a, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %t = "tensor.extract"(%c) : (tensor<i1>) -> i1
    scf.condition(%t) %a : tensor<f32>
  } do {
  ^bb0(%b: tensor<f32>):
    %d = nn.add %b, %b : tensor<f32>
    scf.yield %d : tensor<f32>
  }
  return %r : tensor<f32>
}
// ----- output
// error: expected `:` and types, found `(`
//  --> a_while_loop_carries_its_values_in_place.mlir:5:18
//   |
// 5 |   %r = scf.while (%a = %y) : (tensor<f32>) -> (tensor<f32>) {
//   |                  ^
