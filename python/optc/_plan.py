"""Plans: the place of every value of a program, and its live range."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any, overload

from . import _native
from ._module import Module

COLUMNS = (
    "buffer", "value", "op", "node", "type", "bytes", "pool", "offset", "first", "last", "kind"
)  # fmt: skip


class Plan(Sequence[dict[str, Any]]):
    """The plan of a program: a row for each value, so that `pandas.DataFrame(plan)` is a table.

    Columns: `buffer` (the value whose bytes it shares, or itself), `value` (as in the printed text), `op` and
    `node` (the operation that makes it, and the name of the model's node), `type`, `bytes`, `pool`, `offset`
    (in the pool), `first` and `last` (its live range in steps), `kind` (`input`, `result`, `scratch`,
    `output`). Values in the pools `input` and `output` are in arrays of the caller; their offset is the
    number of the input or output.

    >>> import optc
    >>> model = optc.compile(optc.Module.parse('''
    ... func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    ...   %0 = nn.softmax %x {axis = 0} : tensor<64xf32>
    ...   %1 = nn.cum_sum %0 {axis = 0} : tensor<64xf32>
    ...   %2 = nn.softmax %1 {axis = 0} : tensor<64xf32>
    ...   return %2 : tensor<64xf32>
    ... }'''), threads=1)
    >>> plan = model.plan
    >>> for row in plan:
    ...     if row["kind"] != "scratch":
    ...         print(row["value"], row["op"], row["bytes"], row["pool"])
    %arg0  256 input
    %0 nn.softmax 256 output
    %1 nn.cum_sum 256 output
    %2 nn.softmax 256 output
    >>> plan.arena_bytes == model.arena_bytes
    True
    """

    def __init__(self, native: _native.Plan, title: str) -> None:
        self._native = native
        self._title = title
        self._data: dict[str, Any] = json.loads(native.to_json())
        report = self._data["report"]
        steps = {step["index"]: step for step in report["steps"]}
        self._rows = [_row(value, steps) for value in report["values"]]

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The table as a list for each column."""
        return {name: [row[name] for row in self._rows] for name in COLUMNS}

    @property
    def arena_bytes(self) -> int:
        """Memory of a run for intermediate values and scratch, at `sizes`, in bytes."""
        return int(self._data["arena_bytes"])

    @property
    def bound_bytes(self) -> int | None:
        """The arena that suffices at all sizes, in bytes, if it is known."""
        bound: int | None = self._data["bound_bytes"]
        return bound

    @property
    def weights_bytes(self) -> int:
        """Bytes of constants, packed for kernels."""
        return int(self.report["weights_bytes"])

    @property
    def sizes(self) -> dict[str, int]:
        """The named sizes that the plan is for."""
        return dict(self._data["sizes"])

    @property
    def peak(self) -> int:
        """The step with the most live bytes."""
        return int(self._data["peak"])

    @property
    def peak_bytes(self) -> int:
        """The live bytes at the peak; bytes that two values share by overlap count twice."""
        live = self.live_bytes
        return live[self.peak] if live else 0

    @property
    def live_bytes(self) -> list[int]:
        """Bytes that are live at each step."""
        return list(self._data["live_bytes"])

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps, in order: `index`, `op`, `name` (of the model's node)."""
        return list(self.report["steps"])

    @property
    def pools(self) -> list[dict[str, Any]]:
        """The pools, the arena first: `name`, `size_bytes`, `lower_bound_bytes`, `proved_best`, ..."""
        return list(self.report["pools"])

    @property
    def report(self) -> dict[str, Any]:
        """All of it, as `optc plan --json` says it."""
        return dict(self._data["report"])

    @property
    def module(self) -> Module:
        """The program with its plan: what runs, as text."""
        return Module._of(self._native.module())

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """A picture of the plan as one page for a browser, which is also written to `path`, if given."""
        page = self._native.to_html(self._title)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
        return page

    def _repr_html_(self) -> str:
        from html import escape

        page = escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:640px;border:0"></iframe>'

    def __repr__(self) -> str:
        at = "".join(f", {name}={size}" for name, size in self.sizes.items())
        return f"<optc.Plan of {len(self)} values in an arena of {self.arena_bytes} bytes{at}>"


def _row(value: dict[str, Any], steps: dict[int, dict[str, Any]]) -> dict[str, Any]:
    step = steps.get(value["step"], {}) if value["kind"] != "input" else {}
    return {
        "buffer": value["root"],
        "value": value["name"],
        "op": step.get("op", ""),
        "node": step.get("name", ""),
        "type": value.get("type", ""),
        "bytes": value["size_bytes"],
        "pool": value["pool"],
        "offset": value["offset"],
        "first": value["first"],
        "last": value["last"],
        "kind": value["kind"],
    }
