# SPDX-License-Identifier: MIT
"""`torch._functorch.make_functional`: modules as functions, also of several modules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autocalc import Tensor, nn
from autocalc.func import functional_call, stack_module_state
from autocalc.torch import _mentioned


def _made(
    model_class: Callable[..., nn.Module], shape: Sequence[int], device: Any
) -> Callable[..., tuple[nn.Module, list[dict[str, Tensor]]]]:
    """Return a function that makes an ensemble: one model, and all stacked tensors."""

    def make(*args: Any, **words: Any) -> tuple[nn.Module, list[dict[str, Tensor]]]:
        count = math.prod(shape)
        models = [model_class(*args, **words).to(device) for _ in range(count)]
        states = stack_module_state(models)
        shaped = [
            {n: x.detach().reshape(*shape, *x.shape[1:]) for n, x in state.items()}
            for state in states
        ]
        return models[0], shaped

    return make


def functional_init(
    model_class: Callable[..., nn.Module],
    ensemble_shape: Sequence[int] = (),
    device: Any = "cpu",
) -> Callable[..., Any]:
    """Return a function of the class's arguments that makes an ensemble.

    It returns the stacked parameters, a function of parameters and a tuple of inputs,
    and the names.
    """
    make = _made(model_class, ensemble_shape, device)

    def init(*args: Any, **words: Any) -> Any:
        model, (weights, _) = make(*args, **words)
        names = tuple(weights)

        def call(values: Sequence[Tensor], inputs: tuple[Any, ...]) -> Any:
            return functional_call(
                model, dict(zip(names, values, strict=True)), tuple(inputs)
            )

        return tuple(weights.values()), call, names

    return init


def functional_init_with_buffers(
    model_class: Callable[..., nn.Module],
    ensemble_shape: Sequence[int] = (),
    device: Any = "cpu",
) -> Callable[..., Any]:
    """Do what `functional_init` does, for modules with buffers.

    It returns parameters, buffers, the function of both and of inputs, and the names.
    """
    make = _made(model_class, ensemble_shape, device)

    def init(*args: Any, **words: Any) -> Any:
        model, (weights, buffers) = make(*args, **words)
        names, more = tuple(weights), tuple(buffers)

        def call(
            values: Sequence[Tensor], state: Sequence[Tensor], inputs: tuple[Any, ...]
        ) -> Any:
            given = dict(zip((*names, *more), (*values, *state), strict=True))
            return functional_call(model, given, tuple(inputs))

        values = tuple(weights.values()), tuple(buffers.values())
        return *values, call, names, more

    return init


__getattr__ = _mentioned.names_of(__name__)
