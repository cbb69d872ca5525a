# SPDX-License-Identifier: MIT
"""Whole training steps, eager and compiled, and models of the zoo."""

import autocalc as ac
from autocalc import nn
from benchmarks.common import THREADS, OnEachSet, owners
from benchmarks.side_by_side.cases import COMPILED, prepare
from benchmarks.zoo.attention import gpt
from benchmarks.zoo.rows import ZOO
from benchmarks.zoo.work import Row

#: Sets that are made to be fast; the reference where there is no other.
SETS = [name for name in owners("gemm") if name != "reference"] or ["reference"]
#: Steps of `benchmarks.side_by_side`.
STEPS = [
    "MLP step 64-128-10, batch 64",
    "MLP step 784-1024-10, batch 256",
    "LSTM step 28x28-128-10, batch 128",
    "LM 8x32, d 64, heads 4, layers 2",
    "LM 8x128, d 128, heads 4, layers 6",
    "ResNet step 32-64-128, 128x28x28",
]
#: The kernels of which a set must run one for a step to be called its own.
LEADING = {"gemm", "linear"}


class Eager(OnEachSet):
    """A step: forward, backward, optimizer."""

    params = [SETS, STEPS, THREADS]
    param_names = ["kernels", "step", "threads"]

    def setup(self, kernels, step, threads):
        self.choose(kernels, threads)
        self.run = prepare("autocalc", step)
        self.check_that_it_runs(kernels, self.run, LEADING)

    def time_step(self, kernels, step, threads):
        self.run()


class Compiled(OnEachSet):
    """The same steps, replayed by `ac.compile`."""

    params = [SETS, STEPS, THREADS]
    param_names = ["kernels", "step", "threads"]

    def setup(self, kernels, step, threads):
        self.choose(kernels, threads)
        self.run = prepare("autocalc" + COMPILED, step)
        self.check_that_it_replays(kernels)

    def check_that_it_replays(self, kernels):
        """Skip the benchmark unless its program runs on the set."""
        ran = self.ran()
        if kernels not in ran:
            message = f"{kernels} runs nothing of the program: {', '.join(ran)} does"
            raise NotImplementedError(message)

    def ran(self):
        return set(ac.kernels.explain(self.run).sets)

    def time_step(self, kernels, step, threads):
        self.run()


class Epoch(OnEachSet):
    """An epoch over the embedded digits, loader included."""

    params = [SETS, THREADS]
    param_names = ["kernels", "threads"]

    def setup(self, kernels, threads):
        self.choose(kernels, threads)
        self.model = nn.Sequential(
            nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)
        )
        self.optimizer = ac.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        images = ac.rand(64, 8, 8)
        self.check_that_it_runs(kernels, lambda: self.model(images), LEADING)
        self.loader = ac.data.DataLoader(ac.data.Digits(), batch_size=64, shuffle=True)

    def time_epoch(self, kernels, threads):
        for images, labels in self.loader:
            loss = nn.functional.cross_entropy(self.model(images), labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


class Zoo:
    """One model of each kind, as `benchmarks.side_by_side --zoo` has them."""

    params = [
        [
            "ResNet-18, 1 of 32x32, inference",
            "MobileNetV2, 32 of 32x32, step",
            "U-Net, 2 of 96x96, step",
            "ViT d 192, 8 of 32x32, step",
            "BERT d 128, 4x64 tokens, step",
            "GRU 128, 32x50, step",
            "tabular MLP 256, batch 1, inference",
            "DLRM, batch 256, step",
            "graph of 1000 nodes, 8000 edges, step",
        ]
    ]
    param_names = ["row"]

    def setup(self, row):
        self.run = ZOO[row].prepare(ac)

    def time_row(self, row):
        self.run()


class TiedHead:
    """A GPT whose head is its embedding, by the deviation of that.

    With 1, PyTorch's default, half of the probabilities are below the normal numbers:
    the logit of the token itself is about 90 above the others.
    """

    params = [[1.0, 0.02]]
    param_names = ["deviation"]

    def setup(self, deviation):
        self.run = Row(gpt(8, 128, 128, 4, 4, tied=deviation)).prepare(ac)

    def time_step(self, deviation):
        self.run()
