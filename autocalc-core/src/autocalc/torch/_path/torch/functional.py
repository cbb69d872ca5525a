# SPDX-License-Identifier: MIT
"""`torch.functional`: the module where PyTorch defines some functions of `torch`."""

from autocalc import atleast_1d as atleast_1d
from autocalc import atleast_2d as atleast_2d
from autocalc import atleast_3d as atleast_3d
from autocalc import block_diag as block_diag
from autocalc import broadcast_shapes as broadcast_shapes
from autocalc import broadcast_tensors as broadcast_tensors
from autocalc import cartesian_prod as cartesian_prod
from autocalc import cdist as cdist
from autocalc import chain_matmul as chain_matmul
from autocalc import einsum as einsum
from autocalc import lu as lu
from autocalc import meshgrid as meshgrid
from autocalc import norm as norm
from autocalc import split as split
from autocalc import tensordot as tensordot
from autocalc import unique as unique
from autocalc import unique_consecutive as unique_consecutive
from autocalc import unravel_index as unravel_index
from autocalc.torch import _mentioned

__getattr__ = _mentioned.names_of(__name__)
