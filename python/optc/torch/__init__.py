"""A backend of `torch.compile`: graphs of torch run as optc's machine code.

    import torch

    compiled = torch.compile(net.eval(), backend="optc")
    with torch.no_grad():
        y = compiled(x)

    import optc.torch
    for graph in optc.torch.report():
        print(graph)

Torch cuts a program into graphs. Each goes through torch's ONNX exporter to `optc.compile`, with the
parameters and buffers of modules as constants. A graph that can't go this way runs as torch itself would run
it; a warning says why, and so does `report`. Importing `optc` needs no torch.
"""

from ._backend import compile_backend
from ._report import EagerWarning, GraphReport, report, reset_report

__all__ = ["EagerWarning", "GraphReport", "compile_backend", "report", "reset_report"]
