# SPDX-License-Identifier: MIT
"""Layers that take their input size from the first input.

In the first call the parameters get their shapes and values, and the layer changes to
its ordinary class.
"""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_sizes
from autocalc._tensor import Tensor
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ShapeError
from autocalc.nn._layers.lazy.mixin import LazyModuleMixin
from autocalc.nn._layers.linear import Linear
from autocalc.nn._module.module import Module
from autocalc.nn._module.uninitialized import UninitializedParameter, is_lazy


class _Lazy(LazyModuleMixin, Module):
    """A layer that gets its parameters before the first forward, and then its class."""

    _sized: bool = False

    def _infer_parameters(
        self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        super()._infer_parameters(module, args, kwargs)
        del self._sized

    def initialize_parameters(
        self, input: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        """Derive the shapes of the parameters from `input`, and set initial values."""
        del args, kwargs
        size = self._size_of(check_tensor(type(self).__name__, input))
        shapes = self._shapes(size)
        self._sized = True
        if not self.has_uninitialized_params():
            return  # a state was loaded
        for registry in (self._parameters, self._buffers):
            for name, tensor in registry.items():
                if is_lazy(tensor):
                    tensor.materialize(shapes[name])
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values for all parameters whose shapes are known."""
        if self._sized:
            super().reset_parameters()  # type: ignore[misc]  # of the layer

    def _size_of(self, input: Tensor) -> int:
        """Return the size of the input; raise if the layer cannot take it."""
        raise NotImplementedError

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        """Store the size; return the shapes of parameters and buffers."""
        raise NotImplementedError

    def _empty(
        self, bias: bool, device: str | Device | None, dtype: DType | None
    ) -> None:
        """Set weight and bias to parameters without a shape."""
        for name in ("weight", "bias") if bias else ("weight",):
            self.register_parameter(
                name, UninitializedParameter(device=device, dtype=dtype)
            )


class LazyLinear(_Lazy, Linear):
    """A `Linear` layer that sets `in_features` at the first call, from the input.

    Parameters
    ----------
    out_features, bias, device, dtype
        The same as for `Linear`.

    Attributes
    ----------
    weight, bias
        An `UninitializedParameter` until the first call, then a `Parameter`.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.LazyLinear(3)
    >>> layer(ac.randn(5, 4)).shape
    autocalc.Size([5, 3])
    >>> layer
    Linear(in_features=4, out_features=3, bias=True)
    """

    cls_to_become = Linear

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        (out_features,) = check_sizes("LazyLinear", out_features=out_features)
        Linear.__init__(self, 0, out_features, bias, device, dtype)
        self._empty(bias, device, dtype)
        self._wait()

    def _size_of(self, input: Tensor) -> int:
        if not input.ndim:
            message = "LazyLinear: `input` has shape (); it must be (..., in_features)."
            raise ShapeError(message)
        return input.shape[-1]

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        self.in_features = size
        return {"weight": (self.out_features, size), "bias": (self.out_features,)}
