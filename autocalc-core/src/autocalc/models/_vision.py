# SPDX-License-Identifier: MIT
"""A transformer that sees: an image as a sequence of patches.

Dosovitskiy et al.: An image is worth 16x16 words (2020).  Shapes: B images of C
channels, H x W pixels; N patches of P x P pixels, d features.
"""

from __future__ import annotations

from collections.abc import Sequence

from autocalc import nn
from autocalc._ops.creation.constants import empty
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, ShapeError
from autocalc.models._decoder import Attention, Block, GELUFeedForward
from autocalc.nn import init


class VisionTransformer(nn.Module):
    """Vision transformer: classifies an image by attention between its patches.

    For images (B, C, H, W), which are cut into N patches of P x P pixels, the model
    computes::

        x = patches W_p^T + b_p + positions     (B, N, d), N = (H / P) (W / P)
        x = Block_L(...(Block_1(x)))            every patch sees every other
        logits = mean(Norm(x)) W^T + b          (B, classes)

    The original paper uses a separate class token instead of the mean over all patches.
    Appendix D.3 of the paper shows that both work equally well.

    Dosovitskiy et al.: An image is worth 16x16 words (2020).

    Parameters
    ----------
    classes
        The number of classes.
    size
        The height and the width of the images; multiples of `patch`.
    patch
        The height and the width P of a patch.
    d_model, heads, layers
        The numbers of features d, of heads and of blocks L.  d is a multiple of
        `heads`.
    d_ff
        The number of hidden features of the feed-forward part.  The default is 2 d.
    channels
        The number of channels of the images.
    dropout
        The probability that an attention weight is set to 0 in training.

    Raises
    ------
    ArgumentError
        If `size` is not a multiple of `patch`, or if `d_model` is not a multiple of
        `heads`.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.models.VisionTransformer(layers=1)
    >>> model(ac.zeros(2, 1, 28, 28)).shape
    autocalc.Size([2, 10])
    """

    def __init__(
        self,
        classes: int = 10,
        size: Sequence[int] = (28, 28),
        patch: int = 4,
        d_model: int = 64,
        heads: int = 4,
        layers: int = 4,
        d_ff: int | None = None,
        *,
        channels: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        _check_sizes(size, patch, d_model, heads)
        d_ff = 2 * d_model if d_ff is None else d_ff
        self.image, self.patch = (channels, *size), patch
        height, width = size
        places = (height // patch) * (width // patch)
        self.embed = nn.Linear(channels * patch * patch, d_model)
        self.positions = nn.Parameter(empty(places, d_model))
        self.blocks = nn.Sequential(
            *(
                Block(
                    Attention(d_model, heads, heads, dropout, True, causal=False),
                    GELUFeedForward(d_model, d_ff, True),
                    (nn.LayerNorm(d_model), nn.LayerNorm(d_model)),
                )
                for _ in range(layers)
            )
        )
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, classes)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values for all weights.

        The positions are normal random numbers with standard deviation 0.02.  The
        layers have their usual initial values.
        """
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.LayerNorm)):
                module.reset_parameters()
        init.normal_(self.positions, 0.0, 0.02)

    def patches(self, x: Tensor) -> Tensor:
        """Return the patches (B, N, C P P) of images (B, C, H, W)."""
        channels, height, width = self.image
        p = self.patch
        cut = x.reshape(-1, channels, height // p, p, width // p, p)
        return cut.permute(0, 2, 4, 1, 3, 5).reshape(
            x.shape[0], len(self.positions), channels * p * p
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (B, classes) for images (B, C, H, W)."""
        if x.ndim != 4 or x.shape[1:] != self.image:
            raise ShapeError(
                f"VisionTransformer: the images have shape {x.shape}; they must be "
                f"(B, {', '.join(map(str, self.image))})."
            )
        features = self.blocks(self.embed(self.patches(x)) + self.positions)
        logits: Tensor = self.head(self.norm(features).mean(1))
        return logits


def _check_sizes(size: Sequence[int], patch: int, d_model: int, heads: int) -> None:
    if len(size) != 2 or patch < 1 or any(n < patch or n % patch for n in size):
        raise ArgumentError(
            f"VisionTransformer: `size` is {tuple(size)} and `patch` is {patch}; "
            "`size` must be (height, width), both multiples of `patch`."
        )
    if heads < 1 or d_model < 1 or d_model % heads:
        raise ArgumentError(
            f"VisionTransformer: d_model={d_model}, heads={heads}; d_model must be a "
            f"multiple of heads, both at least 1."
        )
