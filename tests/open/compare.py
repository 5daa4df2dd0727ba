"""Do results whose size depends on data have onnxruntime's values and sizes?

Each case is a graph in ONNX's text form of an input x of N (and M) rows and conditions; it is run on random numbers and
conditions that hold never, always and at random, by onnxruntime and by optc three times: machine code for the sizes, machine
code whose sizes were symbols while the model was read, and the interpreter. Where onnxruntime fails, optc must fail too, unless
the case says what it computes there.

compare.py run OPTC ROUNDS [PART_OF_A_NAME]   compares
compare.py store FILE                         writes graphs, inputs and onnxruntime's outputs for tests/tests/open.rs
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

X, M = "float[N,3] x", "bool[N] m"
FOUND = "i = NonZero(m)\nt = Transpose(i)\n"
MASKED = FOUND + "s = GatherND(x, t)\n"
PICKED = "s = Compress<axis=0>(x, m)\n"
ROWS = "h = Shape(s)\nk = Gather<axis=0>(h, zero)\nu = Unsqueeze(k, zeros)\n"
TWO = "a = Constant<value_ints=[0]>()\nc = Constant<value_ints=[1]>()\n"

# name: inputs, outputs, nodes
CASES = {
    "non_zero": (f"{M}", "int64[1,K] y", "y = NonZero(m)"),
    "non_zero_of_a_matrix": ("float[N,M] f", "int64[2,K] y", "y = NonZero(f)"),
    "non_zero_turned": ("float[N,M] f", "int64[K,2] y", "i = NonZero(f)\ny = Transpose(i)"),
    "mask_select": (f"{X}, {M}", "float[K,3] y", MASKED + "y = Identity(s)"),
    "mask_select_of_elements": ("float[N,M] x, bool[N,M] m", "float[K] y", MASKED + "y = Relu(s)"),
    "squeeze_and_gather": (f"{X}, {M}", "float[K,3] y", TWO + "i = NonZero(m)\nj = Squeeze(i, a)\ny = Gather<axis=0>(x, j)"),
    "gather_along_columns": ("float[2,N] x, bool[N] m", "float[2,K] y", TWO + "i = NonZero(m)\nj = Squeeze(i, a)\ny = Gather<axis=1>(x, j)"),
    "moved_indices": ("float[N,3] x, bool[N] m", "float[K,3] y", TWO + "i = NonZero(m)\nj = Squeeze(i, a)\nk = Sub(j, c)\ny = Gather<axis=0>(x, k)"),
    "gather_of_elements": (f"{X}, {M}", "float[K,3] y", PICKED + "o = Constant<value_ints=[0,-1,0]>()\ny = Gather<axis=0>(s, o)"),
    "first_of_elements": (f"{X}, {M}", "float[3] y", PICKED + "o = Constant<value_int=0>()\ny = Gather<axis=0>(s, o)"),
    "last_of_elements": (f"{X}, {M}", "float[3] y", PICKED + "o = Constant<value_int=-1>()\ny = Gather<axis=0>(s, o)"),
    "column_of_elements": (f"{X}, {M}", "float[K] y", PICKED + "o = Constant<value_int=-1>()\ny = Gather<axis=1>(s, o)"),
    "mask_of_a_mask": (f"{X}, {M}", "float[K,3] y", PICKED + "z = Constant<value_float=0.0>()\nr = ReduceMax<axes=[1],keepdims=0>(s)\nb = Greater(r, z)\ni = NonZero(b)\nt = Transpose(i)\ny = GatherND(s, t)"),
    "compress_of_compressed": (f"{X}, {M}", "float[K,3] y", PICKED + "z = Constant<value_float=0.0>()\nr = ReduceSum(s, one)\nb = Greater(r, z)\nf = Squeeze(b, one)\ny = Compress<axis=0>(s, f)"),
    "non_zero_of_rows": (f"{X}, {M}", "int64[2,K] y", PICKED + "z = Constant<value_float=0.0>()\nb = Greater(s, z)\ny = NonZero(b)"),
    "gather_elements": ("float[N,3] x, bool[N] m", "float[K,3] y", PICKED + "z = Constant<value_float=0.0>()\nb = Greater(s, z)\nj = Cast<to=7>(b)\ny = GatherElements<axis=1>(s, j)"),
    "gather_elements_by_found": ("float[N] x, bool[N] m", "float[K] y", TWO + "i = NonZero(m)\nj = Squeeze(i, a)\ny = GatherElements<axis=0>(x, j)"),
    "gather_nd_in_batches": (f"float[N,4] x, {M}", "float[K] y", PICKED + "j = Constant<value_ints=[1]>()\nh = Shape(s)\nk = Cast<to=7>(s)\nw = ReduceMax<axes=[1],keepdims=1>(k)\nu = Clip(w, zero, two)\ny = GatherND<batch_dims=1>(s, u)"),
    "matmul_and_sum": (f"{X}, {M}, float[3,4] w", "float[4] y", PICKED + "p = MatMul(s, w)\ny = ReduceSum<keepdims=0>(p, zeros)"),
    "gemm": (f"{X}, {M}, float[4,3] w, float[4] b", "float[K,4] y", PICKED + "y = Gemm<transB=1>(s, w, b)"),
    "covariance": (f"{X}, {M}", "float[3,3] y", PICKED + "t = Transpose(s)\ny = MatMul(t, s)"),
    "sums_of_columns": (f"{X}, {M}", "float[3] y", PICKED + "y = ReduceSum<keepdims=0>(s, zeros)"),
    "sum_of_all": (f"{X}, {M}", "float y", PICKED + "y = ReduceSum<keepdims=0>(s)"),
    "sums_of_rows": (f"{X}, {M}", "float[K,1] y", PICKED + "y = ReduceSum(s, one)"),
    "masked_mean": (f"{X}, {M}", "float[3] y", MASKED + "y = ReduceMean<axes=[0],keepdims=0>(s)"),
    "mean_of_all": (f"{X}, {M}", "float y", MASKED + "y = ReduceMean<keepdims=0>(s)"),
    "greatest": (f"{X}, {M}", "float[1,3] y", PICKED + "e = Exp(s)\ny = ReduceMax<axes=[0]>(e)"),
    "least": (f"{X}, {M}", "float[1,3] y", PICKED + "y = ReduceMin<axes=[0]>(s)"),
    "product": (f"{X}, {M}", "float[1,3] y", PICKED + "y = ReduceProd<axes=[0]>(s)"),
    "norm": (f"{X}, {M}", "float[1,3] y", PICKED + "y = ReduceL2<axes=[0]>(s)"),
    "log_sum_exp": (f"{X}, {M}", "float[1,3] y", PICKED + "y = ReduceLogSumExp<axes=[0]>(s)"),
    "greatest_integer": (f"int32[N] x, {M}", "int32[1] y", PICKED + "y = ReduceMax<axes=[0]>(s)"),
    "arg_max": (f"{X}, {M}", "int64[3] y", PICKED + "y = ArgMax<axis=0,keepdims=0>(s)"),
    "last_arg_min_of_integers": (f"int32[N] x, {M}", "int64[1] y", PICKED + "y = ArgMin<axis=0,select_last_index=1>(s)"),
    "arg_max_of_rows": (f"{X}, {M}", "int64[K,1] y", PICKED + "y = ArgMax<axis=1>(s)"),
    "softmax": (f"{X}, {M}", "float[K,3] y", PICKED + "y = Softmax<axis=0>(s)"),
    "softmax_of_rows": (f"{X}, {M}", "float[K,3] y", PICKED + "y = Softmax<axis=1>(s)"),
    "log_softmax": (f"{X}, {M}", "float[K,3] y", PICKED + "y = LogSoftmax<axis=0>(s)"),
    "layer_norm": (f"{X}, {M}, float[3] w", "float[K,3] y", PICKED + "y = LayerNormalization<axis=1>(s, w)"),
    "running_sum": (f"{X}, {M}", "float[K,3] y", PICKED + "y = CumSum<reverse=1>(s, zero)"),
    "concat_behind": (f"{X}, {M}", "float[K,3] y", PICKED + "y = Concat<axis=0>(x, s)"),
    "concat_before": (f"{X}, {M}", "float[K,3] y", PICKED + "e = Exp(s)\nn = Neg(x)\ny = Concat<axis=0>(e, n)"),
    "concat_of_two": (f"{X}, {M}, bool[N] q", "float[K,3] y", PICKED + "r = Compress<axis=0>(x, q)\nn = Neg(r)\ny = Concat<axis=0>(s, n, s)"),
    "sum_of_concat": (f"{X}, {M}, bool[N] q", "float[3] y", PICKED + "r = Compress<axis=0>(x, q)\nn = Concat<axis=0>(s, r)\ny = ReduceSum<keepdims=0>(n, zeros)"),
    "concat_along_others": (f"{X}, {M}", "float[K,6] y", PICKED + "r = NonZero(m)\nu = Transpose(r)\nn = GatherND(x, u)\ne = Exp(s)\ny = Concat<axis=1>(s, e)"),
    "same_condition": (f"{X}, {M}, float[N,3] z", "float[K,3] y", PICKED + "r = Compress<axis=0>(z, m)\ny = Add(s, r)"),
    "same_found": (f"{X}, {M}, float[N,3] z", "float[K,3] y", MASKED + "k = NonZero(m)\nl = Transpose(k)\nr = GatherND(z, l)\ny = Mul(s, r)"),
    "same_found_as_numbers": (f"{X}, {M}, float[N,3] z", "float[K,3] y", "b = Cast<to=7>(m)\ni = NonZero(b)\nt = Transpose(i)\ns = GatherND(x, t)\nc = Cast<to=6>(m)\nk = NonZero(c)\nl = Transpose(k)\nr = GatherND(z, l)\ny = Mul(s, r)"),
    "shape": (f"{X}, {M}", "int64[2] y", PICKED + "y = Shape(s)"),
    "size": (f"{X}, {M}", "int64 y", PICKED + "y = Size(s)"),
    "divided_by_its_size": (f"{X}, {M}", "float[K,3] y", PICKED + "h = Shape(s)\nj = Gather<axis=0>(h, zero)\nf = Cast<to=1>(j)\ny = Div(s, f)"),
    "slice_of_first": (f"{X}, {M}", "float[K,3] y", PICKED + "y = Slice(s, zeros, two_of, zeros)"),
    "slice_from": (f"{X}, {M}", "float[K,3] y", PICKED + "y = Slice(s, one, many, zeros)"),
    "slice_but_last": (f"{X}, {M}", "float[K,3] y", PICKED + "y = Slice(s, zeros, minus, zeros)"),
    "slice_of_last": (f"{X}, {M}", "float[K,3] y", PICKED + "y = Slice(s, minus_two, many, zeros)"),
    "slice_in_steps": (f"{X}, {M}", "float[K,3] y", PICKED + "y = Slice(s, one, many, zeros, two_of)"),
    "slice_of_last_in_steps": (f"{X}, {M}", "float[K,3] y", PICKED + "w = Constant<value_ints=[-5]>()\ny = Slice(s, w, minus, zeros, two_of)"),
    "slice_of_columns": (f"{X}, {M}", "float[K,2] y", PICKED + "y = Slice(s, one, many, one)"),
    "unsqueeze": (f"{X}, {M}", "float[1,K,3] y", PICKED + "y = Unsqueeze(s, zeros)"),
    "reshape": (f"float[N,4] x, {M}", "float[K,2,2] y", PICKED + "w = Constant<value_ints=[-1,2,2]>()\ny = Reshape(s, w)"),
    "flatten_all": (f"{X}, {M}", "float[K] y", PICKED + "w = Constant<value_ints=[-1]>()\ny = Reshape(s, w)"),
    "expand": (f"float[N,1] x, {M}", "float[2,K,3] y", PICKED + "w = Constant<value_ints=[2,1,3]>()\ny = Expand(s, w)"),
    "where": (f"{X}, {M}, float[3] w", "float[K,3] y", PICKED + "b = Greater(s, w)\ny = Where(b, s, w)"),
    "images": ("float[N,2,5,5] x, bool[N] m", "float[K,3,4,4] y", PICKED + f"k = Constant<value_floats={[number / 10 for number in range(-12, 12)]}>()\nl = Constant<value_ints=[3,2,2,2]>()\nw = Reshape(k, l)\nf = Conv(s, w)\nr = Relu(f)\ny = MaxPool<kernel_shape=[2,2],pads=[0,0,1,1]>(r)"),
    "products": ("float[N,2,3] x, bool[N] m, float[N,3,2] z", "float[K,2,2] y", PICKED + "r = Compress<axis=0>(z, m)\ny = MatMul(s, r)"),
    "products_with_one": ("float[N,2,3] x, bool[N] m, float[3,2] w", "float[K,2,2] y", PICKED + "y = MatMul(s, w)"),
    "turned_gemm": ("float[3,N] x, bool[N] m, float[3,4] w", "float[K,4] y", "s = Compress<axis=1>(x, m)\ny = Gemm<transA=1,alpha=0.5>(s, w)"),
    "columns_of_a_product": ("float[3,N] x, bool[N] m, float[2,3] w", "float[2,K] y", "s = Compress<axis=1>(x, m)\ny = MatMul(w, s)"),
    "pad_of_columns": (f"{X}, {M}", "float[K,5] y", PICKED + "w = Constant<value_ints=[0,1,0,1]>()\ny = Pad(s, w)"),
    "tile_of_columns": (f"{X}, {M}", "float[K,6] y", PICKED + "w = Constant<value_ints=[1,2]>()\ny = Tile(s, w)"),
    "dropout": (f"{X}, {M}", "bool[K,3] y", PICKED + "o, k = Dropout(s)\ny = Not(k)"),
    "mean_of_integers": (f"int32[N] x, {M}", "int32[1] y", PICKED + "y = ReduceMean<axes=[0]>(s)"),
    "extremes_of_bytes": (f"int32[N] x, {M}", "int32[2] y", PICKED + "a = Abs(s)\nu = Cast<to=2>(a)\ng = ReduceMax<axes=[0]>(u)\nl = ReduceMin<axes=[0]>(u)\nb = Concat<axis=0>(g, l)\ny = Cast<to=6>(b)"),
    "normalised_columns": (f"{X}, {M}", "float[K,3] y", PICKED + "y = LpNormalization<axis=0>(s)"),
    "hardmax": (f"{X}, {M}", "float[K,3] y", PICKED + "y = Hardmax<axis=1>(s)"),
    "picked_rows_of_elements": (f"{X}, {M}", "float[2,3] y", PICKED + "a = Constant<value_ints=[-1,0]>()\nj = Unsqueeze(a, one)\ny = GatherND(s, j)"),
    "picked_elements": (f"{X}, {M}", "float[1,3] y", PICKED + "a = Constant<value_ints=[-1,0,-1]>()\nj = Unsqueeze(a, zeros)\ny = GatherElements<axis=0>(s, j)"),
    "parts_of_a_matrix": ("float[N,M,2] x, bool[N,M] m", "float[K,2] y", MASKED + "y = Identity(s)"),
    "sum_of_a_part": (f"{X}, {M}", "float[3] y", PICKED + "a = Constant<value_ints=[1]>()\nr = Slice(s, a, minus, zeros)\ny = ReduceSum<keepdims=0>(r, zeros)"),
    "view_by_its_shape": (f"float[N,4] x, {M}", "float[K,2,2] y", PICKED + ROWS + "d = Constant<value_ints=[2,2]>()\nc = Concat<axis=0>(u, d)\ny = Reshape(s, c)"),
    "rest_by_its_shape": ("float[N,2,3] x, bool[N] m", "float[K,6] y", PICKED + ROWS + "c = Concat<axis=0>(u, minus)\ny = Reshape(s, c)"),
    "all_by_its_shape": (f"{X}, {M}", "float[K] y", PICKED + "h = Shape(s)\nd = ReduceProd<axes=[0]>(h)\ny = Reshape(s, d)"),
    "ones_like": (f"{X}, {M}", "float[K,3] y", PICKED + "h = Shape(s)\no = ConstantOfShape<value=float[1] {1.0}>(h)\ny = Add(s, o)"),
    "expand_to_its_shape": (f"{X}, {M}, float[3] w", "float[K,3] y", PICKED + "h = Shape(s)\ne = Expand(w, h)\ny = Mul(s, e)"),
    "expand_of_rows": (f"{X}, {M}, float[1,3] w", "float[2,K,3] y", PICKED + ROWS + "d = Constant<value_ints=[2]>()\nf = Constant<value_ints=[3]>()\nc = Concat<axis=0>(d, u, f)\ny = Expand(w, c)"),
    "numbers_of_rows": (f"{X}, {M}", "float[K,3] y", PICKED + ROWS + "e = Constant<value_int=1>()\nr = Range(zero, k, e)\nf = Cast<to=1>(r)\nv = Unsqueeze(f, one)\ny = Add(s, v)"),
    "mask_assignment": (f"{X}, {M}, float[N,3] z", "float[N,3] y", FOUND + "g = GatherND(z, t)\nu = Exp(g)\ny = ScatterND(x, t, u)"),
    "mask_assignment_of_one": ("float[N,M,2] x, bool[N,M] m, float[1,2] w", "float[N,M,2] y", FOUND + "h = Shape(t)\nk = Slice(h, zeros, one)\nd = Constant<value_ints=[2]>()\nc = Concat<axis=0>(k, d)\nu = Expand(w, c)\ny = ScatterND(x, t, u)"),
    "mask_addition": ("float[N,M] x, bool[N,M] m", "float[N,M] y", MASKED + "u = Neg(s)\ny = ScatterND<reduction=\"add\">(x, t, u)"),
}
CONSTANTS = {
    "zero": "Constant<value_int=0>()", "two": "Constant<value_int=2>()", "zeros": "Constant<value_ints=[0]>()",
    "one": "Constant<value_ints=[1]>()", "two_of": "Constant<value_ints=[2]>()", "many": f"Constant<value_ints=[{2**63 - 1}]>()",
    "minus": "Constant<value_ints=[-1]>()", "minus_two": "Constant<value_ints=[-2]>()",
}
# Graphs that are refused where there is one slice at most: which of a new shape's sizes of 1 is meant is not clear.
OF_SEVERAL = ["hardmax", "tile_of_columns"]
# What is computed where there are no elements and onnxruntime refuses, or has a mean of 0: an extreme of none is the type's, as ONNX says,
# and a mean of none is no number, as numpy says.
OF_NONE = {"masked_mean": np.nan, "mean_of_all": np.nan, "mean_of_integers": 0, "rest_by_its_shape": 0.0, "greatest": -np.inf, "least": np.inf, "greatest_integer": np.iinfo(np.int32).min, "log_sum_exp": -np.inf}


def model(case, sizes):
    inputs, outputs, nodes = CASES[case]
    used = [f"{name} = {value}\n" for name, value in CONSTANTS.items() if re.search(rf"[(, ]{name}[,)]", nodes)]
    if sizes:
        inputs = re.sub(r"\b[NM]\b", lambda found: str(sizes[found[0]]), inputs)
    text = f'<ir_version: 8, opset_import: ["": 17]>\ng ({inputs}) => ({outputs}) {{\n{"".join(used)}{nodes}\n}}'
    return onnx.parser.parse_model(text)


def arrays(case, sizes, density, random):
    found = {}
    for kind, shape, name in re.findall(r"(\w+)\[([^\]]*)\] (\w+)", CASES[case][0]):
        shape = [sizes.get(size) or int(size) for size in shape.split(",")]
        holds = random.random(shape) < density
        found[name] = {
            "bool": lambda: holds,
            "int32": lambda: random.integers(-3, 3, shape).astype(np.int32),
            "float": lambda: random.standard_normal(shape).astype(np.float32) * (holds if name == "f" else 1),
        }[kind]().astype({"bool": bool, "int32": np.int32, "float": np.float32}[kind])
    return found


def optc(command, path, inputs, folder, *more):
    np.savez(folder / "x.npz", **inputs)
    out = folder / "y.npz"
    out.unlink(missing_ok=True)
    command = [command, "run", str(path), "--inputs", str(folder / "x.npz"), "--out", str(out), *more]
    ran = subprocess.run(command, capture_output=True, text=True)
    return (dict(np.load(out))["y"], "") if ran.returncode == 0 else (None, ran.stdout + ran.stderr)


def expected(case, inputs):
    """Onnxruntime's output; None if it fails; a number of numpy's where all elements are that number."""
    if case in OF_NONE and not inputs["m"].any():
        return OF_NONE[case]
    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(model(case, None).SerializeToString(), providers=["CPUExecutionProvider"])
    try:
        return session.run(None, inputs)[0]
    except Exception:
        return None


def runs(case, rounds, random):
    """Sizes and inputs."""
    for density in [0.0, 1.0, *[random.random() for _ in range(rounds)]]:
        sizes = {"N": int(random.integers(2 if case in OF_SEVERAL else 1, 9)), "M": int(random.integers(1, 7))}
        yield sizes, arrays(case, sizes, density, random)


def is_same(found, wanted):
    if wanted is None or found is None:
        return wanted is None and found is None
    if not isinstance(wanted, np.ndarray):
        return np.array_equal(found, np.full_like(found, wanted), equal_nan=isinstance(wanted, float))
    return found.shape == wanted.shape and np.allclose(found, wanted, 1e-5, 1e-5, equal_nan=True)


def compare(command, case, rounds, folder, random):
    faults, ran = [], 0
    for sizes, inputs in runs(case, rounds, random):
        paths = [folder / "known.onnx", folder / "named.onnx"]
        onnx.save(model(case, sizes), paths[0])
        onnx.save(model(case, None), paths[1])
        wanted = expected(case, inputs)
        for path, more in [(paths[0], []), (paths[1], []), (paths[0], ["--poison"]), (paths[1], ["--interpret"])]:
            found, said = optc(command, path, inputs, folder, *more)
            ran += 1
            if not is_same(found, wanted):
                faults.append(f"{case} {sizes} {path.stem} {more}: {found} {said}, expected {wanted}")
    return faults, ran


def text(array):
    kind = {"f": "f32", "b": "bool", "i": f"i{array.itemsize * 8}"}[array.dtype.kind]
    numbers = array.reshape(-1).astype(np.int64) if kind == "bool" else array.reshape(-1)
    return " ".join([kind, ",".join(str(size) for size in array.shape) or "-", *[str(number) for number in numbers]])


def store(path):
    random = np.random.default_rng(11)
    lines = []
    for case in CASES:
        lines += [f"graph {case}", f"model {model(case, None).SerializeToString().hex()}"]
        for sizes, inputs in runs(case, 2, random):
            inputs = {name: np.round(array, 2) if array.dtype.kind == "f" else array for name, array in inputs.items()}
            lines.append("sizes " + " ".join(f"{name}={size}" for name, size in sizes.items() if re.search(rf"\b{name}\b", CASES[case][0])))
            lines += [f"input {name} {text(array)}" for name, array in inputs.items()]
            wanted = expected(case, inputs)
            lines.append(
                "fails" if wanted is None else f"each {wanted}" if not isinstance(wanted, np.ndarray) else f"output {text(wanted)}"
            )
    Path(path).write_text("\n".join(lines) + "\n")


def main():
    if sys.argv[1] == "store":
        return store(sys.argv[2])
    command, rounds, part = sys.argv[2], int(sys.argv[3]), "".join(sys.argv[4:])
    random = np.random.default_rng(7)
    faults, ran = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for case in [case for case in CASES if part in case]:
            found, more = compare(command, case, rounds, Path(folder), random)
            print(f"{case}: {'differs' if found else 'same'}", flush=True)
            faults, ran = faults + found, ran + more
    print("\n".join(faults))
    print(f"{len(CASES)} graphs, {ran} runs, {len(faults)} differ")
    sys.exit(bool(faults))


main()
