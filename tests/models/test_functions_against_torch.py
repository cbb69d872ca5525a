# SPDX-License-Identifier: MIT
"""Functions and modules in float64: values and gradients are PyTorch's.

PyTorch's database of samples (`tests/operators`) asks more of most of them; here are
those that it does not have, and arguments that it does not try.
"""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

RNG_SEED = 0


def normal(*shape, seed=RNG_SEED):
    return np.random.default_rng(seed).normal(size=shape)


def flat(results):
    return (
        [r for r in results if r is not None]
        if isinstance(results, tuple)
        else [results]
    )


def agree(call, *arrays, rtol=1e-10, atol=1e-12):
    """Call ``call(library, *leaves)`` in both; compare results and gradients."""
    found = []
    for library in (ac, torch):
        leaves = [library.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
        results = flat(call(library, *leaves))
        loss = sum(
            (r * library.tensor(normal(*r.shape, seed=9))).sum()
            for r in results
            if r.requires_grad
        )
        floats = [x for x in leaves if x.requires_grad]
        if floats:
            loss.backward()
        found.append(
            [r.detach().numpy() for r in results]
            + [
                x.detach().numpy() * 0 if x.grad is None else x.grad.numpy()
                for x in floats
            ]
        )
    assert len(found[0]) == len(found[1])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=atol)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("celu_", (0.5,)),  # PyTorch rounds it to float32
        ("elu_", (0.7,)),
        ("selu_", ()),
        ("leaky_relu_", (0.2,)),
        ("hardtanh_", (-0.5, 0.8)),
        ("rrelu_", (0.2, 0.4)),
        ("threshold_", (0.1, 3.0)),
        ("rrelu", (0.2, 0.4)),
    ],
)
def test_rectifiers(name, args):
    def call(library, x):
        y = x * 2  # a leaf cannot be written to
        result = getattr(library.nn.functional, name)(y, *args)
        assert (result is y) == name.endswith("_")
        return result

    agree(call, normal(5, 7))


def test_softmax_over_channels():
    agree(lambda m, x: m.nn.Softmax2d()(x), normal(2, 3, 4, 5))
    agree(lambda m, x: m.nn.Softmax2d()(x), normal(3, 4, 5))


CTC = [
    {},
    {"reduction": "sum"},
    {"reduction": "none", "blank": 2},
    {"zero_infinity": True},
]


@pytest.mark.parametrize("words", CTC)
@pytest.mark.parametrize("one_after_the_other", [False, True])
def test_ctc_loss(words, one_after_the_other):
    texts = np.array([[1, 3, 3, 4], [4, 1, 0, 0], [5, 5, 5, 0], [1, 0, 0, 0]])
    lengths, steps = [4, 2, 3, 0], [9, 7, 5, 4]
    if one_after_the_other:
        rows = zip(texts, lengths, strict=True)
        texts = np.concatenate([row[:n] for row, n in rows])

    def call(m, x, t):
        log_probs = m.nn.functional.log_softmax(x, -1)
        return m.nn.CTCLoss(**words)(log_probs, t, steps, lengths)

    agree(call, normal(9, 4, 6), texts)


def test_ctc_loss_of_texts_that_do_not_fit_and_of_one_sequence():
    def call(m, x, t):
        log_probs = m.nn.functional.log_softmax(x, -1)
        ctc = m.nn.CTCLoss(reduction="none", zero_infinity=True)
        return ctc(log_probs, t, m.tensor([3, 3, 0, 0]), m.tensor([4, 2, 1, 0]))

    agree(
        call, normal(9, 4, 6), np.array([[1, 3, 4, 2], [5, 5, 1, 1], [2] * 4, [1] * 4])
    )

    def alone(m, x, t):
        log_probs = m.nn.functional.log_softmax(x, -1)
        return m.nn.functional.ctc_loss(log_probs, t, (7,), (3,))

    agree(alone, normal(7, 5), np.array([1, 1, 4]))
    x, t = normal(3, 1, 6), np.array([[1, 2, 3, 4]])
    losses = [m.nn.CTCLoss()(m.tensor(x), m.tensor(t), [3], [4]) for m in (ac, torch)]
    assert float(losses[0]) == float(losses[1]) == float("inf")


@pytest.mark.parametrize("shape", [(2, 7, 4), (3, 5, 4, 3), (2, 3, 2, 3, 2), (0, 3, 2)])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_local_response_norm(shape, size):
    agree(lambda m, x: m.nn.LocalResponseNorm(size)(x), normal(*shape))
    words = {"alpha": 0.3, "beta": 0.6, "k": 2.0}
    agree(lambda m, x: m.nn.LocalResponseNorm(size, **words)(x), normal(*shape))


@pytest.mark.parametrize("p", [1, 2, 3.0, 0.5])
@pytest.mark.parametrize("ceil", [False, True])
def test_power_means(p, ceil):
    x = abs(normal(2, 3, 11)) + 0.1
    agree(lambda m, x: m.nn.LPPool1d(p, 3, 2, ceil_mode=ceil)(x), x)
    agree(lambda m, x: m.nn.functional.lp_pool1d(x[0], p, 4), x)
    x = abs(normal(2, 3, 7, 8)) + 0.1
    agree(lambda m, x: m.nn.LPPool2d(p, (2, 3), 2, ceil_mode=ceil)(x), x)


def test_windows_over_volumes():
    x = abs(normal(2, 3, 4, 5, 6)) + 0.1
    agree(lambda m, x: m.nn.LPPool3d(3, (2, 2, 3), 2, ceil_mode=True)(x), x)
    agree(lambda m, x: m.nn.functional.lp_pool3d(x[0], 2, 2), x)

    def call(m, x):
        y, places = m.nn.MaxPool3d((2, 1, 3), return_indices=True)(x)
        return m.nn.MaxUnpool3d((2, 1, 3))(y * y, places, output_size=x.shape)

    agree(call, normal(2, 3, 5, 4, 7))


def test_the_slope_of_a_power_mean_of_zeros():
    x = normal(1, 1, 6)
    x[..., :2] = 0
    agree(lambda m, x: m.nn.functional.lp_pool1d(x, 2, 2), x)


@pytest.mark.parametrize(
    ("windows", "size"),
    [((2,), None), ((2, 2), (1, 1, 9)), ((4, 4, 1), [9]), ((2, 3), [10])],
)
def test_maxima_put_back_into_signals(windows, size):
    def call(m, x):
        pool = m.nn.MaxPool1d(*windows, return_indices=True)
        y, places = pool(m.nn.functional.pad(x, (0, 1)))
        return m.nn.MaxUnpool1d(*windows)(y * y, places, size), places

    agree(call, np.arange(8.0).reshape(1, 1, 8))


def test_maxima_put_back_into_images():
    def call(m, x):
        y, places = m.nn.MaxPool2d((2, 3), return_indices=True)(x)
        size = x.shape if x.ndim == 4 else x.shape[1:]
        return m.nn.MaxUnpool2d((2, 3))(y * y, places, output_size=size)

    agree(call, normal(2, 3, 5, 7))
    agree(call, normal(3, 4, 6))


@pytest.mark.parametrize("p", [0, 1, 2, 3.5, float("inf")])
def test_pdist(p):
    agree(lambda m, x: m.pdist(x, p), normal(5, 3))
    agree(lambda m, x: m.nn.functional.pdist(x, p).sum(), np.ones((4, 2)))


def test_channels_are_shuffled():
    agree(lambda m, x: m.nn.ChannelShuffle(3)(x), normal(2, 6, 3, 2))
    agree(lambda m, x: m.nn.functional.channel_shuffle(x, 2), normal(2, 6, 5))


def test_upsampling():
    for words in ({"scale_factor": 2}, {"size": (5, 7)}, {"scale_factor": (2.0, 3.0)}):
        agree(
            lambda m, x, w=words: m.nn.UpsamplingNearest2d(**w)(x), normal(1, 2, 3, 4)
        )
        agree(
            lambda m, x, w=words: m.nn.UpsamplingBilinear2d(**w)(x), normal(1, 2, 3, 4)
        )


@pytest.mark.filterwarnings("ignore:.*unit-size grids:UserWarning")
@pytest.mark.filterwarnings("ignore:affine_grid.* holds 1 with align_corners")
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 1, 1, 3), (2, 2, 3, 1, 4)])
@pytest.mark.parametrize("corners", [False, True])
def test_affine_grids(size, corners):
    dims = len(size) - 2
    theta = normal(2, dims, dims + 1)
    agree(
        lambda m, t: m.nn.functional.affine_grid(t, size, align_corners=corners), theta
    )


MODES = ["bilinear", "nearest", "bicubic"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [False, True])
def test_grid_sampling(mode, padding, corners):
    def call(m, x, g):
        return m.nn.functional.grid_sample(x, g, mode, padding, corners)

    agree(call, normal(2, 3, 5, 4), 1.3 * normal(2, 3, 6, 2, seed=1), rtol=1e-9)
    agree(call, normal(2, 1, 1, 3), 4 * normal(2, 3, 2, 2, seed=2), rtol=1e-9)
    if mode != "bicubic":
        agree(call, normal(2, 2, 3, 4, 5), normal(2, 2, 3, 2, 3, seed=3), rtol=1e-9)


#: Mode, shape, and how its size is given.
RESIZED = [
    *[
        ("nearest-exact", shape, words)
        for shape in [(2, 3, 7), (2, 3, 5, 4), (1, 2, 3, 4, 5)]
        for words in [{"size": 3}, {"size": 11}, {"scale_factor": 1.7}]
    ],
    *[
        ("area", shape, words)
        for shape in [(2, 3, 7), (2, 3, 6, 4), (1, 2, 3, 4, 5)]
        for words in [{"size": 2}, {"size": 9}, {"scale_factor": 0.7}, {"size": 1}]
    ],
    *[
        ("bicubic", (2, 3, 6, 5), {**words, "align_corners": corners})
        for corners in (None, False, True)
        for words in [{"size": (3, 11)}, {"scale_factor": 1.7}, {"size": (1, 5)}]
    ],
    *[
        (mode, (2, 3, 9, 12), {**words, "align_corners": corners, "antialias": True})
        for mode in ("bilinear", "bicubic")
        for corners in (False, True)
        for words in [
            {"size": (3, 5)},
            {"size": (13, 4)},
            {"scale_factor": 0.3},
            {"scale_factor": 0.3, "recompute_scale_factor": True},
            {"size": (1, 12)},
        ]
    ],
]


@pytest.mark.parametrize(("mode", "shape", "words"), RESIZED)
def test_resizing(mode, shape, words):
    agree(
        lambda m, x: m.nn.functional.interpolate(x, mode=mode, **words), normal(*shape)
    )


def same_state(mine, theirs):
    """Load PyTorch's state into our module."""
    state = {k: ac.tensor(t.numpy()) for k, t in theirs.state_dict().items()}
    assert list(mine.state_dict()) == list(state)
    mine.load_state_dict(state)
    return mine


@pytest.mark.filterwarnings("ignore:Initializing zero-element:UserWarning")
@pytest.mark.parametrize("words", [{}, {"div_value": 1.5, "head_bias": True}])
def test_a_softmax_in_clusters(words):
    theirs = torch.nn.AdaptiveLogSoftmaxWithLoss(9, 30, [4, 12, 20], **words).double()
    mine = ac.nn.AdaptiveLogSoftmaxWithLoss(9, 30, [4, 12, 20], **words).double()
    assert repr(mine) == repr(theirs)
    layers = {ac: same_state(mine, theirs), torch: theirs}

    def call(m, x, t):
        return tuple(layers[m](x, t))

    agree(call, normal(7, 9), np.array([0, 3, 4, 12, 29, 19, 5]))
    for p, q in zip(mine.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(
            p.grad.numpy(), q.grad.numpy(), rtol=1e-10, atol=1e-12
        )
    agree(call, normal(9), np.array(13))
    agree(lambda m, x: (layers[m].log_prob(x), layers[m].predict(x)), normal(7, 9))


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature:UserWarning")
def test_lazy_layers():
    nets = {
        m: m.nn.Sequential(
            m.nn.LazyConv1d(4, 3), m.nn.LazyBatchNorm1d(), m.nn.Flatten(),
            m.nn.LazyLinear(2),
        ).double()
        for m in (ac, torch)
    }  # fmt: skip
    assert list(nets[ac].state_dict()) == list(nets[torch].state_dict())
    x = normal(5, 3, 6)
    nets[torch](torch.tensor(x))
    same_state(nets[ac], nets[torch])
    agree(lambda m, x: nets[m].eval()(x), x)
    assert repr(nets[ac][3]) == repr(nets[torch][3])


def parametrized(build):
    """Return layers of both libraries with one state, whatever they were made of."""
    theirs = build(torch).double()
    mine = build(ac).double()
    assert repr(mine).count("(0): ") == repr(theirs).count("(0): ")
    return {ac: same_state(mine, theirs), torch: theirs}


def compare_training(layers, x, steps=3):
    """Compare outputs and originals after steps of SGD."""
    for m, layer in layers.items():
        optimizer = m.optim.SGD(layer.parameters(), lr=0.1)
        for _ in range(steps):
            optimizer.zero_grad()
            (layer(m.tensor(x)) ** 2).sum().backward()
            optimizer.step()
    agree(lambda m, x: layers[m].eval()(x), x, rtol=1e-8)
    states = [layers[m].state_dict() for m in (ac, torch)]
    assert list(states[0]) == list(states[1])
    for mine, theirs in zip(states[0].values(), states[1].values(), strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("dim", [0, 1, None, -1])
def test_parametrized_lengths(dim):
    def build(m):
        return m.nn.utils.parametrizations.weight_norm(m.nn.Linear(3, 4), dim=dim)

    compare_training(parametrized(build), normal(5, 3))


@pytest.mark.parametrize("words", [{}, {"n_power_iterations": 3, "dim": 1}])
def test_parametrized_norms(words):
    def build(m):
        norm = m.nn.utils.parametrizations.spectral_norm
        return norm(m.nn.Conv2d(2, 3, (2, 3)), **words)

    compare_training(parametrized(build), normal(2, 2, 4, 5))


def test_the_norm_of_transposed_convolutions():
    def build(m):
        norm = m.nn.utils.parametrizations.spectral_norm
        return norm(m.nn.ConvTranspose2d(2, 3, 2))

    compare_training(parametrized(build), normal(2, 2, 3, 3))


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder", None])
@pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (5, 3), (1, 4)])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal_weights(kind, sizes, trivial):
    def build(m):
        orthogonal = m.nn.utils.parametrizations.orthogonal
        layer = m.nn.Linear(sizes[1], sizes[0]).double()
        return orthogonal(layer, orthogonal_map=kind, use_trivialization=trivial)

    layers = parametrized(build)
    compare_training(layers, normal(5, sizes[1]))
    weights = [layers[m].weight.detach().numpy() for m in (ac, torch)]
    np.testing.assert_allclose(*weights, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("sizes", [(4, 4), (5, 3), (3, 5)])
def test_what_an_orthogonal_weight_is_made_of(sizes):
    """Assigned without a base: reflections as LAPACK finds them."""
    longer, shorter = max(sizes), min(sizes)
    weight = np.linalg.qr(normal(longer, longer))[0][:, :shorter]
    weight = weight if sizes[0] == longer else weight.T
    found = []
    for m in (ac, torch):
        layer = m.nn.Linear(sizes[1], sizes[0]).double()
        m.nn.utils.parametrizations.orthogonal(
            layer, orthogonal_map="householder", use_trivialization=False
        )
        layer.weight = m.tensor(weight)
        found.append(layer.parametrizations.weight.original.detach().numpy())
    np.testing.assert_allclose(*found, rtol=1e-9, atol=1e-11)


def test_parametrizations_of_ones_own():
    def build(m):
        class Symmetric(m.nn.Module):
            def forward(self, x):
                return m.triu(x) + m.triu(x, 1).mT

            def right_inverse(self, x):
                return m.triu(x)

        class Scaled(m.nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = m.nn.Parameter(m.tensor(1.5))

            def forward(self, x):
                return x * self.scale

        layer = m.nn.Linear(3, 3)
        register = m.nn.utils.parametrize.register_parametrization
        register(layer, "weight", Symmetric())
        register(layer, "weight", Scaled())
        register(layer, "bias", Scaled())
        assert repr(layer).startswith("ParametrizedLinear(")
        return layer

    layers = parametrized(build)
    assert repr(layers[ac]) == repr(layers[torch])
    compare_training(layers, normal(5, 3))
    for keep in (True, False):
        name = "weight" if keep else "bias"
        for m, layer in layers.items():
            m.nn.utils.parametrize.remove_parametrizations(layer, name, keep)
    assert repr(layers[ac]) == repr(layers[torch]) == repr(torch.nn.Linear(3, 3))
    compare_training(layers, normal(5, 3))
