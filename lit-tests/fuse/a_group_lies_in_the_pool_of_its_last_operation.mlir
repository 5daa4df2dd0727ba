// RUN: optc --passes=simplify,layout,fuse

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = nn.neg %x {mem.pool = ["bank"]} : tensor<64xf32>
  %1 = nn.exp %0 {mem.pool = ["vtcm"]} : tensor<64xf32>
  return %1 : tensor<64xf32>
}
