"""Compiled programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _native
from ._diagnostics import Error
from ._module import Dims, Module, Source, Symbolize
from ._plan import Plan


@dataclass(frozen=True)
class TensorSpec:
    """An input or output of a model."""

    name: str
    """The name in the model."""
    shape: tuple[int | str, ...]
    """Its sizes: numbers, names, or expressions of names (`"2 * seq"`)."""
    dtype: str
    """Its element type, in the terms of numpy and `ml_dtypes`: `"float32"`, `"bfloat16"`."""


class Model(_native.Model):
    """A compiled program, made by `optc.compile`; calling it runs it.

    Arrays are given in the order of `inputs`, or by name. An array is an object with the buffer protocol
    (numpy) or `__dlpack__` (torch, jax) in the memory of the CPU; other objects are converted by
    `numpy.asarray`. It is not copied if its elements have no gaps. Named sizes are taken from the arrays. The
    results are a list of new numpy arrays in the order of `outputs`, or the arrays given as `out`: a list
    (`None` for a new array), a dictionary by name, or one array if there is one output.

    >>> import numpy as np, optc
    >>> model = optc.compile(optc.Module.parse('''
    ... func.func @main(%x: tensor<?x2xf32, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<N>> {
    ...   %0 = nn.reduce_sum %x {axes = array<i64: 1>}
    ...     : (tensor<?x2xf32, #optc.dims<N>>) -> tensor<?xf32, #optc.dims<N>>
    ...   return %0 : tensor<?xf32, #optc.dims<N>>
    ... }'''))
    >>> model.inputs
    (TensorSpec(name='x', shape=('N', 2), dtype='float32'),)
    >>> model(np.ones((3, 2), np.float32))
    [array([2., 2., 2.], dtype=float32)]
    >>> sums = np.empty(1, np.float32)
    >>> model(x=np.ones((1, 2), np.float32), out=sums)[0] is sums
    True

    Any number of threads may call a model at one time. The interpreter is free while it runs. Each call has a
    context with an arena of its own, and contexts are kept for later calls: so a model takes as many arenas
    as calls ever ran at one time. They share the model's threads, which serve one call; another one meanwhile
    runs in its caller's thread alone. Calls of a model with states wait for each other. Arrays must not be
    written to while a call reads them.
    """

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """The inputs, in order."""
        return tuple(TensorSpec(name, tuple(shape), dtype) for name, shape, dtype in self.input_specs())

    @property
    def outputs(self) -> tuple[TensorSpec, ...]:
        """The outputs, in order. A size that depends on data has its upper bound."""
        return tuple(TensorSpec(name, tuple(shape), dtype) for name, shape, dtype in self.output_specs())

    @property
    def dims(self) -> dict[str, tuple[int, int | None]]:
        """The range of each named size; its upper end is `None` if the size is unbounded."""
        return {name: (least, most) for name, least, most in self.sizes()}

    @property
    def plan(self) -> Plan:
        """The place of every value; for a model with named sizes, at the greatest sizes (see `plan_at`)."""
        return self.plan_at()

    def plan_at(self, **sizes: int) -> Plan:
        """The plan at these named sizes; the others have their greatest values."""
        return Plan(self.explain(list(sizes.items())), "model")

    def prepare(self, shapes: Mapping[str, Sequence[int]] | None = None) -> int:
        """Prepares the model for arrays of these shapes, as a first call does; returns the arena's bytes."""
        return super().prepare([(name, list(shape)) for name, shape in (shapes or {}).items()])

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any]
    ) -> list[Any]:
        """Like `onnxruntime.InferenceSession.run`, with inputs by name: these outputs, or all."""
        results = self(**input_feed)
        if output_names is None:
            return results
        known = {spec.name: result for spec, result in zip(self.outputs, results)}
        missing = [name for name in output_names if name not in known]
        if missing:
            raise ValueError(f"the program has no output `{missing[0]}`, expected of {list(known)}")
        return [known[name] for name in output_names]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an artifact (machine code and packed weights), which `optc.load` reads in milliseconds."""
        super().save(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickled, (self.to_bytes(),))

    def __repr__(self) -> str:
        def side(specs: tuple[TensorSpec, ...]) -> str:
            return ", ".join(f"{s.name}: {s.dtype}[{', '.join(map(str, s.shape))}]" for s in specs)

        return f"<optc.Model ({side(self.inputs)}) -> ({side(self.outputs)})>"


def compile(
    source: Source,
    *,
    dims: Dims | None = None,
    symbolize: Symbolize | None = None,
    optimize: str = "balanced",
    precision: str = "f32",
    threads: int | None = None,
    target_cpu: str = "native",
    donate: Iterable[str] = (),
    budget: int | str | None = None,
    pools: Iterable[str] = (),
    entry: str | None = None,
    sample: Mapping[str, int] | None = None,
    synthesize_weights: bool = False,
    poison: bool = False,
    reproducer: str | os.PathLike[str] | None = None,
) -> Model:
    """Compiles a model to machine code.

    `source` is the path of an ONNX model or of IR text, the bytes of an ONNX model, an `onnx.ModelProto`, or
    a `Module`, which is not changed. `dims`, `symbolize` and `synthesize_weights` are as for `Module.load`.

    - `optimize`: `"memory"` for the smallest arena, `"speed"` for the fastest kernels, `"balanced"` saves
      memory where that costs almost no time.
    - `precision`: `"bf16"` multiplies and stores `bf16`, with sums in `f32`, where there are kernels for
      that.
    - `threads`: how many run the program, the caller's included; all processors, at most two, unless given.
    - `target_cpu`: `"native"`, `"x86-64-v4"`, `"x86-64-v3"`, `"aarch64"` or `"portable"`.
    - `donate`: inputs whose memory the program may overwrite.
    - `budget`: the most bytes of arena, as a number or a text (`"4MB"`); an `Error` says what would help.
    - `pools`: memory pools beside the arena, as for `optc --pool`.
    - `entry`: the function that is the program; the only public one, else `main`, unless given.
    - `sample`: sizes that code is made for first, by name.
    - `poison`: fills dead memory with NaN, which makes a wrong plan visible.
    - `reproducer`: a file for the program on which a pass panics.

    >>> import optc
    >>> optc.compile("no_such.onnx")
    Traceback (most recent call last):
    optc._diagnostics.Error: error: `no_such.onnx`: No such file or directory (os error 2)

    Raises `Error` with every fault of the first stage that finds some.
    """
    module = Module.load(
        source, dims=dims, symbolize=symbolize, synthesize_weights=synthesize_weights
    )
    arguments = {
        "optimize": optimize,
        "precision": precision,
        "threads": threads,
        "target_cpu": target_cpu,
        "donate": list(donate),
        "budget": budget,
        "pools": list(pools),
        "entry": entry,
        "sample": dict(sample or {}),
        "poison": poison,
        "reproducer": reproducer,
    }
    return Model(module._handle, arguments)


def load(
    path: str | os.PathLike[str], *, threads: int | None = None, recompile: bool = False
) -> Model:
    """Loads an artifact, which `Model.save` or `optc build` wrote.

    The file is mapped into memory, so processes share its pages. `threads` is at most the number that it was
    built for, which is the default. Machine code of another build of optc, or with instructions that this
    processor lacks, is an `Error`; with `recompile`, the program in the file is compiled again.

    >>> import numpy as np, optc, tempfile
    >>> model = optc.compile(optc.Module.parse('''
    ... func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    ...   %0 = nn.neg %x : tensor<2xf32>
    ...   return %0 : tensor<2xf32>
    ... }'''))
    >>> with tempfile.NamedTemporaryFile(suffix=".optc") as file:
    ...     model.save(file.name)
    ...     optc.load(file.name)(np.array([1, -2], np.float32))
    [array([-1.,  2.], dtype=float32)]
    """
    return Model(os.fspath(path), {"threads": threads, "recompile": recompile})


def _unpickled(data: bytes) -> Model:
    """The model in an artifact; compiled again on a machine that can't run its code."""
    try:
        return Model(data, {"threads": None, "recompile": False})
    except Error:
        return Model(data, {"threads": None, "recompile": True})
