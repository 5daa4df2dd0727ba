// RUN: optc --passes=integers
// Parts that are dequantized and quantized as a whole are quantized each, which is a table, and concatenated
// as bytes.

func.func @main(%x: tensor<1x8x3x3xui8>, %y: tensor<1x4x3x3xi8>) -> tensor<1x12x3x3xui8> {
  %z = nn.constant dense<128> : tensor<ui8>
  %s = nn.constant dense<0.5> : tensor<f32>
  %t = nn.constant dense<0.75> : tensor<f32>
  %ys = nn.constant dense<0.25> : tensor<f32>
  %yz = nn.constant dense<10.0> : tensor<f32>
  %0 = nn.cast %x {to = f32} : (tensor<1x8x3x3xui8>) -> tensor<1x8x3x3xf32>
  %1 = nn.cast %z {to = f32} : (tensor<ui8>) -> tensor<f32>
  %2 = nn.sub %0, %1 : (tensor<1x8x3x3xf32>, tensor<f32>) -> tensor<1x8x3x3xf32>
  %3 = nn.mul %2, %s : (tensor<1x8x3x3xf32>, tensor<f32>) -> tensor<1x8x3x3xf32>
  %4 = nn.cast %y {to = f32} : (tensor<1x4x3x3xi8>) -> tensor<1x4x3x3xf32>
  %5 = nn.mul %4, %t : (tensor<1x4x3x3xf32>, tensor<f32>) -> tensor<1x4x3x3xf32>
  %6 = nn.concat %3, %5 {axis = 1 : i64} : (tensor<1x8x3x3xf32>, tensor<1x4x3x3xf32>) -> tensor<1x12x3x3xf32>
  %7 = nn.div %6, %ys : (tensor<1x12x3x3xf32>, tensor<f32>) -> tensor<1x12x3x3xf32>
  %8 = nn.round %7 : tensor<1x12x3x3xf32>
  %9 = nn.add %8, %yz : (tensor<1x12x3x3xf32>, tensor<f32>) -> tensor<1x12x3x3xf32>
  %10 = nn.clip %9 {hi = 255.0 : f32, lo = 0.0 : f32} : tensor<1x12x3x3xf32>
  %11 = nn.cast %10 {to = ui8} : (tensor<1x12x3x3xf32>) -> tensor<1x12x3x3xui8>
  return %11 : tensor<1x12x3x3xui8>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<1x8x3x3xui8>, %arg1: tensor<1x4x3x3xi8>) -> tensor<1x12x3x3xui8> {
//     %0 = nn.constant dense<128> : tensor<ui8>
//     %1 = nn.constant dense<5.000000e-01> : tensor<f32>
//     %2 = nn.constant dense<7.500000e-01> : tensor<f32>
//     %3 = nn.constant dense<2.500000e-01> : tensor<f32>
//     %4 = nn.constant dense<1.000000e+01> : tensor<f32>
//     %5 = nn.cast %0 {to = f32} : (tensor<ui8>) -> tensor<f32>
//     %6 = nn.constant dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : tensor<256xui8>
//     %7 = nn.cast %6 {to = f32} : (tensor<256xui8>) -> tensor<256xf32>
//     %8 = nn.reshape %5 {shape = array<i64>} : tensor<f32>
//     %9 = nn.sub %7, %8 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %10 = nn.reshape %1 {shape = array<i64>} : tensor<f32>
//     %11 = nn.mul %9, %10 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %12 = nn.reshape %3 {shape = array<i64>} : tensor<f32>
//     %13 = nn.div %11, %12 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %14 = nn.round %13 : tensor<256xf32>
//     %15 = nn.reshape %4 {shape = array<i64>} : tensor<f32>
//     %16 = nn.add %14, %15 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %17 = nn.clip %16 {hi = 2.550000e+02 : f32, lo = 0.000000e+00 : f32} : tensor<256xf32>
//     %18 = nn.cast %17 {to = ui8} : (tensor<256xf32>) -> tensor<256xui8>
//     %19 = nn.lookup %arg0, %18 : (tensor<1x8x3x3xui8>, tensor<256xui8>) -> tensor<1x8x3x3xui8>
//     %20 = nn.constant dense<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F404142434445464748494A4B4C4D4E4F505152535455565758595A5B5C5D5E5F606162636465666768696A6B6C6D6E6F707172737475767778797A7B7C7D7E7F808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9FA0A1A2A3A4A5A6A7A8A9AAABACADAEAFB0B1B2B3B4B5B6B7B8B9BABBBCBDBEBFC0C1C2C3C4C5C6C7C8C9CACBCCCDCECFD0D1D2D3D4D5D6D7D8D9DADBDCDDDEDFE0E1E2E3E4E5E6E7E8E9EAEBECEDEEEFF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"> : tensor<256xi8>
//     %21 = nn.cast %20 {to = f32} : (tensor<256xi8>) -> tensor<256xf32>
//     %22 = nn.reshape %2 {shape = array<i64>} : tensor<f32>
//     %23 = nn.mul %21, %22 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %24 = nn.reshape %3 {shape = array<i64>} : tensor<f32>
//     %25 = nn.div %23, %24 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %26 = nn.round %25 : tensor<256xf32>
//     %27 = nn.reshape %4 {shape = array<i64>} : tensor<f32>
//     %28 = nn.add %26, %27 : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
//     %29 = nn.clip %28 {hi = 2.550000e+02 : f32, lo = 0.000000e+00 : f32} : tensor<256xf32>
//     %30 = nn.cast %29 {to = ui8} : (tensor<256xf32>) -> tensor<256xui8>
//     %31 = nn.lookup %arg1, %30 : (tensor<1x4x3x3xi8>, tensor<256xui8>) -> tensor<1x4x3x3xui8>
//     %32 = nn.concat %19, %31 {axis = 1 : i64} : (tensor<1x8x3x3xui8>, tensor<1x4x3x3xui8>) -> tensor<1x12x3x3xui8>
//     return %32 : tensor<1x12x3x3xui8>
//   }
// }
