"""What the arguments and results of a graph are: tensors, weights, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

Sizes = dict[Any, int]
"""The number that each of torch's symbols stands for in a call."""


class Unsupported(Exception):
    """A graph is none that optc runs; the message says why."""


class Signature:
    """The arguments and results of a graph of ATen's operations.

    `weights` are the arguments that may be constants.
    """

    def __init__(self, graph: torch.fx.GraphModule, weights: frozenset[int]) -> None:
        nodes = graph.graph.find_nodes(op="placeholder")
        self._values = [node.meta.get("val") for node in nodes]
        used = [at for at, node in enumerate(nodes) if node.users]
        tensors = [at for at in used if isinstance(self._values[at], torch.Tensor)]
        self.unused = [at for at in range(len(nodes)) if at not in used]
        self.weights = [at for at in tensors if at in weights]
        self.inputs = [at for at in tensors if at not in weights]
        self.numbers = [at for at in used if at not in tensors]
        self.named_axes = [self._named_axes(at) for at in self.inputs]
        self.derived = self._derived()
        self._symbols = self._places_of_symbols()
        self._outputs = list(graph.graph.output_node().args[0])
        self._arguments = {node: at for at, node in enumerate(nodes)}
        self.results = self._results()

    def _named_axes(self, at: int) -> list[int]:
        shape = self._values[at].shape
        return [axis for axis, size in enumerate(shape) if isinstance(size, torch.SymInt)]

    def _derived(self) -> dict[int, tuple[int, int]]:
        """The numbers that are a size of an input, each as the input's place and an axis."""
        places: dict[Any, tuple[int, int]] = {}
        for place, axes in enumerate(self.named_axes):
            for axis in axes:
                places.setdefault(self._values[self.inputs[place]].shape[axis].node.expr, (place, axis))
        symbols = {at: _symbol(self._values[at]) for at in self.numbers}
        return {at: places[symbol] for at, symbol in symbols.items() if symbol in places}

    def _places_of_symbols(self) -> dict[Any, tuple[int, int | None]]:
        """For each of torch's symbols an argument that is it, or that has it as the size of an axis."""
        places: dict[Any, tuple[int, int | None]] = {}
        for at, value in enumerate(self._values):
            if isinstance(value, torch.Tensor):
                for axis, size in enumerate(value.shape):
                    places.setdefault(_symbol(size), (at, axis))
            else:
                places.setdefault(_symbol(value), (at, None))
        places.pop(None, None)
        return places

    def _results(self) -> list[int]:
        """The outputs that are computed, each once: neither arguments nor numbers."""
        first: dict[Any, int] = {}
        for at, node in enumerate(self._outputs):
            if isinstance(node, torch.fx.Node) and node not in self._arguments:
                if isinstance(node.meta.get("val"), torch.Tensor):
                    first.setdefault(node, at)
        return list(first.values())

    def sizes(self, arguments: Sequence[Any]) -> Sizes:
        """The symbols of these arguments."""
        return {
            symbol: int(arguments[at] if axis is None else arguments[at].shape[axis])
            for symbol, (at, axis) in self._symbols.items()
        }

    def key(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """All sizes and numbers of a call."""
        shapes = tuple(tuple(arguments[at].shape) for at in self.inputs)
        return (shapes, tuple(int(arguments[at]) for at in self.numbers))

    def outputs(self, arguments: Sequence[Any], results: Sequence[torch.Tensor], sizes: Sizes) -> list[Any]:
        """What the graph returns, of these results."""
        computed = {self._outputs[at]: tensor for at, tensor in zip(self.results, results)}
        return [self._output(node, arguments, computed, sizes) for node in self._outputs]

    def _output(
        self, node: Any, arguments: Sequence[Any], computed: dict[Any, torch.Tensor], sizes: Sizes
    ) -> Any:
        if not isinstance(node, torch.fx.Node):
            return node
        if node in self._arguments:
            return arguments[self._arguments[node]]
        value = node.meta.get("val")
        if node not in computed:
            return _number(value, sizes)
        tensor, shape = computed[node], [_number(size, sizes) for size in value.shape]
        if tensor.dtype != value.dtype or list(tensor.shape) != shape:
            found, expected = (tensor.dtype, list(tensor.shape)), (value.dtype, shape)
            raise Unsupported(f"the exported `{node.name}` is of type and shape {found}, expected {expected}")
        # What follows in torch may rely on how the graph would have laid its result out.
        strides = [_number(stride, sizes) for stride in value.stride()]
        if list(tensor.stride()) == strides:
            return tensor
        return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype).copy_(tensor)


def check(graph: torch.fx.GraphModule) -> None:
    """Raises `Unsupported` if an exported graph would not compute what the graph does."""
    for node in graph.graph.nodes:
        if torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            raise Unsupported(f"`{node.target}` draws random numbers, and optc draws the same in every run")
        value = node.meta.get("val")
        for tensor in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(tensor, torch.Tensor) and tensor.device.type != "cpu":
                raise Unsupported(f"`{node.name}` is on the device `{tensor.device}`, expected `cpu`")
        is_number = isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool)
        is_argument = node.op == "placeholder" and bool(node.users)
        if is_argument and not isinstance(value, torch.Tensor) and not is_number:
            kind = type(value).__name__
            raise Unsupported(f"its argument `{node.name}` is a {kind}, expected a tensor or an integer")
    _check_apart(graph)


def _check_apart(graph: torch.fx.GraphModule) -> None:
    """Raises `Unsupported` if two results share memory, which a write to one would show. Those that share it
    with an argument are torch's own care."""
    arguments = {_storage(node) for node in graph.graph.find_nodes(op="placeholder")}
    outputs = graph.graph.output_node().args[0]
    results = dict.fromkeys(node for node in outputs if isinstance(node, torch.fx.Node))
    storages = [storage for storage in map(_storage, results) if storage not in arguments | {None}]
    if len(set(storages)) < len(storages):
        raise Unsupported("two of its results share memory, and optc writes each into its own")


def _storage(node: torch.fx.Node) -> int | None:
    """What identifies the memory of a tensor of the graph."""
    value = node.meta.get("val")
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None


def _symbol(size: Any) -> Any:
    """The symbol that a size is, if it is one and no number or expression."""
    return size.node.expr if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol else None


def _number(size: Any, sizes: Sizes) -> Any:
    """What a number of the graph is in a call."""
    return int(size.node.expr.xreplace(sizes)) if isinstance(size, torch.SymInt) else size
