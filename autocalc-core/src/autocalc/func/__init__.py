# SPDX-License-Identifier: MIT
"""Functions that transform functions: derivatives and batches, which can be combined.

`grad`, `vjp` and `jvp` return derivatives, `jacrev`, `jacfwd` and `hessian` matrices of
derivatives, and `vmap` runs a function of one example on many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc._batching.calls import loops
from autocalc.func._jacobians import hessian, jacfwd, jacrev
from autocalc.func._modules import (
    functionalize,
    replace_all_batch_norm_modules_,
    stack_module_state,
)
from autocalc.func._transforms import grad, grad_and_value, jvp, linearize, vjp
from autocalc.func._vmap import vmap
from autocalc.nn._module.functional_call import functional_call

__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "loops",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)
