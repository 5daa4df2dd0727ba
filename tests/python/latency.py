"""What a call from Python costs beside the same run by the command, which calls the library.

    cargo build --release -p optc
    PYTHON tests/python/latency.py target/release/optc MODEL.onnx [ROUNDS]

The two run in turn; printed is the fastest of all runs of each, in microseconds, and their difference.
"""

import json
import subprocess
import sys
import time

import numpy as np
import optc

RUNS = 100


def command(binary, path):
    arguments = ["--synthesize-weights", "--random", "--threads=1", f"--runs={RUNS}", "--json=-"]
    said = subprocess.run([binary, "bench", path, *arguments], capture_output=True, check=True).stdout
    return json.loads(said)["latency_ms"]["min"] * 1e3


def python(model, inputs):
    fastest = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        model(*inputs)
        fastest = min(fastest, time.perf_counter() - start)
    return fastest * 1e6


def main(binary, path, rounds="5"):
    model = optc.compile(path, synthesize_weights=True, threads=1)
    inputs = [np.random.default_rng(0).standard_normal(spec.shape).astype(spec.dtype) for spec in model.inputs]
    python(model, inputs)
    pairs = [(command(binary, path), python(model, inputs)) for _ in range(int(rounds))]
    library, call = (min(side) for side in zip(*pairs))
    print(f"library {library:.1f} us, Python {call:.1f} us, {call - library:+.1f} us")


main(*sys.argv[1:])
