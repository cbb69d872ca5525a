# SPDX-License-Identifier: MIT
"""Layers, losses and optimizers follow PyTorch's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def twins():
    """Return the same network twice, from PyTorch's parameters."""
    torch.manual_seed(0)
    theirs = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(16, 24), torch.nn.Tanh(),
        torch.nn.Linear(24, 8), torch.nn.ReLU(), torch.nn.Linear(8, 5),
    ).double()  # fmt: skip
    ours = ac.nn.Sequential(
        ac.nn.Flatten(), ac.nn.Linear(16, 24), ac.nn.Tanh(),
        ac.nn.Linear(24, 8), ac.nn.ReLU(), ac.nn.Linear(8, 5),
    ).double()  # fmt: skip
    state = {key: ac.tensor(t.numpy()) for key, t in theirs.state_dict().items()}
    ours.load_state_dict(state)
    return ours, theirs


def batch(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(12, 4, 4)), rng.integers(0, 5, 12)


def close(a, b, rtol=1e-9):
    np.testing.assert_allclose(
        a.detach().numpy(), b.detach().numpy(), rtol=rtol, atol=1e-12
    )


def test_names_and_repr():
    ours, theirs = twins()
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert repr(ours) == repr(theirs)
    assert repr(ac.nn.ModuleList(ours)) == repr(torch.nn.ModuleList(theirs))


#: Their values and gradients are compared by PyTorch's database (`tests/operators`).
MODULES = """
    GELU()  GELU(approximate='tanh')  SiLU()  SiLU(inplace=True)  Softplus()
    Softplus(beta=2,threshold=1)  ELU()  ELU(alpha=0.5,inplace=True)  CELU(alpha=2.0)
    SELU()  SELU(inplace=True)  Mish()  ReLU6()  Hardswish()  Hardsigmoid(inplace=True)
    Hardtanh(min_val=-0.5,max_val=0.25)  LeakyReLU(negative_slope=0.3)
    LeakyReLU(inplace=True)  PReLU()  PReLU(num_parameters=3,init=0.1)  Softsign()
    LogSigmoid()  Tanhshrink()  Softmax(dim=1)  Softmin(dim=0)  LogSoftmax(dim=-1)
    GLU()  GLU(dim=1)  LayerNorm(normalized_shape=8)
    LayerNorm(normalized_shape=(2,4),eps=0.1,bias=False)
    LayerNorm(normalized_shape=8,elementwise_affine=False)  RMSNorm(normalized_shape=8)
    RMSNorm(normalized_shape=(3,8),eps=0.1)
    RMSNorm(normalized_shape=8,elementwise_affine=False)
    Embedding(num_embeddings=5,embedding_dim=3)
    Embedding(num_embeddings=5,embedding_dim=3,padding_idx=-2)  NLLLoss()
    NLLLoss(ignore_index=2,reduction='none')  NLLLoss(weight=WEIGHT,ignore_index=1)
    CrossEntropyLoss(weight=WEIGHT,label_smoothing=0.1)  CrossEntropyLoss()
    CrossEntropyLoss(weight=WEIGHT,reduction='none')  MSELoss(reduction='sum')  L1Loss()
    SmoothL1Loss(beta=0.5)  SmoothL1Loss(beta=0.0,reduction='sum')
    HuberLoss(delta=0.7,reduction='none')  BCELoss(weight=WEIGHT)
    BCELoss(reduction='sum')  BCEWithLogitsLoss(weight=WEIGHT,pos_weight=WEIGHT)
    BCEWithLogitsLoss(reduction='none')  KLDivLoss(reduction='batchmean')
    KLDivLoss(reduction='sum')  KLDivLoss(reduction='sum',log_target=True)
    CosineEmbeddingLoss(margin=0.2)  TripletMarginLoss()
    TripletMarginLoss(p=1.0,swap=True,reduction='none')
    TripletMarginLoss(p=3.0,margin=0.1,reduction='sum')  MarginRankingLoss(margin=0.3)
    HingeEmbeddingLoss(margin=0.5,reduction='none')  SoftMarginLoss(reduction='sum')
    MultiLabelMarginLoss()  MultiLabelMarginLoss(reduction='none')
    MultiLabelSoftMarginLoss(weight=WEIGHT)  MultiMarginLoss(weight=WEIGHT,margin=0.7)
    MultiMarginLoss(p=2,reduction='none')
    TripletMarginWithDistanceLoss(swap=True,margin=0.1)  PoissonNLLLoss(full=True)
    PoissonNLLLoss(log_input=False,reduction='sum')  GaussianNLLLoss(full=True,eps=0.4)
    MSELoss(size_average=False)  NLLLoss(weight=WEIGHT,reduce=False)
    CosineSimilarity(dim=0)  PairwiseDistance(p=1.0,keepdim=True)  Dropout()  Softmax()
    Identity()  ReLU()  Sigmoid()  RReLU()  RReLU(lower=0.2,upper=0.4,inplace=True)
    Softmax2d()  AlphaDropout()  AlphaDropout(p=0.2,inplace=True)  FeatureAlphaDropout()
    Dropout1d(p=0.3)  Dropout3d(p=0.3,inplace=True)  LPPool1d(norm_type=2,kernel_size=3)
    LPPool2d(norm_type=1.5,kernel_size=(3,2),stride=1)
    LPPool3d(norm_type=2,kernel_size=3)  MaxUnpool3d(kernel_size=3)
    MaxUnpool1d(kernel_size=3)  MaxUnpool2d(kernel_size=3,stride=2,padding=1)
    LocalResponseNorm(size=3)  ChannelShuffle(groups=2)
    UpsamplingNearest2d(scale_factor=2)  UpsamplingNearest2d(size=3)
    UpsamplingBilinear2d(size=(3,4))  Bilinear(3,4,5)
"""


@pytest.mark.filterwarnings("ignore:.*size_average")
@pytest.mark.parametrize("expression", re.split(r"\s\s+", MODULES.strip()))
def test_what_modules_print_and_the_keys_of_their_states(expression):
    ours, theirs = (
        eval(expression, {**vars(m.nn), "WEIGHT": m.ones(5)}) for m in (ac, torch)
    )
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())


LOSSES = [
    ("TripletMarginWithDistanceLoss", {"swap": True, "margin": 0.1}, "triplets"),
    ("MSELoss", {"size_average": False}, "numbers"),
    ("NLLLoss", {"weight": 5, "reduce": False}, "classes"),
    ("CosineSimilarity", {"dim": 0}, "numbers"),
    ("PairwiseDistance", {"p": 1.0, "keepdim": True}, "numbers"),
]


def operands(kind):
    """Return arrays of a kind; those of floats are differentiated."""
    rng = np.random.default_rng(0)
    x, y, z = (rng.normal(size=(6, 5)) for _ in range(3))
    classes = x, rng.integers(0, 5, 6)
    return {"classes": classes, "numbers": (x, y), "triplets": (x, y, z)}[kind]


@pytest.mark.filterwarnings("ignore:.*size_average")
@pytest.mark.parametrize(("name", "settings", "kind"), LOSSES)
def test_losses_one_by_one(name, settings, kind):
    arrays, results = operands(kind), []
    weight = np.random.default_rng(1).uniform(0.5, 2, 5)
    for library in (ac, torch):
        inputs = [
            library.tensor(a, requires_grad=True)
            if a.dtype == np.float64
            else library.tensor(a)
            for a in arrays
        ]
        words = {
            key: library.tensor(weight) if "weight" in key else value
            for key, value in settings.items()
        }
        module = getattr(library.nn, name)(**words)
        loss = module(*inputs)
        (loss * loss).sum().backward()
        grads = [x.grad for x in inputs if x.requires_grad]
        results.append((repr(module), list(module.state_dict()), [loss, *grads]))
    (text, keys, values), (their_text, their_keys, expected) = results
    assert (text, keys) == (their_text, their_keys)
    for mine, theirs in zip(values, expected, strict=True):
        close(mine, theirs)


@pytest.mark.filterwarnings("ignore:.*weight_norm:FutureWarning")
@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm(dim):
    theirs = torch.nn.utils.weight_norm(torch.nn.Linear(3, 4).double(), dim=dim)
    ours = ac.nn.utils.weight_norm(ac.nn.Linear(3, 4).double(), dim=dim)
    state = {k: ac.tensor(t.numpy()) for k, t in theirs.state_dict().items()}
    assert list(ours.state_dict()) == list(state)
    ours.load_state_dict(state)
    x = np.random.default_rng(0).normal(size=(5, 3))
    (ours(ac.tensor(x)) ** 2).sum().backward()
    (theirs(torch.tensor(x)) ** 2).sum().backward()
    for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
        close(p.grad, q.grad)


@pytest.mark.parametrize("norm_type", [2.0, 1.0, 3.0, float("inf")])
@pytest.mark.parametrize("max_norm", [0.01, 100.0])
def test_clipping(norm_type, max_norm):
    pairs = []
    for library, net in zip((ac, torch), twins(), strict=True):
        x, t = batch(0)
        logits = net(library.tensor(x))
        library.nn.functional.cross_entropy(logits, library.tensor(t)).backward()
        clip = library.nn.utils
        norm = clip.clip_grad_norm_(net.parameters(), max_norm, norm_type)
        clip.clip_grad_value_(net.parameters(), 0.005)
        pairs.append([norm, *(p.grad for p in net.parameters())])
    for mine, theirs in zip(*pairs, strict=True):
        close(mine, theirs)


OPTIMIZERS = [
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"lr": 0.01, "maximize": True}),
    ("AdamW", {"lr": 0.01}),
    ("AdamW", {"lr": 0.01, "betas": (0.8, 0.9), "weight_decay": 0.1, "eps": 1e-6}),
    ("AdamW", {"lr": 0.01, "amsgrad": True, "betas": (0.9, 0.9), "maximize": True}),
    ("Adam", {"lr": 0.01, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.01, "amsgrad": True, "betas": (0.5, 0.5), "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.005}),
    ("RMSprop", {"lr": 0.005, "alpha": 0.9, "weight_decay": 0.1, "momentum": 0.5}),
    ("RMSprop", {"lr": 0.005, "centered": True, "eps": 1e-3, "maximize": True}),
    ("Adagrad", {}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "eps": 1e-3}),
    ("Adagrad", {"initial_accumulator_value": 0.5, "maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.8, "eps": 1e-3, "weight_decay": 0.1}),
    ("Adadelta", {"lr": 0.1, "maximize": True}),
    ("NAdam", {}),
    ("NAdam", {"lr": 0.01, "betas": (0.8, 0.9), "weight_decay": 0.1, "eps": 1e-3}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    ("NAdam", {"lr": 0.01, "momentum_decay": 0.5}),
    ("RAdam", {}),
    ("RAdam", {"lr": 0.01, "betas": (0.8, 0.9), "weight_decay": 0.1, "eps": 1e-3}),
    ("RAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    ("Adamax", {}),
    ("Adamax", {"lr": 0.01, "betas": (0.8, 0.9), "weight_decay": 0.1, "eps": 1e-3}),
    ("Adamax", {"maximize": True}),
    ("ASGD", {"lr": 0.05}),
    ("ASGD", {"lr": 0.05, "lambd": 0.1, "alpha": 0.5, "t0": 5, "weight_decay": 0.1}),
    ("ASGD", {"lr": 0.01, "maximize": True}),
    ("Rprop", {"lr": 1e-3}),
    ("Rprop", {"lr": 1e-3, "etas": (0.25, 1.5), "step_sizes": (1e-4, 0.02)}),
    ("Rprop", {"lr": 1e-3, "step_sizes": (1e-4, 0.02), "maximize": True}),
    ("Adafactor", {}),
    ("Adafactor", {"lr": 0.1, "weight_decay": 0.1, "d": 2.0, "beta2_decay": -0.5}),
    ("Adafactor", {"eps": (1e-2, 0.1), "maximize": True}),
]


@pytest.fixture
def in_float64():
    """Let PyTorch keep numbers in float64, which takes the default dtype for them."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def train(ac_or_torch, net, optimizer, steps, first=0):
    dtype = next(net.parameters()).dtype
    for i in range(first, first + steps):
        x, t = batch(i)
        optimizer.zero_grad()
        logits = net(ac_or_torch.tensor(x, dtype=dtype))
        ac_or_torch.nn.functional.cross_entropy(
            logits, ac_or_torch.tensor(t)
        ).backward()
        optimizer.step()


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_fifty_steps_of_a_network(name, settings):
    """Each weight after each step; 1e-11 is for weights on their way through 0."""
    nets = twins()
    pairs = [
        (library, net, getattr(library.optim, name)(net.parameters(), **settings))
        for library, net in zip((ac, torch), nets, strict=True)
    ]
    paths = []
    for library, net, optimizer in pairs:
        path = []
        for i in range(50):
            train(library, net, optimizer, 1, first=i)
            path += [p.detach().numpy().ravel().copy() for p in net.parameters()]
        paths.append(np.concatenate(path))
    np.testing.assert_allclose(*paths, rtol=1e-9, atol=1e-11)


def bowl(library, dtype):
    """Return parameters, and a loss of them with other slopes at each step.

    No parameter comes near 0, so that each can be held to a relative error.
    """
    rng = np.random.default_rng(7)
    sizes = (5, 3), (17,), ()
    starts = [rng.uniform(1, 2, size) for size in sizes]
    targets = [rng.uniform(3, 6, size) for size in sizes]
    slopes = [rng.uniform(0.02, 0.2, (50, *size)) for size in sizes]

    def tensor(values, **words):
        return library.tensor(values, dtype=getattr(library, dtype), **words)

    params = [tensor(start, requires_grad=True) for start in starts]

    def loss(step):
        parts = [
            (tensor(slope[step]) * (p - tensor(target)) ** 2).sum()
            for p, slope, target in zip(params, slopes, targets, strict=True)
        ]
        return parts[0] + parts[1] + parts[2]

    return params, loss


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
@pytest.mark.parametrize(
    ("dtype", "rtol", "atol"), [("float64", 1e-9, 0), ("float32", 1e-4, 1e-6)]
)
def test_fifty_steps_in_a_bowl(name, settings, dtype, rtol, atol):
    """Each element after each step, by its own size; the step takes a closure.

    In float32 an element that goes through 0 keeps the spacing of numbers around 1:
    RMSprop was off by 5.5e-8 at 4.3e-4.
    """
    found = []
    for library in (ac, torch):
        params, loss = bowl(library, dtype)
        optimizer = getattr(library.optim, name)(params[:2], **settings)
        optimizer.add_param_group({"params": params[2:], "lr": 0.02})
        path = []
        for step in range(50):

            def closure(step=step, loss=loss, optimizer=optimizer):
                optimizer.zero_grad()
                value = loss(step)
                value.backward()
                return value

            path.append(optimizer.step(closure).detach().numpy().reshape(1).copy())
            path += [p.detach().numpy().copy() for p in params]
        found.append(np.concatenate([np.ravel(x) for x in path]))
    np.testing.assert_allclose(*found, rtol=rtol, atol=atol)


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_states_have_pytorchs_keys(name, settings):
    states = []
    for library in (ac, torch):
        params, loss = bowl(library, "float64")
        optimizer = getattr(library.optim, name)(params, **settings)
        loss(0).backward()
        optimizer.step()
        states.append(optimizer.state_dict())
    ours, theirs = states
    assert ours["state"].keys() == theirs["state"].keys()
    for number, mine in ours["state"].items():
        yours = theirs["state"][number]
        there = {key for key, value in yours.items() if value is not None}
        assert mine.keys() == there
        for key in there:
            found = mine[key] if isinstance(mine[key], float) else mine[key].sum()
            assert float(found) == pytest.approx(float(yours[key].sum()))
    (mine,), (yours,) = ours["param_groups"], theirs["param_groups"]
    assert {key: yours[key] for key in mine} == mine


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_optimizer_states_pass_both_ways(name, settings):
    ours, theirs = twins()
    mine = getattr(ac.optim, name)(ours.parameters(), **settings)
    yours = getattr(torch.optim, name)(theirs.parameters(), **settings)
    train(torch, theirs, yours, 3)
    ours.load_state_dict(
        {k: ac.tensor(t.numpy()) for k, t in theirs.state_dict().items()}
    )
    mine.load_state_dict(converted(yours.state_dict(), ac.tensor))
    train(ac, ours, mine, 3, first=3)
    theirs.load_state_dict(
        {k: torch.tensor(t.numpy()) for k, t in ours.state_dict().items()}
    )
    yours.load_state_dict(converted(mine.state_dict(), torch.tensor))
    train(ac, ours, mine, 3, first=6)
    train(torch, theirs, yours, 3, first=6)
    for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
        close(p, q)


def converted(state, tensor):
    def convert(value):
        if isinstance(value, list):
            return [convert(v) for v in value]
        return tensor(value.numpy()) if hasattr(value, "numpy") else value

    return {
        "state": {
            i: {name: convert(value) for name, value in values.items()}
            for i, values in state["state"].items()
        },
        "param_groups": state["param_groups"],
    }


LBFGS = [
    {"lr": 0.1},
    {"lr": 0.5, "max_iter": 4, "history_size": 3},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "max_iter": 7, "history_size": 2},
    {"line_search_fn": "strong_wolfe", "lr": 30.0, "max_eval": 9},
    {"line_search_fn": "strong_wolfe", "lr": 1e-3, "max_iter": 5},
    {"lr": 0.1, "tolerance_grad": 1e-2},
    {"lr": 0.1, "tolerance_change": 1e-2},
]


def valley(library):
    """Return parameters, and a loss of them with curved valleys (Rosenbrock's)."""
    starts = [np.array([-1.2, 1.0, 0.5]), np.array([[0.3, -0.4]])]
    params = [library.tensor(start, requires_grad=True) for start in starts]

    def loss():
        x = library.cat([p.reshape(-1) for p in params])
        bend = (x[1:] - x[:-1] ** 2) ** 2
        return (10 * bend + (1 - x[:-1]) ** 2).sum()

    return params, loss


def descend(params, loss, optimizer, steps):
    """Return loss and parameters after each step."""

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    path = []
    for _ in range(steps):
        path.append(optimizer.step(closure).detach().numpy().reshape(1).copy())
        path += [p.detach().numpy().ravel().copy() for p in params]
    return np.concatenate(path)


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize("settings", LBFGS)
def test_lbfgs_in_a_valley(settings):
    paths, states = [], []
    for library in (ac, torch):
        params, loss = valley(library)
        optimizer = library.optim.LBFGS(params, **settings)
        paths.append(descend(params, loss, optimizer, 6))
        states.append(optimizer.state_dict()["state"][0])
    np.testing.assert_allclose(*paths, rtol=1e-7, atol=1e-9)
    ours, theirs = states
    assert ours.keys() == theirs.keys() - {"al"}  # scratch space
    for key in ("func_evals", "n_iter"):
        assert ours[key] == theirs[key]


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_states_of_lbfgs_pass_both_ways(search):
    settings = {"lr": 0.1, "max_iter": 3, "line_search_fn": search}
    ours, my_loss = valley(ac)
    theirs, their_loss = valley(torch)
    mine = ac.optim.LBFGS(ours, **settings)
    yours = torch.optim.LBFGS(theirs, **settings)
    descend(theirs, their_loss, yours, 2)
    with ac.no_grad():
        for p, q in zip(ours, theirs, strict=True):
            p.copy_(ac.tensor(q.detach().numpy()))
    mine.load_state_dict(converted(yours.state_dict(), ac.tensor))
    one = descend(ours, my_loss, mine, 2)
    np.testing.assert_allclose(one, descend(theirs, their_loss, yours, 2), rtol=1e-8)
    again = torch.optim.LBFGS(theirs, **settings)
    again.load_state_dict(converted(mine.state_dict(), torch.tensor))
    one = descend(ours, my_loss, mine, 2)
    np.testing.assert_allclose(one, descend(theirs, their_loss, again, 2), rtol=1e-8)


@pytest.mark.parametrize("kind", ["mean", "ema"])
def test_averaged_weights(kind):
    states = []
    for library, net in zip((ac, torch), twins(), strict=True):
        swa = library.optim.swa_utils
        words = {} if kind == "mean" else {"avg_fn": swa.get_ema_avg_fn(0.9)}
        averaged = swa.AveragedModel(net, **words)
        optimizer = library.optim.SGD(net.parameters(), lr=0.1)
        for i in range(10):
            train(library, net, optimizer, 1, first=i)
            averaged.update_parameters(net)
        states.append(averaged.state_dict())
    assert list(states[0]) == list(states[1])
    for mine, theirs in zip(states[0].values(), states[1].values(), strict=True):
        close(mine, theirs)


def test_statistics_of_batch_norms_over_a_loader():
    states = []
    for library in (ac, torch):
        net = library.nn.Sequential(
            library.nn.BatchNorm1d(4), library.nn.Flatten(), library.nn.BatchNorm1d(16)
        ).double()
        loader = [[library.tensor(batch(i)[0]), i] for i in range(3)]
        library.optim.swa_utils.update_bn(loader, net)
        states.append(net.state_dict())
    for mine, theirs in zip(states[0].values(), states[1].values(), strict=True):
        close(mine, theirs)


def test_initialisers_have_pytorchs_spread():
    for name in ("kaiming_uniform_", "kaiming_normal_", "xavier_uniform_"):
        ours = getattr(ac.nn.init, name)(ac.empty(200, 300)).numpy()
        theirs = getattr(torch.nn.init, name)(torch.empty(200, 300)).numpy()
        assert abs(ours.std() / theirs.std() - 1) < 0.03
