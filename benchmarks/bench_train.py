# SPDX-License-Identifier: MIT
"""Whole training steps."""

import autocalc as ac
from autocalc import nn
from benchmarks.common import OnEachSet

#: The kernels that a set must run for a step to be called its own.
PRODUCTS = {"gemm", "linear"}


class MLP(OnEachSet):
    """A step of 784-1024-10 at batch 256 with SGD and momentum."""

    def setup(self, kernels):
        super().setup(kernels)
        self.model = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 10))
        self.optimizer = ac.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.images = ac.rand(256, 784)
        self.labels = ac.randint(0, 10, (256,))
        self.check_that_it_runs(kernels, lambda: self.time_step(kernels), PRODUCTS)
        self.time_step(kernels)

    def time_step(self, kernels):
        loss = nn.functional.cross_entropy(self.model(self.images), self.labels)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def time_inference(self, kernels):
        with ac.no_grad():
            self.model(self.images)


class Digits(OnEachSet):
    """An epoch over the embedded digits, loader included."""

    def setup(self, kernels):
        super().setup(kernels)
        self.model = nn.Sequential(
            nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)
        )
        self.optimizer = ac.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        images = ac.rand(64, 8, 8)
        self.check_that_it_runs(kernels, lambda: self.model(images), PRODUCTS)
        self.loader = ac.data.DataLoader(ac.data.Digits(), batch_size=64, shuffle=True)

    def time_epoch(self, kernels):
        for images, labels in self.loader:
            loss = nn.functional.cross_entropy(self.model(images), labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
