# SPDX-License-Identifier: MIT
"""The names that initialisers had before they ended in an underscore."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

from autocalc.nn import _init, _init_matrices

#: The docstring of an old name; the text in the braces differs.
_DOCUMENTATION = """Do what `{new}` does, with a warning: an old name.

Examples
--------
>>> import warnings
>>> import autocalc as ac
>>> with warnings.catch_warnings(record=True) as caught:
...     warnings.simplefilter("always")
...     w = ac.nn.init.{old}({arguments})
>>> caught[0].category.__name__
'FutureWarning'
"""


def _old(
    function: Callable[..., Any], arguments: str = "ac.empty(4, 3)"
) -> Callable[..., Any]:
    """Return `function` under its name without the underscore, with a warning.

    The example in its docstring calls it with `arguments`.
    """
    new = function.__name__
    old = new.removesuffix("_")

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = old
    call.__module__ = __name__
    call.__doc__ = _DOCUMENTATION.format(new=new, old=old, arguments=arguments)
    return call


constant = _old(_init.constant_, "ac.empty(4, 3), 0.5")
dirac = _old(_init_matrices.dirac_, "ac.empty(4, 4, 3)")
eye = _old(_init.eye_)
kaiming_normal = _old(_init.kaiming_normal_)
kaiming_uniform = _old(_init.kaiming_uniform_)
normal = _old(_init.normal_)
orthogonal = _old(_init_matrices.orthogonal_)
sparse = _old(_init_matrices.sparse_, "ac.empty(4, 3), 0.5")
uniform = _old(_init.uniform_)
xavier_normal = _old(_init.xavier_normal_)
xavier_uniform = _old(_init.xavier_uniform_)
