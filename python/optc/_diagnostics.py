"""What is wrong with an input, for a person to read and for a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Diagnostic:
    """A fault of the input, or a remark of a pass.

    >>> import optc
    >>> try:
    ...     optc.Module.parse("func.func @f() {\\n  %0 = nn.rleu %x : tensor<4xf32>\\n}", name="net.mlir")
    ... except optc.Error as error:
    ...     fault = error.diagnostics[0]
    >>> fault.severity, fault.file, fault.line, fault.column
    ('error', 'net.mlir', 2, 8)
    >>> fault.help
    ('did you mean `nn.relu`?',)
    """

    severity: str
    """`error`, `warning` or `remark`."""
    message: str
    """What was found, and what was expected."""
    file: str | None = None
    """The text that is at fault, if it is one."""
    line: int | None = None
    """The line, from 1."""
    column: int | None = None
    """The column in characters, from 1."""
    name: str | None = None
    """What is at fault in a model: a node, a tensor, or the file."""
    notes: tuple[str, ...] = ()
    """What else there is to know."""
    help: tuple[str, ...] = ()
    """What to do about it."""
    text: str = ""
    """All of it, with a line of the source."""

    def __str__(self) -> str:
        return self.text


class Error(Exception):
    """The input is at fault: a model, a text, a pipeline, an option, or the shapes of arrays.

    Arrays of another type or shape than the program takes are a `TypeError` or a `ValueError`.
    """

    diagnostics: list[Diagnostic]
    """Every fault of the first stage that found some."""

    def __init__(self, text: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(text)
        self.diagnostics = list(diagnostics)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Error, (self.args[0], self.diagnostics))
