# SPDX-License-Identifier: MIT
"""Smaller libraries: optimizers, averages, attention, solvers, filters, inference."""

from __future__ import annotations

import torch
from more_libraries import draws, fill
from torch import nn


def mlp():
    """Return a small network whose weights are the same everywhere."""
    return fill(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))


def stepped(make):
    """Return the outputs of a network after two steps of an optimizer."""
    model = mlp()
    optimizer = make(model.parameters())
    if hasattr(optimizer, "train"):
        optimizer.train()
    for _ in range(2):
        optimizer.zero_grad()
        model(draws(6, 4)).pow(2).sum().backward()
        optimizer.step()
    return {"after steps, output": model(draws(6, 4)).detach().numpy()}


def captum():
    """Attribute a network's output to its inputs and to a layer."""
    from captum.attr import IntegratedGradients, LayerConductance, Occlusion, Saliency

    model, x = mlp(), draws(3, 4)
    parts = {
        "gradients": IntegratedGradients(model).attribute(x, target=1),
        "saliency": Saliency(model).attribute(x.clone().requires_grad_(), target=1),
        "conductance": LayerConductance(model, model[0]).attribute(x, target=1),
        "occlusion": Occlusion(model).attribute(x, (1,), target=0),
    }
    return {name: part.detach().numpy() for name, part in parts.items()}


def kornia():
    """Filter, turn and recolour images."""
    import kornia as K

    image = torch.sigmoid(draws(2, 3, 16, 16))
    return {
        "blurred": K.filters.gaussian_blur2d(image, (3, 3), (1.0, 1.0)).numpy(),
        "edges": K.filters.sobel(image).numpy(),
        "grey": K.color.rgb_to_grayscale(image).numpy(),
        "hsv": K.color.rgb_to_hsv(image).numpy(),
        "turned": K.geometry.rotate(image, torch.tensor([30.0, 10.0])).numpy(),
    }


def pyro():
    """Infer the bias of a coin: the loss becomes less."""
    import pyro as p
    import pyro.distributions as dist
    from pyro.infer import SVI, Trace_ELBO
    from pyro.optim import Adam

    p.set_rng_seed(0)
    p.clear_param_store()
    data = torch.tensor([1.0] * 7 + [0.0] * 3)

    def model():
        bias = p.sample("bias", dist.Beta(10.0, 10.0))
        with p.plate("data", 10):
            p.sample("seen", dist.Bernoulli(bias), obs=data)

    def guide():
        positive = dist.constraints.positive
        a = p.param("a", torch.tensor(15.0), constraint=positive)
        b = p.param("b", torch.tensor(15.0), constraint=positive)
        p.sample("bias", dist.Beta(a, b))

    inference = SVI(model, guide, Adam({"lr": 0.05}), Trace_ELBO(num_particles=20))
    losses = [inference.step() for _ in range(60)]
    assert abs(sum(losses[-10:]) / 10 - 7.0) < 0.6
    return {}


def torchsde():
    """Solve a stochastic differential equation without noise."""
    import torchsde as ts

    class Decay(nn.Module):
        noise_type, sde_type = "diagonal", "ito"

        def f(self, t, y):
            return -y

        def g(self, t, y):
            return torch.zeros_like(y)

    path = ts.sdeint(Decay(), torch.ones(4, 2), torch.linspace(0, 1, 5), dt=0.05)
    return {"path": path.numpy()}


def torchcde():
    """Solve a controlled differential equation, with gradients."""
    import torchcde as tc

    layer = fill(nn.Linear(4, 12))

    class Field(nn.Module):
        def forward(self, t, z):
            return layer(z).tanh().view(2, 4, 3)

    coefficients = tc.hermite_cubic_coefficients_with_backward_differences(
        draws(2, 6, 3)
    )
    path = tc.CubicSpline(coefficients)
    found = tc.cdeint(
        X=path,
        func=Field(),
        z0=draws(2, 4),
        t=path.interval,
        method="rk4",
        adjoint=False,
        options={"step_size": 0.5},
    )
    found[:, -1].sum().backward()
    return {"end": found.detach().numpy(), "gradient": layer.weight.grad.numpy()}


def metric_learning():
    """Losses of embeddings, with a miner of pairs."""
    from pytorch_metric_learning import losses, miners

    x, y = draws(8, 4).requires_grad_(), torch.arange(8) // 2
    pairs = miners.MultiSimilarityMiner()(x, y)
    total = losses.TripletMarginLoss()(x, y, pairs) + losses.NTXentLoss()(x, y)
    total.backward()
    return {"loss": total.detach().numpy(), "gradient": x.grad.numpy()}


def averages():
    """torch_ema and ema_pytorch: averages of weights."""
    from ema_pytorch import EMA
    from torch_ema import ExponentialMovingAverage

    values = {}
    model = mlp()
    average = ExponentialMovingAverage(model.parameters(), 0.9)
    other = EMA(model, beta=0.9, update_after_step=0, update_every=1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    average.update()
    other.update()
    with average.average_parameters():
        values["torch_ema"] = model(draws(2, 4)).detach().numpy()
    values["ema_pytorch"] = other(draws(2, 4)).detach().numpy()
    return values


def attention():
    """rotary_embedding_torch, local_attention, entmax."""
    from entmax import entmax15, sparsemax
    from local_attention import LocalAttention
    from rotary_embedding_torch import RotaryEmbedding

    q = draws(1, 2, 16, 8)
    x = draws(3, 5).requires_grad_()
    sparse = entmax15(x) + sparsemax(x)
    sparse.pow(2).sum().backward()
    return {
        "rotated": RotaryEmbedding(dim=8).rotate_queries_or_keys(q).detach().numpy(),
        "local": LocalAttention(dim=8, window_size=4, causal=True)(q, q, q)
        .detach()
        .numpy(),
        "sparse": sparse.detach().numpy(),
        "gradient": x.grad.numpy(),
    }


def segmentation():
    """segmentation_models_pytorch: a Unet, and its loss."""
    import segmentation_models_pytorch as smp

    model = fill(smp.Unet("resnet18", encoder_weights=None, classes=2))
    found = 0.01 * model(draws(2, 3, 64, 64))
    loss = smp.losses.DiceLoss("multiclass")(found, torch.ones(2, 64, 64).long())
    loss.backward()
    return {"loss": loss.detach().numpy()}


def open_clip():
    """A small CLIP of images and texts."""
    import open_clip as oc

    vision = {
        "layers": 2,
        "width": 32,
        "patch_size": 8,
        "image_size": 32,
        "head_width": 16,
    }
    text = {"context_length": 8, "vocab_size": 64, "width": 32, "heads": 2, "layers": 2}
    model = fill(oc.CLIP(embed_dim=16, vision_cfg=vision, text_cfg=text))
    image, words, _ = model(draws(2, 3, 32, 32), torch.arange(16).reshape(2, 8))
    return {"image": image.detach().numpy(), "words": words.detach().numpy()}


def small_tools():
    """opt_einsum, torchinfo, pytorch_warmup, sentence_transformers' similarities."""
    import opt_einsum
    import pytorch_warmup
    from sentence_transformers import util
    from torchinfo import summary

    product = opt_einsum.contract("ij,jk,kl->il", draws(2, 3), draws(3, 4), draws(4, 5))
    optimizer = torch.optim.AdamW(mlp().parameters(), lr=1e-2)
    pytorch_warmup.LinearWarmup(optimizer, 10)
    assert summary(mlp(), (2, 4), verbose=0).total_params == 58
    return {
        "product": product.numpy(),
        "rate": torch.tensor(optimizer.param_groups[0]["lr"]).numpy(),
        "similarities": util.cos_sim(draws(2, 4), draws(3, 4)).numpy(),
    }


def lion():
    """lion_pytorch."""
    from lion_pytorch import Lion

    return stepped(lambda parameters: Lion(parameters, lr=1e-3))


def prodigy():
    """prodigyopt."""
    from prodigyopt import Prodigy

    return stepped(Prodigy)


def schedulefree():
    """schedulefree."""
    from schedulefree import AdamWScheduleFree

    return stepped(lambda parameters: AdamWScheduleFree(parameters, lr=1e-2))


RUNS = {
    run.__name__: run
    for run in (
        *(attention, averages, captum, kornia, lion, metric_learning, open_clip),
        *(prodigy, pyro, schedulefree, segmentation, small_tools, torchcde, torchsde),
    )
}
NAMES = list(RUNS)


def run(name):
    """Return the values of a run."""
    return RUNS[name]()
