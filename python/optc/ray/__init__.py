"""Batches of Ray Data through a model, on many machines.

    import optc, optc.ray

    model = optc.compile("model.onnx", symbolize={"x": {0: "N"}})
    results = dataset.map_batches(
        optc.ray.Predictor,
        fn_constructor_args=(optc.ray.put(model),),
        batch_size=64,
        concurrency=2,
    )

The model goes to the object store once, as an artifact. Each machine keeps it in a file, whose pages all
actors there share. On one machine this costs more than it gives: `model(x)` takes as many threads as there
are processors, and moves no rows between processes. Importing `optc` needs no ray.
"""

from ._predictor import Predictor, RowError
from ._store import StoredModel, put

__all__ = ["Predictor", "RowError", "StoredModel", "put"]
