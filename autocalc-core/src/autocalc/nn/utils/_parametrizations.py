# SPDX-License-Identifier: MIT
"""Weights parametrized by length and direction, or divided by their norm."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from autocalc._graph._grad_mode import no_grad
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.matrices import matmul
from autocalc._ops.matrices.distance import normalize
from autocalc._ops.random.random_draws import randn
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, check_type, number, require
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import DimensionError, ModuleError
from autocalc.nn._layers.convolutions.conv import ConvBase
from autocalc.nn._module.module import Module
from autocalc.nn.utils._parametrize import register_parametrization
from autocalc.nn.utils._weight_norm import length_except, lengthened, refuse_lazy

M = TypeVar("M", bound=Module)


def weight_of(where: str, module: Any, name: Any) -> Tensor:
    """Return the weight of a module, parametrized or not."""
    check_type(where, "module", module, Module, "a Module")
    weight = getattr(module, name, None) if isinstance(name, str) else None
    if not isinstance(weight, Tensor):
        raise ModuleError(f"{where}: {type(module).__name__} has no tensor {name!r}.")
    refuse_lazy(where, module, weight)
    return weight


class _WeightNorm(Module):
    """The map from a length g and a direction v to g * v / length(v)."""

    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return lengthened(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return the length and the weight."""
        return length_except(weight, self.dim), weight


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Parametrize a weight as ``g * v / norm(v)``, where g is its length.

    v has the direction of the weight.

    Salimans, Kingma: Weight normalization (NeurIPS 2016).

    Parameters
    ----------
    module
        The module.  It is changed in place and returned.
    name
        The name of the parameter.
    dim
        The dimension along which the lengths g differ; usually that of the outputs.
        None or -1 means one length for the whole weight.

    Raises
    ------
    ModuleError
        If the module has no such parameter.
    DimensionError
        If the parameter has no dimension `dim`.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.parametrizations.weight_norm(ac.nn.Linear(20, 40))
    >>> {key: tuple(x.shape) for key, x in layer.parametrizations.named_parameters()}
    {'weight.original0': (40, 1), 'weight.original1': (40, 20)}
    """
    weight = weight_of("weight_norm", module, name)
    if dim is not None and dim != -1:
        dim = as_int("weight_norm", "dim", dim)
        if not 0 <= dim < weight.ndim:
            raise DimensionError(
                f"weight_norm: `dim`={dim} is out of range for {name!r} of shape "
                f"{weight.shape}."
            )
    kept = None if dim == -1 else dim
    register_parametrization(module, name, _WeightNorm(kept), unsafe=True)
    module.register_load_state_dict_pre_hook(_OldNames(name))
    return module


class _OldNames:
    """A hook that loads states of `nn.utils.weight_norm`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(
        self, module: Module, state: dict[str, Any], prefix: str, *rest: Any
    ) -> None:
        del module, rest
        old = [f"{prefix}{self.name}_{letter}" for letter in "gv"]
        if all(key in state for key in old):
            for i, key in enumerate(old):
                new = f"{prefix}parametrizations.{self.name}.original{i}"
                state[new] = state.pop(key)


@rounded_once
def direction(a: Tensor, b: Tensor, eps: float) -> Tensor:
    """Return the product of a matrix and a vector, scaled to length 1."""
    return normalize(matmul.matmul(a, b), dim=0, eps=eps)


@rounded_once
def by_largest(weight: Tensor, matrix: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """Return W / (u^T W v); the matrix has the same elements as W."""
    return weight / matmul.matmul(u, matmul.matmul(matrix, v))


def rows_along(weight: Tensor, dim: int) -> Tensor:
    """Return a weight as a matrix whose rows are its slices along dimension `dim`."""
    order = [dim, *(i for i in range(weight.ndim) if i != dim)]
    rows = view.permute_op(weight, tuple(order))
    return view.reshape(rows, (rows.shape[0], math.prod(rows.shape[1:])))


def spectral_arguments(
    where: str, module: Any, name: Any, n_power_iterations: Any, dim: Any
) -> tuple[Tensor, int, int]:
    """Return weight, number of iterations and output dimension, all checked."""
    weight = weight_of(where, module, name)
    count = as_int(where, "n_power_iterations", n_power_iterations)
    require(where, "n_power_iterations", count, count >= 1, "1 or more")
    if dim is None:
        dim = 1 if isinstance(module, ConvBase) and module._transposed else 0
    dim = as_int(where, "dim", dim)
    if not -weight.ndim <= dim < weight.ndim:
        raise DimensionError(
            f"{where}: `dim`={dim} is out of range for {name!r} of shape "
            f"{weight.shape}."
        )
    return weight, count, dim % weight.ndim


class _SpectralNorm(Module):
    """W / sigma; sigma is the largest singular value, found by the power method."""

    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Tensor, n_power_iterations: int, dim: int, eps: float
    ) -> None:
        super().__init__()
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps
        if weight.ndim > 1:
            matrix = rows_along(weight.detach(), dim)
            for name, size in zip(("_u", "_v"), matrix.shape, strict=True):
                drawn = randn(size, dtype=weight.dtype, device=place_of_tensor(weight))
                self.register_buffer(name, normalize(drawn, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _iterate(self, matrix: Tensor, count: int) -> None:
        """Move u and v towards the singular vectors of the largest value."""
        with no_grad():
            matrix = matrix.detach()
            for _ in range(count):
                self._u.copy_(direction(matrix, self._v, self.eps))
                self._v.copy_(direction(self._u, matrix, self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = rows_along(weight, self.dim)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return by_largest(weight, matrix, u, v)

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return the value: a weight of norm 1 is not changed."""
        return value


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Parametrize a weight: divide it by its largest singular value.

    The singular value is estimated by power iteration.  In training, each access to the
    weight continues the iteration.  After `eval` the estimate is constant.

    Miyato et al.: Spectral normalization for generative adversarial networks (ICLR
    2018).

    Parameters
    ----------
    module
        The module.  It is changed in place and returned.
    name
        The name of the parameter.
    n_power_iterations
        The number of power iterations in each access to the weight; 1 or more.
    eps
        A lower limit of the norms by which vectors are divided.
    dim
        The dimension of the outputs.  The default is 0; for transposed convolutions it
        is 1.

    Raises
    ------
    ModuleError
        If the module has no such parameter.
    ArgumentError
        If an argument is out of range.
    DimensionError
        If the weight has no dimension `dim`.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.parametrizations.spectral_norm(ac.nn.Linear(5, 3))
    >>> round(ac.linalg.norm(layer.eval().weight, 2).item(), 2)
    1.0
    """
    where = "spectral_norm"
    weight, count, dim = spectral_arguments(
        where, module, name, n_power_iterations, dim
    )
    norm = _SpectralNorm(weight, count, dim, number(where, "eps", eps))
    register_parametrization(module, name, norm)
    return module
