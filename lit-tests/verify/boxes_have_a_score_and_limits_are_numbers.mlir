// RUN: optc --verify-diagnostics
// Boxes of which some are dropped need a score each, and limits that are one number each.

func.func @f(%b: tensor<1x8x4xf32>, %s: tensor<1x2x8xf32>, %t: tensor<8xf32>, %u: tensor<1x2x7xf32>, %k: tensor<i64>, %o: tensor<f32>, %h: tensor<f64>, %r: tensor<1xf32>) {
  // expected-error@+1 {{`nn.non_max_suppression`: the scores have not three axes, or `places` is more than one size}}
  %0, %1 = nn.non_max_suppression %b, %s, %k, %o, %o {places = array<i64: 3, 4>} : (tensor<1x8x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<1x2x3xi64>, tensor<1x2x3xi1>)
  // expected-error@+1 {{`nn.non_max_suppression`: the boxes or the scores have not three axes}}
  %2, %3 = nn.non_max_suppression %t, %s, %k, %o, %o {places = array<i64: 3>} : (tensor<8xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<1x2x3xi64>, tensor<1x2x3xi1>)
  // expected-error@+1 {{`nn.non_max_suppression`: boxes of sizes [1, 8, 4], but scores of [1, 2, 7]}}
  %4, %5 = nn.non_max_suppression %b, %u, %k, %o, %o {places = array<i64: 3>} : (tensor<1x8x4xf32>, tensor<1x2x7xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<1x2x3xi64>, tensor<1x2x3xi1>)
  // expected-error@+1 {{`nn.non_max_suppression`: the boxes, scores and thresholds are not of f32, or `most` is not of i64}}
  %6, %7 = nn.non_max_suppression %b, %s, %k, %h, %o {places = array<i64: 3>} : (tensor<1x8x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f64>, tensor<f32>) -> (tensor<1x2x3xi64>, tensor<1x2x3xi1>)
  // expected-error@+1 {{`nn.non_max_suppression`: a limit is not one number}}
  %8, %9 = nn.non_max_suppression %b, %s, %k, %o, %r {places = array<i64: 3>} : (tensor<1x8x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>, tensor<1xf32>) -> (tensor<1x2x3xi64>, tensor<1x2x3xi1>)
  return
}
// ----- output
