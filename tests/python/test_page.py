"""That the first example of docs/PYTHON.md runs as it is written there."""

import re

import numpy as np
import onnx
import optc
from conftest import ROOT
from onnx import TensorProto, helper


def test_the_example_of_the_page_runs(tmp_path, monkeypatch):
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Exp", ["x"], ["e"]), helper.make_node("Softmax", ["e"], ["s"], axis=1)]
    sides = [[value(name, TensorProto.FLOAT, [2, 8])] for name in ("x", "s")]
    graph = helper.make_graph(nodes, "g", *sides)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(proto, tmp_path / "model.onnx")
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```python\n(.*?)```", (ROOT / "docs/PYTHON.md").read_text(), re.DOTALL)[1]
    names = {"x": np.random.default_rng(0).standard_normal((2, 8), np.float32), "y": np.zeros((2, 8), np.float32)}
    exec("import pandas\n" + code, names)
    e = np.exp(np.exp(names["x"]))
    assert np.allclose(names["y"], e / e.sum(1, keepdims=True), atol=1e-6)
    assert (tmp_path / "plan.html").read_text().startswith("<!")
    assert isinstance(names["model"], optc.Model)
