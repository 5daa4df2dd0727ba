"""That a dataset's rows go through a model once each, whatever happens to an actor, and as in a local run."""

import os
import pathlib
import re
import signal

import numpy as np
import onnx
import optc
import optc.ray
import pytest
import ray
from onnx import TensorProto, helper, numpy_helper
from optc import _native

ROWS = 20_000
WIDTH = 16


@pytest.fixture(scope="module", autouse=True)
def workers():
    # One processor more than actors, for the tasks that read.
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def model():
    """Two dense layers, of any number of rows."""
    rng = np.random.default_rng(0)
    shapes = {"w1": (WIDTH, 64), "w2": (64, 3)}
    weights = {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["a"]),
        helper.make_node("Tanh", ["a"], ["b"]),
        helper.make_node("MatMul", ["b", "w2"], ["c"]),
        helper.make_node("Softmax", ["c"], ["y"], axis=1),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [value("x", TensorProto.FLOAT, ["N", WIDTH])],
        [value("y", TensorProto.FLOAT, ["N", 3])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(proto)
    return optc.compile(proto, threads=2)


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(1).standard_normal((ROWS, WIDTH), np.float32)


def dataset(x):
    ids = ray.data.range(len(x), override_num_blocks=8)
    return ids.map_batches(lambda batch: batch | {"x": x[batch["id"]]})


def columns(rows, *names):
    """The columns of the rows of a dataset, in the order of their `id`."""
    rows = sorted(rows, key=lambda row: row["id"])
    return [np.stack([row[name] for row in rows]) for name in names]


def test_an_actor_dies_in_its_third_batch_and_every_row_comes_once(model, x, tmp_path):
    mark = tmp_path / "died"

    class Mortal(optc.ray.Predictor):
        batches = 0

        def __call__(self, batch):
            self.batches += 1
            if self.batches == 3:
                try:
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    pass
                else:
                    os.kill(os.getpid(), signal.SIGKILL)
            return super().__call__(batch) | {"worker": np.full(len(batch["id"]), os.getpid())}

    results = dataset(x).map_batches(
        Mortal, fn_constructor_args=(optc.ray.put(model),), batch_size=250, concurrency=2
    )
    ids, y, workers = columns(results.take_all(), "id", "y", "worker")
    assert mark.exists() and len(set(workers.tolist())) >= 2
    assert np.array_equal(ids, np.arange(ROWS))
    assert np.array_equal(y, model(x)[0])


def test_the_example_of_the_page_runs(model, x, tmp_path, monkeypatch):
    page = (pathlib.Path(__file__).parents[2] / "docs/PYTHON.md").read_text()
    code = re.search(r"## Ray Data\n+```python\n(.*?)```", page, re.DOTALL)[1]
    value = helper.make_tensor_value_info
    sides = [[value(name, TensorProto.FLOAT, ["rows", WIDTH])] for name in "xy"]
    graph = helper.make_graph([helper.make_node("Tanh", ["x"], ["y"])], "g", *sides)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(proto, tmp_path / "model.onnx")
    monkeypatch.chdir(tmp_path)
    # Here are processors for two actors.
    names = {"optc": optc, "dataset": dataset(x[:300])}
    exec(code.replace("concurrency=8", "concurrency=2"), names)
    (y,) = columns(names["results"].take_all(), "y")
    assert np.allclose(y, np.tanh(x[:300]), atol=1e-5)


@pytest.mark.parametrize("key", [None, "id"])
def test_a_poisoned_row_is_named(model, x, key):
    rows = [{"id": int(at), "x": row} for at, row in enumerate(x[:300])]
    rows[217]["x"] = rows[217]["x"][:5]
    results = ray.data.from_items(rows, override_num_blocks=3).map_batches(
        optc.ray.Predictor,
        fn_constructor_args=(optc.ray.put(model),),
        fn_constructor_kwargs={"key": key},
        batch_size=100,
        concurrency=1,
    )
    name = "row 17 of its batch" if key is None else "the row with id = 217"
    with pytest.raises(Exception, match=rf"RowError: {name}: axis 1 of input `x`.* is 5, expected 16"):
        results.take_all()


def test_the_model_is_a_file_of_each_machine(model, x, tmp_path):
    stored = optc.ray.put(model)
    path = stored.file(tmp_path / "cache")
    assert path.read_bytes() == model.to_bytes() and list(path.parent.iterdir()) == [path]
    # What is there is not fetched again.
    known = optc.ray.StoredModel(None, stored.digest)
    assert known.file(tmp_path / "cache") == path
    assert np.array_equal(known.load(folder=tmp_path / "cache")(x)[0], model(x)[0])
    # What is damaged is.
    path.write_bytes(path.read_bytes()[:-1])
    assert stored.file(tmp_path / "cache").read_bytes() == model.to_bytes()
    path.parent.chmod(0o777)
    with pytest.raises(PermissionError, match="others may write"):
        stored.file(tmp_path / "cache")


def for_another_machine(artifact):
    """The artifact as one whose machine code is for another processor; its header's hash is right again."""
    length = int.from_bytes(artifact[16:24], "little")
    header = artifact[24 : 24 + length].replace(b'"x86_64"', b'"risc-v"')
    assert header != artifact[24 : 24 + length] and len(header) == length
    hash = _native.content_hash([np.frombuffer(header, np.uint8)])
    return artifact[:8] + hash.to_bytes(8, "little") + artifact[16:24] + header + artifact[24 + length :]


def test_a_model_for_another_processor_is_compiled_again(model, x, tmp_path):
    path = tmp_path / "model.optc"
    path.write_bytes(for_another_machine(model.to_bytes()))
    with pytest.raises(optc.Error, match="it is for risc-v"):
        optc.load(path)
    predictor = optc.ray.Predictor(optc.ray.put(path), folder=tmp_path / "cache")
    assert np.array_equal(predictor({"x": x})["y"], model(x)[0])


def threads_of_optc():
    names = [task / "comm" for task in pathlib.Path("/proc/self/task").iterdir()]
    return sum(name.read_text().startswith("optc-") for name in names)


def test_an_actor_has_one_thread_unless_told_otherwise(model, x, tmp_path):
    stored = optc.ray.put(model)
    before = threads_of_optc()
    alone = optc.ray.Predictor(stored, folder=tmp_path / "cache")
    assert np.array_equal(alone({"x": x})["y"], model(x)[0]) and threads_of_optc() == before
    helped = optc.ray.Predictor(stored, threads=2, folder=tmp_path / "cache")
    assert np.array_equal(helped({"x": x})["y"], model(x)[0]) and threads_of_optc() == before + 1


def test_columns_have_the_names_that_were_asked_for(model, x):
    stored = optc.ray.put(model)
    predictor = optc.ray.Predictor(stored, inputs={"x": "pixels"}, outputs={"y": "score"})
    found = predictor({"pixels": x[:3], "id": np.arange(3)})
    assert sorted(found) == ["id", "score"] and np.array_equal(found["score"], model(x[:3])[0])
    with pytest.raises(KeyError, match="no column `pixels`"):
        predictor({"x": x})
    for arguments in ({"inputs": {"z": "pixels"}}, {"outputs": {"z": "score"}}):
        with pytest.raises(ValueError, match="has `z`"):
            optc.ray.Predictor(stored, **arguments)
    with pytest.raises(optc.ray.RowError, match="elements of float64, expected float32"):
        predictor({"pixels": x.astype(np.float64)})
