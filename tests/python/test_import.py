"""What it takes to import the package, and what it says of itself."""

import importlib.metadata
import json
import subprocess
import sys

import optc

PROBE = """
import json, sys, time
start = time.process_time()
import optc
took = time.process_time() - start
print(json.dumps({"ms": took * 1e3, "numpy": "numpy" in sys.modules}))
"""


def test_the_import_is_fast_and_imports_no_numpy():
    # The time of the processor: on a machine with other work, the time of a clock says little.
    runs = [subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=True) for _ in range(7)]
    found = [json.loads(run.stdout) for run in runs]
    assert min(run["ms"] for run in found) <= 50
    assert not any(run["numpy"] for run in found)


def test_the_version_is_that_of_the_package():
    assert optc.__version__ == importlib.metadata.version("optc")


def test_everything_public_is_documented():
    for name in optc.__all__:
        thing = getattr(optc, name)
        assert name == "__version__" or thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                assert getattr(value, "__doc__", None), f"{name}.{member}"
