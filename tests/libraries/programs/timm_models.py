# SPDX-License-Identifier: MIT
"""Models of timm: forward, gradients, its optimizers, and averages of weights."""

from __future__ import annotations

import numpy as np
import timm
import torch
from timm.data import Mixup
from timm.optim import create_optimizer_v2
from timm.scheduler import create_scheduler_v2
from timm.utils import ModelEmaV3

#: Model -> settings, and the optimizer of its steps.
MODELS = {
    "resnet18": ({}, "sgd"),
    "vit_tiny_patch16_224": ({"img_size": 64}, "adamw"),
    "convnext_atto": ({}, "lamb"),
    "efficientnet_b0": ({}, "rmsproptf"),
    "mobilenetv3_small_050": ({}, "adan"),
    "swin_tiny_patch4_window7_224": ({"img_size": 64, "window_size": 2}, "adafactor"),
    "regnetx_002": ({}, "lion"),
    "mixer_s32_224": ({"img_size": 64}, "nadamw"),
}
NAMES = list(MODELS)


def run(name):
    """Return logits, gradients, and logits of the average after three steps."""
    settings, optimizer_name = MODELS[name]
    model = timm.create_model(name, num_classes=5, drop_path_rate=0.0, **settings)
    numbers = np.random.default_rng(0)
    with torch.no_grad():
        for _, parameter in sorted(model.named_parameters()):
            values = 0.05 * numbers.standard_normal(tuple(parameter.shape))
            parameter.add_(torch.tensor(values, dtype=torch.float32) - parameter)
            if parameter.ndim == 1:
                parameter.add_(0.5)
    x = torch.tensor(numbers.standard_normal((4, 3, 64, 64)), dtype=torch.float32)
    y = torch.tensor([1, 2, 0, 4])
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    optimizer = create_optimizer_v2(
        model, opt=optimizer_name, lr=1e-4, weight_decay=0.05
    )
    scheduler, _ = create_scheduler_v2(optimizer, sched="cosine", num_epochs=3)
    average = ModelEmaV3(model, decay=0.9)
    values = {}
    for step in range(3):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        if step == 0:
            values["loss"] = loss.detach().numpy()
            name, parameter = next(iter(model.named_parameters()))
            values[f"gradient of {name}"] = parameter.grad.numpy().copy()
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step(step + 1)
        average.update(model)
    average.module.eval()
    values["after steps, average"] = average.module(x).detach().numpy()
    mixed, labels = Mixup(mixup_alpha=0.2, num_classes=5)(x, y)
    assert mixed.shape == x.shape
    assert labels.shape == (4, 5)
    return values
