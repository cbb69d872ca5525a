# SPDX-License-Identifier: MIT
"""A variational autoencoder written with distributions; its noise is drawn before."""

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import (
    Bernoulli,
    Independent,
    MultivariateNormal,
    Normal,
    kl_divergence,
)
from torch.distributions.kl import register_kl
from torch.utils.data import DataLoader, TensorDataset

LATENT = 3


class ReplayedNormal(Normal):
    """A normal distribution whose noise comes from NumPy."""

    noise = None

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(ReplayedNormal, _instance)
        return super().expand(batch_shape, _instance=new)

    def rsample(self, sample_shape=torch.Size()):  # noqa: B008  as PyTorch has it
        shape = self._extended_shape(sample_shape)
        eps = torch.from_numpy(ReplayedNormal.noise.normal(size=tuple(shape)))
        return self.loc + eps.to(self.loc.dtype) * self.scale


class Spike(Normal):
    """A narrow prior, to which a rule of its own measures the distance."""


@register_kl(ReplayedNormal, Spike)
def _kl_replayed_spike(p, q):
    return kl_divergence(Normal(p.loc, p.scale), Normal(q.loc, q.scale))


class Encoder(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(size, hidden), nn.SiLU())
        self.loc = nn.Linear(hidden, LATENT)
        self.scale = nn.Sequential(nn.Linear(hidden, LATENT), nn.Softplus())

    def forward(self, x):
        h = self.net(x)
        return Independent(ReplayedNormal(self.loc(h), self.scale(h) + 1e-4), 1)


class VAE(nn.Module):
    def __init__(self, size=36, hidden=24):
        super().__init__()
        self.encoder = Encoder(size, hidden)
        self.decoder = nn.Sequential(
            nn.Linear(LATENT, hidden), nn.SiLU(), nn.Linear(hidden, size)
        )
        self.register_buffer("prior_loc", torch.zeros(LATENT))
        self.register_buffer("prior_scale", torch.ones(LATENT))

    @property
    def prior(self):
        return Independent(Normal(self.prior_loc, self.prior_scale), 1)

    def decode(self, z):
        return Independent(Bernoulli(logits=self.decoder(z)), 1)

    def elbo(self, x, samples=2, beta=1.0):
        posterior = self.encoder(x)
        z = posterior.rsample((samples,))
        assert z.shape == (samples, len(x), LATENT)
        reconstruction = self.decode(z).log_prob(x).mean(0)
        return (reconstruction - beta * kl_divergence(posterior, self.prior)).mean()

    def iwae(self, x, samples):
        """The bound from several weighted samples."""
        posterior = self.encoder(x).expand((samples, len(x)))
        z = posterior.rsample()
        log_weights = self.prior.log_prob(z) + self.decode(z).log_prob(x)
        log_weights = log_weights - posterior.log_prob(z)
        return (torch.logsumexp(log_weights, 0) - np.log(samples)).mean()


def bars(count):
    """6 x 6 pictures of one or two bars."""
    rng = np.random.default_rng(5)
    images = np.zeros((count, 6, 6), np.float32)
    for image in images:
        image[rng.integers(6)] = 1
        if rng.random() < 0.5:
            image[:, rng.integers(6)] = 1
    return torch.from_numpy(images).flatten(1)


def initialise(model):
    rng = np.random.default_rng(3)
    for parameter in model.parameters():
        values = torch.from_numpy(rng.uniform(-0.3, 0.3, tuple(parameter.shape)))
        parameter.data.copy_(values)


def main():
    ReplayedNormal.noise = np.random.default_rng(8)
    model = VAE()
    initialise(model)
    images = bars(48)
    loader = DataLoader(TensorDataset(images), batch_size=16)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for epoch in range(10):
        for (x,) in loader:
            loss = -model.elbo(x, beta=min(1.0, (epoch + 1) / 5))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        losses.append(-model.iwae(images, 5).item())
        posterior = model.encoder(images)
        full = MultivariateNormal(
            torch.zeros(LATENT), covariance_matrix=torch.eye(LATENT)
        )
        torch.testing.assert_close(
            full.log_prob(posterior.mean), model.prior.log_prob(posterior.mean)
        )
        losses += posterior.entropy().mean(0, keepdim=True).tolist()
        losses += posterior.stddev.mean(0).tolist()
        spike = Spike(torch.zeros(LATENT), 0.5 * torch.ones(LATENT))
        losses += kl_divergence(posterior.base_dist, spike).mean(0).tolist()
        probabilities = model.decode(posterior.mean).mean
        losses.append(probabilities.mean().item())
    return losses


if __name__ == "__main__":
    print(main())
