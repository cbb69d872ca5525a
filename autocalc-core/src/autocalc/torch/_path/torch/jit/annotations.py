# SPDX-License-Identifier: MIT
"""`torch.jit.annotations`: annotation types for lists of a fixed length."""

from __future__ import annotations

from typing import Any
from typing import Dict as Dict
from typing import List as List
from typing import Optional as Optional
from typing import Tuple as Tuple


class _List:
    """``BroadcastingList2[int]``: a list of two, or one number for both."""

    def __getitem__(self, kind: Any) -> Any:
        return list[kind]


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _List()
