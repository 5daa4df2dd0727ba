// RUN: optc --verify-diagnostics
// `operandSegmentSizes` adds up to the number of operands; otherwise a branch would pass values to the wrong
// block.

func.func @f(%c: i1, %x: f32) {
  // expected-error@+1 {{`operandSegmentSizes` of `cf.cond_br` is an `array<i32: ...>` that divides its 2 operands among condition, true arguments, false arguments}} expected-error@+1 {{`cf.cond_br` does not say which operands it passes to each block}}
  "cf.cond_br"(%c, %x)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, f32) -> ()
^bb1(%a: f32):
  return
^bb2:
  return
}
// ----- output
