# SPDX-License-Identifier: MIT
"""Replace the layers of a model by layers with weights of 8 or 4 bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TypeVar, cast

from autocalc._tensor import Tensor
from autocalc._tensor.checks import one_of
from autocalc.errors import ArgumentError, ModuleError
from autocalc.nn._layers.attention.multihead import MultiheadAttention
from autocalc.nn._layers.embedding import Embedding
from autocalc.nn._layers.linear import Linear
from autocalc.nn._layers.quantized import (
    BITS,
    QuantizedEmbedding,
    QuantizedLinear,
    check_group,
)
from autocalc.nn._module.module import Module

M = TypeVar("M", bound=Module)
Layer = Linear | Embedding


def quantize(
    model: M,
    weights: str = "int8",
    group: int = 32,
    *,
    activations: str = "int8",
    exclude: Sequence[str] = (),
) -> M:
    """Replace the linear layers and embeddings of a model by quantised ones, in place.

    The weights take 1.06 bytes each with 8 bits and 0.56 with 4 bits, in groups of 32,
    instead of 4. All other parameters stay as they are. Weights that layers share are
    shared afterwards, too. The layers inside `MultiheadAttention`, which reads their
    weights itself, and layers of subclasses are not replaced.

    Parameters
    ----------
    model
        The model. It should be trained: quantised weights get no gradients.
    weights
        The format of the weights, ``"int8"`` or ``"int4"``; see `nn.QuantizedLinear`.
    group
        How many numbers of a row have one scale: 32, or a multiple of 32. More numbers
        take less memory and are less accurate.
    activations
        ``"int8"`` also rounds the inputs of linear layers, which is fast;
        ``"float32"`` does not.
    exclude
        Names of layers that stay as they are, with ``*`` for any characters, such as
        ``["head", "blocks.*.gate"]``.

    Returns
    -------
    Module
        `model`; if `model` itself is such a layer, the new layer.

    Raises
    ------
    ArgumentError
        If the rows of a layer are not a multiple of `group` long. Then no layer has
        been replaced.
    ModuleError
        If nothing is left to replace.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.nn.Sequential(ac.nn.Linear(64, 32), ac.nn.ReLU())
    >>> x = ac.randn(5, 64)
    >>> exact = model(x)
    >>> close = ac.quantize(model, "int8")(x)
    >>> bool((close - exact).abs().max() < 0.05), model[0].weight.dtype
    (True, autocalc.uint8)
    """
    one_of("quantize", "weights", weights, tuple(BITS))
    check_group("quantize", group)
    found = dict(_layers(model, exclude))
    if not found:
        raise ModuleError(
            "quantize: the model has no `Linear` and no `Embedding` to replace; see "
            "`exclude`, and print the model to see its layers."
        )
    _check_sizes(found, group)
    made = _Replaced(weights, group, activations)
    if "" in found:
        return cast("M", made(found[""]))
    for name, layer in found.items():
        parent, _, own = name.rpartition(".")
        setattr(model.get_submodule(parent), own, made(layer))
    return model


def _layers(model: Module, exclude: Sequence[str]) -> Iterator[tuple[str, Layer]]:
    """Yield the layers to replace with their names, shared ones with each name."""
    inside = [
        name
        for name, module in model.named_modules()
        if isinstance(module, MultiheadAttention)
    ]
    for name, module in model.named_modules(remove_duplicate=False):
        kept = any(fnmatchcase(name, pattern) for pattern in exclude)
        kept = kept or name.rpartition(".")[0] in inside
        if not kept and type(module) in (Linear, Embedding):
            yield name, cast("Layer", module)


def _check_sizes(layers: dict[str, Layer], group: int) -> None:
    """Raise if a layer does not consist of whole groups."""
    sizes = {name: layer.weight.shape[1] for name, layer in layers.items()}
    wrong = [f"{name or 'the layer'} ({n})" for name, n in sizes.items() if n % group]
    if wrong:
        raise ArgumentError(
            f"quantize: the rows of these layers are not a multiple of `group` = "
            f"{group} long: {', '.join(wrong)}. Choose another group, or keep them as "
            "they are by `exclude`."
        )


class _Replaced:
    """Makes the new layers; it remembers what several layers share."""

    def __init__(self, weights: str, group: int, activations: str) -> None:
        self.weights, self.group, self.activations = weights, group, activations
        self._layers: dict[Layer, QuantizedLinear | QuantizedEmbedding] = {}
        self._packed: dict[int, Tensor] = {}

    def __call__(self, layer: Layer) -> QuantizedLinear | QuantizedEmbedding:
        if layer not in self._layers:
            self._layers[layer] = new = self._made(layer)
            new.weight = self._packed.setdefault(id(layer.weight), new.weight)
        return self._layers[layer]

    def _made(self, layer: Layer) -> QuantizedLinear | QuantizedEmbedding:
        if isinstance(layer, Embedding):
            return QuantizedEmbedding.from_embedding(layer, self.weights, self.group)
        return QuantizedLinear.from_linear(
            layer, self.weights, self.group, self.activations
        )
