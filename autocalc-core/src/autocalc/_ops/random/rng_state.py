# SPDX-License-Identifier: MIT
"""Functions for the seed and the state of the default generator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autocalc._ops._operator.coerce import not_a_tensor
from autocalc._ops.creation.from_data import tensor
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import check_flag, short
from autocalc._tensor.generator import default_generator
from autocalc.errors import ArgumentError

__all__ = ["fork_rng", "get_rng_state", "initial_seed", "seed", "set_rng_state"]


def seed() -> int:
    """Seed the default generator from the operating system; return the seed.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.seed() == ac.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """Return the seed of the default generator.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.manual_seed(3).initial_seed(), ac.initial_seed()
    (3, 3)
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the default generator: its seed and offset, as int64.

    Examples
    --------
    >>> import autocalc as ac
    >>> state = ac.get_rng_state()
    >>> a = ac.rand(2)
    >>> ac.set_rng_state(state)
    >>> bool((a == ac.rand(2)).all())
    True
    """
    state = default_generator.get_state()
    return tensor([state["seed"], state["offset"]], dtype=dtypes.int64)


def set_rng_state(new_state: Tensor) -> None:
    """Set the default generator to a state that `get_rng_state` returned.

    Parameters
    ----------
    new_state
        The state, a tensor of int64 as `get_rng_state` returns it.

    Raises
    ------
    DTypeError
        If `new_state` is not a tensor.
    ArgumentError
        If `new_state` does not have the form that `get_rng_state` returns.

    Examples
    --------
    >>> import autocalc as ac
    >>> state = ac.get_rng_state()
    >>> ac.set_rng_state(state)
    """
    where = "set_rng_state"
    if not isinstance(new_state, Tensor):
        raise not_a_tensor(where, new_state)
    if new_state.dtype is not dtypes.int64 or new_state.shape != (2,):
        raise ArgumentError(
            f"set_rng_state: got a {new_state.dtype.name} tensor of shape "
            f"{new_state.shape}; give what `get_rng_state` returned."
        )
    first, offset = new_state.tolist()
    default_generator.set_state({"seed": first, "offset": offset})


@contextmanager
def fork_rng(
    devices: Sequence[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str = "cuda",
) -> Iterator[None]:
    """Return a context that restores the state of the default generator at its end.

    The state is also restored if the block ends with an error.

    Parameters
    ----------
    devices
        None or an empty list: there are no random generators of other devices.
    enabled
        False to keep the state that the generator has at the end of the block.
    device_type
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    ArgumentError
        If `devices` is not empty.

    Examples
    --------
    >>> import autocalc as ac
    >>> before = ac.get_rng_state()
    >>> with ac.random.fork_rng():
    ...     x = ac.rand(3)
    >>> ac.equal(ac.get_rng_state(), before)
    True
    """
    check_flag(_caller, "enabled", enabled)
    if devices is not None and (not isinstance(devices, (list, tuple)) or devices):
        raise ArgumentError(
            f"{_caller}: `{_devices_kw}` is {short(devices)}; the CPU is the only "
            "device, so do not give it."
        )
    state = default_generator.get_state()
    try:
        yield
    finally:
        if enabled:
            default_generator.set_state(state)
