// RUN: optc --passes=plan
// A result that claims to be the next state of an ordinary argument is an error: there are no bytes that live
// on.

func.func @main(%a: tensor<64xf32>) -> (tensor<64xf32> {optc.state = 0 : i64}) {
  %0 = nn.neg %a : tensor<64xf32>
  return %0 : tensor<64xf32>
}
// ----- output
// error: result 0 is the next state of argument 0, which is no state
