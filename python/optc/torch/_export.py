"""How a graph of torch becomes a program of optc: through torch's ONNX exporter."""

from __future__ import annotations

import concurrent.futures
import logging
import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .._model import Model, compile


class ClosedGraph(torch.nn.Module):  # type: ignore[misc]
    """A graph with weights and numbers filled in: a function of tensors that returns tensors.

    `fixed` are its weights and numbers by the index of the argument; `derived` are numbers that are a size of
    a tensor, each as the tensor's place among the inputs and an axis; `results` are the outputs wanted.
    """

    def __init__(
        self,
        graph: torch.fx.GraphModule,
        fixed: Mapping[int, Any],
        derived: Mapping[int, tuple[int, int]],
        results: Sequence[int],
    ) -> None:
        super().__init__()
        self.graph = graph
        self.numbers = {at: value for at, value in fixed.items() if not isinstance(value, torch.Tensor)}
        self.weights = [at for at, value in fixed.items() if isinstance(value, torch.Tensor)]
        for at in self.weights:
            self.register_buffer(f"weight_{at}", fixed[at])
        self.derived = dict(derived)
        self.results = list(results)

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        filled = dict(self.numbers)
        filled |= {at: getattr(self, f"weight_{at}") for at in self.weights}
        filled |= {at: inputs[place].shape[axis] for at, (place, axis) in self.derived.items()}
        rest = iter(inputs)
        arguments = [filled[at] if at in filled else next(rest) for at in range(len(inputs) + len(filled))]
        outputs = self.graph(*arguments)
        return tuple(outputs[at] for at in self.results)


def compiled(
    graph: ClosedGraph,
    inputs: Sequence[torch.Tensor],
    named_axes: Sequence[Sequence[int]],
    settings: Mapping[str, Any],
) -> Model:
    """The program of a graph, for inputs as these; `named_axes` are the axes of each whose size may differ.

    Raises what the exporter raises, and `optc.Error`.
    """
    # A call may be watched by modes of torch, which would see what the exporter does; threads have none.
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(_compiled, graph, inputs, named_axes, settings).result()


def _compiled(
    graph: ClosedGraph,
    inputs: Sequence[torch.Tensor],
    named_axes: Sequence[Sequence[int]],
    settings: Mapping[str, Any],
) -> Model:
    dynamic = torch.export.Dim.DYNAMIC
    shapes = tuple({axis: dynamic for axis in axes} or None for axes in named_axes)
    # The exporter looks at shapes and strides alone.
    examples = tuple(torch.empty_strided(t.shape, t.stride(), dtype=t.dtype) for t in inputs)
    with tempfile.TemporaryDirectory(prefix="optc-torch-") as folder, _quiet(), torch.no_grad():
        program = torch.export.export(graph, examples, dynamic_shapes=(shapes,), strict=False)
        onnx = torch.onnx.export(program, dynamo=True, verbose=False)
        path = os.path.join(folder, "graph.onnx")
        onnx.save(path, external_data=True)
        model = compile(path, **settings)
    if len(model.inputs) != len(inputs):
        raise ValueError(f"torch's exporter left {len(model.inputs)} of {len(inputs)} inputs")
    return model


class _quiet(warnings.catch_warnings):
    """Says nothing of what the exporter says on its way: only whether it succeeds matters here."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.simplefilter("ignore")
        self._level = logging.root.manager.disable
        logging.disable(logging.WARNING)

    def __exit__(self, *fault: Any) -> None:
        logging.disable(self._level)
        super().__exit__(*fault)
