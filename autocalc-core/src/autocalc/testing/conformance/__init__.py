# SPDX-License-Identifier: MIT
"""The conformance kit: proves that a kernel set computes what the kernel table says.

For a kernel package's author it is one command::

    pytest --pyargs autocalc.testing.conformance --kernels NAME

NAME is a kernel set, or a family (then its best set on this CPU).  Every kernel that
the set offers runs over the samples of its spec.  They have empty and single
dimensions, lengths around every vector width, unaligned and non-contiguous operands.
They have NaN, infinities, subnormals, signed zeros, and each pattern of absent
operands.  Results are held to the spec's error budget against the reference in the next
wider precision.  The run ends with the worst error of each kernel, in units in the last
place.  Another process watches, and names kernel and sample where one crashes or runs
longer than ``--sample-seconds``.

Attributes
----------
CHECKS
    Name -> ``check(subject, spec, dtype)``; raises `AssertionError` where the set fails
    and `Inapplicable` where the check has nothing to look at.
"""

from __future__ import annotations

from autocalc.testing.conformance._catalogue import CHECKS, applies
from autocalc.testing.conformance._halves import dtypes_of
from autocalc.testing.conformance._subject import Inapplicable, Refused, Subject

__all__ = ["CHECKS", "Inapplicable", "Refused", "Subject", "applies", "dtypes_of"]
