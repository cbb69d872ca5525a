# SPDX-License-Identifier: MIT
"""`torch.quasirandom`: Sobol sequences of SciPy, which has the direction numbers."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

from autocalc import Tensor, from_numpy, randint
from autocalc import get_default_dtype as _default


class SobolEngine:
    """A generator of points that fill the unit cube evenly: a Sobol sequence.

    Points that are not scrambled are the same as PyTorch's.  Scrambled points differ,
    because another random generator is used.

    Parameters
    ----------
    dimension
        The number of coordinates of a point.
    scramble
        True to scramble the sequence at random.
    seed
        The seed of the scrambling; by default it is drawn from the default generator.

    Raises
    ------
    ImportError
        If SciPy is not installed.
    ValueError
        If SciPy does not support this number of dimensions.
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(
        self, dimension: int, scramble: bool = False, seed: int | None = None
    ) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                f"SobolEngine: `dimension` is {dimension}; it must be from 1 to "
                f"{self.MAXDIM}."
            )
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        if scramble and seed is None:
            seed = int(randint(2**31, (1,)))
        sobol = import_module("scipy.stats.qmc").Sobol
        self._points = sobol(dimension, scramble=scramble, rng=seed)

    @property
    def num_generated(self) -> int:
        """The number of points that were drawn or skipped."""
        return int(self._points.num_generated)

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """Return the next `n` points, a tensor of shape [n, dimension]."""
        with warnings.catch_warnings():
            # SciPy would warn of each number of points that is no power of 2.
            warnings.simplefilter("ignore")
            points = from_numpy(self._points.random(n)).to(dtype or _default())
        return points if out is None else out.copy_(points)

    def draw_base2(
        self, m: int, out: Tensor | None = None, dtype: Any = None
    ) -> Tensor:
        """Return the next 2^m points, a tensor of shape [2^m, dimension].

        Raises
        ------
        ValueError
            If the total number of points would then not be a power of two.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                f"SobolEngine.draw_base2: {self.num_generated} points were drawn, and "
                f"with {n} more the total is not a power of two. Use draw(), or "
                "reset()."
            )
        return self.draw(n, out, dtype)

    def reset(self) -> SobolEngine:
        """Restart the sequence; return the engine."""
        self._points.reset()
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Skip `n` points; return the engine."""
        self._points.fast_forward(n)
        return self

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"SobolEngine({', '.join(parts)})"
