# SPDX-License-Identifier: MIT
"""Third and fourth derivatives of every operator, and of functions made of them.

Along random directions: the third derivative against differences of the second, the
fourth against differences of the third.  Rules and decompositions are recorded up to
there, so an intermediate that a rule takes for a constant shows here, though first and
second derivatives are right.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from tests.core import test_nn_gradients, test_ops_gradients, third_derivative_cases
from tests.core.small_samples import samples_of
from tests.operator_table import OPERATORS

import autocalc as ac
import autocalc.nn.functional  # operators register when they are imported

pytestmark = pytest.mark.core

INTEGERS = "integers have no derivative"
PLACES = "indices and truth values have no derivative"
KINKS = "elements lie at the limits of hardtanh, where slopes jump"
REFUSED = "recording it is an error, as PyTorch has it"
FIRST = "PyTorch has no gradient in this operand either; asking for it is an error"
TABLE = "the tables of cosines and sines are constants of a model"
STATISTICS = "running statistics take mean and variance without a history"
ROUGH = "its derivatives grow by 1 / sqrt(eps) = 300 each; differences do not follow"
#: What is left out, (operator, all of it or a part), each with its reason.
EXCEPTIONS = {
    ("argmax", "all"): PLACES,
    ("argsort", "all"): PLACES,
    ("floor_divide", "all"): REFUSED,
    ("scatter_mul", "all"): REFUSED,
    ("compare", "all"): PLACES,
    ("signbit", "all"): PLACES,
    ("next_float_bits", "all"): INTEGERS,
    ("bitwise_and", "all"): INTEGERS,
    ("bitwise_or", "all"): INTEGERS,
    ("bitwise_xor", "all"): INTEGERS,
    ("bitwise_not", "all"): INTEGERS,
    ("bitwise_left_shift", "all"): INTEGERS,
    ("bitwise_right_shift", "all"): INTEGERS,
    ("gcd", "all"): INTEGERS,
    ("lcm", "all"): INTEGERS,
    ("igamma", "input 0"): FIRST,
    ("igammac", "input 0"): FIRST,
    ("zeta", "input 0"): FIRST,
    ("rotary", "input 1"): TABLE,
    ("rotary", "input 2"): TABLE,
    ("batch_norm", "result 1"): STATISTICS,
    ("batch_norm", "result 2"): STATISTICS,
    ("batch_norm", "sample equal values"): ROUGH,
    ("batch_norm_activation", "result 1"): STATISTICS,
    ("batch_norm_activation", "result 2"): STATISTICS,
    ("batch_norm_running", "input 1"): STATISTICS,
    ("batch_norm_running", "input 2"): STATISTICS,
    ("batch_norm_activation", "sample (4, 3), hardtanh"): KINKS,
    ("batch_norm_running", "sample (4, 3), hardtanh"): KINKS,
    ("var", "sample n=1"): "the variance of one value is NaN",
    ("std", "sample n=1"): "the standard deviation of one value is NaN",
    ("std", "sample n=2"): "the size of a small difference has a kink nearby",
}
#: Operators that read one triangle of a matrix, which they take for symmetric.
SYMMETRIC = {"cholesky", "eigh"}


def kept(name, things, kind):
    """Return the inputs or results of an operator that are not excepted."""
    return [
        thing
        for i, thing in enumerate(things)
        if (name, f"{kind} {i}") not in EXCEPTIONS
    ]


def symmetric(operator):
    """Give an operator that reads one triangle a positive definite matrix."""

    def call(x):
        matrix = x @ x.transpose(-1, -2)
        return operator(matrix + 0.5 * ac.eye(x.shape[-1], dtype=x.dtype))

    return call


#: Views are made by no kernel: their arguments here.
VIEWS = {
    "reshape": lambda x: OPERATORS["reshape"](x, (3, 2)),
    "permute": lambda x: OPERATORS["permute"](x, (1, 0)),
    "expand": lambda x: OPERATORS["expand"](x, (4, 2, 3)),
    "slice": lambda x: x[1:, ::2],
    "diagonal": lambda x: x.diagonal(1),
    "as_strided": lambda x: x.as_strided((3, 2), (1, 2)),
    "windows": lambda x: x.unfold(1, 2, 1),
}


def results(y):
    """Return the results that have a gradient."""
    ys = y if isinstance(y, tuple) else (y,)
    return [y for y in ys if y is not None and y.requires_grad]


def derivatives(function, arrays, directions, held):
    """Return a weighted sum of the results, derived along the directions in turn."""
    inputs = [
        None if a is None else ac.tensor(a, requires_grad=i not in held)
        for i, a in enumerate(arrays)
    ]
    leaves = [x for x in inputs if x is not None and x.requires_grad]
    # A square lets every result have a curvature, and its slope matter.
    found = [y * (y + 0.7) for y in results(function(*inputs))]
    assert found, "no result has a gradient"
    value = sum((weighted(y, 99 + i) for i, y in enumerate(found)), start=ac.zeros(()))
    steps = []
    for i, direction in enumerate(directions):
        recorded = i + 1 < len(directions)  # the last walk is the usual one, on arrays
        slopes = [None] * len(leaves)
        if value.requires_grad:
            slopes = ac.autograd.grad(
                value, leaves, create_graph=recorded, allow_unused=True
            )
        pairs = [
            (g, v) for g, v in zip(slopes, direction, strict=True) if g is not None
        ]
        along = [(slope * ac.tensor(v)).sum() for slope, v in pairs]
        value = sum(along, start=ac.zeros((), dtype=ac.float64))
        steps.append(value.item())
    return np.array(steps)


def weighted(y, seed):
    """Return a sum of elements, each with a weight of its own."""
    weights = np.random.default_rng(seed).uniform(0.5, 1.5, y.shape)
    return (y * ac.tensor(weights)).sum()


def check(function, arrays, held=frozenset()):
    """Raise unless third and fourth derivatives are those of differences."""
    held = set(held) | {
        i for i, a in enumerate(arrays) if a is not None and a.dtype.kind != "f"
    }
    free = [i for i, a in enumerate(arrays) if a is not None and i not in held]
    rng = np.random.default_rng(7)
    u, v, w = [[rng.normal(size=arrays[i].shape) for i in free] for _ in range(3)]

    def at(step):
        """Return second and third derivative at a step along the last direction."""
        moved = list(arrays)
        for i, along in zip(free, w, strict=True):
            moved[i] = arrays[i] + step * along
        return derivatives(function, moved, (u, v, w), held)[1:]

    found = derivatives(function, arrays, (u, v, w, w), held)[2:]
    h = 1e-4
    one, two = at(h) - at(-h), at(2 * h) - at(-2 * h)
    expected = (8 * one - two) / (12 * h)
    size = np.abs(at(h)) + np.abs(expected)
    assert np.isfinite(expected).all()
    np.testing.assert_array_less(np.abs(found - expected), 1e-6 * size + 1e-9)


CHECKED = {name for name in OPERATORS if (name, "all") not in EXCEPTIONS}


@pytest.mark.parametrize("name", sorted(CHECKED - set(VIEWS)))
def test_operators(name):
    operator = OPERATORS[name]
    samples = samples_of(operator.op.spec, 3)
    assert samples, f"no small sample of {name}"
    for sample in samples:
        if (name, f"sample {sample.label}") in EXCEPTIONS:
            continue

        def call(*tensors, attributes=sample.attributes):
            found = operator(*tensors, *attributes)
            return tuple(
                kept(name, found if isinstance(found, tuple) else (found,), "result")
            )

        free = kept(name, range(len(sample.inputs)), "input")
        held = set(range(len(sample.inputs))) - set(free)
        check(symmetric(call) if name in SYMMETRIC else call, sample.inputs, held)


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_views(name):
    check(VIEWS[name], [np.random.default_rng(0).normal(size=(2, 3))])


def test_every_exception_is_of_an_operator():
    assert {name for name, _ in EXCEPTIONS} | SYMMETRIC <= set(OPERATORS)
    assert set(VIEWS) == {n for n, f in OPERATORS.items() if f.op.spec is None}


def named(*lists):
    """Return (name, function, inputs) of the cases of other tests."""
    for cases in lists:
        for name, (function, inputs) in cases.items():
            yield name, function, inputs() if callable(inputs) else inputs


UNARY = {
    name: (function, (make(2, 3),))
    for name, (function, make) in test_ops_gradients.UNARY.items()
}
FUNCTIONS = {
    name: (function, inputs)
    for name, function, inputs in named(
        test_ops_gradients.CASES, test_nn_gradients.CASES, UNARY
    )
    if all(x.numel() for x in inputs)
}


F = ac.nn.functional


def shifted(function):
    """Let a function of matrices read some that are well away from singular ones."""
    return lambda x: function(x + 2 * ac.eye(x.shape[-1], dtype=x.dtype))


def normal(*shapes, seed=3):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


#: Functions that are made of several operators, or take a path of their own.
MORE = {
    "batch_norm by running statistics": (
        lambda x, w, b: F.batch_norm(
            x, *ac.ones(2, 2, dtype=ac.float64), weight=w, bias=b
        ),
        normal((3, 2, 4), (2,), (2,)),
    ),
    "batch_norm_relu": (
        lambda x, w, r: F.batch_norm_relu(x, None, None, w, training=True, residual=r),
        normal((3, 2, 4), (2,), (3, 2, 4)),
    ),
    "causal attention": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        normal((2, 3, 4), (2, 3, 4), (2, 3, 4)),
    ),
    "norm of order 1/2": (lambda x: ac.norm(x, 0.5, 1), normal((3, 4))),
    "cross_entropy with weights": (
        lambda x: F.cross_entropy(
            x, ac.tensor([1, 0]), ac.tensor([0.5, 1.0, 2.0], dtype=ac.float64)
        ),
        normal((2, 3)),
    ),
    "hypot": (ac.hypot, normal((3,), (3,))),
    "atan2": (ac.atan2, normal((3,), (3,))),
    "asinh": (ac.asinh, normal((3,))),
    "acosh": (lambda x: ac.acosh(x * x + 1.5), normal((3,))),
    "logit": (lambda x: ac.logit(x.sigmoid()), normal((3,))),
    "matrix_exp": (ac.matrix_exp, normal((3, 3))),
    "renorm": (lambda x: ac.renorm(x, 2, 0, 0.5), normal((2, 3))),
    "nanmedian": (lambda x: ac.nanmedian(x, 1).values, normal((2, 3))),
    "mvlgamma": (lambda x: ac.mvlgamma(x * x + 2, 3), normal((3,))),
    "ndtr": (ac.special.ndtr, normal((3,))),
    "log_ndtr": (lambda x: ac.special.log_ndtr(3 * x), normal((5,))),
    "xlog1py": (lambda x, y: ac.special.xlog1py(x, y * y), normal((3,), (3,))),
    "powers of negative numbers": (lambda x: x**3 + x**-2, [-1.0 - np.arange(3.0)]),
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *MORE])
def test_functions(name):
    function, inputs = {**FUNCTIONS, **MORE}[name]
    arrays = [x.detach().numpy() if isinstance(x, ac.Tensor) else x for x in inputs]
    check(function, arrays)


CALLS = dict(third_derivative_cases.calls())


@pytest.mark.parametrize("expression", CALLS)
def test_public_functions(expression):
    shapes = CALLS[expression]
    function = third_derivative_cases.function_of(expression, shapes)

    def call(*tensors):
        found = function(*tensors)
        return tuple(found) if isinstance(found, (tuple, list)) else found

    check(call, normal(*shapes))


def public():
    """Return {name: function} of what is public, without forms that write in place."""
    return {
        (name, place.__name__): getattr(place, name)
        for place in (ac, F, ac.linalg, ac.Tensor)
        for name in getattr(place, "__all__", dir(place))
        if name[0].islower()
        and not name.endswith("_")
        and inspect.isroutine(getattr(place, name, None))
    }


def test_every_public_function_has_a_call_or_no_derivative():
    tried = {id(f) for f in third_derivative_cases.called()}
    tried |= {id(f) for f in OPERATORS.values()}
    missing = {
        name
        for (name, _), function in public().items()
        if id(function) not in tried and not hasattr(function, "op")
    }
    assert missing - third_derivative_cases.ELSEWHERE == third_derivative_cases.WITHOUT


ZEROS, EQUAL = np.zeros(4), np.full(4, 0.3)
SOME_ZEROS = np.array([[0.0, 0.7, -1.2, 0.5], [0.0, 0.0, 1.1, 0.6], [0.0, 0.4, 0, 0]])
#: Smooth functions where what they are made of has a kink, a branch or 0 / 0.
SEAMS = {
    "logaddexp of equal numbers": (ac.logaddexp, [EQUAL, EQUAL]),
    "logaddexp2 of equal numbers": (ac.logaddexp2, [EQUAL, EQUAL]),
    "logcumsumexp of equal numbers": (lambda x: ac.logcumsumexp(x, 0), [EQUAL]),
    "logsumexp of equal numbers": (lambda x: ac.logsumexp(x, 0), [EQUAL]),
    "softmax of equal numbers": (lambda x: ac.softmax(x, 0), [EQUAL]),
    "prod of zeros": (lambda x: ac.prod(x, 1), [SOME_ZEROS]),
    "prod of all": (ac.prod, [SOME_ZEROS[:1]]),
    "cumprod of zeros": (lambda x: ac.cumprod(x, 1), [SOME_ZEROS]),
    "sinc at 0": (ac.sinc, [ZEROS]),
    "sinc near 0": (ac.sinc, [np.array([1e-5, -1e-3, 0.05, 0.1])]),
    "smooth_l1_loss at 0": (F.smooth_l1_loss, [EQUAL, EQUAL]),
    "huber_loss at 0": (F.huber_loss, [EQUAL, EQUAL]),
    "asinh at 0": (ac.asinh, [ZEROS]),
    "atanh at 0": (ac.atanh, [ZEROS]),
    "silu at 0": (F.silu, [ZEROS]),
    "mish at 0": (F.mish, [ZEROS]),
    "gelu at 0": (F.gelu, [ZEROS]),
    "softplus at 0": (F.softplus, [ZEROS]),
    "logsigmoid at 0": (F.logsigmoid, [ZEROS]),
    "tanhshrink at 0": (F.tanhshrink, [ZEROS]),
    "binary_cross_entropy_with_logits at 0": (
        F.binary_cross_entropy_with_logits,
        [ZEROS, EQUAL],
    ),
    "powers of 0": (lambda x: x**0 + x**1 + x**2 + x**3 + x**4, [ZEROS]),
    "powers of 0 by tensors": (
        lambda x: x ** ac.tensor([0.0, 1.0, 2.0, 3.0], dtype=ac.float64),
        [ZEROS],
    ),
    "powers with the exponent 0": (lambda x, e: x**e, [EQUAL + 1, ZEROS]),
    "norm of order 4 with zeros": (lambda x: ac.norm(x, 4, 1), [SOME_ZEROS[:2]]),
    "normalize": (lambda x: F.normalize(x, dim=1), [SOME_ZEROS]),
    "atan2 on an axis": (ac.atan2, [ZEROS, EQUAL]),
    "hypot on an axis": (ac.hypot, [ZEROS, EQUAL]),
}


@pytest.mark.parametrize("name", SEAMS)
def test_smooth_functions_at_their_seams(name):
    check(*SEAMS[name])
