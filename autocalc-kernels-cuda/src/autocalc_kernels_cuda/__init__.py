# SPDX-License-Identifier: MIT
"""An NVIDIA GPU as a kernel set of AutoCalc; `_plugin` is where it starts.

>>> import autocalc_kernels_cuda as cuda
>>> cuda.tf32_allowed()
False
>>> with cuda.tf32():  # tensor cores, for products of float32: about 3 digits
...     cuda.tf32_allowed()
True
"""

from __future__ import annotations

from autocalc_kernels_cuda._tf32 import allowed as tf32_allowed
from autocalc_kernels_cuda._tf32 import tf32

__all__ = ["tf32", "tf32_allowed"]
