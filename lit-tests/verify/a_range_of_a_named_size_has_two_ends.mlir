// RUN: optc --verify-diagnostics
// `optc.dims` gives each named size a lower and an upper bound, and only a function can carry it. A malformed
// range would make bounds wrong silently.

func.func private @good(tensor<?xf32, #optc.dims<N>>) attributes {optc.dims = {N = [0, 512], "a b" = [7, 7]}}
func.func private @follows(tensor<?xf32, #optc.dims<N>>) attributes {optc.dims = {K = array<i64: 4>, M = #optc.dims<2 * N>}}

// expected-error@+1 {{`optc.dims` is a dictionary with a range for each name, found `[1]`}}
func.func private @a(tensor<?xf32, #optc.dims<N>>) attributes {optc.dims = [1]}

// expected-error@+1 {{`optc.dims` says of `H` the least and the greatest value, found `4 : i64`}} expected-error@+1 {{`optc.dims` says of `N` the least and the greatest value, found `[1]`}} expected-error@+1 {{`optc.dims` says of `W` the least and the greatest value, found `[1, "2"]`}}
func.func private @b(tensor<?xf32, #optc.dims<N>>) attributes {optc.dims = {H = 4, N = [1], W = [1, "2"]}}

// expected-error@+1 {{`optc.dims`: no size `M` is in -1 to 4}} expected-error@+1 {{`optc.dims`: no size `N` is in 5 to 4}}
func.func private @c(tensor<?xf32, #optc.dims<N>>) attributes {optc.dims = {M = [-1, 4], N = [5, 4]}}

// expected-error@+1 {{`optc.dims` stands on a `func.func`, not on its arguments}}
func.func private @d(tensor<?xf32, #optc.dims<N>> {optc.dims = {N = [1, 4]}})

// expected-error@+1 {{`optc.dims` stands on a `func.func`, not on its results}}
func.func private @e() -> (tensor<?xf32, #optc.dims<N>> {optc.dims = {N = [1, 4]}})

// expected-error@+1 {{`optc.dims` says of `K` the least and the greatest value, found `array<i64: 4, 5>`}} expected-error@+1 {{`optc.dims` says of `M` the least and the greatest value, found `#optc.dims<N, M>`}}
func.func private @f(tensor<?xf32, #optc.dims<N>>) attributes {optc.dims = {K = array<i64: 4, 5>, M = #optc.dims<N, M>}}
// ----- output
