// RUN: optc --passes=integers
// A product x * sigmoid(x), whose sigmoid is quantized before it, is a function of the bytes of x alone.

func.func @main(%x: tensor<2x8xui8>) -> tensor<2x8xui8> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %t = nn.constant dense<256.0> : tensor<f32>
  %u = nn.constant dense<0.00390625> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<2x8xui8>) -> tensor<2x8xf32>
  %1 = nn.mul %0, %s : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %2 = nn.sigmoid %1 : tensor<2x8xf32>
  %3 = nn.mul %2, %t : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %4 = nn.round %3 : tensor<2x8xf32>
  %5 = nn.cast %4 {to = ui8} : (tensor<2x8xf32>) -> tensor<2x8xui8>
  %6 = nn.cast %5 {to = f32} : (tensor<2x8xui8>) -> tensor<2x8xf32>
  %7 = nn.mul %6, %u : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %8 = nn.mul %1, %7 : tensor<2x8xf32>
  %9 = nn.round %8 : tensor<2x8xf32>
  %10 = nn.cast %9 {to = ui8} : (tensor<2x8xf32>) -> tensor<2x8xui8>
  return %10 : tensor<2x8xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<2x8xui8>) -> tensor<2x8xui8> {
//     %0 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %1 = nn.constant dense<2.560000e+02> : tensor<f32>
//     %2 = nn.constant dense<3.906250e-03> : tensor<f32>
//     %3 = nn.constant dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : tensor<256xui8>
//     %4 = nn.cast %3 {to = f32} : (tensor<256xui8>) -> tensor<256xf32>
//     %5 = nn.reshape %0 {shape = array<i64>} : tensor<f32>
//     %6 = nn.mul %4, %5 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %7 = nn.sigmoid %6 : tensor<256xf32>
//     %8 = nn.reshape %1 {shape = array<i64>} : tensor<f32>
//     %9 = nn.mul %7, %8 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %10 = nn.round %9 : tensor<256xf32>
//     %11 = nn.cast %10 {to = ui8} : (tensor<256xf32>) -> tensor<256xui8>
//     %12 = nn.constant dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : tensor<256xui8>
//     %13 = nn.cast %12 {to = f32} : (tensor<256xui8>) -> tensor<256xf32>
//     %14 = nn.reshape %0 {shape = array<i64>} : tensor<f32>
//     %15 = nn.mul %13, %14 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %16 = nn.cast %11 {to = f32} : (tensor<256xui8>) -> tensor<256xf32>
//     %17 = nn.reshape %2 {shape = array<i64>} : tensor<f32>
//     %18 = nn.mul %16, %17 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %19 = nn.mul %15, %18 : tensor<256xf32>
//     %20 = nn.round %19 : tensor<256xf32>
//     %21 = nn.cast %20 {to = ui8} : (tensor<256xf32>) -> tensor<256xui8>
//     %22 = nn.lookup %arg0, %21 : (tensor<2x8xui8>, tensor<256xui8>) -> tensor<2x8xui8>
//     return %22 : tensor<2x8xui8>
//   }
// }
