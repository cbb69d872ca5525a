# SPDX-License-Identifier: MIT
"""A variational autoencoder on drawn digits: the noise is drawn before."""

import numpy as np
import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F

SEGMENTS = ("0111", "1011", "1101", "1110")


def digits(count):
    """8 x 8 pictures of strokes, some faint."""
    rng = np.random.default_rng(0)
    images = np.zeros((count, 1, 8, 8), np.float32)
    for i, image in enumerate(images):
        for k, on in enumerate(SEGMENTS[i % 4]):
            if on == "1":
                place = (0, slice(1, 7), 1 + 2 * k) if k % 2 else (0, 1 + 2 * k)
                image[place] = rng.uniform(0.5, 1.0)
    return torch.from_numpy(images)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 32)
        self.fc21 = nn.Linear(32, 4)
        self.fc22 = nn.Linear(32, 4)
        self.fc3 = nn.Linear(4, 32)
        self.fc4 = nn.Linear(32, 64)
        self.noise = np.random.default_rng(9)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.from_numpy(self.noise.normal(size=tuple(std.shape))).to(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 64))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 64), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


def initialise(model):
    rng = np.random.default_rng(2)
    state = model.state_dict()
    for name, tensor in state.items():
        values = rng.uniform(-0.2, 0.2, tuple(tensor.shape))
        state[name] = torch.as_tensor(values, dtype=tensor.dtype)
    model.load_state_dict(state)


def main():
    device = torch.accelerator.current_accelerator() or torch.device("cpu")
    train_loader = torch.utils.data.DataLoader(digits(48), batch_size=16, shuffle=False)
    model = VAE().to(device)
    initialise(model)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _epoch in range(8):
        model.train()
        for data in train_loader:
            data = data.to(device)
            optimizer.zero_grad()
            recon_batch, mu, logvar = model(data)
            loss = loss_function(recon_batch, data, mu, logvar)
            loss.backward()
            optimizer.step()
            losses.append(loss.item() / len(data))
    model.eval()
    with torch.no_grad():
        sample = model.decode(torch.linspace(-1, 1, 8).reshape(2, 4)).cpu()
        losses += sample.view(2, 1, 8, 8).mean(dim=(1, 2, 3)).tolist()
    return losses


if __name__ == "__main__":
    print(main())
