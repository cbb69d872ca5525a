# SPDX-License-Identifier: MIT
"""Steps with no samples, one by one: what they leave as it is, and what they give.

`test_empty` tries every function and module; here are whole steps of training, and the
code around a model.
"""

from __future__ import annotations

import itertools
import math

import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import data, nn, optim
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

SETS = [s for s in ac.kernels.available() if s.startswith(("simd-", "reference"))]


def index(*shape):
    return ac.zeros(shape, dtype=ac.int64)


@pytest.fixture(params=SETS)
def kernels(request):
    with ac.kernels.use(request.param):
        yield request.param


# ---- batch norm ----------------------------------------------------------------------

NORMS = {
    "rows": (lambda: nn.BatchNorm1d(5), (0, 5)),
    "signals": (lambda: nn.BatchNorm1d(5), (0, 5, 3)),
    "no positions": (lambda: nn.BatchNorm1d(5), (2, 5, 0)),
    "images": (lambda: nn.BatchNorm2d(5), (0, 5, 4, 4)),
    "volumes": (lambda: nn.BatchNorm3d(5), (0, 5, 2, 2, 2)),
    "eps nearly 0": (lambda: nn.BatchNorm1d(5, eps=5e-324), (0, 5)),
    "mean of all batches": (lambda: nn.BatchNorm1d(5, momentum=None), (0, 5)),
    "relu": (lambda: nn.Sequential(nn.BatchNorm2d(5), nn.ReLU()), (0, 5, 4, 4)),
    "silu": (lambda: nn.Sequential(nn.BatchNorm1d(5), nn.SiLU()), (0, 5)),
    "many channels": (lambda: nn.BatchNorm1d(1027), (0, 1027)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", NORMS)
def test_a_batch_norm_of_nothing_has_gradients_of_0(kernels, name, dtype):
    make, shape = NORMS[name]
    dtype = getattr(ac, dtype)
    norm = make().to(dtype)
    buffers = [b.clone() for n, b in norm.named_buffers() if "running" in n]
    for _ in range(2):
        norm(ac.zeros(shape, dtype=dtype)).sum().backward()
    for p in norm.parameters():
        assert (p.grad == 0).all()
    kept = [b for n, b in norm.named_buffers() if "running" in n]
    assert all((a == b).all() for a, b in zip(buffers, kept, strict=True))


def test_channels_last_and_second_derivatives_of_nothing(kernels):
    norm = nn.BatchNorm2d(3, eps=5e-324)
    x = ac.zeros(0, 3, 4, 4).to(memory_format=ac.channels_last).requires_grad_()
    (slope,) = ac.autograd.grad(norm(x).sum(), norm.weight, create_graph=True)
    second = ac.autograd.grad(slope.sum(), norm.weight, allow_unused=True)
    assert second[0] is None or (second[0] == 0).all()
    assert (slope == 0).all()


test_what_has_no_answer = refusals(
    r"""
    ac.max(ac.zeros(2, 0, 4), 1) -> ShapeError: shape \(2, 0, 4\).* no elements
    ac.min(ac.zeros(2, 0, 4), 1) -> ShapeError: shape \(2, 0, 4\).* no elements
    ac.mode(ac.zeros(2, 0, 4), 1) -> ShapeError: shape \(2, 0, 4\).* no elements
    ac.argmax(ac.zeros(2, 0, 4), 1) -> ShapeError: argmax: .*\(2, 0, 4\) has no elements
    ac.argmin(ac.zeros(0, 3)) -> ShapeError: argmin: .*\(0, 3\) has no elements
    ac.median(index(0, 3)) -> ShapeError: median: Expected reduction dim 0, 1 to have
    ac.nanmedian(index(0)) -> ShapeError: nanmedian: Expected reduction dim 0 to have
    ac.linalg.matrix_norm(ac.zeros(0, 0), -1) -> ShapeError: amin: .* no elements
    nn.EmbeddingBag(4, 3)(index(2), index(0)) -> ArgumentError: `offsets` are \[\]; they
    """,
    globals(),
)


# ---- writing at no places ------------------------------------------------------------

REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")
#: Names of methods, and their arguments where the values are `y`.
NOWHERE = [
    ("scatter", lambda y: (1, index(2, 0), y)),
    ("scatter_add", lambda y: (1, index(2, 0), y)),
    ("scatter_add", lambda y: (0, index(0, 3), y)),
    ("scatter_add", lambda y: (0, index(0), y)),
    *[("scatter_reduce", lambda y, r=r: (1, index(2, 0), y, r)) for r in REDUCTIONS],
    *[
        ("index_reduce", lambda y, r=r: (1, index(0), y[:, :0], r))
        for r in REDUCTIONS[1:]
    ],
    ("index_add", lambda y: (1, index(0), y[:, :0])),
    ("index_copy", lambda y: (1, index(0), y[:, :0])),
    ("index_put", lambda y: ((index(0),), y[:0])),
    ("put", lambda y: (index(0), y[0, :0])),
    ("masked_scatter", lambda y: (ac.zeros(2, 3, dtype=ac.bool), y)),
]


@pytest.mark.parametrize("in_place", ["", "_"])
@pytest.mark.parametrize(("name", "arguments"), NOWHERE)
def test_writing_nowhere_keeps_both_histories(kernels, name, arguments, in_place):
    x, y = ac.ones(2, 3), ac.ones(2, 3, requires_grad=True)
    out = getattr(x.clone(), name + in_place)(*arguments(y))
    assert out.requires_grad
    assert (out == 1).all()
    out.sum().backward()
    assert y.grad.tolist() == [[0.0] * 3] * 2
    x.requires_grad_()
    getattr(x * 1, name + in_place)(*arguments(y.detach())).sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2


# ---- losses --------------------------------------------------------------------------


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.huber_loss])
def test_a_mean_of_nothing_gives_parameters_gradients_of_0(kernels, loss):
    layer = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    loss(layer(ac.zeros(0, 3)), ac.zeros(0, 2)).backward()
    assert all((p.grad == 0).all() for p in layer.parameters())


# ---- attention, convolutions ---------------------------------------------------------


#: Batch, queries, keys, features of keys and of values, of which one at least is 0.
SIZES = [
    sizes for sizes in itertools.product((0, 2), (0, 3), (0, 5), (0, 4), (0, 4))
    if 0 in sizes
]  # fmt: skip


@pytest.mark.parametrize("p", [0.0, 0.5])
@pytest.mark.parametrize("groups", [4, 2])
@pytest.mark.parametrize("seen", ["all", "causal", "mask", "numbers"])
def test_attention_of_nothing_to_the_second_order(kernels, seen, groups, p):
    for batch, queries, keys, features, values in SIZES:
        shapes = (
            (4, queries, features),
            (groups, keys, features),
            (groups, keys, values),
        )
        operands = [ac.ones(batch, *s, requires_grad=True) for s in shapes]
        mask = {
            "mask": ac.zeros(queries, keys, dtype=ac.bool),
            "numbers": ac.zeros(queries, keys),
        }.get(seen)
        rest = mask, p, seen == "causal"
        out = F.scaled_dot_product_attention(*operands, *rest, enable_gqa=groups != 4)
        assert out.shape == (batch, 4, queries, values)
        out.sum().backward(retain_graph=True)
        found = ac.autograd.grad(out.sum(), operands, create_graph=True)
        for x, g in zip(operands, found, strict=True):
            assert x.grad.shape == g.shape == x.shape
            assert ac.allclose(x.grad, g)
            assert g.isfinite().all()
        squares = sum((g * g).sum() for g in found)
        if squares.requires_grad:
            for g in ac.autograd.grad(squares, operands, allow_unused=True):
                assert g is None or g.isfinite().all()


def test_weights_of_no_keys():
    layer = nn.MultiheadAttention(4, 2)
    out, weights = layer(ac.ones(3, 2, 4), ac.ones(0, 2, 4), ac.ones(0, 2, 4))
    assert weights.shape == (2, 3, 0)
    assert (out == layer.out_proj.bias).all()


@pytest.mark.parametrize("need_weights", [False, True])
def test_a_mask_of_no_keys(need_weights):
    layer = nn.MultiheadAttention(4, 2, batch_first=True)
    q, kv, mask = ac.ones(2, 3, 4), ac.ones(2, 0, 4), ac.zeros(2, 0, dtype=ac.bool)
    out, _ = layer(q, kv, kv, key_padding_mask=mask, need_weights=need_weights)
    assert (out == layer.out_proj.bias).all()


def test_integers_are_convolved_and_pooled():
    x = index(0, 4, 5, 5)
    assert F.conv2d(x, index(6, 2, 3, 3), index(6), groups=2).shape == (0, 6, 3, 3)
    assert F.conv_transpose2d(x, index(4, 3, 3, 3)).shape == (0, 3, 7, 7)
    out, places = F.max_pool2d(x, 2, return_indices=True)
    assert out.shape == places.shape == (0, 4, 2, 2)


# ---- around a model ------------------------------------------------------------------

OPTIMIZERS = (
    *("SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "ASGD"),
    *("Adadelta", "Adagrad", "Adafactor", "Lion"),
)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_parameters_without_elements_are_optimised(name):
    none, some = nn.Parameter(ac.zeros(0, 3)), nn.Parameter(ac.ones(2, 2))
    for parameters in ([none, some], [none]):
        optimizer = getattr(optim, name)(parameters, lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            sum(p.sum() for p in parameters).backward()
            optimizer.step()
        optimizer.load_state_dict(optimizer.state_dict())
    assert none.shape == (0, 3)
    assert some.isfinite().all()
    assert (some != 1).all()


@pytest.mark.parametrize("order", [1, 2, math.inf])
def test_the_norm_of_gradients_without_elements_is_0(order):
    none, some = nn.Parameter(ac.zeros(0, 3)), nn.Parameter(ac.ones(1))
    (none.sum() + 3 * some.sum()).backward()
    assert nn.utils.clip_grad_norm_([none], 1.0, order).item() == 0
    assert nn.utils.clip_grad_norm_([none, some], 1.0, order).item() == 3
    assert some.grad.item() == pytest.approx(1)


def test_a_loader_of_nothing_and_of_samples_without_elements():
    assert list(data.DataLoader(data.TensorDataset(ac.zeros(0, 3)), 2)) == []
    (batch,), *_ = data.DataLoader(data.TensorDataset(ac.zeros(4, 0)), 2)
    assert batch.shape == (2, 0)


def test_weights_without_rows_have_a_spectral_norm():
    layer = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 0))
    assert layer(ac.ones(2, 3)).shape == (2, 0)


def test_texts_of_no_prompts_are_generated():
    model = ac.models.Decoder(9, d_model=8, heads=2, layers=1)
    assert ac.models.generate(model, index(0, 5), 3).shape == (0, 8)


def model():
    ac.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64, 2),
    )  # fmt: skip


def trained(sizes, how):
    """Return losses, parameters and statistics of steps with batches of these sizes."""
    net = model()
    optimizer = optim.Adam(net.parameters(), lr=0.01)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y, reduction="sum")
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        return loss

    run, losses = how(step), []
    for seed, n in enumerate(sizes):
        generator = ac.Generator().manual_seed(seed)
        x = ac.randn(n, 3, 8, 8, generator=generator)
        losses.append(run(x, ac.arange(n) % 2).item())
    return losses, [x.tolist() for x in net.state_dict().values()]


@pytest.mark.parametrize("sizes", [(4, 4, 4, 0, 0, 0, 4, 0), (0, 0, 0, 4, 4, 4, 0, 4)])
def test_compiled_steps_take_empty_batches(kernels, sizes):
    losses, state = trained(sizes, ac.compile)
    expected, expected_state = trained(sizes, lambda step: step)
    assert losses == pytest.approx(expected, rel=1e-4)
    for found, wanted in zip(state, expected_state, strict=True):
        assert ac.allclose(ac.tensor(found), ac.tensor(wanted), rtol=1e-3, atol=1e-5)
    assert all(math.isfinite(loss) for loss in losses)
