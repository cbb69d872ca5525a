# SPDX-License-Identifier: MIT
"""The conformance kit, which tests a kernel set against the kernel table.

The author of a kernel package runs one command::

    pytest --pyargs autocalc.testing.conformance --kernels NAME

NAME is a kernel set, or a family; for a family, its best set on this CPU is tested.
Every kernel of the set runs over the samples of its spec.  The samples have empty
dimensions and dimensions of 1, lengths around every vector width, and unaligned and
non-contiguous operands.  They also have NaN, infinities, subnormals, signed zeros, and
each pattern of absent operands.  The expected result is computed by the reference in
the next wider precision, and the error must be within the spec's error budget.  At the
end, the run prints the worst error of each kernel in units in the last place.  A second
process watches the run.  If a kernel crashes or runs longer than ``--sample-seconds``,
it names the kernel and the sample.

Attributes
----------
CHECKS
    The name of a check -> ``check(subject, spec, dtype)``.  A check raises
    `AssertionError` if the set fails, and `Inapplicable` if it does not apply.
"""

from __future__ import annotations

from autocalc.testing.conformance._catalogue import CHECKS, applies
from autocalc.testing.conformance._halves import dtypes_of
from autocalc.testing.conformance._subject import Inapplicable, Refused, Subject

__all__ = ["CHECKS", "Inapplicable", "Refused", "Subject", "applies", "dtypes_of"]
