"""Models for the tests of the Python package."""

import json
import os
import pathlib

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
TYPES = {"f32": np.float32, "i64": np.int64}


def hashes(name, count):
    """The pseudo-random numbers of weights and inputs, by the rule in `import/src/synth.rs`."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z ^= z >> np.uint64(30)
        z *= np.uint64(0xBF58476D1CE4E5B9)
        z ^= z >> np.uint64(27)
        z *= np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return z


def array(spec):
    """The input that a line of `inputs.json` describes."""
    name, shape, dtype = spec["name"], spec["shape"], TYPES[spec["dtype"]]
    if "fill" in spec:
        return np.full(shape, spec["fill"], dtype)
    z = hashes(f"input:{name}", int(np.prod(shape)))
    if dtype == np.int64:
        return ((z >> np.uint64(33)) % np.uint64(1000)).astype(np.int64).reshape(shape)
    unit = (z >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)
    return unit.reshape(shape)


def squeezenet():
    spec = {"name": "data_0", "dtype": "f32", "shape": [1, 3, 224, 224]}
    return ROOT / "examples/squeezenet1_1.onnx", [spec], ROOT / "tests/data/squeezenet1_1.json"


def zoo():
    """Name, file, inputs and expected outputs of each model."""
    folder = os.environ.get("OPTC_MODELS")
    models = {"squeezenet1_1, of the examples": squeezenet()}
    if folder:
        folder = pathlib.Path(folder)
        for name, specs in json.loads((folder / "inputs.json").read_text()).items():
            models[name] = (folder / f"{name}.onnx", specs, folder / "expected" / f"{name}.json")
    return models


RELU = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""

ROWS = """func.func @main(%x: tensor<?x3xf32, #optc.dims<N>>, %y: tensor<?x3xf32, #optc.dims<N>>)
    -> tensor<?x3xf32, #optc.dims<N>> {
  %0 = nn.exp %x : tensor<?x3xf32, #optc.dims<N>>
  %1 = nn.softmax %0 {axis = 1} : tensor<?x3xf32, #optc.dims<N>>
  %2 = nn.sub %1, %y : tensor<?x3xf32, #optc.dims<N>>
  return %2 : tensor<?x3xf32, #optc.dims<N>>
}"""


def rows(x, y):
    """What `ROWS` computes."""
    e = np.exp(np.exp(x) - np.exp(x).max(1, keepdims=True))
    return e / e.sum(1, keepdims=True) - y


@pytest.fixture(scope="session")
def relu():
    import optc

    return optc.compile(optc.Module.parse(RELU), threads=1)


@pytest.fixture(scope="session")
def sized():
    import optc

    return optc.compile(optc.Module.parse(ROWS), threads=2)
