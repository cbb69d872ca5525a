# SPDX-License-Identifier: MIT
"""A small residual network on clips: which way does the square move?"""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0))


class Clips(Dataset):
    """Four frames of 10 x 10 with a bright square that moves one of four ways."""

    def __init__(self, count):
        rng = np.random.default_rng(0)
        self.labels = np.arange(count) % 4
        self.clips = rng.normal(0, 0.1, (count, 1, 4, 10, 10)).astype(np.float32)
        for clip, label in zip(self.clips, self.labels, strict=True):
            for t in range(4):
                top, left = (4 + t * step for step in STEPS[label])
                clip[0, t, max(top, 0) : top + 3, max(left, 0) : left + 3] += 1

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return torch.from_numpy(self.clips[index]), int(self.labels[index])


class Conv3DSimple(nn.Conv3d):
    def __init__(self, in_planes, out_planes, stride=1):
        super().__init__(
            in_planes, out_planes, kernel_size=3, stride=stride, padding=1, bias=False
        )

    @staticmethod
    def get_downsample_stride(stride):
        return stride, stride, stride


class BasicBlock(nn.Module):
    def __init__(self, inplanes, planes, stride=1, downsample=None):
        super().__init__()
        self.conv1 = nn.Sequential(
            Conv3DSimple(inplanes, planes, stride),
            nn.BatchNorm3d(planes),
            nn.ReLU(inplace=True),
        )
        self.conv2 = nn.Sequential(Conv3DSimple(planes, planes), nn.BatchNorm3d(planes))
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x):
        residual = x
        out = self.conv2(self.conv1(x))
        if self.downsample is not None:
            residual = self.downsample(x)
        out += residual
        return self.relu(out)


class VideoResNet(nn.Module):
    def __init__(self, num_classes=4):
        super().__init__()
        self.inplanes = 4
        self.stem = nn.Sequential(
            nn.Conv3d(1, 4, (3, 5, 5), stride=(1, 2, 2), padding=(1, 2, 2), bias=False),
            nn.BatchNorm3d(4),
            nn.ReLU(inplace=True),
        )
        self.pool = nn.MaxPool3d((1, 3, 3), stride=(1, 1, 1), padding=(0, 1, 1))
        self.layer1 = self._make_layer(4, 1)
        self.layer2 = self._make_layer(8, 2)
        self.avgpool = nn.AdaptiveAvgPool3d((1, 1, 1))
        self.fc = nn.Linear(8, num_classes)
        for m in self.modules():
            if isinstance(m, nn.BatchNorm3d):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)

    def _make_layer(self, planes, stride):
        downsample = None
        if stride != 1 or self.inplanes != planes:
            strides = Conv3DSimple.get_downsample_stride(stride)
            downsample = nn.Sequential(
                nn.Conv3d(self.inplanes, planes, 1, stride=strides, bias=False),
                nn.BatchNorm3d(planes),
            )
        block = BasicBlock(self.inplanes, planes, stride, downsample)
        self.inplanes = planes
        return nn.Sequential(block)

    def forward(self, x):
        x = self.pool(self.stem(x))
        x = self.layer2(self.layer1(x))
        x = self.avgpool(x).flatten(1)
        return self.fc(x)


def initialise(model):
    rng = np.random.default_rng(1)
    for m in model.modules():
        if isinstance(m, (nn.Conv3d, nn.Linear)):
            fan_in = m.weight[0].numel()
            values = rng.normal(0, (2 / fan_in) ** 0.5, tuple(m.weight.shape))
            with torch.no_grad():
                m.weight.copy_(torch.from_numpy(values))
                if m.bias is not None:
                    m.bias.zero_()


def main():
    loader = DataLoader(Clips(24), batch_size=8, shuffle=False, drop_last=True)
    model = VideoResNet()
    initialise(model)
    optimizer = torch.optim.SGD(
        model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4, nesterov=True
    )
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=3)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
    scheduler = torch.optim.lr_scheduler.SequentialLR(
        optimizer, [warmup, cosine], milestones=[3]
    )
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    losses = []
    for _epoch in range(5):
        model.train()
        for clips, labels in loader:
            loss = criterion(model(clips), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
    model.eval()
    with torch.inference_mode():
        for clips, labels in loader:
            losses.append(F.cross_entropy(model(clips), labels).item())
    return losses


if __name__ == "__main__":
    print(main())
