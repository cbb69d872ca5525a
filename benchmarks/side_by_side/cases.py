# SPDX-License-Identifier: MIT
"""The work that is compared: each case is a function that does it once.

A case is written once for all peers that share PyTorch's names (`ml` is the module
`autocalc` or `torch`); where a peer has a faster spelling, that one is used for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.side_by_side import generation, language, onnx_runtime, with_jax
from benchmarks.side_by_side.images import PARTS, Layer, layer, resnet_step
from benchmarks.side_by_side.language import Sizes
from benchmarks.side_by_side.step import sgd_step
from benchmarks.worker import Run
from benchmarks.zoo.rows import ZOO

CHAIN = 50  # operators in the chain
WARM_UP = 4  # calls after which a compiled program has been recorded


class Case(NamedTuple):
    """One row: how to prepare the work, and what its time is divided into."""

    prepare: Callable[[Any], Run]
    calls: int  # a round's: some 20 ms, for a machine's state changes within 100
    per: float  # divide seconds by this ...
    unit: str  # ... and show it so; GFLOP/s are work over time


class MLP(NamedTuple):
    """Features, hidden units and rows of an MLP's step."""

    features: int
    hidden: int
    batch: int

    def __str__(self) -> str:
        return f"MLP step {self.features}-{self.hidden}-10, batch {self.batch}"


def mlp_step(sizes: MLP) -> Callable[[Any], Run]:
    """Return the case of a step: ReLU, ten classes, SGD with momentum."""
    return lambda ml: _mlp_step(ml, *sizes)


def _mlp_step(ml: Any, features: int, hidden: int, batch: int) -> Run:
    ml.manual_seed(0)
    nn = ml.nn
    model = nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, 10))
    x = ml.randn(batch, features)
    target = ml.randint(0, 10, (batch,))
    return sgd_step(ml, model.parameters(), lambda: model(x), target, 0.1, 0.9)


def lstm_step(batch: int, steps: int, features: int, hidden: int) -> Case:
    """Return the case of a step that classifies sequences by an LSTM's last output."""

    def prepare(ml: Any) -> Run:
        ml.manual_seed(0)
        lstm = ml.nn.LSTM(features, hidden, batch_first=True)
        head = ml.nn.Linear(hidden, 10)
        parameters = [*lstm.parameters(), *head.parameters()]
        x = ml.randn(batch, steps, features)
        target = ml.randint(0, 10, (batch,))
        return sgd_step(ml, parameters, lambda: head(lstm(x)[0][:, -1]), target, 0.1)

    return Case(prepare, 1, 1e-3, "ms")


def gemm(m: int, k: int, n: int) -> Callable[[Any], Run]:
    """Return the case of one float32 product without gradients."""

    def prepare(ml: Any) -> Run:
        a, b = ml.randn(m, k), ml.randn(k, n)
        return lambda: ml.matmul(a, b)

    return prepare


def eager_mul(ml: Any) -> Run:
    """``a * b`` on 16 elements with gradients recorded."""
    a = ml.rand(16, requires_grad=True)
    b = ml.rand(16, requires_grad=True)
    return lambda: a * b


def chain(ml: Any) -> Run:
    """A chain of 50 small operators, forward and backward."""
    a = ml.rand(16, requires_grad=True)
    b = ml.rand(16, requires_grad=True)

    def run() -> object:
        x = a
        for _ in range(CHAIN // 2):
            x = x * b
            x = x + b
        x.sum().backward()
        a.grad = b.grad = None
        return x

    return run


def _flop(m: int, k: int, n: int) -> float:
    return 2.0 * m * k * n


#: MLPs: sizes, steps in a round, and the unit of their time.
MLPS = {
    MLP(784, 1024, 256): (4, 1e-3, "ms"),
    MLP(64, 128, 64): (50, 1e-6, "us"),
    MLP(64, 32, 32): (100, 1e-6, "us"),
}

CASES: dict[str, Case] = {
    **{str(sizes): Case(mlp_step(sizes), *unit) for sizes, unit in MLPS.items()},
    "LSTM step 28x28-128-10, batch 128": lstm_step(128, 28, 28, 128),
    "gemm 1024x1024x1024": Case(
        gemm(1024, 1024, 1024), 3, _flop(1024, 1024, 1024), "GFLOP/s"
    ),
    "gemm 2048x2048x2048": Case(
        gemm(2048, 2048, 2048), 1, _flop(2048, 2048, 2048), "GFLOP/s"
    ),
    "gemm 256x784x1024": Case(
        gemm(256, 784, 1024), 10, _flop(256, 784, 1024), "GFLOP/s"
    ),
    "gemm 64x64x64": Case(gemm(64, 64, 64), 1000, _flop(64, 64, 64), "GFLOP/s"),
    "a * b, 16 elements, recorded": Case(eager_mul, 5000, 1e-6, "us"),
    "chain of 50, each operator": Case(chain, 30, CHAIN * 1e-6, "us"),
}

#: Transformers: sizes, and steps in a round.
LANGUAGE = {
    Sizes(batch=8, seq=32, d_model=64, heads=4, layers=2, d_ff=256): 10,
    Sizes(batch=12, seq=64, d_model=128, heads=4, layers=4, d_ff=512): 2,
    Sizes(batch=8, seq=128, d_model=128, heads=4, layers=6, d_ff=512): 1,
    Sizes(batch=4, seq=256, d_model=128, heads=4, layers=12, d_ff=512): 1,
    Sizes(batch=2, seq=256, d_model=256, heads=8, layers=12, d_ff=1024): 1,
}
CASES.update(
    (str(sizes), Case(language.step(sizes), calls, 1e-3, "ms"))
    for sizes, calls in LANGUAGE.items()
)

CASES["attention 1x8x2048x64, causal, both ways"] = Case(
    language.attention(2048, 8, 64), 1, 1e-3, "ms"
)

#: Models that write a text.
WRITERS = [generation.Model(vocabulary=65, d_model=128, heads=4, layers=4, tokens=256)]
CASES.update(
    (str(sizes), Case(generation.generate(sizes), 1, 1e-3, "ms")) for sizes in WRITERS
)

#: Convolutions, and calls in a round.
LAYERS = {
    Layer(128, 32, 32, 3, 28): 2,
    Layer(128, 64, 64, 3, 14): 2,
    Layer(128, 128, 128, 3, 7): 2,
    Layer(128, 32, 64, 3, 28, stride=2): 2,
    Layer(8, 64, 256, 1, 56): 2,
    Layer(8, 128, 128, 3, 56, groups=128): 4,
    Layer(4, 3, 64, 7, 224, stride=2): 2,
}
CASES["ResNet step 32-64-128, 128x28x28"] = Case(resnet_step(128), 1, 1e-3, "ms")
CASES.update(
    (f"{sizes}: {part}", Case(layer(sizes, part), calls, 1e-3, "ms"))
    for sizes, calls in LAYERS.items()
    for part in PARTS
)

CASES.update(
    (name, Case(row.prepare, row.calls, 1e-3, "ms")) for name, row in ZOO.items()
)


#: After a peer's module: its programs compute in bfloat16, under autocast.
AUTOCAST = "+autocast"

#: After that: its programs are compiled.
COMPILED = "+compile"


def start(peer: str, threads: int) -> str:
    """Make the peer ready; return its name and version."""
    if peer == onnx_runtime.PEER:
        return onnx_runtime.start(threads)
    if peer == with_jax.PEER:
        return with_jax.start(threads)
    ml = _module(peer)
    ml.set_num_threads(threads)
    return f"{peer} {ml.__version__}"


def prepare(peer: str, case: str) -> Run | None:
    """Return what to time; None if the peer has no such thing."""
    if peer == onnx_runtime.PEER:
        return onnx_runtime.prepare(ZOO.get(case))
    if peer == with_jax.PEER:
        return _with_jax(case)
    ml = _module(peer)
    run = CASES[case].prepare(ml)
    if AUTOCAST in peer:
        run = ml.autocast("cpu", dtype=ml.bfloat16)(run)
    if not peer.endswith(COMPILED):
        return run
    compiled: Run = ml.compile(run)
    for _ in range(WARM_UP):
        compiled()
    return compiled


def _module(peer: str) -> Any:
    return importlib.import_module(peer.partition("+")[0])


def _with_jax(case: str) -> Run | None:
    """Return what to time of JAX: MLPs and transformers are written for it."""
    for mlp in MLPS:
        if str(mlp) == case:
            return with_jax.mlp(*mlp)
    for sizes in LANGUAGE:
        if str(sizes) == case:
            return with_jax.language(sizes)
    return None
