# SPDX-License-Identifier: MIT
"""The network of the guide learns MNIST in three epochs and leaks nothing."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.cli._memory import resident_bytes
from autocalc.cli._training import Config, EpochEnd, Training
from autocalc.errors import DataError

CONFIG = Config(
    data="mnist", model="mlp", epochs=3, batch_size=256, optimizer="sgd", lr=0.1,
    momentum=0.9, seed=0,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.data
def test_three_epochs_of_mnist():
    try:
        training = Training(CONFIG)
    except DataError as error:
        pytest.skip(str(error))
    nodes = ac.live_node_count()
    memory = []
    for event in training.run():
        if isinstance(event, EpochEnd):
            memory.append(resident_bytes())
            assert ac.live_node_count() == nodes
    history = training.history
    per_epoch = len(training.loader)
    first = history.losses[per_epoch - 20 : per_epoch]
    print(
        f"test accuracy {history.test_accuracies[-1]:.2%}, loss of the first epoch's "
        f"last 20 steps {sum(first) / 20:.3f}, memory {memory}, "
        f"{history.speed:,.0f} samples/s, {training.calls}"
    )
    assert history.test_accuracies[-1] >= 0.975
    assert sum(first) / 20 < 0.33
    if memory[0] is not None:
        assert memory[-1] - memory[1] < 2e6  # the first epoch makes what lasts
