// A group whose body is a bitcast alone: it is refused, though it is valid.

func.func @main(%a0: tensor<i32>) -> tensor<f32> {
  %p0 = nn.neg %a0 : tensor<i32>
  %r0 = optc.group(%x0 = %p0) : (tensor<i32>) -> tensor<f32> {
    %v0 = nn.bitcast %x0 {to = f32} : (tensor<i32>) -> tensor<f32>
    optc.yield %v0 : tensor<f32>
  }
  return %r0 : tensor<f32>
}
