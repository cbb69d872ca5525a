# SPDX-License-Identifier: MIT
"""`torch.storage`: the memory of tensors."""

from autocalc import TypedStorage as TypedStorage
from autocalc import UntypedStorage as UntypedStorage
from autocalc.torch import _mentioned

__getattr__ = _mentioned.names_of(__name__)
