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
    """Return 0, the number of the only GPU that AutoCalc uses."""
    _device.library_of("cuda")  # which raises where there is none
    return 0


def set_device(device: int | str | _Device) -> None:
    """Check that `device` is number 0, the only GPU that AutoCalc uses.

    The environment variable ``CUDA_VISIBLE_DEVICES`` selects this GPU for a process.

    Raises
    ------
    ArgumentError
        If `device` is another number, or there is no GPU.
    """
    chosen = _numbered("cuda", device)
    if chosen.type != "cuda":
        message = f"set_device: {str(chosen)!r} is not a GPU; give 0 or 'cuda:0'."
        raise _ArgumentError(message)


def manual_seed(seed: int) -> None:
    """Do nothing: `autocalc.manual_seed` seeds the generator of all devices."""


def manual_seed_all(seed: int) -> None:
    """Do nothing: `autocalc.manual_seed` seeds the generator of all devices."""


def empty_cache() -> None:
    """Give the cached memory back to the GPU."""
    library = _library()
    if library is not None:
        library.trim()


def synchronize(device: Any = None) -> None:
    """Wait until the GPU has finished all work; raise the errors of its kernels."""
    library = _library()
    if library is not None:
        library.synchronize()


def memory_stats(device: Any = None) -> dict[str, int]:
    """Return the counters of the GPU's memory in bytes; empty without a GPU.

    `in_use` is the memory of arrays, and `peak` its largest value at the times when
    counters were read. `cached` is the memory that is kept for reuse. `free` and
    `total` describe the memory of the GPU.
    """
    library = _library()
    return {} if library is None else dict(library.stats())


def memory_allocated(device: Any = None) -> int:
    """Return the number of bytes that arrays use on the GPU."""
    return memory_stats().get("in_use", 0)


def max_memory_allocated(device: Any = None) -> int:
    """Return the largest value of `memory_allocated` that any call has read."""
    return memory_stats().get("peak", 0)


def memory_reserved(device: Any = None) -> int:
    """Return the number of bytes that arrays and the cache use on the GPU."""
    stats = memory_stats()
    return stats.get("in_use", 0) + stats.get("cached", 0)


#: The generators of random numbers that GPUs have of their own: none.
default_generators: tuple[Any, ...] = ()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether there is a GPU; AutoCalc's kernels for GPUs support bfloat16.

    Parameters
    ----------
    including_emulation
        Accepted so that programs for PyTorch run; it has no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cuda.is_bf16_supported() == ac.cuda.is_available()
    True
    """
    del including_emulation
    return is_available()


def get_rng_state_all() -> list[Any]:
    """Return an empty list: GPUs use the default generator of the process."""
    return []


def set_rng_state_all(new_states: Iterable[Any]) -> None:
    """Accept the empty list that `get_rng_state_all` returns.

    Raises
    ------
    ArgumentError
        If the list is not empty.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cuda.set_rng_state_all(ac.cuda.get_rng_state_all())
    """
    if list(new_states):
        raise _ArgumentError(
            "set_rng_state_all: `new_states` is not empty, but GPUs use the default "
            "generator. Restore its state with ac.set_rng_state."
        )


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return the free and the total bytes of the GPU's memory; 0 without a GPU."""
    stats = memory_stats()
    return stats.get("free", 0), stats.get("total", 0)


def __getattr__(name: str) -> Any:
    if name == "amp":  # it brings optimizers along
        from importlib import import_module

        return import_module("autocalc.cuda.amp")
    return _missing(__name__, name)
