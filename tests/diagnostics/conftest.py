# SPDX-License-Identifier: MIT
"""Fixtures that core's tests have as well."""

from tests.core.conftest import install

__all__ = ["install"]
