// RUN: optc --passes='plan{pools=vtcm}'
// The output belongs to the caller, so a value that asks for a pool is made there and copied into the output.

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.sqrt %x {mem.pool = ["vtcm"]} : tensor<64xf32>
  return %0 : tensor<64xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<64xf32>) -> tensor<64xf32> attributes {optc.arena = 256 : i64, optc.pools = {arena = {align = 64 : i64, bytes = 0 : i64, start = 0 : i64}, vtcm = {align = 64 : i64, bytes = 256 : i64, start = 0 : i64}}, optc.stage = "plan", optc.target = "x86-64-v3", optc.threads = 1 : i64} {
//     %0 = nn.sqrt %arg0 {mem.kernel = "pointwise", mem.place = [["vtcm", 0, 256]], mem.pool = ["vtcm"]} : tensor<64xf32>
//     %1 = optc.copy %0 {mem.place = [["out", 0, 256]]} : tensor<64xf32>
//     return %1 : tensor<64xf32>
//   }
// }
