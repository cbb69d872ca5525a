# SPDX-License-Identifier: MIT
"""Modules made without initial values."""

from __future__ import annotations

from typing import Any, TypeVar

from autocalc._tensor.checks import short
from autocalc.errors import DTypeError
from autocalc.nn._init import SKIPPED
from autocalc.nn._module.module import Module

M = TypeVar("M", bound=Module)


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """Make a module with uninitialised parameters, into which you load values later.

    The functions of `nn.init` do nothing meanwhile, and no random numbers are drawn.

    Parameters
    ----------
    module_cls
        The class of the module.
    *args, **kwargs
        The arguments of the class.

    Raises
    ------
    DTypeError
        If `module_cls` is not a subclass of `Module`.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.skip_init(ac.nn.Linear, 5, 1, bias=False)
    >>> layer.load_state_dict({"weight": ac.ones(1, 5)})
    <All keys matched successfully>
    """
    kind: Any = module_cls
    if not isinstance(kind, type) or not issubclass(kind, Module):
        raise DTypeError(
            f"skip_init: `module_cls` is {short(module_cls)}; it must be a class of "
            f"modules, such as nn.Linear."
        )
    token = SKIPPED.set(True)
    try:
        return module_cls(*args, **kwargs)
    finally:
        SKIPPED.reset(token)
