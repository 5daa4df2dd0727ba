// RUN: optc --passes=integers
// Exporters write a pair of quantization and dequantization on both sides of a reshape, with one scale. With
// another zero point it is a table.

func.func @main(%x: tensor<4x6xui8>) -> (tensor<24xf32>, tensor<24xui8>) {
  %z = nn.constant dense<128> : tensor<ui8>
  %u = nn.constant dense<127> : tensor<ui8>
  %s = nn.constant dense<0.3> : tensor<f32>
  %0 = nn.cast %z {to = f32} : (tensor<ui8>) -> tensor<f32>
  %1 = nn.cast %u {to = f32} : (tensor<ui8>) -> tensor<f32>
  %2 = nn.cast %x {to = f32} : (tensor<4x6xui8>) -> tensor<4x6xf32>
  %3 = nn.sub %2, %0 : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %4 = nn.mul %3, %s : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %5 = nn.reshape %4 {shape = array<i64: 24>} : (tensor<4x6xf32>) -> tensor<24xf32>
  %6 = nn.div %5, %s : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  %7 = nn.round %6 : tensor<24xf32>
  %8 = nn.add %7, %0 : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  %9 = nn.clip %8 {lo = 0.0 : f32, hi = 255.0 : f32} : tensor<24xf32>
  %10 = nn.cast %9 {to = ui8} : (tensor<24xf32>) -> tensor<24xui8>
  %11 = nn.cast %10 {to = f32} : (tensor<24xui8>) -> tensor<24xf32>
  %12 = nn.sub %11, %0 : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  %13 = nn.mul %12, %s : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  %14 = nn.add %7, %1 : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  %15 = nn.clip %14 {lo = 0.0 : f32, hi = 255.0 : f32} : tensor<24xf32>
  %16 = nn.cast %15 {to = ui8} : (tensor<24xf32>) -> tensor<24xui8>
  return %13, %16 : tensor<24xf32>, tensor<24xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<4x6xui8>) -> (tensor<24xf32>, tensor<24xui8>) {
//     %0 = nn.constant dense<128> : tensor<ui8>
//     %1 = nn.constant dense<127> : tensor<ui8>
//     %2 = nn.constant dense<3.000000e-01> : tensor<f32>
//     %3 = nn.cast %0 {to = f32} : (tensor<ui8>) -> tensor<f32>
//     %4 = nn.cast %1 {to = f32} : (tensor<ui8>) -> tensor<f32>
//     %5 = nn.reshape %arg0 {shape = array<i64: 24>} : (tensor<4x6xui8>) -> tensor<24xui8>
//     %6 = nn.cast %5 {to = f32} : (tensor<24xui8>) -> tensor<24xf32>
//     %7 = nn.sub %6, %3 : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
//     %8 = nn.mul %7, %2 : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
//     %9 = nn.constant dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : tensor<256xui8>
//     %10 = nn.cast %9 {to = f32} : (tensor<256xui8>) -> tensor<256xf32>
//     %11 = nn.reshape %3 {shape = array<i64>} : tensor<f32>
//     %12 = nn.sub %10, %11 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %13 = nn.reshape %2 {shape = array<i64>} : tensor<f32>
//     %14 = nn.mul %12, %13 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %15 = nn.div %14, %13 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %16 = nn.round %15 : tensor<256xf32>
//     %17 = nn.reshape %4 {shape = array<i64>} : tensor<f32>
//     %18 = nn.add %16, %17 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %19 = nn.clip %18 {hi = 2.550000e+02 : f32, lo = 0.000000e+00 : f32} : tensor<256xf32>
//     %20 = nn.cast %19 {to = ui8} : (tensor<256xf32>) -> tensor<256xui8>
//     %21 = nn.lookup %5, %20 : (tensor<24xui8>, tensor<256xui8>) -> tensor<24xui8>
//     return %8, %21 : tensor<24xf32>, tensor<24xui8>
//   }
// }
