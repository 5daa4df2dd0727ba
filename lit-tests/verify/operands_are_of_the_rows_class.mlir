// RUN: optc --verify-diagnostics
// Each operand's type is in the class that its row names. The error says which types are allowed.

func.func @f(%a: i32, %b: si32) {
  // expected-error@+1 {{operand 0 (`lhs`) of `arith.addf` is a float, or a vector or tensor of floats, found `i32`}} expected-error@+1 {{operand 1 (`rhs`)}} expected-error@+1 {{result 0}}
  %0 = arith.addf %a, %a : i32
  // expected-error@+1 {{operand 0 (`lhs`) of `arith.addi` is an integer without a sign or index, or a vector or tensor of them, found `si32`}} expected-error@+1 {{operand 1}} expected-error@+1 {{result 0}}
  %1 = arith.addi %b, %b : si32
  return
}

func.func @g(%x: f32, %n: index, %t: tensor<4xf32>, %u: tensor<4xi32>) {
  // expected-error@+1 {{operand 0 (`in`) of `arith.extsi` is an integer without a sign, or a vector or tensor of them, found `index`}}
  %0 = "arith.extsi"(%n) : (index) -> i64
  // expected-error@+1 {{operand 0 (`in`) of `arith.bitcast` is a float or an integer without a sign, or a vector or tensor of them, found `index`}}
  %1 = "arith.bitcast"(%n) : (index) -> i64
  // expected-error@+1 {{operand 0 (`condition`) of `arith.select` is an `i1`, or a vector or tensor of them, found `f32`}}
  %2 = "arith.select"(%x, %x, %x) : (f32, f32, f32) -> f32
  // expected-error@+1 {{operand 0 (`lower`) of `scf.for` is an integer without a sign, or an `index`, found `f32`}} expected-error@+1 {{operand 1}} expected-error@+1 {{operand 2}}
  "scf.for"(%x, %x, %x) ({
  ^bb0(%j: f32):
    "scf.yield"() : () -> ()
  }) : (f32, f32, f32) -> ()
  // expected-error@+1 {{operand 0 (`x`) of `nn.reduce_sum` is a tensor, found `f32`}}
  %3 = "nn.reduce_sum"(%x) <{axes = array<i64: 0>}> : (f32) -> tensor<f32>
  // expected-error@+1 {{operand 0 (`x`) of `nn.softmax` is a tensor of floats, found `tensor<4xi32>`}}
  %4 = "nn.softmax"(%u) <{axis = 0 : i64}> : (tensor<4xi32>) -> tensor<4xf32>
  // expected-error@+1 {{operand 1 (`indices`) of `nn.gather` is a tensor of integers, found `tensor<4xf32>`}}
  %5 = "nn.gather"(%t, %t) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// ----- output
