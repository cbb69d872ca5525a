# SPDX-License-Identifier: MIT
"""The zoo of the benchmarks: models learn, answer, and are PyTorch's."""

import numpy as np
import pytest
from benchmarks.side_by_side import onnx_runtime
from benchmarks.side_by_side.__main__ import selected
from benchmarks.side_by_side.cases import CASES, prepare
from benchmarks.zoo import attention, convolutional, dense, sequences, tables, volumes
from benchmarks.zoo.rows import ZOO
from benchmarks.zoo.work import Row, answer, training

import autocalc as ac


def tiny_resnet50(nn):
    return convolutional.resnet(nn, convolutional.bottleneck, [1, 1], 4, small=False)


#: Every model of the zoo, small.
SMALL = {
    "resnet18": convolutional.classifier(
        lambda nn: convolutional.resnet18(nn, small=True), 2, 8
    ),
    "resnet50": convolutional.classifier(tiny_resnet50, 2, 32),
    "vgg": convolutional.classifier(convolutional.vgg, 2, 16),
    "mobilenet": convolutional.classifier(convolutional.mobilenet, 2, 16),
    "unet": dense.unet(2, 8, width=4),
    "vae": dense.vae(2, latent=3),
    "gpt": attention.gpt(2, 8, 16, 2, 1),
    "bert": attention.bert(2, 8, 16, 2, 1),
    "vit": attention.of_patches(2, 16, 1, 2),
    "vit, one image": attention.of_patches(1, 16, 1, 2),
    "mixer": attention.of_patches(2, 16, 1, None),
    "gru": sequences.gru(2, 5, 3, 8),
    "lstm": sequences.lstm(2, 5, 8),
    "tcn": sequences.tcn(2, 9, 8, 2),
    "scan": sequences.scan(2, 7, 8, 1),
    "tabular": tables.tabular(8, 5, 8),
    "dlrm": tables.dlrm(4, tables=3, rows=10, d=8),
    "graph": tables.graph(6, 12, 8, 2),
    "r3d": volumes.videos(2, 4, 16),
}


def as_given(value):
    return value


def laid_out(value):
    return value.to(memory_format=ac.channels_last)


def work_of(ml, name, lay=as_given):
    ml.manual_seed(0)
    return SMALL[name](ml, lay)


@pytest.mark.parametrize("name", SMALL)
def test_each_model_of_the_zoo_learns_what_it_is_shown(name):
    work = work_of(ac, name)
    step = training(ac, work, "AdamW")
    first = step().item()
    assert all(p.grad is not None for p in work.model.parameters())
    last = min(step().item() for _ in range(8))
    assert last < first


@pytest.mark.parametrize("lay", [as_given, laid_out])
@pytest.mark.parametrize("trains", [False, True])
@pytest.mark.parametrize("name", SMALL)
def test_each_model_of_the_zoo_compiled_is_the_eager_one(name, trains, lay):
    """Passes compute in another order, so that weights after steps differ a little."""
    eager, compiled = (called(name, trains, lay, w) for w in (as_given, ac.compile))
    for a, b in zip(eager, compiled, strict=True):
        np.testing.assert_allclose(b, a, rtol=0, atol=2e-4 * abs(a).max())


def called(name, trains, lay, wrap):
    """Return what four calls of a model's step or inference give."""
    work = work_of(ac, name, lay)
    run = wrap(training(ac, work, "SGD") if trains else answer(ac, work))
    ac.manual_seed(1)
    results = [run() for _ in range(4)]
    found = [one if isinstance(one, tuple) else (one,) for one in results]
    return [np.array(t.detach().numpy()) for one in found for t in one]


def test_inference_records_nothing_and_normalises_by_running_statistics():
    work = work_of(ac, "tabular")
    run = answer(ac, work)
    assert not run().requires_grad
    assert ac.equal(run(), run())  # no dropout, no batch
    assert not work.model.training


def test_rows_say_in_their_names_whether_they_train():
    for name, row in ZOO.items():
        assert name.endswith("step" if row.trains else "inference")


@pytest.mark.parametrize("images", [False, True])
def test_a_row_trains_or_answers(images):
    vae = SMALL["vae"]
    loss = Row(vae, images=images, optimizer="SGD").prepare(ac)()
    assert loss.shape == ()
    assert Row(vae, trains=False, images=images).prepare(ac)()[0].shape == (
        2,
        1,
        28,
        28,
    )


def test_the_command_line_selects_the_zoo_or_rows_by_their_names():
    assert selected([], zoo=True) == list(ZOO)
    assert selected([], zoo=False) == [name for name in CASES if name not in ZOO]
    both = selected(["LSTM"], zoo=False)
    assert set(selected(["LSTM"], zoo=True)) == set(both) & set(ZOO) < set(both)


@pytest.mark.torch
@pytest.mark.parametrize("name", sorted(set(SMALL) - {"vae"}))  # which draws numbers
def test_each_model_of_the_zoo_answers_as_in_pytorch(name):
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    ours, theirs = work_of(ac, name), work_of(torch, name)
    state = {k: v.numpy() for k, v in theirs.model.state_dict().items()}
    ours.model.load_state_dict({k: ac.tensor(v) for k, v in state.items()})
    inputs = [ac.tensor(x.numpy()) for x in theirs.inputs]
    found = answer(ac, ours._replace(inputs=tuple(inputs)))()
    expected = answer(torch, theirs)()
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-3, atol=1e-4)


def test_onnx_runtime_answers_but_does_not_train():
    trains = next(name for name, row in ZOO.items() if row.trains)
    assert prepare(onnx_runtime.PEER, trains) is None
    assert prepare(onnx_runtime.PEER, "gemm 64x64x64") is None


def test_onnx_runtime_answers_as_pytorch():
    for name in ("onnxruntime", "onnxscript", "torch"):
        pytest.importorskip(name, reason="the peer of inference")
    assert onnx_runtime.start(1).startswith("onnxruntime ")
    run = onnx_runtime.prepare(Row(SMALL["tabular"], trains=False))
    assert run()[0].shape == (8, 10)
