# SPDX-License-Identifier: MIT
"""`torch.utils.data._utils.collate`: functions that make batches of samples."""

from __future__ import annotations

import re

from autocalc.data import default_collate as default_collate
from autocalc.data import default_convert as default_convert

np_str_obj_array_pattern = re.compile(r"[SaUO]")
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or "
    "lists; found {}"
)
