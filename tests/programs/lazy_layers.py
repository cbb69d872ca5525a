# SPDX-License-Identifier: MIT
"""Layers that take their sizes from the first batch, in a net of two inputs."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.parameter import UninitializedParameter


def vgg_block(num_convs, out_channels):
    layers = []
    for _ in range(num_convs):
        layers.append(nn.LazyConv2d(out_channels, kernel_size=3, padding=1, bias=False))
        layers.append(nn.LazyBatchNorm2d())
        layers.append(nn.LeakyReLU(0.1))
    layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
    return nn.Sequential(*layers)


class Net(nn.Module):
    """Pictures and their labels' hints, joined by a bilinear layer."""

    def __init__(self, arch, num_classes):
        super().__init__()
        blocks = [vgg_block(*each) for each in arch]
        self.net = nn.Sequential(*blocks, nn.Flatten(), nn.LazyLinear(12), nn.Tanh())
        self.side = nn.Sequential(nn.LazyConv1d(3, 3), nn.Flatten(), nn.LazyLinear(4))
        self.join = nn.Bilinear(12, 4, num_classes)

    def forward(self, image, signal):
        return self.join(self.net(image), self.side(signal))

    def apply_init(self, inputs, init):
        self.forward(*inputs)
        self.apply(init)


def data(count):
    rng = np.random.default_rng(61)
    kind = np.arange(count) % 4
    time = np.linspace(0, 6, 10)
    signals = np.sin((1 + kind[:, None] // 2) * time) + rng.normal(0, 0.1, (count, 10))
    row, column = np.mgrid[:8, :8]
    waves = np.where((kind % 2)[:, None, None] == 0, np.sin(row), np.sin(column * 2.0))
    images = waves[:, None] + rng.normal(0, 0.2, (count, 2, 8, 8))
    return (
        torch.from_numpy(images.astype(np.float32)),
        torch.from_numpy(signals[:, None].astype(np.float32)),
        torch.from_numpy(kind),
    )


def main():
    rng = np.random.default_rng(60)

    def init_cnn(module):
        if isinstance(module, (nn.Linear, nn.Conv2d, nn.Conv1d, nn.Bilinear)):
            scale = module.weight[0].numel() ** -0.5
            values = rng.normal(0, scale, tuple(module.weight.shape))
            module.weight.data = torch.from_numpy(values).float()
            if module.bias is not None:
                nn.init.zeros_(module.bias)

    model = Net(((1, 6), (2, 8)), num_classes=4)
    lazy = [n for n, p in model.named_parameters() if nn.parameter.is_lazy(p)]
    assert len(lazy) == 15, lazy
    assert isinstance(model.net[-2].weight, UninitializedParameter)
    images, signals, kinds = data(32)
    model.apply_init((images[:2], signals[:2]), init_cnn)
    assert type(model.net[-2]) is nn.Linear
    assert model.net[-2].in_features == 32
    assert not any(isinstance(p, UninitializedParameter) for p in model.parameters())
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.reset_running_stats()

    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.03)
    losses = []
    for step in range(24):
        part = slice(8 * (step % 4), 8 * (step % 4) + 8)
        output = model(images[part], signals[part])
        loss = F.nll_loss(F.log_softmax(output, dim=1), kinds[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    # A net that has seen no batch takes the sizes from a state.
    other = Net(((1, 6), (2, 8)), num_classes=4)
    other.load_state_dict(model.state_dict())
    model.eval()
    other.eval()
    with torch.no_grad():
        a, b = model(images, signals), other(images, signals)
    assert torch.equal(a, b)
    losses.append(F.cross_entropy(a, kinds).item())
    return losses


if __name__ == "__main__":
    print(main())
