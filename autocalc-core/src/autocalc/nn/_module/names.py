# SPDX-License-Identifier: MIT
"""Names in a `state_dict`: prefixes that a wrapper added."""

from __future__ import annotations

from typing import Any


def consume_prefix_in_state_dict_if_present(
    state_dict: dict[str, Any], prefix: str
) -> None:
    """Remove a prefix from the names in a `state_dict`, in place.

    `DistributedDataParallel` and `DataParallel` put ``"module."`` before all names.

    Parameters
    ----------
    state_dict
        The dict to change. The order of its entries stays the same.
    prefix
        The beginning that is removed. Names without it do not change.

    Examples
    --------
    >>> from autocalc.nn.modules.utils import consume_prefix_in_state_dict_if_present
    >>> state = {"module.weight": 1, "step": 2}
    >>> consume_prefix_in_state_dict_if_present(state, "module.")
    >>> state
    {'weight': 1, 'step': 2}
    """
    for names in (state_dict, getattr(state_dict, "_metadata", {})):
        items = list(names.items())
        names.clear()
        for name, value in items:
            whole = name == prefix.rstrip(".") and names is not state_dict
            names["" if whole else name.removeprefix(prefix)] = value
