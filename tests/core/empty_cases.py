# SPDX-License-Identifier: MIT
"""What a call with tensors without elements gives; `against_torch/empty.txt` has it.

``python -m tests.core.empty_cases``, where PyTorch is, writes the file from PyTorch.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path

from tests.core.empty_calls import FUNCTIONS
from tests.core.empty_layers import DISTRIBUTIONS, LAYERS, MODULES

CALLS = [*FUNCTIONS, *LAYERS, *MODULES, *DISTRIBUTIONS]


class Operands:
    """Makes the operands of one call, and keeps those that require a gradient."""

    def __init__(self, module, dtype):
        self.m, self.dtype, self.leaves, self.nets = module, getattr(module, dtype), [], []

    def c(self, *shape):
        return self.m.full(shape, 0.25, dtype=self.dtype)

    def x(self, *shape):
        self.leaves.append(self.c(*shape).requires_grad_())
        return self.leaves[-1]

    def v(self, *shape):
        return self.x(*shape) * 1

    def last(self, *shape):
        made = self.c(*shape).to(memory_format=self.m.channels_last)
        self.leaves.append(made.requires_grad_())
        return made

    def i(self, *shape):
        return self.m.zeros(shape, dtype=self.m.int64)

    def b(self, *shape):
        return self.m.zeros(shape, dtype=self.m.bool)

    def net(self, module):
        module = module.to(self.dtype)
        self.nets.append(module)
        return module

    def drawn(self, distribution):
        values = distribution.sample()
        return [values, distribution.log_prob(values), distribution.sample((2,))]

    def setitem(self, x, index, value):
        x[index] = value
        return x

    def names(self):
        m = self.m
        own = ("x", "c", "v", "i", "b", "net", "drawn", "setitem", "last")
        return {
            **{name: getattr(self, name) for name in own},
            **{"m": m, "F": m.nn.functional, "D": m.distributions},
            **{"linalg": m.linalg, "special": m.special},
        }

    def all_leaves(self):
        return self.leaves + [p for net in self.nets for p in net.parameters()]


def run(module, expression, dtype):
    """Return the results of a call as a flat list, and its operands."""
    made = Operands(module, dtype)
    module.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(flat(eval(expression, made.names()))), made


def flat(x):
    if isinstance(x, (tuple, list)) and not hasattr(x, "numel"):
        for part in x:
            yield from flat(part)
    else:
        yield x


def outcome(module, expression, dtype):
    """Return what a call gives in words: results; first and second derivatives."""
    try:
        results, made = run(module, expression, dtype)
    except Exception as error:
        return f"error: {type(error).__name__}: {str(error)[:150]}"
    words = ", ".join(map(described, results))
    for net in made.nets:
        words += "".join(f"; {n} {value_of(b)}" for n, b in net.named_buffers() if b.numel())
    return f"{words} | {derivatives(module, results, made)}".rstrip(" |")


def described(x):
    """Return dtype, shape and history of a result, and its value where it is one."""
    if not hasattr(x, "dtype") or not hasattr(x, "requires_grad"):
        return repr(x) if not hasattr(x, "name") else x.name
    dtype = str(x.dtype).rpartition(".")[2]
    history = " grad" if x.requires_grad else ""
    return f"{dtype}{tuple(x.shape)}{history}{value_of(x)}".replace(",)", ")")


def value_of(x):
    """Return " nan", " 0" or " inf" where all elements are that."""
    values = {0.0 if x.numel() == 0 else math.nan if v != v else v for v in numbers(x)}
    if not values:
        return ""
    if all(v != v for v in values):
        return " nan"
    if any(v != v for v in values):
        return " some nan"
    if values <= {0.0}:
        return " 0"
    return " inf" if values & {math.inf, -math.inf} else " numbers"


def numbers(x):
    x = x.detach()
    x = x.double() if str(x.dtype).rpartition(".")[2] != "bool" else x.int()
    return x.reshape(-1).tolist()


def total(module, tensors, power=1):
    """Return the sum of all elements, or None if none has a history."""
    with_history = [
        t for t in tensors if getattr(t, "requires_grad", False) and t.dtype.is_floating_point
    ]
    sums = [(t if power == 1 else t * t).sum().to(module.float64) for t in with_history]
    return sum(sums[1:], start=sums[0]) if sums else None


def derivatives(module, results, made):
    """Return gradients, the same recorded, and those of the sum of their squares."""
    leaves, first = made.all_leaves(), total(module, results)
    words = []
    for recorded in (False, True, True):
        if first is None:
            break
        try:
            grads = module.autograd.grad(
                first, leaves, retain_graph=True, create_graph=recorded, allow_unused=True
            )
        except Exception as error:
            words.append(f"error: {type(error).__name__}: {str(error)[:150]}")
            continue
        words.append(",".join(map(gradient, grads, leaves)))
        if recorded:
            first = total(module, [g for g in grads if g is not None], 2)
    return " | ".join(words)


def gradient(g, x):
    if g is None or x.numel() == 0:
        return "-"
    return "shape" if g.shape != x.shape else value_of(g).strip()
