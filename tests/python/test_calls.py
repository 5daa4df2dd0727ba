"""How a model is called: which arrays it takes, what it writes to, what it refuses."""

import copy
import gc
import multiprocessing
import os
import pickle
import threading

import ml_dtypes
import numpy as np
import optc
import pytest
from conftest import RELU, ROWS, rows

X = np.array([-1, 0, 1, 2], np.float32)
Y = np.array([0, 0, 1, 2], np.float32)


class OnlyDlpack:
    """An array that has no buffer, as those of torch and jax."""

    def __init__(self, array, unversioned=False):
        self.array = array
        self.unversioned = unversioned

    def __dlpack__(self, **arguments):
        if self.unversioned and arguments:
            raise TypeError("an old library takes no arguments")
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_a_call_by_position_and_by_name(relu):
    assert np.array_equal(relu(X)[0], Y)
    assert np.array_equal(relu(x=X)[0], Y)
    assert np.array_equal(relu.run(None, {"x": X})[0], Y)
    assert np.array_equal(relu.run(["result0"], {"x": X})[0], Y)
    with pytest.raises(ValueError, match="no output `y`"):
        relu.run(["y"], {"x": X})


class Typed:
    """What numpy knows the element type of, as of a table of pandas."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)


def test_what_a_call_gets_wrong_is_told(relu, sized):
    for call, kind, message in [
        (lambda: relu(), TypeError, "input `x` is missing"),
        (lambda: relu(X, X), TypeError, "2 arrays are given, and the program has 1 inputs"),
        (lambda: relu(X, x=X), TypeError, "input `x` is given twice"),
        (lambda: relu(X, y=X), TypeError, "no input `y`"),
        (lambda: relu(y=X), TypeError, "no input `y`"),
        (lambda: sized(xx=X, y=X), TypeError, r"no input `xx` \(did you mean `x`\?\)"),
        (lambda: sized(y=X), TypeError, "input `x` is missing"),
        (lambda: relu(Typed(X.astype(np.float64))), TypeError, "elements of float64, expected float32"),
        (lambda: relu(X.astype(np.float64)), TypeError, "elements of float64, expected float32"),
        (lambda: relu(X.astype(">f4")), TypeError, "format `>f`"),
        (lambda: relu(X[:3]), ValueError, r"shape \[3\], expected \[4\]"),
        (lambda: relu(X.reshape(2, 2)), ValueError, r"shape \[2, 2\], expected \[4\]"),
        (lambda: relu(np.array(["a"] * 4)), TypeError, "no tensor has elements of the format"),
        (lambda: relu(object()), TypeError, "object"),
        (lambda: relu(X, out=[Y, Y]), TypeError, "2 arrays, and the program has 1 outputs"),
        (lambda: relu(X, out={"y": Y}), TypeError, "`out` has `y`"),
        (lambda: relu(X, out=np.empty(4)), TypeError, "output `result0` has elements of float64"),
        (lambda: relu(X, out=np.empty(5, np.float32)), ValueError, r"shape \[5\]"),
        (lambda: relu(X, out=np.empty(8, np.float32)[::2]), BufferError, "gaps"),
        (lambda: relu(X, out=np.frombuffer(bytes(16), np.float32)), BufferError, "read-only"),
        (lambda: relu(X, out=X), ValueError, "shares memory"),
        (lambda: sized(np.ones((2, 3), np.float32), np.ones((3, 3), np.float32)), optc.Error, "expected N = 2"),
        (lambda: sized(np.ones((2, 4), np.float32), np.ones((2, 4), np.float32)), optc.Error, "is 4, expected 3"),
        (lambda: sized(X, X), optc.Error, "2 dimensions, and 1 were given"),
    ]:
        with pytest.raises(kind, match=message):
            call()
    assert np.array_equal(relu(X)[0], Y)


def test_arrays_of_every_kind_are_taken(relu):
    gaps = np.zeros((4, 3), np.float32)
    gaps[:, 1] = X
    odd = np.frombuffer(b"\0" + X.tobytes(), np.float32, offset=1)
    assert odd.ctypes.data % 4
    read_only = X.copy()
    read_only.flags.writeable = False
    kinds = [gaps[:, 1], X[::-1][::-1], X[::-1].copy()[::-1], odd, read_only, memoryview(X), X.tolist(), tuple(X)]
    kinds += [OnlyDlpack(X.copy()), OnlyDlpack(X.copy(), unversioned=True), OnlyDlpack(gaps[:, 1])]
    for array in kinds:
        assert np.array_equal(relu(array)[0], Y), array


def test_plain_numbers_become_what_is_wanted_unless_that_changes_them(relu):
    whole = """func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
  %0 = nn.neg %x : tensor<2xi64>
  return %0 : tensor<2xi64>
}"""
    model = optc.compile(optc.Module.parse(whole), threads=1)
    assert model([1, -2])[0].tolist() == [-1, 2] and relu([1, -2, 3, True])[0].tolist() == [1, 0, 3, 1]
    with pytest.raises(TypeError, match="elements of float64, expected int64"):
        model([1, 2.5])
    with pytest.raises(OverflowError):
        model([1, 2**70])
    assert relu(Typed(X))[0].tolist() == Y.tolist()


def test_arrays_are_written_in_place(relu):
    out = np.empty(4, np.float32)
    address = out.ctypes.data
    assert relu(X, out=out)[0] is out and out.ctypes.data == address and np.array_equal(out, Y)
    for given in ([out], (out,), {"result0": out}):
        out[:] = 7
        assert relu(X, out=given)[0] is out and np.array_equal(out, Y)
    assert np.array_equal(relu(X, out=[None])[0], Y)
    wide = np.zeros(8, np.float32)
    relu(X, out=OnlyDlpack(wide[4:]))
    assert np.array_equal(wide[4:], Y) and not wide[:4].any()


def test_results_are_fresh(relu):
    first, second = relu(X)[0], relu(-X)[0]
    assert np.array_equal(first, Y) and np.array_equal(second, [1, 0, 0, 0])
    first[:] = 9
    assert first.flags.writeable and np.array_equal(relu(X)[0], Y)


ELEMENTS = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64, "i1": np.bool_,
}  # fmt: skip


@pytest.mark.parametrize("element", ELEMENTS)
def test_every_element_type_goes_in_and_out(element):
    text = f"""func.func @main(%x: tensor<2x3x{element}>) -> tensor<3x2x{element}> {{
      %0 = nn.transpose %x {{permutation = array<i64: 1, 0>}} : (tensor<2x3x{element}>) -> tensor<3x2x{element}>
      return %0 : tensor<3x2x{element}>
    }}"""
    model = optc.compile(optc.Module.parse(text))
    x = (np.arange(6).reshape(2, 3) % (2 if element == "i1" else 6)).astype(ELEMENTS[element])
    for given in (x, x.T.copy().T):
        (y,) = model(given)
        assert y.dtype == x.dtype and y.dtype.name == model.outputs[0].dtype
        assert np.array_equal(y.astype(np.float64), x.T.astype(np.float64))
    out = np.zeros((3, 2), x.dtype)
    assert model(x, out=out)[0] is out and np.array_equal(out.astype(np.float64), x.T.astype(np.float64))


def test_named_sizes_are_those_of_the_arrays(sized):
    assert sized.dims == {"N": (1, None)} or sized.dims["N"][0] <= 1
    assert sized.inputs[0].shape == ("N", 3) and sized.outputs[0].dtype == "float32"
    rng = np.random.default_rng(0)
    for n in [1, 7, 2, 300, 1]:
        x, y = rng.standard_normal((2, n, 3), np.float32)
        assert np.allclose(sized(x, y)[0], rows(x, y), rtol=1e-5, atol=1e-6)


def test_a_hundred_shapes_and_ten_thousand_calls_leak_nothing(sized, relu):
    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def work():
        for n in range(1, 101):
            x = np.ones((n, 3), np.float32)
            sized(x, x)
        for _ in range(10_000):
            relu(X)
            relu(OnlyDlpack(X), out=OnlyDlpack(np.empty(4, np.float32)))
        with pytest.raises(ValueError):
            relu(X[:2])

    work()
    gc.collect()
    before = resident()
    for _ in range(3):
        work()
    gc.collect()
    assert resident() - before < 2 << 20


def test_models_leak_nothing():
    def make():
        model = optc.compile(optc.Module.parse(ROWS), threads=2)
        x = np.ones((50, 3), np.float32)
        model(x, x)
        model.plan.to_html()

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(10):
        make()
    gc.collect()
    before, threads = resident(), len(os.listdir("/proc/self/task"))
    for _ in range(40):
        make()
    gc.collect()
    assert resident() - before < 4 << 20
    assert len(os.listdir("/proc/self/task")) == threads


def test_threads_call_one_model_at_a_time_or_at_once(sized):
    rng = np.random.default_rng(1)
    faults = []

    def work(seed):
        own = np.random.default_rng(seed)
        for _ in range(200):
            x, y = own.standard_normal((2, int(own.integers(1, 40)), 3), np.float32)
            if not np.allclose(sized(x, y)[0], rows(x, y), rtol=1e-5, atol=1e-6):
                faults.append((seed, x.shape))

    threads = [threading.Thread(target=work, args=(int(rng.integers(1000)),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_the_interpreter_is_free_during_a_run():
    steps = "".join(f"  %{i + 1} = nn.softmax %{i} {{axis = 1}} : tensor<512x4096xf32>\n" for i in range(40))
    text = f"func.func @main(%0: tensor<512x4096xf32>) -> tensor<512x4096xf32> {{\n{steps}  return %40 : tensor<512x4096xf32>\n}}"
    model = optc.compile(optc.Module.parse(text), threads=1)
    x = np.ones((512, 4096), np.float32)
    model(x)
    counted = []
    started, done = threading.Event(), threading.Event()

    def run():
        started.set()
        model(x)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    while not done.is_set():
        counted.append(0)
    thread.join()
    # While a run holds the interpreter, nothing is counted but in its first and last moments.
    assert len(counted) > 10_000


def in_child(queue, model):
    x = np.full((300, 3), 0.5, np.float32)
    queue.put(np.allclose(model(x, x)[0], rows(x, x), atol=1e-6))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_process_runs_its_parents_model(sized):
    x = np.ones((300, 3), np.float32)
    sized(x, x)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(queue, sized))
    child.start()
    assert queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_child_process_ends_where_it_drops_its_parents_model():
    model = optc.compile(optc.Module.parse(ROWS), threads=2)
    x = np.ones((300, 3), np.float32)
    model(x, x)
    child = os.fork()
    if child == 0:
        del model
        gc.collect()
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_donated_input_is_overwritten_and_must_be_writable():
    text = """func.func @main(%x: tensor<64x64xf32>) -> tensor<64xf32> {
      %0 = nn.exp %x : tensor<64x64xf32>
      %1 = nn.softmax %0 {axis = 0} : tensor<64x64xf32>
      %2 = nn.cum_sum %1 {axis = 0} : tensor<64x64xf32>
      %3 = nn.reduce_sum %2 {axes = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32>
      return %3 : tensor<64xf32>
    }"""
    kept = optc.compile(optc.Module.parse(text), threads=1)
    donated = optc.compile(optc.Module.parse(text), threads=1, donate=["x"])
    assert donated.arena_bytes < kept.arena_bytes
    x = np.random.default_rng(2).standard_normal((64, 64), np.float32)
    expected = kept(x)[0]
    given = x.copy()
    assert np.array_equal(donated(given)[0], expected) and not np.array_equal(given, x)
    given.flags.writeable = False
    with pytest.raises(BufferError, match="donated"):
        donated(given)


def test_a_preparation_says_the_bytes_of_a_run(sized, relu):
    small, large = sized.prepare({"x": (2, 3)}), sized.prepare({"x": (2000, 3)})
    assert small < large
    assert relu.prepare() == relu.arena_bytes
    with pytest.raises(optc.Error, match="no input `z`"):
        sized.prepare({"z": (2, 3)})


def test_models_are_saved_and_pickled(sized, relu, tmp_path):
    x, y = np.random.default_rng(7).standard_normal((2, 9, 3), np.float32)
    expected = sized(x, y)[0]
    sized.save(tmp_path / "rows.optc")
    loaded = optc.load(tmp_path / "rows.optc")
    again = pickle.loads(pickle.dumps(loaded))
    single = optc.load(tmp_path / "rows.optc", threads=1)
    recompiled = optc.load(tmp_path / "rows.optc", recompile=True)
    for model in (loaded, again, single, recompiled, pickle.loads(pickle.dumps(sized))):
        assert model.inputs == sized.inputs and model.dims == sized.dims
        assert np.array_equal(model(x, y)[0], expected)
        assert model.plan_at(N=9).arena_bytes == sized.plan_at(N=9).arena_bytes
    fixed = pickle.loads(pickle.dumps(relu))
    assert np.array_equal(fixed(X)[0], Y) and fixed.plan.arena_bytes == relu.plan.arena_bytes
    assert loaded.to_bytes() == (tmp_path / "rows.optc").read_bytes()
    (tmp_path / "damaged.optc").write_bytes(loaded.to_bytes()[:-100])
    with pytest.raises(optc.Error, match="it ends within"):
        optc.load(tmp_path / "damaged.optc")
    with pytest.raises(optc.Error, match="No such file"):
        optc.load(tmp_path / "none.optc")


def in_spawned(queue, model):
    queue.put(model(X)[0].tolist())


def test_a_model_goes_to_another_process(relu):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=in_spawned, args=(queue, relu))
    child.start()
    assert queue.get(timeout=60) == Y.tolist()
    child.join(60)


def test_errors_are_pickled():
    with pytest.raises(optc.Error) as caught:
        optc.Module.parse("func.func")
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, optc.Error) and str(again) == str(caught.value)
    assert again.diagnostics == caught.value.diagnostics != []


def test_a_module_is_compiled_and_stays_as_it_is():
    module = optc.Module.parse(RELU)
    before = str(module)
    optc.compile(module)
    assert str(module) == before
    fused = copy.copy(module)
    fused.run_pipeline("fuse")
    assert str(fused) != before == str(module)
    assert np.array_equal(optc.compile(fused)(X)[0], Y)
