# SPDX-License-Identifier: MIT
"""What is measured of a model: a training step, or inference.

A model's file has functions of `ml`, the module `autocalc` or `torch`, that return a
`Work`.  Both libraries run the same code, each at its best: images and convolutions in
the layout that a trial finds faster, PyTorch's optimizers fused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.side_by_side.images import fastest
from benchmarks.worker import Run


class Work(NamedTuple):
    """A model, what it reads, and the loss of what it answers."""

    model: Any
    inputs: tuple[Any, ...]
    loss: Callable[[Any], Any]


#: A library's work; the second argument brings modules and images into a layout.
Make = Callable[[Any, Callable[[Any], Any]], Work]


class Row(NamedTuple):
    """One row of the table.

    Attributes
    ----------
    make
        Returns the work.
    trains
        Whether a step is measured, or the answer alone.
    images
        Whether there are two layouts to choose from.
    optimizer
        SGD with momentum, or AdamW.
    calls
        A round's.
    """

    make: Make
    trains: bool = True
    images: bool = False
    optimizer: str = "AdamW"
    calls: int = 1

    def prepare(self, ml: Any) -> Run:
        """Return what to time."""
        if self.images:
            return fastest(ml, lambda lay: self._run(ml, lay))
        return self._run(ml, lambda given: given)

    def _run(self, ml: Any, lay: Callable[[Any], Any]) -> Run:
        ml.manual_seed(0)
        work = self.make(ml, lay)
        return training(ml, work, self.optimizer) if self.trains else answer(ml, work)


def training(ml: Any, work: Work, optimizer: str) -> Run:
    """Return a step: loss, gradients, optimizer."""
    model, inputs, loss_of = work
    steps = _optimizer(ml, optimizer, model.parameters())

    def step() -> object:
        steps.zero_grad(set_to_none=True)
        loss = loss_of(model(*inputs))
        loss.backward()
        steps.step()
        return loss

    return step


def _optimizer(ml: Any, name: str, parameters: Any) -> Any:
    fused = {"fused": True} if ml.__name__ == "torch" else {}
    if name == "SGD":
        return ml.optim.SGD(parameters, lr=1e-3, momentum=0.9, **fused)
    return ml.optim.AdamW(parameters, lr=1e-4, **fused)


def answer(ml: Any, work: Work) -> Run:
    """Return a forward pass after `eval`, nothing recorded."""
    model, inputs = work.model.eval(), work.inputs

    def run() -> object:
        with ml.inference_mode():
            return model(*inputs)

    return run


def classes(ml: Any, *shape: int, count: int = 10) -> Callable[[Any], Any]:
    """Return the cross-entropy of logits, the classes last, for random labels."""
    target = ml.randint(0, count, shape).reshape(-1)

    def loss(logits: Any) -> Any:
        return ml.nn.functional.cross_entropy(logits.reshape(-1, count), target)

    return loss
