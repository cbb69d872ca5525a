# SPDX-License-Identifier: MIT
"""NVIDIA's GPUs, where a kernel package serves them: is there one, and its memory.

AutoCalc itself knows no GPU.  With `autocalc-kernels-cuda` installed and a GPU in the
machine, ``x.to("cuda")`` puts a tensor there; without, `is_available` answers False and
what would act on a device does nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autocalc._absent import missing as _missing
from autocalc._dispatch.device import device as _device
from autocalc._tensor.device import Device as _Device
from autocalc._tensor.device import numbered as _numbered
from autocalc.errors import ArgumentError as _ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autocalc.cuda import amp as amp

__all__ = [
    "current_device",
    "default_generators",
    "device_count",
    "empty_cache",
    "get_rng_state_all",
    "is_available",
    "is_bf16_supported",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "set_device",
    "set_rng_state_all",
    "synchronize",
]


def is_available() -> bool:
    """Return whether tensors can be put on a GPU.

    Examples
    --------
    >>> import autocalc as ac
    >>> device = ac.device("cuda" if ac.cuda.is_available() else "cpu")
    >>> ac.ones(2).to(device).device == device
    True
    """
    return "cuda" in _device.places()


def _library() -> Any:
    """Return the package's arrays, or None where there is no GPU."""
    return _device.library_of("cuda") if is_available() else None


def device_count() -> int:
    """Return how many GPUs can be used."""
    library = _library()
    return 0 if library is None else int(library.count())


def current_device() -> int:
    """Return 0, the number of the GPU on which tensors are."""
    _device.library_of("cuda")  # which raises where there is none
    return 0


def set_device(device: int | str | _Device) -> None:
    """Check that `device` is the GPU on which tensors are, number 0.

    ``CUDA_VISIBLE_DEVICES`` chooses for a process which GPU that is.

    Raises
    ------
    ArgumentError
        If it is another one, or there is none.
    """
    chosen = _numbered("cuda", device)
    if chosen.type != "cuda":
        message = f"set_device: {str(chosen)!r} is no GPU; give 0 or 'cuda:0'."
        raise _ArgumentError(message)


def manual_seed(seed: int) -> None:
    """Do nothing: `autocalc.manual_seed` seeds all there is."""


def manual_seed_all(seed: int) -> None:
    """Do nothing: `autocalc.manual_seed` seeds all there is."""


def empty_cache() -> None:
    """Give cached memory back to the GPU."""
    library = _library()
    if library is not None:
        library.trim()


def synchronize(device: Any = None) -> None:
    """Wait until the GPU has done all work; raises errors of kernels."""
    library = _library()
    if library is not None:
        library.synchronize()


def memory_stats(device: Any = None) -> dict[str, int]:
    """Return the counters of the GPU's memory, in bytes; empty without a GPU.

    `in_use` by arrays, their `peak` among the times that counters were read, `cached`,
    what waits to be used again, and the GPU's `free` and `total` memory.
    """
    library = _library()
    return {} if library is None else dict(library.stats())


def memory_allocated(device: Any = None) -> int:
    """Return the bytes that arrays take on the GPU."""
    return memory_stats().get("in_use", 0)


def max_memory_allocated(device: Any = None) -> int:
    """Return the most bytes that arrays took when a counter of memory was read."""
    return memory_stats().get("peak", 0)


def memory_reserved(device: Any = None) -> int:
    """Return the bytes that arrays and the cache take on the GPU."""
    stats = memory_stats()
    return stats.get("in_use", 0) + stats.get("cached", 0)


#: The generators of random numbers that GPUs have of their own: none.
default_generators: tuple[Any, ...] = ()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether there is a GPU: kernels for one take bfloat16.

    Parameters
    ----------
    including_emulation
        Accepted for PyTorch's sake; it has no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cuda.is_bf16_supported() == ac.cuda.is_available()
    True
    """
    del including_emulation
    return is_available()


def get_rng_state_all() -> list[Any]:
    """Return an empty list: GPUs draw from the process's generator."""
    return []


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Take the empty list that `get_rng_state_all` returns.

    Raises
    ------
    ArgumentError
        If there is a state in it.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cuda.set_rng_state_all(ac.cuda.get_rng_state_all())
    """
    if list(new_states):
        raise _ArgumentError(
            "set_rng_state_all: `new_states` holds states; GPUs draw from the "
            "process's generator here, which ac.set_rng_state takes."
        )


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return the bytes of the GPU's memory that are free, and all; 0 without a GPU."""
    stats = memory_stats()
    return stats.get("free", 0), stats.get("total", 0)


def __getattr__(name: str) -> Any:
    if name == "amp":  # it brings optimizers along
        from importlib import import_module

        return import_module("autocalc.cuda.amp")
    return _missing(__name__, name)
