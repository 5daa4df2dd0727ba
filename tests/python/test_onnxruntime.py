"""That models give what onnxruntime gives."""

import json

import numpy as np
import optc
import pytest
from conftest import array, zoo

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper  # noqa: E402


@pytest.mark.parametrize("name", zoo())
def test_a_model_of_the_zoo_gives_the_expected_outputs(name):
    path, specs, expected = zoo()[name]
    model = optc.compile(path, synthesize_weights=True)
    inputs = {spec["name"]: array(spec) for spec in specs}
    if len(specs) == 1:
        inputs = {model.inputs[0].name: array({**specs[0], "name": model.inputs[0].name})}
    results = dict(zip((spec.name for spec in model.outputs), model(**inputs)))
    for output, wanted in json.loads(expected.read_text()).items():
        found = results[output].astype(np.float64)
        assert list(found.shape) == wanted["shape"]
        limit = 1e-3 * wanted["absmax"]
        assert np.abs(found.flat[wanted["index"]] - wanted["value"]).max() <= limit
        assert abs(found.mean() - wanted["mean"]) <= limit and abs(found.std() - wanted["std"]) <= limit


def model_of(nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def network():
    """A convolution and a dense layer, of any batch."""
    rng = np.random.default_rng(3)
    weights = {
        "filter": rng.standard_normal((8, 3, 3, 3), np.float32) / 5,
        "matrix": rng.standard_normal((8, 10), np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "filter"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("MatMul", ["f", "matrix"], ["m"]),
        helper.make_node("Softmax", ["m"], ["y"], axis=1),
    ]
    value = helper.make_tensor_value_info
    return model_of(
        nodes,
        [value("x", TensorProto.FLOAT, ["batch", 3, 32, 32])],
        [value("y", TensorProto.FLOAT, ["batch", 10])],
        [onnx.numpy_helper.from_array(array, name) for name, array in weights.items()],
    )


def test_every_way_to_give_a_model(tmp_path):
    proto = network()
    path = tmp_path / "net.onnx"
    onnx.save(proto, path)
    session = ort.InferenceSession(proto.SerializeToString())
    sources = [path, str(path), proto, proto.SerializeToString(), bytearray(proto.SerializeToString())]
    sources.append(optc.Module.load(path))
    models = [optc.compile(source) for source in sources]
    models.append(optc.compile(path, dims={"batch": 3}))
    models.append(optc.compile(path, dims={"batch": (1, 8)}, optimize="memory", threads=1, poison=True))
    x = np.random.default_rng(4).standard_normal((3, 3, 32, 32), np.float32)
    expected = session.run(None, {"x": x})[0]
    for model in models:
        assert [spec.name for spec in model.inputs] == ["x"] and [spec.name for spec in model.outputs] == ["y"]
        assert np.allclose(model.run(None, {"x": x})[0], expected, rtol=1e-4, atol=1e-6)
    assert models[0].inputs[0].shape == ("batch", 3, 32, 32)
    assert models[-2].inputs[0].shape == (3, 3, 32, 32)


def test_axes_of_numbers_get_names(tmp_path):
    proto = network()
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    model = optc.compile(proto, symbolize={"x": {0: "N"}})
    assert model.inputs[0].shape[0] == "N"
    x = np.random.default_rng(5).standard_normal((4, 3, 32, 32), np.float32)
    expected = ort.InferenceSession(network().SerializeToString()).run(None, {"x": x})[0]
    assert np.allclose(model(x)[0], expected, rtol=1e-4, atol=1e-6)


def test_outputs_whose_size_depends_on_data_are_cut():
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("NonZero", ["x"], ["y"]), helper.make_node("Exp", ["x"], ["z"])]
    proto = model_of(
        nodes,
        [value("x", TensorProto.FLOAT, [3, 4])],
        [value("y", TensorProto.INT64, [2, None]), value("z", TensorProto.FLOAT, [3, 4])],
    )
    model = optc.compile(proto)
    session = ort.InferenceSession(proto.SerializeToString())
    assert len(model.outputs) == 2
    rng = np.random.default_rng(6)
    for share in [0.0, 0.3, 1.0]:
        x = (rng.random((3, 4)) < share).astype(np.float32)
        expected = session.run(None, {"x": x})
        found = model(x)
        assert all(np.allclose(a, b, rtol=1e-5) and a.shape == b.shape for a, b in zip(found, expected))
        out = np.empty((2, 12), np.int64)
        again = model(x, out=[out, None])
        assert again[0].shape == expected[0].shape and np.array_equal(again[0], expected[0])
        assert np.shares_memory(again[0], out) or again[0].size == 0
