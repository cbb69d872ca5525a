# SPDX-License-Identifier: MIT
"""A kernel set's answer to a call: whether and how it runs it, or why not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._config import logger
from autocalc._dispatch.device.device import on_raw, reference_on
from autocalc._dispatch.plugins.precision import allows, deciding_precision
from autocalc._kernels.kernel_set import MAX_DIMS, DispatchKey, KernelImpl, KernelSet
from autocalc._kernels.spec import KernelSpec


def serves(kernel_set: KernelSet, device: str) -> bool:
    """Return whether a set accepts operands on a device."""
    return kernel_set.device == device or kernel_set.name == "reference"


def on_device(
    kernel_set: KernelSet, spec: KernelSpec, impl: KernelImpl, device: str
) -> Callable[..., Any]:
    """Return a kernel in the form that the dispatcher calls for a device's operands."""
    if kernel_set.name == "reference":
        return reference_on(device, spec)
    return on_raw(impl.function)


def too_imprecise(kernel_set: KernelSet) -> str | None:
    """Return why a set may not run under the current precision; None if it may."""
    if allows(kernel_set.precision):
        return None
    return (
        f"ac.set_float32_matmul_precision({kernel_set.precision!r}) would allow it, "
        f"and {deciding_precision()!r} is set"
    )


def refusal_of(impl: KernelImpl, key: DispatchKey) -> str | None:
    """Ask an implementation whether it refuses; an error in its answer is a refusal."""
    if impl.native is not None and (name := _without_code(key)):
        return f"the C form of kernels has no {name}"
    if impl.supports is None:
        return None
    try:
        return impl.supports(key)
    except Exception as error:
        logger("kernels").exception("supports() of %s failed", key.kernel)
        return f"its supports() raised {type(error).__name__}: {error}"


def _without_code(key: DispatchKey) -> str:
    """Return the name of a dtype that the C form of kernels cannot state, or ""."""
    for dtype in key.dtypes:
        if dtype is not None and dtype.kind == "u" and dtype.itemsize > 1:
            return str(dtype)
    return ""


def how(spec: KernelSpec, impl: KernelImpl | None, key: DispatchKey) -> str:
    """Return a text about how an accepted call runs."""
    if impl is None:
        return f"decomposed, lead {spec.lead}"
    way = None
    if impl.describe is not None:
        try:
            way = impl.describe(key)
        except Exception as error:
            logger("kernels").exception("describe() of %s failed", key.kernel)
            way = f"its describe() raised {type(error).__name__}: {error}"
    return "own kernel" if way is None else f"own kernel, {way}"


def can_decompose(spec: KernelSpec, key: DispatchKey) -> bool:
    """Return whether a spec's decomposition makes a call simpler.

    A primitive that is its own lead (gemm) can only be freed of optional parts:
    operands, accumulation, an activation, and more dimensions than native kernels
    support.  Without these, there is nothing to decompose.
    """
    if spec.lead != spec.name:
        return spec.decomposition is not None
    operands = zip((*spec.outputs, *spec.inputs), key.dtypes, strict=True)
    attributes = zip(spec.attributes, key.attributes, strict=False)
    return (
        bool(key.accumulate)
        or any(len(shape or ()) > MAX_DIMS for shape in key.shapes or ())
        or any(operand.optional and dtype is not None for operand, dtype in operands)
        or any(a.choices and value != a.choices[0] for a, value in attributes)
    )
