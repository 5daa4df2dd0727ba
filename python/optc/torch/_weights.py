"""Whether the tensors that a program has as constants are still what they were.

Torch counts changes of a tensor (`Tensor._version`), but not those made through `Tensor.data`, or through a
numpy array that shares its memory. So what is compared is a hash of all bytes, unless the user says that
versions do.
"""

from __future__ import annotations

from typing import Any

import torch

from .. import _native


def memory_of(tensor: torch.Tensor) -> Any:
    """The bytes of a strided tensor from its first to its last element, as a numpy array: no copy."""
    span = 0
    if tensor.numel():
        span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    start, count = tensor.storage_offset() * tensor.itemsize, span * tensor.itemsize
    with torch.inference_mode(False):
        memory = torch.empty(0, dtype=torch.uint8)
        return memory.set_(tensor.untyped_storage(), start, (count,), (1,)).numpy()


class Weights:
    """The weights of a graph, watched for changes.

    Calls of one object must follow each other.
    """

    def __init__(self, trust_versions: bool) -> None:
        self._trust_versions = trust_versions
        self._places: list[tuple[Any, ...]] = []
        self._versions: list[int | None] = []
        self._memories: list[Any] = []
        self._state: tuple[Any, ...] | None = None

    def state(self, tensors: list[torch.Tensor]) -> tuple[Any, ...]:
        """What is equal for equal weights, up to collisions of a hash of 64 bits."""
        places = [(t.data_ptr(), t.shape, t.stride(), t.dtype) for t in tensors]
        versions = [None if t.is_inference() else t._version for t in tensors]
        is_known = places == self._places and versions == self._versions and None not in versions
        if self._trust_versions and is_known and self._state is not None:
            return self._state
        if places != self._places:
            # Kept arrays keep their memory, so no other tensor gets an address that is remembered here.
            self._memories = [memory_of(tensor) for tensor in tensors]
        forms = tuple(place[1:] for place in places)
        self._places, self._versions = places, versions
        self._state = (_native.content_hash(self._memories), forms)
        return self._state
