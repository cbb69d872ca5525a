# SPDX-License-Identifier: MIT
"""The SIMD package's loader, hook and fuser; tests that import this need it."""

from __future__ import annotations

import pytest

chains = pytest.importorskip("autocalc_kernels_simd._chains")
loader = pytest.importorskip("autocalc_kernels_simd._loader")
plugin = pytest.importorskip("autocalc_kernels_simd._plugin")
