# SPDX-License-Identifier: MIT
"""`torch.utils.data._utils`: the parent of `collate`."""

from torch.utils.data._utils import collate as collate
