# SPDX-License-Identifier: MIT
"""`torch.distributed.tensor`: the classes for plans; other names are stand-ins."""

from torch.distributed.tensor.placement_types import Partial as Partial
from torch.distributed.tensor.placement_types import Placement as Placement
from torch.distributed.tensor.placement_types import Replicate as Replicate
from torch.distributed.tensor.placement_types import Shard as Shard

from autocalc.torch import _mentioned

__getattr__ = _mentioned.names_of(__name__)
