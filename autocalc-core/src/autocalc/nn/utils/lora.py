# SPDX-License-Identifier: MIT
"""LoRA: a trained model learns something new by a few additional weights.

Hu et al.: LoRA: low-rank adaptation of large language models (2021), section 4.  The
weight W of a linear layer stays as it is; its result gets an additional term::

    y = x W^T + alpha / r * (x A^T) B^T         A [r, in], B [out, r]

A has random numbers at the beginning and B zeros, so the model first computes what it
did before.

Examples
--------
>>> import autocalc as ac
>>> from autocalc.nn.utils import lora
>>> model = ac.nn.Sequential(ac.nn.Linear(8, 8), ac.nn.ReLU(), ac.nn.Linear(8, 2))
>>> lora.add(model, rank=2)
['0', '2']
>>> sum(p.numel() for p in model.parameters() if p.requires_grad)
52
>>> lora.merge(model)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops.creation.constants import empty, zeros
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, number, require
from autocalc._tensor.dtypes import float32, float64
from autocalc.errors import ArgumentError
from autocalc.nn import functional
from autocalc.nn._init import kaiming_uniform_
from autocalc.nn._layers.containers.named import ModuleDict
from autocalc.nn._layers.linear import Linear
from autocalc.nn._layers.quantized import QuantizedLinear
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter

__all__ = ["Adapted", "Adapter", "adapted", "add", "merge", "remove", "sizes", "use"]

#: The last layer of language models, which is adapted only if it is named.
_LAST = "lm_head"


class Adapter(Module):
    """The two matrices of an adapter of one layer.

    Parameters
    ----------
    inputs, outputs
        The sizes of the layer.
    rank
        The number of rows of A and of columns of B.
    alpha
        The factor of the result is ``alpha / rank``.
    dropout
        The probability that an input of A is set to 0 in training.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.utils.lora.Adapter(8, 4, rank=2, alpha=4.0)(ac.ones(3, 8)).shape
    autocalc.Size([3, 4])
    """

    def __init__(
        self, inputs: int, outputs: int, rank: int, alpha: float, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.rank, self.alpha, self.dropout = rank, alpha, dropout
        self.A = Parameter(empty(rank, inputs))
        self.B = Parameter(zeros(outputs, rank))
        kaiming_uniform_(self.A, a=math.sqrt(5))

    @property
    def scale(self) -> float:
        """The factor of the result."""
        return self.alpha / self.rank

    def forward(self, x: Tensor) -> Tensor:
        """Return the additional term (..., out) for the input (..., in)."""
        x = functional.dropout(x.to(self.A.dtype), self.dropout, self.training)
        narrow = functional.linear(x, self.A)
        return functional.linear(narrow, self.B) * self.scale

    def change(self) -> Tensor:
        """Return what the adapter adds to the weight, of shape (out, in)."""
        return self.B @ self.A * self.scale


class Adapted(Module):
    """A linear layer with adapters; `add` puts it in the place of the layer.

    Parameters
    ----------
    base
        The linear layer.

    Attributes
    ----------
    adapters
        All adapters of the layer, by name.
    active
        The names of those that are used.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.utils.lora.Adapted(ac.nn.Linear(8, 4))
    >>> layer(ac.ones(3, 8)).shape
    autocalc.Size([3, 4])
    """

    def __init__(self, base: Module) -> None:
        super().__init__()
        self.base = base
        self.adapters = ModuleDict()
        self.active: tuple[str, ...] = ()

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (..., out) for the input (..., in)."""
        y: Tensor = self.base(x)
        for name in self.active:
            y = y + self.adapters[name](x).to(y.dtype)
        return y


def add(
    model: Module,
    rank: int = 8,
    alpha: float | None = None,
    targets: Sequence[str] | str | None = None,
    *,
    name: str = "default",
    dropout: float = 0.0,
) -> list[str]:
    """Add an adapter to linear layers of a model; return the names of these layers.

    Afterwards, only parameters of adapters require a gradient.  The new adapter is the
    active one.

    Parameters
    ----------
    model
        The model, which is changed.
    rank
        The rank r of the additional weights.
    alpha
        Their factor is ``alpha / rank``.  The default is twice the rank.
    targets
        The layers: whole names, or their last parts, such as ``["q_proj", "v_proj"]``.
        By default, these are all linear layers apart from ``lm_head``.
    name
        The name of the adapter.
    dropout
        The probability that an input of an adapter is set to 0 in training.

    Raises
    ------
    ArgumentError
        If a setting is out of range, if no layer has one of the names, if a layer has
        an adapter of this name already, or if its weight is also that of another
        module.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.models.Decoder(10, context=8, d_model=8, heads=2, layers=1)
    >>> ac.nn.utils.lora.add(model, rank=4, targets=["qkv"])
    ['blocks.0.attention.qkv']
    """
    rank = as_int("lora.add", "rank", rank)
    require("lora.add", "rank", rank, rank >= 1, "at least 1")
    alpha = 2.0 * rank if alpha is None else number("lora.add", "alpha", alpha)
    dropout = number("lora.add", "dropout", dropout)
    require("lora.add", "dropout", dropout, 0 <= dropout < 1, "0 or more and below 1")
    plain = bool(name) and "." not in name
    require("lora.add", "name", name, plain, "a text without dots")
    chosen = _chosen(model, targets)
    _check(model, chosen, name)
    layers = adapted(model).values()
    kept = {id(p) for layer in layers for p in layer.adapters.parameters()}
    for parameter in model.parameters():
        parameter.requires_grad_(id(parameter) in kept)
    for place, layer in chosen.items():
        wrapped = layer if isinstance(layer, Adapted) else Adapted(layer)
        base: Any = wrapped.base
        sizes = base.in_features, base.out_features
        wrapped.adapters[name] = Adapter(*sizes, rank, alpha, dropout)
        wrapped.train(base.training)
        if wrapped is not layer:
            _put(model, place, wrapped)
    use(model, name)
    return list(chosen)


def adapted(model: Module) -> dict[str, Adapted]:
    """Return the layers that have adapters, by their names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.utils.lora.adapted(ac.nn.Linear(2, 2))
    {}
    """
    found = model.named_modules()
    return {name: layer for name, layer in found if isinstance(layer, Adapted)}


def sizes(model: Module) -> dict[str, tuple[int, int]]:
    """Return the numbers of outputs and inputs of all linear layers, by name.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.utils.lora.sizes(ac.nn.Sequential(ac.nn.Linear(3, 2)))
    {'0': (2, 3)}
    """
    found: dict[str, tuple[int, int]] = {}
    for name, layer in _linear(model):
        base: Any = layer.base if isinstance(layer, Adapted) else layer
        found[name] = base.out_features, base.in_features
    return found


def use(model: Module, *names: str) -> None:
    """Use the adapters of these names and no others; without a name, use none.

    Raises
    ------
    ArgumentError
        If no layer has an adapter of a name.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.nn.Sequential(ac.nn.Linear(2, 2))
    >>> _ = ac.nn.utils.lora.add(model, name="names")
    >>> ac.nn.utils.lora.use(model)  # computes what it did before
    """
    layers = adapted(model).values()
    known = sorted({name for layer in layers for name in layer.adapters})
    for name in names:
        require("lora.use", "name", name, name in known, f"one of {known}")
    for layer in layers:
        layer.active = tuple(name for name in names if name in layer.adapters)


def merge(model: Module) -> None:
    """Add the active adapters to the weights, and remove all adapters.

    The model then computes the same without additional products.

    Raises
    ------
    ArgumentError
        If a layer has weights of 8 or 4 bits, which cannot hold the sum.  The model is
        unchanged then.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.nn.Sequential(ac.nn.Linear(2, 2))
    >>> _ = ac.nn.utils.lora.add(model)
    >>> ac.nn.utils.lora.merge(model)
    >>> model
    Sequential(
      (0): Linear(in_features=2, out_features=2, bias=True)
    )
    """
    layers = adapted(model)
    for place, layer in layers.items():
        if isinstance(layer.base, QuantizedLinear):
            raise ArgumentError(
                f"lora.merge: layer {place!r} has weights of {layer.base.bits} bits, "
                "which cannot hold the sum. Load the model without ac.quantize and the "
                "adapter with models.load_adapter, then merge."
            )
    for layer in layers.values():
        for name in layer.active:
            adapter: Any = layer.adapters[name]
            _fold(layer.base, adapter.change().detach())
    remove(model)


def _fold(base: Any, change: Tensor) -> None:
    """Add a change (out, in) to the weight of a layer, with one rounding."""
    change = change.t() if _rows_are_inputs(base) else change
    dtype = float64 if base.weight.dtype is float64 else float32
    with no_grad():
        base.weight.copy_(base.weight.to(dtype) + change.to(dtype))


def remove(model: Module) -> None:
    """Remove all adapters; the model computes what it did before `add`.

    All parameters require a gradient again.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.nn.Sequential(ac.nn.Linear(2, 2))
    >>> _ = ac.nn.utils.lora.add(model)
    >>> ac.nn.utils.lora.remove(model)
    """
    for name, layer in adapted(model).items():
        _put(model, name, layer.base)
    for parameter in model.parameters():
        parameter.requires_grad_(True)


def _rows_are_inputs(layer: Any) -> bool:
    """Return whether the weight of a layer has the shape (in, out), as in GPT-2."""
    return bool(getattr(layer, "rows_are_inputs", False))


#: The layers that can have adapters, apart from those of GPT-2.
_KNOWN = Adapted, Linear, QuantizedLinear


def _linear(model: Module) -> Iterator[tuple[str, Module]]:
    """Yield all linear layers; one with adapters counts as the layer itself."""
    inside = {f"{name}.base" for name in adapted(model)}
    for name, layer in model.named_modules():
        known = isinstance(layer, _KNOWN) or _rows_are_inputs(layer)
        if known and name and name not in inside:
            yield name, layer


def _chosen(model: Module, targets: Sequence[str] | str | None) -> dict[str, Module]:
    layers = dict(_linear(model))
    if targets is None:
        chosen = {n: m for n, m in layers.items() if n.rpartition(".")[2] != _LAST}
        require("lora.add", "model", type(model), chosen, "a model with linear layers")
        return chosen
    ends = (targets,) if isinstance(targets, str) else tuple(targets)
    for end in ends:
        if not any(_matches(name, end) for name in layers):
            last = sorted({name.rpartition(".")[2] for name in layers})
            raise ArgumentError(
                f"lora.add: no linear layer is named {end!r}; the last parts of their "
                f"names are {', '.join(last)}."
            )
    return {n: m for n, m in layers.items() if any(_matches(n, end) for end in ends)}


def _matches(name: str, end: str) -> bool:
    return name == end or name.endswith(f".{end}")


def _check(model: Module, chosen: dict[str, Module], name: str) -> None:
    counts: dict[int, int] = {}
    for module in model.modules():
        for parameter in module.parameters(recurse=False):
            counts[id(parameter)] = counts.get(id(parameter), 0) + 1
    for place, layer in chosen.items():
        base: Any = layer.base if isinstance(layer, Adapted) else layer
        if isinstance(layer, Adapted) and name in layer.adapters:
            raise ArgumentError(
                f"lora.add: layer {place!r} has an adapter {name!r} already. Give "
                "another `name`, or call lora.remove(model) first."
            )
        if counts.get(id(base.weight), 0) > 1:
            raise ArgumentError(
                f"lora.add: the weight of {place!r} is also that of another module, "
                "which a merge would change, too. Leave this layer out of `targets`."
            )


def _put(model: Module, name: str, layer: Module) -> None:
    place, _, last = name.rpartition(".")
    setattr(model.get_submodule(place), last, layer)
