# SPDX-License-Identifier: MIT
"""PyTorch's place for modules: what `autocalc.nn` holds."""

from autocalc.nn import *  # noqa: F403  # its __all__ names them
from autocalc.nn import __all__ as __all__
