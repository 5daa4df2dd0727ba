// RUN: optc --verify-diagnostics
// A group yields one value for each of its results.

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = optc.group(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{`optc.yield`: the number of yielded values is 1, found 0}}
    optc.yield
  }
  return %0 : tensor<4xf32>
}
// ----- output
