# SPDX-License-Identifier: MIT
"""A vision transformer in the manner of its short publications, with einops."""

import numpy as np
import torch
from einops import rearrange, repeat
from einops.layers.torch import Rearrange
from torch import nn


def pair(t):
    return t if isinstance(t, tuple) else (t, t)


class FeedForward(nn.Module):
    def __init__(self, dim, hidden_dim, dropout=0.0):
        super().__init__()
        self.net = nn.Sequential(
            nn.LayerNorm(dim),
            nn.Linear(dim, hidden_dim),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(hidden_dim, dim),
            nn.Dropout(dropout),
        )

    def forward(self, x):
        return self.net(x)


class Attention(nn.Module):
    def __init__(self, dim, heads, dim_head):
        super().__init__()
        inner_dim = dim_head * heads
        self.heads, self.scale = heads, dim_head**-0.5
        self.norm = nn.LayerNorm(dim)
        self.attend = nn.Softmax(dim=-1)
        self.to_qkv = nn.Linear(dim, inner_dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner_dim, dim), nn.Dropout(0.0))

    def forward(self, x):
        qkv = self.to_qkv(self.norm(x)).chunk(3, dim=-1)
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in qkv)
        dots = torch.einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        out = torch.matmul(self.attend(dots), v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))


class Transformer(nn.Module):
    def __init__(self, dim, depth, heads, dim_head, mlp_dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            block = [Attention(dim, heads, dim_head), FeedForward(dim, mlp_dim)]
            self.layers.append(nn.ModuleList(block))

    def forward(self, x):
        for attn, ff in self.layers:
            x = attn(x) + x
            x = ff(x) + x
        return self.norm(x)


class ViT(nn.Module):
    def __init__(self, *, image_size, patch_size, num_classes, dim, depth, pool="cls"):
        super().__init__()
        (height, width), (p1, p2) = pair(image_size), pair(patch_size)
        num_patches = (height // p1) * (width // p2)
        self.to_patch_embedding = nn.Sequential(
            Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=p1, p2=p2),
            nn.LayerNorm(p1 * p2),
            nn.Linear(p1 * p2, dim),
            nn.LayerNorm(dim),
        )
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches + 1, dim))
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.transformer = Transformer(dim, depth, 2, 8, 2 * dim)
        self.pool = pool
        self.mlp_head = nn.Linear(dim, num_classes)

    def forward(self, img):
        x = self.to_patch_embedding(img)
        b, n, _ = x.shape
        cls_tokens = repeat(self.cls_token, "1 1 d -> b 1 d", b=b)
        x = torch.cat((cls_tokens, x), dim=1)
        x += self.pos_embedding[:, : (n + 1)]
        x = self.transformer(x)
        x = x.mean(dim=1) if self.pool == "mean" else x[:, 0]
        return self.mlp_head(x)


def stripes(count):
    """12 x 12 pictures of horizontal, vertical or diagonal stripes, and their kind."""
    rng = np.random.default_rng(2)
    row, column = np.mgrid[:12, :12]
    kind = np.arange(count) % 3
    images = np.zeros((count, 1, 12, 12))
    for image, k in zip(images, kind, strict=True):
        line = (row, column, row + column)[k] + rng.integers(4)
        image[0] = np.sin(line * 1.5) + rng.normal(0, 0.2, line.shape)
    return torch.from_numpy(images).float(), torch.from_numpy(kind)


def initialise(model):
    rng = np.random.default_rng(4)
    for parameter in model.parameters():
        if parameter.ndim > 1:
            values = rng.normal(0, 0.15, tuple(parameter.shape))
            parameter.data = torch.as_tensor(values, dtype=parameter.dtype)
        else:
            parameter.data.fill_(float(parameter.data.mean().round() == 1))


def main():
    model = ViT(image_size=12, patch_size=(4, 4), num_classes=3, dim=16, depth=2)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1 and name.endswith("bias"):
            nn.init.zeros_(parameter)
    initialise(model)
    decayed = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.05}, {"params": plain}],
        lr=3e-3,
        weight_decay=0.0,
        betas=(0.9, 0.95),
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, total_steps=30)
    images, kinds = stripes(36)
    losses = []
    for step in range(30):
        part = slice(12 * (step % 3), 12 * (step % 3) + 12)
        loss = nn.functional.cross_entropy(model(images[part]), kinds[part])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        schedule.step()
        losses.append(loss.item())
    model.pool = "mean"
    with torch.no_grad():
        losses.append(model(images).softmax(-1).max(-1).values.mean().item())
    return losses


if __name__ == "__main__":
    print(main())
