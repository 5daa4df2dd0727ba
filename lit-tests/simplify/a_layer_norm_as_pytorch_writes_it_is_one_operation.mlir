// RUN: optc --passes=simplify
// Nine operations, six of them passes over memory, become one, at named sizes too: scale and bias move into
// the norm, whose mean and epsilon were found.

func.func @main(%x: tensor<?x?x8xf32, #optc.dims<batch, seq>>) -> tensor<?x?x8xf32, #optc.dims<batch, seq>> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %e = nn.constant dense<1.0e-5> : tensor<f32>
  %s = nn.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %b = nn.constant dense<0.5> : tensor<8xf32>
  %0 = nn.reduce_mean %x {axes = array<i64: 2>, keepdims} : (tensor<?x?x8xf32, #optc.dims<batch, seq>>) -> tensor<?x?x1xf32, #optc.dims<batch, seq>>
  %1 = nn.sub %x, %0 : (tensor<?x?x8xf32, #optc.dims<batch, seq>>, tensor<?x?x1xf32, #optc.dims<batch, seq>>) -> tensor<?x?x8xf32, #optc.dims<batch, seq>>
  %2 = nn.pow %1, %two : (tensor<?x?x8xf32, #optc.dims<batch, seq>>, tensor<f32>) -> tensor<?x?x8xf32, #optc.dims<batch, seq>>
  %3 = nn.reduce_mean %2 {axes = array<i64: 2>, keepdims} : (tensor<?x?x8xf32, #optc.dims<batch, seq>>) -> tensor<?x?x1xf32, #optc.dims<batch, seq>>
  %4 = nn.add %3, %e : (tensor<?x?x1xf32, #optc.dims<batch, seq>>, tensor<f32>) -> tensor<?x?x1xf32, #optc.dims<batch, seq>>
  %5 = nn.sqrt %4 : tensor<?x?x1xf32, #optc.dims<batch, seq>>
  %6 = nn.div %1, %5 : (tensor<?x?x8xf32, #optc.dims<batch, seq>>, tensor<?x?x1xf32, #optc.dims<batch, seq>>) -> tensor<?x?x8xf32, #optc.dims<batch, seq>>
  %7 = nn.mul %6, %s : (tensor<?x?x8xf32, #optc.dims<batch, seq>>, tensor<8xf32>) -> tensor<?x?x8xf32, #optc.dims<batch, seq>>
  %8 = nn.add %7, %b : (tensor<?x?x8xf32, #optc.dims<batch, seq>>, tensor<8xf32>) -> tensor<?x?x8xf32, #optc.dims<batch, seq>>
  return %8 : tensor<?x?x8xf32, #optc.dims<batch, seq>>
}
// ----- output
// module {
//   func.func @main(%arg0: tensor<?x?x8xf32, #optc.dims<batch, seq>>) -> tensor<?x?x8xf32, #optc.dims<batch, seq>> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]> : tensor<8xf32>
//     %1 = nn.constant dense<5.000000e-01> : tensor<8xf32>
//     %2 = nn.group_norm %arg0, %0, %1 {axes = array<i64>, axis = 2 : i64, epsilon = 9.99999974E-6 : f32, groups = 1 : i64} : (tensor<?x?x8xf32, #optc.dims<batch, seq>>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32, #optc.dims<batch, seq>>
//     return %2 : tensor<?x?x8xf32, #optc.dims<batch, seq>>
//   }
// }
