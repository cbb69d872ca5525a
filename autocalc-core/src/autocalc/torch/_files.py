# SPDX-License-Identifier: MIT
"""`torch.save` and `torch.load` for any object, such as the settings of a program.

Tensors and plain values go into a safetensors file, as in AutoCalc.  Modules and
objects of other classes go into a pickle.  Only ``weights_only=False`` reads the whole
pickle, because reading it runs code.  Otherwise only tensors and the classes in `safe`
are created.
"""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import autocalc
from autocalc._io.paths import replace_file
from autocalc._tensor.device import Device
from autocalc.errors import CheckpointError, DTypeError

_MAGIC = b"AutoCalc: a pickle\n"

#: Classes and functions that were passed to `torch.serialization.add_safe_globals`.
safe: list[Any] = []

#: The names that pickles of tensors and containers need.
_ALWAYS = frozenset(
    {
        *("_codecs.encode", "builtins.set", "builtins.dict", "builtins.list"),
        *("builtins.tuple", "builtins.frozenset", "builtins.bytearray"),
        *("builtins.complex", "builtins.slice", "builtins.range"),
        *("collections.Counter", "collections.OrderedDict", "collections.defaultdict"),
        *("collections.deque", "autocalc._tensor.state_dict.StateDict"),
        *("autocalc._tensor.copying.rebuild", "torch.Tensor"),
        *("autocalc._tensor.device.Device", "autocalc._tensor.dtypes.as_dtype"),
        *("autocalc._tensor.layouts.strided", "autocalc._tensor.size.Size"),
        *(
            f"autocalc._tensor.memory_format.{name}"
            for name in ("channels_last", "contiguous_format", "preserve_format")
        ),
        "autocalc.nn._module.parameter.Parameter",
        "autocalc._methods.typed_storage.TypedStorage",
        *("numpy.ndarray", "numpy.dtype", "numpy._core.multiarray._reconstruct"),
        *("numpy._core.multiarray.scalar", "numpy.core.multiarray._reconstruct"),
    }
)
File = str | os.PathLike[str] | IO[bytes]


def save(
    obj: Any,
    f: File,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,  # noqa: ARG001  PyTorch's; the newest is taken
    **_: Any,
) -> None:
    """Save tensors and plain values as `autocalc.save` does; pickle other objects."""
    if not _holds_modules(obj):
        try:
            autocalc.save(obj, f)
        except DTypeError:
            pass
        else:
            return
    kept = io.BytesIO()
    kept.write(_MAGIC)
    pickle_module.dump(obj, kept)
    if isinstance(f, (str, os.PathLike)):
        replace_file(Path(f), lambda part: _write(part, kept.getvalue()))
    else:
        f.write(kept.getvalue())


def _write(part: Path, content: bytes) -> None:
    with part.open("xb", buffering=0) as file:
        file.write(content)
        os.fsync(file.fileno())


def _holds_modules(obj: Any) -> bool:
    """Return whether there is a module among objects; it is saved as an object."""
    if isinstance(obj, Mapping):
        return any(map(_holds_modules, obj.values()))
    if isinstance(obj, (list, tuple)):
        return any(map(_holds_modules, obj))
    return isinstance(obj, autocalc.nn.Module)


def load(
    f: File,
    map_location: str | Device | Callable[..., Any] | Mapping[str, str] | None = None,
    pickle_module: Any = pickle,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,  # noqa: ARG001  reading is quick enough
    **_: Any,
) -> Any:
    """Load a file that `save`, or PyTorch's `torch.save`, wrote.

    Raises
    ------
    CheckpointError
        If the file is a pickle with a class that is not in `safe`, and `weights_only`
        is not False.
    """
    if not _is_pickle(f):
        return autocalc.load(f, map_location, weights_only=weights_only)
    read = pickle_module.load if weights_only is False else _safely
    if isinstance(f, (str, os.PathLike)):
        with Path(f).open("rb") as file:
            return _unpickled(file, read)
    return _unpickled(f, read)


def _declared() -> dict[str, Any]:
    """Return the classes that are declared safe, by path."""
    pairs = (one if isinstance(one, tuple) else (one, None) for one in safe)
    return {where or f"{x.__module__}.{x.__qualname__}": x for x, where in pairs}


def unsafe_names(f: File) -> list[str]:
    """Return the paths of objects in a pickle that `load` would refuse to create."""
    if not _is_pickle(f):
        return []
    content = Path(f).read_bytes() if isinstance(f, (str, os.PathLike)) else f.read()
    known, names = _ALWAYS | _declared().keys(), set()

    class Names(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            names.add(f"{module}.{name}")
            return _Anything

    with suppress(Exception):  # the rest of the file is unknown
        Names(io.BytesIO(content[len(_MAGIC) :])).load()
    return sorted(names - known)


class _Anything(dict[Any, Any]):
    """Replaces every object."""

    def __new__(cls, *_: Any, **__: Any) -> _Anything:
        return super().__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()

    def __setstate__(self, state: Any) -> None:
        """Accept any state and ignore it."""

    def add(self, item: Any) -> None:
        """Accept an element and ignore it."""


class _Safely(pickle.Unpickler):
    """Creates tensors, containers and declared safe classes; runs nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        path, declared = f"{module}.{name}", _declared()
        if path in declared:
            return declared[path]
        if path in _ALWAYS:
            return super().find_class(module, name)
        raise CheckpointError(
            f"load: the file contains {path}, whose creation may run code. If you "
            "trust the source of the file, allow the class with "
            f"torch.serialization.add_safe_globals([{name}]), or give "
            "weights_only=False."
        )


def _safely(file: IO[bytes]) -> Any:
    try:
        return _Safely(file).load()
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"load: the pickle is damaged: {error}.") from error


def _is_pickle(f: File) -> bool:
    if isinstance(f, (str, os.PathLike)):
        try:
            with Path(f).open("rb") as file:
                return file.read(len(_MAGIC)) == _MAGIC
        except OSError:
            return False
    if not (hasattr(f, "seek") and hasattr(f, "read")):
        return False
    start = f.tell()
    head = f.read(len(_MAGIC))
    f.seek(start)
    return head == _MAGIC


def _unpickled(file: IO[bytes], read: Callable[[IO[bytes]], Any]) -> Any:
    file.read(len(_MAGIC))
    return read(file)
