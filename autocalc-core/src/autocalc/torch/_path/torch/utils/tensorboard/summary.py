# SPDX-License-Identifier: MIT
"""`torch.utils.tensorboard.summary`: the settings of a run, encoded."""

from autocalc.torch import _mentioned
from autocalc.utils.tensorboard._shown import hparams as hparams

__getattr__ = _mentioned.names_of(__name__)
