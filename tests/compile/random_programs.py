# SPDX-License-Identifier: MIT
"""Random functions to compile: views, writes in place, shared inputs, several results.

A function is a list of steps, each four numbers: what to do, and with which of the
tensors that exist.  Every list is a valid function, so that failing ones can be shrunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import autocalc as ac
from autocalc import nn, optim
from autocalc.nn import functional as F

Step = tuple[int, int, int, int]

ROWS, FEATURES = 4, 6
IMAGES = (2, 3, 5, 5)


class Function:
    """A function with parameters, buffers and an optimizer of its own."""

    def __init__(self, steps: Sequence[Step], dtype: Any, training: bool) -> None:
        ac.manual_seed(5)
        self.steps = steps
        self.training = training
        self.dtype = dtype
        self.linear = nn.Linear(FEATURES, FEATURES)
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        # Small variances and gradients, which cancel, are not divided by themselves.
        self.norm = nn.BatchNorm2d(3, eps=0.1)
        self.rows = nn.LayerNorm(FEATURES, eps=0.1)
        self.modules = nn.ModuleList([self.linear, self.conv, self.norm, self.rows])
        self.modules.to(dtype).train(training)
        self.state = ac.randn(ROWS, FEATURES, dtype=dtype)
        self.total = ac.zeros(ROWS, dtype=dtype)
        make = (optim.SGD, optim.AdamW)[len(steps) % 2]
        words = {"momentum": 0.9} if make is optim.SGD else {"eps": 1e-3}
        self.noted: list[Any] = []
        self.optimizer = make(self.modules.parameters(), lr=0.01, **words)
        self.schedule = optim.lr_scheduler.StepLR(self.optimizer, 1, 0.7)
        self.saved = {k: v.clone() for k, v in self.modules.state_dict().items()}
        self.scale, self.table = 0.75, {"places": [0.5, 1.0]}
        self.row_count = ROWS
        self.hooks: list[Any] = []

    def arguments(self, call: int) -> list[ac.Tensor]:
        """Return the tensors of a call."""
        rng = np.random.default_rng(call)
        shapes = (self.row_count, FEATURES), (self.row_count, FEATURES), IMAGES
        name = str(self.dtype).rsplit(".", maxsplit=1)[-1]
        return [
            ac.from_numpy(rng.standard_normal(shape).astype(name)) for shape in shapes
        ]

    def __call__(self, x: ac.Tensor, y: ac.Tensor, images: ac.Tensor) -> list[Any]:
        """Run the steps, and backward and the optimizer in training."""
        if not self.training:
            with ac.no_grad():
                return self._results(self._run([x, y, images]))
        self.optimizer.zero_grad(set_to_none=len(self.steps) % 3 != 0)
        pool = self._run([x, y, images])
        parts = [one for one in pool[3:] if one.requires_grad]
        if not parts:
            return self._results(pool)
        loss = sum(part.mean() for part in parts[-4:]) * self.scale
        loss.backward()
        self.optimizer.step()
        return [loss.detach(), *self._results(pool)]

    def note(self, *tensors: ac.Tensor) -> None:
        """Keep copies of what a callback is given."""
        self.noted += [np.array(t.numpy()) for t in tensors]

    def change(self, action: str, k: int) -> None:
        """Do what programs do between the calls of a step."""
        with ac.no_grad():
            ACTIONS[action](self, k)

    def seen(self) -> list[Any]:
        """Return copies of what the function keeps and what callbacks saw in a call."""
        noted, self.noted = self.noted, []
        tensors = [self.state, self.total, *self.modules.parameters()]
        tensors += [p.grad for p in self.modules.parameters()]
        tensors += list(self.modules.buffers())
        kept = [None if t is None else np.array(t.detach().numpy()) for t in tensors]
        return kept + noted

    def _results(self, pool: list[ac.Tensor]) -> list[ac.Tensor]:
        """Return the last three tensors, of which some may share memory."""
        return [one.detach() for one in pool[3:][-3:]]

    def _run(self, pool: list[ac.Tensor]) -> list[ac.Tensor]:
        for kind, i, j, k in self.steps:
            take = OPERATORS[kind % len(OPERATORS)]
            recent = pool[-8:]
            a, b = recent[i % len(recent)], recent[j % len(recent)]
            pool.append(take(self, a, b, k))
        return pool


# ---- what changes between calls ------------------------------------------------------


def parameter(f: Function, k: int) -> Any:
    found = list(f.modules.parameters())
    return found[k % len(found)]


def freeze(f: Function, k: int) -> None:
    p = parameter(f, k)
    p.requires_grad_(not p.requires_grad)


def new_values(f: Function, k: int) -> None:
    p = parameter(f, k)
    if k % 3 == 0:
        p.data = p.data * 0.5
    elif k % 3 == 1:
        p.mul_(0.75)
    else:
        f.state = f.state * 0.5


def hook(f: Function, k: int) -> None:
    if f.hooks and k % 2:
        f.hooks.pop().remove()
        return
    layer = (f.linear, f.conv, f.rows)[k % 3]
    f.hooks.append(layer.register_forward_hook(lambda m, a, out: out * 0.75))


def load(f: Function, k: int) -> None:
    f.modules.load_state_dict(f.saved)
    if k % 2:
        f.optimizer.load_state_dict(f.optimizer.state_dict())


def other_dtype(f: Function, k: int) -> None:
    f.dtype = ac.float32 if f.dtype is ac.float64 else ac.float64
    f.modules.to(f.dtype)
    f.state, f.total = f.state.to(f.dtype), f.total.to(f.dtype)
    f.optimizer.zero_grad()
    f.optimizer.state.clear()


def other_shape(f: Function, k: int) -> None:
    f.row_count = 1 + k % ROWS


def other_number(f: Function, k: int) -> None:
    if k % 2:
        f.scale = 0.25 + k / 60
    else:
        f.table["places"][k // 2 % 2] = 0.25 + k / 60


def other_mode(f: Function, k: int) -> None:
    f.modules.train(not f.norm.training)


ACTIONS = {
    "schedule": lambda f, k: f.schedule.step(),
    "freeze": freeze,
    "new values": new_values,
    "hook": hook,
    "load_state_dict": load,
    "dtype": other_dtype,
    "shape": other_shape,
    "number": other_number,
    "mode": other_mode,
}


# ---- operators -----------------------------------------------------------------------


def unary(f: Function, a: Any, b: Any, k: int) -> Any:
    if k % 12 == 0:
        return ac.exp(ac.tanh(a))
    name = ("tanh", "sigmoid", "neg", "sin", "cos", "square", "clone", "abs")[k % 8]
    if name in {"square", "abs"}:
        return getattr(ac, name)(ac.tanh(a) + 1.25)
    return getattr(ac, name)(a)


def activation(f: Function, a: Any, b: Any, k: int) -> Any:
    take = (F.relu, F.gelu, F.silu, F.leaky_relu, F.hardswish, F.relu6)[k % 6]
    # Exact zeros are kept away from the jump of its gradient.
    return take(a + 0.37) if k % 3 else F.gelu(a, approximate="tanh")


def binary(f: Function, a: Any, b: Any, k: int) -> Any:
    b = fitting(a, b)
    if k % 5 == 4:
        return a / (b * b + 1.5)
    return (ac.add, ac.sub, ac.mul, lambda x, y: ac.lerp(x, y, 0.25))[k % 5](a, b)


def number(f: Function, a: Any, b: Any, k: int) -> Any:
    ways = (
        lambda: a * 1.0,
        lambda: a * 1,
        lambda: a + 0.0,
        lambda: a - 0.0,
        lambda: a / 1,
        lambda: a * f.scale,
        lambda: a * f.table["places"][k % 2],
        lambda: 1.0 - a,
        lambda: a * ac.ones(a.shape[-1:], dtype=a.dtype),
        lambda: a + ac.zeros(a.shape[-1:], dtype=a.dtype),
    )
    return ways[k % len(ways)]()


def reduction(f: Function, a: Any, b: Any, k: int) -> Any:
    take = (ac.sum, ac.mean, lambda x, **w: x.var(correction=0, **w))[k % 3]
    if k % 4 == 0 or a.ndim == 0:
        return take(a)
    return take(a, dim=k % a.ndim, keepdim=k % 2 == 0)


def softmax(f: Function, a: Any, b: Any, k: int) -> Any:
    if a.ndim == 0:
        return ac.tanh(a)
    return (F.softmax, F.log_softmax)[k % 2](a, dim=k % a.ndim)


def view(f: Function, a: Any, b: Any, k: int) -> Any:
    if a.ndim == 0:
        return a.reshape(1)
    ways = (
        lambda: a.transpose(0, -1),
        lambda: a.reshape(-1),
        a.flatten,
        lambda: a.unsqueeze(k % a.ndim) if a.ndim < 4 else a.squeeze(),
        lambda: a[: max(a.shape[0] - 1, 1)],
        lambda: a[..., ::2],
        lambda: a[0] if a.shape[0] else a,
        lambda: a.expand(2, *a.shape) if a.numel() < 200 and a.ndim < 4 else a,
        a.detach,
        lambda: a.transpose(0, -1).contiguous(),
    )
    return ways[k % len(ways)]()


def join(f: Function, a: Any, b: Any, k: int) -> Any:
    if a.ndim == 0 or a.numel() > 200:
        return a * 0.75
    b = fitting(a, b).expand(a.shape)
    if k % 3 == 0 and a.ndim < 4:
        return ac.stack([a, b], k % (a.ndim + 1))
    return ac.cat([a, b], k % a.ndim)


def matmul(f: Function, a: Any, b: Any, k: int) -> Any:
    rows, columns = as_rows(a)[:32], as_rows(b)[:32]  # squares of squares grow fast
    product = rows @ columns.t()
    return product * 0.1 + (columns[:, 0] if k % 2 else 0)


def linear(f: Function, a: Any, b: Any, k: int) -> Any:
    out = f.linear(as_rows(a))
    ways = (lambda x: x, F.relu, F.gelu, ac.tanh, lambda x: F.gelu(x) + x)
    return ways[k % len(ways)](out)


def layer_norm(f: Function, a: Any, b: Any, k: int) -> Any:
    rows = as_rows(a)
    return f.rows(rows) + rows if k % 2 else f.rows(rows + as_rows(b)[:1])


def convolution(f: Function, a: Any, b: Any, k: int) -> Any:
    images = as_images(a)
    out = f.conv(images)
    if k % 4 == 0:
        return F.conv2d(images, f.conv.weight, stride=2) + out[..., 1::2, 1::2]
    if k % 4 == 1:
        return out + images
    if k % 4 == 2:
        images = images.contiguous(memory_format=ac.channels_last)
        out = F.conv2d(images, f.conv.weight[..., :1, :1].contiguous(), f.conv.bias)
        return F.relu(patches(out) + patches(images).clone())
    return out


def patches(images: Any) -> Any:
    """Return a row of channels for each place of each image."""
    return images.flatten(2).transpose(1, 2)


def batch_norm(f: Function, a: Any, b: Any, k: int) -> Any:
    out = f.norm(as_images(a) + 0.1 * pattern(a))
    if k % 2:
        out = out + as_images(b)
    acts = (F.relu, F.silu, F.hardswish, F.leaky_relu, lambda x: F.relu(x, True))
    return acts[k % 5](out + 0.0 if k % 3 == 0 else out)


def dropout(f: Function, a: Any, b: Any, k: int) -> Any:
    return F.dropout(a, 0.4) + (ac.rand(a.shape[-1:], dtype=a.dtype) if k % 2 else 0)


def write(f: Function, a: Any, b: Any, k: int) -> Any:
    """Write a new tensor in place, as a whole and in parts."""
    y = a + 0.5
    ways = (
        lambda: y.mul_(0.5),
        lambda: y.add_(fitting(y, b)),
        y.tanh_,
        lambda: y.copy_(fitting(y, b)),
        lambda: y.zero_().add_(1.5),
        lambda: y.sub_(y),
    )
    ways[k % len(ways)]()
    if y.ndim and y.shape[0]:
        part = y[k % y.shape[0]]
        part.mul_(2.0) if k % 2 else part.add_(1.0)
        if k % 3 == 0:
            y[0] = fitting(y[0], b)
    return y


def write_shared(f: Function, a: Any, b: Any, k: int) -> Any:
    """Write what others may see: the operand itself."""
    if a.requires_grad or a.numel() == 0 or 0 in a.stride():
        return a + 1.0
    if k % 3 == 0:
        return a.mul_(0.5)
    if k % 3 == 1 and a.ndim:
        a[0] = fitting(a[0], b.detach())
        return a * 2.0
    return a.add_(fitting(a, b.detach()))


def keep(f: Function, a: Any, b: Any, k: int) -> Any:
    """Write a buffer that lives on, and read it."""
    rows = as_rows(a.detach())[:ROWS]
    with ac.no_grad():
        if k % 4 == 0:
            f.state.mul_(0.5).add_(rows[:1])
        elif k % 4 == 1:
            f.state.copy_(f.state * 0.5 + rows[:1])
        elif k % 4 == 2:
            f.total.copy_(f.state.sum(1))
            f.state[k % ROWS].mul_(0.9)
        else:
            f.total += rows[:1].sum()
    return f.state * 1.0 if k % 2 else f.state + as_rows(b)[:1]


def call_back(f: Function, a: Any, b: Any, k: int) -> Any:
    """Let Python look at tensors, write them, and fill new ones."""
    plain = a.detach()
    if k % 4 == 0:
        ac.callback(f.note, plain, f.state, b)
        return a * 0.5
    if k % 4 == 1:
        new = ac.empty_like(plain)
        ac.callback(fill, new, a, mutates=new)
        return new
    if k % 4 == 2:
        ac.callback(fill, f.total, f.state.sum(1), mutates=[f.total])
        return f.total + 0.5
    new = plain * 1.5
    new += fitting(new, b.detach())
    part = new[..., :1] if new.ndim else new
    ac.callback(fill, part, part.tanh(), mutates=part)
    return new - 0.5


def fill(a: Any, b: Any) -> None:
    a.copy_(b * 0.5)


def repeat(f: Function, a: Any, b: Any, k: int) -> Any:
    """Compute the same twice."""
    one, two = ac.tanh(a), ac.tanh(a)
    return one * two + ac.tanh(fitting(a, b))


def pad(f: Function, a: Any, b: Any, k: int) -> Any:
    if a.ndim == 0 or a.numel() > 200:
        return a - 0.25
    padded = ac.zeros(a.shape[0] + 2, *a.shape[1:], dtype=a.dtype)
    padded[1:-1] = a
    return padded


def pick(f: Function, a: Any, b: Any, k: int) -> Any:
    rows = as_rows(a)
    index = ac.arange(3) % len(rows)
    return (rows[index], rows[: k % 3 + 1], rows.index_select(0, index))[k % 3]


OPERATORS = (
    unary, unary, activation, binary, binary, binary, number, reduction, softmax, view,
    view, view, join, matmul, linear, linear, layer_norm, convolution, convolution,
    batch_norm, dropout, write, write, write_shared, keep, call_back, call_back, repeat,
    pad, pick,
)  # fmt: skip


# ---- operands that fit ---------------------------------------------------------------


def fitting(a: ac.Tensor, b: ac.Tensor) -> ac.Tensor:
    """Return a part of `b`, or all of it, that broadcasts to `a`."""
    if b.shape == a.shape:
        return b
    if b.ndim and a.ndim and b.shape[-1] == a.shape[-1]:
        return b.reshape(-1, a.shape[-1])[0]
    return b.sum() * 0.125


def as_rows(a: ac.Tensor) -> ac.Tensor:
    """Return rows of `FEATURES` numbers made of those of `a`."""
    if a.ndim and a.shape[-1] == FEATURES:
        return a.reshape(-1, FEATURES)
    flat = a.reshape(-1)
    whole = len(flat) // FEATURES
    if whole:
        return flat[: whole * FEATURES].reshape(whole, FEATURES)
    return (flat[:1] if len(flat) else ac.ones(1, dtype=a.dtype)).expand(1, FEATURES)


def as_images(a: ac.Tensor) -> ac.Tensor:
    """Return images made of the numbers of `a`."""
    if a.shape == IMAGES:
        return a
    return as_rows(a)[:1, :3].sum(1).reshape(1, 1, 1, 1).expand(IMAGES) * pattern(a)


def pattern(a: ac.Tensor) -> ac.Tensor:
    n = IMAGES[2] * IMAGES[3]
    return ac.sin(ac.arange(3 * n, dtype=a.dtype)).reshape(3, *IMAGES[2:])
