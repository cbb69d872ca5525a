# SPDX-License-Identifier: MIT
"""`torch.autograd.forward_ad`: queries of tensors, which never have tangents here."""

from __future__ import annotations

from typing import Any, NamedTuple

from autocalc import Tensor
from autocalc.torch import _mentioned


class UnpackedDualTensor(NamedTuple):
    """A tensor and its tangent."""

    primal: Tensor
    tangent: Tensor | None


def unpack_dual(tensor: Tensor, *, level: Any = None) -> UnpackedDualTensor:
    """Return the tensor: it has no tangent."""
    return UnpackedDualTensor(tensor, None)


__getattr__ = _mentioned.names_of(__name__)
