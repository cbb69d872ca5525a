# SPDX-License-Identifier: MIT
"""PyTorch's place for the shuffle of channels."""

from autocalc.nn import ChannelShuffle

__all__ = ["ChannelShuffle"]
