# SPDX-License-Identifier: MIT
"""A weight that is divided by its largest singular value before each forward."""

from __future__ import annotations

from typing import Any, TypeVar

from autocalc._graph._grad_mode import no_grad
from autocalc._ops.matrices.distance import normalize
from autocalc._ops.random.random_draws import randn
from autocalc._tensor import RemovableHandle, Tensor
from autocalc._tensor.checks import number
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ModuleError
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter
from autocalc.nn.utils._parametrizations import (
    by_largest,
    direction,
    rows_along,
    spectral_arguments,
)

M = TypeVar("M", bound=Module)

#: The attribute in which a module keeps its norms, by the name of the weight.
_PLACE = "_spectral_norms"


class _SpectralNorm:
    """A hook that computes weight = W / (u^T W v); u and v are singular vectors."""

    def __init__(
        self, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> None:
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps
        self.handle: RemovableHandle | None = None

    def parts(self, module: Module) -> tuple[Tensor, Tensor, Tensor]:
        """Return the trained weight, u and v."""
        weight, u, v = (getattr(module, self.name + end) for end in self.endings)
        return weight, u, v

    #: The suffixes after the name of the weight.
    endings = ("_orig", "_u", "_v")

    def weight(self, module: Module, *, turn: bool) -> Tensor:
        """Return W / (u^T W v); if asked to, update u and v first."""
        weight, u, v = self.parts(module)
        matrix = rows_along(weight, self.dim)
        if turn:
            self.turn(matrix, u, v)
        u, v = u.clone(), v.clone()  # the next forward writes to them
        return by_largest(weight, matrix, u, v)

    def turn(self, matrix: Tensor, u: Tensor, v: Tensor) -> None:
        """Move v and u towards the singular vectors of the largest value."""
        with no_grad():
            matrix = matrix.detach()
            for _ in range(self.n_power_iterations):
                v.copy_(direction(u, matrix, self.eps))
                u.copy_(direction(matrix, v, self.eps))

    def __call__(self, module: Module, args: Any) -> None:
        """Set the weight; this is the hook."""
        setattr(module, self.name, self.weight(module, turn=module.training))


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a weight by its largest singular value before each forward.

    The parameter is renamed to ``name_orig``.  The buffers ``name_u`` and ``name_v``
    hold estimates of the singular vectors; each forward in training improves them by
    power iteration.  `parametrizations.spectral_norm` is the newer form.

    Miyato et al.: Spectral normalization for generative adversarial networks (ICLR
    2018).

    Parameters
    ----------
    module
        The module.  It is changed in place and returned.
    name
        The name of the parameter.
    n_power_iterations
        The number of power iterations in each forward; 1 or more.
    eps
        A lower limit of the norms by which vectors are divided.
    dim
        The dimension of the outputs.  The default is 0; for transposed convolutions it
        is 1.

    Raises
    ------
    ModuleError
        If the module has no such parameter, or if it has a spectral norm already.
    ArgumentError
        If an argument is out of range.
    DimensionError
        If the weight has no dimension `dim`.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.spectral_norm(ac.nn.Linear(5, 3), n_power_iterations=50)
    >>> _ = layer(ac.ones(1, 5))
    >>> round(ac.linalg.norm(layer.weight, 2).item(), 3)
    1.0
    >>> list(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    where = "spectral_norm"
    if name in getattr(module, "__dict__", {}).get(_PLACE, {}):
        raise ModuleError(
            f"{where}: Cannot register two spectral_norm hooks on the same parameter "
            f"{name!r}; call remove_spectral_norm() first."
        )
    weight, count, dim = spectral_arguments(
        where, module, name, n_power_iterations, dim
    )
    if not isinstance(weight, Parameter):
        known = ", ".join(module._parameters) or "none"
        raise ModuleError(
            f"{where}: {module._get_name()} has no parameter {name!r} without a weight "
            f"norm; it has {known}."
        )
    norm = _SpectralNorm(name, count, dim, number(where, "eps", eps))
    _take_apart(module, norm, weight)
    norm.handle = module.register_forward_pre_hook(norm)
    module.__dict__.setdefault(_PLACE, {})[name] = norm
    return module


def _take_apart(module: Module, norm: _SpectralNorm, weight: Parameter) -> None:
    """Replace the weight by the parameter, u and v, and by a plain tensor."""
    delattr(module, norm.name)
    module.register_parameter(f"{norm.name}_orig", weight)
    sizes = rows_along(weight.detach(), norm.dim).shape
    for end, size in zip(norm.endings[1:], sizes, strict=True):
        drawn = normalize(
            randn(size, dtype=weight.dtype, device=place_of_tensor(weight)),
            dim=0,
            eps=norm.eps,
        )
        module.register_buffer(norm.name + end, drawn)
    setattr(module, norm.name, weight.detach())


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Undo `spectral_norm`: store the current weight as an ordinary parameter.

    Parameters
    ----------
    module
        The module.  It is changed in place and returned.
    name
        The name of the parameter.

    Raises
    ------
    ModuleError
        If the parameter has no spectral norm.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.spectral_norm(ac.nn.Linear(5, 3))
    >>> list(ac.nn.utils.remove_spectral_norm(layer).state_dict())
    ['bias', 'weight']
    """
    norm = getattr(module, _PLACE, {}).pop(name, None)
    if norm is None:
        raise ModuleError(
            f"remove_spectral_norm: {type(module).__name__} has no spectral norm of "
            f"{name!r}; spectral_norm() adds it."
        )
    with no_grad():
        weight = norm.weight(module, turn=False)
    norm.handle.remove()
    for attribute in (name, *(name + end for end in norm.endings)):
        delattr(module, attribute)
    module.register_parameter(name, Parameter(weight.detach()))
    return module
