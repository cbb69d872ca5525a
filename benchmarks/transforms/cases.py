# SPDX-License-Identifier: MIT
"""The rows: per-sample gradients, a Hessian, a Laplacian, and an ensemble.

AutoCalc and PyTorch run the same code: `ml` is the module, and `ml.func` has the
transforms.  JAX has code of its own (`with_jax`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from benchmarks.transforms import with_jax
from benchmarks.worker import Run

#: The end of the name of a peer whose functions are compiled.
COMPILED = "+compiled"
#: Calls before a compiled function is timed: it records in the first ones.
WARM_UP = 3


class Case(NamedTuple):
    """What a row times: a function of the module, and the calls in a round."""

    prepare: Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]]
    calls: int


def mlp(ml: Any, sizes: Sequence[int], activation: str) -> Any:
    """Return linear layers with an activation between them."""
    layers: list[Any] = []
    for inputs, outputs in pairwise(sizes):
        layers += [ml.nn.Linear(inputs, outputs), getattr(ml.nn, activation)()]
    return ml.nn.Sequential(*layers[:-1])


def cnn(ml: Any) -> Any:
    """Return two convolutions of images of 28 x 28, and ten classes."""
    nn = ml.nn
    return nn.Sequential(
        *(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(8, 16, 3), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(400, 10)),
    )


def _parameters(model: Any) -> dict[str, Any]:
    return {name: p.detach() for name, p in model.named_parameters()}


def per_sample(model: Callable[[Any], Any], *shape: int) -> Callable[[Any], Any]:
    """Return the gradients of the loss of each of 64 samples."""

    def prepare(ml: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        func, net = ml.func, model(ml)
        x, labels = ml.randn(64, *shape), ml.randint(0, 10, (64,))

        def loss(p: Any, x: Any, label: Any) -> Any:
            scores = func.functional_call(net, p, (x[None],))
            return ml.nn.functional.cross_entropy(scores, label[None])

        gradients = func.vmap(func.grad(loss), in_dims=(None, 0, 0))
        return gradients, (_parameters(net), x, labels)

    return prepare


def hessian(ml: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the Hessian of an MLP of 3 layers with respect to 20 inputs."""
    func, net = ml.func, mlp(ml, (20, 32, 32, 1), "Tanh")
    parameters = _parameters(net)
    return func.hessian(lambda x: func.functional_call(net, parameters, (x,)).sum()), (
        ml.randn(20),
    )


def laplacian(ml: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the Laplacian of a network of two inputs at 1,000 points."""
    func, net = ml.func, mlp(ml, (2, 32, 32, 1), "Tanh")
    parameters = _parameters(net)

    def value(x: Any) -> Any:
        return func.functional_call(net, parameters, (x,)).sum()

    at_point = func.hessian(value)
    return func.vmap(lambda x: at_point(x).diagonal().sum()), (ml.randn(1000, 2),)


def ensemble(ml: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the scores of 16 MLPs for one batch of 32."""
    func, nets = ml.func, [mlp(ml, (64, 128, 10), "ReLU") for _ in range(16)]
    stacked, _ = func.stack_module_state(nets)
    parameters = {name: p.detach() for name, p in stacked.items()}

    def scores(p: Any, x: Any) -> Any:
        return func.functional_call(nets[0], p, (x,))

    return func.vmap(scores, in_dims=(0, None)), (parameters, ml.randn(32, 64))


CASES: dict[str, Case] = {
    "gradients of 64 samples, MLP 64-128-128-10": Case(
        per_sample(lambda ml: mlp(ml, (64, 128, 128, 10), "ReLU"), 64), 8
    ),
    "gradients of 64 samples, CNN of 28x28": Case(per_sample(cnn, 1, 28, 28), 3),
    "Hessian, MLP 20-32-32-1": Case(hessian, 15),
    "Laplacian at 1,000 points, MLP 2-32-32-1": Case(laplacian, 5),
    "ensemble of 16 MLPs 64-128-10, batch 32": Case(ensemble, 30),
}


def start(peer: str, threads: int) -> str:
    """Set the number of threads; return the peer's name and version."""
    if peer == with_jax.PEER:
        return with_jax.start(threads)
    ml = _module(peer)
    ml.set_num_threads(threads)
    return f"{peer} {ml.__version__}"


def prepare(peer: str, case: str) -> Run:
    """Return what to time."""
    if peer == with_jax.PEER:
        return with_jax.prepare(case)
    ml = _module(peer)
    ml.manual_seed(0)
    function, args = CASES[case].prepare(ml)
    if not peer.endswith(COMPILED):
        return lambda: function(*args)
    compiled = ml.compile(function)
    for _ in range(WARM_UP):
        compiled(*args)
    return lambda: compiled(*args)


def _module(peer: str) -> Any:
    name = peer.partition("+")[0]
    importlib.import_module(f"{name}.func")
    return importlib.import_module(name)
