# SPDX-License-Identifier: MIT
"""An encoder-decoder for segmentation with skips, hooks and groups of parameters."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class DoubleConv(nn.Module):
    """(convolution => norm => ReLU) * 2."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1, bias=False),
            nn.GroupNorm(2, out_channels),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.double_conv(x)


class Up(nn.Module):
    def __init__(self, in_channels, out_channels, bilinear=False):
        super().__init__()
        if bilinear:
            self.up = nn.Sequential(
                nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
                nn.Conv2d(in_channels, in_channels // 2, 1),
            )
        else:
            self.up = nn.ConvTranspose2d(
                in_channels, in_channels // 2, kernel_size=2, stride=2
            )
        self.conv = DoubleConv(in_channels, out_channels)

    def forward(self, x1, x2):
        x1 = self.up(x1)
        diffY = x2.size()[2] - x1.size()[2]
        diffX = x2.size()[3] - x1.size()[3]
        x1 = F.pad(x1, [diffX // 2, diffX - diffX // 2, diffY // 2, diffY - diffY // 2])
        return self.conv(torch.cat([x2, x1], dim=1))


class UNet(nn.Module):
    def __init__(self, n_channels=1, n_classes=1):
        super().__init__()
        self.inc = DoubleConv(n_channels, 4)
        self.down1 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(4, 8))
        self.down2 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(8, 16))
        self.up1 = Up(16, 8)
        self.up2 = Up(8, 4, bilinear=True)
        self.outc = nn.Conv2d(4, n_classes, kernel_size=1)

    def forward(self, x):
        x1 = self.inc(x)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x = self.up1(x3, x2)
        x = self.up2(x, x1)
        return self.outc(x)


def dice(pred, target, epsilon=1e-6):
    inter = 2 * (pred * target).sum(dim=(-1, -2))
    sets = pred.sum(dim=(-1, -2)) + target.sum(dim=(-1, -2))
    sets = torch.where(sets == 0, inter, sets)
    return ((inter + epsilon) / (sets + epsilon)).mean()


def pictures(count):
    rng = np.random.default_rng(4)
    masks = np.zeros((count, 1, 14, 14), np.float32)
    for mask in masks:
        top, left = rng.integers(0, 8, 2)
        mask[0, top : top + 6, left : left + 5] = 1
    noise = rng.normal(0, 0.4, masks.shape).astype(np.float32)
    return torch.from_numpy(masks + noise), torch.from_numpy(masks)


def initialise(model):
    rng = np.random.default_rng(7)
    for module in model.modules():
        if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
            fan = module.weight[0].numel()
            values = rng.normal(0, fan**-0.5, tuple(module.weight.shape))
            module.weight.data = torch.tensor(values, dtype=torch.float32)
            if module.bias is not None:
                module.bias.data.zero_()


def main():
    model = UNet()
    initialise(model)
    seen = {}

    def keep(module, args, output):
        seen[module] = tuple(output.shape), output.detach().abs().mean().item()

    handles = [model.down2.register_forward_hook(keep)]
    norms = [p for n, p in model.named_parameters() if p.ndim == 1]
    weights = [p for p in model.parameters() if p.ndim > 1]
    optimizer = torch.optim.RMSprop(
        [{"params": weights, "weight_decay": 1e-4}, {"params": norms, "lr": 2e-3}],
        lr=1e-3,
        momentum=0.5,
    )
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, "max", factor=0.5, patience=1
    )
    criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))
    images, masks = pictures(12)

    losses = []
    for _epoch in range(6):
        for x, y in zip(images.split(4), masks.split(4), strict=True):
            masks_pred = model(x)
            loss = criterion(masks_pred, y)
            loss = loss + 1 - dice(torch.sigmoid(masks_pred), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        with torch.no_grad():
            score = dice((torch.sigmoid(model(images)) > 0.5).float(), masks)
        scheduler.step(round(score.item(), 2))
    (handle,) = handles
    handle.remove()
    shape, size = seen[model.down2]
    assert shape == (12, 16, 3, 3)
    return [*losses, size]


if __name__ == "__main__":
    print(main())
