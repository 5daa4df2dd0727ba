"""Random nodes: for each ONNX operator that `optc` imports, a function that draws operands and attributes.

A function takes a `graphs.Graph`, draws operands that suit it (`graph.pick`, `graph.number_input`, ...), and
returns `(inputs, attributes, outputs)`: the names of its inputs, its attributes, and how many outputs it has.
It returns None if what was drawn suits no node. Values that the standard leaves undefined are not drawn:
integer division by zero, casts beyond a type's range, indices outside of an axis.
"""

import math

import numpy as np
from ml_dtypes import bfloat16

FLOATS = [np.float32, np.float64, np.float16, bfloat16]
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
ANY = NUMBERS + [np.bool_]
WIDE = [np.float32, np.float64, np.int32, np.int64]

OPERATORS = {}

# Those whose results may be off by a share of the largest one.
SUMS = {
    "AveragePool", "Conv", "ConvTranspose", "CumSum", "DFT", "Det", "Einsum", "Gemm", "GlobalAveragePool", "GridSample",
    "BatchNormalization", "DeformConv", "GroupNormalization", "InstanceNormalization", "LayerNormalization",
    "MatMul", "Mean",
    "MeanVarianceNormalization", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "ReduceProd", "ReduceSum", "Resize",
    "RoiAlign", "Sum", "Attention", "LSTM", "GRU", "RNN", "Add", "Sub", "RotaryEmbedding", "LogSoftmax",
}


def operator(*names, since=1, until=99):
    """Registers a function for operators of these names, in these versions of the operator set."""

    def register(function):
        for name in names:
            OPERATORS.setdefault(name, []).append((since, until, function))
        return function

    return register


def axis_of(graph, rank):
    axis = graph.random.randrange(rank)
    return axis - rank if graph.chance(0.3) else axis


def some_axes(graph, rank, least=0):
    count = graph.random.randint(min(least, rank), rank)
    axes = graph.random.sample(range(rank), count)
    return [axis - rank if graph.chance(0.3) else axis for axis in axes]


def is_float(array):
    return array.dtype.kind == "f" or array.dtype == bfloat16


def has_nan(array):
    return is_float(array) and bool(np.any(np.isnan(array.astype(np.float64))))


# --- element by element ---------------------------------------------------------------------------------


@operator(
    "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Erf", "Exp", "HardSwish", "Log", "Mish",
    "Reciprocal", "Round", "Sigmoid", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "Ceil",
    "Floor", "IsNaN",
)
def of_a_float(graph, name):
    return [graph.pick(FLOATS)], {}, 1


@operator("Abs", "Sign")
def of_a_number(graph, name):
    return [graph.pick(NUMBERS)], {}, 1


@operator("Neg")
def negated(graph, name):
    return [graph.pick(FLOATS + SIGNED)], {}, 1


@operator("Relu")
def rectified(graph, name):
    return [graph.pick(FLOATS + (SIGNED if graph.version >= 14 else []))], {}, 1


@operator("Identity")
def same(graph, name):
    return [graph.pick(ANY)], {}, 1


@operator("Not")
def negation(graph, name):
    return [graph.pick([np.bool_])], {}, 1


@operator("BitwiseNot", since=18)
def complement(graph, name):
    return [graph.pick(INTEGERS)], {}, 1


@operator("Elu", "Celu", "LeakyRelu", "ThresholdedRelu", "Selu", "HardSigmoid", "Shrink", "Gelu", "IsInf")
def with_parameters(graph, name):
    allowed = {
        "Elu": ["alpha"], "Celu": ["alpha"], "LeakyRelu": ["alpha"], "ThresholdedRelu": ["alpha"],
        "Selu": ["alpha", "gamma"], "HardSigmoid": ["alpha", "beta"], "Shrink": ["lambd", "bias"],
    }
    types = [np.float32] if name in ("Celu", "IsInf") else FLOATS
    if name == "Gelu" and graph.version < 20:
        return None
    attributes = {key: graph.random.choice([0.25, 0.5, 1.0, 1.5]) for key in allowed.get(name, []) if graph.chance(0.6)}
    if name == "Gelu" and graph.chance(0.5):
        attributes["approximate"] = "tanh"
    if name == "IsInf":
        attributes = {key: graph.random.randint(0, 1) for key in ("detect_negative", "detect_positive")}
    return [graph.pick(types)], attributes, 1


@operator("Add", "Sub", "Mul")
def arithmetic(graph, name):
    return list(graph.pair(NUMBERS)), {}, 1


@operator("Div", "Mod")
def divided(graph, name):
    a, b = graph.pair(NUMBERS if name == "Div" else FLOATS[:1] + INTEGERS)
    divisor = graph.array(b)
    if not is_float(divisor) and (np.any(divisor == 0) or np.any(divisor == -1)):
        return None
    if name == "Mod":
        return [a, b], {"fmod": 1 if is_float(divisor) else graph.random.randint(0, 1)}, 1
    return [a, b], {}, 1


@operator("Pow")
def power(graph, name):
    a, b = graph.pair(FLOATS[:3])
    return [a, b], {}, 1


@operator("And", "Or", "Xor")
def logic(graph, name):
    return list(graph.pair([np.bool_])), {}, 1


@operator("BitwiseAnd", "BitwiseOr", "BitwiseXor", since=18)
def bitwise(graph, name):
    return list(graph.pair(INTEGERS)), {}, 1


@operator("BitShift")
def shifted(graph, name):
    a = graph.pick(UNSIGNED)
    array = graph.array(a)
    places = graph.numpy.integers(0, array.dtype.itemsize * 8, array.shape).astype(array.dtype)
    return [a, graph.given(places)], {"direction": graph.random.choice(["LEFT", "RIGHT"])}, 1


@operator("Equal")
def equality(graph, name):
    return list(graph.pair(ANY)), {}, 1


@operator("Greater", "Less", "GreaterOrEqual", "LessOrEqual")
def order(graph, name):
    return list(graph.pair(NUMBERS)), {}, 1


@operator("Max", "Min")
def extremes(graph, name):
    first, second = graph.pair(NUMBERS)
    return [first, second] + ([first] if graph.chance(0.2) else []), {}, 1


@operator("Sum", "Mean")
def folded(graph, name):
    first, second = graph.pair(FLOATS)
    return [first, second] + ([first] if graph.chance(0.3) else []), {}, 1


@operator("PRelu")
def parametric(graph, name):
    x = graph.pick(FLOATS[:2])
    shape = graph.array(x).shape
    slope = [size if graph.chance(0.5) else 1 for size in shape]
    return [x, graph.given(graph.numbers(slope, graph.array(x).dtype))], {}, 1


@operator("Where")
def chosen(graph, name):
    a, b = graph.pair(ANY)
    condition = graph.like_shape(a, np.bool_)
    return [condition, a, b], {}, 1


@operator("Clip", since=11)
def clipped(graph, name):
    x = graph.pick(FLOATS + (SIGNED + UNSIGNED if graph.version >= 12 else []))
    kind = graph.array(x).dtype
    low, high = sorted(graph.random.sample(range(0, 6), 2))
    bounds = [graph.given(np.array(bound, kind)) if graph.chance(0.8) else "" for bound in (low, high)]
    return [x] + bounds, {}, 1


@operator("Cast")
def cast(graph, name):
    x = graph.pick(ANY)
    array = graph.array(x)
    target = graph.random.choice(ANY)
    if is_float(array) and target in INTEGERS:
        info = np.iinfo(target)
        wide = array.astype(np.float64)
        if not np.all(np.isfinite(wide)) or np.any(wide <= max(info.min, -2**52)) or np.any(wide >= min(info.max, 2**52)):
            return None
    return [x], {"to": graph.number_of(target)}, 1


# --- shapes ---------------------------------------------------------------------------------------------


@operator("Reshape")
def reshaped(graph, name):
    x = graph.pick(ANY)
    shape = list(graph.array(x).shape)
    graph.random.shuffle(shape)
    if len(shape) > 1 and graph.chance(0.5):
        at = graph.random.randrange(len(shape) - 1)
        shape[at:at + 2] = [shape[at] * shape[at + 1]]
    if shape and 0 not in shape and graph.chance(0.4):
        shape[graph.random.randrange(len(shape))] = -1
    if 0 in shape:
        return None
    return [x, graph.given(np.array(shape, np.int64), is_constant=True)], {}, 1


@operator("Flatten")
def flattened(graph, name):
    x = graph.pick(ANY)
    rank = graph.array(x).ndim
    return [x], {"axis": graph.random.randint(-rank, rank)}, 1


@operator("Squeeze", since=13)
def squeezed(graph, name):
    x = graph.pick(ANY)
    shape = graph.array(x).shape
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    if not ones or graph.chance(0.3):
        return [x], {}, 1
    axes = graph.random.sample(ones, graph.random.randint(1, len(ones)))
    return [x, graph.given(np.array(axes, np.int64), is_constant=True)], {}, 1


@operator("Unsqueeze", since=13)
def unsqueezed(graph, name):
    x = graph.pick(ANY)
    rank = graph.array(x).ndim
    if rank > 3:
        return None
    count = graph.random.randint(1, 2)
    axes = graph.random.sample(range(rank + count), count)
    axes = [axis - rank - count if graph.chance(0.3) else axis for axis in axes]
    return [x, graph.given(np.array(axes, np.int64), is_constant=True)], {}, 1


@operator("Transpose")
def transposed(graph, name):
    x = graph.pick(ANY)
    rank = graph.array(x).ndim
    if graph.chance(0.2):
        return [x], {}, 1
    return [x], {"perm": graph.random.sample(range(rank), rank)}, 1


@operator("Concat")
def concatenated(graph, name):
    x = graph.pick(ANY, least=1)
    array = graph.array(x)
    axis = axis_of(graph, array.ndim)
    shape = list(array.shape)
    shape[axis] = graph.random.randint(1, 3)
    parts = [x, graph.fresh(shape, array.dtype)] + ([x] if graph.chance(0.3) else [])
    graph.random.shuffle(parts)
    return parts, {"axis": axis}, 1


@operator("Split", since=13)
def split(graph, name):
    x = graph.pick(ANY, least=1)
    shape = graph.array(x).shape
    axis = axis_of(graph, len(shape))
    size = shape[axis]
    if size < 2:
        return None
    cut = graph.random.randint(1, size - 1)
    return [x, graph.given(np.array([cut, size - cut], np.int64), is_constant=True)], {"axis": axis}, 2


@operator("Slice", since=10)
def sliced(graph, name):
    x = graph.pick(ANY, least=1)
    shape = graph.array(x).shape
    axes = graph.random.sample(range(len(shape)), graph.random.randint(1, len(shape)))
    starts, ends, steps = [], [], []
    for axis in axes:
        size = shape[axis]
        step = graph.random.choice([1, 1, 2, 3, -1, -2])
        bound = lambda: graph.random.choice([graph.random.randint(-size - 2, size + 2), 2**62, -(2**62)])
        starts.append(bound())
        ends.append(bound())
        steps.append(step)
    lists = [starts, ends, axes, steps]
    kind = graph.random.choice([np.int64, np.int64, np.int32])
    if kind == np.int32:
        lists = [[max(min(number, 2**31 - 1), -(2**31)) for number in numbers] for numbers in lists]
    return [x] + [graph.given(np.array(numbers, kind), is_constant=True) for numbers in lists], {}, 1


@operator("Expand")
def expanded(graph, name):
    x = graph.pick(ANY)
    shape = [size if size != 1 or graph.chance(0.4) else graph.random.randint(1, 4) for size in graph.array(x).shape]
    shape = [1 if graph.chance(0.2) else size for size in shape]
    if len(shape) < 4 and graph.chance(0.3):
        shape = [graph.random.randint(1, 3)] + shape
    return [x, graph.given(np.array(shape, np.int64), is_constant=True)], {}, 1


@operator("Tile")
def tiled(graph, name):
    x = graph.pick(ANY, least=1)
    repeats = [graph.random.choice([1, 1, 2, 3]) for _ in graph.array(x).shape]
    return [x, graph.given(np.array(repeats, np.int64), is_constant=True)], {}, 1


@operator("Pad", since=13)
def padded(graph, name):
    x = graph.pick(ANY if graph.chance(0.3) else [np.float32], least=1)
    array = graph.array(x)
    mode = graph.random.choice(["constant", "reflect", "edge"] + (["wrap"] if graph.version >= 19 else []))
    if 0 in array.shape and mode != "constant":
        return None
    most = lambda size: max(0, size - 1) if mode == "reflect" else (size if mode == "wrap" else 2)
    least = 0 if mode != "constant" or graph.chance(0.6) else -1
    pads = [graph.random.randint(least if size > 2 else 0, min(2, most(size))) for size in array.shape * 2]
    inputs = [x, graph.given(np.array(pads, np.int64), is_constant=True)]
    if mode == "constant" and graph.chance(0.5):
        inputs.append(graph.given(np.array(1, array.dtype)))
    return inputs, {"mode": mode}, 1


@operator("Shape", "Size")
def measured(graph, name):
    x = graph.pick(ANY)
    rank = graph.array(x).ndim
    if name == "Shape" and graph.version >= 15 and graph.chance(0.5):
        return [x], {"start": graph.random.randint(-rank - 1, rank), "end": graph.random.randint(-rank - 1, rank + 1)}, 1
    return [x], {}, 1


@operator("DepthToSpace", "SpaceToDepth")
def blocks(graph, name):
    n, c, h, w = (graph.random.randint(1, 3) for _ in range(4))
    size = 2
    shape = [n, c * 4, h, w] if name == "DepthToSpace" else [n, c, h * 2, w * 2]
    attributes = {"blocksize": size}
    if name == "DepthToSpace":
        attributes["mode"] = graph.random.choice(["DCR", "CRD"])
    return [graph.fresh(shape, np.float32)], attributes, 1


@operator("Trilu", since=14)
def triangle(graph, name):
    x = graph.pick(ANY, least=2)
    inputs = [x]
    if graph.chance(0.6):
        inputs.append(graph.given(np.array(graph.random.randint(-3, 3), np.int64), is_constant=True))
    return inputs, {"upper": graph.random.randint(0, 1)}, 1


@operator("EyeLike")
def identity_matrix(graph, name):
    x = graph.fresh([graph.random.randint(1, 4), graph.random.randint(1, 4)], graph.random.choice(WIDE))
    return [x], {"k": graph.random.randint(-2, 2)}, 1


@operator("CenterCropPad", since=18)
def centred(graph, name):
    x = graph.pick([np.float32], least=1)
    rank = graph.array(x).ndim
    axes = graph.random.sample(range(rank), graph.random.randint(1, rank))
    shape = [graph.random.randint(1, 6) for _ in axes]
    return [x, graph.given(np.array(shape, np.int64), is_constant=True)], {"axes": axes}, 1


@operator("ReverseSequence")
def reversed_sequences(graph, name):
    time, batch = graph.random.randint(1, 5), graph.random.randint(1, 3)
    first = graph.random.randint(0, 1)
    shape = [batch, time] if first == 0 else [time, batch]
    lengths = graph.numpy.integers(1, time + 1, batch).astype(np.int64)
    x = graph.fresh(shape + [2] * graph.random.randint(0, 1), np.float32)
    return [x, graph.given(lengths)], {"batch_axis": first, "time_axis": 1 - first}, 1


# --- indices --------------------------------------------------------------------------------------------


def indices(graph, size, shape, kinds=(np.int32, np.int64)):
    numbers = graph.numpy.integers(-size, size, shape).astype(graph.random.choice(kinds))
    return graph.given(numbers)


@operator("Gather")
def gathered(graph, name):
    x = graph.pick(ANY, least=1)
    shape = graph.array(x).shape
    axis = axis_of(graph, len(shape))
    if shape[axis] == 0:
        return None
    return [x, indices(graph, shape[axis], graph.shape(most=2))], {"axis": axis}, 1


@operator("GatherElements")
def gathered_elements(graph, name):
    x = graph.pick(ANY, least=1)
    shape = list(graph.array(x).shape)
    axis = axis_of(graph, len(shape))
    size = shape[axis]
    if 0 in shape:
        return None
    places = [graph.random.randint(1, count) for count in shape]
    places[axis] = graph.random.randint(1, 4)
    return [x, indices(graph, size, places)], {"axis": axis}, 1


@operator("GatherND")
def gathered_slices(graph, name):
    x = graph.pick(ANY, least=1)
    shape = graph.array(x).shape
    if 0 in shape:
        return None
    count = graph.random.randint(1, len(shape))
    outer = graph.shape(most=2)
    columns = [graph.numpy.integers(-size, size, outer) for size in shape[:count]]
    return [x, graph.given(np.stack(columns, -1).astype(np.int64))], {}, 1


@operator("ScatterElements", since=11)
def scattered_elements(graph, name):
    x = graph.pick(WIDE, least=1)
    array = graph.array(x)
    if 0 in array.shape:
        return None
    axis = axis_of(graph, array.ndim)
    places = [graph.random.randint(1, count) for count in array.shape]
    reductions = ["none"] + (["add", "mul"] if graph.version >= 16 else []) + (["min", "max"] if graph.version >= 18 else [])
    reduction = graph.random.choice(reductions)
    size = array.shape[axis]
    columns = np.argsort(graph.numpy.random(array.shape), axis)
    cut = tuple(slice(0, count) for count in places)
    numbers = columns[cut] if reduction == "none" else graph.numpy.integers(-size, size, places)
    attributes = {"axis": axis}
    if graph.version >= 16:
        attributes["reduction"] = reduction
    return [x, graph.given(numbers.astype(np.int64)), graph.fresh(places, array.dtype)], attributes, 1


@operator("ScatterND", since=11)
def scattered_slices(graph, name):
    x = graph.pick(WIDE, least=1)
    array = graph.array(x)
    if 0 in array.shape:
        return None
    count = graph.random.randint(1, array.ndim)
    places = list(np.ndindex(*array.shape[:count]))
    chosen = graph.random.sample(places, graph.random.randint(1, min(4, len(places))))
    reductions = ["none"] + (["add", "mul"] if graph.version >= 16 else []) + (["min", "max"] if graph.version >= 18 else [])
    reduction = graph.random.choice(reductions)
    if reduction != "none":
        chosen = chosen + chosen[:1]
    updates = graph.fresh([len(chosen)] + list(array.shape[count:]), array.dtype)
    attributes = {"reduction": reduction} if graph.version >= 16 else {}
    return [x, graph.given(np.array(chosen, np.int64)), updates], attributes, 1


@operator("OneHot", since=11)
def one_hot(graph, name):
    depth = graph.random.randint(1, 5)
    at = graph.given(graph.numpy.integers(-depth - 1, depth + 1, graph.shape(most=2, least=1)).astype(np.int64))
    kind = graph.random.choice([np.float32, np.int64, np.int32])
    inputs = [at, graph.given(np.array(depth, np.int64), is_constant=True), graph.given(np.array([2, 5], kind))]
    return inputs, {"axis": graph.random.choice([-1, 0])}, 1


@operator("TopK", since=11)
def top(graph, name):
    x = graph.pick(WIDE, least=1)
    array = graph.array(x)
    axis = axis_of(graph, array.ndim)
    if array.shape[axis] == 0 or array.size == 0 or (is_float(array) and np.any(np.isnan(array))):
        return None
    count = graph.random.randint(1, array.shape[axis])
    return [x, graph.given(np.array([count], np.int64), is_constant=True)], {"axis": axis, "largest": graph.random.randint(0, 1)}, 2


@operator("ArgMax", "ArgMin")
def extreme_index(graph, name):
    x = graph.pick(WIDE, least=1)
    array = graph.array(x)
    if 0 in array.shape or (is_float(array) and np.any(np.isnan(array))):
        return None
    attributes = {"axis": axis_of(graph, array.ndim), "keepdims": graph.random.randint(0, 1)}
    if graph.version >= 12:
        attributes["select_last_index"] = graph.random.randint(0, 1)
    return [x], attributes, 1


@operator("NonZero")
def non_zero(graph, name):
    return [graph.pick([np.float32, np.int32, np.int64, np.bool_], least=1)], {}, 1


@operator("Compress")
def compressed(graph, name):
    x = graph.pick(ANY, least=1)
    shape = graph.array(x).shape
    if graph.chance(0.3):
        return [x, graph.given(graph.numpy.random(math.prod(shape)) < 0.5)], {}, 1
    axis = axis_of(graph, len(shape))
    return [x, graph.given(graph.numpy.random(shape[axis]) < 0.5)], {"axis": axis}, 1


@operator("Unique", since=11)
def distinct(graph, name):
    x = graph.pick([np.float32, np.float64, np.int64, np.int8], least=1)
    array = graph.array(x)
    # Whether NaN is like NaN is left open.
    if array.size == 0 or has_nan(array):
        return None
    # The reference gives no slices along an axis in the order in which they appear.
    if graph.chance(0.5):
        return [x], {"axis": axis_of(graph, array.ndim), "sorted": 1}, 4
    flat = graph.given(array.reshape(-1))
    return [flat], {"sorted": graph.random.randint(0, 1)}, 4


@operator("CumSum")
def running_sum(graph, name):
    x = graph.pick(WIDE, least=1)
    axis = graph.given(np.array(axis_of(graph, graph.array(x).ndim), graph.random.choice([np.int32, np.int64])))
    return [x, axis], {"exclusive": graph.random.randint(0, 1), "reverse": graph.random.randint(0, 1)}, 1


@operator("Range", since=11)
def numbers_in_order(graph, name):
    kind = graph.random.choice([np.int64, np.int32, np.float32])
    start, count, step = graph.random.randint(-3, 3), graph.random.randint(0, 5), graph.random.choice([1, 2, -1])
    bounds = [start, start + count * step, step]
    return [graph.given(np.array(bound, kind), is_constant=True) for bound in bounds], {}, 1


# --- reductions, norms ----------------------------------------------------------------------------------

REDUCTIONS = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]


@operator(*[f"Reduce{name}" for name in REDUCTIONS])
def reduced(graph, name):
    x = graph.pick(WIDE if name not in ("ReduceLogSum", "ReduceLogSumExp", "ReduceL2") else [np.float32, np.float64])
    array = graph.array(x)
    axes = some_axes(graph, array.ndim)
    attributes = {"keepdims": graph.random.randint(0, 1)}
    by_operand = graph.version >= 18 or (name == "ReduceSum" and graph.version >= 13)
    if array.size == 0:
        return None
    # The reference computes the mean of integers with floats.
    if name == "ReduceMean" and array.dtype.kind in "iu" and np.any(np.abs(array.astype(np.float64)) > 2**50):
        return None
    if not by_operand:
        return [x], {**attributes, **({"axes": axes} if axes else {})}, 1
    if not axes and graph.chance(0.5):
        return [x], {**attributes, "noop_with_empty_axes": graph.random.randint(0, 1)}, 1
    return [x, graph.given(np.array(axes, np.int64), is_constant=True)], attributes, 1


@operator("Softmax", "LogSoftmax", "Hardmax", since=13)
def normalised(graph, name):
    x = graph.pick(FLOATS[:3], least=1)
    array = graph.array(x)
    if array.size == 0 or np.any(np.isnan(array.astype(np.float64))):
        return None
    return [x], {"axis": axis_of(graph, array.ndim)}, 1


@operator("LayerNormalization", "RMSNormalization")
def row_normalised(graph, name):
    if graph.version < (17 if name == "LayerNormalization" else 23):
        return None
    x = graph.pick([np.float32], least=1)
    shape = graph.array(x).shape
    axis = graph.random.randrange(len(shape))
    scale = graph.fresh(list(shape[axis:]), np.float32)
    inputs = [x, scale]
    if name == "LayerNormalization" and graph.chance(0.6):
        inputs.append(graph.fresh(list(shape[axis:]), np.float32))
    return inputs, {"axis": axis, "epsilon": 0.01}, 1


@operator("InstanceNormalization", "BatchNormalization", "GroupNormalization")
def channel_normalised(graph, name):
    x = graph.image()
    channels = graph.array(x).shape[1]
    vector = lambda: graph.fresh([channels], np.float32)
    if name == "BatchNormalization":
        variance = graph.given(np.abs(graph.numbers([channels], np.float32)) + np.float32(0.5))
        return [x, vector(), vector(), vector(), variance], {"epsilon": 0.01}, 1
    if name == "GroupNormalization":
        if graph.version < 21:
            return None
        groups = graph.random.choice([count for count in range(1, channels + 1) if channels % count == 0])
        return [x, vector(), vector()], {"epsilon": 0.01, "num_groups": groups}, 1
    return [x, vector(), vector()], {"epsilon": 0.01}, 1


@operator("MeanVarianceNormalization", "LRN", "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def whole_image(graph, name):
    x = graph.image()
    if name == "LRN":
        return [x], {"size": graph.random.randint(1, 4), "alpha": 0.5, "beta": 0.75, "bias": 1.5}, 1
    powers = [1, 2, 3] if graph.version >= 2 else [1.0, 2.0, 3.0]
    return [x], {"p": graph.random.choice(powers)} if name == "GlobalLpPool" else {}, 1


@operator("LpNormalization")
def length_normalised(graph, name):
    x = graph.pick([np.float32], least=1)
    array = graph.array(x)
    return [x], {"axis": axis_of(graph, array.ndim), "p": graph.random.randint(1, 2)}, 1


# --- products and windows -------------------------------------------------------------------------------


@operator("MatMul")
def product(graph, name):
    kind = graph.random.choice([np.float32] * 6 + [np.float64, np.float16, np.int32])
    m, k, n = (graph.random.randint(1, 9) for _ in range(3))
    batch = graph.shape(most=2)
    left = [size if graph.chance(0.7) else 1 for size in batch] + [m, k]
    right = [size if graph.chance(0.7) else 1 for size in batch][graph.random.randint(0, len(batch)):] + [k, n]
    if graph.chance(0.1):
        left = [k]
    elif graph.chance(0.1):
        right = [k]
    return [graph.fresh(left, kind), graph.fresh(right, kind)], {}, 1


@operator("Gemm", since=11)
def general_product(graph, name):
    m, k, n = (graph.random.randint(1, 9) for _ in range(3))
    a_turned, b_turned = graph.random.randint(0, 1), graph.random.randint(0, 1)
    a = graph.fresh([k, m] if a_turned else [m, k], np.float32)
    b = graph.fresh([n, k] if b_turned else [k, n], np.float32)
    inputs = [a, b]
    if graph.chance(0.7):
        inputs.append(graph.fresh(graph.random.choice([[m, n], [n], [1, n], [m, 1], []]), np.float32))
    attributes = {"transA": a_turned, "transB": b_turned}
    if graph.chance(0.5):
        attributes |= {"alpha": 0.5, "beta": 2.0}
    return inputs, attributes, 1


@operator("Einsum", since=12)
def einsum(graph, name):
    equation = graph.random.choice(["ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij,ij->", "bij,bkj->bki", "ii->i", "i,j->ij", "...i,...i->..."])
    sizes = {letter: graph.random.randint(1, 5) for letter in "bijk"}
    shapes = [[sizes[letter] for letter in term.replace("...", "b")] for term in equation.split("->")[0].split(",")]
    return [graph.fresh(shape, np.float32) for shape in shapes], {"equation": equation}, 1


def window(graph, sizes, kernel):
    """Strides, dilations and pads that leave something to compute."""
    rank = len(sizes)
    attributes = {"strides": [graph.random.randint(1, 2) for _ in sizes]}
    if graph.chance(0.3):
        attributes["dilations"] = [graph.random.randint(1, 2) for _ in sizes]
    dilations = attributes.get("dilations", [1] * rank)
    extents = [dilation * (size - 1) + 1 for dilation, size in zip(dilations, kernel)]
    way = graph.random.random()
    # With strides above the window's extent, `SAME` has fewer than no pads, of which readings differ.
    # With dilations, onnxruntime and the reference each pad in their own way.
    if way < 0.25 and "dilations" not in attributes and all(stride <= extent for stride, extent in zip(attributes["strides"], extents)):
        attributes["auto_pad"] = graph.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        pads = [0] * (2 * rank)
        fits = attributes["auto_pad"] != "VALID"
    else:
        pads = [graph.random.randint(0, min(2, size - 1)) for size in list(kernel) * 2]
        attributes["pads"] = pads
        fits = False
    fits = fits or all(size + pads[at] + pads[at + rank] >= extents[at] for at, size in enumerate(sizes))
    return attributes if fits else None


@operator("Conv", "ConvInteger")
def convolution(graph, name):
    rank = graph.random.choice([1, 2, 2, 2, 3])
    kind = np.float32 if name == "Conv" else np.uint8
    groups = graph.random.choice([1, 1, 2, 3])
    inputs, outputs = groups * graph.random.randint(1, 3), groups * graph.random.randint(1, 3)
    sizes = [graph.random.randint(2, 7) for _ in range(rank)]
    kernel = [graph.random.randint(1, 3) for _ in range(rank)]
    attributes = window(graph, sizes, kernel)
    if attributes is None or (name == "ConvInteger" and rank != 2):
        return None
    x = graph.fresh([graph.random.randint(1, 2), inputs] + sizes, kind)
    filters = graph.fresh([outputs, inputs // groups] + kernel, kind)
    operands = [x, filters]
    if name == "Conv" and graph.chance(0.5):
        operands.append(graph.fresh([outputs], np.float32))
    if graph.chance(0.5):
        attributes["kernel_shape"] = kernel
    return operands, {**attributes, "group": groups}, 1


@operator("ConvTranspose")
def transposed_convolution(graph, name):
    rank = graph.random.choice([1, 2, 2])
    groups = graph.random.choice([1, 1, 2])
    inputs, outputs = groups * graph.random.randint(1, 2), groups * graph.random.randint(1, 2)
    sizes = [graph.random.randint(1, 5) for _ in range(rank)]
    kernel = [graph.random.randint(1, 3) for _ in range(rank)]
    strides = [graph.random.randint(1, 3) for _ in range(rank)]
    attributes = {"strides": strides, "group": groups}
    if graph.chance(0.5):
        attributes["pads"] = [graph.random.randint(0, (size - 1) // 2) for size in kernel] * 2
    if graph.chance(0.3):
        attributes["output_padding"] = [graph.random.randint(0, stride - 1) for stride in strides]
    x = graph.fresh([1, inputs] + sizes, np.float32)
    filters = graph.fresh([inputs, outputs // groups] + kernel, np.float32)
    # Whether a zero between elements makes NaN of an infinity in the filter is left open.
    if not np.all(np.isfinite(graph.array(filters))):
        return None
    operands = [x, filters]
    if graph.chance(0.5):
        operands.append(graph.fresh([outputs], np.float32))
    return operands, attributes, 1


@operator("MaxPool", "AveragePool", "LpPool")
def pooled(graph, name):
    x = graph.image(rank=graph.random.choice([1, 2, 2, 3]))
    sizes = graph.array(x).shape[2:]
    # The least number stands for the least infinity in onnxruntime.
    if name == "MaxPool" and (has_nan(graph.array(x)) or np.any(np.isneginf(graph.array(x)))):
        return None
    kernel = [graph.random.randint(1, 3) for _ in sizes]
    attributes = window(graph, sizes, kernel)
    if attributes is None:
        return None
    if name == "AveragePool" and graph.version < 19 or name == "LpPool" and graph.version < 18:
        attributes.pop("dilations", None)
    if "auto_pad" not in attributes and graph.chance(0.4) and (name != "LpPool" or graph.version >= 18):
        attributes["ceil_mode"] = 1
    if name == "AveragePool":
        attributes["count_include_pad"] = graph.random.randint(0, 1)
    if name == "LpPool":
        attributes["p"] = graph.random.randint(1, 3)
    return [x], {**attributes, "kernel_shape": kernel}, 2 if name == "MaxPool" and graph.chance(0.3) else 1


@operator("Resize", since=13)
def resized(graph, name):
    x = graph.image()
    shape = graph.array(x).shape
    # Whether a tap of weight zero makes NaN of an infinity is left open.
    if not np.all(np.isfinite(graph.array(x))):
        return None
    mode = graph.random.choice(["nearest", "linear", "cubic"])
    attributes = {
        "mode": mode,
        "coordinate_transformation_mode": graph.random.choice(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]),
    }
    if mode == "nearest":
        attributes["nearest_mode"] = graph.random.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    if mode == "cubic" and graph.chance(0.5):
        attributes |= {"cubic_coeff_a": -0.5, "exclude_outside": graph.random.randint(0, 1)}
    if graph.version >= 18 and mode != "nearest" and graph.chance(0.3):
        attributes["antialias"] = 1
    if attributes["coordinate_transformation_mode"] == "align_corners":
        # One element has no two corners: the reference divides by zero.
        attributes.pop("antialias", None)
    if graph.chance(0.15):
        # An axis whose size stays is no region of itself for onnxruntime.
        sizes = [size + graph.random.randint(1, 4) for size in shape]
        starts = [graph.random.choice([-0.5, 0.0, 0.25]) for _ in shape]
        region = starts + [start + graph.random.choice([0.5, 1.0, 1.5]) for start in starts]
        attributes |= {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 3.0}
        attributes.pop("antialias", None)
        given = [graph.given(np.array(region, np.float32), is_constant=True), "", graph.given(np.array(sizes, np.int64), is_constant=True)]
        return [x] + given, attributes, 1
    if graph.chance(0.5):
        scales = [1.0, 1.0] + [graph.random.choice([0.5, 1.0, 1.5, 2.0, 2.5]) for _ in shape[2:]]
        if any(math.floor(size * scale) == 0 for size, scale in zip(shape, scales)):
            return None
        return [x, "", graph.given(np.array(scales, np.float32), is_constant=True)], attributes, 1
    sizes = list(shape[:2]) + [graph.random.randint(1, 8) for _ in shape[2:]]
    return [x, "", "", graph.given(np.array(sizes, np.int64), is_constant=True)], attributes, 1


@operator("GridSample", since=16)
def grid_sampled(graph, name):
    x = graph.image()
    if not np.all(np.isfinite(graph.array(x))):
        return None
    n = graph.array(x).shape[0]
    grid = graph.given((graph.numpy.random([n, 3, 2, 2]) * 2.4 - 1.2).astype(np.float32))
    modes = ["linear", "nearest", "cubic"] if graph.version >= 20 else ["bilinear", "nearest", "bicubic"]
    attributes = {
        "mode": graph.random.choice(modes),
        "padding_mode": graph.random.choice(["zeros", "border", "reflection"]),
        "align_corners": graph.random.randint(0, 1),
    }
    return [x, grid], attributes, 1


@operator("NonMaxSuppression", since=10)
def suppressed(graph, name):
    images = graph.random.randint(1, 2)
    classes = graph.random.randint(1, 3)
    count = graph.random.randint(1, 12)
    boxes = graph.given((graph.numpy.integers(0, 17, [images, count, 4]) / 4).astype(np.float32))
    scores = graph.given((graph.numpy.integers(0, 9, [images, classes, count]) / 8).astype(np.float32))
    limits = [np.array([graph.random.randint(0, 6)], np.int64)]
    choices = ([0.0, 0.3, 0.5], [0.0, 0.2, 0.5])
    limits += [np.array([graph.random.choice(choice)], np.float32) for choice in choices]
    limits = [graph.given(limit, is_constant=graph.chance(0.5)) for limit in limits]
    inputs = [boxes, scores] + limits[:graph.random.randint(1, 3)]
    return inputs, {"center_point_box": graph.random.randint(0, 1)}, 1


@operator("RoiAlign", since=16)
def regions(graph, name):
    x = graph.given(graph.numpy.standard_normal([2, graph.random.randint(1, 3), 5, 6]).astype(np.float32))
    count = graph.random.randint(1, 4)
    corners = graph.numpy.random([count, 4]) * 14 - 2
    corners[:, 2:] = np.maximum(corners[:, 2:], corners[:, :2] + 0.5)
    boxes = graph.given(corners.astype(np.float32))
    images = graph.given(graph.numpy.integers(0, 2, [count]))
    attributes = {
        "coordinate_transformation_mode": graph.random.choice(["half_pixel", "output_half_pixel"]),
        "mode": graph.random.choice(["avg", "max"]),
        "output_height": graph.random.randint(1, 3),
        "output_width": graph.random.randint(1, 3),
        "sampling_ratio": graph.random.randint(0, 3),
        "spatial_scale": graph.random.choice([1.0, 0.5]),
    }
    return [x, boxes, images], attributes, 1


@operator("DeformConv", since=19)
def deformed(graph, name):
    groups, fields = graph.random.choice([1, 2]), graph.random.choice([1, 2])
    channels, outputs = 2 * graph.random.randint(1, 2), 2 * graph.random.randint(1, 2)
    kernel = [graph.random.randint(1, 3), graph.random.randint(1, 2)]
    sizes = [graph.random.randint(3, 6), graph.random.randint(3, 6)]
    strides, dilations = ([graph.random.randint(1, 2) for _ in kernel] for _ in range(2))
    pads = [graph.random.randint(0, 2) for _ in range(4)]
    windows = []
    for axis in range(2):
        room = sizes[axis] + pads[axis] + pads[axis + 2] - (kernel[axis] - 1) * dilations[axis] - 1
        if room < 0:
            return None
        windows.append(room // strides[axis] + 1)

    def normal(shape, scale=1.0):
        return graph.given((graph.numpy.standard_normal(shape) * scale).astype(np.float32))

    area = math.prod(kernel)
    inputs = [
        normal([2, channels] + sizes),
        normal([outputs, channels // groups] + kernel),
        normal([2, fields * area * 2] + windows, 1.5),
    ]
    more = [normal([outputs]), normal([2, fields * area] + windows)]
    attributes = {
        "group": groups, "offset_group": fields, "kernel_shape": kernel, "strides": strides,
        "dilations": dilations,
        "pads": pads,
    }
    return inputs + more[:graph.random.randint(0, 2)], attributes, 1


@operator("TfIdfVectorizer", since=9)
def counted(graph, name):
    lengths = graph.random.randint(1, 3)
    counts = [graph.random.randint(1, 3) for _ in range(lengths)]
    pool, starts = [], []
    for length, count in enumerate(counts, 1):
        starts.append(len(pool))
        grams = {tuple(graph.random.randint(0, 2) for _ in range(length)) for _ in range(count)}
        pool += [number for gram in sorted(grams) for number in gram]
    total = sum(
        (end - start) // length
        for length, (start, end) in enumerate(zip(starts, starts[1:] + [len(pool)]), 1)
    )
    least = graph.random.randint(1, lengths)
    attributes = {
        "mode": graph.random.choice(["TF", "IDF", "TFIDF"]),
        "min_gram_length": least,
        "max_gram_length": graph.random.randint(least, lengths),
        "max_skip_count": graph.random.randint(0, 3),
        "pool_int64s": pool,
        "ngram_counts": starts,
        "ngram_indexes": list(range(total)),
    }
    if graph.chance(0.5):
        attributes["weights"] = [graph.random.choice([0.5, 1.0, 2.0]) for _ in range(total)]
    shape = [graph.random.randint(1, 8)] if graph.chance(0.4) else [2, graph.random.randint(1, 8)]
    kind = graph.random.choice([np.int64, np.int32])
    return [graph.given(graph.numpy.integers(0, 3, shape).astype(kind))], attributes, 1


@operator("Col2Im", since=18)
def columns_to_image(graph, name):
    kernel = [graph.random.randint(1, 2), graph.random.randint(1, 2)]
    sizes = [graph.random.randint(2, 5), graph.random.randint(2, 5)]
    count = math.prod(size - extent + 1 for size, extent in zip(sizes, kernel))
    x = graph.fresh([1, 2 * math.prod(kernel), count], np.float32)
    lists = [graph.given(np.array(numbers, np.int64), is_constant=True) for numbers in (sizes, kernel)]
    return [x] + lists, {}, 1


@operator("Det", since=11)
def determinant(graph, name):
    size = graph.random.randint(1, 4)
    return [graph.fresh(graph.shape(most=1) + [size, size], np.float32)], {}, 1


@operator("DFT", since=17)
def fourier(graph, name):
    shape = [graph.random.randint(1, 2), graph.random.randint(2, 6), graph.random.randint(2, 4), graph.random.randint(1, 2)]
    x = graph.fresh(shape, np.float32)
    # A coefficient of zero makes NaN of an infinity, and it depends on the algorithm which are zero.
    if not np.all(np.isfinite(graph.array(x))):
        return None
    axis = graph.random.randint(1, 2)
    is_inverse = graph.random.randint(0, 1) if shape[-1] == 2 else 0
    attributes = {"inverse": is_inverse, "onesided": 0 if shape[-1] == 2 else graph.random.randint(0, 1)}
    if graph.version < 20:
        return [x], {**attributes, "axis": axis}, 1
    return [x, "", graph.given(np.array(axis, np.int64))], attributes, 1


# --- quantised ------------------------------------------------------------------------------------------


@operator("QuantizeLinear", since=13)
def quantised(graph, name):
    x = graph.pick([np.float32], least=1)
    array = graph.array(x)
    if not np.all(np.isfinite(array)):
        return None
    axis = axis_of(graph, array.ndim)
    shape = [] if graph.chance(0.5) else [array.shape[axis]]
    kind = graph.random.choice([np.uint8, np.int8])
    zero = graph.numpy.integers(0, 20, shape).astype(kind)
    scale = (graph.numpy.random(shape) + 0.05).astype(np.float32)
    return [x, graph.given(scale), graph.given(np.array(zero, kind))], {"axis": axis}, 1


@operator("DequantizeLinear", since=13)
def dequantised(graph, name):
    x = graph.pick([np.uint8, np.int8], least=1)
    array = graph.array(x)
    axis = axis_of(graph, array.ndim)
    shape = [] if graph.chance(0.5) else [array.shape[axis]]
    scale = (graph.numpy.random(shape) + 0.05).astype(np.float32)
    inputs = [x, graph.given(scale)]
    if graph.chance(0.7):
        inputs.append(graph.given(np.array(graph.numpy.integers(0, 20, shape), array.dtype)))
    return inputs, {"axis": axis}, 1


@operator("DynamicQuantizeLinear", since=11)
def dynamically_quantised(graph, name):
    x = graph.pick([np.float32], least=1)
    if graph.array(x).size == 0 or not np.all(np.isfinite(graph.array(x))):
        return None
    return [x], {}, 3


@operator("MatMulInteger", since=10)
def integer_product(graph, name):
    m, k, n = (graph.random.randint(1, 9) for _ in range(3))
    kinds = [graph.random.choice([np.uint8, np.int8]) for _ in range(2)]
    inputs = [graph.fresh([m, k], kinds[0]), graph.fresh([k, n], kinds[1])]
    if graph.chance(0.6):
        inputs += [graph.given(np.array(graph.random.randint(0, 20), kind)) for kind in kinds]
    return inputs, {}, 1


# --- recurrent nets, attention --------------------------------------------------------------------------


@operator("LSTM", "GRU", "RNN", since=14)
def recurrent(graph, name):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[name]
    steps, batch, inputs, hidden = (graph.random.randint(1, 4) for _ in range(4))
    direction = graph.random.choice(["forward", "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1
    x = graph.fresh([steps, batch, inputs], np.float32)
    operands = [x, graph.fresh([ways, gates * hidden, inputs], np.float32), graph.fresh([ways, gates * hidden, hidden], np.float32)]
    attributes = {"hidden_size": hidden, "direction": direction}
    if graph.chance(0.5):
        operands.append(graph.fresh([ways, 2 * gates * hidden], np.float32))
    if name == "GRU":
        attributes["linear_before_reset"] = graph.random.randint(0, 1)
    return operands, attributes, 3 if name == "LSTM" else 2


@operator("Attention", since=23)
def attention(graph, name):
    batch, heads, size = graph.random.randint(1, 2), graph.random.randint(1, 3), graph.random.randint(1, 5)
    queries, keys = graph.random.randint(1, 5), graph.random.randint(1, 5)
    groups = graph.random.choice([1, 1, 2])
    q = graph.fresh([batch, heads * groups, queries, size], np.float32)
    k, v = (graph.fresh([batch, heads, keys, size], np.float32) for _ in range(2))
    inputs = [q, k, v]
    attributes = {}
    if graph.chance(0.4):
        inputs.append(graph.fresh([queries, keys], np.float32))
    elif graph.chance(0.4):
        attributes["is_causal"] = 1
    if graph.chance(0.3):
        attributes["softcap"] = 2.0
    return inputs, attributes, 1


@operator("RotaryEmbedding", since=23)
def rotated(graph, name):
    batch, heads, length, size = graph.random.randint(1, 2), graph.random.randint(1, 3), graph.random.randint(1, 4), 2 * graph.random.randint(1, 3)
    x = graph.fresh([batch, heads, length, size], np.float32)
    tables = [graph.fresh([batch, length, size // 2], np.float32) for _ in range(2)]
    return [x] + tables, {"interleaved": graph.random.randint(0, 1)}, 1


@operator("Dropout", since=13)
def dropped(graph, name):
    return [graph.pick(FLOATS[:2])], {}, 1


@operator("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", since=13)
def loss(graph, name):
    batch, classes = graph.random.randint(1, 4), graph.random.randint(1, 5)
    rest = graph.shape(most=1, least=0)
    x = graph.fresh([batch, classes] + rest, np.float32)
    labels = graph.given(graph.numpy.integers(0, classes, [batch] + rest).astype(np.int64))
    inputs = [x, labels]
    if graph.chance(0.4):
        inputs.append(graph.given((graph.numpy.random(classes) + 0.1).astype(np.float32)))
    return inputs, {"reduction": graph.random.choice(["none", "sum", "mean"])}, 1
