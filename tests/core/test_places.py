# SPDX-License-Identifier: MIT
"""PyTorch's other paths: modules without files, for names that are elsewhere."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError
from autocalc.nn.modules.utils import (
    _pair,
    _quadruple,
    _single,
    _triple,
    consume_prefix_in_state_dict_if_present,
)
from autocalc.utils import _pytree as pytree

#: Each path has a stub for type checkers, and nothing else.
ROOT = Path(ac.__file__).parent
STUBS = {
    ".".join(stub.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): (
        stub
    )
    for stub in ROOT.rglob("*.pyi")
    if stub != ROOT / "_native.pyi"
}
PLACES = sorted(STUBS)
MODULES = [p.rpartition(".")[2] for p in PLACES if p.startswith("nn.modules.")]


def test_there_are_paths():
    assert len(PLACES) >= 50
    assert {"nn.modules.conv", "utils.data", "distributions.normal"} <= set(PLACES)


@pytest.mark.parametrize("place", PLACES)
def test_a_path_holds_the_names_of_its_stub(place):
    """`make interface` writes the stubs; they are up to date."""
    module = importlib.import_module(f"autocalc.{place}")
    names, renamed = {}, set()
    for line in ast.parse(STUBS[place].read_text(encoding="utf-8")).body:
        if isinstance(line, ast.ImportFrom):
            (name,) = line.names
            source = importlib.import_module(line.module)
            names[name.asname] = getattr(source, name.name)
        else:
            assert isinstance(line, ast.Assign)
            names[line.targets[0].id] = names[line.value.id]
            renamed.add(line.value.id)
    own = renamed - set(module.__all__)  # what a stub imports to give it another name
    names = {name: x for name, x in names.items() if name not in own}
    assert {name: getattr(module, name) for name in names} == names
    public = {name for name in names if not name.startswith("_")}
    paths = {name for name in public if f"{place}.{name}" in STUBS}
    assert public - paths == set(module.__all__) - paths


@pytest.mark.parametrize("place", PLACES)
def test_a_path_is_an_attribute_of_its_parent(place):
    found = ac
    for name in place.split("."):
        found = getattr(found, name)
    assert found is importlib.import_module(f"autocalc.{place}")
    assert importlib.util.find_spec(f"autocalc.{place}") is found.__spec__


def test_names_that_a_path_lacks():
    with pytest.raises(AttributeError, match=r"'autocalc\.nn\.modules' has no .* 'x'"):
        _ = nn.modules.x
    with pytest.raises(ModuleNotFoundError, match=r"autocalc\.nn\.modules\.x"):
        importlib.import_module("autocalc.nn.modules.x")
    with pytest.raises(ImportError, match="cannot import name 'Linear'"):
        exec("from autocalc.nn.modules.conv import Linear")


def test_help_describes_a_path():
    text = pydoc.plain(pydoc.render_doc(nn.modules.conv))
    assert "PyTorch's other path for names of `autocalc.nn`" in text
    assert "class Conv2d" in text


USERS = """
import autocalc.nn.modules.conv
from autocalc.nn.modules import Linear
from autocalc.nn.modules.batchnorm import _BatchNorm
from autocalc.nn.modules.utils import _pair
from autocalc.optim.optimizer import Optimizer
from autocalc.utils.data import DataLoader
from autocalc.utils.data.dataset import Dataset
from autocalc.distributions.normal import Normal

layer: autocalc.nn.Conv2d = autocalc.nn.modules.conv.Conv2d(1, 2, 3)
reveal_type(Linear(2, 3).weight)
reveal_type(_pair(3))
wrong: int = Normal(0.0, 1.0)
"""


@pytest.mark.slow
def test_type_checkers_follow_a_path(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(USERS)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull]
    done = subprocess.run(
        [*command, program.name],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    weight, pair, error, summary = done.stdout.splitlines()
    assert weight.endswith('"autocalc.nn._module.parameter.Parameter"')
    assert pair.endswith('"tuple[Any, ...]"')
    assert 'expression has type "Normal", variable has type "int"' in error
    assert summary.startswith("Found 1 error")


@pytest.mark.torch
@pytest.mark.parametrize("place", sorted({*PLACES} - {"nn.modules", "utils.data"}))
def test_a_place_is_pytorchs(place):
    """The two others hold all names of `nn` and `data`, AutoCalc's own as well."""
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
    missing = {n for n in classes - found if issubclass(getattr(nn, n), nn.Module)}
    # PyTorch has the first elsewhere, and the others not at all.
    assert missing == {"DataParallel", "QuantizedEmbedding", "QuantizedLinear"}


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


def test_a_prefix_is_taken_from_the_names_of_a_state():
    state = nn.Sequential(nn.Linear(1, 1)).state_dict(prefix="module.")
    consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["0.weight", "0.bias"]
    assert list(state._metadata) == ["", "0"]


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
    with pytest.raises(ArgumentError, match="tree_unflatten: 3 leaves were given,"):
        pytree.tree_unflatten([1, 2, 3], spec)
    with pytest.raises(DTypeError, match="tree_unflatten: `treespec` is 5"):
        pytree.tree_unflatten([1, 2], 5)
    with pytest.raises(ArgumentError, match="does not have the same structure as"):
        pytree.tree_map(max, [1, 2], [1])
    with pytest.raises(
        DTypeError, match="tree_map: `func` is 3; it must be a function"
    ):
        pytree.tree_map(3, [1])
    with pytest.raises(DTypeError, match="tree_leaves: `is_leaf` is 3"):
        pytree.tree_leaves([1], is_leaf=3)
    with pytest.raises(DTypeError, match="tree_map_only: `types` is 'a'"):
        pytree.tree_map_only("a", str, [1])
