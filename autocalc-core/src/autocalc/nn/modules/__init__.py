# SPDX-License-Identifier: MIT
"""PyTorch's place for modules: what `autocalc.nn` holds, and its files."""

from autocalc.nn import *  # noqa: F403  # its __all__ names them
from autocalc.nn import __all__ as __all__

# They are found as attributes, too: `nn.modules.batchnorm._BatchNorm`.
from autocalc.nn.modules import (  # type: ignore[no-redef]  # noqa: F401  # `utils`
    activation,
    adaptive,
    batchnorm,
    channelshuffle,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    linear,
    loss,
    module,
    normalization,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
    utils,
)
