# SPDX-License-Identifier: MIT
"""Names in a `state_dict`: prefixes that a wrapper added."""

from __future__ import annotations

from typing import Any


def consume_prefix_in_state_dict_if_present(
    state_dict: dict[str, Any], prefix: str
) -> None:
    """Take a prefix away from the names of a state, in place.

    `DistributedDataParallel` and `DataParallel` put ``"module."`` before all names.

    Parameters
    ----------
    state_dict
        The state; its order stays.
    prefix
        The beginning that is taken away; names without it stay as they are.

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
