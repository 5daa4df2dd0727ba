"""optc compiles neural networks to machine code that runs in little memory.

>>> import numpy as np
>>> import optc
>>> module = optc.Module.parse('''
... func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
...   %0 = nn.relu %x : tensor<4xf32>
...   return %0 : tensor<4xf32>
... }''')
>>> model = optc.compile(module)
>>> model(np.array([-1, 0, 1, 2], np.float32))
[array([0., 0., 1., 2.], dtype=float32)]

`compile` takes an ONNX model too, as a file or in memory. `Model.plan` says where every intermediate value
lies, and `Module` runs passes. What is at fault is an `Error` with `diagnostics`.
"""

from ._diagnostics import Diagnostic, Error
from ._model import Model, TensorSpec, compile, load
from ._module import Module
from ._native import VERSION as __version__
from ._plan import Plan

__all__ = ["Diagnostic", "Error", "Model", "Module", "Plan", "TensorSpec", "__version__", "compile", "load"]
