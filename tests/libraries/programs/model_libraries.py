# SPDX-License-Identifier: MIT
"""Libraries of models: diffusion, graphs, medical images, transformers, flows."""

from __future__ import annotations

import tempfile

import numpy as np
import torch
from more_libraries import draws, fill
from small_libraries import mlp
from torch import nn


def small(model, share=0.3):
    """Give a model small weights that are the same everywhere."""
    fill(model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(share)
    return model


def graded(output, model):
    """Return an output and the gradient of the first parameter."""
    output.pow(2).mean().backward()
    gradient = next(p.grad for p in model.parameters() if p.grad is not None)
    return output.detach().numpy(), gradient.numpy().copy()


def diffusers():
    """A step of training of a UNet, sampling by three schedules, an autoencoder."""
    from diffusers import (
        AutoencoderKL,
        DDIMScheduler,
        DDPMScheduler,
        EulerDiscreteScheduler,
        UNet2DModel,
    )

    net = small(
        UNet2DModel(
            sample_size=16,
            in_channels=1,
            out_channels=1,
            layers_per_block=1,
            block_out_channels=(16, 32),
            norm_num_groups=8,
            attention_head_dim=8,
            down_block_types=("DownBlock2D", "AttnDownBlock2D"),
            up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        )
    )
    x, noise = draws(2, 1, 16, 16), draws(2, 1, 16, 16, seed=2)
    times = torch.tensor([3, 40])
    noisy = DDPMScheduler(num_train_timesteps=50).add_noise(x, noise, times)
    values = dict(
        zip(("step", "gradient"), graded(net(noisy, times).sample, net), strict=True)
    )
    for kind in (DDIMScheduler, EulerDiscreteScheduler, DDPMScheduler):
        schedule = kind(num_train_timesteps=50)
        schedule.set_timesteps(3)
        y = draws(1, 1, 16, 16, seed=5) * schedule.init_noise_sigma
        with torch.no_grad():
            for t in schedule.timesteps:
                found = net(schedule.scale_model_input(y, t), t).sample
                y = schedule.step(found, t, y).prev_sample
        if kind is not DDPMScheduler:  # which adds noise
            values[kind.__name__] = y.numpy()
    coder = small(
        AutoencoderKL(
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            block_out_channels=(8, 16),
            norm_num_groups=4,
            latent_channels=2,
        )
    )
    latent = coder.encode(draws(1, 3, 16, 16)).latent_dist.mode()
    values["decoded"], values["of the coder"] = graded(
        coder.decode(latent).sample, coder
    )
    with tempfile.TemporaryDirectory() as folder:
        net.save_pretrained(folder)
        again = UNet2DModel.from_pretrained(folder, low_cpu_mem_usage=False)
    pairs = zip(again.state_dict().values(), net.state_dict().values(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    return values


def torch_geometric():
    """Layers of graphs by scattering, dense ones, batches, and five steps."""
    from torch_geometric.data import Data
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import (
        DenseGCNConv,
        GATConv,
        GCNConv,
        GINConv,
        SAGEConv,
        TransformerConv,
        global_max_pool,
        global_mean_pool,
    )

    edges = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])
    graphs = [
        Data(x=draws(5, 4, seed=i), edge_index=edges, y=torch.tensor([i % 2]))
        for i in range(4)
    ]
    batch = next(iter(DataLoader(graphs, batch_size=4)))
    values = {}
    for layer in (
        GCNConv(4, 3),
        GATConv(4, 3, heads=2),
        SAGEConv(4, 3),
        TransformerConv(4, 3),
        GINConv(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 3))),
    ):
        name = type(layer).__name__
        found, gradient = graded(fill(layer)(batch.x, batch.edge_index), layer)
        values[name], values[f"gradient of {name}"] = found, gradient
    for pool in (global_mean_pool, global_max_pool):
        values[pool.__name__] = pool(batch.x, batch.batch).numpy()
    adjacency = (draws(2, 5, 5) > 0).float()
    dense = fill(DenseGCNConv(4, 3))(draws(2, 5, 4), adjacency)
    values["dense"] = dense.detach().numpy()
    model = fill(nn.ModuleList([GCNConv(4, 8), GCNConv(8, 2)]))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(5):
        optimizer.zero_grad()
        hidden = model[0](batch.x, batch.edge_index).relu()
        found = global_mean_pool(model[1](hidden, batch.edge_index), batch.batch)
        loss = nn.functional.cross_entropy(found, batch.y)
        loss.backward()
        optimizer.step()
    return {**values, "after steps": loss.detach().numpy()}


def monai():
    """A UNet, four losses, windows that slide, a metric, transforms."""
    from monai import losses, transforms
    from monai.inferers import sliding_window_inference
    from monai.metrics import DiceMetric
    from monai.networks.nets import UNet

    net = small(UNet(2, 1, 2, (4, 8, 16), (2, 2), num_res_units=1))
    x, y = draws(2, 1, 16, 16), (draws(2, 1, 16, 16, seed=2) > 0).float()
    values = {}
    for measure in (
        losses.DiceLoss(to_onehot_y=True, softmax=True),
        losses.DiceCELoss(to_onehot_y=True, softmax=True),
        losses.FocalLoss(to_onehot_y=True),
        losses.TverskyLoss(to_onehot_y=True, softmax=True),
    ):
        loss = measure(net(x), y)
        loss.backward()
        values[type(measure).__name__] = loss.detach().numpy()
    values["gradient"] = next(net.parameters()).grad.numpy()
    net.eval()
    with torch.no_grad():
        whole = sliding_window_inference(draws(1, 1, 24, 24), (16, 16), 2, net)
    score = DiceMetric()
    score(y, y)
    change = transforms.Compose(
        [
            transforms.EnsureChannelFirst(channel_dim="no_channel"),
            transforms.ScaleIntensity(),
            transforms.Resize((8, 8)),
            transforms.SpatialPad((10, 10)),
        ]
    )
    values["changed"] = np.asarray(change(draws(16, 16).numpy()).as_tensor())
    return {**values, "whole": whole.numpy(), "score": score.aggregate().numpy()}


def x_transformers():
    """Decoders of several kinds, their gradients, and what one writes."""
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

    tokens, values = torch.arange(16).reshape(2, 8), {}
    for option in (
        *("rotary_pos_emb", "alibi_pos_bias", "use_rmsnorm", "ff_glu", "attn_qk_norm"),
        *("sandwich_norm", "attn_flash", "attn_one_kv_head", "residual_attn"),
    ):
        layers = Decoder(dim=16, depth=1, heads=2, **{option: True})
        model = small(
            TransformerWrapper(num_tokens=20, max_seq_len=16, attn_layers=layers)
        )
        values[option], values[f"gradient, {option}"] = graded(model(tokens), model)
    writer = AutoregressiveWrapper(model)
    written = writer.generate(tokens[:, :2], 4, temperature=0.0)
    return {**values, "loss": writer(tokens).detach().numpy(), "text": written.numpy()}


def vision():
    """vit_pytorch and vector_quantize_pytorch."""
    from vector_quantize_pytorch import FSQ, VectorQuantize
    from vit_pytorch import SimpleViT, ViT
    from vit_pytorch.cait import CaiT

    sizes = {"image_size": 32, "patch_size": 8, "num_classes": 3, "dim": 16}
    sizes |= {"depth": 1, "heads": 2, "mlp_dim": 16}
    values = {}
    for model in (ViT(**sizes), SimpleViT(**sizes), CaiT(**sizes, cls_depth=1)):
        fill(model).eval()
        values[type(model).__name__] = model(draws(2, 3, 32, 32)).detach().numpy()
    book = fill(VectorQuantize(dim=8, codebook_size=16))
    with torch.no_grad():
        book._codebook.embed.copy_(draws(1, 16, 8, seed=3))
    nearest, places, _ = book(draws(2, 6, 8))
    levels, codes = FSQ([8, 5, 5])(draws(2, 6, 3))
    values |= {"places": places.numpy(), "codes": codes.numpy()}
    return values | {
        "nearest": nearest.detach().numpy(),
        "levels": levels.detach().numpy(),
    }


def flows():
    """nflows and zuko: densities, their gradients, and the way back."""
    import zuko
    from nflows.distributions.normal import StandardNormal
    from nflows.flows.base import Flow
    from nflows.transforms import (
        CompositeTransform,
        LULinear,
        MaskedAffineAutoregressiveTransform,
        ReversePermutation,
    )

    parts = [ReversePermutation(3), MaskedAffineAutoregressiveTransform(3, 8)]
    transform = CompositeTransform([*parts, LULinear(3)])
    flow, x = fill(Flow(transform, StandardNormal([3]))), draws(6, 3) * 0.5
    density = flow.log_prob(x)
    density.sum().backward()
    noise = flow.transform_to_noise(x)
    back = transform.inverse(noise)[0]
    assert flow.sample(4).shape == (4, 3)
    splines = fill(zuko.flows.NSF(3, transforms=2, hidden_features=(8,)))
    return {
        "density": density.detach().numpy(),
        "gradient": next(flow.parameters()).grad.numpy(),
        "noise": noise.detach().numpy(),
        "back": back.detach().numpy(),
        "splines": splines().log_prob(x).detach().numpy(),
    }


def botorch():
    """Fit a Gaussian process, look for what improves it most."""
    from botorch.acquisition import (
        LogExpectedImprovement,
        UpperConfidenceBound,
        qExpectedImprovement,
    )
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from botorch.sampling import SobolQMCNormalSampler
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(0)
    x = torch.tensor(np.random.default_rng(0).random((10, 2)))
    y = 1 - (x - 0.5).norm(dim=-1, keepdim=True)
    model = SingleTaskGP(x, y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    z = torch.tensor(np.random.default_rng(1).random((5, 1, 2)))
    sampler = SobolQMCNormalSampler(torch.Size([64]), seed=0)
    improves = qExpectedImprovement(model, y.max(), sampler=sampler)
    bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    settings = {"bounds": bounds, "num_restarts": 2, "raw_samples": 16}
    found, value = optimize_acqf(improves, q=2, **settings)
    assert value > 0
    assert (found - 0.5).abs().max() < 0.5
    return {
        "improvement": LogExpectedImprovement(model, y.max())(z).detach().numpy(),
        "bound": UpperConfidenceBound(model, beta=0.2)(z).detach().numpy(),
        "mean": model.posterior(z[:, 0]).mean.detach().numpy(),
    }


def pyro_guides():
    """A guide's parameters move: a regression finds its weights."""
    import pyro
    import pyro.distributions as dist
    from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO
    from pyro.infer.autoguide import AutoDiagonalNormal

    pyro.set_rng_seed(0)
    pyro.clear_param_store()
    x = draws(30, 2)
    y = x @ torch.tensor([1.0, -2.0])

    def regression():
        w = pyro.sample("w", dist.Normal(torch.zeros(2), 1.0).to_event(1))
        s = pyro.sample("s", dist.HalfCauchy(1.0))
        with pyro.plate("data", 30):
            pyro.sample("seen", dist.Normal(x @ w, s), obs=y)

    def coin():
        bias = pyro.sample("bias", dist.Beta(2.0, 2.0))
        with pyro.plate("data", 10):
            pyro.sample("seen", dist.Bernoulli(bias), obs=(torch.arange(10) < 7) * 1.0)

    guide = AutoDiagonalNormal(regression)
    fit = SVI(regression, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
    for _ in range(200):
        fit.step()
    assert (guide.median()["w"] - torch.tensor([1.0, -2.0])).abs().max() < 0.3
    chain = MCMC(NUTS(coin), num_samples=60, warmup_steps=40, disable_progbar=True)
    chain.run()
    assert abs(float(chain.get_samples()["bias"].mean()) - 9 / 14) < 0.15
    return {}


def tags_and_likeness():
    """pytorch_crf and pytorch_msssim."""
    from pytorch_msssim import ssim
    from torchcrf import CRF

    field, scores = fill(CRF(3, batch_first=True)), draws(2, 5, 3).requires_grad_()
    loss = field(scores, torch.tensor([[0, 1, 2, 1, 0], [1, 1, 0, 2, 2]]))
    loss.backward()
    a, b = (torch.sigmoid(draws(2, 3, 32, 32, seed=i)) for i in (1, 3))
    return {
        "loss": loss.detach().numpy(),
        "gradient": scores.grad.numpy(),
        "tags": np.array(field.decode(scores)),
        "likeness": ssim(a, b, data_range=1.0).numpy(),
    }


def captum_of_layers():
    """captum: DeepLift, LRP, GradCam, and what a hook changes of a layer."""
    import captum.attr as ca

    net, x = mlp(), draws(3, 4)
    images = fill(
        nn.Sequential(
            nn.Conv2d(1, 2, 3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(18, 2),
        )
    )
    seen = draws(2, 1, 8, 8)
    parts = {
        "DeepLift": ca.DeepLift(net).attribute(x, torch.zeros(3, 4), target=1),
        "LRP": ca.LRP(net).attribute(x, target=0),
        "GradCam": ca.LayerGradCam(images, images[0]).attribute(seen, target=1),
        "guided": ca.GuidedBackprop(net).attribute(
            x.clone().requires_grad_(), target=0
        ),
        "neuron": ca.NeuronConductance(net, net[0]).attribute(x, 2, target=0),
    }
    return {name: part.detach().numpy() for name, part in parts.items()}


RUNS = {
    run.__name__: run
    for run in (
        *(botorch, captum_of_layers, diffusers, flows, monai, pyro_guides),
        *(tags_and_likeness, torch_geometric, vision, x_transformers),
    )
}
NAMES = list(RUNS)


def run(name):
    """Return the values of a run."""
    return RUNS[name]()
