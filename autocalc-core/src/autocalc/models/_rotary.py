# SPDX-License-Identifier: MIT
"""Rotary positions: queries and keys are turned by angles that grow with the place."""

from __future__ import annotations

from autocalc import nn
from autocalc._ops.attention.rotary import rotary_embedding
from autocalc._ops.creation.ranges import arange
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError


class Rotary(nn.Module):
    """Rotary position embedding: rotates pairs of features by an angle.

    At position p, the features (i, i + D/2) are rotated by the angle p * base^(-2 i /
    D). So the product of a rotated query and a rotated key depends only on the distance
    between their positions.

    Su et al.: RoFormer (2021), equation 34.

    Parameters
    ----------
    context
        The largest number of positions.
    features
        The number of features D; an even number.
    base
        The base of the angles in the formula above.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.models._rotary import Rotary
    >>> x = ac.randn(1, 5, 2, 8)  # [B, S, H, D]
    >>> Rotary(16, 8)(x).shape
    autocalc.Size([1, 5, 2, 8])
    """

    cos: Tensor
    sin: Tensor

    def __init__(self, context: int, features: int, base: float = 10000.0) -> None:
        super().__init__()
        if features % 2:
            raise ArgumentError(
                f"Rotary: {features} features for each head; they are rotated in "
                "pairs, so the number must be even."
            )
        steps = base ** (arange(0.0, features, 2) / -features)
        angles = arange(float(context)).reshape(-1, 1) * steps  # [S, D/2]
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Return x of shape (B, S, H, D), rotated; the first position is `start`."""
        stop = start + x.shape[1]
        return rotary_embedding(x, self.cos[start:stop], self.sin[start:stop])
