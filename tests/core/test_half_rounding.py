# SPDX-License-Identifier: MIT
"""float16 and bfloat16: every function computes in float32 and rounds its result once.

Each call of the lists runs in half precision, float32 and float64, with values at which
products and squares on the way overflow or vanish in float16, and the result does not.
"""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from tests.core import derivative_cases, half_cases
from tests.core.half_checks import Checked, check, converted, tensors_in
from tests.core.small_samples import samples_of
from tests.core.test_derivatives import public
from tests.operator_table import OPERATORS

import autocalc as ac
from autocalc import linalg, special
from autocalc.errors import AutocalcError, DTypeError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

HALVES = [ac.float16, ac.bfloat16]
SCALES = (1, 40, 250, 1000, 1e-4)
#: Of products of matrices with themselves, which are to stay finite.
SMALL_SCALES = (1, 40, 1e-3)
PLACES = {"ac": ac, "F": F, "linalg": linalg, "special": special}


@pytest.fixture(params=HALVES, ids=lambda dtype: dtype.name)
def half(request):
    return request.param


def names_for(half, checked):
    """Return the names that expressions use, every tensor of them in `half`."""
    names = {**vars(derivative_cases), **vars(half_cases)}
    for name, value in names.items():
        if isinstance(value, ac.Tensor) and value.is_floating_point():
            names[name] = value.to(half)
    places = {name: Checked(place, half, checked) for name, place in PLACES.items()}
    seeded = {"seeded": lambda function, *args, **words: function(*args, **words)}
    # A module of several operators, each of which rounds.
    layer = {"SOFTMAX": lambda x, rows: (x.exp(),)}
    return {**names, **places, **seeded, **layer, "HALF": half}


def in_half(expression):
    """Return an expression whose new tensors are of half precision."""
    text = expression.replace("ac.float64", "HALF").replace("ac.eye(3)", "EYE")
    return re.sub(r"ac\.zeros\(([\d,]+)\)", r"ac.zeros(\1,dtype=HALF)", text)


def run(expression, shapes, half, checked, scales):
    """Evaluate an expression at each scale of its inputs."""
    names = names_for(half, checked) | {"EYE": ac.eye(3).to(half)}
    arguments = ", ".join("xyzw"[: len(shapes)])
    function = eval(f"lambda {arguments}: {in_half(expression)}", names)
    for scale in scales:
        rng = np.random.default_rng(3)
        xs = [ac.tensor(rng.standard_normal(shape) * scale) for shape in shapes]
        function(*[x.to(half) for x in xs])


EXPRESSIONS = dict(derivative_cases.calls())


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_public_functions(expression, half):
    def checked(function, name, args, words):
        held = half_cases.HELD.get(name, ())
        check(function, half, args, words, name, held=held)

    scales = SMALL_SCALES if "@" in expression else SCALES
    run(expression, EXPRESSIONS[expression], half, checked, scales)


@pytest.mark.parametrize("expression", half_cases.CALLS)
def test_more_calls(expression, half):
    def checked(function, name, args, words):
        jumps = "rounding_mode" in words
        held = "all" if jumps else half_cases.HELD.get(name, ())
        check(function, half, args, words, name, held=held)

    names = [name for name in "xyp" if re.search(rf"\b{name}\b", expression)]
    is_call = re.match(r"(ac|F|special)\.", expression)
    known = names_for(half, checked) if is_call else vars(half_cases)
    function = eval(f"lambda {', '.join(names)}: {expression}", dict(known))
    for scale in (1, 300, 1e-3):
        rng = np.random.default_rng(3)
        x, y = rng.standard_normal((2, 2, 3)) * scale
        drawn = {"x": x, "y": y, "p": rng.uniform(0.1, 0.9, (2, 3))}
        given = [ac.tensor(drawn[name]).to(half) for name in names]
        if is_call:
            function(*given)
        else:
            held = "all" if "//" in expression else ()
            check(function, half, given, {}, expression, held=held)


#: Operators of integers, and one that has no sample in float64.
OF_INTEGERS = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift"}
OF_INTEGERS |= {"bitwise_right_shift", "bitwise_not", "gcd", "lcm", "next_float_bits"}
OF_INTEGERS |= {"row_order"}
OF_INTEGERS |= {"ldl", "ldl_solve"}  # their factors have no gradient
#: Kernels of float32 alone: layers convert halves for them, or refuse them (see below).
OF_FLOAT32 = {"quantize_groups", "dequantize_groups", "quantized_linear"}
OF_FLOAT32 |= {"complex", "eig", "fft", "irfft", "rfft"}
KERNELS = {name for name, function in OPERATORS.items() if function.op.spec}
#: Statistics among their results have no gradient.
LED = {"batch_norm": 1, "batch_norm_activation": 1}


@pytest.mark.parametrize("name", sorted(KERNELS - OF_INTEGERS - OF_FLOAT32))
def test_operators_of_kernels(name, half):
    operator = OPERATORS[name]
    ran = 0
    for sample in samples_of(operator.op.spec, 3):
        for scale in (1, 40, 300, 1e-3):
            given = [scaled(a, scale, half) for a in sample.inputs]
            args = [*given, *sample.attributes]
            try:
                operator(*converted(args, ac.float64))
            except AutocalcError:  # outside of what it takes
                assert scale != 1
                continue
            held = half_cases.HELD.get(name, ())
            check(operator, half, args, {}, name, held=held, led=LED.get(name, 99))
            ran += 1
    assert ran


def scaled(a, scale, half):
    """Return an array of a sample as a tensor, its numbers larger or smaller."""
    if a is None or a.dtype.kind != "f":
        return None if a is None else ac.tensor(a)
    return ac.tensor(a * scale if a.ndim else a).to(half)


def bits(x):
    """Return the elements of results, in float64."""
    return [y.detach().double().numpy() for y in tensors_in(x)]


def assert_same(found, expected, what):
    for a, b in zip(bits(found), bits(expected), strict=True):
        np.testing.assert_array_equal(a, b, what)


def check_forms(function, name, args, words):
    """Raise unless every form of a call has the bits of the call itself."""

    def drawn(function, *given, **words):
        ac.manual_seed(3)
        return function(*given, **words)

    result = drawn(function, *args, **words)
    parameters = inspect.signature(function).parameters
    written = getattr(ac.Tensor, f"{name}_", None) or getattr(F, f"{name}_", None)
    x = args[0]
    fits = isinstance(x, ac.Tensor) and isinstance(result, ac.Tensor)
    fits = fits and (x.shape, x.dtype) == (result.shape, result.dtype)
    if written is not None and fits:
        for target in (x.clone(), x.clone().requires_grad_().clone()):
            drawn(written, target, *args[1:], **words)
            assert_same(target, result, f"{name}_")
    if "inplace" in parameters:
        target = x.clone()
        drawn(function, target, *args[1:], **{**words, "inplace": True})
        assert_same(target, result, f"{name}, in place")
    if "out" in parameters:
        outs = [ac.empty(0, dtype=y.dtype) for y in tensors_in(result)]
        out = outs[0] if isinstance(result, ac.Tensor) else tuple(outs)
        assert_same(drawn(function, *args, **words, out=out), result, name)
        assert_same(outs, result, f"{name}, out")
    for _ in range(34):  # often enough for a program
        again = drawn(function, *args, **words)
    assert_same(again, result, f"{name}, again")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_form_has_the_same_bits(expression):
    scales = (1,) if "@" in expression else (1, 250)
    run(expression, EXPRESSIONS[expression], ac.float16, check_forms, scales)


UNARY_AND_BINARY = sorted(
    name
    for name in dir(ac.Tensor)
    if re.fullmatch(r"[a-z]\w*_", name)
    and name not in " ".join(half_cases.IN_PLACE_WITHOUT.values()).split()
)


@pytest.mark.parametrize("name", UNARY_AND_BINARY)
def test_methods_in_place_have_the_bits_of_the_function(name):
    if any(f"ac.{name[:-1]}(" in e or f"F.{name[:-1]}(" in e for e in EXPRESSIONS):
        return  # a form of an expression
    function = getattr(ac.Tensor, name[:-1])
    for scale in (1, 250):
        rng = np.random.default_rng(3)
        x, y = (ac.tensor(v).half() for v in rng.standard_normal((2, 2, 3)) * scale)
        ran = 0
        for rest in ((), (y,), (0.3,)):
            try:
                expected = function(x, *rest)
            except (AutocalcError, TypeError):
                continue
            target = x.clone()
            getattr(target, name)(*rest)
            assert_same(target, expected, name)
            ran += 1
        assert ran, f"{name} is called with neither a tensor nor a number: list it"


def test_every_public_function_has_a_call_or_a_reason():
    tried = {id(f) for f in derivative_cases.called()}
    tried |= {id(f) for f in half_cases.functions_called()}
    tried |= {id(f) for f in OPERATORS.values()}
    everything = public() | {
        (name, "special"): getattr(special, name) for name in special.__all__
    }
    missing = {
        name
        for (name, _), function in everything.items()
        if id(function) not in tried and not hasattr(function, "op")
    }
    excused = " ".join(half_cases.WITHOUT.values()).split()
    assert missing == set(excused)


# ---- direct -------------------------------------------------------------------------


def test_a_product_with_a_small_factor(half):
    q = ac.full((1, 2, 64), 40.0).to(half)
    found = ac.baddbmm(ac.zeros(1, 2, 2).to(half), q, q.mT, beta=0, alpha=1 / 8)
    assert found.unique().tolist() == [12800.0]


def tensors(*rows):
    return [ac.tensor(row).half() for row in rows]


ROW = [300.0, -200.0, 250.0]
FAR = [60000.0, -50000.0, 40000.0]
#: Function, operands, and what it makes of them, which float16 holds.
DIRECT = {
    "addmm": (lambda a, b: ac.addmm(a, b.T, b, alpha=0.1), ([ROW], [ROW])),
    "addmv": (lambda a, b: ac.addmv(a, b.T, a[:1], alpha=0.1), (ROW, [ROW])),
    "addr": (lambda a, b: ac.addr(a, b, b, alpha=0.1), (ROW, ROW)),
    "addbmm": (lambda a, b: ac.addbmm(a, b.mT, b, alpha=0.1), (ROW, [[ROW], [ROW]])),
    "baddbmm": (lambda a, b: ac.baddbmm(a, b.mT, b, alpha=0.1), (ROW, [[ROW]])),
    "addcmul": (lambda a, b: ac.addcmul(a, b, b, value=0.1), (ROW, ROW)),
    "addcdiv": (
        lambda a, b, c: ac.addcdiv(a, b, c, value=1e-5),
        (ROW, FAR, [1e-3, 2e-3, 3e-3]),
    ),
    "sub": (lambda a, b: ac.sub(a, b, alpha=1.5), (FAR, FAR)),
    "add": (lambda a, b: ac.add(a, b, alpha=-1.5), (FAR, FAR)),
    "rsub": (lambda a, b: ac.rsub(a, b, alpha=1.5), (FAR, FAR)),
    "lerp": (lambda a, b: ac.lerp(a, b, 0.5), (FAR, FAR[::-1])),
    "nanmean": (ac.nanmean, ([60000.0, 50000.0, ac.nan],)),
    "nansum": (lambda a: ac.nansum(a, 1), ([FAR],)),
    "mse_loss": (F.mse_loss, ([300.0, 0.0, 1.0], [0.0, 0.0, 0.0])),
    "gaussian_nll_loss": (F.gaussian_nll_loss, (ROW, ROW[::-1], FAR[:1] * 3)),
    "cosine_embedding_loss": (
        lambda a, b: F.cosine_embedding_loss(a, b, ac.tensor([1])),
        ([ROW], [ROW[::-1]]),
    ),
    "cov": (ac.cov, ([300.0, 1.0, -20.0, 3.0],)),
    "corrcoef": (ac.corrcoef, ([ROW, ROW[::-1]],)),
    "l1_loss": (F.l1_loss, ([60000.0, 1.0], [-60000.0, 1.0])),
    "a small number": (lambda a: a * 1e-9 + 1, (ROW,)),
    "a large number": (lambda a: a * 1e5, ([0.5, 0.25, 1e-3],)),
}


@pytest.mark.parametrize("name", DIRECT)
def test_what_overflowed_between_two_kernels(name):
    function, rows = DIRECT[name]
    args = tensors(*rows)
    check(function, ac.float16, args, {}, name, held="all")
    assert function(*args).isfinite().all()


def test_a_number_beside_a_tensor_is_not_rounded_to_its_dtype():
    x = ac.tensor([1e-3]).half()
    assert (x * 1e5).item() == 100.0625
    assert (x.clone().mul_(1e5)).item() == 100.0625
    assert (x * ac.tensor(1e5)).item() == 100.0625  # it has no dimensions
    assert (x * ac.tensor([100_000])).item() == 100.0625
    assert ac.lerp(x, x, ac.tensor(0.1)).dtype is ac.float16


def test_operands_of_two_dtypes_are_promoted_first():
    x = ac.tensor([300.0]).half()
    assert ac.addcmul(ac.ones(1), x, x).item() == 90001.0
    assert F.mse_loss(x, ac.zeros(1)).item() == 90000.0
    with pytest.raises(AutocalcError, match="Input dtypes must be the same"):
        ac.addmm(ac.ones(1), x[None], x[:, None])


def test_second_derivatives_are_recorded(half):
    def slope(dtype):
        x = ac.tensor([300.0, 200.0]).to(half).to(dtype).requires_grad_()
        y = F.mse_loss(x, -x, reduction="none") * 1e-3
        (g,) = ac.autograd.grad(y.sum(), x, create_graph=True)
        return ac.autograd.grad((g * g).sum(), x)[0].double().numpy()

    close = 4 * ac.finfo(half).eps
    np.testing.assert_allclose(slope(half), slope(ac.float64), rtol=close)


def slope_of(function, x):
    """Return the gradient of a sum of absolute values, and the results."""
    x = x.detach().clone().requires_grad_()
    y = function(x)
    (g,) = ac.autograd.grad(y.abs().sum(), x)
    return g, y


#: Functions with complex results, which have no half precision.
COMPLEX = {
    "eigvals": linalg.eigvals,
    "eig": lambda x: linalg.eig(x).eigenvalues,
    "eigenvectors": lambda x: linalg.eig(x).eigenvectors,
    "cfloat": lambda x: x.cfloat() * 1j,
    "cdouble": lambda x: x.cdouble() * 1j,
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_results_are_of_float32(name, half):
    """And the gradient is that of float32, rounded once."""
    x = ac.tensor([[0.1, 300.0], [-7.0, 3.3]]).to(half)
    found, y = slope_of(COMPLEX[name], x)
    expected, z = slope_of(COMPLEX[name], x.float())
    assert y.dtype is (ac.complex128 if name == "cdouble" else ac.complex64)
    np.testing.assert_array_equal(y.detach().numpy(), z.detach().numpy())
    assert found.dtype is half
    assert_same(found, expected.to(half), name)


@pytest.mark.parametrize(
    "function",
    [
        ac.fft.fft,
        ac.fft.rfft,
        ac.fft.irfft,
        lambda x: ac.stft(x, 4, return_complex=True),
        lambda x: ac.istft(x, 4),
        lambda x: ac.complex(x, x),
    ],
)
def test_what_refuses_halves(function, half):
    with pytest.raises(DTypeError, match=half.name):
        function(ac.ones(8).to(half))


@pytest.mark.parametrize("activations", ["int8", "float32"])
@pytest.mark.parametrize("weights", ["int8", "int4"])
def test_quantized_layers_of_halves(weights, activations, half):
    """They compute in float32, and round the result and the gradient once."""
    dense = ac.nn.Linear(64, 3)
    layer = ac.nn.QuantizedLinear.from_linear(dense, weights, activations=activations)
    x = ac.randn(2, 64).to(half)
    found, y = slope_of(layer, x)
    expected, z = slope_of(layer, x.float())
    assert (y.dtype, found.dtype) == (half, half)
    assert_same([y, found], [z.to(half), expected.to(half)], weights)


SPARSE = {
    "to_sparse": lambda x, y: x.to_sparse().to_dense(),
    "to_sparse_coo": lambda x, y: x.to_sparse_coo().coalesce().values(),
    "to_sparse_csr": lambda x, y: x.to_sparse_csr().values(),
    "to_sparse_csc": lambda x, y: x.to_sparse_csc().values(),
    "smm": lambda x, y: x.to_sparse().smm(y).to_dense(),
    "sparse_mask": lambda x, y: y.sparse_mask(x.detach().to_sparse()).to_dense(),
    "nested": lambda x, y: ac.nested.as_nested_tensor([x, y]).to_padded_tensor(0.1),
}


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_and_nested_tensors(name, half):
    for scale in (1, 40, 1e-3):
        x = ac.tensor([[0.0, 3.3], [0.1, -7.0]]) * scale
        y = ac.tensor([[1 / 3, 1.0], [0.0, 2.0]]) * scale
        check(SPARSE[name], half, [x.to(half), y.to(half)], {}, name)


@pytest.mark.parametrize("name", DIRECT)
def test_compiled_calls_have_the_same_bits(name):
    function, rows = DIRECT[name]
    x, *others = tensors(*rows)
    x.requires_grad_()

    def step(x):
        x.grad = None
        y = function(x, *others).sum()
        y.backward()
        return y

    expected, compiled = step(x), ac.compile(step)
    slope = x.grad
    for _ in range(3):
        assert_same([compiled(x), x.grad], [expected, slope], name)
