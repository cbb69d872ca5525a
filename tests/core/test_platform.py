# SPDX-License-Identifier: MIT
"""What programs ask of the machine and of the library before they begin."""

from __future__ import annotations

import math

import pytest

import autocalc as ac


def test_there_is_no_cuda_and_no_mps():
    assert not ac.cuda.is_available()
    assert ac.cuda.device_count() == 0
    for act in (ac.cuda.empty_cache, ac.cuda.synchronize):
        act()
    assert not ac.backends.mps.is_available()
    assert not ac.backends.mps.is_built()
    assert not ac.backends.cudnn.is_available()
    with pytest.raises(ac.errors.ArgumentError, match="'cuda:0' is not available"):
        ac.ones(1).to(device="cuda:0")


def test_switches_of_backends_that_are_not_there(monkeypatch):
    from autocalc.backends import cudnn

    for name in ("benchmark", "deterministic", "enabled"):
        monkeypatch.setattr(cudnn, name, False)  # whatever a program has left
    assert cudnn is ac.backends.cudnn
    assert not cudnn.is_available()
    assert cudnn.version() is None
    for name in ("mkl", "mkldnn", "openmp", "mps"):
        assert not getattr(ac.backends, name).is_available()
    assert not ac.backends.cuda.is_built()
    with cudnn.flags(enabled=True, benchmark=True, deterministic=True):
        assert cudnn.benchmark
        assert cudnn.deterministic
    assert not cudnn.benchmark
    cudnn.benchmark = cudnn.deterministic = cudnn.enabled = True
    ac.backends.cuda.matmul.allow_tf32 = False
    ac.backends.mkldnn.enabled = False
    for name in ("flash", "math", "mem_efficient", "cudnn"):
        asked = getattr(ac.backends.cuda, f"{name}_sdp_enabled")
        enable = getattr(ac.backends.cuda, f"enable_{name}_sdp")
        enable(False)
        assert not asked()
        enable(True)
        assert asked()
        with pytest.raises(ac.errors.ArgumentError, match=f"enable_{name}_sdp: .*True"):
            enable("yes")
    with (
        pytest.raises(ac.errors.ArgumentError, match=r"cudnn.flags: `benchmark` is 3"),
        cudnn.flags(benchmark=3),
    ):
        pass


def test_seeds_of_devices_that_are_not_there_change_nothing():
    ac.manual_seed(1)
    first = ac.rand(1).item()
    ac.manual_seed(1)
    ac.cuda.manual_seed(2)
    ac.cuda.manual_seed_all(2)
    assert ac.rand(1).item() == first
    assert ac.initial_seed() == 1


def test_the_state_of_the_default_generator():
    ac.manual_seed(4)
    ac.rand(3)
    state = ac.get_rng_state()
    drawn = ac.rand(5)
    ac.set_rng_state(state)
    assert ac.equal(ac.rand(5), drawn)
    assert ac.seed() == ac.initial_seed()
    with pytest.raises(ac.errors.ArgumentError, match="give what `get_rng_state`"):
        ac.set_rng_state(ac.ones(2))


def test_arguments_of_to():
    x = ac.ones(2)
    assert x.to("cpu", non_blocking=True) is x
    assert x.to(device=ac.device("cpu"), dtype=ac.float64).dtype is ac.double
    assert x.to(ac.int).dtype is ac.int32
    assert isinstance(x.dtype, ac.dtype)


def test_inference_mode_records_nothing():
    x = ac.ones(1, requires_grad=True)
    with ac.inference_mode():
        assert not (x * 2).requires_grad
    with ac.no_grad(), ac.inference_mode(False):
        assert (x * 2).requires_grad

    @ac.inference_mode()
    def double(x):
        return x * 2

    assert not double(x).requires_grad
    assert ac.is_grad_enabled()


def test_questions_to_a_tensor():
    x = ac.ones(2, 3)
    assert x.is_cpu
    for answer in (x.is_cuda, x.is_mps, x.is_sparse, x.is_quantized, x.is_complex()):
        assert answer is False
    assert (x.get_device(), x.ndimension(), x.nelement()) == (-1, 2, 6)
    assert (x[1].storage_offset(), x.stride(0), x.stride()) == (3, 3, (3, 1))
    assert x.pin_memory() is x.share_memory_() is x
    assert x.is_same_size(x[:1]) is False
    assert 1 in x
    assert 2 not in x
    assert next(iter(reversed(ac.arange(3)))).item() == 2
    with pytest.raises(ac.errors.ArgumentError, match="'cuda' is not available"):
        x.cuda()
    with pytest.raises(ac.errors.DimensionError, match="stride: `dim`=2 is out of ran"):
        x.stride(2)
    y = x.requires_grad_() * 2
    assert y.numpy(force=True).sum() == 12
    y.retain_grad()
    assert (x.retains_grad, y.retains_grad) == (False, True)


def test_tensors_by_the_names_of_older_programs():
    assert ac.FloatTensor(2, 3).shape == ac.Tensor(2, 3).shape == (2, 3)
    assert ac.LongTensor([1, 2]).dtype is ac.int64
    assert ac.DoubleTensor().shape == (0,)
    x = ac.ones(1)
    assert isinstance(x, ac.FloatTensor)
    assert not isinstance(x, ac.LongTensor)
    assert x.type() == "autocalc.FloatTensor"
    for kind in (ac.LongTensor, "torch.LongTensor", ac.int64, "int64"):
        assert x.type(kind).dtype is ac.int64
    assert (x.byte().dtype, x.char().dtype, x.short().dtype) == (
        *(ac.uint8, ac.int8, ac.int16),
    )
    assert ac.nn.Linear(1, 1).type(ac.DoubleTensor).weight.dtype is ac.float64
    with pytest.raises(ac.errors.ArgumentError, match="Tensor: got 2 arguments"):
        ac.Tensor([1.0], 2)
    with pytest.raises(ac.errors.ArgumentError, match="'cuda' is not available"):
        ac.nn.Linear(1, 1).cuda()


def test_functions_that_pytorch_has_in_two_places():
    x = ac.tensor([[-1.0, 2.0]])
    assert ac.relu_(x).tolist() == [[0, 2]]
    assert ac.dropout(x, 0.5, False) is x
    assert ac.clip(x, 0, 1).tolist() == ac.clamp(x, 0, 1).tolist()
    assert ac.concat([x, x]).shape == ac.row_stack([x, x]).shape == (2, 2)
    assert {"relu_", "conv2d", "autocast"} <= set(dir(ac))
    with pytest.raises(AttributeError, match="no attribute 'no_such_thing'"):
        _ = ac.no_such_thing


def test_switches_with_one_setting():
    ac.set_default_device("cpu")
    assert ac.get_default_device() == ac.device("cpu")
    ac.set_float32_matmul_precision("high")
    assert ac.get_float32_matmul_precision() == "high"
    assert ac.backends.cuda.matmul.allow_tf32
    ac.backends.cuda.matmul.allow_tf32 = False
    assert ac.get_float32_matmul_precision() == "highest"
    ac.set_num_interop_threads(3)
    assert ac.get_num_interop_threads() == 1
    ac.set_default_tensor_type("torch.DoubleTensor")
    assert ac.ones(1).dtype is ac.float64
    ac.set_default_tensor_type(ac.FloatTensor)
    assert not ac.accelerator.is_available()
    assert ac.accelerator.device_count() == 0
    with pytest.raises(ac.errors.ArgumentError, match="is not 'highest', 'high'"):
        ac.set_float32_matmul_precision("fast")


def test_mixed_precision_is_off_on_a_device_that_is_not_there():
    layer = ac.nn.Linear(1, 1)
    optimizer, scaler = ac.optim.SGD(layer.parameters(), 0.5), ac.amp.GradScaler()
    with ac.autocast("cuda", dtype=ac.float32):
        loss = layer(ac.ones(1, 1)).sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    before = layer.bias.item()
    scaler.step(optimizer)
    scaler.update()
    assert layer.bias.item() == pytest.approx(before - 0.5)
    scaler.load_state_dict(scaler.state_dict())
    assert ac.amp.autocast("cpu", enabled=False)(max)(1, 2) == 2


def test_limits_of_dtypes():
    assert ac.finfo(ac.float64).max == 1.7976931348623157e308
    assert "eps=1.19209e-07, smallest_normal=1.17549e-38, tin" in repr(ac.finfo())
    assert (ac.iinfo(ac.uint8).max, ac.iinfo(ac.int16).bits) == (255, 16)
    with pytest.raises(ac.errors.DTypeError, match="finfo: int64 is not a floating"):
        ac.finfo(ac.int64)
    with pytest.raises(ac.errors.DTypeError, match="iinfo: float32 is not an integer"):
        ac.iinfo(ac.float32)


def test_gradients_of_chosen_inputs():
    x, y = ac.ones(1, requires_grad=True), ac.ones(1, requires_grad=True)
    (x * y).backward(inputs=[x])
    assert (x.grad.item(), y.grad) == (1, None)
    found = ac.autograd.grad(x * 2, [x, y], materialize_grads=True)
    assert [g.item() for g in found] == [2, 0]
    with pytest.raises(ac.errors.GradError, match=r"`inputs\[0\]` of shape \(1,\)"):
        (x * y).backward(inputs=ac.ones(1))
    with pytest.raises(ac.errors.GradError, match="grad: `materialize_grads`=True"):
        ac.autograd.grad(x * 2, x, allow_unused=False, materialize_grads=True)


def test_small_questions():
    assert ac.is_tensor(ac.ones(1))
    assert not ac.is_tensor(1.0)
    assert ac.numel(ac.ones(2, 3)) == 6
    assert ac.is_floating_point(ac.ones(1))
    assert not ac.is_floating_point(ac.arange(2))
    assert (ac.inf, ac.pi) == (math.inf, math.pi)
    assert math.isnan(ac.nan)


def test_places_from_which_older_programs_import():
    from autocalc.autograd import Variable
    from autocalc.nn.modules import Linear
    from autocalc.nn.modules.module import Module
    from autocalc.nn.parameter import Parameter
    from autocalc.optim.optimizer import Optimizer
    from autocalc.utils.data.dataloader import DataLoader
    from autocalc.utils.data.dataset import random_split
    from autocalc.utils.data.sampler import SubsetRandomSampler

    assert (Linear, Module, Parameter) == (ac.nn.Linear, ac.nn.Module, ac.nn.Parameter)
    assert Optimizer is ac.optim.Optimizer
    data = (ac.data.DataLoader, ac.data.random_split, ac.data.SubsetRandomSampler)
    assert (DataLoader, random_split, SubsetRandomSampler) == data
    x = ac.ones(1)
    assert Variable(x) is x
    assert Variable(x, requires_grad=True).requires_grad
    with pytest.raises(ac.errors.DTypeError, match="Variable: `data` is a list; it mu"):
        Variable([1.0])


def test_assert_as_a_function():
    ac._assert(ac.tensor([True]), "never seen")
    with pytest.raises(AssertionError, match="all sizes are even"):
        ac._assert(ac.tensor(3) % 2 == 0, "all sizes are even")


def test_a_device_is_made_of_what_it_is_printed_as():
    for device in (ac.device("cpu"), ac.device("cpu", 0), ac.device("cuda", 1)):
        assert eval(repr(device), {"device": ac.device}) == device


def test_the_offset_counts_from_the_storage():
    """Also where the tensor is no view: after `detach` and after `set_`."""
    x = ac.arange(16.0).reshape(4, 4)
    part = x[:, 1]
    assert x[2].detach().storage_offset() == 8
    part.set_(part.storage(), part.storage_offset(), (2, 2), (8, 4))
    assert part.tolist() == [[1, 5], [9, 13]]
    assert part.storage_offset() == 1
    assert ac.zeros(4, 3, device="meta")[2].storage_offset() == 6
