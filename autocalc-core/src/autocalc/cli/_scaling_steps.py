# SPDX-License-Identifier: MIT
"""The training steps and kernels that ``autocalc bench scaling`` runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import autocalc as ac
from autocalc._kernels.benchmarks import BenchmarkRow
from autocalc.cli._scaling import Work
from autocalc.cli._timing import TimedRow, rows_of
from autocalc.nn import functional

#: The kernels whose largest case runs if none is named.
KERNELS = (
    *("gemm", "linear", "linear_backward", "conv", "conv_dx", "conv_dweight"),
    *("attention", "attention_backward", "layer_norm", "layer_norm_backward"),
    *("cross_entropy", "embedding_backward", "lstm", "lstm_backward", "adamw"),
)


def mlp() -> Work:
    """Return the step of an MLP, 784-512-256-10, on 128 images."""
    model = ac.nn.Sequential(
        *(ac.nn.Linear(784, 512), ac.nn.ReLU(), ac.nn.Linear(512, 256)),
        *(ac.nn.ReLU(), ac.nn.Linear(256, 10)),
    )
    return _step(model, ac.randn(128, 784), ac.randint(0, 10, (128,)))


def resnet() -> Work:
    """Return the step of a small ResNet on 64 images of 28 x 28."""
    model = ac.models.ResNet()
    return _step(model, ac.randn(64, 1, 28, 28), ac.randint(0, 10, (64,)))


def transformer(d_model: int, batch: int, seq: int) -> Callable[[], Work]:
    """Return a function that makes the step of a decoder of 4 blocks."""

    def make() -> Work:
        model = ac.models.Decoder(65, seq, d_model, 8, 4)
        tokens = ac.randint(0, 65, (batch, seq))
        return _step(model, tokens, ac.randint(0, 65, (batch, seq)))

    return make


def _step(model: ac.nn.Module, x: ac.Tensor, target: ac.Tensor) -> Work:
    """Return a compiled step: cross-entropy, gradients, AdamW."""
    optimizer = ac.optim.AdamW(model.parameters(), lr=1e-4)

    @ac.compile
    def step(x: ac.Tensor, target: ac.Tensor) -> ac.Tensor:
        optimizer.zero_grad()
        logits = model(x)
        loss = functional.cross_entropy(
            logits.reshape(-1, logits.shape[-1]), target.reshape(-1)
        )
        loss.backward()
        optimizer.step()
        return loss

    return lambda: step(x, target)


#: Maps names to functions that make a step.
STEPS: dict[str, Callable[[], Work]] = {
    "step: MLP 784-512-256-10, batch 128": mlp,
    "step: transformer 16 x 64, d 128, 4 blocks": transformer(128, 16, 64),
    "step: transformer 16 x 128, d 256, 4 blocks": transformer(256, 16, 128),
    "step: ResNet, batch 64, 28 x 28": resnet,
}


def kernels(names: tuple[str, ...]) -> dict[str, Callable[[], Work]]:
    """Return a function that makes calls: all cases, or the largest of `KERNELS`."""
    rows = rows_of(names or KERNELS)
    if not names:
        work = {row.name: row.work(TimedRow(row).operands) for row in rows}
        rows = [
            max((r for r in rows if r.kernel == kernel), key=lambda r: work[r.name])
            for kernel in KERNELS
        ]
    return {row.name: partial(_call, row) for row in rows}


def _call(row: BenchmarkRow) -> Work:
    return TimedRow(row).run
