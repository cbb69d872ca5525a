# SPDX-License-Identifier: MIT
"""Environment variables that hold for a moment: while a library is being opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set `variables` within the ``with`` block and put back what was there.

    ``os.environ`` calls ``putenv``, so a C library's ``getenv`` sees them.
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def users(name: str) -> str | None:
    """Return what the user set `name` to; None if it is unset or empty."""
    return os.environ.get(name) or None
