# SPDX-License-Identifier: MIT
"""The weight of ones and the bias of zeros that norms have."""

from __future__ import annotations

from autocalc._ops.creation.constants import empty
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.nn import _init
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter


class Scaled(Module):
    """The base of norms: a module with an optional weight and an optional bias."""

    weight: Parameter | None
    bias: Parameter | None

    def _add_parameters(
        self,
        shape: tuple[int, ...],
        device: str | Device | None,
        dtype: DType | None,
        **present: bool,
    ) -> None:
        """Register parameters by name; absent ones are None."""
        for name, there in present.items():
            parameter = (
                Parameter(empty(*shape, dtype=dtype, device=device)) if there else None
            )
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0, where they exist."""
        if self._parameters["weight"] is not None:
            _init.ones_(self._parameters["weight"])
        if self._parameters.get("bias") is not None:
            _init.zeros_(self._parameters["bias"])
