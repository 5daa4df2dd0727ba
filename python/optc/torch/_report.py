"""What became of each graph that torch gave to the backend."""

from __future__ import annotations

import itertools
import threading
import warnings
from dataclasses import dataclass


class EagerWarning(UserWarning):
    """A graph is run by torch, and the warning says why."""


@dataclass
class GraphReport:
    """What became of a graph."""

    number: int
    """Of all graphs of this process, from 1."""
    name: str
    """Where in the program the graph begins, or else with which operation."""
    reason: str | None = None
    """Why torch runs it; `None` while optc does, or if it never ran."""
    compilations: int = 0
    """How often it was compiled: for its first call, and again for weights, or sizes, that changed."""
    calls: int = 0
    """How many calls optc's machine code ran."""
    eager_calls: int = 0
    """How many calls torch ran."""

    def __str__(self) -> str:
        runs = f"{self.calls} calls by optc, {self.eager_calls} by torch, compiled {self.compilations} times"
        return f"graph {self.number} ({self.name}): {runs}" + (f"; {self.reason}" if self.reason else "")

    def fall_back(self, reason: str) -> None:
        """Leaves the graph to torch from now on, and warns that it does."""
        self.reason = reason
        message = f"graph {self.number} ({self.name}) is run by torch: {reason}"
        warnings.warn(message, EagerWarning, stacklevel=2)


_reports: list[GraphReport] = []
_lock = threading.Lock()
_numbers = itertools.count(1)


def report() -> list[GraphReport]:
    """What became of each graph since the last `reset_report`, in the order in which torch made them."""
    with _lock:
        return list(_reports)


def reset_report() -> None:
    """Forgets the graphs that `report` knows; those that still run are no longer reported."""
    with _lock:
        _reports.clear()


def new_report(name: str) -> GraphReport:
    """An entry for a graph that torch just gave."""
    entry = GraphReport(next(_numbers), name)
    with _lock:
        _reports.append(entry)
    return entry
