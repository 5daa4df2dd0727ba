"""How a model gets to the machines of a cluster: through the object store, into a file of each."""

from __future__ import annotations

import hashlib
import os
import pathlib
import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import ray

from .._diagnostics import Error
from .._model import Model, load


@dataclass(frozen=True)
class StoredModel:
    """An artifact in Ray's object store, as `put` gives it. It may be sent to any task or actor."""

    reference: Any
    """The object: the artifact's bytes as an array of `uint8`."""
    digest: str
    """SHA-256 of these bytes, in hexadecimal digits."""

    def file(self, folder: str | os.PathLike[str] | None = None) -> pathlib.Path:
        """The artifact as a file of this machine, in `folder`, which is made if nobody has yet.

        Raises `PermissionError` if others may write to the folder, `OSError` if it can't be written to.
        """
        path = _private(pathlib.Path(folder or _default_folder())) / f"{self.digest}.optc"
        if not _has_digest(path, self.digest):
            _write(path, ray.get(self.reference))
        return path

    def load(self, threads: int = 1, folder: str | os.PathLike[str] | None = None) -> Model:
        """The model, for this machine; compiled anew if its machine code is for other processors.

        Raises `optc.Error` if it can't be compiled here.
        """
        path = self.file(folder)
        try:
            return load(path, threads=threads)
        except Error:
            return load(path, threads=threads, recompile=True)


def put(model: Model | str | os.PathLike[str]) -> StoredModel:
    """Puts a model, or the artifact at a path, into the object store of the cluster.

    The object stays while the result, or what was made of it, is referred to.
    """
    data = model.to_bytes() if isinstance(model, Model) else pathlib.Path(model).read_bytes()
    return StoredModel(ray.put(np.frombuffer(data, np.uint8)), hashlib.sha256(data).hexdigest())


def _default_folder() -> str:
    return os.path.join(tempfile.gettempdir(), f"optc-ray-{os.getuid()}")


def _private(folder: pathlib.Path) -> pathlib.Path:
    """A folder that nobody else can write to: what is in it is run."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    known = folder.lstat()
    if folder.is_symlink() or known.st_uid != os.getuid() or known.st_mode & 0o022:
        raise PermissionError(f"others may write to {folder}, expected a folder of this user alone")
    return folder


def _has_digest(path: pathlib.Path, digest: str) -> bool:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
    except FileNotFoundError:
        return False


def _write(path: pathlib.Path, data: Any) -> None:
    """Writes a file that is there as a whole or not at all, whoever else writes it at that time."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(memoryview(data))
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
