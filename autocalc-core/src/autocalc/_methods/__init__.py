# SPDX-License-Identifier: MIT
"""The methods of `Tensor`, which are attached once all operators exist.

Imports operators and `autograd`.  Most methods are operators themselves, which declare
them (`_ops/_operator/method.py`).  The classes here contain methods that are not
functions.  `_tensor/interface.py` has the types of all; ``make interface`` writes it.
"""

from __future__ import annotations

from typing import Any

from autocalc._absent import refusals
from autocalc._methods import (
    conversions,
    creation,
    gradients,
    memory,
    properties,
    sparse,
)
from autocalc._ops._operator.method import IN_PLACE, METHODS
from autocalc._ops.activations import thresholds
from autocalc._ops.in_place import _inplace_indices, _inplace_shapes, _reductions
from autocalc._ops.in_place._inplace import in_place
from autocalc._ops.matrices import older_factors
from autocalc._ops.views import windows
from autocalc._tensor import Tensor

#: Modules that declare methods and that no public function needs.
DECLARING = (
    *(_inplace_indices, _inplace_shapes, _reductions),
    *(older_factors, thresholds, windows),
)

#: Classes whose members become members of `Tensor`.
CLASSES = (
    conversions.Conversions,
    creation.Creation,
    gradients.Gradients,
    memory.Memory,
    properties.Properties,
    sparse.Sparse,
)

#: Members that every class defines for itself.
_OWN = {"__slots__", "__module__", "__doc__", "__qualname__", "__dict__", "__weakref__"}


def members() -> dict[str, Any]:
    """Return the members that `Tensor` receives, by name."""
    plain = {k: v for cls in CLASSES for k, v in vars(cls).items() if k not in _OWN}
    made: dict[Any, Any] = {}
    written: dict[str, Any] = {}
    for name, function in IN_PLACE.items():
        key = function, name.startswith("__")
        where = next(other for other, one in IN_PLACE.items() if one is function)
        if key not in made:
            made[key] = in_place(where, function, as_operator=key[1])
        written[name] = made[key]
    return plain | METHODS | written


def attach() -> None:
    """Make the methods members of `Tensor`, including those that refuse to run."""
    for name, member in members().items():
        setattr(Tensor, name, member)
    for name, refusal in refusals("autocalc.Tensor"):
        setattr(Tensor, name, refusal)
