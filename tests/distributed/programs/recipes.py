# SPDX-License-Identifier: MIT
"""Trains each model of `autocalc train` for some steps; tells losses and tests.

The last batch has one sample: all ranks but one have none of it.
"""

from __future__ import annotations

from tell import tell

import autocalc as ac
import autocalc.distributed as dist
from autocalc.cli._ranks import first_of_machine
from autocalc.cli._recipes import MODELS
from autocalc.cli._training import Config, EpochEnd, Training
from autocalc.models import TextConfig, TextTraining

#: Of 1437 images one is left for the last batch.
BATCH = 359


def images(model, compiled):
    config = Config(
        data="digits", model=model, epochs=1, batch_size=BATCH, optimizer="sgd",
        lr=0.02, momentum=0.9, seed=3, augment=True,
    )  # fmt: skip
    training = Training(config)
    if compiled:
        training.compile()
    ends = [event for event in training.run() if isinstance(event, EpochEnd)]
    assert len(ends) == 1
    history = training.history
    assert history.samples == 1437
    (accuracy,) = history.test_accuracies
    return [*history.losses, *history.test_losses, accuracy]


def text(model):
    config = TextConfig(model=model, steps=4, batch_size=6, seq_len=8, d_model=16,
                        heads=2, layers=1, eval_every=2, lr=0.01)  # fmt: skip
    training = TextTraining(ac.data.Characters("the cat sat on the mat. " * 20), config)
    for _ in training.run():
        pass
    return [*training.history.losses, *[x for _, x in training.history.evaluations]]


def main():
    dist.init_process_group()
    done = []
    first_of_machine(lambda: done.append(1))
    assert len(done) == (dist.get_node_local_rank() == 0)
    found = {model: images(model, compiled=False) for model in MODELS}
    found["mlp, compiled"] = images("mlp", compiled=True)
    tell({**found, "text": text("transformer"), "text lstm": text("lstm")})
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
