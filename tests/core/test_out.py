# SPDX-License-Identifier: MIT
"""`out=` of the functions that PyTorch has it for."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError

#: The operands of functions: m a matrix, v a vector, b a batch of matrices, k a mask,
#: i positions, p a vector of them; a number is itself.
TABLE = """
m: ceil floor trunc frac round inverse logical_not msort sort median aminmax
m: diag tril triu nan_to_num nonzero max min all any amax amin argmax argmin argsort
m: mean sum prod nanmean nansum std var norm
m m: logical_and logical_or logical_xor matmul mm inner
v v: dot outer
[m]: column_stack dstack hstack vstack
m 1: cumprod cumsum logsumexp softmax log_softmax
m m m: addcdiv addcmul addmm
v m v: addmv
m v v: addr
m b b: addbmm
b b b: baddbmm
b b: bmm
m 2: clamp clamp_max clamp_min matrix_power topk
m v: mv
m 1 i: gather
m 1 i m: scatter scatter_add
m i 1: take_along_dim
m 0 p: index_select
m 0 p m: index_add index_copy
m m 2: lerp tensordot
m k: masked_select
k m m: where
"""
LINES = [line.split(": ") for line in TABLE.strip().splitlines()]
CASES = {name: kinds.split() for kinds, names in LINES for name in names.split()}


def operand(kind):
    if kind.isdigit():
        return int(kind)
    if kind == "[m]":
        return [operand("m"), operand("m")]
    rng = np.random.default_rng(7)
    made = {
        "m": rng.normal(1, 1, (3, 3)),
        "v": rng.normal(1, 1, 3),
        "b": rng.normal(1, 1, (2, 3, 3)),
        "k": np.eye(3) == 1,
        "i": np.array([[2, 0, 1], [0, 1, 2], [1, 2, 0]]),
        "p": np.array([2, 0, 1]),
    }
    return ac.tensor(made[kind])


@pytest.mark.parametrize("name", CASES)
def test_the_result_is_in_out(name):
    function, operands = getattr(ac, name), [operand(kind) for kind in CASES[name]]
    wanted = function(*operands)
    several = isinstance(wanted, tuple)
    parts = wanted if several else (wanted,)
    out = [ac.empty(0, dtype=one.dtype) for one in parts]
    result = function(*operands, out=tuple(out) if several else out[0])
    assert type(result) is type(wanted)
    for one, to, got in zip(parts, out, result if several else (result,), strict=True):
        assert got is to
        assert got.shape == one.shape
        assert ac.equal(got, one)


def test_out_of_several_must_be_several():
    with pytest.raises(ArgumentError, match=r"sort: `out` is Tensor; it must be a tup"):
        ac.sort(ac.ones(3), out=ac.empty(3))


def test_what_out_cannot_be():
    x = ac.ones(2, 2)
    with pytest.raises(ShapeError, match=r"sum: `out` has shape \(2,\), the result \("):
        ac.sum(x, out=ac.empty(2))
    with pytest.raises(DTypeError, match=r"mm: the result has dtype float32, which `o"):
        ac.mm(x, x, out=ac.empty(2, 2, dtype=ac.int64))
    with pytest.raises(GradError, match=r"mean: `out` takes no part in a gradient"):
        ac.mean(ac.ones(2, requires_grad=True), out=ac.empty(()))


def test_where_of_a_condition_alone_is_its_places():
    rows, columns = ac.where(ac.tensor([[0, 1], [2, 0]]))
    assert (rows.tolist(), columns.tolist()) == ([0, 1], [1, 0])


def test_a_selection_of_a_single_element():
    x = ac.tensor(2.0, requires_grad=True)
    picked = ac.index_select(x, 0, ac.tensor([0]))
    picked.backward()
    assert (picked.item(), x.grad.item()) == (2, 1)


S = ac.tensor(np.random.default_rng(7).normal(1, 1, (3, 3)))
DEFINITE = S @ S.mT + ac.eye(3, dtype=ac.float64)
LINALG = {
    "cholesky": (DEFINITE,),
    "cond": (S,),
    "cross": (S, DEFINITE),
    "det": (S,),
    "eigh": (DEFINITE,),
    "eigvalsh": (DEFINITE,),
    "inv": (S,),
    "matrix_norm": (S,),
    "matrix_power": (S, 3),
    "matrix_rank": (S,),
    "multi_dot": ([S, S, S],),
    "norm": (S,),
    "pinv": (S,),
    "qr": (S,),
    "slogdet": (S,),
    "solve": (S, DEFINITE),
    "svd": (S,),
    "svdvals": (S,),
    "vecdot": (S, DEFINITE),
    "vector_norm": (S,),
}


def same(a, b):
    a, b = ((x,) if isinstance(x, ac.Tensor) else tuple(x) for x in (a, b))
    return len(a) == len(b) and all(map(ac.equal, a, b))


@pytest.mark.parametrize("name", LINALG)
def test_results_of_linalg_go_into_out(name):
    function = getattr(ac.linalg, name)
    expected = function(*LINALG[name])
    one = isinstance(expected, ac.Tensor)
    parts = (expected,) if one else expected
    out = tuple(ac.zeros(0, dtype=part.dtype) for part in parts)
    found = function(*LINALG[name], out=out[0] if one else out)
    assert all(a is b for a, b in zip((found,) if one else found, out, strict=True))
    assert type(found) is type(expected)
    assert same(found, expected)
    with pytest.raises((ArgumentError, DTypeError)):
        function(*LINALG[name], out=3)


@pytest.mark.torch
@pytest.mark.parametrize("name", LINALG)
def test_pytorch_has_it_for_them(name):
    torch = pytest.importorskip("torch")

    def twin(x):
        if isinstance(x, list):
            return [twin(one) for one in x]
        return torch.tensor(x.numpy()) if isinstance(x, ac.Tensor) else x

    function, operands = getattr(torch.linalg, name), [twin(x) for x in LINALG[name]]
    expected = function(*operands)
    parts = (expected,) if isinstance(expected, torch.Tensor) else expected
    out = tuple(torch.empty(0, dtype=part.dtype) for part in parts)
    function(*operands, out=out[0] if isinstance(expected, torch.Tensor) else out)
    assert all(map(torch.equal, out, parts))


def test_out_takes_what_the_function_returns():
    x = ac.tensor([0.3, 0.7], dtype=ac.bfloat16)
    for function in (ac.logit, ac.exp):  # several kernels, and one
        out = ac.empty(0)  # float32, which would hold more digits
        assert function(x, out=out) is out
        assert out.dtype is ac.float32
        assert out.tolist() == function(x).tolist()
