"""A graph of torch that runs as optc's machine code, or in torch where it can't."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .._diagnostics import Error
from .._model import Model
from ._export import ClosedGraph, compiled
from ._report import GraphReport
from ._signature import Signature, Unsupported
from ._weights import Weights

MOST_COMPILATIONS = 8
"""How often a graph is compiled before it is left to torch, as often as torch itself makes a graph anew."""


@dataclass(frozen=True)
class Settings:
    """What a user says about graphs."""

    compile: Mapping[str, Any]
    """The arguments of `optc.compile`."""
    trust_versions: bool
    """Whether weights count as unchanged if torch's counters say so."""
    is_strict: bool
    """Whether a graph that optc can't run is an error."""

    def refuse(self, report: GraphReport, reason: str, cause: Exception | None = None) -> None:
        """Leaves a graph to torch, or raises that it would be."""
        if self.is_strict:
            raise RuntimeError(f"optc can't run graph {report.number} ({report.name}): {reason}") from cause
        report.fall_back(reason)


class CompiledGraph:
    """A graph that passed `check`: a function of a list of tensors and numbers that gives such a list.

    `graph` consists of operations of ATen, as torch's AOTAutograd makes them. `weights` are the arguments
    that are parameters and buffers, and that the graph does not write to.
    """

    _boxed_call = True
    """Torch's mark of a function that takes its arguments in one list, which it empties."""

    def __init__(
        self, graph: torch.fx.GraphModule, weights: frozenset[int], settings: Settings, report: GraphReport
    ) -> None:
        self._graph = graph
        self._signature = Signature(graph, weights)
        self._settings = settings
        self._report = report
        self._eager = eager(graph, report)
        self._is_dynamic = True
        self._programs: dict[tuple[Any, ...], Model] = {}
        self._watched = Weights(settings.trust_versions)
        self._state: tuple[Any, ...] = ()
        self._lock = threading.Lock()

    def __call__(self, arguments: list[Any]) -> list[Any]:
        if self._report.reason is None:
            try:
                results = self._run(arguments)
            except Exception as fault:
                # A run that fails has written to no tensor of torch.
                self._programs.clear()
                self._settings.refuse(self._report, _reason(fault), fault)
            else:
                self._report.calls += 1
                arguments.clear()
                return results
        return self._eager(arguments)

    def _run(self, arguments: Sequence[Any]) -> list[Any]:
        inputs = [arguments[at].detach() for at in self._signature.inputs]
        with self._lock:
            model = self._program(arguments, inputs)
        results = [_tensor(array) for array in model(*inputs)]
        return self._signature.outputs(arguments, results, self._signature.sizes(arguments))

    def _program(self, arguments: Sequence[Any], inputs: Sequence[torch.Tensor]) -> Model:
        """The program for the weights and sizes of a call, which is compiled if there is none."""
        state = self._watched.state([arguments[at] for at in self._signature.weights])
        if state != self._state:
            self._programs.clear()
            self._state = state
        model = self._programs.get(self._key(arguments))
        if model is None:
            if self._report.compilations == MOST_COMPILATIONS:
                raise Unsupported(f"its weights or sizes changed after {MOST_COMPILATIONS} compilations")
            model = self._compiled(arguments, inputs)
            self._programs[self._key(arguments)] = model
            self._report.compilations += 1
        return model

    def _key(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """The sizes that a program is for; none if it is for all."""
        return () if self._is_dynamic else self._signature.key(arguments)

    def _compiled(self, arguments: Sequence[Any], inputs: Sequence[torch.Tensor]) -> Model:
        signature = self._signature
        fixed: dict[int, Any] = {at: None for at in signature.unused}
        fixed |= {at: arguments[at].detach() for at in signature.weights}
        is_named = any(signature.named_axes)
        if self._is_dynamic and is_named and len(signature.derived) == len(signature.numbers):
            try:
                closed = ClosedGraph(self._graph, fixed, signature.derived, signature.results)
                return compiled(closed, inputs, signature.named_axes, self._settings.compile)
            except Exception:
                # Then perhaps for the sizes of each call.
                self._is_dynamic = False
        self._is_dynamic = not is_named and not signature.numbers
        fixed |= {at: int(arguments[at]) for at in signature.numbers}
        closed = ClosedGraph(self._graph, fixed, {}, signature.results)
        return compiled(closed, inputs, [[]] * len(inputs), self._settings.compile)


def eager(graph: torch.fx.GraphModule, report: GraphReport) -> Callable[[list[Any]], list[Any]]:
    """A function that runs the graph in torch."""

    def run(arguments: list[Any]) -> list[Any]:
        given = list(arguments)
        arguments.clear()
        report.eager_calls += 1
        return list(graph(*given))

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def _tensor(array: Any) -> torch.Tensor:
    """The tensor that has the memory of an array; of types that numpy lacks, too."""
    lacking = getattr(torch, array.dtype.name, None) if array.dtype.kind == "V" else None
    if lacking is None:
        return torch.from_numpy(array)
    integers = array.view("uint8" if array.dtype.itemsize == 1 else "uint16")
    return torch.from_numpy(integers).view(lacking)


def _reason(fault: BaseException) -> str:
    """The first line of what lies behind a fault."""
    while fault.__cause__ is not None:
        fault = fault.__cause__
    if isinstance(fault, Error) and fault.diagnostics:
        return fault.diagnostics[0].message
    if isinstance(fault, Unsupported):
        return str(fault)
    first_line, _, _ = str(fault).strip().partition("\n")
    return f"{type(fault).__name__}: {first_line}"
