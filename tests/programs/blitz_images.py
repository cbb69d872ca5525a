# SPDX-License-Identifier: MIT
"""A classifier of small colour images, as first tutorials have it: two conv layers."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset

CLASSES = ("red", "green", "blue")


class Colours(Dataset):
    """Noise in which one colour has a brighter square."""

    def __init__(self, count, transform=None):
        rng = np.random.default_rng(0)
        self.images = rng.uniform(0, 0.5, (count, 3, 32, 32)).astype("float32")
        self.labels = rng.integers(0, 3, count)
        for image, label in zip(self.images, self.labels, strict=True):
            top, left = rng.integers(0, 16, 2)
            image[label, top : top + 16, left : left + 16] += 0.5
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        image = torch.from_numpy(self.images[idx])
        if self.transform:
            image = self.transform(image)
        return image, int(self.labels[idx])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, len(CLASSES))

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def initialise(net):
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for param in net.parameters():
            fan = param[0].numel() if param.dim() > 1 else 100
            values = rng.normal(0, np.sqrt(1.5 / fan), tuple(param.shape))
            param.copy_(torch.from_numpy(values))


def main():
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    trainset = Colours(32, transform=lambda image: (image - 0.5) / 0.5)
    trainloader = DataLoader(trainset, batch_size=8, shuffle=False, num_workers=0)
    images, labels = next(iter(trainloader))
    assert images.shape == torch.Size([8, 3, 32, 32])

    net = Net()
    initialise(net)
    net.to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(net.parameters(), lr=0.02, momentum=0.9)

    losses = []
    for _epoch in range(5):
        running_loss = 0.0
        for data in trainloader:
            inputs, labels = data[0].to(device), data[1].to(device)
            optimizer.zero_grad()
            loss = criterion(net(inputs), labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        losses.append(running_loss / len(trainloader))

    correct_pred = dict.fromkeys(CLASSES, 0)
    total_pred = dict.fromkeys(CLASSES, 0)
    with torch.no_grad():
        for images, labels in trainloader:
            _, predictions = torch.max(net(images).data, 1)
            for label, prediction in zip(labels, predictions, strict=True):
                correct_pred[CLASSES[label]] += int(label == prediction)
                total_pred[CLASSES[label]] += 1
    return losses + [correct_pred[name] / total_pred[name] for name in CLASSES]


if __name__ == "__main__":
    print(main())
