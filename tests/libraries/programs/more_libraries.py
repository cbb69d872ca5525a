# SPDX-License-Identifier: MIT
"""accelerate, einops, gpytorch, safetensors, skorch, torchdiffeq, torchmetrics."""

from __future__ import annotations

import math
import tempfile

import numpy as np
import torch
from torch import nn


def fill(model):
    """Give a model weights that are the same everywhere."""
    numbers = np.random.default_rng(0)
    with torch.no_grad():
        for _, parameter in sorted(model.named_parameters()):
            values = 0.3 * numbers.standard_normal(tuple(parameter.shape))
            parameter.copy_(torch.tensor(values, dtype=torch.float32))
    return model


def draws(*shape, seed=1):
    """Return numbers that are the same everywhere."""
    values = np.random.default_rng(seed).standard_normal(shape)
    return torch.tensor(values, dtype=torch.float32)


def accelerate():
    """Train with an Accelerator, save its state and load it."""
    from accelerate import Accelerator
    from torch.utils.data import DataLoader, TensorDataset

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = fill(nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(TensorDataset(draws(16, 4), torch.arange(16) % 2), batch_size=4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    model, optimizer, loader, scheduler = accelerator.prepare(
        model, optimizer, loader, scheduler
    )
    losses = []
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        losses.append(accelerator.gather(loss).item())
    kept = model.weight.detach().clone()
    with tempfile.TemporaryDirectory() as folder:
        accelerator.save_state(folder)
        fill(model)
        accelerator.load_state(folder)
    assert torch.equal(model.weight, kept)
    return {"losses": np.array(losses), "weight": kept.numpy()}


def einops():
    """Rearrange, reduce, repeat, and multiply; a layer that does so."""
    from einops import einsum, rearrange, reduce, repeat
    from einops.layers.torch import EinMix, Rearrange, Reduce

    x = draws(2, 3, 4)
    layers = nn.Sequential(
        Rearrange("a b c -> a (b c)"),
        nn.Linear(12, 6),
        Rearrange("a (b c) -> a b c", b=2),
        EinMix("a b c -> a b d", weight_shape="c d", c=3, d=4),
        Reduce("a b d -> a d", "max"),
    )
    result = fill(layers)(x)
    result.sum().backward()
    return {
        "rearranged": rearrange(x, "a b c -> (a c) b").numpy(),
        "reduced": reduce(x, "a b c -> a", "mean").numpy(),
        "repeated": repeat(x, "a b c -> a b c k", k=2).numpy(),
        "products": einsum(x, x, "a b c, a d c -> a b d").numpy(),
        "layers": result.detach().numpy(),
        "gradient": layers[1].weight.grad.numpy(),
    }


def gpytorch():
    """Fit an exact Gaussian process, and predict."""
    import gpytorch as gp

    x = torch.linspace(0, 1, 50)
    y = torch.sin(x * (2 * math.pi)) + 0.05 * torch.cos(37 * x)

    class Exact(gp.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gp.means.ConstantMean()
            self.covar_module = gp.kernels.ScaleKernel(gp.kernels.RBFKernel())

        def forward(self, x):
            mean, covariance = self.mean_module(x), self.covar_module(x)
            return gp.distributions.MultivariateNormal(mean, covariance)

    likelihood = gp.likelihoods.GaussianLikelihood()
    model = Exact(x, y, likelihood)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    marginal = gp.mlls.ExactMarginalLogLikelihood(likelihood, model)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = -marginal(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    likelihood.eval()
    with torch.no_grad():
        found = likelihood(model(torch.linspace(0, 1, 7)))
    return {
        "losses": np.array(losses),
        "mean": found.mean.numpy(),
        "variance": found.variance.numpy(),
    }


def safetensors():
    """Write and read tensors of several dtypes, and a model."""
    from safetensors.torch import (
        load,
        load_file,
        load_model,
        safe_open,
        save,
        save_file,
        save_model,
    )

    tensors = {
        "a": draws(3, 4),
        "b": torch.arange(5),
        "c": torch.ones(2, dtype=torch.bfloat16),
        "d": torch.tensor([True, False]),
    }
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/x.safetensors"
        save_file(tensors, file)
        for found in (load_file(file), load(save(tensors))):
            for name, tensor in tensors.items():
                assert found[name].dtype == tensor.dtype
                assert torch.equal(found[name], tensor)
        with safe_open(file, "pt") as opened:
            part = opened.get_slice("a")[1:, :2]
        model, other = nn.Linear(2, 3), nn.Linear(2, 3)
        save_model(model, file)
        load_model(other, file)
        assert torch.equal(model.weight, other.weight)
    return {"part": part.numpy()}


class Classifier(nn.Module):
    """What skorch trains."""

    def __init__(self, hidden=10):
        super().__init__()
        self.hidden = nn.Linear(20, hidden)
        self.out = nn.Linear(hidden, 2)

    def forward(self, x):
        return torch.softmax(self.out(torch.relu(self.hidden(x))), -1)


def skorch():
    """Search settings of a classifier on a grid, with scikit-learn."""
    from sklearn.datasets import make_classification
    from sklearn.model_selection import GridSearchCV
    from skorch import NeuralNetClassifier

    x, y = make_classification(300, 20, n_informative=10, random_state=0)
    torch.manual_seed(0)
    net = NeuralNetClassifier(
        Classifier, max_epochs=8, verbose=0, optimizer=torch.optim.Adam
    )
    grid = {"lr": [0.01, 0.02], "module__hidden": [8, 16]}
    search = GridSearchCV(net, grid, cv=3, scoring="accuracy", error_score="raise")
    search.fit(x.astype("float32"), y.astype("int64"))
    assert search.best_score_ > 0.7
    assert search.predict_proba(x[:5].astype("float32")).shape == (5, 2)
    return {}


def torchdiffeq():
    """Solve a neural differential equation, with gradients through it and adjoint."""
    from torchdiffeq import odeint, odeint_adjoint

    class Field(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

        def forward(self, t, y):
            return self.net(y**3)

    field, values = fill(Field()), {}
    start, times = torch.tensor([[2.0, 0.0]]), torch.linspace(0, 1, 10)
    for solve in (odeint, odeint_adjoint):
        for method in ("dopri5", "rk4"):
            field.zero_grad()
            path = solve(field, start, times, method=method, rtol=1e-6, atol=1e-7)
            path.abs().mean().backward()
            values[f"{solve.__name__} {method}"] = path.detach().numpy()
            gradient = field.net[0].weight.grad.numpy().copy()
            values[f"gradient of {solve.__name__} {method}"] = gradient
    return values


def torchmetrics():
    """Compute metrics of classes, of numbers and of images, batch by batch."""
    import torchmetrics as tm
    from torchmetrics.image import PeakSignalNoiseRatio
    from torchmetrics.image import StructuralSimilarityIndexMeasure as Similarity

    classes = {"task": "multiclass", "num_classes": 5}
    probabilities, labels = torch.softmax(draws(40, 5), -1), torch.arange(40) % 5
    values = {}
    for metric in (
        tm.Accuracy(**classes),
        tm.F1Score(**classes, average="macro"),
        tm.AUROC(**classes),
        tm.ConfusionMatrix(**classes),
        tm.CalibrationError(**classes),
        tm.AveragePrecision(**classes),
    ):
        metric.update(probabilities[:20], labels[:20])
        metric.update(probabilities[20:], labels[20:])
        values[type(metric).__name__] = metric.compute().numpy()
    a, b = draws(40), draws(40, seed=2)
    for metric in (
        tm.MeanSquaredError(),
        tm.MeanAbsoluteError(),
        tm.R2Score(),
        tm.PearsonCorrCoef(),
        tm.SpearmanCorrCoef(),
    ):
        values[type(metric).__name__] = metric(a, b).numpy()
    image = torch.sigmoid(draws(2, 3, 32, 32))
    for metric in (Similarity(data_range=1.0), PeakSignalNoiseRatio(data_range=1.0)):
        values[type(metric).__name__] = metric(image, image * 0.9).numpy()
    both = tm.MetricCollection([tm.Accuracy(**classes), tm.Precision(**classes)])
    for name, value in both(probabilities, labels).items():
        values[f"together {name}"] = value.numpy()
    return values


RUNS = {
    run.__name__: run
    for run in (
        accelerate,
        einops,
        gpytorch,
        safetensors,
        skorch,
        torchdiffeq,
        torchmetrics,
    )
}
NAMES = list(RUNS)


def run(name):
    """Return the values of a library's run."""
    return RUNS[name]()
