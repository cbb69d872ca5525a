# SPDX-License-Identifier: MIT
"""A U-Net after a spatial transformer, which turns the pictures upright."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.localization = nn.Sequential(
            nn.Conv2d(1, 4, kernel_size=5),
            nn.MaxPool2d(2, stride=2),
            nn.ReLU(True),
            nn.Conv2d(4, 6, kernel_size=3),
            nn.ReLU(True),
        )
        self.fc_loc = nn.Sequential(
            nn.Linear(6 * 4 * 4, 12), nn.ReLU(True), nn.Linear(12, 3 * 2)
        )

    def forward(self, x):
        xs = self.localization(x)
        xs = xs.view(-1, 6 * 4 * 4)
        theta = self.fc_loc(xs).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        return F.grid_sample(
            x, grid, mode="bilinear", padding_mode="border", align_corners=False
        ), theta


def block(in_channels, out_channels):
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, 3, padding="same", padding_mode="reflect"),
        nn.InstanceNorm2d(out_channels, affine=True),
        nn.ELU(),
    )


class UNet(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.stn = SpatialTransformer()
        self.enc1 = block(1, width)
        self.enc2 = block(width, 2 * width)
        self.mid = block(2 * width, 4 * width)
        self.up2 = nn.Upsample(scale_factor=2, mode="nearest")
        self.dec2 = block(4 * width + 2 * width, 2 * width)
        self.up1 = nn.Upsample(scale_factor=2, mode="bicubic", align_corners=False)
        self.dec1 = block(2 * width + width, width)
        self.head = nn.Conv2d(width, 2, 1)
        self.pool = nn.AvgPool2d(2)

    def forward(self, x):
        x, theta = self.stn(x)
        e1 = self.enc1(x)
        e2 = self.enc2(self.pool(e1))
        m = self.mid(self.pool(e2))
        d2 = self.dec2(torch.cat((self.up2(m), e2), 1))
        d1 = self.dec1(torch.cat((self.up1(d2), e1), 1))
        # The answer is turned back to where the picture was.
        last = torch.tensor([0.0, 0.0, 1.0]).expand(len(x), 1, 3)
        back = torch.linalg.inv(torch.cat([theta, last], dim=1))[:, :2]
        grid = F.affine_grid(back, list(d1.shape), align_corners=False)
        return self.head(F.grid_sample(d1, grid, align_corners=False))


def pictures(count):
    """Bars of 16 x 16 in one direction or another, and where they are."""
    rng = np.random.default_rng(51)
    row, column = (np.mgrid[:16, :16] - 7.5) / 8
    masks = []
    for angle in rng.uniform(-0.6, 0.6, count):
        along = np.cos(angle) * row + np.sin(angle) * column
        across = np.cos(angle) * column - np.sin(angle) * row
        masks.append((abs(along) < 0.25) & (abs(across) < 0.7))
    masks = np.stack(masks)[:, None]
    images = masks + rng.normal(0, 0.3, masks.shape)
    return torch.tensor(images).float(), torch.tensor(masks).squeeze(1).long()


def initialise(model):
    rng = np.random.default_rng(50)
    for m in model.modules():
        if isinstance(m, (nn.Conv2d, nn.Linear)):
            fan_in = m.weight[0].numel()
            values = rng.normal(0, fan_in**-0.5, tuple(m.weight.shape))
            m.weight.data = torch.from_numpy(values).float()
            m.bias.data.fill_(0.01)
    model.stn.fc_loc[2].weight.data.mul_(0.05)
    identity = torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float)
    model.stn.fc_loc[2].bias.data.copy_(identity)


def main():
    model = UNet()
    initialise(model)
    optimizer = torch.optim.Adam(
        [
            {"params": model.stn.parameters(), "lr": 1e-3},
            {"params": [p for n, p in model.named_parameters() if "stn" not in n]},
        ],
        lr=5e-3,
    )
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.97)
    images, masks = pictures(12)
    weight = torch.tensor([1.0, 2.0])
    losses = []
    for step in range(24):
        part = slice(4 * (step % 3), 4 * (step % 3) + 4)
        logits = model(images[part])
        loss = F.cross_entropy(logits, masks[part], weight=weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        upright, theta = model.stn(images)
        losses += [upright.std().item(), *theta[:, 0, 0].tolist()[:3]]
        probabilities = model(images).softmax(dim=1)[:, 1]
        overlap = (probabilities * masks).sum() / (probabilities + masks).sum()
        losses.append(2 * overlap.item())
        small = F.interpolate(upright, size=(7, 5), mode="area")
        losses.append(small.abs().mean().item())
    return losses


if __name__ == "__main__":
    print(main())
