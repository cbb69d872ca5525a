# SPDX-License-Identifier: MIT
"""`save` and `load`: checkpoints as safetensors files.

Tensors are stored under the keys of their `state_dict`, so that any program that reads
safetensors finds them.  The structure around them and all plain values are one JSON
text in the metadata of the file.  Nothing is pickled, so loading a file cannot run
code.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import IO, Any

import numpy as np

from autocalc._dispatch.locks.lock import METADATA_KEY
from autocalc._dispatch.locks.lock import lock as kernel_lock
from autocalc._io import digest
from autocalc._io.paths import PathFile
from autocalc._io.streams import Stream
from autocalc._io.torch_marks import is_torch_file
from autocalc._io.tree import Array, Decoder, Encoder, loaded
from autocalc._tensor.checks import check_flag, check_flags, short
from autocalc._tensor.device import Device, present
from autocalc.errors import CheckpointError, DTypeError, MissingFileError

#: The key in the metadata, and the version of its value.
_KEY = "autocalc"
_VERSION_KEY = "autocalc_version"
_VERSION = "2"
_WITHOUT_DIGEST = ("1",)

#: The errors of metadata that do not describe the tensors of their file.
_UNFIT = (ValueError, KeyError, TypeError, RecursionError, MemoryError, OverflowError)


def save(
    obj: Any, f: str | os.PathLike[str] | IO[bytes], *, lock: bool = False
) -> None:
    """Save tensors and plain values to a safetensors file.

    Parameters
    ----------
    obj : object
        A tensor, a number, a text, None, a list, tuple or dict of such values, or an
        object with a `state_dict()` (a module, an optimizer), at any depth.  Tensors
        with the same memory, shape and strides are stored once.
    f : str, path or file
        The file to write.  If `f` is a path, the file is replaced in one step after all
        data is on the disk, so a crash leaves either the old file or the new one.  A
        file that is open for writing in binary mode, or an `io.BytesIO`, is written
        from its current position on.
    lock : bool, optional
        True to also store in the file which kernels have run so far, as `kernels.lock`
        returns them.  `kernels.use_lock` reads this part; `load` and other programs
        ignore it.

    Notes ----- The file contains its own SHA-256 digest, which `load` verifies.  One
    core of a Zen CPU computes the digest at 1.2 GB/s.  Therefore, loading 400 MB takes
    0.85 s; without the check, it would take 0.35 s.

    Raises
    ------
    DTypeError
        If `obj` contains anything else, if `f` is neither a path nor a file, or if `f`
        is a file that is open in text mode.  For `obj`, the message says where.
    ArgumentError
        If the file is closed or open for reading only, or `lock` is neither True nor
        False.
    CheckpointError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import autocalc as ac
    >>> path = tempfile.mkdtemp() + "/state.safetensors"
    >>> ac.save({"weight": ac.ones(2, 2), "epoch": 3}, path)
    >>> ac.load(path)["epoch"]
    3
    """
    wanted = check_flag("save", "lock", lock)
    write(obj, f, {METADATA_KEY: kernel_lock().json()} if wanted else None)


def write(
    obj: Any,
    f: str | os.PathLike[str] | IO[bytes],
    more: Mapping[str, str] | None = None,
) -> None:
    """Save with more entries in the metadata of the file; `load` ignores them."""
    file = _place("save", f)
    encoder = Encoder()
    tree = encoder.encode(obj)
    metadata = {_KEY: tree, _VERSION_KEY: _VERSION, digest.KEY: digest.BLANK}
    metadata.update(more or {})
    arrays = {name: _contiguous(array) for name, array in encoder.arrays.items()}
    try:
        file.write(arrays, metadata)
    except OSError as error:
        remedy = "make room, or name a file in another folder"
        if isinstance(error, FileNotFoundError):
            remedy = "make the folder first, or name a file in another one"
        raise CheckpointError(
            f"save: {file} cannot be written: {error.strerror or error}. An existing "
            f"file was not changed; {remedy}."
        ) from error


def _contiguous(array: Array) -> Array:
    # ascontiguousarray would make a 0-d array 1-d.
    return np.ascontiguousarray(array).reshape(array.shape)


def _place(where: str, f: Any) -> PathFile | Stream:
    return PathFile(f) if isinstance(f, (str, os.PathLike)) else Stream(where, f)


def load(
    f: str | os.PathLike[str] | IO[bytes],
    map_location: str | Device | Callable[..., Any] | Mapping[str, str] | None = None,
    *,
    weights_only: bool | None = None,
    verify: bool = True,
) -> Any:
    """Load a file that `save` wrote, or another safetensors file as a dict of tensors.

    It also reads files of `torch.save` that contain only tensors and plain values in
    dicts, lists and tuples, such as a `state_dict` or the state of an optimizer.
    Tensors that shared memory when they were saved share memory again if they are
    loaded on the CPU, and have the same strides.

    Parameters
    ----------
    f : str, path or file
        The file to read.  A file that is open for reading in binary mode, or an
        `io.BytesIO`, is read from its current position to its end.
    map_location : optional
        The device of the loaded tensors, by default the CPU.  A function or a dict has
        no effect: the tensors are then on the CPU.
    weights_only : bool, optional
        It has no effect: nothing is unpickled, so no file can run code.
    verify : bool
        True to compare the file with the SHA-256 digest that `save` wrote into it, if
        there is one.  Use False for a file that another program has changed on purpose.

    Returns
    -------
    object
        The saved value.  Its tensors are copies in memory, so changing or removing the
        file does not affect them.  Tensors that `save` stored once, because they had
        the same memory, shape and strides, are loaded as one tensor.

    Raises
    ------
    CheckpointError
        If the file is missing, incomplete, changed since it was saved, or neither a
        safetensors file nor one of `torch.save`.  The error is also raised if a file of
        `torch.save` contains other objects than tensors and plain values, or dtypes
        that AutoCalc does not have.
    DTypeError
        If `f` is neither a path nor a file, or if it is a file that is open in text
        mode.
    ArgumentError
        If the file is closed or open only for writing, or the device is not available.

    Examples
    --------
    >>> import tempfile
    >>> import autocalc as ac
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ac.save({"w": ac.tensor([1.0, 2.0])}, f"{folder}/model.safetensors")
    ...     ac.load(f"{folder}/model.safetensors")
    {'w': tensor([1., 2.])}
    """
    check_flags("load", weights_only=weights_only)
    verify = check_flag("load", "verify", verify)
    device = _device_of(map_location)
    file = _place("load", f)
    try:
        file.check()
        if is_torch_file(file.head()):
            return _torch(file, device)
        sealed = verify and _check_digest(file)
        arrays, metadata = _read(file)
    except MissingFileError:
        raise
    except OSError as error:
        message = f"load: {file} cannot be read: {error.strerror or error}."
        raise CheckpointError(message) from error
    _check_version(metadata.get(_VERSION_KEY, _VERSION), file)
    if verify and not sealed:
        _check_keys(metadata, file)
    if _KEY not in metadata:
        return {name: loaded(array, device) for name, array in arrays.items()}
    return _decode(arrays, device, metadata[_KEY], file)


def _torch(file: PathFile | Stream, device: Device | None) -> Any:
    from autocalc._io.torch_zip import read_torch  # zip archives: 10 ms of import

    with file.opened() as opened:
        return read_torch(opened, str(file), device)


def _device_of(map_location: Any) -> Device | None:
    """Return the device for the tensors; None means the CPU."""
    if isinstance(map_location, (str, Device)):
        device = present(map_location)
        return None if device.type == "cpu" else device
    if not (
        map_location is None
        or callable(map_location)
        or isinstance(map_location, Mapping)
    ):
        raise DTypeError(
            f"load: `map_location` is {short(map_location)}; it must be a device, a "
            f"function, a dict or None."
        )
    return None


def _check_digest(file: PathFile | Stream) -> bool:
    """Return whether the file has a digest; raise if it is that of another file."""
    found = file.digests()
    if found is not None and found.stored != found.actual:
        reason = f"its SHA-256 is {found.actual}, and it says {found.stored}"
        raise _changed(file, reason)
    return found is not None


def _read(file: PathFile | Stream) -> tuple[dict[str, Array], dict[str, str]]:
    from safetensors import SafetensorError

    try:
        return file.read()
    except SafetensorError as error:
        raise CheckpointError(
            f"load: {file} ({file.size} bytes) is incomplete or not a safetensors "
            f"file: {error}. Save it again, or use an earlier checkpoint."
        ) from error


def _check_keys(metadata: Mapping[str, str], file: PathFile | Stream) -> None:
    """Raise if a file has only some of the keys that AutoCalc writes."""
    keys = {_KEY, _VERSION_KEY, digest.KEY}
    if keys.isdisjoint(metadata):
        return
    if metadata.get(_VERSION_KEY) in _WITHOUT_DIGEST:
        keys.remove(digest.KEY)
    missing = sorted(keys - metadata.keys())
    if missing:
        raise _changed(file, f"its metadata lack {' and '.join(missing)}")


def _check_version(version: str, file: PathFile | Stream) -> None:
    known = (*_WITHOUT_DIGEST, _VERSION)
    if version not in known:
        raise CheckpointError(
            f"load: {file} has version {version} of the checkpoint format; this "
            f"version of AutoCalc reads {' and '.join(known)}. Load it with the "
            "version of AutoCalc that wrote it, or upgrade AutoCalc."
        )


def _changed(file: PathFile | Stream, reason: str) -> CheckpointError:
    return CheckpointError(
        f"load: {file} ({file.size} bytes) differs from the file that was saved: "
        f"{reason}. It is incomplete, damaged or edited. Use an earlier checkpoint. If "
        "another program changed it on purpose, write it again with "
        "ac.save(ac.load(path, verify=False), path)."
    )


def _decode(
    arrays: Mapping[str, Array],
    device: Device | None,
    tree: str,
    file: PathFile | Stream,
) -> Any:
    try:
        return Decoder(arrays, device).decode(tree)
    except _UNFIT as error:
        raise CheckpointError(
            f"load: the metadata of {file} do not describe its tensors ({error!r}), so "
            "the file was changed after it was saved. Save it again."
        ) from error
