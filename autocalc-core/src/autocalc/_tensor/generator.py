# SPDX-License-Identifier: MIT
"""The counter-based random generator: a seed, and the number of words drawn.

Random kernels are pure functions of (seed, offset) (Philox4x32-10; Salmon et al.,
"Parallel random numbers: as easy as 1, 2, 3", SC 2011).  Every kernel set therefore
draws the same numbers with any number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import numpy as np

from autocalc._dispatch.engine.eager import accelerate, bind
from autocalc._dispatch.selection.state import (
    on_host,
    recorder,
    recordings,
    refuse_reading,
)
from autocalc._tensor.device import Device
from autocalc.errors import ArgumentError, DTypeError, VmapError

_INT64 = np.dtype(np.int64)


@lru_cache(maxsize=64)  # 0.1 us instead of 0.5 us for making the array
def _seed_array(seed: int) -> Any:
    array = np.array(seed, _INT64)
    array.flags.writeable = False
    return array


def _checked_seed(seed: Any) -> int:
    """Return a seed as int64; it is a whole number, or a tensor or array of one."""
    value = seed.item() if hasattr(seed, "item") else seed
    if not isinstance(value, (int, float)) or value % 1:
        raise ArgumentError(f"manual_seed: `seed` is {seed!r}; it must be an integer.")
    whole = int(value)
    if not -(2**63) <= whole < 2**64:
        raise ArgumentError(f"manual_seed: `seed`={whole} does not fit in 64 bits.")
    return whole - 2**64 if whole >= 2**63 else whole


class Generator:
    """A generator of random numbers with its own state.

    Examples
    --------
    >>> import autocalc as ac
    >>> g = ac.Generator().manual_seed(0)
    >>> ac.rand(2, generator=g).shape
    autocalc.Size([2])
    """

    __slots__ = (
        *("__weakref__", "_lock", "_offset", "_seed", "_seed_word", "device"),
        "seeds",
    )

    #: The number of seeds it was given; numbers drawn before the last seed are old.
    seeds: int

    def __init__(self, device: str | Device = "cpu") -> None:
        self.device = Device(device)
        self._seed = 0
        self._seed_word = _seed_array(0)
        self._offset = 0
        self.seeds = 0
        self._lock = threading.Lock()
        if recordings:
            self._start(0, 0)

    def _start(self, seed: int, offset: int) -> None:
        """Continue from a place in a stream; in a recording, each replay does so."""
        on_host(lambda: self._set(seed, offset), draws=self)

    def _set(self, seed: int, offset: int) -> None:
        with self._lock:
            self._seed, self._seed_word = seed, _seed_array(seed)
            self._offset = offset

    def manual_seed(self, seed: int) -> Generator:
        """Restart the generator with the seed `seed`; return the generator."""
        self._start(_checked_seed(seed), 0)
        self.seeds += 1
        return self

    def seed(self) -> int:
        """Restart with a seed from the operating system; return the seed."""
        if recordings:
            refuse_reading("seed")
        value = int.from_bytes(os.urandom(7), "little")
        self.manual_seed(value)
        return value

    def initial_seed(self) -> int:
        """Return the seed with which the generator was last started."""
        return self._seed

    @accelerate("draw", None, recordings)
    def draw(self, words: int) -> tuple[Any, Any]:
        """Use up `words` 32-bit words; return the seed and the offset of the first."""
        if recorder() is not None:
            return self._recorded_draw(words)
        _, offset = self._take(words)
        return self._seed_word, np.array(offset, _INT64)

    def _drawn_dtype(self, dtype: Any) -> Any:
        """Return the dtype of memory for numbers from this generator: `dtype`."""
        return dtype

    def _over(self, generator: Generator) -> Generator:
        """Return the generator to use where a program has given one: `generator`."""
        return generator

    def _for_all(self, draws: Callable[..., Any], *operands: Any) -> Any:
        """Return ``draws(self, *operands)``; under `vmap`, of all examples at once."""
        token = _stand_in.set(None)
        try:
            return draws(self, *operands)
        finally:
            _stand_in.reset(token)

    def _take(self, words: int) -> tuple[int, int]:
        with self._lock:
            offset = self._offset
            self._offset = offset + words
            return self._seed, offset

    def _recorded_draw(self, words: int) -> tuple[Any, Any]:
        """Draw into two arrays, which each replay fills again."""
        cells = np.array(0, _INT64), np.array(0, _INT64)

        def draw_again() -> None:
            cells[0][()], cells[1][()] = self._take(words)

        on_host(draw_again, cells, draws=self)
        return cells

    def get_state(self) -> dict[str, int]:
        """Return the state of the generator, for `set_state`."""
        state: dict[str, int] = {}

        def look() -> None:
            state.update(seed=self._seed, offset=self._offset)

        on_host(look, draws=self)
        return state

    def set_state(self, state: dict[str, int]) -> Generator:
        """Restore a state that `get_state` returned; return this generator."""

        def go_on() -> None:
            self._set(int(state["seed"]), int(state["offset"]))

        if recorder() is None:
            _checked_seed(int(state["seed"]))
        on_host(go_on, draws=self)
        return self

    def __reduce__(self) -> Any:
        # The default generator is copied, too, as an ordinary one with the same state.
        return Generator, (self.device,), {**self.get_state(), "seeds": self.seeds}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.set_state(state)
        self.seeds = state.get("seeds", 0)


def chosen(where: str, generator: Any) -> Generator:
    """Return the given generator; the default generator for None."""
    if generator is None:
        return default_generator
    if not isinstance(generator, Generator):
        raise DTypeError(
            f"{where}: `generator` is a {type(generator).__name__}; it must be an "
            f"ac.Generator or None."
        )
    other = _stand_in.get()
    return generator if other is None else other()._over(generator)


def drawn_for_all(
    generator: Generator | None, draws: Callable[..., Any], *operands: Any
) -> Any:
    """Return ``draws(generator, *operands)``, which draws until all numbers are taken.

    Under `vmap`, the examples do not take the same number of draws.  So the tensors
    `operands` get the dimension of the examples, and the result loses it again.
    """
    source = default_generator if generator is None else generator
    if source is default_generator:
        source = generator_here()
    return source._for_all(draws, *operands)


bind(Generator=Generator)

draw = Generator.draw  # takes half the time of `super`

#: The generator that replaces the default one in the running context, if any.
_stand_in: ContextVar[Callable[[], Generator] | None] = ContextVar(
    "autocalc_generator", default=None
)


class _DefaultGenerator(Generator):
    """The process's generator; inside of `drawing_from`, the generator given there.

    The test for this costs 23 ns for each call of a random kernel, which takes some µs.
    """

    __slots__ = ()

    def manual_seed(self, seed: int) -> Generator:
        """Restart the stream with the seed `seed`; return this generator."""
        other = _stand_in.get()
        if other is not None:
            other().manual_seed(seed)
            return self
        return super().manual_seed(seed)

    def initial_seed(self) -> int:
        """Return the seed of the stream."""
        other = _stand_in.get()
        return super().initial_seed() if other is None else other().initial_seed()

    @accelerate("draw", _stand_in, recordings)
    def draw(self, words: int) -> tuple[Any, Any]:
        """Use up `words` 32-bit words; return the seed and the offset of the first."""
        other = _stand_in.get()
        return draw(self, words) if other is None else other().draw(words)

    def source(self) -> Callable[[int], tuple[Any, Any]]:
        """Return the function that `draw` runs here: its own or another generator's."""
        other = _stand_in.get()
        if other is None:
            return lambda words: draw(self, words)
        return lambda words: other().draw(words)

    def get_state(self) -> dict[str, int]:
        """Return the state of the generator, for `set_state`."""
        other = _stand_in.get()
        return super().get_state() if other is None else other().get_state()

    def set_state(self, state: dict[str, int]) -> Generator:
        """Restore a state that `get_state` returned; return this generator."""
        other = _stand_in.get()
        if other is None:
            super().set_state(state)
        else:
            other().set_state(state)
        return self


default_generator = _DefaultGenerator()
default_generator.seed()


@contextmanager
def drawing_from(make: Callable[[], Generator]) -> Iterator[None]:
    """Make another generator the default in this block, for this thread only.

    A batch is made inside such a block, with a generator of its own.  Its random
    numbers then do not depend on which worker makes it, or when.  The generator is made
    when something is first drawn: making it takes 40 µs, and most batches need none.
    """
    made: list[Generator] = []

    def once() -> Generator:  # functools.cache would take 16 µs more for each batch
        if not made:
            made.append(make())
        return made[0]

    token = _stand_in.set(once)
    try:
        yield
    finally:
        _stand_in.reset(token)


def generator_here() -> Generator:
    """Return the generator that draws in this context without an own generator."""
    other = _stand_in.get()
    return default_generator if other is None else other()


def drawn_dtype(dtype: Any) -> Any:
    """Return the dtype of memory for numbers from the default generator.

    Under `vmap`, a generator that draws for each example replaces it.
    """
    other = _stand_in.get()
    return dtype if other is None else other()._drawn_dtype(dtype)


def check_own_numbers(where: str, array: Any) -> None:
    """Raise if each example of `vmap` has other numbers, and `array` is shared."""
    if drawn_dtype(array.dtype) is not array.dtype:
        raise VmapError(
            f"vmap: {where} draws other numbers for each example, and all of them "
            f"share the tensor of shape {array.shape}: we do not support different "
            f"inplace randomness on an unbatched tensor. Use randomness='same', or the "
            f"function that returns a new tensor."
        )


def manual_seed(seed: int) -> Generator:
    """Seed the default generator; return the generator.

    Parameters
    ----------
    seed
        An integer that fits into 64 bits, signed or unsigned.

    Raises
    ------
    ArgumentError
        If `seed` is not an integer that fits into 64 bits.

    Examples
    --------
    >>> import autocalc as ac
    >>> _ = ac.manual_seed(0)
    >>> a = ac.rand(3)
    >>> _ = ac.manual_seed(0)
    >>> bool((a == ac.rand(3)).all())
    True
    """
    return default_generator.manual_seed(seed)
