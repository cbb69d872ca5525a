# SPDX-License-Identifier: MIT
"""`torch._functorch`: the few names of PyTorch's transforms that programs use."""

from __future__ import annotations

from autocalc.torch import _mentioned

__getattr__ = _mentioned.names_of(__name__)
