# SPDX-License-Identifier: MIT
"""`torch.utils.data._utils`: the place of `collate`."""

from torch.utils.data._utils import collate as collate
