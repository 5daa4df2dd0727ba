// RUN: optc --verify-diagnostics
// Whoever reads a planned text may count on operands' numbers that exist and on places of their form: a text that
// lies about them would make later stages panic.

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{`mem.tie` is a list with an operand's number for each result, or -1, found `array<i64: 99>`}}
  %0 = nn.exp %x {mem.tie = array<i64: 99>} : tensor<4xf32>
  // expected-error@+1 {{`mem.tie` is a list with an operand's number for each result, or -1, found `array<i64: 0, 0>`}}
  %1 = nn.exp %x {mem.tie = array<i64: 0, 0>} : tensor<4xf32>
  // expected-error@+1 {{`mem.tie` is a list with an operand's number for each result, or -1, found `array<i64: -2>`}}
  %2 = nn.exp %x {mem.tie = array<i64: -2>} : tensor<4xf32>
  // expected-error@+1 {{`mem.parts` is a list of operands' numbers, found `array<i64: 2>`}}
  %3 = nn.concat %x, %y {axis = 0, mem.parts = array<i64: 2>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  // expected-error@+1 {{`mem.overlap` is an operand's number and how many rows are written at a time, found `array<i64: 0, 0>`}}
  %4 = nn.exp %x {mem.overlap = array<i64: 0, 0>} : tensor<4xf32>
  // expected-error@+1 {{`mem.overlap` is an operand's number and how many rows are written at a time, found `array<i64: 1, 2>`}}
  %5 = nn.exp %x {mem.overlap = array<i64: 1, 2>} : tensor<4xf32>
  // expected-error@+1 {{`mem.pitch` is the bytes of a row, and those from row to row, found `array<i64: 8, 4>`}}
  %6 = nn.exp %x {mem.pitch = array<i64: 8, 4>} : tensor<4xf32>
  // expected-error@+1 {{`mem.scratch` is a number of bytes, found `-1 : i64`}}
  %7 = nn.exp %x {mem.scratch = -1} : tensor<4xf32>
  // expected-error@+1 {{`mem.place` is for each result, then for scratch, a pool, an offset and bytes, found `[["arena", 0]]`}}
  %8 = nn.exp %x {mem.place = [["arena", 0]]} : tensor<4xf32>
  // expected-error@+1 {{`mem.place` is for each result, then for scratch, a pool, an offset and bytes, found `[[0, 0, 0]]`}}
  %9 = nn.exp %x {mem.place = [[0, 0, 0]]} : tensor<4xf32>
  // expected-error@+1 {{`mem.pool` is a list of names of pools, found `[3]`}}
  %10 = nn.exp %x {mem.pool = [3]} : tensor<4xf32>
  // expected-error@+1 {{`mem.method` is the name of an algorithm, found `4 : i64`}}
  %12 = nn.exp %x {mem.method = 4} : tensor<4xf32>
  %11 = nn.add %x, %y {mem.tie = array<i64: 1>, mem.place = [["arena", 0, 16], ["arena", 64, 0]], mem.scratch = 0} : tensor<4xf32>
  return
}
// ----- output
