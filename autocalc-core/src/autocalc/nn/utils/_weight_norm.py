# SPDX-License-Identifier: MIT
"""A weight as the product of a length and a direction."""

from __future__ import annotations

from typing import Any, TypeVar

from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.reductions import reduction
from autocalc._tensor import RemovableHandle, Tensor
from autocalc._tensor.checks import as_int, short
from autocalc.errors import DimensionError, ModuleError
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter
from autocalc.nn._module.uninitialized import is_lazy

M = TypeVar("M", bound=Module)

#: The attribute in which a module keeps its norms, by the name of the weight.
_PLACE = "_weight_norms"


@rounded_once
def lengthened(v: Tensor, g: Tensor, dim: int | None) -> Tensor:
    """Return g * v / |v|."""
    return arithmetic.mul(v, arithmetic.div_op(g, length_except(v, dim)))


@rounded_once
def length_except(v: Tensor, dim: int | None) -> Tensor:
    """Return the length of v over all dimensions but `dim`."""
    axes = tuple(i for i in range(v.ndim) if i != dim)
    if not axes:  # the only dimension stays: element by element
        return arithmetic.abs(v)
    total = reduction.sum(v * v, axes, dim is not None)
    return reduction.sqrt_zero_grad(total)


class _WeightNorm:
    """A hook that computes weight = g * v / |v| before each forward."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = dim
        self.handle: RemovableHandle | None = None

    def weight(self, module: Module) -> Tensor:
        """Return g * v / |v|."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return lengthened(v, g, self.dim)

    def __call__(self, module: Module, args: Any) -> None:
        """Set the weight; this is the hook."""
        setattr(module, self.name, self.weight(module))


def _check_module(where: str, module: Any) -> None:
    if not isinstance(module, Module):
        raise ModuleError(f"{where}: `module` is {short(module)}; it must be a module.")


def refuse_lazy(where: str, module: Module, weight: Any) -> None:
    """Raise if the shape of a weight is not known yet."""
    if is_lazy(weight):
        raise ModuleError(
            f"{where}: {type(module).__name__} must not have uninitialized parameters. "
            "Call it once on an example first."
        )


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Parametrize a weight as ``g * v / norm(v)``, where g is its length.

    v has the direction of the weight.

    The parameter is replaced by two, ``name_g`` and ``name_v``.  The weight is computed
    from them before each forward.  `parametrizations.weight_norm` is the newer form.

    Salimans, Kingma: Weight normalization (NeurIPS 2016).

    Parameters
    ----------
    module
        The module.  It is changed in place and returned.
    name
        The name of the parameter.
    dim
        The dimension along which the lengths g differ; usually that of the outputs.
        None means one length for the whole weight.

    Raises
    ------
    ModuleError
        If the module has no such parameter, or if it has a weight norm already.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.weight_norm(ac.nn.Linear(20, 40))
    >>> layer.weight_g.shape, layer.weight_v.shape
    (autocalc.Size([40, 1]), autocalc.Size([40, 20]))
    """
    _check_module("weight_norm", module)
    norms = module.__dict__.setdefault(_PLACE, {})
    weight = module._parameters.get(name)
    if name in norms:
        raise ModuleError(
            f"weight_norm: Cannot register two weight_norm hooks on the same parameter "
            f"{name!r}; call remove_weight_norm() first."
        )
    if weight is None:
        known = ", ".join(module._parameters) or "none"
        raise ModuleError(
            f"weight_norm: {module._get_name()} has no parameter {name!r} without a "
            f"weight norm; it has {known}."
        )
    refuse_lazy("weight_norm", module, weight)
    dim = None if dim is None else as_int("weight_norm", "dim", dim)
    if dim is not None and not -weight.ndim <= dim < weight.ndim:
        raise DimensionError(
            f"weight_norm: `dim`={dim} is out of range for {name!r} of shape "
            f"{weight.shape}."
        )
    norm = _WeightNorm(name, None if dim is None else dim % weight.ndim)
    delattr(module, name)
    length = length_except(weight.detach(), norm.dim)
    module.register_parameter(f"{name}_g", Parameter(length))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    norm(module, ())
    norm.handle = module.register_forward_pre_hook(norm)
    norms[name] = norm
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Undo `weight_norm`: store the weight as an ordinary parameter; return the module.

    Parameters
    ----------
    module
        The module.  It is changed in place and returned.
    name
        The name of the parameter.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.weight_norm(ac.nn.Linear(2, 3))
    >>> layer = ac.nn.utils.remove_weight_norm(layer)
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight']
    """
    _check_module("remove_weight_norm", module)
    norm = module.__dict__.get(_PLACE, {}).pop(name, None)
    if norm is None:
        raise ModuleError(
            f"remove_weight_norm: {module._get_name()} has no weight norm of {name!r}; "
            "weight_norm() adds it."
        )
    weight = norm.weight(module).detach()
    norm.handle.remove()
    for attribute in (name, f"{name}_g", f"{name}_v"):
        delattr(module, attribute)
    module.register_parameter(name, Parameter(weight))
    return module
