# SPDX-License-Identifier: MIT
"""A regression whose weights are distributions; their noise is drawn by NumPy."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Cauchy, Normal, kl_divergence
from torch.utils.data import DataLoader, TensorDataset

NOISE = np.random.default_rng


class Gaussian:
    def __init__(self, mu, rho):
        self.mu, self.rho = mu, rho
        self.rng = NOISE(90)

    @property
    def sigma(self):
        return torch.log1p(torch.exp(self.rho))

    @property
    def posterior(self):
        return Normal(self.mu, self.sigma)

    def sample(self):
        epsilon = torch.from_numpy(self.rng.standard_normal(tuple(self.rho.size())))
        return self.mu + self.sigma * epsilon.type_as(self.mu)


class ScaleMixture:
    """A prior that is wide and narrow at once."""

    def __init__(self, pi, sigma1, sigma2):
        self.pi = pi
        self.wide, self.narrow = Normal(0.0, sigma1), Normal(0.0, sigma2)

    def log_prob(self, value):
        wide = self.wide.log_prob(value) + math.log(self.pi)
        narrow = self.narrow.log_prob(value) + math.log(1 - self.pi)
        return torch.logaddexp(wide, narrow).sum()


class BayesianLinear(nn.Module):
    def __init__(self, in_features, out_features, prior):
        super().__init__()
        rng = NOISE(in_features * 100 + out_features)
        start = torch.tensor(rng.uniform(-0.4, 0.4, (out_features, in_features)))
        self.weight_mu = nn.Parameter(start.float())
        self.weight_rho = nn.Parameter(torch.full_like(self.weight_mu, -4.0))
        self.bias_mu = nn.Parameter(torch.zeros(out_features))
        self.bias_rho = nn.Parameter(torch.empty(out_features).uniform_(-4.0, -4.0))
        self.weight = Gaussian(self.weight_mu, self.weight_rho)
        self.bias = Gaussian(self.bias_mu, self.bias_rho)
        self.prior = prior
        self.log_prior = self.log_posterior = 0

    def forward(self, x, sample=True):
        if not (self.training or sample):
            return F.linear(x, self.weight.mu, self.bias.mu)
        weight, bias = self.weight.sample(), self.bias.sample()
        if self.training:
            self.log_prior = self.prior.log_prob(weight) + self.prior.log_prob(bias)
            self.log_posterior = (
                self.weight.posterior.log_prob(weight).sum()
                + self.bias.posterior.log_prob(bias).sum()
            )
        return F.linear(x, weight, bias)


class BayesianNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        prior = ScaleMixture(0.5, 1.0, math.exp(-3))
        self.l1 = BayesianLinear(1, 16, prior)
        self.l2 = BayesianLinear(16, 1, prior)
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def forward(self, x, sample=True):
        return self.l2(torch.tanh(self.l1(x, sample)), sample)

    def complexity(self):
        layers = [m for m in self.modules() if isinstance(m, BayesianLinear)]
        return sum(m.log_posterior - m.log_prior for m in layers)

    def sample_elbo(self, x, y, num_batches, samples=2):
        outputs, complexity = [], 0.0
        for _ in range(samples):
            outputs.append(self(x))
            complexity = complexity + self.complexity() / samples
        likelihood = Normal(torch.stack(outputs), self.log_noise.exp())
        negative = -likelihood.log_prob(y).mean(dim=0).sum()
        return complexity / num_batches + negative


def main():
    rng = NOISE(91)
    x = torch.from_numpy(rng.uniform(-2, 2, (60, 1))).float()
    noise = torch.from_numpy(rng.normal(0, 0.1, (60, 1))).float()
    y = torch.sin(2 * x) + 0.3 * x + noise
    loader = DataLoader(TensorDataset(x, y), batch_size=20)
    net = BayesianNetwork()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-2)
    losses = []
    for _epoch in range(16):
        net.train()
        for xb, yb in loader:
            net.zero_grad()
            loss = net.sample_elbo(xb, yb, len(loader))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())

    net.eval()
    grid = torch.arange(-2, 2.1, 0.5).unsqueeze(1)
    with torch.no_grad():
        draws = torch.stack([net(grid) for _ in range(8)]).squeeze(-1)
        std, mean = torch.std_mean(draws, dim=0)
        losses += [std.mean().item(), mean.abs().mean().item()]
        losses.append(net(grid, sample=False).square().mean().item())
        low, high = torch.quantile(draws, torch.tensor([0.1, 0.9]), dim=0)
        losses.append((high - low).mean().item())
        prior = Normal(torch.zeros(()), torch.ones(()))
        divergence = kl_divergence(net.l1.weight.posterior, prior).sum()
        losses.append(divergence.item())
        tails = Cauchy(mean, std + 0.1).log_prob(mean + 0.3)
        losses.append(tails.exp().mean().item())
    return losses


if __name__ == "__main__":
    print(main())
