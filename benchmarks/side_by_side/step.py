# SPDX-License-Identifier: MIT
"""The step of a classifier, as all that train by SGD have it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.worker import Run


def sgd_step(
    ml: Any,
    parameters: Iterable[Any],
    logits: Callable[[], Any],
    target: Any,
    lr: float,
    momentum: float = 0.0,
) -> Run:
    """Return a step: cross-entropy of `logits()`, gradients, SGD at its fastest."""
    fused = {"fused": True} if ml.__name__ == "torch" else {}
    optimizer = ml.optim.SGD(parameters, lr=lr, momentum=momentum, **fused)
    loss_of = ml.nn.CrossEntropyLoss()

    def step() -> object:
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(logits(), target)
        loss.backward()
        optimizer.step()
        return loss

    return step
