# SPDX-License-Identifier: MIT
"""First to fourth derivatives of every operator, and of functions made of them.

Along random directions, each against differences of the one before.  Rules and
decompositions are recorded up to there, so an intermediate that a rule takes for a
constant shows here, though first and second derivatives are right.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from tests.core import derivative_cases
from tests.core.small_samples import samples_of
from tests.operator_table import OPERATORS

import autocalc as ac
import autocalc.nn.functional  # operators register when they are imported

pytestmark = pytest.mark.core

INTEGERS = "integers have no derivative"
PLACES = "indices and truth values have no derivative"
KINKS = "elements are at the limits of hardtanh, where slopes jump"
REFUSED = "recording it is an error, as PyTorch has it"
FIRST = "PyTorch has no gradient in this operand either; asking for it is an error"
TABLE = "the tables of cosines and sines are constants of a model"
STATISTICS = "running statistics take mean and variance without a history"
ROUGH = "its derivatives grow by 1 / sqrt(eps) = 300 each; differences do not follow"
#: What is left out, (operator, all of it or a part), each with its reason.
EXCEPTIONS = {
    ("argmax", "all"): PLACES,
    ("eig", "all"): "its results are complex, and its vectors have any phase",
    ("irfft", "all"): "its operand is complex; see tests/core/test_fourier.py",
    ("fft", "all"): "its results are complex; see tests/core/test_fourier.py",
    ("complex", "all"): "its results are complex; see tests/core/test_complex.py",
    ("rfft", "all"): "its results are complex; see tests/core/test_fourier.py",
    ("argsort", "all"): PLACES,
    ("floor_divide", "all"): REFUSED,
    ("scatter_mul", "all"): REFUSED,
    ("compare", "all"): PLACES,
    ("round", "all"): "its samples are whole numbers and halves, where it jumps",
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
    ("row_order", "all"): INTEGERS,
    ("quantize_groups", "all"): INTEGERS,
    ("dequantize_groups", "all"): INTEGERS,
    ("quantized_linear", "all"): "it rounds its input, and takes float32 alone",
    ("ldl", "all"): REFUSED,
    ("ldl_solve", "input 0"): FIRST,
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
    ("nll_loss", "sample all ignored, mean"): "the mean of no values is NaN",
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
    "hide": ac.vmap(lambda row: row * row),
    "show": ac.vmap(lambda row: row.sum() * row),
    "slice": lambda x: x[1:, ::2],
    "diagonal": lambda x: x.diagonal(1),
    "as_strided": lambda x: x.as_strided((3, 2), (1, 2)),
    "windows": lambda x: x.unfold(1, 2, 1),
    "real_part": lambda x: (ac.complex(x, 2 * x) * (1 + 2j)).real,
    "imaginary_part": lambda x: (ac.complex(x, 2 * x) * (1 + 2j)).imag,
    "as_pairs": lambda x: ac.view_as_real(ac.complex(x, x * x)),
    "as_complex": lambda x: ac.view_as_complex(x[:, :2].contiguous()).abs(),
}


def results(y):
    """Return the results that have a gradient."""
    ys = y if isinstance(y, tuple) else (y,)
    return [y for y in ys if y is not None and y.requires_grad]


def derivatives(function, arrays, directions, held):
    """Return a weighted sum of the results, and it derived along each direction."""
    inputs = [
        None if a is None else ac.tensor(a, requires_grad=i not in held)
        for i, a in enumerate(arrays)
    ]
    leaves = [x for x in inputs if x is not None and x.requires_grad]
    # A square lets every result have a curvature, and its slope matter.
    found = [y * (y + 0.7) for y in results(function(*inputs))]
    assert found, "no result has a gradient"
    value = sum((weighted(y, 99 + i) for i, y in enumerate(found)), start=ac.zeros(()))
    steps = [value.item()]
    for i, direction in enumerate(directions):
        recorded = i + 1 < len(directions)  # the last pass is the usual one, on arrays
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
    """Raise unless first to fourth derivatives are those of differences."""
    held = set(held) | {
        i for i, a in enumerate(arrays) if a is not None and a.dtype.kind != "f"
    }
    free = [i for i, a in enumerate(arrays) if a is not None and i not in held]
    rng = np.random.default_rng(7)
    u, v, w = [[rng.normal(size=arrays[i].shape) for i in free] for _ in range(3)]
    directions = (u, v, w, w)
    found = derivatives(function, arrays, directions, held)
    # The last two orders are derived along one direction, and share their differences.
    for first, last in ((1, 1), (2, 2), (3, 4)):

        def at(step, first=first, last=last):
            """Return the orders below, at a step along the direction of these."""
            moved = list(arrays)
            for i, along in zip(free, directions[last - 1], strict=True):
                moved[i] = arrays[i] + step * along
            lower = derivatives(function, moved, directions[: last - 1], held)
            return lower[first - 1 :]

        h = 1e-4
        one, two = at(h) - at(-h), at(2 * h) - at(-2 * h)
        expected = (8 * one - two) / (12 * h)
        assert np.isfinite(expected).all()
        error = np.abs(found[first : last + 1] - expected)
        size = np.abs(at(h)) + np.abs(expected)
        np.testing.assert_array_less(error, 1e-6 * size + 1e-9)


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


F = ac.nn.functional


def normal(*shapes, seed=3):
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.normal(size=shape)) for shape in shapes]


@pytest.mark.parametrize(
    ("expression", "shapes"), [*derivative_cases.calls(), *derivative_cases.forms()]
)
def test_public_functions(expression, shapes):
    function = derivative_cases.function_of(expression, shapes)

    def call(*tensors):
        found = function(*tensors)
        return tuple(found) if isinstance(found, (tuple, list)) else found

    check(call, normal(*shapes))


def normed(x, weight, bias):
    return F.layer_norm(x, 3, weight, bias) * F.rms_norm(x, 3, weight) + bias


def normed_by_channel(x, weight, bias):
    """Normalize over the batch, plainly and with an activation."""
    plain = F.batch_norm(x, None, None, weight, bias, training=True)
    return plain, F.batch_norm_relu(x, None, None, weight, bias, training=True)


def mapped(x, weight, bias):
    """Map twice, the second time as a convolution and its transpose."""
    convolved = F.conv1d(x[..., None], weight[..., None], bias)
    back = F.conv_transpose1d(convolved, weight[..., None], bias[:3])
    return F.linear(x, weight, bias), back


@pytest.mark.parametrize("free", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)])
@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (mapped, ((2, 3), (4, 3), (4,))),
        (normed, ((2, 3), (3,), (3,))),
        (normed_by_channel, ((4, 3), (3,), (3,))),
    ],
)
def test_only_some_inputs_need_a_gradient(function, shapes, free):
    check(function, normal(*shapes), held={0, 1, 2}.difference(free))


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
    tried = {id(f) for f in derivative_cases.called()}
    tried |= {id(f) for f in OPERATORS.values()}
    missing = {
        name
        for (name, _), function in public().items()
        if id(function) not in tried and not hasattr(function, "op")
    }
    assert missing - derivative_cases.ELSEWHERE == derivative_cases.WITHOUT


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
