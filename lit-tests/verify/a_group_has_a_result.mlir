// RUN: optc --verify-diagnostics
// A group is one step that computes what it yields.

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{`optc.group`: a group without results computes nothing}}
  optc.group(%a = %x) : (tensor<4xf32>) -> () {
    optc.yield
  }
  return
}
// ----- output
