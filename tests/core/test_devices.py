# SPDX-License-Identifier: MIT
"""Tensors on a device: every operator runs there, and nothing comes back unasked."""

from __future__ import annotations

import copy
import inspect
import io
import pickle

import numpy as np
import pytest
from benchmarks.operators.cases import LEAVES, ROWS, operands
from tests.dispatcher import PROCESS, registry
from tests.mirror_device import LIBRARY, MIRROR
from tests.refusals import refusals

import autocalc as ac
from autocalc.errors import ArgumentError, GradError

F = ac.nn.functional

#: Rows of the table of operators whose results are made on the CPU by default.
CREATION = {
    *("zeros", "ones", "full", "empty", "eye", "arange", "linspace", "rand", "randn"),
    *("randint", "randperm", "tril_indices", "tensor of numbers", "tensor([[1]])"),
}


@pytest.fixture(autouse=True)
def mirror(monkeypatch):
    """Install the device of these tests."""
    found = registry()
    monkeypatch.setitem(found.sets, "mirror", MIRROR)
    monkeypatch.setitem(found.origins, "mirror", "tests")
    PROCESS.forget()
    yield LIBRARY
    found._loaded.pop("mirror", None)
    PROCESS.forget()


def tensors_in(result):
    if isinstance(result, (list, tuple)):
        return [x for one in result for x in tensors_in(one)]
    return [result] if isinstance(result, ac.Tensor) else []


def outcome(text, place, backward):
    """Return the results of a row, or the gradients of its operands, as arrays."""
    names = operands(ac, 4)
    for name, x in names.items():
        names[name] = x.to(place) if isinstance(x, ac.Tensor) else x
    if backward:
        for name in LEAVES:
            names[name].requires_grad_()
    ac.manual_seed(0)
    found = tensors_in(eval(text, names))
    if backward:
        first = found[0] if found else None
        if first is None or first is names["w"] or not first.requires_grad:
            return None
        first.backward(ac.ones_like(first.detach()))
        found = [names[n].grad for n in LEAVES if names[n].grad is not None]
    assert {x.device.type for x in found} <= {place}
    return [x.detach().cpu().numpy() for x in found]


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", sorted({*ROWS} - CREATION - {"numpy"}))
def test_an_operator_does_on_a_device_what_it_does_on_the_cpu(name, backward):
    try:
        expected = outcome(ROWS[name], "cpu", backward)
    except GradError:
        expected = None
    if expected is None:
        pytest.skip("nothing to differentiate")
    found = outcome(ROWS[name], "mirror", backward)
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if name.startswith("empty"):
            continue
        np.testing.assert_allclose(
            a.astype(float), b.astype(float), rtol=1e-4, atol=1e-5
        )


@pytest.mark.parametrize(
    "call",
    [
        *("zeros(3", "ones(3", "full((3,), 2.0", "empty(3", "eye(3", "arange(3"),
        *("linspace(0, 1, 3", "logspace(0, 1, 3", "rand(3", "randn(3", "randperm(3"),
        *("randint(3, (2,)", "tril_indices(2, 2", "triu_indices(2, 2"),
        *("tensor([1.0, 2.0]", "as_tensor([1.0, 2.0]", "scalar_tensor(2.0"),
        *("normal(0.0, 1.0, (2,)", "hann_window(4", "bartlett_window(4"),
    ],
)
def test_a_tensor_is_made_on_the_device_that_is_asked_for(call):
    for _ in range(4):  # of which the last would be remembered
        assert eval(f"ac.{call}, device='mirror')").device == ac.device("mirror")


def test_tensors_like_others_are_where_those_are():
    x = ac.ones(3, device="mirror")
    for like in (ac.zeros_like, ac.ones_like, ac.empty_like, ac.rand_like):
        assert like(x).device.type == "mirror"
        assert like(x, device="cpu").device.type == "cpu"
    made = x.new_zeros(2), x.new_tensor([1]), x.new_full((2,), 3.0), x.new(2)
    assert {one.device.type for one in made} == {"mirror"}


def test_moving_is_differentiable_both_ways():
    x = ac.ones(3, requires_grad=True)
    there = x.to("mirror")
    (3 * there).cpu().sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 3.0]
    assert x.grad.device.type == "cpu"
    assert x.to("cpu") is x
    assert there.to("mirror") is there
    assert there.to(ac.ones(1, dtype=ac.float64)).dtype is ac.float64


def test_a_model_trains_as_on_the_cpu(mirror):
    def losses(place):
        ac.manual_seed(0)
        model = ac.nn.Sequential(
            ac.nn.Conv2d(1, 4, 3), ac.nn.BatchNorm2d(4), ac.nn.ReLU(), ac.nn.Flatten(),
            ac.nn.Linear(64, 8), ac.nn.LayerNorm(8), ac.nn.Dropout(0.2),
            ac.nn.Linear(8, 3),
        )  # fmt: skip
        model.to(place)
        images, labels = ac.randn(6, 1, 6, 6).to(place), ac.arange(6).to(place) % 3
        found = []
        for make in (ac.optim.AdamW, ac.optim.SGD):
            optimizer = make(model.parameters(), lr=1e-2)
            for _ in range(3):
                optimizer.zero_grad()
                loss = F.cross_entropy(model(images), labels)
                loss.backward()
                ac.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                found.append(loss)
        return [loss.item() for loss in found]

    assert losses("mirror") == pytest.approx(losses("cpu"), rel=1e-4)
    before = mirror.downloads
    losses("mirror")
    assert mirror.downloads - before == 6  # the losses alone


def test_recurrent_layers_and_attention_run_on_a_device():
    x = ac.randn(2, 5, 8)
    for layer in (
        ac.nn.LSTM(8, 4, batch_first=True),
        ac.nn.GRU(8, 4, batch_first=True),
        ac.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
    ):
        wanted = tensors_in(layer(x))[0].tolist()
        found = tensors_in(layer.to("mirror")(x.to("mirror")))[0]
        assert found.device.type == "mirror"
        np.testing.assert_allclose(found.tolist(), wanted, rtol=1e-4, atol=1e-5)
        assert layer.cpu() is layer
    text = ac.models.Decoder(11, 8, 2, 1, 8).to("mirror")
    tokens = ac.arange(6).reshape(1, 6).to("mirror")
    assert text(tokens).device.type == "mirror"


def test_the_devices_own_kernels_are_chosen_and_the_rest_are_references():
    x = ac.ones(3, device="mirror")
    with ac.kernels.count() as calls:
        _ = x + x, x * x
    assert calls == {("add", "mirror"): 1, ("mul", "reference"): 1}


#: A call of each class of modules that makes tensors, without its device.
MODULES = {
    "AdaptiveLogSoftmaxWithLoss": (8, 12, [4, 8]),
    "BatchNorm1d": (3,),
    "BatchNorm2d": (3,),
    "BatchNorm3d": (3,),
    "Bilinear": (2, 3, 4),
    "Conv1d": (2, 3, 3),
    "Conv2d": (2, 3, 3),
    "Conv3d": (2, 3, 3),
    "ConvTranspose1d": (2, 3, 3),
    "ConvTranspose2d": (2, 3, 3),
    "ConvTranspose3d": (2, 3, 3),
    "Embedding": (5, 3),
    "EmbeddingBag": (5, 3),
    "GRU": (3, 4),
    "GRUCell": (3, 4),
    "GroupNorm": (1, 3),
    "InstanceNorm1d": (3, 1e-5, 0.1, True, True),
    "InstanceNorm2d": (3, 1e-5, 0.1, True, True),
    "InstanceNorm3d": (3, 1e-5, 0.1, True, True),
    "LSTM": (3, 4),
    "LSTMCell": (3, 4),
    "LayerNorm": (3,),
    "Linear": (3, 2),
    "LinearCrossEntropyLoss": (3, 2),
    "MultiheadAttention": (8, 2),
    "PReLU": (3,),
    "RMSNorm": (3,),
    "RNN": (3, 4),
    "RNNBase": ("GRU", 3, 4),
    "RNNCell": (3, 4),
    "RNNCellBase": ("GRU", 3, 4, True),
    "SyncBatchNorm": (3,),
    "Transformer": (8, 2, 1, 1, 16),
    "TransformerDecoderLayer": (8, 2, 16),
    "TransformerEncoderLayer": (8, 2, 16),
}
#: Those that see the shape of their first input.
LAZY = {
    "LazyBatchNorm1d": ((), (4, 3)),
    "LazyConv2d": ((3, 3), (1, 2, 5, 5)),
    "LazyLinear": ((2,), (4, 3)),
}


def test_every_module_that_takes_a_device_is_among_these():
    takes = {
        name
        for name in ac.nn.__all__
        if isinstance(found := getattr(ac.nn, name), type)
        and issubclass(found, ac.nn.Module)
        and "device" in inspect.signature(found).parameters
    }
    assert {name for name in takes if not name.startswith("Lazy")} == {*MODULES}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_made_on_the_device_that_is_asked_for(name):
    def made(device):
        ac.manual_seed(0)
        one = getattr(ac.nn, name)(*MODULES[name], device=device, dtype=None)
        return one.state_dict()

    there, here = made("mirror"), made(None)
    assert {x.device.type for x in there.values()} == {"mirror"}
    assert [*there] == [*here]
    for x, y in zip(there.values(), here.values(), strict=True):
        np.testing.assert_allclose(x.cpu(), y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_module_stays_on_the_device_that_is_asked_for(name):
    args, shape = LAZY[name]
    model = getattr(ac.nn, name)(*args, device="mirror")
    for lazy in (model, copy.deepcopy(model), getattr(ac.nn, name)(*args).to("mirror")):
        assert lazy.weight.device == "mirror"
        lazy(ac.randn(*shape, device="mirror"))
        assert {x.device.type for x in lazy.state_dict().values()} == {"mirror"}


def test_checkpoints_are_loaded_where_map_location_says(tmp_path):
    path = tmp_path / "model.safetensors"
    ac.save({"w": ac.tensor([1.0, 2.0]), "n": [3, ac.ones(1)]}, path)
    found = ac.load(path, map_location="mirror")
    assert found["w"].device == found["n"][1].device == "mirror"
    assert ac.equal(found["w"].cpu(), ac.tensor([1.0, 2.0]))
    assert ac.load(path, map_location=ac.device("cpu"))["w"].device == "cpu"


def test_averages_of_models_are_kept_on_a_device():
    model = ac.nn.Linear(2, 1)
    average = ac.optim.swa_utils.AveragedModel(model, device="mirror")
    for _ in range(2):
        average.update_parameters(model)
    assert average.module.weight.device == "mirror"
    assert ac.equal(average.module.weight.cpu(), model.weight)


def test_batches_are_moved_for_batch_norm():
    norm = ac.nn.BatchNorm1d(1, device="mirror")
    batches = [ac.tensor([[1.0], [3.0]])]
    ac.optim.swa_utils.update_bn(batches, norm, device="mirror")
    assert norm.running_mean.item() == 2


def test_second_derivatives_on_a_device():
    x = ac.tensor([1.0, 2.0], device="mirror", requires_grad=True)
    (g,) = ac.autograd.grad((x**3).cpu().sum(), x, create_graph=True)
    (second,) = ac.autograd.grad(g.sum(), x)
    assert second.tolist() == [6.0, 12.0]


def test_numbers_and_tensors_of_one_element_come_along():
    x = ac.ones(2, device="mirror")
    assert (x * ac.tensor(3.0)).tolist() == [3.0, 3.0]
    assert (2 - x).device.type == "mirror"
    assert x.add_(ac.tensor(2.0)).tolist() == [3.0, 3.0]
    assert (x.half() + 1).dtype is ac.float16
    assert (x.bfloat16() * 2).tolist() == [6.0, 6.0]


def test_values_come_to_the_host_when_they_are_asked_for(mirror):
    x = ac.tensor([[1.5, 2.0]], device="mirror")
    before = mirror.downloads
    assert (x[0, 0].item(), x.tolist()) == (1.5, [[1.5, 2.0]])
    assert repr(x) == "tensor([[1.5000, 2.0000]], device='mirror')"
    assert x.numpy(force=True).tolist() == [[1.5, 2.0]]
    assert mirror.downloads - before == 4
    assert bool(ac.equal(x, x))


def test_copies_pickles_and_files():
    x = ac.tensor([1.0, 2.0], device="mirror", requires_grad=True)
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert made.device.type == "mirror"
        assert made.requires_grad
        assert made.tolist() == [1.0, 2.0]
    model = ac.nn.Linear(2, 2).to("mirror")
    file = io.BytesIO()
    ac.save(model.state_dict(), file)
    file.seek(0)
    saved = ac.load(file)
    assert saved["weight"].device.type == "cpu"
    other = ac.nn.Linear(2, 2).to("mirror")
    other.load_state_dict(saved)
    assert other.weight.device.type == "mirror"
    assert other.weight.tolist() == model.weight.tolist()


def test_what_programs_ask_before_they_choose(mirror):
    assert ac.accelerator.is_available()
    assert ac.accelerator.current_accelerator() == ac.device("mirror")
    assert ac.accelerator.device_count() == 1
    before = mirror.waits
    ac.accelerator.synchronize()
    assert mirror.waits == before + 1
    x = ac.ones(2)
    assert not x.is_pinned()
    assert x.pin_memory().is_pinned()
    assert not x.to("mirror").is_pinned()
    assert x.to("mirror").get_device() == 0
    assert str(ac.device("mirror", 0)) == "mirror:0"
    assert ac.ones(2, device="mirror:0").device == "mirror"


def test_cuda_asks_the_package_that_serves_it(monkeypatch, mirror):
    import dataclasses

    cuda = dataclasses.replace(MIRROR, name="gpu", device="cuda")
    monkeypatch.setitem(registry().sets, "gpu", cuda)
    monkeypatch.setitem(registry().origins, "gpu", "tests")
    assert ac.cuda.is_available()
    assert (ac.cuda.device_count(), ac.cuda.current_device()) == (1, 0)
    x = ac.ones(2).cuda()
    assert (x.is_cuda, x.is_cpu, x.cpu().is_cuda) == (True, False, False)
    assert ac.nn.Linear(2, 2).cuda(0).weight.is_cuda
    ac.cuda.synchronize()
    ac.cuda.empty_cache()
    assert ac.cuda.memory_stats() == {"in_use": 0, "peak": 0, "cached": 0}
    assert ac.cuda.memory_allocated() == ac.cuda.max_memory_allocated() == 0
    assert ac.cuda.memory_reserved() == 0
    assert ac.cuda.mem_get_info() == (0, 0)
    ac.cuda.set_device(0)
    ac.cuda.set_device("cuda:0")
    with pytest.raises(ArgumentError, match="set_device: 'cpu' is not"):
        ac.cuda.set_device("cpu")
    registry()._loaded.pop("gpu", None)


test_errors_say_where_the_operands_are = refusals(
    r"""
    ac.ones(3, device='mirror') + ac.ones(3) -> ArgumentError: operands are on cpu and
        mirror
    ac.ones(3, device='mirror') @ ac.ones(3) -> ArgumentError: matmul: the operands are
    ac.cat([ac.ones(3, device='mirror'), ac.ones(3)]) -> ArgumentError: cat: the
        operands are
    F.linear(ac.ones(3, device='mirror'), ac.ones(3).reshape(1, 3)) -> ArgumentError:
        linear: the op
    ac.ones(3, device='mirror').numpy() -> ArgumentError: is on mirror; use cpu
    np.asarray(ac.ones(3, device='mirror')) -> ArgumentError: numpy: the tensor is on
        mirror
    np.from_dlpack(ac.ones(3, device='mirror')) -> ArgumentError: the tensor is on mi
    ac.compile(lambda t: t + 1)(ac.ones(3, device='mirror')) -> CompileError: for the
        CPU
    ac.set_default_device('mirror') -> ArgumentError: device: 'mirror' is given, but
    ac.ones(3, device='mirror').to('mirror:1') -> ArgumentError:
        mirror:1 does not exist;
    ac.device('mirror:x') -> ArgumentError: device: 'mirror:x' is not a
    ac.ones(3, device='mirror').to('moon') -> ArgumentError: is not available;
    ac.ones(3, device='mirror').expand(2, 4) -> ShapeError: expand
    """,
    globals(),
)


def test_a_second_device_of_a_kind_is_not_used_yet(monkeypatch):
    monkeypatch.setattr(LIBRARY, "count", lambda: 2)
    with pytest.raises(ArgumentError, match=r": tensors can only be on mirror:0\."):
        ac.device("mirror:1")


def test_the_reason_why_a_device_is_not_there(monkeypatch):
    import dataclasses

    def load():
        raise ac.errors.PluginError("there is no mirror in this room")

    broken = dataclasses.replace(MIRROR, name="broken", device="glass", load=load)
    monkeypatch.setitem(registry().sets, "broken", broken)
    monkeypatch.setitem(registry().origins, "broken", "tests")
    with pytest.raises(ArgumentError, match="broken: there is no mirror in this room"):
        ac.device("glass")
    registry()._loaded.pop("broken", None)


def test_a_tensor_goes_to_a_device_and_back_any_number_of_times():
    a = ac.tensor([1.5, -2.0])
    for _ in range(40):  # functions that run often run as short programs
        there = a.to("mirror")
        assert there.device.type == "mirror"
        assert there.cpu().tolist() == [1.5, -2.0]


def test_where_of_two_numbers_lies_with_the_condition():
    mask = ac.tensor([True, False]).to("mirror")
    chosen = ac.where(mask, 1.0, 0.0)
    assert chosen.device.type == "mirror"
    assert chosen.cpu().tolist() == [1.0, 0.0]
