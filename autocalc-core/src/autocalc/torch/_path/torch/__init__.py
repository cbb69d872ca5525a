# SPDX-License-Identifier: MIT
"""AutoCalc under PyTorch's name: what `import torch` gives where `autocalc.torch` runs.

Its folder is on the path of imports, so that other processes find it as well.
"""

from autocalc import torch as _autocalc_torch

_autocalc_torch.install()
_autocalc_torch.fill(globals())
