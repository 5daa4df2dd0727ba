"""Builds an object file of one network, runs it in C, and compares its bits with those of `optc run`.

Arguments: OPTC WORK MODEL [--most-bytes=N] [options of optc build]. Only the standard library is used."""

import json
import math
import struct
import subprocess
import sys
import zipfile
from pathlib import Path


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def arrays(path):
    """The raw bytes of each array in a .npz."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            size, after = (struct.unpack("<H", data[8:10])[0], 10) if data[6] == 1 else (struct.unpack("<I", data[8:12])[0], 12)
            found[name.removesuffix(".npy")] = data[after + size :]
    return found


ELEMENTS = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8", "bool": "|b1"}


def numbers(tensor, number):
    """The bytes of an input: floats in [-1, 1), integers 0 and 1 (which any table has), the same in each run."""
    state, values = number + 1, []
    for _ in range(math.prod(tensor["shape"])):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        values.append(state >> 40)
    kind = ELEMENTS[tensor["element"]][1:]
    if kind[0] == "f":
        return struct.pack(f"<{len(values)}{'f' if kind == 'f4' else 'd'}", *[x / 2**23 - 1 for x in values])
    return struct.pack(f"<{len(values)}{ {'i4': 'i', 'i8': 'q', 'b1': 'b'}[kind] }", *[x & 1 for x in values])


def write_npz(path, tensors, contents):
    with zipfile.ZipFile(path, "w") as archive:
        for tensor in tensors:
            header = {"descr": ELEMENTS[tensor["element"]], "fortran_order": False, "shape": tuple(tensor["shape"])}
            text = str(header).ljust(117) + "\n"
            data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + contents[tensor["name"]]
            archive.writestr(tensor["name"] + ".npy", data)


def planned_arena(optc, model, options):
    """The bytes that `optc plan` says."""
    plan = json.loads(run(optc, "plan", model, "--synthesize-weights", "--json", "-", *options))
    return next(pool["size_bytes"] for pool in plan["pools"] if pool["name"] == "arena")


def symbols(path):
    """The global symbols that an object file defines, and those that it leaves to others."""
    defined, left = set(), set()
    for line in run("nm", "-g", path).splitlines():
        kind, name = line.split()[-2:]
        (left if kind == "U" else defined).add(name)
    return defined, left


ALLOWED = set(
    "bcmp ceil ceilf floor floorf fma fmaf fmod fmodf memcmp memcpy memmove memset nearbyint nearbyintf trunc truncf".split()
)


def main():
    optc, work, model, *options = sys.argv[1:]
    limits = [int(option.split("=")[1]) for option in options if option.startswith("--most-bytes=")]
    options = [option for option in options if not option.startswith("--most-bytes=")]
    plain = [option for option in options if option != "--embed-weights"]
    out = Path(work) / "out"
    run("rm", "-rf", out)
    said = run(optc, "build", model, "--synthesize-weights", "--emit=obj", "-o", out, *options)
    print(said, end="")
    description = json.loads(next(out.glob("*.json")).read_text())
    name = description["name"]
    size = (out / f"{name}.o").stat().st_size
    if limits and size > limits[0]:
        sys.exit(f"{name}.o has {size} bytes, expected at most {limits[0]}")

    # The same inputs for both.
    inputs = {tensor["name"]: numbers(tensor, index) for index, tensor in enumerate(description["inputs"])}
    write_npz(out / "in.npz", description["inputs"], inputs)
    given = ["--inputs", out / "in.npz", "--out", out / "out.npz"]
    run(optc, "run", model, "--synthesize-weights", *given, *plain)
    expected = arrays(out / "out.npz")
    files = {}
    for tensor in description["inputs"]:
        files[tensor["name"]] = out / f"in_{tensor['identifier']}.bin"
        files[tensor["name"]].write_bytes(inputs[tensor["name"]])
    results = {tensor["name"]: out / f"out_{tensor['identifier']}.bin" for tensor in description["outputs"]}

    arena = planned_arena(optc, model, plain)
    if arena != description["arena_bytes"]:
        sys.exit(f"the arena has {description['arena_bytes']} bytes, and the plan says {arena}")

    defined, left = symbols(out / f"{name}.o")
    documented = {f"{name}_{end}" for end in ["run", "run_threads", "message", "supported"]}
    if defined != documented or not left <= ALLOWED:
        sys.exit(f"symbols: {sorted(defined)}, undefined: {sorted(left)}")

    fields = [f"INPUT({tensor['identifier']})\n" for tensor in description["inputs"]]
    fields += [f"OUTPUT({tensor['identifier']})\n" for tensor in description["outputs"]]
    (out / "fields.h").write_text("".join(fields))
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-std=c11"]
    embedded = description["weights_file"] is None
    check = ["-DNAME=" + name, f'-DHEADER="{name}.h"', '-DFIELDS="fields.h"'] + ["-DEMBEDDED"] * embedded
    run("cc", *flags, *check, f"-I{out}", "tests/aot/check.c", out / f"{name}.o", "-lm", "-lpthread", "-o", out / "check")
    weights = [] if embedded else [out / description["weights_file"]]
    print(run(out / "check", *weights, *files.values(), *results.values()), end="")
    for output, path in results.items():
        for suffix in ["", ".threads"]:
            if Path(str(path) + suffix).read_bytes() != expected[output]:
                sys.exit(f"{output}{suffix} has other bits than `optc run` gives")

    # The example, as it is meant to be used.
    run("cc", *flags, "-pedantic", "main.c", f"{name}.o", "-lm", "-o", "example", cwd=out)
    example = [Path(str(path) + ".example") for path in results.values()]
    run("./example", *[path.name for path in files.values()], *[path.name for path in example], cwd=out)
    for output, path in zip(results, example):
        if path.read_bytes() != expected[output]:
            sys.exit(f"{output} has other bits in the example than `optc run` gives")
    print(f"{name}: same bits as optc run, object of {size} bytes, arena as planned")


main()
