# SPDX-License-Identifier: MIT
"""More than 8 dimensions beyond single functions: programs, files, errors, kernels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.core.small_samples import ODD, Inside
from tests.dispatcher import KernelCall, arrays, joined
from tests.kernel_table import MAX_DIMS, MOST_DIMS, TABLE, Meta, adapt, meta_of

import autocalc as ac
from autocalc.errors import AutocalcError, KernelError, ShapeError
from autocalc.plugin import KernelSet

pytestmark = pytest.mark.core

F8 = np.dtype(np.float64)


def numbered(*shape):
    return ac.arange(float(np.prod(shape)), dtype=ac.float64).reshape(shape)


# ---- one by one ----------------------------------------------------------------------


def test_repeat():
    x = ac.ones(1, 2, 1, 2, 1)
    got = x.repeat(2, 1, 2, 1, 2)
    assert got.shape == (2, 2, 2, 2, 2)
    assert (got.numpy() == 1).all()


def test_tile():
    x = numbered(1, 2, 1, 2, 1)
    want = np.tile(x.numpy(), (2, 3, 2, 1, 2))
    np.testing.assert_array_equal(ac.tile(x, (2, 3, 2, 1, 2)).numpy(), want)


def test_kron():
    x, y = numbered(1, 2, 1, 2, 3), numbered(2, 1, 2, 1, 2)
    np.testing.assert_array_equal(ac.kron(x, y).numpy(), np.kron(x.numpy(), y.numpy()))


@pytest.mark.parametrize("times", range(1, 40))  # programs are kept from the 32nd on
def test_kron_again_and_again(times):
    x, y = numbered(1, 2, 1, 2, 2), numbered(2, 1, 2, 1, 2) + times
    np.testing.assert_array_equal(ac.kron(x, y).numpy(), np.kron(x.numpy(), y.numpy()))


def test_stack():
    x = numbered(*(2,) * 8)
    want = np.stack([x.numpy(), x.numpy() + 1], 3)
    np.testing.assert_array_equal(ac.stack([x, x + 1], 3).numpy(), want)


def test_cartesian_prod():
    got = ac.cartesian_prod(*[ac.arange(2)] * 10)
    want = list(itertools.product([0, 1], repeat=10))
    np.testing.assert_array_equal(got.numpy(), want)


def test_views_that_einops_makes():
    einops = pytest.importorskip("einops")
    x = numbered(2, 4, 8, 8, 8)
    pattern = "b (g c) (h h1 h2) (w w1 w2) (d d1 d2) -> g b h w d (c h1 w1 d1 h2 w2 d2)"
    sizes = dict.fromkeys(("g", "h1", "h2", "w1", "w2", "d1", "d2"), 2)
    want = einops.rearrange(x.numpy(), pattern, **sizes)
    got = einops.rearrange(x.requires_grad_(), pattern, **sizes)
    np.testing.assert_array_equal(got.detach().numpy(), want)
    (got * got).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * x.detach().numpy())


@pytest.mark.parametrize(
    "index",
    [
        (0, ..., None),
        (slice(None), slice(1, None), ..., slice(None, None, 2), 1),
        (..., [1, 0]),
        ([0, 1], ..., [1, 0]),
        (None, [[0, 1], [1, 1]], slice(None), [0, 1]),
    ],
)
def test_indices(index):
    x = numbered(*(2,) * 10).requires_grad_()
    a = x.detach().numpy().copy()
    np.testing.assert_array_equal(x[index].detach().numpy(), a[index])
    x[index].sum().backward()
    want = np.zeros_like(a)
    np.add.at(want, index, 1.0)
    np.testing.assert_array_equal(x.grad.numpy(), want)
    y, a[index] = x.detach().clone(), -1.0
    y[index] = -1.0
    np.testing.assert_array_equal(y.numpy(), a)


def test_masks():
    x = numbered(*(2,) * 10)
    mask = x % 3 == 0
    np.testing.assert_array_equal(x[mask].numpy(), x.numpy()[mask.numpy()])
    x[mask] = 0.0
    assert (x[mask] == 0).all()


def test_printing():
    assert repr(ac.ones((1,) * 10)) == f"tensor({'[' * 10}1.{']' * 10})"
    most = ac.ones((1,) * MOST_DIMS)
    assert repr(most) == f"tensor({'[' * MOST_DIMS}1.{']' * MOST_DIMS})"
    assert repr(numbered(*(1,) * 9, 2000)).count("...") == 1


def test_out_and_accumulation():
    x = numbered(*(2,) * 10).permute(*range(10)[::-1])
    out = ac.zeros((2,) * 10, dtype=ac.float64)
    ac.add(x, x, out=out)
    np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())
    ac.sum(x, (0, 3), out=(least := ac.zeros((2,) * 8, dtype=ac.float64)))
    np.testing.assert_array_equal(least.numpy(), x.numpy().sum((0, 3)))


def test_dtypes():
    x = numbered(*(2,) * 10)
    for dtype in (ac.float16, ac.bfloat16, ac.float32, ac.int8, ac.bool):
        there = x.to(dtype)
        assert (there + there).shape == x.shape
        want = x.flatten().to(dtype).double()
        np.testing.assert_array_equal(there.double().numpy().ravel(), want.numpy())


def test_files(tmp_path):
    x = numbered(*(2, 1) * 6)
    ac.save({"x": x}, tmp_path / "x.safetensors")
    assert ac.load(tmp_path / "x.safetensors")["x"].shape == x.shape
    np.testing.assert_array_equal(ac.load(tmp_path / "x.safetensors")["x"], x.numpy())


# ---- training ------------------------------------------------------------------------


def step_of(weight, optimizer):
    def step(x, y):
        optimizer.zero_grad()
        h = (x * weight).permute(*range(x.ndim)[::-1]).relu().exp().log1p()
        h = h.softmax(3) + h.sum((0, 4), keepdim=True)
        loss = ((h.transpose(-1, -2) @ y - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


@pytest.mark.parametrize("wrap", [lambda f: f, ac.compile], ids=["eager", "compiled"])
@pytest.mark.parametrize("kind", ["SGD", "AdamW", "RMSprop", "Adagrad", "Adadelta"])
def test_steps_are_those_of_the_reference(wrap, kind):
    def run():
        weight = ac.nn.Parameter(numbered(*(2,) * 10) / 1000)
        optimizer = getattr(ac.optim, kind)([weight], lr=0.1)
        step = wrap(step_of(weight, optimizer))
        x, y = numbered(*(2,) * 10) / 1000, numbered(*(2,) * 10).flip(2) / 1000
        return [step(x, y).item() for _ in range(6)] + weight.flatten().tolist()

    got = run()
    with ac.kernels.use("reference", only=True):
        want = run()
    np.testing.assert_allclose(got, want, rtol=1e-9)
    assert got[5] < got[0]


def test_a_profile_and_diagnostics():
    x = numbered(*(2,) * 10).requires_grad_()
    with ac.profiler.profile() as profile:
        (x.permute(*range(10)[::-1]) * x).exp().mean(3).sum().backward()
    assert "mul" in str(profile.table())


def test_modules():
    x = numbered(*(2,) * 9, 4) / 1000
    for module in (ac.nn.Linear(4, 3), ac.nn.LayerNorm(4), ac.nn.RMSNorm(4)):
        module.double()
        want = module(x.reshape(-1, 4)).detach().numpy()
        got = module(x.requires_grad_())
        np.testing.assert_allclose(got.detach().numpy().reshape(want.shape), want)
        got.sum().backward()


# ---- the limit -----------------------------------------------------------------------

MOST = (1,) * MOST_DIMS
BEYOND = {
    "ones": lambda x: ac.ones((1, *MOST)),
    "empty": lambda x: ac.empty((1, *MOST)),
    "rand": lambda x: ac.rand((1, *MOST)),
    "new_zeros": lambda x: x.new_zeros((1, *MOST)),
    "tensor": lambda x: ac.tensor([x.tolist()]),
    "reshape": lambda x: x.reshape((1, *MOST)),
    "reshape, large": lambda x: ac.ones(2, 2000).t().reshape((4000, *MOST)),
    "view": lambda x: x.view((1, *MOST)),
    "unflatten": lambda x: x.unflatten(0, (1, 1)),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "None": lambda x: x[None],
    "stack": lambda x: ac.stack([x, x]),
    "expand": lambda x: x.expand((2, *MOST)),
    "broadcast_to": lambda x: ac.broadcast_to(x, (2, *MOST)),
    "repeat": lambda x: x.repeat(2, *MOST),
    "tile": lambda x: x.tile((2, *MOST)),
    "as_strided": lambda x: x.as_strided((1, *MOST), (1, *MOST)),
    "unfold": lambda x: x.unfold(0, 1, 1),
    "diag_embed": lambda x: x.diag_embed(),
    "kron": lambda x: ac.kron(x, x),
    "tensordot": lambda x: ac.tensordot(x, x, 0),
    "meshgrid": lambda x: ac.meshgrid(*[ac.arange(1)] * (MOST_DIMS + 1)),
    "one_hot": lambda x: ac.nn.functional.one_hot(x.long(), 3),
    "embedding": lambda x: ac.nn.functional.embedding(x.long(), ac.ones(2, 3)),
    "index": lambda x: x[ac.zeros(1, 1, dtype=ac.int64)],
}


@pytest.mark.parametrize("name", BEYOND)
def test_the_limit_is_numpys(name):
    text = f"the result would have [0-9]+ dimensions.*have at most {MOST_DIMS}"
    with pytest.raises(ShapeError, match=text):
        BEYOND[name](ac.ones(MOST))


# ---- kernels -------------------------------------------------------------------------


def lifted(x, by):
    if isinstance(x, (list, tuple)):
        return [lifted(one, by) for one in x]
    return x if x is None or x.ndim == 0 else x.reshape((1,) * by + x.shape)


def flat(results):
    if isinstance(results, (list, tuple)):
        return [x for one in results for x in flat(one)]
    return [] if results is None else [results.reshape(-1)]


def along(spec, attributes, by):
    """Return attributes that count dimensions from the left, of lifted operands."""
    found = list(attributes)
    for i, one in enumerate(spec.attributes[: len(found)]):
        if one.name == "axis":
            found[i] += by
        if one.name == "axes":
            found[i] = tuple([d + by for d in found[i]])
    return found


def some_samples(spec):
    """Return some samples without odd numbers, of a dtype that the kernel takes."""
    dtype = F8 if F8 in spec.dtypes else spec.dtypes[0]
    found = [s for s in spec.samples(Inside(dtype)) if not ODD.search(s.label)]
    return [s for s in found if not s.label.startswith("() in")][:4]  # of numbers


@pytest.mark.parametrize("by", [8, 25, 50])
@pytest.mark.parametrize(
    "name", [n for n, spec in TABLE.items() if not (spec.free or spec.writes)]
)
def test_every_kernel_takes_or_refuses_more_dimensions(name, by):
    spec = TABLE[name]
    if by + 6 > MOST_DIMS:
        pytest.skip("NumPy has fewer")
    kernel = KernelCall(spec)
    want = (1 << len(spec.outputs)) - 1
    more = {"want": want} if any(o.optional for o in spec.outputs) else {}
    n = len(spec.attributes) - bool(spec.accumulates)
    for sample in some_samples(spec):
        given = sample.attributes[:n]
        few = flat(kernel(*sample.inputs, *given, **more))
        try:
            made = kernel(*lifted(sample.inputs, by), *along(spec, given, by), **more)
        except AutocalcError:  # a kernel of few dimensions
            continue
        if name == "nonzero":  # whose result has a column for each dimension
            made = made[0][:, by:], made[1]
        for x, y in zip(flat(made), few, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-7)


def reversed_in_memory(*shape):
    return np.arange(np.prod(shape), dtype=float).reshape(shape).T.copy().T


def test_dimensions_are_joined():
    whole, out = np.ones((2,) * 10), np.empty((2,) * 10)
    assert [x.shape for x in joined(TABLE["add"], (out, whole, whole))] == [(1024,)] * 3
    row = np.ones((2,) * 4)
    fewer = joined(TABLE["add"], (out, whole, row))
    assert [x.shape for x in fewer] == [(64, 16)] * 3
    a, axes = whole, tuple(range(0, 10, 5))
    reduced = joined(TABLE["sum"], (np.empty((2,) * 8), a, axes, False))
    assert [x.shape for x in reduced[:2]] == [(16, 16), (16, 16, 2, 2)]
    assert reduced[2:] == [(2, 3), False]
    turned = joined(TABLE["softmax"], (out, whole, 4))
    assert [x.shape for x in turned[:2]] == [(16, 2, 32)] * 2
    assert turned[2] == 1


def shapes_of(metas):
    metas = [metas] if isinstance(metas, Meta) else metas
    return [None if m is None else m.shape for m in metas]


@pytest.mark.parametrize("by", [8, 9, 20])
@pytest.mark.parametrize(
    "name",
    [n for n, s in TABLE.items() if not (s.free or s.writes or "*" in s.signature)],
)
def test_a_call_in_fewer_dimensions_is_one_of_its_kernel(name, by):
    spec = TABLE[name]
    n = len(spec.attributes) - bool(spec.accumulates)
    for sample in some_samples(spec):
        inputs = lifted(sample.inputs, by)
        inputs = [
            np.repeat(x, 2, 0) if x is not None and x.ndim > by else x for x in inputs
        ]
        given = along(spec, sample.attributes[:n], by)
        try:
            metas = spec.rule(*map(meta_of, inputs), *given)
        except AutocalcError:  # a kernel of few dimensions
            continue
        metas = [metas] if isinstance(metas, Meta) else metas
        outs = [None if m is None else np.empty(m.shape, m.dtype) for m in metas]
        fewer = joined(spec, (*outs, *inputs, *given))
        if fewer is not None:
            arrays = [None if x is None else meta_of(x) for x in fewer[: -n or None]]
            assert max(len(m.shape) for m in arrays if m is not None) <= MAX_DIMS
            k = len(outs)
            made = spec.rule(*arrays[k:], *fewer[len(arrays) :])
            assert shapes_of(made) == [
                None if m is None else m.shape for m in arrays[:k]
            ]


def test_what_cannot_be_joined_is_left_to_the_reference():
    a, out = reversed_in_memory(*(2,) * 10), np.empty((2,) * 10)
    assert joined(TABLE["add"], (out, a, a)) is None
    whole = np.ascontiguousarray(a)
    index = np.zeros((2,) * 9 + (3,), int)
    assert joined(TABLE["gather"], (index * 1.0, whole, index, 9)) is not None
    assert joined(TABLE["gather"], (index[:1] * 1.0, whole, index[:1], 9)) is None
    assert joined(TABLE["inv"], (out, whole)) is None
    assert joined(TABLE["add"], (out[:0], whole[:0], whole[:0])) is None


class OfFewDimensions:
    """A kernel that leaves calls of more than 8 dimensions to `beyond`."""

    beyond = None

    def __init__(self, spec):
        self.run = adapt(spec)

    def __call__(self, *operands):
        if any(x.ndim > MAX_DIMS for x in operands if isinstance(x, np.ndarray)):
            self.beyond(self, *operands)
        else:
            self.run(*operands)


def few_alone():
    kernels = {name: OfFewDimensions(TABLE[name]) for name in ("add", "sum", "copy")}
    return KernelSet("few", family="few", load=lambda: kernels)


def test_what_the_reference_has_to_run_is_noted(environment, install):
    environment(AUTOCALC_STRICT="list")
    install(mine=[few_alone()])
    a, b = np.ones((2,) * 10), reversed_in_memory(*(2,) * 10)
    arrays.add(a, a)
    arrays.sum(a, (1, 2), False)
    assert ac.kernels.falls() == ()
    np.testing.assert_array_equal(arrays.add(a, b), a + b)
    (fall,) = ac.kernels.falls()
    told = "add(float64, float64, float64): few: takes at most 8 dimensions"
    assert str(fall) == told


def test_what_the_reference_has_to_run_is_refused(environment, install):
    environment(AUTOCALC_STRICT="1")
    install(mine=[few_alone()])
    a, b = np.ones((2,) * 10), reversed_in_memory(*(2,) * 10)
    arrays.add(a, a)
    with pytest.raises(
        KernelError, match=r"add: AUTOCALC_STRICT.*few: takes at most 8"
    ):
        arrays.add(a, b)


def test_the_limit_of_the_c_form_is_that_of_its_header():
    header = ac.plugin.include_dir() / "autocalc_kernel.h"
    assert f"#define AC_MAX_DIMS {MAX_DIMS}\n" in header.read_text()
