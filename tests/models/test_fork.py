# SPDX-License-Identifier: MIT
"""A process that forks in the middle of training: parent and child both go on."""

import os

import pytest

import autocalc as ac
from autocalc.testing.conformance._process import exit_code_of

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

STEPS = 3
DEADLINE = 60  # seconds until a child counts as hanging


class Training:
    """Layers large enough that every product runs on all threads."""

    def __init__(self):
        ac.manual_seed(5)
        nn = ac.nn
        self.model = nn.Sequential(nn.Linear(300, 400), nn.ReLU(), nn.Linear(400, 10))
        self.optimizer = ac.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.images = ac.randn(256, 300)
        self.labels = ac.randint(0, 10, (256,))

    def run(self, steps):
        losses = []
        for _ in range(steps):
            self.optimizer.zero_grad()
            logits = self.model(self.images)
            loss = ac.nn.functional.cross_entropy(logits, self.labels)
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return losses


@pytest.mark.parametrize("kernels", ac.kernels.available())
def test_parent_and_child_train_on_with_the_same_losses(kernels):
    threads = ac.get_num_threads()
    ac.set_num_threads(2)
    try:
        with ac.kernels.use(kernels):
            expected = Training().run(2 * STEPS)[STEPS:]
            training = Training()
            training.run(STEPS)
            child = os.fork()
            if child == 0:
                os._exit(0 if training.run(STEPS) == expected else 1)
            assert training.run(STEPS) == expected
            assert exit_code_of(child, DEADLINE) == 0
    finally:
        ac.set_num_threads(threads)
