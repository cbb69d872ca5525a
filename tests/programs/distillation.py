# SPDX-License-Identifier: MIT
"""A small net learns from a large one, and from a slow copy of itself."""

from copy import deepcopy
from itertools import pairwise

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class EMA:
    """A copy of a model whose weights follow it slowly."""

    def __init__(self, model, decay):
        self.module = deepcopy(model)
        self.module.eval()
        self.decay = decay
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        values = model.state_dict().values()
        for ema_v, v in zip(self.module.state_dict().values(), values, strict=True):
            if ema_v.dtype.is_floating_point:
                ema_v.copy_(self.decay * ema_v + (1.0 - self.decay) * v)
            else:
                ema_v.copy_(v)


def mlp(*sizes):
    layers = []
    for a, b in pairwise(sizes):
        layers += [nn.Linear(a, b, bias=False), nn.BatchNorm1d(b), nn.PReLU()]
    return nn.Sequential(*layers[:-2])


def initialise(model, seed):
    rng = np.random.default_rng(seed)
    for m in model.modules():
        if type(m) is nn.Linear:
            values = rng.normal(0, m.in_features**-0.5, tuple(m.weight.shape))
            m.weight.data.copy_(torch.from_numpy(values))
            if m.bias is not None:
                m.bias.data.zero_()
    return model


def spirals(count):
    rng = np.random.default_rng(41)
    kind = np.arange(count) % 3
    radius = rng.uniform(0.2, 1.5, count)
    angle = 2 * np.pi * kind / 3 + 2 * radius
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    points += rng.normal(0, 0.05, points.shape)
    return torch.from_numpy(points).float(), torch.from_numpy(kind).long()


def distillation_loss(student_logits, teacher_logits, labels, T=3.0, alpha=0.7):
    soft = F.kl_div(
        F.log_softmax(student_logits / T, dim=1),
        F.log_softmax(teacher_logits / T, dim=1),
        reduction="batchmean",
        log_target=True,
    )
    hard = F.cross_entropy(student_logits, labels)
    return alpha * T * T * soft + (1 - alpha) * hard


def train_teacher(x, y):
    teacher = initialise(mlp(2, 48, 48, 3), 42)
    optimizer = torch.optim.NAdam(teacher.parameters(), lr=1e-2)
    losses = []
    for _ in range(30):
        loss = F.cross_entropy(teacher(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return teacher, losses


def main():
    x, y = spirals(90)
    trained, losses = train_teacher(x, y)
    teacher = deepcopy(trained).eval().requires_grad_(False)
    assert all(p.grad is None for p in teacher.parameters())

    student = initialise(mlp(2, 10, 3), 43)
    captured = {}
    hook = student[1].register_forward_hook(
        lambda module, args, output: captured.update(hidden=output)
    )
    regressor = initialise(nn.Sequential(nn.Linear(10, 48)), 44)
    ema = EMA(student, decay=0.9)
    optimizer = torch.optim.RAdam(
        [*student.parameters(), *regressor.parameters()], lr=2e-2
    )
    for _epoch in range(12):
        student.train()
        for xb, yb in zip(x.chunk(3), y.chunk(3), strict=True):
            with torch.no_grad():
                soft = teacher(xb)
                hint = teacher[:2](xb)
            loss = distillation_loss(student(xb), soft, yb)
            loss = loss + 0.1 * F.cosine_embedding_loss(
                regressor(captured["hidden"]), hint, torch.ones(len(xb))
            )
            consistent = F.mse_loss(
                student(xb + 0.01).softmax(1), ema.module(xb).softmax(1)
            )
            optimizer.zero_grad()
            (loss + consistent).backward()
            optimizer.step()
            ema.update(student)
            losses.append((loss + consistent).item())
    hook.remove()
    student.eval()
    with torch.no_grad():
        for model in (teacher, student, ema.module):
            logits = model(x)
            losses.append(F.cross_entropy(logits, y).item())
            losses.append(logits.softmax(1)[torch.arange(90), y].mean().item())
    assert "hidden" in captured
    return losses


if __name__ == "__main__":
    print(main())
