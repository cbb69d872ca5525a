# SPDX-License-Identifier: MIT
"""Two normalizing flows on two moons: coupling layers, and transforms with numbers."""

import math

import numpy as np
import torch
import torch.distributions as D
import torch.nn as nn


class AffineCoupling(nn.Module):
    def __init__(self, hidden, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(
            nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
            nn.Linear(hidden, 2),
        )  # fmt: skip

    def forward(self, x):
        a, b = x.split(1, dim=-1)
        if self.flip:
            a, b = b, a
        log_s, t = self.net(a).tensor_split(2, dim=-1)
        log_s = torch.tanh(log_s)
        b = b * log_s.exp() + t
        pair = [b, a] if self.flip else [a, b]
        return torch.cat(pair, dim=-1), log_s.squeeze(-1)

    def inverse(self, z):
        a, b = z.split(1, dim=-1)
        if self.flip:
            a, b = b, a
        log_s, t = self.net(a).tensor_split(2, dim=-1)
        b = (b - t) * torch.exp(-torch.tanh(log_s))
        return torch.hstack([b, a] if self.flip else [a, b])


class RealNVP(nn.Module):
    def __init__(self, n_layers=4, hidden=16):
        super().__init__()
        layers = [AffineCoupling(hidden, bool(i % 2)) for i in range(n_layers)]
        self.layers = nn.ModuleList(layers)
        self.register_buffer("loc", torch.zeros(2))
        self.register_buffer("scale", torch.ones(2))

    @property
    def base(self):
        return D.Independent(D.Normal(self.loc, self.scale), 1)

    def log_prob(self, x):
        log_det = x.new_zeros(x.shape[0])
        for layer in self.layers:
            x, change = layer(x)
            log_det += change
        return self.base.log_prob(x) + log_det

    @torch.no_grad()
    def sample(self, z):
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


class Warp(nn.Module):
    """A normal distribution, stretched, squashed and stretched again."""

    def __init__(self):
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(2))
        self.log_scale = nn.Parameter(torch.zeros(2))
        self.out = nn.Parameter(torch.tensor([1.5, 1.2]))

    def forward(self):
        base = D.Normal(torch.zeros(2), torch.ones(2))
        transforms = [
            D.transforms.AffineTransform(self.loc, self.log_scale.exp()),
            D.transforms.TanhTransform(),
            D.transforms.AffineTransform(loc=0.0, scale=2.0 * self.out.abs()),
        ]
        composed = D.transforms.ComposeTransform(transforms)
        return D.TransformedDistribution(base, composed)


def moons(rng, count):
    angle = rng.uniform(0, math.pi, count)
    upper = rng.random(count) < 0.5
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle)) - 0.5
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle)) - 0.25
    points = np.stack([x, y], 1) + rng.normal(0, 0.05, (count, 2))
    return torch.tensor(points, dtype=torch.float32)


def initialise(flow):
    rng = np.random.default_rng(21)
    for module in flow.modules():
        if isinstance(module, nn.Linear):
            values = rng.normal(0, 0.3, tuple(module.weight.shape))
            module.weight.data.copy_(torch.from_numpy(values))
            nn.init.zeros_(module.bias)


def main():
    flow, rng = RealNVP(), np.random.default_rng(20)
    initialise(flow)
    optimizer = torch.optim.Adamax(flow.parameters(), lr=1e-2)
    losses = []
    for _step in range(40):
        loss = -flow.log_prob(moons(rng, 64)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    z = torch.from_numpy(rng.normal(size=(50, 2))).float()
    x = flow.sample(z)
    losses += x.var(dim=0).tolist()
    back = x
    for layer in flow.layers:
        back, _ = layer(back)
    assert torch.allclose(back, z, atol=1e-4)

    warp = Warp()
    optimizer = torch.optim.SGD(warp.parameters(), lr=0.05, momentum=0.5)
    for _step in range(20):
        loss = -warp().log_prob(moons(rng, 64)).sum(-1).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    y = warp().rsample((3,))
    y.sum().backward()
    assert y.shape == (3, 2)
    assert warp.out.grad is not None
    assert warp().cdf(torch.zeros(2)).shape == (2,)
    return losses + warp().cdf(torch.zeros(2)).tolist()


if __name__ == "__main__":
    print(main())
