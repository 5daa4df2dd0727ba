"""What a call from Python costs beside the same run by the command, which calls the library.

    cargo build --release -p optc
    PYTHON tests/python/latency.py target/release/optc MODEL.onnx [ROUNDS]

The two run in turn, on the same inputs, for the time depends on them; printed is the fastest of all runs of
each, in microseconds, and their difference. On a busy machine that is noise, so it also prints what a call
takes of a program that does next to nothing: more than what Python adds.
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
NOTHING = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


def command(binary, path, inputs):
    arguments = ["--synthesize-weights", f"--inputs={inputs}", "--threads=1", f"--runs={RUNS}", "--json=-"]
    said = subprocess.run([binary, "bench", path, *arguments], capture_output=True, check=True).stdout
    return json.loads(said)["latency_ms"]["min"] * 1e3


def python(model, inputs, runs=RUNS):
    fastest = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        model(*inputs)
        fastest = min(fastest, time.perf_counter() - start)
    return fastest * 1e6


def main(binary, path, rounds="5"):
    model = optc.compile(path, synthesize_weights=True, threads=1)
    rng = np.random.default_rng(0)
    inputs = {spec.name: rng.standard_normal(spec.shape).astype(spec.dtype) for spec in model.inputs}
    python(model, inputs.values())
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "inputs.npz"
        np.savez(file, **inputs)
        pairs = [(command(binary, path, file), python(model, inputs.values())) for _ in range(int(rounds))]
    library, call = (min(side) for side in zip(*pairs))
    nothing = optc.compile(optc.Module.parse(NOTHING), threads=1)
    least = python(nothing, [np.zeros(4, np.float32)], 10_000)
    print(f"library {library:.1f} us, Python {call:.1f} us, {call - library:+.1f} us; nothing {least:.1f} us")


main(*sys.argv[1:])
