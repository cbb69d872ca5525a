# SPDX-License-Identifier: MIT
"""Names that libraries for PyTorch ask of AutoCalc's modules."""

from __future__ import annotations

import importlib
import inspect
import re
import typing

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.utils import _pytree

pytestmark = pytest.mark.core

PLACES = "autocalc autocalc.nn autocalc.optim autocalc.data autocalc.distributions"


@pytest.mark.parametrize("place", PLACES.split())
def test_types_of_public_classes_can_be_read(place):
    module = importlib.import_module(place)
    for name in module.__all__:
        found = getattr(module, name)
        if inspect.isclass(found):
            typing.get_type_hints(found)
            typing.get_type_hints(found.__init__)


def test_datasets_and_samplers_are_generic():
    class Numbers(ac.utils.data.Dataset[int]):
        pass

    assert issubclass(Numbers, ac.utils.data.Dataset)
    for name in ("IterableDataset", "DataLoader", "Sampler", "Subset", "TensorDataset"):
        kind = getattr(ac.utils.data, name)
        assert typing.get_origin(kind[int]) is kind


def tensors(*values):
    return [ac.tensor(value) for value in values]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("_foreach_add", (2.0,), [[3.0, 4.0], [5.0]]),
        ("_foreach_add", (tensors([1.0, 1.0], [2.0]),), [[2.0, 3.0], [5.0]]),
        ("_foreach_mul", ([2.0, 3.0],), [[2.0, 4.0], [9.0]]),
        ("_foreach_maximum", (2.0,), [[2.0, 2.0], [3.0]]),
        ("_foreach_sqrt", (), [[1.0, 2.0**0.5], [3.0**0.5]]),
        ("_foreach_neg", (), [[-1.0, -2.0], [-3.0]]),
        ("_foreach_lerp", (tensors([3.0, 4.0], [5.0]), 0.5), [[2.0, 3.0], [4.0]]),
        (
            "_foreach_addcmul",
            (tensors([1.0, 1.0], [1.0]), tensors([2.0, 3.0], [4.0]), 10.0),
            [[21.0, 32.0], [43.0]],
        ),
        (
            "_foreach_addcdiv",
            (tensors([1.0, 2.0], [1.0]), tensors([2.0, 4.0], [4.0]), [2.0, 4.0]),
            [[2.0, 3.0], [4.0]],
        ),
    ],
)
def test_an_operator_for_a_list(name, arguments, expected):
    found = getattr(ac, name)(tensors([1.0, 2.0], [3.0]), *arguments)
    for got, want in zip(found, expected, strict=True):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-6)
    changed = tensors([1.0, 2.0], [3.0])
    assert getattr(ac, f"{name}_")(changed, *arguments) is None
    for got, want in zip(changed, expected, strict=True):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-6)


def test_more_operators_for_a_list():
    x, y = tensors([3.0, 4.0], [2.0]), tensors([1.0, 1.0], [1.0])
    assert [n.item() for n in ac._foreach_norm(x)] == [5.0, 2.0]
    (z,) = ac._foreach_add(tensors([1.0]), tensors([2.0]), alpha=3)
    assert z.item() == 7.0
    ac._foreach_copy_(y, x)
    assert y[0].tolist() == [3.0, 4.0]
    ac._foreach_zero_(y)
    assert y[1].item() == 0.0
    with pytest.raises(
        ArgumentError, match=r"_foreach_mul_: there are 2 tensors and 1"
    ):
        ac._foreach_mul_(x, [1.0])
    assert not hasattr(ac, "_foreach_no_such")


def test_classes_become_nodes_of_trees():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    _pytree.register_pytree_node(
        Pair, lambda p: ([p.a, p.b], "kept"), lambda both, context: Pair(*both)
    )
    tree = {"x": Pair(1, [2, 3])}
    leaves, spec = _pytree.tree_flatten(tree)
    assert leaves == [1, 2, 3]
    assert _pytree.tree_unflatten([4, 5, 6], spec)["x"].b == [5, 6]
    assert Pair in _pytree.SUPPORTED_NODES
    with pytest.raises(ArgumentError, match=r"already registered\."):
        _pytree.register_pytree_node(Pair, None, None)


def test_views_share_a_storage():
    x = ac.zeros(4, 3)
    memory = x[1:, 1].untyped_storage()
    assert memory.data_ptr() == x.data_ptr() == x.t().untyped_storage().data_ptr()
    assert len(memory) == memory.nbytes() == 48
    x.fill_(1)
    assert np.frombuffer(bytes(memory.tolist()), np.float32).tolist() == [1.0] * 12
    assert ac.asarray(memory[:4]).tolist() == memory.tolist()[:4]
    assert ac.ones(2).untyped_storage().data_ptr() != x.data_ptr()


def test_a_storage_of_a_file(tmp_path):
    file = tmp_path / "bytes"
    file.write_bytes(bytes(range(8)))
    found = ac.UntypedStorage.from_file(str(file), False, 8)
    assert found[2] == 2
    assert found[2:4].tolist() == [2, 3]
    assert ac.UntypedStorage(3).tolist() == [0, 0, 0]
    with pytest.raises(IndexError, match="UntypedStorage"):
        found[8]


def test_all_tensors_are_strided():
    assert ac.ones(2).layout is ac.strided
    assert isinstance(ac.strided, ac.layout)
    assert not ac.float32.is_complex


def test_a_view_that_repeats_nothing_can_be_written():
    x = ac.arange(4)
    x.expand(1, -1).copy_(ac.zeros(1, 4))
    assert x.tolist() == [0, 0, 0, 0]
    x.expand(2, 1, 4)[:1].numpy()
    for shape in ((2, 4), (0, 4)):
        assert not ac.ones(4).expand(shape).numpy().flags.writeable
    y = ac.zeros(3, 2).t()
    y.expand(1, 2, 3)[0, 1] = ac.ones(3)
    assert y.tolist() == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]


def test_fans_of_a_weight():
    weight = ac.zeros(4, 3, 2, 2)
    assert ac.nn.init._calculate_fan_in_and_fan_out(weight) == (12, 16)
    assert ac.nn.init._calculate_correct_fan(weight, "fan_out") == 16
    with pytest.raises(ArgumentError, match="use 'fan_in' or 'fan_out'"):
        ac.nn.init._calculate_correct_fan(weight, "fan")
    with pytest.raises(ShapeError, match="no inputs and outputs"):
        ac.nn.init._calculate_fan_in_and_fan_out(ac.zeros(3))


def test_a_gradient_that_is_broadcast_is_summed():
    class Repeated(ac.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * ac.ones(3, 2)

        @staticmethod
        def backward(ctx, g):
            return g

    x = ac.ones(1, 2, requires_grad=True)
    Repeated.apply(x).sum().backward()
    assert x.grad.tolist() == [[3.0, 3.0]]

    class Wrong(Repeated):
        @staticmethod
        def forward(ctx, x):
            return ac.ones(3, 2)

    total = Wrong.apply(ac.ones(3, requires_grad=True)).sum()
    match = r"gradient 0 has shape \(3, 2\), but expected shape \(3,\), that of its"
    with pytest.raises(ShapeError, match=match):
        total.backward()


def test_parts_of_distributions():
    utils = importlib.import_module("autocalc.distributions.utils")
    a, _ = utils.broadcast_all(1, ac.zeros(2, dtype=ac.float64))
    assert a.dtype is ac.float64
    assert a.tolist() == [1.0, 1.0]
    with pytest.raises(DTypeError, match="neither a number nor a tensor"):
        utils.broadcast_all("x")
    vectors = ac.arange(12.0).reshape(2, 6)
    matrices = utils.vec_to_tril_matrix(vectors)
    assert matrices.shape == (2, 3, 3)
    assert utils.tril_matrix_to_vec(matrices).tolist() == vectors.tolist()
    assert utils.tril_matrix_to_vec(utils.vec_to_tril_matrix(vectors, -1), -1).equal(
        vectors
    )
    logits = ac.tensor([0.5, -1.0])
    np.testing.assert_allclose(
        utils.probs_to_logits(utils.logits_to_probs(logits, True), True).numpy(),
        logits.numpy(),
        rtol=1e-5,
    )
    normal = ac.distributions.Normal(ac.zeros(2, 3), 1.0)
    assert isinstance(normal.batch_shape, ac.Size)
    assert normal.batch_shape[1:].numel() == 3

    class Counting:
        calls = 0

        @utils.lazy_property
        def value(self):
            self.calls += 1
            return 5

    counting = Counting()
    assert counting.value + counting.value == 10
    assert counting.calls == 1


def test_the_places_of_names():
    from autocalc.amp.autocast_mode import autocast
    from autocalc.autograd.function import FunctionCtx
    from autocalc.distributions.wishart import Wishart
    from autocalc.nn.modules.module import _IncompatibleKeys
    from autocalc.nn.utils.fusion import fuse_conv_bn_eval
    from autocalc.optim.optimizer import ParamsT, required
    from autocalc.utils.hooks import RemovableHandle

    assert autocast is ac.autocast
    assert FunctionCtx is ac.autograd.FunctionContext
    assert Wishart is ac.distributions.Wishart
    assert isinstance(ac.nn.Linear(1, 1).load_state_dict({}, False), _IncompatibleKeys)
    assert fuse_conv_bn_eval is ac.nn.utils.fuse_conv_bn_eval
    assert repr(required) == "<required parameter>"
    assert ParamsT
    assert isinstance(ac.nn.Linear(1, 1).register_forward_hook(print), RemovableHandle)


def test_absent_names_have_reasons():
    for name in ("to_sparse_bsr",):
        with pytest.raises(AttributeError, match="the layouts COO, CSR and CSC"):
            getattr(ac.ones(1), name)
    with pytest.raises(AttributeError, match=re.escape("ac.profiler.profile")):
        ac.profiler.schedule  # noqa: B018  # reading it is the test


def test_more_places_of_names():
    from autocalc.distributed import Backend
    from autocalc.distributions.studentT import StudentT
    from autocalc.nn.parallel.distributed import DistributedDataParallel
    from autocalc.optim.adamw import AdamW
    from autocalc.utils.checkpoint import get_device_states

    assert StudentT is ac.distributions.StudentT
    assert DistributedDataParallel is ac.nn.parallel.DistributedDataParallel
    assert AdamW is ac.optim.AdamW
    assert Backend("NCCL") == Backend.NCCL == "nccl"
    assert not ac.distributed.is_nccl_available()
    assert get_device_states(ac.ones(1)) == ([], [])
    assert ac.utils.checkpoint.set_device_states([], []) is None


def test_no_precision_changes_on_its_own():
    assert not ac.is_autocast_enabled()
    assert not ac.is_autocast_enabled("cpu")
    assert ac.get_autocast_dtype("cpu") is ac.bfloat16
    assert ac.get_autocast_dtype("cuda") is ac.float16


def test_a_dense_tensor_is_its_own_dense_tensor():
    x = ac.ones(2)
    assert x.to_dense() is x


def test_the_registry_can_be_read_from_its_end():
    model = ac.nn.Sequential(ac.nn.ReLU(), ac.nn.Tanh())
    assert [name for name, _ in reversed(model._modules.items())] == ["1", "0"]
    model.register_buffer("b", ac.ones(1), persistent=False)
    assert model._non_persistent_buffers_set == {"b"}


def test_divergences_of_classes_of_a_program():
    class Mine:
        pass

    @ac.distributions.register_kl(Mine, Mine)
    def _(p, q):
        return 3

    assert ac.distributions.kl_divergence(Mine(), Mine()) == 3
    with pytest.raises(DTypeError, match="`type_q` is 3; it must be a class"):
        ac.distributions.register_kl(Mine, 3)
    with pytest.raises(DTypeError, match="`p` is 3; it must be a distribution"):
        ac.distributions.kl_divergence(3, Mine())


def test_in_a_block_of_meta_tensors_have_no_elements():
    meta = ac.device("meta")
    with meta:
        x = ac.ones(2)
        assert ac.tensor([]).device == meta == ac.get_default_device()
        with ac.device("cpu"):
            assert ac.zeros(2).tolist() == [0.0, 0.0]
            assert ac.get_default_device() == ac.device("cpu")
        assert x.to(meta) is x
    assert x.device == meta != ac.get_default_device()
    assert ac.ones(2).device == ac.device("cpu")
