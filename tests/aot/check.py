"""Builds an object file of one network, runs it in C, and compares its bits with those of `optc run`.

Arguments: OPTC WORK MODEL [--aarch64] [--most-bytes=N] [--at=batch=1,seq=17 ...] [options of optc build].
With `--at`, the object file is of named sizes, and runs at each of these. With `--aarch64` it is for AArch64
and runs under qemu; its bits are those of `optc run --target-cpu=portable` on this machine. Only the standard
library is used."""

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
            form, after = ("<H", 10) if data[6] == 1 else ("<I", 12)
            size = struct.unpack(form, data[8:after])[0]
            found[name.removesuffix(".npy")] = data[after + size :]
    return found


ELEMENTS = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8", "bool": "|b1"}


def numbers(tensor, number):
    """The bytes of an input: floats in [-1, 1), integers 0 and 1 (which any table has), equal in all runs."""
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
            shape, name = tuple(tensor["shape"]), tensor["name"]
            header = {"descr": ELEMENTS[tensor["element"]], "fortran_order": False, "shape": shape}
            text = str(header).ljust(117) + "\n"
            head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
            archive.writestr(name + ".npy", head + contents[name])


def planned_arena(optc, model, options):
    """The bytes that `optc plan` says."""
    plan = json.loads(run(optc, "plan", model, "--synthesize-weights", "--json", "-", *options))
    return next(pool["size_bytes"] for pool in plan["pools"] if pool["name"] == "arena")


def symbols(nm, path):
    """The global symbols that an object file defines, and those that it leaves to others."""
    defined, left = set(), set()
    for line in run(nm, "-g", path).splitlines():
        kind, name = line.split()[-2:]
        (left if kind == "U" else defined).add(name)
    return defined, left


ALLOWED = set(
    "bcmp ceil ceilf floor floorf fma fmaf fmod fmodf memcmp memcpy memmove memset "
    "nearbyint nearbyintf trunc truncf".split()
)


def at_sizes(description, sizes):
    """The description of a program at some of its sizes."""

    def sized(tensor):
        return {**tensor, "shape": [int(sizes.get(dim, dim)) for dim in tensor["dims"]]}

    sides = {side: [sized(tensor) for tensor in description[side]] for side in ["inputs", "outputs"]}
    return {**description, **sides}


class Machine:
    """What an object file is for: tools that take it, and what runs a program that it is linked to."""

    def __init__(self, cc, nm, emulator, build, run):
        self.cc, self.nm, self.emulator, self.build, self.run = cc, nm, emulator, build, run


HERE = Machine("cc", "nm", [], [], [])
AARCH64 = Machine(
    "aarch64-linux-gnu-gcc",
    "aarch64-linux-gnu-nm",
    ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    ["--target-cpu=aarch64"],
    ["--target-cpu=portable"],
)


class Program:
    """An object file in a folder, compared with what the command does."""

    def __init__(self, optc, model, out, options, machine):
        self.optc, self.model, self.out, self.machine = optc, model, out, machine
        self.options = [option for option in options if option != "--embed-weights"] + machine.run
        self.description = json.loads(next(out.glob("*.json")).read_text())
        self.name = self.description["name"]
        self.sizes = [size["name"] for size in self.description.get("sizes", [])]
        self.weights = self.description["weights_file"]

    def check_symbols(self):
        defined, left = symbols(self.machine.nm, self.out / f"{self.name}.o")
        ends = ["run", "run_threads", "message", "supported"]
        ends += ["bind", "arena_bytes", "input_bytes", "output_bytes"] if self.sizes else []
        if defined != {f"{self.name}_{end}" for end in ends} or not left <= ALLOWED:
            sys.exit(f"symbols: {sorted(defined)}, undefined: {sorted(left)}")

    def link(self):
        sides = [("INPUT", "inputs"), ("OUTPUT", "outputs")]
        fields = [
            f"{macro}({tensor['identifier']}, {index})\n"
            for macro, side in sides
            for index, tensor in enumerate(self.description[side])
        ]
        (self.out / "fields.h").write_text("".join(fields))
        flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-std=c11"]
        check = ["-DNAME=" + self.name, f'-DHEADER="{self.name}.h"', '-DFIELDS="fields.h"']
        check += ["-DEMBEDDED"] if self.weights is None else []
        check += [f"-DSIZES={len(self.sizes)}"] if self.sizes else []
        libraries = ["-lm", "-lpthread", "-o", self.out / "check"]
        cc = self.machine.cc
        run(cc, *flags, *check, f"-I{self.out}", "tests/aot/check.c", self.out / f"{self.name}.o", *libraries)
        # The example, as it is meant to be used.
        run(cc, *flags, "-pedantic", "main.c", f"{self.name}.o", "-lm", "-o", "example", cwd=self.out)

    def planned_arena(self, sizes):
        """The bytes that the command says."""
        if not sizes:
            return planned_arena(self.optc, self.model, self.options)
        given = ["--inputs", self.out / "in.npz", "--json", "-"]
        report = json.loads(run(self.optc, "run", self.model, "--synthesize-weights", *given, *self.options))
        return report["runs"][0]["arena_bytes"]

    def check(self, sizes):
        """Runs at these sizes."""
        out, description = self.out, at_sizes(self.description, sizes) if sizes else self.description
        # The same inputs for both.
        tensors = description["inputs"]
        inputs = {tensor["name"]: numbers(tensor, index) for index, tensor in enumerate(tensors)}
        write_npz(out / "in.npz", tensors, inputs)
        given = ["--inputs", out / "in.npz", "--out", out / "out.npz"]
        run(self.optc, "run", self.model, "--synthesize-weights", *given, *self.options)
        expected = arrays(out / "out.npz")
        files = []
        for tensor in tensors:
            files.append(out / f"in_{tensor['identifier']}.bin")
            files[-1].write_bytes(inputs[tensor["name"]])
        results = {
            tensor["name"]: out / f"out_{tensor['identifier']}.bin" for tensor in description["outputs"]
        }

        bound = [sizes[name] for name in self.sizes]
        weights = [] if self.weights is None else [out / self.weights]
        said = run(*self.machine.emulator, out / "check", *bound, *weights, *files, *results.values())
        print(said, end="")
        arena = self.planned_arena(sizes)
        if not said.startswith(f"{arena} bytes of arena,"):
            sys.exit(f"the command says {arena} bytes of arena")
        for output, path in results.items():
            for suffix in ["", ".threads"]:
                if Path(str(path) + suffix).read_bytes() != expected[output]:
                    sys.exit(f"{output}{suffix} has other bits than `optc run` gives")

        example = [Path(str(path) + ".example") for path in results.values()]
        names = [path.name for path in files + example]
        run(*self.machine.emulator, "./example", *bound, *names, cwd=out)
        for output, path in zip(results, example):
            if path.read_bytes() != expected[output]:
                sys.exit(f"{output} has other bits in the example than `optc run` gives")


def main():
    optc, work, model, *options = sys.argv[1:]
    own = [option.split("=", 1) for option in options if option.startswith(("--most-bytes=", "--at="))]
    options = [option for option in options if not option.startswith(("--most-bytes=", "--at="))]
    machine = AARCH64 if "--aarch64" in options else HERE
    options = [option for option in options if option != "--aarch64"]
    out = Path(work) / "out"
    run("rm", "-rf", out)
    options_of_build = ["--synthesize-weights", "--emit=obj", "-o", out, *options, *machine.build]
    built = run(optc, "build", model, *options_of_build)
    print(built, end="")
    program = Program(optc, model, out, options, machine)
    size = (out / f"{program.name}.o").stat().st_size
    if any(int(most) < size for option, most in own if option == "--most-bytes"):
        sys.exit(f"{program.name}.o has {size} bytes, expected fewer")
    program.check_symbols()
    program.link()
    for at in [text for option, text in own if option == "--at"] or [""]:
        program.check(dict(part.split("=") for part in at.split(",") if part))
    print(f"{program.name}: same bits as optc run, object of {size} bytes, arena as planned")


main()
