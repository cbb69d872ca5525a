# SPDX-License-Identifier: MIT
"""`torch._tensor_str`: print options of tensors for a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autocalc._tensor import printing
from autocalc.torch import _mentioned


@contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Set options of `set_printoptions` in a ``with`` block."""
    before = printing.current_options()
    printing.set_printoptions(**kwargs)
    try:
        yield
    finally:
        printing.restore(before)


__getattr__ = _mentioned.names_of(__name__)
