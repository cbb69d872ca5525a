# SPDX-License-Identifier: MIT
"""A picture takes another's style, and a curve is fitted: both by L-BFGS."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()

    def forward(self, input):
        self.loss = F.mse_loss(input, self.target)
        return input


def gram_matrix(input):
    a, b, c, d = input.size()
    features = input.view(a * b, c * d)
    return torch.mm(features, features.t()).div(a * b * c * d)


class StyleLoss(nn.Module):
    def __init__(self, target_feature):
        super().__init__()
        self.target = gram_matrix(target_feature).detach()

    def forward(self, input):
        self.loss = F.mse_loss(gram_matrix(input), self.target)
        return input


class Normalization(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = mean.detach().clone().view(-1, 1, 1)
        self.std = std.detach().clone().view(-1, 1, 1)

    def forward(self, img):
        return (img - self.mean) / self.std


def features():
    """A frozen stack of convolutions in the place of a trained one."""
    cnn = nn.Sequential(
        nn.Conv2d(3, 6, 3, padding=1),
        nn.Softplus(),
        nn.AvgPool2d(2),
        nn.Conv2d(6, 8, 3, padding=1),
        nn.Softplus(),
    )
    rng = np.random.default_rng(1)
    for p in cnn.parameters():
        values = rng.normal(0, 0.3, tuple(p.shape))
        p.data.copy_(torch.from_numpy(values))
    return cnn.double().eval().requires_grad_(False)


def model_and_losses(style_img, content_img):
    mean, std = torch.tensor([0.5, 0.4, 0.4]), torch.tensor([0.2, 0.2, 0.2])
    mean, std = mean.double(), std.double()
    model = nn.Sequential(Normalization(mean, std))
    content_losses, style_losses = [], []
    i = 0
    for layer in features().children():
        name = f"{type(layer).__name__.lower()}_{i}"
        model.add_module(name, layer)
        if not isinstance(layer, nn.Conv2d):
            continue
        i += 1
        content_loss = ContentLoss(model(content_img))
        model.add_module(f"content_loss_{i}", content_loss)
        content_losses.append(content_loss)
        style_loss = StyleLoss(model(style_img))
        model.add_module(f"style_loss_{i}", style_loss)
        style_losses.append(style_loss)
    last = max(k for k, m in enumerate(model) if isinstance(m, StyleLoss))
    return model[: last + 1], style_losses, content_losses


def pictures():
    row, column = np.mgrid[:16, :16] / 16
    style = np.stack([np.sin(12 * row), np.cos(9 * column), np.sin(8 * (row + column))])
    content = np.stack([row, column, (row - 0.5) ** 2 + (column - 0.5) ** 2])
    style, content = (
        torch.from_numpy(x).unsqueeze(0) for x in (style / 2 + 0.5, content)
    )
    return style, content


def transfer(losses, num_steps=20):
    style_img, content_img = pictures()
    input_img = content_img.clone().requires_grad_(True)
    model, style_losses, content_losses = model_and_losses(style_img, content_img)
    optimizer = optim.LBFGS([input_img], lr=0.5, max_iter=4, history_size=10)
    run = [0]
    while run[0] <= num_steps:

        def closure():
            with torch.no_grad():
                input_img.clamp_(0, 1)
            optimizer.zero_grad()
            model(input_img)
            style_score = sum(sl.loss for sl in style_losses) * 100
            content_score = sum(cl.loss for cl in content_losses)
            loss = style_score + content_score
            loss.backward()
            run[0] += 1
            losses.append(loss.item())
            return style_score + content_score

        optimizer.step(closure)
    with torch.no_grad():
        input_img.clamp_(0, 1)
    return input_img.mean(dim=(0, 2, 3)).tolist()


def fit_curve():
    """Two bumps, in double precision, by a line search of the strong Wolfe kind."""
    x = torch.linspace(-2, 2, 41, dtype=torch.float64)
    y = 1.5 * torch.exp(-((x - 0.5) ** 2) / 0.3) + 0.7 * torch.exp(
        -((x + 1) ** 2) / 0.1
    )
    start = [1.0, 0.3, 0.5, 0.5, -0.8, 0.2]
    theta = nn.Parameter(torch.tensor(start, dtype=torch.float64))
    optimizer = torch.optim.LBFGS(
        [theta], max_iter=25, tolerance_grad=1e-9, line_search_fn="strong_wolfe"
    )

    def closure():
        optimizer.zero_grad()
        a, b, c = theta.view(2, 3).unbind(1)
        bumps = a * torch.exp(-((x.unsqueeze(1) - b) ** 2) / c)
        loss = (bumps.sum(1) - y).square().mean()
        loss.backward()
        return loss

    first = optimizer.step(closure)
    return [first.item(), *theta.detach().abs().tolist()]


def main():
    losses = []
    channels = transfer(losses)
    return losses + channels + fit_curve()


if __name__ == "__main__":
    print(main())
