"""Programs in the IR: read, transformed by passes, printed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol, Union

from . import _native
from ._diagnostics import Diagnostic

Dims = Mapping[str, int | tuple[int, int]]
Symbolize = Mapping[str, Mapping[int, str]]


class _Proto(Protocol):
    def SerializeToString(self) -> bytes: ...


Source = Union[str, os.PathLike[str], bytes, bytearray, memoryview, _Proto, "Module"]


class Module:
    """A program in the IR.

    >>> import optc
    >>> module = optc.Module.parse('''
    ... func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    ...   %0 = nn.exp %x : tensor<8xf32>
    ...   %1 = nn.neg %0 : tensor<8xf32>
    ...   return %1 : tensor<8xf32>
    ... }''')
    >>> remarks = module.run_pipeline("fuse")
    >>> print(module, end="")
    module {
      func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {optc.stage = "fuse"} {
        %0 = optc.group(%arg1 = %arg0) : (tensor<8xf32>) -> tensor<8xf32> {
          %1 = nn.exp %arg1 : tensor<8xf32>
          %2 = nn.neg %1 : tensor<8xf32>
          optc.yield %2 : tensor<8xf32>
        }
        return %0 : tensor<8xf32>
      }
    }
    """

    __slots__ = ("_handle",)
    _handle: _native.Module

    def __init__(self) -> None:
        raise TypeError("a module is made by `Module.parse` or `Module.load`")

    @classmethod
    def _of(cls, native: _native.Module) -> Module:
        module = cls.__new__(cls)
        module._handle = native
        return module

    @classmethod
    def parse(cls, text: str, *, name: str = "<text>", allow_unregistered: bool = False) -> Module:
        """Parses a program; `name` is the text's name in messages.

        Raises an `Error` with all errors of the text.
        """
        return cls._of(_native.Module.parse(text, name, allow_unregistered))

    @classmethod
    def load(
        cls,
        source: Source,
        *,
        dims: Dims | None = None,
        symbolize: Symbolize | None = None,
        synthesize_weights: bool = False,
    ) -> Module:
        """Loads an ONNX model, or IR text from a file (with any name but `.onnx`).

        `source` is a path, the bytes of an ONNX model, or an `onnx.ModelProto`. `dims` sets named sizes to
        numbers or ranges: `{"batch": 1, "seq": (1, 512)}`. `symbolize` turns sizes of inputs into named
        sizes: `{"input": {0: "N"}}`. `synthesize_weights` generates weights that were stripped from a model.
        """
        arguments = _read_arguments(dims, symbolize, synthesize_weights)
        if isinstance(source, Module):
            return cls._of(source._handle.with_sizes(arguments)) if dims or symbolize else source
        if isinstance(source, (str, os.PathLike)):
            return cls._of(_native.Module.load(source, arguments))
        if not isinstance(source, (bytes, bytearray, memoryview)):
            if not hasattr(source, "SerializeToString"):
                raise TypeError(f"a model is a path, bytes or a ModelProto, not {type(source).__name__}")
            source = source.SerializeToString()
        return cls._of(_native.Module.from_onnx(bytes(source), arguments))

    def run_pipeline(
        self, pipeline: str, *, threads: int = 1, target_cpu: str = "native", verify: bool = True
    ) -> list[Diagnostic]:
        """Runs passes on the program, and returns their remarks.

        `pipeline` is as for `optc --passes`: `"fuse,inplace,plan"`, `"plan{planner=exact}"`. If a pass finds
        an error, the program is not changed. Scratch is planned for `threads`.
        """
        return self._handle.run_pipeline(pipeline, threads, target_cpu, verify)

    def to_text(self, *, generic: bool = False, locations: bool = False) -> str:
        """The program's text, optionally in MLIR's generic form, and with locations."""
        return self._handle.to_text(generic, locations)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<optc.Module of {len(self.to_text().splitlines())} lines>"

    def __copy__(self) -> Module:
        return Module._of(self._handle.with_sizes(_read_arguments(None, None, False)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Module:
        return self.__copy__()


def _read_arguments(
    dims: Dims | None, symbolize: Symbolize | None, synthesize_weights: bool
) -> dict[str, Any]:
    return {
        "dims": dict(dims or {}),
        "symbolize": {name: dict(axes) for name, axes in (symbolize or {}).items()},
        "synthesize_weights": synthesize_weights,
    }
