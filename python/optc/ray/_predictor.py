"""A model as what `map_batches` calls."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._diagnostics import Error
from ._store import StoredModel

Batch = Mapping[str, Any]
"""Columns by name, each an array whose first axis is rows."""


class RowError(ValueError):
    """A row that the model can't take; the message says which and why."""


class Predictor:
    """A model that takes rows of a dataset: `dataset.map_batches(Predictor, fn_constructor_args=(stored,))`.

    - `stored`: what `optc.ray.put` gave.
    - `inputs`: the column for each input of the model whose name is no column.
    - `outputs`: the outputs wanted, each with the name of its column; all, by their own names, unless given.
    - `key`: a column that names a row in errors; without it a row is named by its place in its batch.
    - `threads`: how many run each call, at most what the model was compiled for. One, unless told otherwise,
      as Ray counts one processor for an actor: say `ray_remote_args={"num_cpus": n}` for more.
    - `folder`: where this machine keeps artifacts; in the folder for temporary files, unless given.

    Inputs and outputs of the model have rows as their first axis, of a named size: batches differ in length.
    Bits are those of a local call on the same batch.
    """

    def __init__(
        self,
        stored: StoredModel,
        *,
        inputs: Mapping[str, str] | None = None,
        outputs: Mapping[str, str] | None = None,
        key: str | None = None,
        threads: int = 1,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self.model = stored.load(threads, folder)
        self._key = key
        self._inputs = {spec.name: (inputs or {}).get(spec.name, spec.name) for spec in self.model.inputs}
        self._outputs = dict(outputs or {spec.name: spec.name for spec in self.model.outputs})
        _check_names("inputs", inputs, self._inputs)
        _check_names("outputs", outputs, [spec.name for spec in self.model.outputs])

    def __call__(self, batch: Batch) -> dict[str, Any]:
        """The batch with the model's outputs as columns, in place of its inputs.

        Raises `RowError` with the first row that the model takes not even alone, `KeyError` if a column is
        missing, and what the model raises if each row is right alone.
        """
        missing = [column for column in self._inputs.values() if column not in batch]
        if missing:
            raise KeyError(f"the batch has no column `{missing[0]}`, its columns are {sorted(batch)}")
        columns = {name: batch[column] for name, column in self._inputs.items()}
        try:
            results = self.model.run(list(self._outputs), columns)
        except (Error, TypeError, ValueError):
            self._blame(batch, columns)
            raise
        kept = {name: column for name, column in batch.items() if name not in self._inputs.values()}
        return kept | dict(zip(self._outputs.values(), results))

    def _blame(self, batch: Batch, columns: Batch) -> None:
        """Raises for the first row that fails alone, if there is one."""
        count = len(next(iter(columns.values())))
        for row in range(count):
            try:
                # A column of arrays of several shapes is an array of objects: each is an array of its own.
                alone = {name: np.asarray(column[row])[None] for name, column in columns.items()}
                self.model.run(None, alone)
            except (Error, TypeError, ValueError) as fault:
                raise RowError(f"{self._name(batch, row)}: {_why(fault)}") from fault

    def _name(self, batch: Batch, row: int) -> str:
        if self._key is None:
            return f"row {row} of its batch"
        return f"the row with {self._key} = {batch[self._key][row]}"


def _why(fault: Exception) -> str:
    if isinstance(fault, Error) and fault.diagnostics:
        return fault.diagnostics[0].message
    return str(fault)


def _check_names(what: str, given: Mapping[str, str] | None, known: Any) -> None:
    unknown = [name for name in given or {} if name not in known]
    if unknown:
        raise ValueError(f"`{what}` has `{unknown[0]}`, expected of {list(known)}")
