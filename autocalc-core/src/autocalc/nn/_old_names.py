# SPDX-License-Identifier: MIT
"""Functions under their old names, with the warnings of PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from autocalc._ops.images.resizing import interpolate
from autocalc.nn import _init, _init_matrices
from autocalc.nn._clip import clip_grad_norm_
from autocalc.nn._module.functional_call import functional_call as called_with

#: The docstring of an old name; the text in the braces is replaced.
_DOCUMENTATION = """The deprecated name of `{new}`; a call issues a warning.

Parameters
----------
{parameters}
    The same as for `{new}`.

Examples
--------
>>> import warnings
>>> import autocalc as ac
>>> with warnings.catch_warnings(record=True) as caught:
...     warnings.simplefilter("always")
...     found = ac.nn.{place}.{old}({arguments})
>>> caught[0].category.__name__
'{category}'
"""


def _old(
    place: str,
    function: Callable[..., Any],
    arguments: str = "ac.empty(4, 3)",
    *,
    name: str | None = None,
    **fixed: Any,
) -> Callable[..., Any]:
    """Return a function under its old name, `nn.{place}.{name}`, with a warning.

    The default name is the current one without the underscore.  The old function does
    not have the `fixed` parameters; it passes these values.  The example in its
    docstring calls it with `arguments`.
    """
    new = function.__name__
    old = name or new.removesuffix("_")
    category = UserWarning if name else FutureWarning
    message = f"`nn.{place}.{old}` is now deprecated in favor of `nn.{place}.{new}`."
    if name:
        message = f"`nn.{place}.{old}` is deprecated. Use `nn.{place}.{new}` instead."
    given = signature(function)
    kept = [p for p in given.parameters.values() if p.name not in fixed]
    own = given.replace(parameters=kept)

    def call(*args: Any, **words: Any) -> Any:
        warnings.warn(message, category, stacklevel=2)
        bound = own.bind(*args, **words)
        return function(**bound.arguments, **fixed)

    call.__name__ = call.__qualname__ = old
    call.__signature__ = own  # type: ignore[attr-defined]  # what `inspect` reads
    call.__doc__ = _DOCUMENTATION.format(
        place=place,
        old=old,
        new=new,
        parameters=", ".join(own.parameters),
        arguments=arguments,
        category=category.__name__,
    )
    return call


constant = _old("init", _init.constant_, "ac.empty(4, 3), 0.5")
dirac = _old("init", _init_matrices.dirac_, "ac.empty(4, 4, 3)")
eye = _old("init", _init.eye_)
kaiming_normal = _old("init", _init.kaiming_normal_)
kaiming_uniform = _old("init", _init.kaiming_uniform_)
normal = _old("init", _init.normal_)
orthogonal = _old("init", _init_matrices.orthogonal_)
sparse = _old("init", _init_matrices.sparse_, "ac.empty(4, 3), 0.5")
uniform = _old("init", _init.uniform_)
xavier_normal = _old("init", _init.xavier_normal_)
xavier_uniform = _old("init", _init.xavier_uniform_)

clip_grad_norm = _old("utils", clip_grad_norm_, "[ac.ones(2)], 5.0")


@wraps(called_with)
def functional_call(*args: Any, **words: Any) -> Any:
    """Call `func.functional_call`; the old place of this function issues a warning."""
    warnings.warn(
        "`nn.utils.stateless.functional_call` is deprecated. Please use "
        "`torch.func.functional_call` instead.",
        FutureWarning,
        stacklevel=2,
    )
    return called_with(*args, **words)


#: Parameters that `interpolate` got later.
_LATER = {"recompute_scale_factor": None, "antialias": False}

upsample = _old(
    "functional",
    interpolate,
    "ac.ones(1, 1, 2), scale_factor=2",
    name="upsample",
    **_LATER,
)
upsample_nearest = _old(
    "functional",
    interpolate,
    "ac.ones(1, 1, 2), scale_factor=2",
    name="upsample_nearest",
    mode="nearest",
    align_corners=None,
    **_LATER,
)
upsample_bilinear = _old(
    "functional",
    interpolate,
    "ac.ones(1, 1, 2, 2), size=3",
    name="upsample_bilinear",
    mode="bilinear",
    align_corners=True,
    **_LATER,
)
