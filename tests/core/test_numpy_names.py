# SPDX-License-Identifier: MIT
"""`axis` and `keepdims`, NumPy's names of `dim` and `keepdim`."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, AutocalcError, DTypeError

#: The arguments before the dimension.
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


def square(lib):
    return lib.tensor([[1.0, 5.0, 2.0], [4.0, 3.0, 6.0], [0.5, 7.0, 8.0]])


def places(lib):
    return lib.tensor([[2, 1, 0], [0, 1, 2], [1, 2, 0]])


#: Calls of the library, a function of it or a method, and `dim` or `axis` by name.
BESIDE_OTHERS = {
    "gather": lambda m, f, x, **d: f(x, index=places(m), **d),
    "index_select": lambda m, f, x, **d: f(x, index=m.tensor([2, 0]), **d),
    "index_add": lambda m, f, x, **d: f(
        x, index=m.tensor([2, 0, 2]), source=x * 2, **d
    ),
    "index_copy": lambda m, f, x, **d: f(
        x, index=m.tensor([2, 0, 1]), source=x * 2, **d
    ),
    "index_fill": lambda m, f, x, **d: f(x, index=m.tensor([2, 0]), value=7.0, **d),
    "index_reduce": lambda m, f, x, **d: f(
        x, index=m.tensor([2, 0, 2]), source=x * 2, reduce="prod", **d
    ),
    "scatter": lambda m, f, x, **d: f(x, index=places(m), src=-x, **d),
    "scatter_add": lambda m, f, x, **d: f(x, index=places(m), src=x * 2, **d),
    "scatter_reduce": lambda m, f, x, **d: f(
        x, index=places(m), src=x * 2, reduce="amax", **d
    ),
    "select": lambda m, f, x, **d: f(x, index=1, **d),
    "narrow": lambda m, f, x, **d: f(x, start=1, length=2, **d),
    "narrow_copy": lambda m, f, x, **d: f(x, start=1, length=2, **d),
    "split_with_sizes": lambda m, f, x, **d: f(x, [1, 2], **d),
    "select_scatter": lambda m, f, x, **d: f(x, x[0] * 2, index=1, **d),
    "slice_scatter": lambda m, f, x, **d: f(x, x * 2, start=0, **d),
    "renorm": lambda m, f, x, **d: f(x, p=2, maxnorm=1.0, **d),
}
IN_PLACE = ["index_add", "index_copy", "index_fill", "index_reduce", "scatter",
            "scatter_add", "scatter_reduce", "renorm"]  # fmt: skip
NO_METHOD = {
    "cosine_similarity": lambda m, x, **d: m.cosine_similarity(x, x * x, **d),
    "cumulative_trapezoid": lambda m, x, **d: m.cumulative_trapezoid(x, **d),
    "trapezoid": lambda m, x, **d: m.trapezoid(x, **d),
    "trapz": lambda m, x, **d: m.trapz(x, **d),
    "gradient": lambda m, x, **d: m.gradient(x, **d),
    "select_copy": lambda m, x, **d: m.select_copy(x, index=1, **d),
    "slice_copy": lambda m, x, **d: m.slice_copy(x, start=1, **d),
    "split_with_sizes_copy": lambda m, x, **d: m.split_with_sizes_copy(x, [1, 2], **d),
    "unflatten": lambda m, x, **d: m.unflatten(x, sizes=(3, 1), **d),
    "vecdot": lambda m, x, **d: m.linalg.vecdot(x, x, **d),
    "cross": lambda m, x, **d: m.linalg.cross(x, x * x, **d),
    "linalg.norm": lambda m, x, **d: m.linalg.norm(x, 2, **d),
    "vector_norm": lambda m, x, **d: m.linalg.vector_norm(x, 3, **d),
    "squeeze_": lambda m, x, **d: x.clone().unsqueeze_(**d).squeeze_(**d),
    "cumsum_": lambda m, x, **d: x.cumsum_(**d),
}


def calls():
    """Yield (title, call of a library, a tensor and the dimension by name)."""
    for name, call in BESIDE_OTHERS.items():
        yield name, lambda m, x, c=call, n=name, **d: c(m, getattr(m, n), x, **d)
        method = lambda m, x, c=call, n=name, **d: c(m, getattr(m.Tensor, n), x, **d)
        yield f"Tensor.{name}", method
        if name in IN_PLACE:
            yield (
                f"Tensor.{name}_",
                lambda m, x, c=call, n=f"{name}_", **d: c(
                    m, getattr(m.Tensor, n), x, **d
                ),
            )
    yield from NO_METHOD.items()


CALLS = dict(calls())


def of_one(result):
    return plain(result) if not isinstance(result, int) else result


@pytest.mark.core
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("name", CALLS)
def test_axis_beside_other_arguments(name, dim):
    found = of_one(CALLS[name](ac, square(ac), axis=dim))
    assert found == of_one(CALLS[name](ac, square(ac), dim=dim))
    with pytest.raises(ArgumentError, match=r"`dim`=-2 and `axis`=-?\d mean the same"):
        CALLS[name](ac, square(ac), axis=dim, dim=-2)


@pytest.mark.core
@pytest.mark.parametrize(
    "name", [n for n in CALLS if n.rpartition(".")[2].rstrip("_") in BESIDE_OTHERS
             and "split" not in n and "slice" not in n]
)  # fmt: skip
def test_a_dimension_beside_others_must_be_given(name):
    with pytest.raises(DTypeError, match=r"\w+: `dim` is missing; it must be an"):
        CALLS[name](ac, square(ac))


@pytest.mark.core
@pytest.mark.parametrize("name", BESIDE_OTHERS)
def test_other_arguments_are_still_needed(name):
    if name == "slice_scatter":
        return  # the rest has defaults
    x = square(ac)
    more = (x[0],) if name == "select_scatter" else (2,) if name == "renorm" else ()
    with pytest.raises((AutocalcError, TypeError)):
        getattr(ac, name)(x, *more, axis=0)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch_takes_axis_beside_others(name):
    torch = pytest.importorskip("torch")
    for axis in (0, -1):
        mine, theirs = (of_one(CALLS[name](m, square(m), axis=axis))
                        for m in (ac, torch))  # fmt: skip
        assert numbers_in(mine) == pytest.approx(numbers_in(theirs), rel=1e-5)


@pytest.mark.core
def test_matrices_along_axes():
    x = ac.tensor([[[3.0, 1.0], [4.0, 0.0]]])
    found = ac.linalg.matrix_norm(x, axis=(0, 1), keepdims=True)
    assert ac.equal(found, ac.linalg.matrix_norm(x, dim=(0, 1), keepdim=True))
    assert ac.linalg.norm(x, axis=(0, 2), keepdims=True).shape == (1, 2, 1)
    assert ac.linalg.vector_norm(x, axis=1, keepdims=True).tolist() == [[[5.0, 1.0]]]
    with pytest.raises(ArgumentError, match=r"matrix_norm: `dim`=\(0, 1\) and"):
        ac.linalg.matrix_norm(x, dim=(0, 1), axis=(1, 2))


@pytest.mark.core
def test_a_cross_product_along_an_axis():
    x, y = ac.randn(3, 2), ac.randn(3, 2)
    assert ac.cross(x, y, axis=0).tolist() == ac.cross(x, y, dim=0).tolist()


@pytest.mark.core
def test_both_names_are_refused():
    x = ac.ones(2, 3)
    with pytest.raises(ArgumentError, match="sum: `dim`=0 and `axis`=1 mean the same"):
        x.sum(0, axis=1)
    with pytest.raises(ArgumentError, match="sort: `dim`=0 and `axis`=1 mean the same"):
        ac.sort(x, 0, axis=1)
    with pytest.raises(ArgumentError, match="`keepdim`=True and `keepdims`=True mean"):
        x.mean(0, keepdim=True, keepdims=True)
    with pytest.raises(DTypeError, match="sum: `dim` is 'a'; it must be an integer"):
        x.sum(axis="a")
    with pytest.raises(ArgumentError, match="sum: `keepdims` is 3; it must be True or"):
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
