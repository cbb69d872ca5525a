# SPDX-License-Identifier: MIT
"""Complex tensors: dtypes, promotion, views, operators, gradients, modules."""

import warnings

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import DimensionError, DTypeError, GradError, ShapeError

pytestmark = pytest.mark.core


def random(*shape, seed=0, dtype=np.complex128):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def leaf(*shape, seed=0):
    return ac.tensor(random(*shape, seed=seed), requires_grad=True)


# ---- dtypes --------------------------------------------------------------------------


def test_dtypes_know_their_kind():
    assert ac.cfloat is ac.complex64
    assert ac.cdouble is ac.complex128
    assert ac.complex64.is_complex
    assert not ac.complex64.is_floating_point
    assert ac.complex64.to_real() is ac.float32
    assert ac.float64.to_complex() is ac.cdouble
    assert ac.complex64.is_signed
    assert ac.complex64.itemsize == 8
    assert ac.finfo(ac.complex64).eps == ac.finfo(ac.float32).eps
    with pytest.raises(DTypeError, match="int64 has no complex dtype"):
        ac.int64.to_complex()
    with pytest.raises(AttributeError, match="complex numbers are complex64"):
        ac.complex32  # noqa: B018  # reading it is the test


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (ac.ones(2), 2j, ac.complex64),
        (ac.ones(2, dtype=ac.float64), 2j, ac.complex128),
        (ac.ones(2, dtype=ac.int64), 2j, ac.complex64),
        (ac.ones(2), ac.tensor(1j, dtype=ac.complex128), ac.complex64),
        (ac.ones(2, dtype=ac.int64), ac.tensor(1j, dtype=ac.complex128), ac.complex128),
        (ac.ones(2, dtype=ac.complex64), ac.ones(2, dtype=ac.float64), ac.complex128),
        (ac.ones(2, dtype=ac.complex64), ac.ones((), dtype=ac.float64), ac.complex64),
        (ac.ones(2, dtype=ac.bfloat16), 2j, ac.complex64),
    ],
)
def test_promotion(a, b, expected):
    assert (a * b).dtype is expected
    assert (b * a).dtype is expected
    assert ac.result_type(a, b) is expected


def test_numbers_get_the_precision_of_the_default_dtype():
    assert ac.tensor([1, 2.5, 1j]).dtype is ac.complex64
    assert ac.tensor(1j).item() == 1j
    ac.set_default_dtype(ac.float64)
    try:
        assert ac.tensor(1j).dtype is ac.complex128
    finally:
        ac.set_default_dtype(ac.float32)
    with pytest.raises(DTypeError, match="complex numbers do not fit into float32"):
        ac.tensor(1j, dtype=ac.float32)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ac.full((2,), 1j, dtype=ac.float32),
        lambda: ac.scalar_tensor(1j),
        lambda: ac.zeros(2).fill_(1j),
    ],
)
def test_a_complex_number_is_refused_where_elements_are_real(call):
    with pytest.raises(DTypeError, match="1j is complex and cannot be stored as fl"):
        call()


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1 + 2j], "tensor([1.+2.j])"),
        ([1 + 2.5j, -3e-9j], "tensor([1.+2.5000e+00j, -0.-3.0000e-09j])"),
        ([complex("nan"), complex(0, np.inf)], "tensor([nan+0.j, 0.+infj])"),
        (1.25 - 2j, "tensor(1.2500-2.j)"),
    ],
)
def test_printing(values, text):
    assert repr(ac.tensor(values)) == text


# ---- parts and conjugates ------------------------------------------------------------


def test_parts_are_views():
    z = ac.tensor([1 + 2j, 3 - 4j])
    z.real.mul_(2)
    z.imag = ac.tensor([5.0, 6.0])
    assert z.tolist() == [2 + 5j, 6 + 6j]
    pairs = ac.view_as_real(z)
    pairs[0, 0] = -1
    assert z[0].item() == -1 + 5j
    assert ac.view_as_complex(pairs).data_ptr() == z.data_ptr()


def test_writes_into_parts_have_gradients():
    w = ac.ones(3, dtype=ac.complex64, requires_grad=True)
    z = w * 1
    z.real.mul_(3)
    (z * (1 + 1j)).real.sum().backward()
    assert w.grad.tolist() == [3 - 1j] * 3


def test_conjugates_are_computed_at_once():
    z = ac.tensor([[1 + 2j, 3j]])
    assert z.conj().tolist() == [[1 - 2j, -3j]]
    assert not z.conj().is_conj()
    assert z.resolve_conj() is z
    assert z.mH.tolist() == z.H.tolist() == z.adjoint().tolist() == [[1 - 2j], [-3j]]
    assert ac.ones(2).conj() is not None
    assert ac.isreal(z).tolist() == [[False, False]]
    assert z.clone().conj_physical_().tolist() == z.conj().tolist()
    with pytest.raises(DimensionError, match="only supported on matrices"):
        ac.adjoint(z[0])


def test_complex_numbers_are_made_of_parts():
    x, y = ac.tensor([3.0, 0.0]), ac.tensor([4.0, 0.0])
    z = ac.complex(x, y)
    assert z.tolist() == [3 + 4j, 0]
    assert z.abs().tolist() == [5, 0]
    assert z.sgn()[1].item() == 0
    assert ac.allclose(ac.polar(z.abs(), z.angle()), z, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda z: z < z, DTypeError, "not implemented for 'ComplexFloat'"),
        (lambda z: z.max(), DTypeError, "not implemented|complex"),
        (lambda z: z.relu(), DTypeError, "takes real numbers only"),
        (lambda z: z.sign(), DTypeError, "takes real numbers only"),
        (lambda z: z.floor(), DTypeError, "real numbers|complex"),
        (ac.sort, DTypeError, "real numbers|complex"),
        (lambda z: z.clamp(0, 1), DTypeError, "real numbers|complex"),
        (lambda z: z % 2, DTypeError, "takes real numbers only"),
        (lambda z: ac.ones(2).imag, DTypeError, "only supported for complex tensors"),
        (lambda z: ac.view_as_real(ac.ones(2)), DTypeError, "complex tensors"),
        (lambda z: ac.view_as_complex(ac.ones(3)), ShapeError, "must be of size 2"),
        (
            lambda z: ac.view_as_complex(ac.ones(2, 2).T),
            ShapeError,
            "the last must be 1",
        ),
        (
            lambda z: ac.view_as_complex(ac.ones(2).int()),
            DTypeError,
            "float32 and float",
        ),
        (lambda z: ac.complex(ac.ones(2), ac.ones(2).int()), DTypeError, "same dtype"),
        (lambda z: ac.mm(z.view(1, 2), ac.ones(2, 1)), DTypeError, "dtype"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call(ac.tensor([1 + 1j, 2j]))


# ---- gradients -----------------------------------------------------------------------

FUNCTIONS = {
    "product": lambda z: z * z.conj() / (z + 3),
    "powers": lambda z: z**3 + z**0.5 + (1 + 1j) ** z,
    "exponentials": lambda z: z.exp() + z.log() + z.sqrt() + z.sin() + z.tanh(),
    "inverse functions": lambda z: z.asin() + z.acosh() + z.asinh() + z.atanh(),
    "size and angle": lambda z: z.abs() + z.angle() + z.sgn().real,
    "parts": lambda z: z.real * z.imag + ac.view_as_real(z).sum(-1),
    "sums": lambda z: z.sum(0) + z.mean(0) + z.prod(0) + z.cumsum(0) + z.cumprod(0),
    "moments": lambda z: z.var() + z.std() + z.norm(),
    "matmul": lambda z: z @ z.mH @ z,
    "linear": lambda z: nn.functional.linear(z, z[:2], z[0, :2]),
    "einsum": lambda z: ac.einsum("ij,kj->ik", z, z.conj()),
    "solve": lambda z: ac.linalg.solve(z, z.mH) + ac.linalg.inv(z),
    "det": lambda z: ac.linalg.det(z) + ac.linalg.slogdet(z)[1],
    "indexing": lambda z: z[[0, 0, 1]] + ac.cat([z, z])[1:4],
    "where": lambda z: ac.where(z.real > 0, z, 2j * z),
    "of real numbers": lambda z: z.real * (1 + 2j) * z,
}


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_gradients(name):
    z = leaf(3, 3)
    assert ac.autograd.gradcheck(FUNCTIONS[name], z, fast_mode=True)
    assert ac.autograd.gradgradcheck(FUNCTIONS[name], z, fast_mode=True)


@pytest.mark.parametrize(
    "name", ["product", "exponentials", "size and angle", "matmul"]
)
def test_third_derivatives(name):
    def slope(z):
        return ac.autograd.grad(FUNCTIONS[name](z).abs().sum(), z, create_graph=True)[0]

    assert ac.autograd.gradgradcheck(slope, leaf(2, 2, seed=3), fast_mode=True)


@pytest.mark.parametrize(
    "factor",
    [
        lambda a: ac.linalg.cholesky(a @ a.mH + 3 * ac.eye(3)),
        lambda a: ac.linalg.qr(a)[1],
        ac.linalg.svdvals,
        lambda a: ac.linalg.eigh(a + a.mH)[0],
        lambda a: ac.linalg.eigh(a + a.mH)[1].abs(),
        lambda a: ac.linalg.eig(a)[0].abs(),
        lambda a: ac.linalg.eig(a)[1].abs(),
        ac.linalg.pinv,
        ac.linalg.matrix_exp,
    ],
)
def test_gradients_of_factors(factor):
    assert ac.autograd.gradcheck(factor, leaf(3, 3, seed=1), fast_mode=True)


def test_eigenvalues_are_those_of_numpy():
    a = np.random.default_rng(0).normal(size=(2, 4, 4))
    values, vectors = ac.linalg.eig(ac.tensor(a))
    np.testing.assert_allclose(values.numpy(), np.linalg.eig(a)[0])
    matrices = ac.tensor(a).cdouble()
    assert ac.allclose(matrices @ vectors, vectors * values.unsqueeze(-2))
    assert ac.equal(ac.linalg.eigvals(ac.tensor(a)), values)


@pytest.mark.parametrize(
    ("dtype", "close"), [("complex64", 2e-6), ("complex128", 1e-12)]
)
def test_the_exponential_of_a_matrix(dtype, close):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 4, 4)) + 1j * rng.normal(size=(3, 4, 4))
    values, vectors = np.linalg.eig(a)
    expected = vectors * np.exp(values)[:, None, :] @ np.linalg.inv(vectors)
    found = ac.linalg.matrix_exp(ac.tensor(a).to(getattr(ac, dtype)))
    assert found.dtype is getattr(ac, dtype)
    size = np.abs(expected).max()
    np.testing.assert_allclose(found.numpy(), expected, rtol=0, atol=close * size)


def test_the_gradient_is_pytorch_s_convention():
    z = ac.tensor([1 + 2j], requires_grad=True)
    (z.abs() ** 2).sum().backward()
    assert z.grad.tolist() == [2 + 4j]  # dL/dx + i dL/dy
    x = ac.tensor([2.0], requires_grad=True)
    (x * (3 + 4j)).real.sum().backward()
    assert x.grad.dtype is ac.float32
    assert x.grad.tolist() == [3]


def test_a_complex_result_needs_a_gradient():
    z = leaf(2)
    with pytest.raises(GradError, match="only for real scalar outputs but got"):
        z.sum().backward()
    with pytest.raises(GradError, match="both are required to have the same dtype"):
        z.sum().backward(ac.ones((), dtype=ac.float64))
    z.sum().backward(ac.ones((), dtype=ac.complex128))
    assert z.grad.tolist() == [1, 1]


def test_casts_to_real_numbers_take_the_real_part():
    z = ac.tensor([1 + 2j, 3j], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = z.to(ac.float32)
        x.sum().backward()
    assert x.tolist() == [1, 0]
    assert z.grad.tolist() == [1, 1]
    assert z.detach().bool().tolist() == [True, True]


# ---- modules, optimizers, files ------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "SGD",
        "Adam",
        "AdamW",
        "RMSprop",
        "Adagrad",
        "Adadelta",
        "Adamax",
        "NAdam",
        "ASGD",
    ],
)
def test_optimizers_update_pairs_of_real_numbers(name):
    start = random(3, dtype=np.complex64)
    z = nn.Parameter(ac.tensor(start))
    pairs = nn.Parameter(ac.view_as_real(ac.tensor(start)).clone())
    more = {"momentum": 0.9} if name == "SGD" else {}
    optimizers = [getattr(ac.optim, name)([p], lr=0.1, **more) for p in (z, pairs)]
    for _ in range(3):
        (z - 1j).abs().square().sum().backward()
        (ac.view_as_complex(pairs) - 1j).abs().square().sum().backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
    assert ac.allclose(ac.view_as_real(z.detach()), pairs.detach(), atol=1e-6)


def test_modules_have_complex_parameters(tmp_path):
    x = ac.tensor(random(2, 3, 8, dtype=np.complex64))
    model = nn.Sequential(
        nn.Conv1d(3, 4, 3, dtype=ac.complex64), nn.Dropout(0.5), nn.Flatten(),
        nn.Linear(24, 2).to(ac.complex64),
    )  # fmt: skip
    loss = model(x).abs().square().sum()
    loss.backward()
    assert model[0].weight.grad.dtype is ac.complex64
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
    assert norm.dtype is ac.float32
    assert norm > 1e-3
    ac.save(model.state_dict(), tmp_path / "model.safetensors")
    loaded = ac.load(tmp_path / "model.safetensors")
    assert ac.equal(loaded["0.weight"], model[0].weight.detach())


def test_memory_is_shared_with_numpy():
    a = random(3, dtype=np.complex64)
    z = ac.from_numpy(a)
    z.mul_(2j)
    assert np.shares_memory(z.numpy(), a)
    assert ac.equal(ac.from_dlpack(z), z)


def test_compile_and_vmap():
    def function(z):
        return (z * z.conj() + (1 - 2j) * z).abs().sum()

    compiled = ac.compile(function)
    for seed in range(5):
        z = ac.tensor(random(4, seed=seed))
        assert ac.allclose(compiled(z), function(z))
    rows = ac.tensor(random(3, 4))
    assert ac.allclose(ac.vmap(function)(rows), ac.stack([function(z) for z in rows]))


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda x: x.normal_(1j), "normal_: `parameters` is 1j, a complex; it must be"),
        (lambda x: x.cauchy_(1j), "cauchy_: `median` is 1j, a complex; it must be a r"),
        (lambda x: x.exponential_(1j), "exponential_: `lambd` is 1j, a complex"),
        (lambda x: x.geometric_(1j), "geometric_: `p` is 1j, a complex; it must be a"),
        (lambda x: ac.normal(1j, 1.0, (2,)), "normal: `mean` is 1j, a complex; it"),
        (lambda x: ac.arange(1j), "arange: `end` is 1j, a complex; it must be a real"),
        (lambda x: ac.linspace(0, 1j, 3), "linspace: `end` is 1j, a complex; it must"),
        (lambda x: ac.full_like(x, 1j), "the number 1j is complex and cannot be sto"),
        (lambda x: x.fill_(1j), "the number 1j is complex and cannot be stored as fl"),
    ],
)
def test_a_complex_number_in_the_place_of_a_real_one(call, match):
    with pytest.raises(DTypeError, match=match):
        call(ac.ones(2))
