# SPDX-License-Identifier: MIT
"""Formats the numbers of one tensor as texts with a common form and width."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple


class Form(NamedTuple):
    """The form in which a tensor's elements are written: padded to `width`, or not."""

    width: int
    text: Callable[[Any], str]
    pads: bool = True

    def __call__(self, value: Any) -> str:
        """Return the text of one element."""
        text = self.text(value)
        return text.rjust(self.width) if self.pads else text


def form_of(values: list[Any], precision: int, sci_mode: bool | None) -> Form:
    """Return the common form of `values`: all bool, all int, all float or complex."""
    if values and isinstance(values[0], complex):
        return _form_of_complex(values, precision, sci_mode)
    if not values or not isinstance(values[0], float):
        return Form(max(map(len, map(str, values)), default=1), str)
    counting = [v for v in values if v and math.isfinite(v)]
    if not counting:
        return Form(1, _whole)
    whole = all(v.is_integer() for v in counting)
    exponents = _needs_exponents(counting, whole) if sci_mode is None else sci_mode
    code = f"{{:.{precision}{'e' if exponents else 'f'}}}"
    text = _whole if whole and not exponents else code.format
    return Form(max(len(text(v)) for v in counting), text)


def _form_of_complex(
    values: list[complex], precision: int, sci_mode: bool | None
) -> Form:
    """Return the form of complex numbers, whose parts have forms of their own."""
    real = form_of([z.real for z in values], precision, sci_mode)
    imag = form_of([z.imag for z in values], precision, sci_mode)

    def text(z: complex) -> str:
        below = imag.text(z.imag)
        sign = "" if below.startswith(("-", "+")) else "+"
        return f"{real.text(z.real).rjust(real.width)}{sign}{below}j"

    return Form(real.width + imag.width + 1, text, pads=False)


def _needs_exponents(values: list[float], whole: bool) -> bool:
    """Return whether numbers are too large, too small or too different for digits."""
    sizes = [abs(v) for v in values]
    large, small = max(sizes), min(sizes)
    return large / small > 1000 or large > 1e8 or (not whole and small < 1e-4)


def _whole(value: float) -> str:
    """Return a whole number with a point after it, or a name such as inf."""
    text = f"{value:.0f}"
    return f"{text}." if math.isfinite(value) else text
