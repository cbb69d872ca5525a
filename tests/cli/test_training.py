# SPDX-License-Identifier: MIT
"""The training loop: it learns, leaks nothing, and goes on bit for bit."""

from __future__ import annotations

from dataclasses import replace

import pytest

import autocalc as ac
from autocalc.cli import _checkpoint as checkpoint
from autocalc.cli._memory import in_megabytes, resident_bytes
from autocalc.cli._training import Config, EpochEnd, Training, TrainingStep, evaluate
from autocalc.errors import CheckpointError

CONFIG = Config(
    data="digits", model="mlp", epochs=3, batch_size=32, optimizer="sgd", lr=0.02,
    momentum=0.9, seed=0,
)  # fmt: skip


def finish(training):
    for _ in training.run():
        pass
    return training


def parameters(training):
    return [p.tolist() for p in training.model.parameters()]


def test_it_learns():
    training = Training(CONFIG)
    events = list(training.run())
    steps = [e for e in events if isinstance(e, TrainingStep)]
    ends = [e for e in events if isinstance(e, EpochEnd)]
    assert [e.number for e in ends] == [1, 2, 3]
    assert [e.number for e in steps] == list(range(1, 46)) * 3
    history = training.history
    assert history.losses == [e.loss for e in steps]
    assert history.samples == 3 * 1437
    assert history.speed > 0
    assert training.epoch_loss < 0.3
    assert len(history.test_accuracies) == len(history.test_losses) == 3
    assert history.test_accuracies[-1] > 0.94
    assert 0.8 < steps[-1].accuracy <= 1
    ran = {kernel for kernel, _ in training.calls}
    assert "sgd" in ran
    assert "linear" in ran or "gemm" in ran  # what a set without linear runs


def test_products_in_bfloat16_learn_as_well():
    training = Training(replace(CONFIG, precision="bf16"))
    training.compile()
    finish(training)
    plain = finish(Training(CONFIG))
    assert training.model.state_dict().keys() == plain.model.state_dict().keys()
    assert all(p.dtype is ac.float32 for p in training.model.parameters())
    assert training.history.losses != plain.history.losses
    losses = [t.history.test_losses[-1] for t in (training, plain)]
    assert losses[0] == pytest.approx(losses[1], rel=0.01)


def test_the_learning_rate_falls_to_nothing_over_all_epochs():
    training = Training(replace(CONFIG, schedule="cosine", epochs=2))
    group = training.optimizer.param_groups[0]
    rates = [group["lr"] for event in training.run() if isinstance(event, TrainingStep)]
    assert len(rates) == 90
    assert rates[0] == CONFIG.lr
    assert rates[45] == pytest.approx(CONFIG.lr / 2)
    assert 0 < rates[-1] < 1e-3 * CONFIG.lr
    assert rates == sorted(rates, reverse=True)


def test_the_evaluation_takes_no_more_images_at_once_than_a_step():
    training = Training(replace(CONFIG, batch_size=7))
    assert max(len(labels) for _, labels in training.test_loader) == 7


def test_equal_seeds_give_equal_bits_and_workers_change_nothing():
    first = finish(Training(replace(CONFIG, epochs=1)))
    again = finish(Training(replace(CONFIG, epochs=1), workers=2))
    other = finish(Training(replace(CONFIG, epochs=1, seed=1)))
    assert parameters(first) == parameters(again)
    assert first.history.losses == again.history.losses
    assert first.history.losses != other.history.losses


@pytest.fixture(scope="module")
def whole_runs():
    """Return one run without a stop for each optimizer."""
    settings = {"epochs": 2, "lr": 0.01}
    return {
        name: finish(Training(replace(CONFIG, optimizer=name, **settings)))
        for name in ("sgd", "adamw")
    }


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize("stop", [1, 45, 46, 50])
def test_a_stopped_run_goes_on_bit_for_bit(tmp_path, whole_runs, optimizer, stop):
    """Stop inside an epoch, at its last step, and at its end."""
    whole = whole_runs[optimizer]
    part = Training(whole.config)
    for i, _ in enumerate(part.run(), 1):
        if i == stop:
            break
    checkpoint.save(part, tmp_path / "part.safetensors")
    ac.manual_seed(99)
    state = checkpoint.read(tmp_path / "part.safetensors")
    resumed = finish(checkpoint.resume(state, 2))
    assert parameters(resumed) == parameters(whole)
    assert resumed.history.losses == whole.history.losses
    assert resumed.history.test_accuracies == whole.history.test_accuracies
    assert finish(part).history.losses == whole.history.losses


def test_it_leaves_no_graph_behind():
    training = Training(replace(CONFIG, epochs=1))
    before = ac.live_node_count()
    for _ in training.run():
        assert ac.live_node_count() == before


def test_evaluation_is_what_it_says():
    training = Training(CONFIG)
    data = training.test_loader.dataset
    loss, share = evaluate(training.model, training.test_loader)
    with ac.no_grad():
        logits = training.model(data[0][0].reshape(1, 1, 8, 8))
    assert not training.model.training
    assert logits.shape == (1, 10)
    assert 1.5 < loss < 3.5
    assert 0 <= share <= 0.5


def test_files_that_are_no_training_are_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    ac.save({"weight": ac.ones(1)}, path)
    with pytest.raises(CheckpointError, match="does not contain a training run; give"):
        checkpoint.read(path)
    training = Training(CONFIG)
    checkpoint.save(training, path)
    state = ac.load(path)
    state["config"]["colour"] = "red"
    ac.save(state, path)
    with pytest.raises(
        CheckpointError, match="has the settings augment, batch_size, colour"
    ):
        checkpoint.read(path)
    del state["config"]["colour"]
    state["config"]["data"] = "unknown"
    ac.save(state, path)
    with pytest.raises(CheckpointError, match="training run of mlp on unknown, which"):
        checkpoint.read(path)


def test_memory_is_known_here():
    count = resident_bytes()
    assert count is None or 10e6 < count < 100e9
    assert in_megabytes(143_400_000) == "143 MB"
    assert in_megabytes(None) == "? MB"


@pytest.mark.parametrize("model", ["mlp", "lenet"])
def test_compiled_steps_are_those_of_eager_code_bit_for_bit(model):
    losses = []
    for compiled in (False, True):
        training = Training(replace(CONFIG, model=model, epochs=1))
        if compiled:
            training.compile()
        list(training.run())
        losses.append((training.history.losses, training.history.test_losses))
    assert losses[0] == losses[1]
