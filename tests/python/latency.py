"""What a call from Python costs beside the same run by the command, which calls the library.

    cargo build --release -p optc
    PYTHON tests/python/latency.py target/release/optc MODEL.onnx [ROUNDS]

Both sides are fresh processes that run in turn on the same inputs, for the time depends on them, and on where
memory lies; printed is the fastest run of each process, in microseconds, and their difference. On a busy machine
that is noise, so it also prints what a call takes with the model's own arrays, of a program that only copies a
few bytes of each: more than what Python adds.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import optc

RUNS = 100
ELEMENTS = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "i1"}


def command(binary, path, inputs):
    arguments = ["--synthesize-weights", f"--inputs={inputs}", "--threads=1", f"--runs={RUNS}", "--json=-"]
    said = subprocess.run([binary, "bench", path, *arguments], capture_output=True, check=True).stdout
    return json.loads(said)["latency_ms"]["min"] * 1e3


def fastest_call(model, inputs, runs=RUNS):
    fastest = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        model(*inputs)
        fastest = min(fastest, time.perf_counter() - start)
    return fastest * 1e6


def called(path, inputs):
    """What a process of its own prints: the fastest call of the model."""
    model = optc.compile(path, synthesize_weights=True, threads=1)
    arrays = [np.load(inputs)[spec.name] for spec in model.inputs]
    fastest_call(model, arrays, 10)
    print(fastest_call(model, arrays))


def python(path, inputs):
    arguments = [sys.executable, __file__, "--call", path, inputs]
    return float(subprocess.run(arguments, capture_output=True, check=True, text=True).stdout)


def call_alone(inputs):
    """The fastest call, with these arrays, of a program that returns the first number of each."""
    arguments, steps, results, types = [], [], [], []
    for i, array in enumerate(inputs.values()):
        element = ELEMENTS[array.dtype.name]
        ranked = "tensor<" + "".join(f"{size}x" for size in array.shape) + element + ">"
        first = "tensor<" + "1x" * array.ndim + element + ">"
        starts, sizes = (", ".join([number] * array.ndim) for number in "01")
        arguments.append(f"%a{i}: {ranked}")
        attributes = f"{{starts = array<i64: {starts}>, sizes = array<i64: {sizes}>}}"
        steps.append(f"  %s{i} = nn.slice %a{i} {attributes} : ({ranked}) -> {first}")
        results.append(f"%s{i}")
        types.append(first)
    head = f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{"
    end = f"  return {', '.join(results)} : {', '.join(types)}"
    module = optc.Module.parse("\n".join([head, *steps, end, "}"]))
    return fastest_call(optc.compile(module, threads=1), inputs.values(), 10_000)


def main(binary, path, rounds="5"):
    model = optc.compile(path, synthesize_weights=True, threads=1)
    rng = np.random.default_rng(0)
    inputs = {spec.name: rng.standard_normal(spec.shape).astype(spec.dtype) for spec in model.inputs}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "inputs.npz"
        np.savez(file, **inputs)
        pairs = [(command(binary, path, file), python(path, file)) for _ in range(int(rounds))]
    library, call = (min(side) for side in zip(*pairs))
    alone = f"a call with these arrays {call_alone(inputs):.1f} us"
    print(f"library {library:.1f} us, Python {call:.1f} us, {call - library:+.1f} us; {alone}")


if sys.argv[1] == "--call":
    called(*sys.argv[2:])
else:
    main(*sys.argv[1:])
