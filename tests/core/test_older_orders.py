# SPDX-License-Identifier: MIT
"""PyTorch's older orders of arguments, and its unsafe forms of `split` and `chunk`.

The expected numbers are those that PyTorch 2.13 prints.
"""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, ShapeError

pytestmark = [
    pytest.mark.core,
    pytest.mark.filterwarnings("ignore:This overload of .* is deprecated"),
]

M, V, B = ac.ones(2, 2), ac.ones(2), ac.ones(1, 2, 2)

#: The operands, and the element of the results with beta 2, and with alpha 3, too.
SUMS = {
    "addmm": ((M, M, M), 4, 8),
    "addmv": ((V, M, V), 4, 8),
    "addr": ((M, V, V), 3, 5),
    "baddbmm": ((B, B, B), 4, 8),
    "addbmm": ((M, B, B), 4, 8),
}


@pytest.mark.parametrize("name", SUMS)
def test_numbers_that_lead(name):
    (x, a, b), one, two = SUMS[name]
    function, method = getattr(ac, name), getattr(x, name)
    for found in (function(2, x, a, b), method(2, a, b)):
        assert found.equal(ac.full_like(x, one))
    for found in (function(2, x, 3, a, b), method(2, 3, a, b)):
        assert found.equal(ac.full_like(x, two))
    out = ac.empty_like(x)
    assert function(2, x, 3, a, b, out=out) is out
    assert out.equal(ac.full_like(x, two))


@pytest.mark.parametrize("name", SUMS)
def test_numbers_that_lead_in_place(name):
    (x, a, b), one, two = SUMS[name]
    y = x.clone()
    assert getattr(y, f"{name}_")(2, a, b) is y
    assert y.equal(ac.full_like(x, one))
    y = x.clone()
    getattr(y, f"{name}_")(2, 3, a, b)
    assert y.equal(ac.full_like(x, two))


@pytest.mark.parametrize("name", SUMS)
def test_numbers_that_lead_are_deprecated(name):
    (x, a, b), *_ = SUMS[name]
    text = "is deprecated: give `beta` and `alpha` by name, after the tensors"
    with pytest.warns(UserWarning, match=f"This overload of {name} {text}"):
        getattr(ac, name)(2, x, a, b)
    with pytest.warns(UserWarning, match=f"This overload of {name} {text}"):
        getattr(x, name)(2, 3, a, b)
    with pytest.warns(UserWarning, match=f"This overload of {name}_ {text}"):
        getattr(x.clone(), f"{name}_")(2, a, b)


@pytest.mark.parametrize("name", SUMS)
def test_the_warning_comes_with_every_call(name):
    (x, a, b), *_ = SUMS[name]
    y = x.clone()
    for _ in range(40):  # more calls than a short program needs
        with pytest.warns(UserWarning, match=f"This overload of {name} is deprecated"):
            getattr(ac, name)(2, x, a, b)
        with pytest.warns(UserWarning, match=f"This overload of {name}_ is deprecated"):
            getattr(y, f"{name}_")(2, a, b)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("add", lambda: ac.add(M, 2, M)),
        ("sub", lambda: M.sub(2, M)),
        ("add_", lambda: M.clone().add_(2, M)),
        ("sub_", lambda: M.clone().sub_(2, M)),
        ("addcmul", lambda: ac.addcmul(M, 2, M, M)),
        ("addcdiv", lambda: ac.addcdiv(M, 2, M, M)),
    ],
)
def test_a_factor_in_front_is_deprecated(name, call):
    with pytest.warns(
        UserWarning, match=rf"This overload of {name} is deprecated: give `\w+` by name"
    ):
        call()


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16, ac.float64])
def test_numbers_that_lead_in_other_dtypes(name, dtype):
    operands, _, two = SUMS[name]
    x, a, b = (one.to(dtype) for one in operands)
    found = getattr(ac, name)(2, x, 3, a, b)
    assert found.dtype is dtype
    assert found.equal(ac.full_like(x, two))


def test_gradients_of_numbers_that_lead():
    x, a, b = (ac.ones(2, 2, requires_grad=True) for _ in range(3))
    ac.addmm(2, x, 3, a, b).sum().backward()
    assert x.grad.tolist() == [[2, 2], [2, 2]]
    assert a.grad.tolist() == b.grad.tolist() == [[6, 6], [6, 6]]


@pytest.mark.parametrize("name", ["add", "sub", "addcmul", "addcdiv"])
def test_a_number_in_the_middle_is_deprecated(name):
    factor, tensors = ("alpha", [V]) if len(name) == 3 else ("value", [V, V])
    for function, first in ((getattr(ac, name), [V]), (getattr(V, name), [])):
        match = f"^This overload of {name} is deprecated: give `{factor}` by name"
        with pytest.warns(UserWarning, match=match):
            found = function(*first, 2, *tensors)
        assert found.equal(function(*first, *tensors, **{factor: 2}))


@pytest.mark.parametrize(
    "call",
    [
        lambda: ac.addmm(M, M, M, 2),
        lambda: ac.addmm(2, 3, M, M, M),
        lambda: ac.addmm(M, M, M, M),
        lambda: ac.addmm(M, 2, 3, 4, M, M),
        lambda: ac.addmm(2, M, M, M, beta=3),
        lambda: M.clone().addmm_(2, 3, 4, M, M),
    ],
)
def test_other_orders_are_refused(call):
    with pytest.raises(DTypeError, match=r"addmm_?: the arguments are .*; give three"):
        call()


# ---- unsafe parts --------------------------------------------------------------------

PARTS = {
    "unsafe_split": (3, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]),
    "unsafe_chunk": (3, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]),
    "unsafe_split_with_sizes": ([3, 7], [[0, 1, 2], [3, 4, 5, 6, 7, 8, 9]]),
}


@pytest.mark.parametrize("name", PARTS)
def test_unsafe_parts(name):
    size, expected = PARTS[name]
    x = ac.arange(10)
    for found in (getattr(ac, name)(x, size), getattr(x, name)(size, dim=-1)):
        assert type(found) is tuple
        assert [part.tolist() for part in found] == expected


def test_unsafe_parts_of_nothing():
    x = ac.ones(0, 3)
    assert [part.shape for part in x.unsafe_chunk(2)] == [(0, 3), (0, 3)]
    assert [part.shape for part in x.unsafe_split(2, 1)] == [(0, 2), (0, 1)]
    assert [p.shape for p in x.unsafe_split_with_sizes([1, 2], 1)] == [(0, 1), (0, 2)]


@pytest.mark.parametrize("name", PARTS)
def test_a_write_into_an_unsafe_part_has_its_gradient(name):
    w = ac.arange(4.0, requires_grad=True)
    size = [2, 2] if "sizes" in name else 2
    first, second = getattr(ac, name)(w * 1, size)
    first.mul_(3)
    (first.sum() + second.sum()).backward()
    assert w.grad.tolist() == [3, 3, 1, 1]


def test_wrong_sizes_of_unsafe_parts():
    with pytest.raises(ArgumentError, match="split"):
        ac.unsafe_split(ac.ones(3), -1)
    with pytest.raises(ArgumentError, match="chunk"):
        ac.unsafe_chunk(ac.ones(3), -1)
    with pytest.raises(ShapeError, match="split_with_sizes"):
        ac.unsafe_split_with_sizes(ac.ones(3), [1, 1])


def test_no_tensor_is_an_inference_tensor():
    with ac.inference_mode():
        x = ac.ones(2)
    assert not ac.is_inference(x)
    assert not x.is_inference()
    with pytest.raises(TypeError, match="is_inference"):
        ac.is_inference(1)
