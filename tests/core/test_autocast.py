# SPDX-License-Identifier: MIT
"""`autocast`: which operators compute in lower precision, and what casts cost."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc._ops.losses import low_precision_logits
from autocalc.errors import ArgumentError, DTypeError, KernelDataError, KernelIndexError

F = ac.nn.functional
L = ac.linalg


each_half = pytest.mark.parametrize("dtype", [ac.bfloat16, ac.float16], ids=str)


def square(n=3):
    return ac.eye(n) * 2 + 0.125


#: Calls of two matrices of 3 x 3 that compute in lower precision.
LOWER = {
    "@": lambda a, b: a @ b,
    "reflected @": lambda a, b: b.__rmatmul__(a),
    "mm": ac.mm,
    "matmul": ac.matmul,
    "matmul of a vector": lambda a, b: a.matmul(b[0]),
    "bmm": lambda a, b: ac.bmm(a[None], b[None]),
    "addmm": lambda a, b: ac.addmm(a, a, b),
    "baddbmm": lambda a, b: ac.baddbmm(a[None], a[None], b[None]),
    "addbmm": lambda a, b: ac.addbmm(a, a[None], b[None]),
    "linear": lambda a, b: F.linear(a, b, b[0]),
    "conv1d": lambda a, b: F.conv1d(a[None], b[..., None]),
    "conv2d": lambda a, b: F.conv2d(a[None, None], b[None, None]),
    "conv3d": lambda a, b: F.conv3d(a[None, None, None], b[None, None, None]),
    "conv_transpose1d": lambda a, b: F.conv_transpose1d(a[None], b[..., None]),
    "conv_transpose2d": lambda a, b: F.conv_transpose2d(a[None, None], b[None, None]),
    "conv_transpose3d": lambda a, b: F.conv_transpose3d(
        a[None, None, None], b[None, None, None]
    ),
    "attention": lambda a, b: F.scaled_dot_product_attention(
        a[None, None], b[None, None], b[None, None]
    ),
    "prelu": lambda a, b: F.prelu(a, b[0]),
    "einsum": lambda a, b: ac.einsum("ij,jk->ik", a, b),
    "tensordot": lambda a, b: ac.tensordot(a, b, 1),
    "multi_dot": lambda a, b: L.multi_dot([a, b, a]),
    "vecdot": L.vecdot,
    "cov": lambda a, b: ac.cov(a),
}

#: Calls that compute in float32.
FLOAT32 = {
    "mse_loss": F.mse_loss,
    "l1_loss": F.l1_loss,
    "smooth_l1_loss": F.smooth_l1_loss,
    "huber_loss": F.huber_loss,
    "cross_entropy": lambda a, b: F.cross_entropy(a, ac.tensor([0, 1, 2])),
    "nll_loss": lambda a, b: F.nll_loss(a, ac.tensor([0, 1, 2])),
    "kl_div": lambda a, b: F.kl_div(a, b, reduction="batchmean"),
    "binary_cross_entropy": lambda a, b: F.binary_cross_entropy(a * 0.25, b * 0.25),
    "with logits": F.binary_cross_entropy_with_logits,
    "poisson_nll_loss": F.poisson_nll_loss,
    "soft_margin_loss": F.soft_margin_loss,
    "hinge_embedding_loss": F.hinge_embedding_loss,
    "triplet_margin_loss": lambda a, b: F.triplet_margin_loss(a, b, b * 2),
    "cosine_embedding_loss": lambda a, b: F.cosine_embedding_loss(a, b, ac.ones(3)),
    "margin_ranking_loss": lambda a, b: F.margin_ranking_loss(a, b, ac.ones(3, 3)),
    "prod": lambda a, b: a.prod(),
    "trace": lambda a, b: a.trace(),
    "cdist": ac.cdist,
    "quantile": lambda a, b: ac.quantile(a, 0.5),
    "inv": lambda a, b: L.inv(a),
    "solve": L.solve,
    "cholesky": lambda a, b: L.cholesky(a),
    "svd": lambda a, b: L.svd(a).S,
    "eigh": lambda a, b: L.eigh(a).eigenvalues,
    "qr": lambda a, b: L.qr(a).R,
    "pad by reflection": lambda a, b: F.pad(a, (1, 1), mode="reflect"),
    "pad by copies": lambda a, b: F.pad(a, (1, 1), mode="replicate"),
    "grid_sample": lambda a, b: F.grid_sample(
        a[None, None], ac.zeros(1, 1, 1, 2).to(a.dtype), align_corners=False
    ),
}

#: Calls that compute in what they are given.
AS_GIVEN = {
    "+": lambda a, b: a + b,
    "exp": lambda a, b: a.exp(),
    "softmax": lambda a, b: a.softmax(0),
    "sum": lambda a, b: a.sum(),
    "layer_norm": lambda a, b: F.layer_norm(a, (3,)),
    "gelu": lambda a, b: F.gelu(a),
    "max_pool1d": lambda a, b: F.max_pool1d(a, 2),
    "mv": lambda a, b: a.mv(b[0]),
    "dot": lambda a, b: a[0].dot(b[0]),
    "outer": lambda a, b: ac.outer(a[0], b[0]),
    "pad by a number": lambda a, b: F.pad(a, (1, 1)),
    "pad by the other end": lambda a, b: F.pad(a, (1, 1), mode="circular"),
    "einsum of one": lambda a, b: ac.einsum("ij->ji", a),
}


@each_half
@pytest.mark.parametrize("name", LOWER)
def test_products_compute_in_lower_precision(name, dtype):
    a, b = square(), square() + 0.25
    with ac.autocast("cpu", dtype=dtype):
        found = LOWER[name](a, b)
    assert found.dtype is dtype
    if name not in ("cov", "multi_dot"):  # products of products
        assert ac.equal(found, LOWER[name](a.to(dtype), b.to(dtype)))


@each_half
@pytest.mark.parametrize("name", FLOAT32)
def test_losses_and_decompositions_compute_in_float32(name, dtype):
    a, b = square().to(dtype), (square() + 0.25).to(dtype)
    with ac.autocast("cpu", dtype=dtype):
        found = FLOAT32[name](a, b)
    assert found.dtype is ac.float32
    assert ac.equal(found, FLOAT32[name](a.float(), b.float()))


@pytest.mark.parametrize("dtype", [ac.float32, ac.bfloat16], ids=str)
@pytest.mark.parametrize("name", AS_GIVEN)
def test_others_compute_in_what_they_are_given(name, dtype):
    with ac.autocast("cpu"):
        assert AS_GIVEN[name](square().to(dtype), square().to(dtype)).dtype is dtype


@pytest.mark.parametrize("call", [ac.cat, ac.stack])
def test_joined_parts_have_the_widest_dtype(call):
    with ac.autocast("cpu"):
        assert call([ac.ones(2), ac.ones(2).bfloat16()]).dtype is ac.float32
        assert call([ac.ones(2).half(), ac.ones(2).bfloat16()]).dtype is ac.float32
        assert call([ac.ones(2).bfloat16()] * 2).dtype is ac.bfloat16


def test_the_widest_dtype_is_taken_for_a_copy_by_places():
    with ac.autocast("cpu"):
        found = ac.index_copy(
            ac.ones(2).bfloat16(), 0, ac.tensor([0]), ac.full((1,), 1.001)
        )
    assert found[0] == ac.tensor(1.001)


@pytest.mark.parametrize("name", [*LOWER, *FLOAT32])
def test_float64_stays(name):
    a, b = square().double(), square().double() + 0.25
    call = {**LOWER, **FLOAT32}[name]
    if name in ("cosine_embedding_loss", "margin_ranking_loss"):
        pytest.skip("its targets are float32")
    with ac.autocast("cpu"):
        assert call(a, b).dtype is ac.float64


def test_parameters_and_gradients_stay_in_float32():
    model = ac.nn.Sequential(ac.nn.Linear(4, 8), ac.nn.GELU(), ac.nn.Linear(8, 3))
    x = ac.randn(5, 4)
    with ac.autocast("cpu"):
        loss = F.cross_entropy(model(x), ac.tensor([0, 1, 2, 0, 1]))
    loss.backward()
    assert loss.dtype is ac.float32
    expected = ac.autograd.grad(
        F.cross_entropy(model(x), ac.tensor([0, 1, 2, 0, 1])), model.parameters()
    )
    for p, wanted in zip(model.parameters(), expected, strict=True):
        assert p.dtype is p.grad.dtype is ac.float32
        assert (p.grad - wanted).abs().max() < 0.02 * wanted.abs().max() + 1e-3


def test_contexts_nest():
    a = square()
    with ac.autocast("cpu"):
        with ac.autocast("cpu", enabled=False):
            assert (a @ a).dtype is ac.float32
            assert not ac.is_autocast_enabled("cpu")
            with ac.autocast("cpu", dtype=ac.float16):
                assert (a @ a).dtype is ac.float16
                assert ac.get_autocast_dtype("cpu") is ac.float16
        assert (a @ a).dtype is ac.bfloat16
        assert ac.is_autocast_enabled("cpu")
    assert (a @ a).dtype is ac.float32
    assert not ac.is_autocast_enabled("cpu")


def test_an_error_ends_the_context():
    with pytest.raises(KeyError), ac.autocast("cpu"):
        raise KeyError
    assert (square() @ square()).dtype is ac.float32


def test_it_decorates_functions():
    @ac.autocast("cpu")
    def double(x):
        """Return twice x."""
        return x @ (ac.eye(3) * 2)

    assert double(square()).dtype is ac.bfloat16
    assert double.__doc__ == "Return twice x."
    assert (square() @ square()).dtype is ac.float32


def test_a_decorated_function_runs_in_several_threads_at_once():
    both, found = threading.Barrier(2), []

    @ac.autocast("cpu")
    def product(x):
        both.wait(10)  # both are inside: each must leave its own context
        return x @ x

    def run():
        product(square())
        found.append((square() @ square()).dtype)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [ac.float32, ac.float32]


def test_other_threads_are_not_concerned():
    found = []
    with ac.autocast("cpu"):
        thread = threading.Thread(target=lambda: found.append(square() @ square()))
        thread.start()
        thread.join()
    assert found[0].dtype is ac.float32


def test_results_that_are_given_and_writes_keep_their_dtype():
    a, out, written = square(), ac.zeros(3, 3), square()
    with ac.autocast("cpu"):
        assert ac.mm(a, a, out=out) is out
        written.addmm_(a, a)
    assert ac.equal(out, ac.mm(a, a))
    assert ac.equal(written, ac.addmm(a, a, a))


def test_a_parameter_is_cast_once():
    layer, x = ac.nn.Linear(3, 3, bias=False), ac.ones(2, 3).bfloat16()
    for keeps in (True, False):
        with ac.autocast("cpu", cache_enabled=keeps):
            first, second = layer(x), layer(x)
        assert (first._edge.edges[1] is second._edge.edges[1]) is keeps


def double_bytes(memory):
    memory.view(np.float32)[:] *= 2


@pytest.mark.parametrize(
    "write",
    [
        lambda w: w.data.mul_(2),
        lambda w: setattr(w, "data", w.data * 2),
        lambda w: ac.optim.SGD([w], lr=1.0, maximize=True).step(),
        lambda w: w.detach().copy_(w.detach() * 2),
        lambda w: w.storage().copy_((w * 2).storage()),
        lambda w: double_bytes(np.asarray(w.untyped_storage()[:])),
        lambda w: ac.tensor([]).set_(w.untyped_storage()).mul_(2),
        lambda w: ac.TypedStorage(
            wrap_storage=w.untyped_storage(), dtype=ac.float32
        ).copy_((w * 2).storage()),
    ],
    ids=[
        "in place",
        "replaced",
        "an optimizer",
        "by an alias",
        "by a storage",
        "by the bytes",
        "by a tensor of the storage",
        "by a storage of the bytes",
    ],
)
def test_a_parameter_that_is_written_is_cast_again(write):
    layer, x = ac.nn.Linear(3, 3, bias=False), ac.ones(2, 3)
    with ac.autocast("cpu"):
        before = layer(x)
        layer.weight.grad = layer.weight.detach().clone()
        with ac.no_grad():
            write(layer.weight)
        after = layer(x)
    assert ac.equal(after, before * 2)


def test_a_cast_without_a_graph_is_not_used_for_one():
    layer, x = ac.nn.Linear(3, 3), ac.ones(2, 3)
    with ac.autocast("cpu"):
        with ac.no_grad():
            layer(x)
        layer(x).float().sum().backward()
    assert layer.weight.grad is not None


def test_two_losses_of_one_context_have_a_backward_pass_each():
    layer, x = ac.nn.Linear(3, 3), ac.ones(2, 3)
    with ac.autocast("cpu"):
        first, second = layer(x).float().sum(), layer(x * 2).float().sum()
    first.backward()
    one = layer.weight.grad.clone()
    second.backward()
    assert ac.equal(layer.weight.grad, one * 3)


def test_gradients_of_gradients_compute_as_the_operators_did():
    w = square().requires_grad_()
    with ac.autocast("cpu"):
        y = (w @ w).float().sum()
        (g,) = ac.autograd.grad(y, w, create_graph=True)
        assert g.dtype is ac.float32
        (gg,) = ac.autograd.grad(g.square().sum(), w)
    assert gg.dtype is ac.float32


def test_what_is_computed_again_has_the_precision_of_the_first_time():
    layer = ac.nn.Linear(3, 3)
    x = square().requires_grad_()
    seen = []

    def run(x):
        y = layer(x)
        seen.append(y.dtype)
        return y.float().tanh()

    with ac.autocast("cpu"):
        layer(x)
        y = ac.utils.checkpoint.checkpoint(run, x, use_reentrant=False)
    y.sum().backward()
    assert seen == [ac.bfloat16, ac.bfloat16]
    assert x.grad.dtype is layer.weight.grad.dtype is ac.float32


def test_functions_of_a_program_choose_for_themselves():
    class Square(ac.autograd.Function):
        @staticmethod
        @ac.amp.custom_fwd(device_type="cpu", cast_inputs=ac.float32)
        def forward(ctx, x, more=()):
            ctx.save_for_backward(x)
            return x @ x

        @staticmethod
        @ac.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            assert not ac.is_autocast_enabled("cpu")
            return g @ x.T + x.T @ g, None

    x = square().bfloat16().requires_grad_()
    with ac.autocast("cpu"):
        y = Square.apply(x)
        assert y.dtype is ac.float32
        y.sum().backward()
    assert x.grad.dtype is ac.bfloat16


def test_functions_of_a_program_follow_the_context():
    class Product(ac.autograd.Function):
        @staticmethod
        @ac.amp.custom_fwd(device_type="cpu")
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x @ x

        @staticmethod
        @ac.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            assert ac.is_autocast_enabled("cpu")
            assert ac.get_autocast_dtype("cpu") is ac.float16
            return g.float()

    x = square().requires_grad_()
    with ac.autocast("cpu", dtype=ac.float16):
        y = Product.apply(x)
    assert y.dtype is ac.float16
    y.sum().backward()


def test_short_programs_of_other_contexts_are_not_taken():
    a = square()
    for _ in range(40):  # composites are recorded after 32 calls
        plain = ac.cov(a)
    with ac.autocast("cpu"):
        for _ in range(40):
            assert ac.cov(a).dtype is ac.bfloat16
    assert ac.cov(a).dtype is plain.dtype is ac.float32


def test_where_there_is_none():
    with ac.autocast("cuda"):
        assert (square() @ square()).dtype is ac.float32
    assert not ac.is_autocast_enabled()
    assert not ac.is_autocast_enabled("cuda")
    assert ac.amp.is_autocast_available("cpu")
    assert not ac.amp.is_autocast_available("cuda")
    assert ac.get_autocast_dtype("cpu") is ac.bfloat16
    assert ac.get_autocast_dtype("cuda") is ac.float16


def test_a_dtype_that_is_not_lower_switches_it_off():
    with pytest.warns(UserWarning, match="`dtype` is autocalc.float32; on the CPU it"):
        context = ac.autocast("cpu", dtype=ac.float32)
    with context:
        assert (square() @ square()).dtype is ac.float32


def test_mistakes():
    with pytest.raises(DTypeError, match="`device_type` is 3; it must be a"):
        ac.autocast(3)
    with pytest.raises(ArgumentError, match=": `device_type` is 'tpu'; use 'cpu';"):
        ac.autocast("tpu")


# ---- recurrent layers ----------------------------------------------------------------

#: Layer -> dtypes of its results from an input of float32, as PyTorch's CPU build has
#: them; all are bfloat16 from an input of bfloat16.
RECURRENT = {
    "RNN": ["bfloat16"] * 2,
    "LSTM": ["bfloat16"] * 3,
    "GRU": ["float32"] * 2,
    "RNNCell": ["bfloat16"],
    "LSTMCell": ["float32"] * 2,
    "GRUCell": ["float32"],
}


def names_of(results):
    if isinstance(results, tuple):
        return [name for one in results for name in names_of(one)]
    return [str(results.dtype).partition(".")[2]]


def recurrent(lib, name, half):
    layer = getattr(lib.nn, name)(4, 8)
    x = lib.ones(2, 4) if "Cell" in name else lib.ones(3, 2, 4)
    with lib.autocast("cpu", dtype=lib.bfloat16):
        return layer, layer(x.bfloat16() if half else x)


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layers(name, half):
    layer, results = recurrent(ac, name, half)
    wanted = RECURRENT[name]
    assert names_of(results) == (["bfloat16"] * len(wanted) if half else wanted)
    first = results[0] if isinstance(results, tuple) else results
    first.float().sum().backward()
    assert {p.grad.dtype for p in layer.parameters()} == {ac.float32}


@pytest.mark.torch
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layers_are_as_those_of_pytorch(name, half):
    torch = pytest.importorskip("torch")
    _, ours = recurrent(ac, name, half)
    try:
        _, theirs = recurrent(torch, name, half)
    except RuntimeError as error:
        if "could not create a primitive" in str(error):
            pytest.skip("PyTorch has no such layer for a CPU without AVX-512")
        raise
    assert names_of(ours) == names_of(theirs)


def test_packed_sequences_and_layers_on_layers():
    lstm = nn.LSTM(4, 8, 2, bidirectional=True, dropout=0.1)
    packed = nn.utils.rnn.pack_sequence([ac.ones(n, 4) for n in (3, 2, 1)])
    with ac.autocast("cpu"):
        out, (h, c) = lstm(packed)
    assert {out.data.dtype, h.dtype, c.dtype} == {ac.bfloat16}


def test_outside_of_a_context_one_dtype_is_needed():
    x = ac.ones(2, 4).bfloat16()
    for layer in (nn.LSTMCell(4, 8), nn.GRUCell(4, 8), nn.RNNCell(4, 8)):
        with pytest.raises(DTypeError, match="bfloat16 and float32; they must have"):
            layer(x)
    with pytest.raises(DTypeError, match=r"LSTM: RNN input dtype \(bfloat16\)"):
        nn.LSTM(4, 8)(x)
    with pytest.raises(DTypeError, match="conv1d: the tensors are bfloat16 and float"):
        nn.functional.conv1d(x[None], ac.ones(3, 2, 1))


def test_products_that_sum_to_one_number():
    x, y = ac.ones(3, 4), ac.ones(4)
    with ac.autocast("cpu"):
        assert ac.tensordot(x, x, 2).dtype is ac.inner(y, y).dtype is ac.float32
        assert ac.tensordot(x, x, ([1, 0], [1, 0])).dtype is ac.float32
        assert ac.tensordot(x[None], x[..., None], 2).dtype is ac.float32
        assert ac.tensordot(x, y, 1).dtype is ac.inner(x, y).dtype is ac.bfloat16


# ---- losses of labels ----------------------------------------------------------------

LABELS = {
    "mean": {},
    "sum": {"reduction": "sum"},
    "none": {"reduction": "none"},
    "ignored": {"ignore_index": 2},
    "smoothed": {"label_smoothing": 0.1, "reduction": "sum"},
    "weighted": {"weight": True, "ignore_index": 1},
}


@pytest.mark.parametrize("block", [1 << 20, 12])
@pytest.mark.parametrize("case", LABELS)
def test_logits_of_bfloat16_have_a_loss_of_float32(case, block, monkeypatch):
    monkeypatch.setattr(low_precision_logits, "_BLOCK", block)
    g = ac.Generator().manual_seed(1)
    logits, labels = ac.randn(7, 5, generator=g), ac.randint(0, 5, (7,), generator=g)
    half, words = logits.bfloat16().requires_grad_(), dict(LABELS[case])
    if words.get("weight"):
        words["weight"] = ac.rand(5, generator=g)
    wide = half.detach().float().requires_grad_()
    exact = nn.functional.cross_entropy(wide, labels, **words)
    with ac.autocast("cpu"):
        found = nn.functional.cross_entropy(half, labels, **words)
    assert found.dtype is ac.float32
    assert ac.allclose(found, exact, rtol=1e-6)
    factor = ac.rand_like(exact) + 0.5
    (found * factor).sum().backward()
    (exact * factor).sum().backward()
    assert half.grad.dtype is ac.bfloat16
    assert ac.allclose(half.grad.float(), wide.grad, rtol=2**-7, atol=1e-9)


def test_a_loss_of_bfloat16_has_second_derivatives():
    labels = ac.tensor([1, 0])
    with ac.autocast("cpu"):
        half = ac.tensor([[1.0, 2.0], [0.5, -1.0]]).bfloat16().requires_grad_()
        loss = nn.functional.cross_entropy(half, labels)
    wide = half.detach().float().requires_grad_()
    again = []
    for x, y in ((half, loss), (wide, nn.functional.cross_entropy(wide, labels))):
        (slope,) = ac.autograd.grad(y, x, create_graph=True)
        again.append(ac.autograd.grad(slope.float().square().sum(), x)[0])
    assert ac.allclose(again[0].float(), again[1], rtol=2**-6)


def test_what_a_loss_of_bfloat16_refuses():
    with ac.autocast("cpu"):
        half = ac.zeros(2, 3).bfloat16().requires_grad_()
        with pytest.raises(KernelDataError, match="target"):
            nn.functional.cross_entropy(half, ac.tensor([0, 3]))
        with pytest.raises(DTypeError, match="cross_entropy: needs a Tensor, not"):
            nn.functional.cross_entropy(half, [0, 1])


@pytest.mark.parametrize("weighted", [False, True])
def test_a_label_that_is_no_class_is_named_by_its_place(weighted):
    """Rows are taken some at a time: the place is that in all of them."""
    classes = 1 << 19
    logits, labels = ac.zeros(4, classes), ac.tensor([0, 1, 2, classes])
    weight = ac.ones(classes) if weighted else None
    with (
        ac.autocast("cpu"),
        pytest.raises(KernelIndexError, match=r"cross_entropy: `target` .* element 3,"),
    ):
        nn.functional.cross_entropy(logits.bfloat16(), labels, weight)


def test_a_step_of_a_language_model_keeps_no_copies_in_float32():
    """All but the residual stream, which norms keep, is kept in bfloat16."""
    if not ac.memory.stats():
        pytest.skip("NumPy allocates, which counts nothing")

    def kept(run):
        model = ac.models.Decoder(512, 32, 64, 4, 2)
        tokens = ac.randint(0, 512, (16, 32))
        before = ac.memory.stats()["in_use"]
        loss = run(model, tokens)
        after = ac.memory.stats()["in_use"]
        assert loss.dtype is ac.float32
        return after - before

    def plain(model, tokens):
        return nn.functional.cross_entropy(
            model(tokens).flatten(0, 1), tokens.flatten()
        )

    def under(model, tokens):
        with ac.autocast("cpu"):
            return plain(model, tokens)

    assert kept(under) < 0.65 * kept(plain)
