"""The backend itself: what torch calls with each graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._decomp import get_decompositions
from torch._dynamo.backends.common import aot_autograd

from ._graph import CompiledGraph, Settings, eager
from ._report import new_report
from ._signature import Unsupported, check

COMPILE_OPTIONS = {"optimize", "threads", "target_cpu", "budget", "pools", "poison", "reproducer"}
"""The arguments of `optc.compile` that `options` may have."""

TRAINING = "its results need gradients, and optc only infers: call it under `torch.no_grad()`"


def compile_backend(
    graph: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """What runs a graph of torch, as a backend of `torch.compile` gives it.

    It is called by torch: `torch.compile(net, backend="optc", options={"threads": 1})`. A graph is compiled
    in its first call. Named sizes of optc stand for the sizes that torch calls dynamic.

    `options`:

    - `optimize`, `threads`, `target_cpu`, `budget`, `pools`, `poison`, `reproducer`: as for `optc.compile`.
    - `weights`: how a call knows that parameters and buffers are what they were. `"contents"` (the default)
      reads all their bytes, which no change escapes. `"versions"` asks torch, which does not see what is
      written through `Tensor.data` or numpy: then results are those of old weights.
    - `fallback`: `"eager"` (the default) leaves to torch what optc can't run, with an `EagerWarning`;
      `"error"` raises a `RuntimeError`.

    Raises `TypeError` and `ValueError` if an option is none of these. `mode` must be `None`.
    """
    if mode is not None:
        raise ValueError(f"`mode` is of torch's own backend, expected `None` and not {mode!r}")
    settings = _settings(dict(options or {}))
    entry = new_report(_place(graph))

    def infer(program: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        try:
            check(program)
        except Unsupported as fault:
            settings.refuse(entry, str(fault))
            return eager(program, entry)
        return CompiledGraph(program, _weights(), settings, entry)

    def train(program: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        if entry.reason is None:
            settings.refuse(entry, TRAINING)
        return eager(program, entry)

    # Attention as products and a softmax: that is what optc knows to fuse.
    attention = get_decompositions([torch.ops.aten._scaled_dot_product_flash_attention_for_cpu])
    backend = aot_autograd(
        fw_compiler=train, bw_compiler=train, inference_compiler=infer, decompositions=attention
    )
    return backend(graph, example_inputs)  # type: ignore[no-any-return]


def _weights() -> frozenset[int]:
    """The arguments of the graph at hand that are parameters and buffers, and that it does not write to."""
    context = torch._guards.TracingContext.try_get()
    if context is None or context.fw_metadata is None:
        return frozenset()
    metadata = context.fw_metadata
    return frozenset(metadata.static_input_indices) - frozenset(metadata.mutated_inp_runtime_indices)


def _settings(options: dict[str, Any]) -> Settings:
    weights = options.pop("weights", "contents")
    if weights not in ("contents", "versions"):
        raise ValueError(f"`weights` is {weights!r}, expected 'contents' or 'versions'")
    fallback = options.pop("fallback", "eager")
    if fallback not in ("eager", "error"):
        raise ValueError(f"`fallback` is {fallback!r}, expected 'eager' or 'error'")
    unknown = sorted(set(options) - COMPILE_OPTIONS)
    if unknown:
        known = sorted(COMPILE_OPTIONS | {"weights", "fallback"})
        raise TypeError(f"there is no option `{unknown[0]}`, expected of {known}")
    return Settings(options, trust_versions=weights == "versions", is_strict=fallback == "error")


def _place(graph: torch.fx.GraphModule) -> str:
    """The first line of the program that the graph has something of; if torch knows none, an operation."""
    for node in graph.graph.nodes:
        lines = [line.strip() for line in (node.meta.get("stack_trace") or "").splitlines()]
        places = [line for line in lines if line.startswith("File ")]
        if places:
            file, line, function = places[-1].removeprefix("File ").replace('"', "").split(", ")[:3]
            return f"{file}:{line.removeprefix('line ')}, {function}"
    targets = [node.target for node in graph.graph.nodes if node.op.startswith("call")]
    names = [getattr(target, "__name__", str(target)) for target in targets]
    return f"that begins with `{names[0]}`" if names else "of no operations"
