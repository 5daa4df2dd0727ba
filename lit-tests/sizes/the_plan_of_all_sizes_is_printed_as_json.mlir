// RUN: optc plan --threads=1 --dim 'N<=8' --json=-
// `--json` of a program with named sizes has each buffer's bytes as an expression and the arena at the
// bounds.

func.func @main(%x: tensor<?x4xf32, #optc.dims<N>>) -> tensor<4x?xf32, #optc.dims<N>> {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x4xf32, #optc.dims<N>>) -> tensor<4x?xf32, #optc.dims<N>>
  %1 = nn.add %0, %0 : tensor<4x?xf32, #optc.dims<N>>
  %2 = nn.cum_sum %1 {axis = 1} : tensor<4x?xf32, #optc.dims<N>>
  return %2 : tensor<4x?xf32, #optc.dims<N>>
}
// ----- output
// {
//   "version": 1,
//   "symbols": [
//     {
//       "name": "N",
//       "least": 1,
//       "most": 8
//     }
//   ],
//   "pools": [
//     {
//       "name": "arena",
//       "size_bytes": 128,
//       "is_exact": true,
//       "align": 64
//     }
//   ],
//   "values": [
//     {
//       "names": [
//         "%0"
//       ],
//       "op": "nn.add",
//       "size_bytes": "16 * N",
//       "first": 0,
//       "last": 1,
//       "pool": "arena"
//     }
//   ],
//   "variants": [
//     {
//       "name": "main_at_N_1",
//       "guard": [
//         [
//           "N",
//           1
//         ]
//       ],
//       "steps": 2,
//       "of_steps": 3
//     }
//   ],
//   "nominal": {
//     "sizes": [
//       [
//         "N",
//         8
//       ]
//     ],
//     "arena_bytes": 128
//   }
// }
