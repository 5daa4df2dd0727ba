"""Random ONNX graphs whose values are known: each node is evaluated by onnx's reference as it is added."""

import random
import warnings

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

import operators

warnings.filterwarnings("ignore")
np.seterr(all="ignore")

VERSIONS = [13, 17, 18, 21, 23]
IR_VERSION = 10
MOST_ELEMENTS = 4000


class LRN(OpRun):
    """As the standard says: onnx 1.23's own sums up in as many channels as there are images."""

    op_domain = ""

    def _run(self, x, alpha=None, beta=None, bias=None, size=None):
        squares = np.zeros_like(x)
        for channel in range(x.shape[1]):
            begin, end = max(0, channel - (size - 1) // 2), channel + size // 2 + 1
            squares[:, channel] = np.sum(x[:, begin:end] ** 2, axis=1)
        return ((x / (bias + alpha / size * squares) ** beta).astype(x.dtype),)


class LpNormalization(OpRun):
    """As the standard says: onnx 1.23's own takes the sum for that of absolute values."""

    op_domain = ""

    def _run(self, x, axis=None, p=None):
        norm = np.sum(np.abs(x) ** p, axis=axis, keepdims=True) ** (1 / p)
        return (np.where(norm == 0, 0, x / norm).astype(x.dtype),)


class PRelu(OpRun):
    """As the standard says: onnx 1.23's own multiplies 0 too by the slope, which may be NaN or infinite."""

    op_domain = ""

    def _run(self, x, slope):
        return (np.where(x < 0, x * slope, x).astype(x.dtype),)


class Slice(OpRun):
    """As the standard says: onnx 1.23's own takes numpy's slices, in which a start before the first element
    is no element where the step is negative."""

    op_domain = ""

    def _run(self, data, starts, ends, axes=None, steps=None):
        axes = range(len(starts)) if axes is None else axes
        steps = [1] * len(starts) if steps is None else steps
        for start, end, axis, step in zip(*(map(int, numbers) for numbers in (starts, ends, axes, steps))):
            size = data.shape[axis]
            start, end = (number + size if number < 0 else number for number in (start, end))
            if step > 0:
                indices = range(min(max(start, 0), size), min(max(end, 0), size), step)
            else:
                indices = range(min(max(start, 0), size - 1), min(max(end, -1), size - 1), step)
            data = np.take(data, np.array(indices, np.int64), axis)
        return (data,)


class GlobalLpPool(OpRun):
    """As the standard says: onnx 1.23 has none."""

    op_domain = ""

    def _run(self, x, p=None):
        axes = tuple(range(2, x.ndim))
        return ((np.sum(np.abs(x) ** p, axis=axes, keepdims=True) ** (1 / p)).astype(x.dtype),)


CORRECTED = [GlobalLpPool, LRN, LpNormalization, PRelu, Slice]


class Node:
    """A node with what the reference made of it."""

    def __init__(self, proto, inputs, outputs):
        self.proto, self.inputs, self.outputs = proto, inputs, outputs


class Graph:
    """A graph in the making. `values` has all arrays by name; `constants` the names of those that are weights."""

    def __init__(self, seed, names=None):
        self.random, self.numpy = random.Random(seed), np.random.default_rng(seed)
        self.version = self.random.choice(VERSIONS)
        self.values, self.inputs, self.constants, self.nodes, self.symbols = {}, [], set(), [], {}
        self.is_symbolic = self.chance(0.3)
        names = names or sorted(operators.OPERATORS)
        for _ in range(self.random.choice([1, 2, 3, 4, 6, 8])):
            for _ in range(20):
                if self.add(self.random.choice(names)):
                    break

    def chance(self, share):
        return self.random.random() < share

    def array(self, name):
        return self.values[name]

    def number_of(self, kind):
        return helper.np_dtype_to_tensor_dtype(np.dtype(kind))

    def shape(self, most=4, least=0):
        rank = self.random.randint(least, most)
        return [0 if self.chance(0.01) else self.random.randint(1, 5) for _ in range(rank)]

    def numbers(self, shape, kind):
        """Numbers near zero; some floats are special, some integers large."""
        kind = np.dtype(kind)
        if kind == np.bool_:
            return self.numpy.random(shape) < 0.5
        if kind.kind in "iu":
            info = np.iinfo(kind)
            low, high = (info.min, info.max) if self.chance(0.1) else (max(info.min, -9), 9)
            return self.numpy.integers(low, high, shape, dtype=kind, endpoint=True)
        numbers = self.numpy.random(shape) * 4 - 2
        if self.chance(0.3):
            numbers = np.round(numbers * 4) / 4
        if self.chance(0.05):
            special = self.numpy.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30], shape)
            numbers = np.where(self.numpy.random(shape) < 0.2, special, numbers)
        return np.asarray(numbers).astype(kind)

    def given(self, array, is_constant=False):
        """An input, or a weight, with these elements."""
        name = f"x{len(self.values)}"
        self.values[name] = np.asarray(array)
        if is_constant or self.chance(0.3):
            self.constants.add(name)
        else:
            self.inputs.append(name)
        return name

    def fresh(self, shape, kind):
        """An operand of this shape: a value that there is, or a new one."""
        fitting = [name for name, value in self.values.items() if list(value.shape) == list(shape) and value.dtype == np.dtype(kind)]
        if fitting and self.chance(0.6):
            return self.random.choice(fitting)
        return self.given(self.numbers(shape, kind))

    def pick(self, kinds, least=0, most=4):
        """A value of one of these types, of at least and at most these ranks."""
        kinds = [np.dtype(kind) for kind in kinds]
        fits = lambda value: value.dtype in kinds and least <= value.ndim <= most and value.size <= MOST_ELEMENTS
        fitting = [name for name, value in self.values.items() if fits(value)]
        if fitting and self.chance(0.8):
            return self.random.choice(fitting[-4:])
        kind = self.random.choice(kinds if self.chance(0.5) else kinds[:1])
        return self.given(self.numbers(self.shape(most, least), kind))

    def pair(self, kinds):
        """Two values of one type whose shapes broadcast."""
        a = self.pick(kinds)
        array = self.values[a]
        shape = [size if self.chance(0.7) else 1 for size in array.shape][self.random.choice([0, 0, 0, 1]):]
        pair = [a, self.fresh(shape, array.dtype)]
        self.random.shuffle(pair)
        return pair

    def like_shape(self, name, kind):
        return self.fresh([size if self.chance(0.8) else 1 for size in self.values[name].shape], kind)

    def image(self, rank=2):
        fitting = [name for name, value in self.values.items() if value.ndim == rank + 2 and value.dtype == np.float32 and 0 not in value.shape]
        if fitting and self.chance(0.7):
            return self.random.choice(fitting)
        sizes = [self.random.randint(1, 2), self.random.randint(1, 4)] + [self.random.randint(2, 7) for _ in range(rank)]
        return self.given(self.numbers(sizes, np.float32))

    def add(self, name):
        """Adds a node of this operator; says whether there is one for what was drawn."""
        before = (dict(self.values), list(self.inputs), set(self.constants))
        rows = [row for row in operators.OPERATORS[name] if row[0] <= self.version <= row[1]]
        drawn = self.random.choice(rows)[2](self, name) if rows else None
        results = None
        if drawn is not None:
            inputs, attributes, count = drawn
            outputs = [f"t{len(self.nodes)}_{index}" for index in range(count)]
            try:
                proto = helper.make_node(name, inputs, outputs, **attributes)
                results = reference(self.version, [proto], {name: self.values[name] for name in inputs if name}, outputs)
            except Exception:
                results = None
        if results is None or any(not isinstance(value, (np.ndarray, np.generic)) or value.size > MOST_ELEMENTS for value in results):
            self.values, self.inputs, self.constants = before
            return False
        for output, value in zip(outputs, results):
            self.values[output] = np.asarray(value)
        self.nodes.append(Node(proto, [name for name in inputs if name], outputs))
        return True

    def outputs(self):
        read = {name for node in self.nodes for name in node.inputs}
        return [name for node in self.nodes for name in node.outputs if name not in read]

    def part(self):
        """The whole graph as something that can be cut."""
        return Part(self, self.nodes, self.outputs(), self.is_symbolic)


def reference(version, nodes, given, outputs):
    """What onnx's reference computes."""
    infos = [helper.make_tensor_value_info(name, number_of(value), value.shape) for name, value in given.items()]
    results = [helper.make_value_info(name, onnx.TypeProto()) for name in outputs]
    model = helper.make_model(helper.make_graph(nodes, "g", infos, results), opset_imports=[helper.make_opsetid("", version)], ir_version=IR_VERSION)
    return ReferenceEvaluator(model, new_ops=CORRECTED).run(None, given)


def changed(value, size, generator, is_sum):
    exact = value.astype(np.float64)
    finite = np.abs(exact[np.isfinite(exact)])
    scale = np.maximum(np.abs(exact), finite.max(initial=0.0)) if is_sum else np.abs(exact)
    off = size * scale * generator.choice([-1.0, 1.0], value.shape)
    return np.where(np.isfinite(exact), exact + off, exact).astype(value.dtype)


def number_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


class Part:
    """Some nodes of a graph, computed from what the reference says of the values before them."""

    def __init__(self, graph, nodes, outputs, is_symbolic):
        self.graph, self.outputs, self.is_symbolic = graph, outputs, is_symbolic
        needed, kept = set(outputs), []
        for node in reversed(nodes):
            if needed.intersection(node.outputs):
                kept.append(node)
                needed.update(node.inputs)
        self.nodes = kept[::-1]
        made = {name for node in self.nodes for name in node.outputs}
        read = dict.fromkeys(name for node in self.nodes for name in node.inputs if name not in made)
        self.weights = [name for name in read if name in graph.constants]
        self.inputs = {name: graph.values[name] for name in read if name not in graph.constants}

    def model(self):
        def info(name, is_input):
            value = self.graph.values[name]
            shape = [f"{name}_{axis}" for axis in range(value.ndim)] if self.is_symbolic and is_input else value.shape
            return helper.make_tensor_value_info(name, number_of(value), shape)

        weights = [numpy_helper.from_array(np.ascontiguousarray(self.graph.values[name]).reshape(self.graph.values[name].shape), name) for name in self.weights]
        outputs = [helper.make_tensor_value_info(name, number_of(self.graph.values[name]), [None] * self.graph.values[name].ndim) for name in self.outputs]
        graph = helper.make_graph([node.proto for node in self.nodes], "g", [info(name, True) for name in self.inputs], outputs, weights)
        domains = dict.fromkeys(["", *(node.proto.domain for node in self.nodes)])
        imports = [helper.make_opsetid(domain, self.graph.version) for domain in domains]
        return helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION)

    def expected(self):
        return [self.graph.values[name] for name in self.outputs]

    def operators(self):
        return sorted({node.proto.op_type for node in self.nodes})

    def smaller(self):
        """Parts of this one: with one output, with an inner value as an input, with known sizes."""
        if len(self.outputs) > 1:
            for output in self.outputs:
                yield Part(self.graph, self.nodes, [output], self.is_symbolic)
        if self.is_symbolic:
            yield Part(self.graph, self.nodes, self.outputs, False)
        for node in self.nodes:
            if len(self.nodes) > 1:
                rest = [other for other in self.nodes if other is not node]
                outputs = [name for name in self.outputs if name not in node.outputs]
                if outputs:
                    yield Part(self.graph, rest, outputs, self.is_symbolic)
                if not set(node.outputs).intersection(self.outputs):
                    continue
                before = [name for name in node.inputs if any(name in other.outputs for other in rest)]
                if before:
                    yield Part(self.graph, rest, before, self.is_symbolic)

    def perturbed(self, size, seed):
        """What the reference computes if each float that a node makes is off by about `size` of itself, or of
        the largest one where the node sums up."""
        generator = np.random.default_rng(seed)
        values = {name: self.graph.values[name] for name in self.weights} | self.inputs
        for node in self.nodes:
            given = {name: values[name] for name in node.inputs}
            try:
                results = reference(self.graph.version, [node.proto], given, node.outputs)
            except Exception:
                return None
            for name, value in zip(node.outputs, results):
                value = np.asarray(value)
                if value.dtype.kind in "fV":
                    value = changed(value, size, generator, node.proto.op_type in operators.SUMS)
                values[name] = value
        return [values[name] for name in self.outputs]

    def text(self):
        lines = [f"operator set {self.graph.version}{', symbolic sizes' if self.is_symbolic else ''}"]
        for name in list(self.inputs) + self.weights:
            value = self.graph.values[name]
            kind = "input" if name in self.inputs else "weight"
            shown = np.array2string(value.astype(np.float32) if value.dtype.kind == "V" else value, threshold=24, separator=", ").replace("\n", "")
            lines.append(f"{kind} {name}: {value.dtype}{list(value.shape)} = {shown}")
        for node in self.nodes:
            attributes = {item.name: helper.get_attribute_value(item) for item in node.proto.attribute}
            lines.append(f"{', '.join(node.outputs)} = {node.proto.op_type}({', '.join(node.proto.input)}) {attributes}")
        lines.append(f"outputs {', '.join(self.outputs)}")
        return "\n".join(lines)
