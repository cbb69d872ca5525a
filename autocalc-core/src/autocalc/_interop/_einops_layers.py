# SPDX-License-Identifier: MIT
"""Layers of einops as modules: ``from einops.layers.autocalc import Rearrange``."""

from __future__ import annotations

from typing import Any

from einops.layers import RearrangeMixin, ReduceMixin
from einops.layers._einmix import _EinmixMixin

from autocalc import nn
from autocalc._ops.creation.constants import empty
from autocalc._ops.matrices.einsum import einsum
from autocalc._tensor import Tensor

__all__ = ["EinMix", "Rearrange", "Reduce"]


class Rearrange(RearrangeMixin, nn.Module):
    """``einops.rearrange`` as a module."""

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, rearranged."""
        result: Tensor = self._apply_recipe(input)  # type: ignore[no-untyped-call]
        return result


class Reduce(ReduceMixin, nn.Module):
    """``einops.reduce`` as a module."""

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` reduced."""
        result: Tensor = self._apply_recipe(input)  # type: ignore[no-untyped-call]
        return result


class EinMix(_EinmixMixin, nn.Module):
    """A linear layer between any axes, described by a pattern; see einops' EinMix."""

    def _create_parameters(
        self,
        weight_shape: list[int],
        weight_bound: float,
        bias_shape: list[int] | None,
        bias_bound: float,
    ) -> None:
        self.weight = nn.Parameter(_uniform(weight_shape, weight_bound))
        self.bias = (
            None
            if bias_shape is None
            else nn.Parameter(_uniform(bias_shape, bias_bound))
        )

    def _create_rearrange_layers(
        self,
        pre_reshape_pattern: str | None,
        pre_reshape_lengths: dict[str, Any] | None,
        post_reshape_pattern: str | None,
        post_reshape_lengths: dict[str, Any] | None,
    ) -> None:
        self.pre_rearrange = _rearrange(pre_reshape_pattern, pre_reshape_lengths)
        self.post_rearrange = _rearrange(post_reshape_pattern, post_reshape_lengths)

    def forward(self, input: Tensor) -> Tensor:
        """Return the sum of products that the pattern describes, plus the bias."""
        if self.pre_rearrange is not None:
            input = self.pre_rearrange(input)
        result = einsum(self.einsum_pattern, input, self.weight)
        if self.bias is not None:
            result = result + self.bias
        return result if self.post_rearrange is None else self.post_rearrange(result)


def _uniform(shape: list[int], bound: float) -> Tensor:
    return empty(*shape).uniform_(-bound, bound)


def _rearrange(pattern: str | None, lengths: dict[str, Any] | None) -> Any:
    return None if pattern is None else Rearrange(pattern, **(lengths or {}))
