# SPDX-License-Identifier: MIT
"""Core's engine; tests that import this are skipped where there is none."""

from __future__ import annotations

import pytest

native = pytest.importorskip("autocalc._native")
