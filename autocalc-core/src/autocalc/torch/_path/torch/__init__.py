# SPDX-License-Identifier: MIT
"""AutoCalc under PyTorch's name: the result of `import torch` with `autocalc.torch`.

Its folder is on the import path, so that other processes find it, too.
"""

from autocalc import torch as _autocalc_torch

_autocalc_torch.install()
_autocalc_torch.fill(globals())
