// RUN: optc --verify-diagnostics
// `cf.switch` needs one case value per case block, of the flag's type.

func.func @f(%i: i32) {
  // expected-error@+1 {{`cf.switch`: 2 `case_values` for 1 blocks of cases}}
  "cf.switch"(%i)[^bb1, ^bb1] <{case_operand_segments = array<i32: 0>, case_values = dense<[1, 2]> : vector<2xi32>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb1:
  // expected-error@+1 {{`cf.switch`: `case_values` are not of the flag's type}}
  "cf.switch"(%i)[^bb2, ^bb2] <{case_operand_segments = array<i32: 0>, case_values = dense<1> : vector<1xi64>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
^bb2:
  // expected-error@+1 {{`cf.switch`: 1 blocks of cases have no `case_values`}}
  "cf.switch"(%i)[^bb2, ^bb2] <{case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
}
// ----- output
