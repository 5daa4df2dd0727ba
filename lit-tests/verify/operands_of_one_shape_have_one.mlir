// RUN: optc --verify-diagnostics
// Operands and results that must share a shape do, though their element types may differ.

func.func @f(%a: vector<4xi32>) {
  // expected-error@+1 {{operands and results of `arith.extsi` have one shape, found `vector<4xi32>` and `vector<5xi64>`}}
  %0 = arith.extsi %a : vector<4xi32> to vector<5xi64>
  return
}
// ----- output
