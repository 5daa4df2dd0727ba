// RUN: optc --passes=inplace,plan
// The next state lies in the pool that it asks for, and is copied to the state's place at the end.

func.func @main(%x: tensor<64xf32>, %a: tensor<64xf32> {optc.state}) -> (tensor<64xf32> {optc.state = 1 : i64}) attributes {optc.pools = {bank = {align = 1024 : i64}}} {
  %0 = nn.add %a, %x {mem.pool = ["bank"]} : tensor<64xf32>
  return %0 : tensor<64xf32>
}
