# SPDX-License-Identifier: MIT
"""`axis` and `keepdims`, NumPy's names of `dim` and `keepdim`."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError

#: What stands before the dimension.
MORE = {
    "chunk": (2,),
    "kthvalue": (1,),
    "nanquantile": (0.5,),
    "quantile": (0.5,),
    "repeat_interleave": (2,),
    "take_along_dim": ([[0, 1, 0], [0, 1, 0]],),
    "tensor_split": (2,),
    "topk": (1,),
}
KEEPING = ["all", "amax", "amin", "aminmax", "any", "argmax", "argmin", "kthvalue",
           "logsumexp", "max", "mean", "median", "min", "mode", "nanmean",
           "nanquantile", "nansum", "prod", "quantile", "std", "std_mean", "sum", "var",
           "var_mean"]  # fmt: skip
OTHERS = ["argsort", "chunk", "count_nonzero", "cummax", "cummin", "cumprod", "cumsum",
          "diff", "log_softmax", "logcumsumexp", "repeat_interleave", "softmax", "sort",
          "squeeze", "take_along_dim", "tensor_split", "topk", "unbind",
          "unsqueeze"]  # fmt: skip
OF_SEVERAL = ["cat", "concat", "concatenate", "stack"]
FUNCTIONS_ALONE = {"std_mean", "var_mean"}
REQUIRED = {"cummax", "cummin", "cumprod", "cumsum", "logcumsumexp", "logsumexp",
            "unsqueeze"}  # fmt: skip


def arguments(lib, name):
    more = [lib.tensor(m) if isinstance(m, list) else m for m in MORE.get(name, ())]
    return (lib.tensor([[1.0, 5.0, 2.0], [4.0, 3.0, 6.0]]), *more)


def plain(result):
    if isinstance(result, (tuple, list)):
        return [plain(part) for part in result]
    return result.tolist()


def forms(lib, name):
    """Return the function and the method of a name."""
    functions = [getattr(lib, name)]
    if name not in {*FUNCTIONS_ALONE, *OF_SEVERAL}:
        functions.append(getattr(lib.Tensor, name))
    return functions


@pytest.mark.core
@pytest.mark.parametrize("name", [*KEEPING, *OTHERS])
@pytest.mark.parametrize("dim", [0, -1])
def test_axis_is_dim(name, dim):
    args = arguments(ac, name)
    for function in forms(ac, name):
        assert plain(function(*args, axis=dim)) == plain(function(*args, dim=dim))


@pytest.mark.core
@pytest.mark.parametrize("name", KEEPING)
def test_keepdims_is_keepdim(name):
    args = arguments(ac, name)
    for function in forms(ac, name):
        kept = plain(function(*args, axis=0, keepdims=True))
        assert kept == plain(function(*args, dim=0, keepdim=True))
        assert kept != plain(function(*args, axis=0, keepdims=False))


@pytest.mark.core
@pytest.mark.parametrize("name", OF_SEVERAL)
def test_joining_along_an_axis(name):
    parts = [ac.ones(2, 3), ac.zeros(2, 3)]
    function = getattr(ac, name)
    assert function(parts, axis=1).tolist() == function(parts, dim=1).tolist()


@pytest.mark.core
def test_a_cross_product_along_an_axis():
    x, y = ac.randn(3, 2), ac.randn(3, 2)
    assert ac.cross(x, y, axis=0).tolist() == ac.cross(x, y, dim=0).tolist()


@pytest.mark.core
def test_both_names_are_refused():
    x = ac.ones(2, 3)
    with pytest.raises(ArgumentError, match="sum: `dim`=0 and `axis`=1 say the same"):
        x.sum(0, axis=1)
    with pytest.raises(ArgumentError, match="sort: `dim`=0 and `axis`=1 say the same"):
        ac.sort(x, 0, axis=1)
    with pytest.raises(ArgumentError, match="`keepdim`=True and `keepdims`=True say"):
        x.mean(0, keepdim=True, keepdims=True)
    with pytest.raises(DTypeError, match="sum: `dim` is 'a'; it must be an integer"):
        x.sum(axis="a")
    with pytest.raises(ArgumentError, match="sum: `keepdim` is 3; it must be True or"):
        x.sum(axis=0, keepdims=3)


@pytest.mark.core
@pytest.mark.parametrize("name", sorted(REQUIRED))
def test_a_dimension_that_must_be_given(name):
    with pytest.raises(DTypeError, match=f"{name}: `dim` is missing; it must be an"):
        getattr(ac, name)(ac.ones(2))


@pytest.mark.torch
@pytest.mark.parametrize("name", [*KEEPING, *OTHERS, *OF_SEVERAL])
def test_as_pytorch_takes_them(name):
    torch = pytest.importorskip("torch")

    def results(lib):
        args = arguments(lib, name)
        args = ([args[0], args[0]],) if name in OF_SEVERAL else args
        more = {"keepdims": True} if name in KEEPING else {}
        found = [function(*args, axis=0, **more) for function in forms(lib, name)]
        return [plain(result) for result in found]

    mine, theirs = results(ac), results(torch)
    for a, b in zip(mine, theirs, strict=True):
        assert numbers_in(a) == pytest.approx(numbers_in(b), rel=1e-6)


def numbers_in(nested):
    """Return the numbers of nested lists."""
    if not isinstance(nested, list):
        return [float(nested)]
    return [x for part in nested for x in numbers_in(part)]
