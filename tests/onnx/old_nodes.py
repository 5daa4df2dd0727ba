"""Random nodes as `tests/differential/operators.py` draws them, of older versions of operators, and of
operators that it leaves out. A function takes what draws operands, and gives inputs, attributes and the
number of outputs.
"""

import math

import numpy as np
from operators import some_axes, window

OPERATORS = {}


def operator(*names, since=1, until=99):
    def register(function):
        for name in names:
            OPERATORS.setdefault(name, []).append((since, until, function))
        return function

    return register


def numbers(graph, values, kind=np.int64):
    return graph.given(np.array(values, kind), is_constant=True)


@operator("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Less", "Greater", until=6)
def stretched(graph, name):
    shape = [graph.random.randint(1, 3) for _ in range(4)]
    axis = graph.random.randint(0, 2)
    other = shape[axis:axis + graph.random.randint(1, 4 - axis)]
    attributes = {"broadcast": 1}
    if axis + len(other) < 4 or graph.chance(0.5):
        attributes["axis"] = axis
    if name in ("And", "Or", "Xor"):
        return [graph.given(graph.numpy.random(sizes) < 0.5) for sizes in (shape, other)], attributes, 1
    if name == "Equal":
        drawn = [graph.numpy.integers(0, 3, sizes).astype(np.int32) for sizes in (shape, other)]
        return [graph.given(array) for array in drawn], attributes, 1
    a, b = graph.numbers(shape, np.float32), np.abs(graph.numbers(other, np.float32)) + np.float32(0.5)
    return [graph.given(np.abs(a) if name == "Pow" else a), graph.given(b)], attributes, 1


@operator("Softmax", "LogSoftmax", "Hardmax", until=12)
def flattened_to_rows(graph, name):
    x = graph.given(graph.numbers([graph.random.randint(1, 3) for _ in range(graph.random.randint(2, 4))], np.float32))
    rank = graph.array(x).ndim
    axis = graph.random.randint(-rank if graph.version >= 11 else 0, rank - 1)
    return [x], {"axis": axis}, 1


@operator("Squeeze", until=12)
def squeezed(graph, name):
    shape = graph.random.choice([[1, 3, 1, 2], [2, 1, 3], [1, 2, 1], [3, 1]])
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    axes = graph.random.sample(ones, graph.random.randint(1, len(ones)))
    if graph.version >= 11:
        axes = [axis - len(shape) if graph.chance(0.4) else axis for axis in axes]
    return [graph.given(graph.numbers(shape, np.float32))], {"axes": axes}, 1


@operator("Unsqueeze", until=12)
def unsqueezed(graph, name):
    x = graph.given(graph.numbers([2, 3], np.float32))
    count = graph.random.randint(1, 2)
    axes = sorted(graph.random.sample(range(2 + count), count))
    if graph.version >= 11:
        axes = [axis - 2 - count if graph.chance(0.4) else axis for axis in axes]
    return [x], {"axes": axes}, 1


@operator("Slice", until=9)
def sliced(graph, name):
    x = graph.pick([np.float32], least=2)
    shape = graph.array(x).shape
    axes = sorted(graph.random.sample(range(len(shape)), graph.random.randint(1, len(shape))))
    bound = lambda size: graph.random.choice([graph.random.randint(-size - 1, size + 1), 2**31 - 1, 0, 1])
    attributes = {"starts": [bound(shape[axis]) for axis in axes], "ends": [bound(shape[axis]) for axis in axes]}
    attributes["axes"] = axes
    return [x], attributes, 1


@operator("Slice", since=10)
def sliced_far(graph, name):
    """Starts and ends at the ends of the axis, and one and many beyond them, with all signs of steps."""
    size = graph.random.randint(1, 5)
    x = graph.given(graph.numbers([2, size], np.float32))
    ends = [-100, -size - 1, -size, 1 - size, -1, 0, 1, size - 1, size, size + 1, 100]
    step = graph.random.choice([-200, -size, -2, -1, -1, 1, 1, 2, size, 200])
    lists = [[graph.random.choice(ends)], [graph.random.choice(ends)], [graph.random.choice([1, -1])], [step]]
    return [x] + [numbers(graph, values) for values in lists], {}, 1


@operator("Slice", since=10)
def sliced_from_the_first_axis(graph, name):
    x = graph.given(graph.numbers([3, 4, 2], np.float32))
    count = graph.random.randint(1, 3)
    starts, ends = [graph.random.randint(-3, 2) for _ in range(count)], [graph.random.randint(-1, 4) for _ in range(count)]
    return [x, numbers(graph, starts), numbers(graph, ends)], {}, 1


@operator("Pad", since=2, until=10)
def padded(graph, name):
    shape = [graph.random.randint(2, 4) for _ in range(graph.random.randint(1, 3))]
    mode = graph.random.choice(["constant", "reflect", "edge"])
    pads = [graph.random.randint(0, 1 if mode == "reflect" else 2) for _ in shape * 2]
    attributes = {"pads": pads, "mode": mode}
    if mode == "constant":
        attributes["value"] = 1.5
    return [graph.given(graph.numbers(shape, np.float32))], attributes, 1


@operator("Pad", since=11)
def padded_by_operand(graph, name):
    shape = [3, graph.random.randint(2, 4)]
    mode = graph.random.choice(["constant", "reflect", "edge"])
    pads = [graph.random.randint(-1 if mode == "constant" else 0, 1) for _ in shape * 2]
    value = [numbers(graph, 1.5, np.float32)] if mode == "constant" and graph.chance(0.5) else []
    return [graph.given(graph.numbers(shape, np.float32)), numbers(graph, pads)] + value, {"mode": mode}, 1


@operator("Pad", since=18)
def padded_along_axes(graph, name):
    x = graph.given(graph.numbers([2, 3, 4], np.float32))
    axes = graph.random.sample(range(3), graph.random.randint(1, 3))
    pads = [graph.random.randint(0, 2) for _ in axes * 2]
    axes = [axis - 3 if graph.chance(0.4) else axis for axis in axes]
    value = numbers(graph, 1.5, np.float32) if graph.chance(0.5) else ""
    return [x, numbers(graph, pads), value, numbers(graph, axes)], {"mode": graph.random.choice(["constant", "edge"])}, 1


@operator("Clip", until=10)
def clipped(graph, name):
    x = graph.given(graph.numbers(graph.shape(), np.float32))
    return [x], {"min": graph.random.choice([-1.0, 0.0, 0.5]), "max": graph.random.choice([0.75, 1.0, 1.5])}, 1


@operator("Split", since=2, until=12)
def split(graph, name):
    shape = [4, 2, 4]
    axis = graph.random.randint(-3 if graph.version >= 11 else 0, 2)
    size = shape[axis]
    first = graph.random.randint(1, size - 1)
    return [graph.given(graph.numbers(shape, np.float32))], {"axis": axis, "split": [first, size - first]}, 2


@operator("Split", since=18)
def split_in_equal_parts(graph, name):
    shape = [graph.random.randint(3, 7), 3, graph.random.randint(3, 7)]
    count = graph.random.randint(2, 3)
    return [graph.given(graph.numbers(shape, np.float32))], {"axis": graph.random.choice([0, 2, -1]), "num_outputs": count}, count


@operator("Split", since=13)
def split_by_operand(graph, name):
    shape = [4, 3, 4]
    axis = graph.random.choice([0, 2, -1, -3])
    first = graph.random.randint(1, 3)
    return [graph.given(graph.numbers(shape, np.float32)), numbers(graph, [first, 4 - first])], {"axis": axis}, 2


@operator("TopK", until=9)
def top(graph, name):
    x = graph.given(graph.numpy.permutation(24).reshape(2, 3, 4).astype(np.float32))
    axis = graph.random.randint(0, 2)
    return [x], {"axis": axis, "k": graph.random.randint(1, 2)}, 2


@operator("TopK", since=10)
def top_of_several_ranks(graph, name):
    x = graph.given(graph.numpy.permutation(24).reshape(2, 3, 4).astype(np.float32))
    attributes = {"axis": graph.random.randint(-3, 2)}
    if graph.version >= 11:
        attributes["largest"] = graph.random.randint(0, 1)
    return [x, numbers(graph, [graph.random.randint(1, 2)])], attributes, 2


@operator("Upsample", since=7, until=8)
def upsampled(graph, name):
    x = graph.given(graph.numbers([1, 2, 2, 3], np.float32))
    scales = [1.0, 1.0, graph.random.choice([1.0, 2.0, 3.0]), graph.random.choice([1.0, 2.0])]
    return [x], {"scales": scales, "mode": graph.random.choice(["nearest", "linear"])}, 1


@operator("Upsample", since=9, until=9)
@operator("Resize", since=10, until=10)
def resized(graph, name):
    x = graph.given(graph.numbers([1, 2, 2, 3], np.float32))
    scales = [1.0, 1.0, graph.random.choice([1.0, 2.0, 3.0]), graph.random.choice([1.0, 2.0])]
    return [x, numbers(graph, scales, np.float32)], {"mode": graph.random.choice(["nearest", "linear"])}, 1


@operator("Resize", since=11)
def resized_in_all_ways(graph, name):
    x = graph.given(graph.numbers([1, 1, 3, graph.random.randint(2, 4)], np.float32))
    ways = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    attributes = {"mode": graph.random.choice(["nearest", "linear", "cubic"])}
    attributes["coordinate_transformation_mode"] = graph.random.choice(ways)
    if attributes["mode"] == "nearest":
        rounding = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
        attributes["nearest_mode"] = graph.random.choice(rounding)
    if attributes["mode"] == "cubic":
        attributes |= {"cubic_coeff_a": -0.5, "exclude_outside": graph.random.randint(0, 1)}
    if graph.chance(0.5):
        scales = [1.0, 1.0, graph.random.choice([0.5, 1.5, 2.0]), graph.random.choice([0.75, 2.0, 2.5])]
        return [x, numbers(graph, [], np.float32), numbers(graph, scales, np.float32)], attributes, 1
    sizes = numbers(graph, [1, 1, graph.random.randint(1, 6), graph.random.randint(1, 6)])
    return [x, numbers(graph, [], np.float32), numbers(graph, [], np.float32), sizes], attributes, 1


@operator("Resize", since=11)
def resized_in_a_crop(graph, name):
    x = graph.given(graph.numbers([1, 1, 4, 3], np.float32))
    crop = numbers(graph, [0, 0, 0.25, 0.5, 1, 1, 0.75, 1.25], np.float32)
    attributes = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 9.0}
    sizes = numbers(graph, [1, 1, graph.random.randint(2, 5), graph.random.randint(2, 5)])
    return [x, crop, numbers(graph, [], np.float32), sizes], attributes, 1


@operator("Resize", since=18)
def resized_along_axes(graph, name):
    x = graph.given(graph.numbers([2, 3, 4], np.float32))
    axes = graph.random.sample(range(3), 2)
    attributes = {"mode": "linear", "axes": axes}
    if graph.chance(0.7):
        ways = ["stretch", "not_larger", "not_smaller"]
        attributes["keep_aspect_ratio_policy"] = graph.random.choice(ways)
    return [x, "", "", numbers(graph, [graph.random.randint(2, 6) for _ in axes])], attributes, 1


@operator("Scatter", since=9, until=10)
def scattered(graph, name):
    x = graph.given(graph.numbers([3, 4], np.float32))
    axis = graph.random.choice([0, 1, -1] if graph.version >= 11 else [0, 1])
    columns = np.argsort(graph.numpy.random((3, 4)), axis)[:2, :3]
    return [x, graph.given(columns.astype(np.int64)), graph.given(graph.numbers([2, 3], np.float32))], {"axis": axis}, 1


@operator("Gemm", since=7)
def general_product(graph, name):
    m, k, n = (graph.random.randint(2, 4) for _ in range(3))
    turned = [graph.random.randint(0, 1) for _ in range(2)]
    a = graph.given(graph.numbers([k, m] if turned[0] else [m, k], np.float32))
    b = graph.given(graph.numbers([n, k] if turned[1] else [k, n], np.float32))
    shape = graph.random.choice([[m, n], [n], [1, n], [m, 1], [1]])
    attributes = {"transA": turned[0], "transB": turned[1]}
    attributes |= {key: graph.random.choice([1.0, 0.5, 0.0, -2.0]) for key in ("alpha", "beta")}
    return [a, b, graph.given(graph.numbers(shape, np.float32))], attributes, 1


@operator("Gemm", until=6)
def stretched_product(graph, name):
    a, b = (graph.given(graph.numbers([3, 3], np.float32)) for _ in range(2))
    attributes = {"transA": graph.random.randint(0, 1), "transB": graph.random.randint(0, 1)}
    attributes |= {key: graph.random.choice([0.5, 2.0]) for key in ("alpha", "beta")}
    is_stretched = graph.chance(0.5)
    attributes["broadcast"] = int(is_stretched)
    return [a, b, graph.given(graph.numbers([3] if is_stretched else [3, 3], np.float32))], attributes, 1


@operator("Gemm", since=7)
def square_product(graph, name):
    """Square operands, so that a turned one has a shape that fits."""
    a, b, c = (graph.given(graph.numbers([3, 3], np.float32)) for _ in range(3))
    attributes = {"transA": graph.random.randint(0, 1), "transB": graph.random.randint(0, 1)}
    attributes |= {key: graph.random.choice([0.5, 2.0]) for key in ("alpha", "beta")}
    return [a, b, c], attributes, 1


@operator("Reshape", until=4)
def reshaped(graph, name):
    x = graph.given(graph.numbers([2, 3, 4], np.float32))
    return [x], {"shape": graph.random.choice([[0, -1], [-1, 4], [4, 0, 2], [2, 12], [0, 0, -1]])}, 1


@operator("Reshape", since=5)
def reshaped_by_zeros(graph, name):
    x = graph.given(graph.numbers([2, 3, 4], np.float32))
    shape = graph.random.choice([[0, -1], [-1, 4], [4, 0, 2], [0, 0, -1], [0, 12]])
    return [x, numbers(graph, shape)], {}, 1


@operator("Reshape", since=14)
def reshaped_to_nothing(graph, name):
    x = graph.given(np.zeros([0, 3], np.float32))
    return [x, numbers(graph, [3, 0])], {"allowzero": 1}, 1


@operator("Dropout", since=7, until=12)
def dropped(graph, name):
    return [graph.given(graph.numbers(graph.shape(), np.float32))], {"ratio": 0.25} if graph.version < 12 else {}, 1


@operator("LRN")
def response_normalised(graph, name):
    x = graph.given(graph.numbers([2, graph.random.randint(3, 5), 2, 2], np.float32))
    attributes = {"size": graph.random.randint(1, 4), "alpha": 0.5, "beta": 0.25, "bias": 1.5}
    return [x], attributes, 1


@operator("InstanceNormalization", "BatchNormalization", "GroupNormalization", since=7)
def channel_normalised(graph, name):
    channels = graph.random.choice([2, 4])
    x = graph.given(graph.numbers([2, channels] + graph.random.choice([[3], [2, 3], [2, 1, 2]]), np.float32))
    vector = lambda: graph.given(graph.numbers([channels], np.float32))
    epsilon = {"epsilon": 0.5}
    if name == "BatchNormalization":
        variance = graph.given(np.abs(graph.numbers([channels], np.float32)) / 1000)
        return [x, vector(), vector(), vector(), variance], epsilon, 1
    if name == "GroupNormalization":
        if graph.version < 21:
            scales = [graph.given(graph.numbers([2], np.float32)) for _ in range(2)]
            return [x] + scales, {**epsilon, "num_groups": 2}, 1
        return [x, vector(), vector()], {**epsilon, "num_groups": 2}, 1
    return [x, vector(), vector()], epsilon, 1


@operator("LayerNormalization", "RMSNormalization", since=17)
def row_normalised(graph, name):
    shape = [2, 3, 4]
    axis = graph.random.choice([0, 1, -2, 2, -1])
    x = graph.given(graph.numbers(shape, np.float32) / 100)
    parts = [graph.given(graph.numbers(shape[axis:], np.float32)) for _ in range(2)]
    inputs = [x] + parts[:1 if name == "RMSNormalization" else graph.random.randint(1, 2)]
    return inputs, {"axis": axis, "epsilon": graph.random.choice([0.5, 0.001])}, 1


@operator("MeanVarianceNormalization", since=9)
def centred_and_scaled(graph, name):
    axes = graph.random.choice([[0, 2, 3], [1], [2, 3], [0, 1]])
    return [graph.given(graph.numbers([2, 3, 2, 2], np.float32))], {"axes": axes}, 1


@operator("ConstantOfShape", since=9)
def filled(graph, name):
    value = np.array([graph.random.choice([1, 3])], graph.random.choice([np.float32, np.int64, np.int32, np.bool_]))
    from onnx import numpy_helper

    return [numbers(graph, graph.shape(most=3))], {"value": numpy_helper.from_array(value)}, 1


@operator("GatherND", since=12)
def gathered_of_batches(graph, name):
    batch = graph.random.randint(1, 2)
    shape = [2, 3, 4, 2][:graph.random.randint(batch + 1, 4)]
    count = graph.random.randint(1, len(shape) - batch)
    outer = shape[:batch] + [graph.random.randint(1, 3)]
    columns = [graph.numpy.integers(-size, size, outer) for size in shape[batch:batch + count]]
    x = graph.given(graph.numbers(shape, np.float32))
    return [x, graph.given(np.stack(columns, -1).astype(np.int64))], {"batch_dims": batch}, 1


@operator("MaxUnpool", since=9)
def unpooled(graph, name):
    x = graph.given(graph.numbers([1, 1, 2, 2], np.float32))
    at = graph.given(np.array([[[[0, 3], [9, 14]]]], np.int64))
    attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}
    if graph.chance(0.3):
        attributes["pads"] = [0, 0, 0, 0]
    return [x, at], attributes, 1


@operator("HannWindow", "HammingWindow", "BlackmanWindow", since=17)
def smoothing(graph, name):
    attributes = {"periodic": 0}
    if graph.chance(0.5):
        attributes["output_datatype"] = graph.random.choice([1, 11])
    return [numbers(graph, graph.random.randint(3, 9))], attributes, 1


@operator("AffineGrid", since=20)
def grid(graph, name):
    theta = graph.given(graph.numbers([2, 2, 3], np.float32))
    return [theta, numbers(graph, [2, 1, 3, 4])], {"align_corners": 1}, 1


@operator("Swish", since=24)
def swished(graph, name):
    return [graph.given(graph.numbers(graph.shape(), np.float32))], {"alpha": 0.5}, 1


@operator("EyeLike", since=9)
def identity_matrix(graph, name):
    x = graph.given(graph.numbers([graph.random.randint(2, 4), graph.random.randint(2, 4)], np.float32))
    return [x], {"k": graph.random.choice([-1, 1, 2]), "dtype": graph.random.choice([1, 6, 7])}, 1


@operator("OneHot", since=9)
def one_hot(graph, name):
    at = graph.given(graph.numpy.integers(0, 4, [2, 3]).astype(np.int64))
    return [at, numbers(graph, 4), numbers(graph, [2, 5], np.float32)], {"axis": graph.random.choice([0, 1])}, 1


@operator("ReverseSequence", since=10)
def reversed_sequences(graph, name):
    x = graph.given(graph.numbers([3, 3, 2], np.float32))
    lengths = graph.given(np.array([1, 2, 3], np.int64))
    first = graph.random.randint(0, 1)
    return [x, lengths], {"batch_axis": first, "time_axis": 1 - first}, 1


@operator("DepthToSpace")
def depth_to_space(graph, name):
    x = graph.given(graph.numbers([2, 8, 2, 3], np.float32))
    attributes = {"blocksize": 2}
    if graph.version >= 11:
        attributes["mode"] = graph.random.choice(["DCR", "CRD"])
    return [x], attributes, 1


@operator("Concat", since=4)
def concatenated(graph, name):
    shape = [2, 3, 2]
    axis = graph.random.randint(-3 if graph.version >= 11 else 0, 2)
    parts = []
    for _ in range(graph.random.randint(1, 4)):
        shape[axis] = graph.random.randint(1, 3)
        parts.append(graph.given(graph.numbers(shape, np.float32)))
    return parts, {"axis": axis}, 1


@operator("QuantizeLinear", "DequantizeLinear", since=10)
def quantised(graph, name):
    axis = graph.random.choice([0, 1, 2, -1]) if graph.version >= 13 else None
    shape = [3, 3, 3]
    sizes = [] if axis is None else [3]
    scale = graph.given(np.asarray(graph.numpy.random(sizes) + 0.25).astype(np.float32))
    zero = graph.given(np.asarray(graph.numpy.integers(0, 20, sizes)).astype(np.uint8))
    x = graph.numbers(shape, np.float32 if name[0] == "Q" else np.uint8)
    return [graph.given(x), scale, zero], {} if axis is None else {"axis": axis}, 1


@operator("QuantizeLinear", "DequantizeLinear", since=21)
def quantised_in_blocks(graph, name):
    scale = graph.given(np.asarray(graph.numpy.random([2, 2]) + 0.25).astype(np.float32))
    zero = graph.given(graph.numpy.integers(0, 20, [2, 2]).astype(np.uint8))
    x = graph.numbers([2, 4], np.float32 if name[0] == "Q" else np.uint8)
    return [graph.given(x), scale, zero], {"axis": 1, "block_size": 2}, 1


@operator("QLinearMatMul", since=10)
def quantised_product(graph, name):
    pieces = []
    for shape in ([2, 3], [3, 4]):
        pieces += [graph.given(graph.numpy.integers(0, 255, shape).astype(np.uint8))]
        pieces += [numbers(graph, 0.02, np.float32), numbers(graph, graph.random.randint(0, 99), np.uint8)]
    return pieces + [numbers(graph, 0.05, np.float32), numbers(graph, 60, np.uint8)], {}, 1


@operator("QLinearConv", since=10)
def quantised_convolution(graph, name):
    groups = graph.random.choice([1, 2])
    sizes, kernel = [4, 5], [graph.random.randint(1, 3), graph.random.randint(1, 3)]
    attributes = window(graph, sizes, kernel)
    if attributes is None:
        return None
    x = graph.given(graph.numpy.integers(0, 255, [1, 2] + sizes).astype(np.uint8))
    filters = graph.given(graph.numpy.integers(0, 255, [2, 2 // groups] + kernel).astype(np.uint8), is_constant=True)
    scale = lambda value: numbers(graph, value, np.float32)
    zero = lambda value: numbers(graph, value, np.uint8)
    inputs = [x, scale(0.02), zero(7), filters, scale(0.03), zero(99), scale(0.2), zero(60)]
    return inputs, {**attributes, "group": groups, "kernel_shape": kernel}, 1


@operator("STFT", since=17)
def short_fourier(graph, name):
    x = graph.given(graph.numbers([1, 8, 1], np.float32))
    window_of = graph.given(graph.numbers([4], np.float32))
    return [x, numbers(graph, 2), window_of], {"onesided": 0}, 1


@operator("DFT", since=17)
def fourier(graph, name):
    is_complex = graph.random.randint(1, 2)
    x = graph.given(graph.numbers([2, 4, 3, is_complex], np.float32))
    attributes = {"inverse": int(is_complex == 2), "onesided": int(is_complex == 1)}
    if graph.version < 20:
        return [x], {**attributes, "axis": 2}, 1
    return [x] + ["", numbers(graph, graph.random.choice([1, 2, -2]))][:2 * graph.random.randint(0, 1)], attributes, 1


@operator("Conv", "MaxPool", "AveragePool", "LpPool", "ConvTranspose")
def windows(graph, name):
    """Attributes that differ by axis and end, of two images."""
    if name == "LpPool" and graph.version < 2:
        return None
    sizes = [graph.random.randint(5, 7), graph.random.randint(4, 6)]
    kernel = [graph.random.randint(2, 3), graph.random.randint(1, 3)]
    attributes = {"kernel_shape": kernel, "strides": graph.random.choice([[1, 2], [2, 1], [2, 3], [3, 2]])}
    attributes["pads"] = [graph.random.randint(0, size - 1) for size in kernel * 2]
    has_dilations = {"Conv": 1, "ConvTranspose": 1, "MaxPool": 10, "AveragePool": 19, "LpPool": 18}[name]
    if graph.version >= has_dilations:
        attributes["dilations"] = graph.random.choice([[1, 2], [2, 1], [2, 2]])
    if "Pool" in name:
        if graph.version >= {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}[name]:
            attributes["ceil_mode"] = 1
        if name == "AveragePool" and graph.version >= 7:
            attributes["count_include_pad"] = 1
        if name == "LpPool":
            attributes["p"] = graph.random.choice([1, 3])
        return [graph.given(graph.numbers([2, 2] + sizes, np.float32))], attributes, 1
    groups = graph.random.choice([1, 2])
    x = graph.given(graph.numbers([1, 2] + (sizes if name == "Conv" else [2, 3]), np.float32))
    filters = graph.given(graph.numbers([2, 2 // groups] + kernel, np.float32), is_constant=graph.chance(0.5))
    if name == "ConvTranspose" and graph.chance(0.5):
        attributes["output_padding"] = [graph.random.randint(0, stride - 1) for stride in attributes["strides"]]
    inputs = [x, filters] + ([graph.given(graph.numbers([2], np.float32))] if graph.chance(0.5) else [])
    return inputs, {**attributes, "group": groups}, 1


@operator("Conv", "MaxPool", "AveragePool", "ConvTranspose", "LpPool", since=7)
def padded_by_rule(graph, name):
    sizes = [graph.random.randint(4, 7), graph.random.randint(4, 7)]
    kernel = [graph.random.randint(2, 4), graph.random.randint(2, 3)]
    attributes = {"kernel_shape": kernel, "strides": [graph.random.randint(1, 2), graph.random.randint(1, 2)]}
    attributes["auto_pad"] = graph.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
    if "Pool" in name:
        return [graph.given(graph.numbers([1, 2] + sizes, np.float32))], attributes, 1
    x = graph.given(graph.numbers([1, 2] + sizes, np.float32))
    return [x, graph.given(graph.numbers([2, 1 if name == "Conv" else 2] + kernel, np.float32))], (
        {**attributes, "group": 2} if name == "Conv" else attributes
    ), 1


@operator("LSTM", "GRU", "RNN", since=7)
def recurrent(graph, name):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[name]
    steps, batch, inputs, hidden = 3, 2, 2, 2
    direction = graph.random.choice(["forward", "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1
    of = lambda *shape: graph.given(graph.numbers(list(shape), np.float32))
    operands = [of(steps, batch, inputs), of(ways, gates * hidden, inputs), of(ways, gates * hidden, hidden)]
    attributes = {"hidden_size": hidden, "direction": direction}
    operands.append(of(ways, 2 * gates * hidden) if graph.chance(0.7) else "")
    operands.append(graph.given(np.array([3, 2], np.int32), is_constant=True) if graph.chance(0.3) else "")
    if graph.chance(0.6):
        operands += [of(ways, batch, hidden)] * (2 if name == "LSTM" else 1)
    if name == "GRU":
        attributes["linear_before_reset"] = 1
    if name == "LSTM" and graph.chance(0.5):
        attributes["input_forget"] = 1
    if graph.chance(0.3):
        attributes["clip"] = 0.5
    if graph.chance(0.3):
        options = {"LSTM": ["Sigmoid", "Relu", "Tanh"], "GRU": ["Sigmoid", "Relu"], "RNN": ["Relu"]}[name]
        attributes["activations"] = options * ways
    return operands, attributes, 3 if name == "LSTM" else 2


@operator("Attention", since=23)
def grouped_attention(graph, name):
    """Heads folded into the last axis."""
    batch, heads, size, length, keys = 1, 2, 3, 3, 4
    of = lambda *shape: graph.given(graph.numbers(list(shape), np.float32))
    attributes = {"q_num_heads": 2 * heads, "kv_num_heads": heads, "scale": 0.5}
    if graph.chance(0.5):
        attributes["softcap"] = 1.5
    if graph.chance(0.5):
        attributes["is_causal"] = 1
    inputs = [of(batch, length, 2 * heads * size), of(batch, keys, heads * size), of(batch, keys, heads * size)]
    if graph.chance(0.5):
        inputs.append(graph.given(graph.numpy.random([length, keys]) < 0.8))
    return inputs, attributes, 1


@operator("RotaryEmbedding", since=23)
def rotated(graph, name):
    of = lambda *shape: graph.given(graph.numbers(list(shape), np.float32))
    if graph.chance(0.5):
        attributes = {"num_heads": 2, "interleaved": graph.random.randint(0, 1)}
        return [of(2, 3, 8), of(2, 3, 2), of(2, 3, 2)], attributes, 1
    attributes = {"interleaved": 1, "rotary_embedding_dim": 2}
    at = graph.given(graph.numpy.integers(0, 4, [2, 3]).astype(np.int64))
    return [of(2, 2, 3, 4), of(4, 1), of(4, 1), at], attributes, 1


@operator("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", since=12)
def loss(graph, name):
    x = graph.given(graph.numbers([2, 3, 2], np.float32))
    labels = graph.given(graph.numpy.integers(0, 3, [2, 2]).astype(np.int64))
    weights = [graph.given(np.array([0.5, 1.0, 2.0], np.float32))] if graph.chance(0.5) else []
    attributes = {"reduction": graph.random.choice(["none", "sum", "mean"])}
    if graph.chance(0.5):
        attributes["ignore_index"] = 1
    return [x, labels] + weights, attributes, 1


@operator("Trilu", since=14)
def triangle(graph, name):
    x = graph.given(graph.numbers([2, 3, 4], np.float32))
    inputs = [x] + ([numbers(graph, graph.random.choice([-1, 1, 2]))] if graph.chance(0.5) else [])
    return inputs, {"upper": 0}, 1


@operator("Compress", since=9)
def compressed(graph, name):
    x = graph.given(graph.numbers([2, 3, 2], np.float32))
    axis = graph.random.randint(-3 if graph.version >= 11 else 0, 2)
    return [x, graph.given(graph.numpy.random([2, 3, 2][axis]) < 0.6)], {"axis": axis}, 1


@operator("CumSum", "CumProd", since=11)
def running(graph, name):
    x = graph.given(graph.numbers([2, 3, 2], np.float32))
    axis = numbers(graph, graph.random.randint(-3, 2))
    return [x, axis], {"exclusive": 1, "reverse": 1}, 1


@operator("RoiAlign", since=10)
def regions(graph, name):
    x = graph.given(graph.numbers([2, 1, 6, 6], np.float32))
    boxes = graph.given(np.array([[0.5, 1, 4, 5], [-1, 0, 2.25, 3], [2, 2, 2.25, 2.5]], np.float32))
    attributes = {"output_height": 2, "output_width": 3, "sampling_ratio": graph.random.randint(0, 2)}
    attributes |= {"spatial_scale": 0.5, "mode": "max"}
    if graph.version >= 16:
        attributes["coordinate_transformation_mode"] = "output_half_pixel"
    return [x, boxes, graph.given(np.array([0, 1, 1]))], attributes, 1


@operator("Col2Im", since=18)
def columns_to_image(graph, name):
    kernel, sizes = [2, graph.random.randint(1, 2)], [5, 4]
    attributes = {"strides": [1, 2], "dilations": [2, 1], "pads": [1, 0, 0, 1]}
    extent = lambda axis: (kernel[axis] - 1) * attributes["dilations"][axis] + 1
    room = lambda axis: sizes[axis] + attributes["pads"][axis] + attributes["pads"][axis + 2] - extent(axis)
    count = math.prod(room(axis) // attributes["strides"][axis] + 1 for axis in range(2))
    x = graph.given(graph.numbers([1, 2 * math.prod(kernel), count], np.float32))
    return [x, numbers(graph, sizes), numbers(graph, kernel)], attributes, 1


@operator("TensorScatter", since=24)
def scattered_tensor(graph, name):
    past = graph.given(graph.numbers([2, 1, 4, 2], np.float32))
    update = graph.given(graph.numbers([2, 1, 2, 2], np.float32))
    at = graph.given(np.array([graph.random.randint(0, 2), 1], np.int64))
    return [past, update, at], {"mode": graph.random.choice(["linear", "circular"])}, 1


@operator("ScatterElements", "Scatter", since=9)
def scattered_in_order(graph, name):
    if name == "Scatter" and graph.version > 10:
        return None
    x = graph.given(graph.numbers([3, 4, 2], np.float32))
    axis = graph.random.randint(-3 if graph.version >= 11 else 0, 2)
    size = [3, 4, 2][axis]
    places = np.argsort(graph.numpy.random((3, 4, 2)), axis)[:2, :3, :1 if size == 2 else 2]
    attributes = {"axis": axis}
    if graph.version >= 18:
        attributes["reduction"] = graph.random.choice(["add", "mul", "max", "min"])
    return [x, graph.given(places.astype(np.int64)), graph.given(graph.numbers(places.shape, np.float32))], attributes, 1


@operator(*[f"Reduce{name}" for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")])
def reduced(graph, name):
    """Of three axes, each subset, in any order and sign."""
    x = graph.given(np.abs(graph.numbers([2, 3, 2], np.float32)) + np.float32(0.5))
    axes = some_axes(graph, 3, least=1)
    if graph.version < 11:
        axes = [axis % 3 for axis in axes]
    attributes = {"keepdims": 0}
    if graph.version >= 18 or (name == "ReduceSum" and graph.version >= 13):
        if graph.chance(0.3):
            return [x], {**attributes, "noop_with_empty_axes": 1}, 1
        return [x, numbers(graph, axes)], attributes, 1
    return [x], {**attributes, "axes": axes}, 1


@operator("ArgMax", "ArgMin")
def extreme_index(graph, name):
    x = graph.given(np.round(graph.numbers([2, 3, 3], np.float32)))
    attributes = {"axis": graph.random.randint(-3 if graph.version >= 11 else 0, 2), "keepdims": 0}
    if graph.version >= 12:
        attributes["select_last_index"] = 1
    return [x], attributes, 1


@operator("Flatten")
def flattened(graph, name):
    axis = graph.random.randint(-3 if graph.version >= 11 else 0, 3)
    return [graph.given(graph.numbers([2, 3, 2], np.float32))], {"axis": axis}, 1


@operator("Transpose")
def transposed(graph, name):
    return [graph.given(graph.numbers([2, 3, 4], np.float32))], {"perm": graph.random.sample(range(3), 3)}, 1


@operator("Gather", "GatherElements")
def gathered(graph, name):
    x = graph.given(graph.numbers([3, 3, 2], np.float32))
    axis = graph.random.randint(-3, 2) if graph.version >= 11 else graph.random.randint(0, 2)
    size = [3, 3, 2][axis]
    low = -size if graph.version >= 11 else 0
    shape = [2, 2] if name == "Gather" else [2, 2, 2]
    return [x, graph.given(graph.numpy.integers(low, size, shape).astype(np.int64))], {"axis": axis}, 1


@operator("LpNormalization", "GlobalLpPool")
def length_normalised(graph, name):
    x = graph.given(graph.numbers([2, 2, 3], np.float32))
    if name == "GlobalLpPool":
        return [x], {"p": graph.random.choice([1, 3] if graph.version >= 2 else [1.0, 3.0])}, 1
    return [x], {"axis": graph.random.randint(0, 2), "p": 1}, 1


@operator("Elu", "LeakyRelu", "Selu", "HardSigmoid", "ThresholdedRelu", "Shrink", "Celu", "Gelu", "IsInf")
def with_parameters(graph, name):
    x = graph.given(graph.numbers([2, 3, 3], np.float32) * np.float32(2))
    names = {"Selu": ["alpha", "gamma"], "HardSigmoid": ["alpha", "beta"], "Shrink": ["lambd", "bias"]}
    if name == "IsInf":
        x = graph.given(np.array([np.inf, -np.inf, 1.0, np.nan], np.float32))
        return [x], {key: 0 for key in ("detect_negative", "detect_positive")}, 1
    if name == "Gelu":
        return [x], {"approximate": "tanh"}, 1
    attributes = {key: graph.random.choice([0.125, 0.75, 1.5]) for key in names.get(name, ["alpha"])}
    return [x], attributes, 1


@operator("Shape", since=15)
def measured(graph, name):
    x = graph.given(graph.numbers([2, 3, 4, 1], np.float32))
    return [x], {"start": graph.random.choice([1, -2, 2, -9]), "end": graph.random.choice([3, -1, 2, 9])}, 1


@operator("BitShift", since=11)
def shifted(graph, name):
    x = graph.given(graph.numpy.integers(0, 255, [3, 2]).astype(np.uint8))
    by = graph.given(graph.numpy.integers(0, 9, [3, 2]).astype(np.uint8))
    return [x, by], {"direction": graph.random.choice(["LEFT", "RIGHT"])}, 1


@operator("Mod", since=10)
def remainder(graph, name):
    x = graph.given(graph.numpy.integers(-9, 9, [3, 2]).astype(np.int32))
    by = graph.given(graph.random.choice([-1, 1]) * graph.numpy.integers(2, 5, [3, 2]).astype(np.int32))
    return [x, by], {"fmod": 1}, 1


@operator("GridSample", since=16)
def grid_sampled(graph, name):
    x = graph.given(graph.numbers([1, 1, 3, 4], np.float32))
    at = graph.given((graph.numpy.random([1, 3, 2, 2]) * 2.8 - 1.4).astype(np.float32))
    modes = ["nearest", "cubic"] if graph.version >= 20 else ["nearest", "bicubic"]
    attributes = {"mode": graph.random.choice(modes), "align_corners": 1}
    attributes["padding_mode"] = graph.random.choice(["border", "reflection"])
    return [x, at], attributes, 1


@operator("NonMaxSuppression", since=10)
def suppressed(graph, name):
    boxes = np.array([[[0, 0, 2, 2], [0.5, 0.5, 2, 2], [3, 3, 5, 5], [0, 1, 2, 3]]], np.float32)
    scores = np.array([[[0.75, 0.5, 0.25, 0.625]]], np.float32)
    limits = [numbers(graph, [3]), numbers(graph, [0.25], np.float32), numbers(graph, [0.3], np.float32)]
    return [graph.given(boxes), graph.given(scores)] + limits, {"center_point_box": 1}, 1


@operator("Unique", since=11)
def distinct(graph, name):
    x = graph.given(graph.numpy.integers(0, 4, [2, 4]).astype(np.float32))
    return [x], {"axis": graph.random.choice([0, 1, -1])} if graph.chance(0.5) else {"sorted": 0}, 4


@operator("CenterCropPad", since=18)
def centred(graph, name):
    x = graph.given(graph.numbers([4, 4, 5], np.float32))
    axes = graph.random.sample([0, 1, 2], 3)
    shape = [graph.random.randint(2, 7) for _ in axes]
    return [x, numbers(graph, shape)], {"axes": axes}, 1


@operator("ConvInteger", since=10)
def integer_convolution(graph, name):
    kernel = [2, 3]
    attributes = {"kernel_shape": kernel, "strides": [2, 1], "pads": [1, 0, 0, 2], "dilations": [1, 1], "group": 2}
    if graph.chance(0.5):
        attributes["dilations"] = [2, 1]
    x = graph.given(graph.numpy.integers(0, 255, [1, 2, 5, 6]).astype(np.uint8))
    filters = graph.given(graph.numpy.integers(0, 255, [2, 1] + kernel).astype(np.uint8))
    return [x, filters, numbers(graph, 7, np.uint8)], attributes, 1


@operator("Cast", until=12)
@operator("CastLike", since=15)
def cast(graph, name):
    x = graph.given(graph.numbers([2, 3], np.float32))
    if graph.version < 6:
        return [x], {"to": graph.random.choice(["INT32", "INT64", "BOOL"])}, 1
    if name == "CastLike":
        return [x, graph.given(np.zeros([1], graph.random.choice([np.int32, np.int8, np.float64])))], {}, 1
    return [x], {"to": graph.random.choice([6, 7, 11, 9])}, 1


@operator("DeformConv", since=19)
def deformed(graph, name):
    of = lambda *shape: graph.given(graph.numbers(list(shape), np.float32))
    attributes = {"strides": [2, 1], "pads": [1, 0, 1, 1], "dilations": [1, 2], "group": 2, "offset_group": 2}
    attributes["kernel_shape"] = [2, 2]
    return [of(1, 2, 5, 5), of(2, 1, 2, 2), of(1, 16, 3, 4)], attributes, 1


@operator("ai.onnx.ml.Binarizer")
def binarized(graph, name):
    return [graph.given(graph.numbers([2, 3], np.float32))], {"threshold": 0.5}, 1


def stretched_to(b, a, axis, broadcast):
    """`b` with axes after those from `axis` on that it stands along."""
    if not broadcast and a.shape != b.shape:
        raise ValueError("only `broadcast` stretches")
    axis = a.ndim - b.ndim if axis is None else axis
    return b.reshape(b.shape + (1,) * (a.ndim - axis - b.ndim))


def stretching(function):
    return lambda a, b, axis=None, broadcast=0: function(a, stretched_to(b, a, axis, broadcast))


def old_sum(a, b, c, alpha=1.0, beta=1.0, transA=0, transB=0, broadcast=0):
    return alpha * ((a.T if transA else a) @ (b.T if transB else b)) + beta * c


# What operators mean before version 7, which onnx's reference does not know, and onnxruntime refuses.
BEFORE_7 = {
    "Add": stretching(np.add),
    "Sub": stretching(np.subtract),
    "Mul": stretching(np.multiply),
    "Div": stretching(np.divide),
    "Pow": stretching(np.power),
    "And": stretching(np.logical_and),
    "Or": stretching(np.logical_or),
    "Xor": stretching(np.logical_xor),
    "Equal": stretching(np.equal),
    "Less": stretching(np.less),
    "Greater": stretching(np.greater),
    "Cast": lambda x, to: x.astype({"INT32": np.int32, "INT64": np.int64, "BOOL": np.bool_}[to]),
    "Gemm": old_sum,
}

# Versions that a newer one says more clearly, with the same meaning of these attributes: AveragePool 1 divides
# by the number of elements without padding, but onnx's reference counts it.
SAME_AS = {("AveragePool", 1): 7}
