# SPDX-License-Identifier: MIT
"""What tests take of the conformance kit beyond its public names."""

from __future__ import annotations

from autocalc.testing.conformance import _floating_point as floating_point
from autocalc.testing.conformance._memory import LAYOUTS
from autocalc.testing.conformance._oracle import HAS_WIDER, expected, widened
from autocalc.testing.conformance._subject import limits_of

__all__ = ["HAS_WIDER", "LAYOUTS", "expected", "floating_point", "limits_of", "widened"]
