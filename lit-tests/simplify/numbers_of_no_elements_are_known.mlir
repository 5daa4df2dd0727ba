// RUN: optc --passes=simplify
// What is computed of constants without elements is one too: there is no element that all are equal to.

func.func @main() -> tensor<0xi64> {
  %0 = nn.constant dense<> : tensor<0xi64>
  %1 = nn.constant dense<2> : tensor<i64>
  %2 = nn.div %0, %1 : (tensor<0xi64>, tensor<i64>) -> tensor<0xi64>
  return %2 : tensor<0xi64>
}
// ----- output
// module {
//   func.func @main() -> tensor<0xi64> attributes {optc.stage = "simplify"} {
//     %0 = nn.constant dense<> : tensor<0xi64>
//     return %0 : tensor<0xi64>
//   }
// }
