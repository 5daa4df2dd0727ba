// RUN: optc --passes=layout
// A scalar has no axes that a reshape could add or drop, so what reads its bits stays after the cast.

func.func @main(%x: i32) -> f32 {
  %0 = arith.bitcast %x : i32 to f32
  %1 = arith.negf %0 : f32
  return %1 : f32
}
// ----- output
// module {
//   func.func @main(%arg0: i32) -> f32 attributes {optc.stage = "layout"} {
//     %0 = arith.bitcast %arg0 : i32 to f32
//     %1 = arith.negf %0 : f32
//     return %1 : f32
//   }
// }
