// RUN: optc plan --dim 'N<=100' --threads=1
// The number of turns is a named size, and each turn writes its slice of a value of as many: its bytes are
// the caller's at every size, and the state has one place.

func.func @main(%x: tensor<?x8xf32, #optc.dims<N>> {optc.name = "x"}) -> tensor<?x8xf32, #optc.dims<N>> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %size = nn.sizes {value = #optc.dims<N>} : tensor<1xi64>
  %flat = nn.reshape %size {shape = array<i64>} : (tensor<1xi64>) -> tensor<i64>
  %steps = nn.to_scalar %flat : (tensor<i64>) -> i64
  %h = nn.constant dense<0.0> : tensor<1x8xf32>
  %y = optc.fill {shape = #optc.dims<N, 8>, to = f32} : tensor<?x8xf32, #optc.dims<N>>
  %r:2 = scf.for %i = %zero to %steps step %one iter_args(%a = %h, %all = %y)
      -> (tensor<1x8xf32>, tensor<?x8xf32, #optc.dims<N>>) : i64 {
    %n = nn.from_scalar %i : (i64) -> tensor<i64>
    %at = nn.reshape %n {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
    %step = nn.gather %x, %at {axis = 0 : i64}
      : (tensor<?x8xf32, #optc.dims<N>>, tensor<1xi64>) -> tensor<1x8xf32>
    %new = nn.add %a, %step : tensor<1x8xf32>
    %written = nn.scatter %all, %at, %new
      : (tensor<?x8xf32, #optc.dims<N>>, tensor<1xi64>, tensor<1x8xf32>) -> tensor<?x8xf32, #optc.dims<N>>
    scf.yield %new, %written : tensor<1x8xf32>, tensor<?x8xf32, #optc.dims<N>>
  }
  return %r#1 : tensor<?x8xf32, #optc.dims<N>>
}
// ----- output
// sizes 1 <= N <= 100: offsets are computed for each size; `--dim N=4` plans for one
// buffer 3: 64 bytes, steps 4 to 4; scratch of `nn.gather` (step)
// buffer 4: 64 bytes, steps 6 to 6; scratch of `nn.scatter` (written)
// buffer 0: 32 bytes, steps 1 to 7; values without names of `nn.add` (new)
// buffer 2: 32 bytes, steps 4 to 5; values without names of `nn.gather` (step)
// buffer 1: 8 bytes, steps 3 to 6; values without names
// at N = 100: arena 200 bytes
// at all sizes: arena 200 bytes, the joint maximum
