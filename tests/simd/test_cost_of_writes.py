# SPDX-License-Identifier: MIT
"""A write at one index: its gradient, and a cost that no size of the tensor changes."""

from time import perf_counter

import pytest

import autocalc as ac
from autocalc.nn import functional as F

AT = ac.tensor([3])
PAIR = ac.tensor([[2]])

#: Writes into a vector x of the one element of v.
VECTORS = {
    "index_fill_": lambda x, v: x.index_fill_(0, AT, 2.0),
    "index_fill_, from the end": lambda x, v: x.index_fill_(0, AT - 5, 2.0),
    "index_put_": lambda x, v: x.index_put_((AT,), v),
    "index_put_, added": lambda x, v: x.index_put_((AT,), v, accumulate=True),
    "put_": lambda x, v: x.put_(AT, v),
    "put_, added": lambda x, v: x.put_(AT, v, accumulate=True),
    "scatter_, a number": lambda x, v: x.scatter_(0, AT, 2.0),
    "scatter_": lambda x, v: x.scatter_(0, AT, v),
    "scatter_, added": lambda x, v: x.scatter_(0, AT, v, reduce="add"),
    "scatter_add_": lambda x, v: x.scatter_add_(0, AT, v),
    "index_add_": lambda x, v: x.index_add_(0, AT, v),
    "index_copy_": lambda x, v: x.index_copy_(0, AT, v),
    "x[i] = v": lambda x, v: x.__setitem__(3, v[0]),
    "x[tensor] = v": lambda x, v: x.__setitem__(AT, v),
    "x[i] += v": lambda x, v: x.__setitem__(3, x[3] + v[0]),
    "x[tensor] += v": lambda x, v: x.__setitem__(AT, x[AT] + v),
    "x[i:j] = v": lambda x, v: x.__setitem__(slice(3, 4), v),
    "select().fill_": lambda x, v: x.select(0, 3).fill_(2.0),
    "narrow().copy_": lambda x, v: x.narrow(0, 3, 1).copy_(v),
}


def scatter_reduce(name, own):
    return lambda x, v: x.scatter_reduce_(0, AT, v, name, include_self=own)


def index_reduce(name, own):
    return lambda x, v: x.index_reduce_(0, AT, v, name, include_self=own)


for own in (True, False):
    for name in ("sum", "prod", "mean", "amax", "amin"):
        VECTORS[f"scatter_reduce_, {name}, {own}"] = scatter_reduce(name, own)
    for name in ("prod", "mean", "amax", "amin"):
        VECTORS[f"index_reduce_, {name}, {own}"] = index_reduce(name, own)

#: The same of rows of ten.
ROWS = {
    "index_fill_, a row": lambda x, v: x.index_fill_(0, AT, 2.0),
    "index_copy_, a row": lambda x, v: x.index_copy_(0, AT, v.expand(1, 10)),
    "index_add_, a row": lambda x, v: x.index_add_(0, AT, v.expand(1, 10)),
    "index_reduce_, a row": lambda x, v: x.index_reduce_(
        0, AT, v.expand(1, 10), "mean"
    ),
    "scatter_, one element": lambda x, v: x.scatter_(0, PAIR, v.reshape(1, 1)),
    "scatter_, along rows": lambda x, v: x.scatter_(1, PAIR, 2.0),
    "scatter_add_, one element": lambda x, v: x.scatter_add_(0, PAIR, v.reshape(1, 1)),
    "scatter_reduce_, one element": lambda x, v: x.scatter_reduce_(
        0, PAIR, v.reshape(1, 1), "prod"
    ),
    "index_put_, a pair": lambda x, v: x.index_put_((AT, AT), v),
    "x[i, tensor] = v": lambda x, v: x.__setitem__((3, AT), v),
    "x[tensor, tensor] = v": lambda x, v: x.__setitem__((AT, AT), v),
    "x[tensor] = a row": lambda x, v: x.__setitem__(AT, v.expand(10)),
    "fill_diagonal_": lambda x, v: x.fill_diagonal_(2.0),
}
#: Writes that are never recorded.
UNRECORDED = {
    "scatter_, multiplied": (lambda x, v: x.scatter_(0, AT, v, reduce="multiply"), 1),
    "embedding(max_norm=)": (lambda x, v: F.embedding(AT, x, max_norm=1.0), 2),
}
WRITES = {
    **{how: (write, 1) for how, write in VECTORS.items()},
    **{how: (write, 2) for how, write in ROWS.items()},
}


def shaped(x, dims):
    return x if dims == 1 else x.reshape(-1, 10)


def seconds(write, x, v):
    """Return what the fastest of some writes takes."""
    write(x, v)
    best = 1.0
    for _ in range(5):
        start = perf_counter()
        write(x, v)
        best = min(best, perf_counter() - start)
    return best


@pytest.fixture(scope="module")
def numbers():
    return {size: ac.zeros(size) for size in (1000, 10_000_000)}


def assert_same_cost(write, few, many):
    v = ac.tensor([2.0])
    few, many = seconds(write, few, v), seconds(write, many, v)
    assert many < 4 * few + 3e-4  # the elements are not copied in less than 2e-3


@pytest.mark.parametrize("how", [*WRITES, *UNRECORDED])
def test_a_write_costs_what_it_writes(how, numbers):
    write, dims = {**WRITES, **UNRECORDED}[how]
    assert_same_cost(write, *[shaped(x, dims) for x in numbers.values()])


@pytest.mark.parametrize("how", WRITES)
def test_so_does_one_that_is_recorded(how, numbers):
    write, dims = WRITES[how]
    leaf = ac.zeros((), requires_grad=True)
    few, many = (shaped(x.detach(), dims) for x in numbers.values())
    few[:1] = leaf
    many[:1] = leaf
    assert many.requires_grad
    assert_same_cost(write, few, many)


@pytest.mark.parametrize("how", WRITES)
def test_its_gradient(how):
    write, dims = WRITES[how]

    def written(x, v):
        y = shaped(x * 1, dims)
        write(y, v)
        return y

    x = ac.arange(50.0, dtype=ac.float64) / 7 - 2
    v = ac.tensor([0.3], dtype=ac.float64)
    given = x.requires_grad_(), v.requires_grad_()
    assert ac.autograd.gradcheck(written, given)
    with ac.no_grad():
        plain = shaped(x.clone(), dims)
        write(plain, v)
    assert written(*given).tolist() == plain.tolist()


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("axis", [0, 1])
def test_reductions_of_several_terms_at_few_places(reduce, own, axis):
    x = ac.arange(60.0).reshape(6, 10) / 30 - 0.7
    index = ac.tensor([[1, 1, 4], [0, 1, 4], [1, 2, 4]])
    src = ac.arange(9.0).reshape(3, 3) / 4 - 1
    wanted = x.scatter_reduce(axis, index, src, reduce, include_self=own)
    x.scatter_reduce_(axis, index, src, reduce, include_self=own)
    assert ac.allclose(x, wanted)
