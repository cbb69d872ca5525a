# SPDX-License-Identifier: MIT
"""What tests take of the kernel table: specs, samples, references and their oracle.

Where core keeps these is known here alone.
"""

from __future__ import annotations

from autocalc._kernels import adapter, xp
from autocalc._kernels._plugin import autocalc_kernel_sets, load
from autocalc._kernels.adapter import adapt, quietly
from autocalc._kernels.kernel_set import MAX_DIMS
from autocalc._kernels.philox import philox_words
from autocalc._kernels.rules import MOST_DIMS
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Meta, Sample, Work, meta_of, parse_signature
from autocalc._kernels.table import PRIMITIVES, TABLE

__all__ = [
    "MAX_DIMS",
    "MOST_DIMS",
    "PRIMITIVES",
    "TABLE",
    "Make",
    "Meta",
    "Sample",
    "Work",
    "adapt",
    "adapter",
    "autocalc_kernel_sets",
    "load",
    "meta_of",
    "parse_signature",
    "philox_words",
    "quietly",
    "xp",
]
