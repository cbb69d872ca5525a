# SPDX-License-Identifier: MIT
"""Files under which PyTorch's users import what AutoCalc has elsewhere."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import autocalc as ac
from autocalc import distributions, nn
from autocalc.errors import ArgumentError, DTypeError
from autocalc.nn.modules.utils import _pair, _quadruple, _single, _triple
from autocalc.utils import _pytree as pytree

MODULES = sorted(m.name for m in pkgutil.iter_modules(nn.modules.__path__))
DISTRIBUTIONS = sorted(
    name
    for _, name, _ in pkgutil.iter_modules(distributions.__path__)
    if not name.startswith("_") and name not in ("constraints", "kl", "transforms")
)
PLACES = [
    *(f"nn.modules.{name}" for name in MODULES),
    *(f"distributions.{name}" for name in DISTRIBUTIONS),
    "autograd.function",
]


@pytest.mark.parametrize("place", PLACES)
def test_a_place_holds_what_stands_above_it(place):
    module = importlib.import_module(f"autocalc.{place}")
    above = {"nn": nn, "autograd": ac.autograd}.get(place.split(".")[0], distributions)
    for name in getattr(module, "__all__", ()):
        if hasattr(above, name):
            assert getattr(module, name) is getattr(above, name)


@pytest.mark.torch
@pytest.mark.parametrize("place", PLACES)
def test_a_place_is_pytorchs(place):
    pytest.importorskip("torch")
    ours = importlib.import_module(f"autocalc.{place}")
    theirs = importlib.import_module(f"torch.{place}")
    bases = {n for n, v in vars(ours).items() if n[0] == "_" and isinstance(v, type)}
    for name in {*getattr(ours, "__all__", ()), *bases}:
        assert hasattr(theirs, name)


def test_every_module_has_a_place():
    found = set[str]()
    for name in MODULES:
        place = importlib.import_module(f"autocalc.nn.modules.{name}")
        found |= set(getattr(place, "__all__", ()))
    classes = {n for n in nn.__all__ if isinstance(getattr(nn, n), type)}
    assert {n for n in classes - found if issubclass(getattr(nn, n), nn.Module)} == {
        "DataParallel"
    }


def test_bases_are_those_of_the_classes():
    modules = nn.modules
    assert isinstance(nn.BatchNorm2d(3), modules.batchnorm._BatchNorm)
    assert isinstance(nn.InstanceNorm1d(3), modules.instancenorm._InstanceNorm)
    assert isinstance(nn.ConvTranspose2d(1, 1, 1), modules.conv._ConvNd)
    assert issubclass(nn.CrossEntropyLoss, modules.loss._WeightedLoss)
    assert issubclass(nn.MSELoss, modules.loss._Loss)
    assert issubclass(nn.LSTM, modules.rnn.RNNBase)


def test_one_number_becomes_several():
    assert _single(2) == (2,)
    assert _pair(2) == (2, 2)
    assert _triple([1, 2, 3]) == (1, 2, 3)
    assert _quadruple("a") == ("a",)


def test_mixed_precision_has_its_older_place():
    @ac.cuda.amp.autocast(True)
    def double(x):
        return 2 * x

    scaler = ac.cuda.amp.GradScaler(enabled=True)
    with ac.cuda.amp.autocast(enabled=False, dtype=ac.float16):
        assert scaler.scale(double(ac.ones(1))).dtype is ac.float32
    with pytest.raises(ArgumentError, match="autocast: `enabled`"):
        ac.cuda.amp.autocast(enabled=2)
    with pytest.raises(AttributeError, match=r"'autocalc\.cuda' has no attribute 'x'"):
        _ = ac.cuda.x


# ---- nests ---------------------------------------------------------------------------

NEST = {"a": [1, (2, None)], "b": {"c": ()}, "d": ac.finfo}


def test_a_nest_comes_back():
    leaves, spec = pytree.tree_flatten(NEST)
    assert leaves == [1, 2, None, ac.finfo]
    assert spec.num_leaves == 4
    assert pytree.tree_unflatten(leaves, spec) == NEST
    assert pytree.tree_structure(5).is_leaf()
    assert pytree.tree_leaves(NEST, is_leaf=lambda t: isinstance(t, list)) == [
        [1, (2, None)],
        ac.finfo,
    ]


def test_a_named_tuple_keeps_its_class():
    lengths = ac.tensor([2, 1])
    packed = nn.utils.rnn.pack_padded_sequence(ac.ones(2, 2), lengths)
    again = pytree.tree_map(lambda x: x, packed)
    assert type(again) is nn.utils.rnn.PackedSequence
    assert again.data is packed.data


def test_functions_are_mapped_over_leaves():
    total = pytree.tree_map(lambda a, b: a + b, [1, {"x": 2}], [10, {"x": 20}])
    assert total == [11, {"x": 22}]
    assert pytree.tree_map_only((int,), str, [1, "a", 2.5]) == ["1", "a", 2.5]


def test_what_is_no_nest_of_the_structure_is_refused():
    spec = pytree.tree_structure([1, 2])
    with pytest.raises(ArgumentError, match="there are 3 leaves; the structure has 2"):
        pytree.tree_unflatten([1, 2, 3], spec)
    with pytest.raises(DTypeError, match="tree_unflatten: `treespec` is 5"):
        pytree.tree_unflatten([1, 2], 5)
    with pytest.raises(ArgumentError, match=r"tree_map: .* has another structure than"):
        pytree.tree_map(max, [1, 2], [1])
    with pytest.raises(
        DTypeError, match="tree_map: `func` is 3; it must be a function"
    ):
        pytree.tree_map(3, [1])
    with pytest.raises(DTypeError, match="tree_leaves: `is_leaf` is 3"):
        pytree.tree_leaves([1], is_leaf=3)
    with pytest.raises(DTypeError, match="tree_map_only: `types` is 'a'"):
        pytree.tree_map_only("a", str, [1])
