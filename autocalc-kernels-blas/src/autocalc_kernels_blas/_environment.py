# SPDX-License-Identifier: MIT
"""Environment variables that are set only while a library is being opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set `variables` in the ``with`` block, and restore the old values after it.

    ``os.environ`` calls ``putenv``, so the ``getenv`` of a C library sees them.
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
    """Return the value that the user gave `name`; None if it is unset or empty."""
    return os.environ.get(name) or None
