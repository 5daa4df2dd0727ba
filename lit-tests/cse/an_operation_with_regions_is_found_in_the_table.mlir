// RUN: optc --passes=cse
// The condition has many readers, so equal operations are searched in a table by a hash of all that they
// contain: the third equals the first, whose addition has its operands in the other order. The others differ.
// A hash of names in regions, or of the order of operands, would not find the third.

func.func @main(%c: i1, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<28xf32> {
  %0 = scf.if %c -> (tensor<4xf32>) {
    %a = nn.exp %x : tensor<4xf32>
    %b = nn.add %a, %y : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  %1 = scf.if %c -> (tensor<4xf32>) {
    %a = nn.exp %x : tensor<4xf32>
    %b = nn.add %a, %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  %2 = scf.if %c -> (tensor<4xf32>) {
    %a = nn.exp %x : tensor<4xf32>
    %b = nn.add %y, %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  %3 = scf.if %c -> (tensor<4xf32>) {
    %a = nn.exp %x : tensor<4xf32>
    %b = nn.add %a, %y : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  %4 = scf.if %c -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  %5 = scf.if %c -> (tensor<4xf32>) {
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %6 = scf.if %c -> (tensor<4xf32>) {
    %a = nn.neg %x : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  scf.if %c {
  }
  scf.if %c {
  }
  %7 = nn.concat %0, %1, %2, %3, %4, %5, %6 {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<28xf32>
  return %7 : tensor<28xf32>
}
// ----- output
// module {
//   func.func @main(%arg0: i1, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<28xf32> {
//     %0 = scf.if %arg0 -> (tensor<4xf32>) {
//       %7 = nn.exp %arg1 : tensor<4xf32>
//       %8 = nn.add %7, %arg2 : tensor<4xf32>
//       scf.yield %8 : tensor<4xf32>
//     } else {
//       scf.yield %arg2 : tensor<4xf32>
//     }
//     %1 = scf.if %arg0 -> (tensor<4xf32>) {
//       %7 = nn.exp %arg1 : tensor<4xf32>
//       %8 = nn.add %7, %7 : tensor<4xf32>
//       scf.yield %8 : tensor<4xf32>
//     } else {
//       scf.yield %arg2 : tensor<4xf32>
//     }
//     %2 = scf.if %arg0 -> (tensor<4xf32>) {
//       %7 = nn.exp %arg1 : tensor<4xf32>
//       %8 = nn.add %7, %arg2 : tensor<4xf32>
//       scf.yield %7 : tensor<4xf32>
//     } else {
//       scf.yield %arg2 : tensor<4xf32>
//     }
//     %3 = scf.if %arg0 -> (tensor<4xf32>) {
//       scf.yield %arg1 : tensor<4xf32>
//     } else {
//       scf.yield %arg2 : tensor<4xf32>
//     }
//     %4 = scf.if %arg0 -> (tensor<4xf32>) {
//       scf.yield %arg2 : tensor<4xf32>
//     } else {
//       scf.yield %arg1 : tensor<4xf32>
//     }
//     %5 = scf.if %arg0 -> (tensor<4xf32>) {
//       %7 = nn.neg %arg1 : tensor<4xf32>
//       scf.yield %7 : tensor<4xf32>
//     } else {
//       scf.yield %arg2 : tensor<4xf32>
//     }
//     scf.if %arg0 {
//     }
//     %6 = nn.concat %0, %1, %0, %2, %3, %4, %5 {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<28xf32>
//     return %6 : tensor<28xf32>
//   }
// }
