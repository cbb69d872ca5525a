# SPDX-License-Identifier: MIT
"""Several modules of one architecture as one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autocalc._ops.arranging.joining import stack
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError
from autocalc.nn._module.module import Module


def stack_module_state(
    models: Sequence[Module],
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the parameters and the buffers of several modules, stacked by name.

    `vmap` over `functional_call` then runs all of them at once, as an ensemble.

    Parameters
    ----------
    models
        Modules of one class with parameters of the same shapes, all in training mode or
        all in evaluation mode.

    Returns
    -------
    parameters, buffers
        Dicts of tensors with one more dimension in front, which counts the modules.
        Stacked parameters are new leaves that require gradients as those of the modules
        do.

    Raises
    ------
    ArgumentError
        If there is no module, or the modules differ in class or mode.

    Examples
    --------
    >>> import autocalc as ac
    >>> models = [ac.nn.Linear(2, 1) for _ in range(3)]
    >>> parameters, buffers = ac.func.stack_module_state(models)
    >>> run = lambda p, x: ac.func.functional_call(models[0], p, (x,))
    >>> ac.vmap(run, in_dims=(0, None))(parameters, ac.ones(4, 2)).shape
    autocalc.Size([3, 4, 1])
    """
    if not models:
        raise ArgumentError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise ArgumentError(
            "stack_module_state: Expected all models to have the same training/eval "
            "mode. Call train() or eval() on each."
        )
    if len({type(model) for model in models}) > 1:
        names = sorted({type(model).__name__ for model in models})
        raise ArgumentError(
            f"stack_module_state: Expected all models to be of the same class, and "
            f"they are {', '.join(names)}."
        )
    parameters = _stacked([dict(model.named_parameters()) for model in models])
    buffers = _stacked([dict(model.named_buffers()) for model in models])
    return parameters, buffers


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    found = {}
    for name, first in states[0].items():
        if any(state[name].requires_grad != first.requires_grad for state in states):
            raise ArgumentError(
                f"stack_module_state: {name!r} requires a gradient in some models "
                f"only. Expected each parameter and buffer to have the same "
                f".requires_grad in all models."
            )
        together = stack([state[name].detach() for state in states])
        found[name] = together.requires_grad_(first.requires_grad)
    return found


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Let all batch norms of a module use the statistics of each batch alone.

    Running statistics are written in place, which `vmap` over examples cannot do, since
    the examples share them.

    Parameters
    ----------
    root
        The module, which is changed.

    Examples
    --------
    >>> import autocalc as ac
    >>> norm = ac.func.replace_all_batch_norm_modules_(ac.nn.BatchNorm1d(3))
    >>> norm.running_mean is None
    True
    """
    for module in root.modules():
        if hasattr(module, "track_running_stats") and hasattr(module, "running_mean"):
            module.track_running_stats = False
            module.running_mean = module.running_var = None
            module.num_batches_tracked = None
    return root


def functionalize(
    func: Callable[..., Any], *, remove: str = "mutations"
) -> Callable[..., Any]:
    """Return `func` unchanged.

    In PyTorch this transform removes writes in place before a function is traced.  All
    transforms of AutoCalc, and `ac.compile`, accept functions that write in place.

    Parameters
    ----------
    func
        A function of tensors, which is returned.
    remove
        ``"mutations"`` or ``"mutations_and_views"``.

    Raises
    ------
    ArgumentError
        If `remove` is another value.

    Examples
    --------
    >>> import autocalc as ac
    >>> double = lambda x: x.mul_(2)
    >>> ac.func.functionalize(double) is double
    True
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise ArgumentError(
            f"functionalize: `remove` is {remove!r}; Valid options are: "
            f"remove='mutations' and remove='mutations_and_views'."
        )
    return func
