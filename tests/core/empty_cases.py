# SPDX-License-Identifier: MIT
"""What calls with tensors without elements give; `against_torch/empty.txt` has it.

``python -m tests.core.empty_cases``, where PyTorch is, writes the file from PyTorch.
"""

from __future__ import annotations

import math
import re
import textwrap
import warnings
from pathlib import Path

from tests.core.empty_calls import FUNCTIONS
from tests.core.empty_dims import DIMS
from tests.core.empty_layers import LAYERS, MODULES

#: By kind, what is compared with PyTorch.
CALLS = {"functions": FUNCTIONS, "dims": DIMS, "layers": LAYERS, "modules": MODULES}


class Operands:
    """Makes the operands of one call, and keeps those that require a gradient."""

    def __init__(self, module, dtype):
        self.m, self.dtype = module, getattr(module, dtype)
        self.leaves, self.nets = [], []

    def c(self, *shape):
        return self.m.full(shape, 0.25, dtype=self.dtype)

    def x(self, *shape):
        made = self.c(*shape)
        if self.dtype.is_floating_point:
            self.leaves.append(made.requires_grad_())
        return made

    def v(self, *shape):
        return self.x(*shape) * 1

    def last(self, *shape):
        return self.x(*shape).to(memory_format=self.m.channels_last)

    def i(self, *shape):
        return self.m.zeros(shape, dtype=self.m.int64)

    def b(self, *shape):
        return self.m.zeros(shape, dtype=self.m.bool)

    def net(self, module):
        module = module.to(self.dtype)
        self.nets.append(module)
        return module

    def setitem(self, x, index, value):
        x[index] = value
        return x

    def drawn(self, distribution):
        """Return what a distribution offers, each with its name."""
        values = distribution.sample()
        calls = {
            "sample": lambda d: values,
            "two": lambda d: d.sample((2,)),
            "none": lambda d: d.log_prob(d.sample((0, 3))),
            "rsample": lambda d: d.rsample(),
            "log_prob": lambda d: d.log_prob(values),
            "entropy": lambda d: d.entropy(),
            "cdf": lambda d: d.cdf(values),
            "icdf": lambda d: d.icdf(values),
            "mean": lambda d: d.mean,
            "variance": lambda d: d.variance,
            "mode": lambda d: d.mode,
            "expand": lambda d: d.expand((2, *d.batch_shape)).sample(),
            "kl": lambda d: self.m.distributions.kl_divergence(d, d),
        }
        return [(name, attempt(call, distribution)) for name, call in calls.items()]

    def moved(self, transform, x):
        y = transform(x)
        back = attempt(lambda t: t.inv(y), transform)
        return [y, back, attempt(lambda t: t.log_abs_det_jacobian(x, y), transform)]

    def names(self):
        m = self.m
        own = ("x", "c", "v", "i", "b", "net", "last", "setitem", "drawn", "moved")
        return {
            **{name: getattr(self, name) for name in own},
            "m": m,
            "F": m.nn.functional,
            "D": m.distributions,
            "linalg": m.linalg,
            "special": m.special,
        }

    def all_leaves(self):
        return self.leaves + [p for net in self.nets for p in net.parameters()]


def attempt(call, x):
    """Return what a method gives, or that there is none."""
    try:
        return call(x)
    except NotImplementedError as error:
        return type(error).__name__
    except Exception as error:
        if "there is no formula" not in str(error):
            raise
        return type(error).__name__


def run(module, expression, dtype):
    """Return the results of a call as a flat list, and its operands."""
    made = Operands(module, dtype)
    module.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(flat(eval(expression, made.names()))), made


def flat(x):
    if isinstance(x, (tuple, list)):
        for part in x:
            yield from flat(part)
    else:
        yield x


class Outcome:
    """Results, gradients, the same recorded, and those of the sum of their squares.

    All in words; those of an error are `error`.
    """

    def __init__(self, module, expression, dtype):
        self.results, self.error = "error", None
        self.gradients, self.recorded, self.second = "", "", ""
        try:
            results, made = run(module, expression, dtype)
            self.results = ", ".join(described(x) for x in results)
            for net in made.nets:
                for name, buffer in net.named_buffers():
                    self.results += f", {name}{value_of(buffer)}"
            self._derive(module, results, made.all_leaves())
        except Exception as error:
            self.error = error

    def _derive(self, module, results, leaves):
        first = total(module, results)
        if first is None:
            return
        self.gradients, _ = derived(module, first, leaves, False)
        self.recorded, grads = derived(module, first, leaves, True)
        squares = total(module, [g * g for g in grads if g is not None])
        if squares is not None:
            self.second, _ = derived(module, squares, leaves, True)

    def __str__(self):
        return f"{self.results} | {self.gradients}".removesuffix(" | ")


def derived(module, y, leaves, recorded):
    """Return gradients in words, and as they are."""
    try:
        grads = module.autograd.grad(
            y, leaves, retain_graph=True, create_graph=recorded, allow_unused=True
        )
    except Exception as error:
        if getattr(error, "__module__", "").startswith("autocalc"):
            return "error", []
        if module.__name__ == "torch":
            return "error", []
        raise
    return ",".join(map(_gradient, grads, leaves)), grads


def _gradient(g, x):
    if g is None or x.numel() == 0:
        return "-"
    return "another shape" if g.shape != x.shape else value_of(g).strip()


def total(module, tensors):
    """Return the sum of all elements, or None if none has a history."""
    sums = [
        x.sum().to(module.float64)
        for x in tensors
        if getattr(x, "requires_grad", False) and x.dtype.is_floating_point
    ]
    return sum(sums[1:], start=sums[0]) if sums else None


def described(x):
    """Return dtype, shape, history and kind of value."""
    if not hasattr(x, "requires_grad"):
        return repr(x)
    dtype = str(x.dtype).rpartition(".")[2]
    history = " grad" if x.requires_grad else ""
    shape = str(tuple(x.shape)).replace(",)", ")")
    return f"{dtype}{shape}{history}{value_of(x)}"


def value_of(x):
    """Return of a tensor with elements whether they are NaN, 0, infinite or else."""
    x = x.detach()
    x = x.int() if str(x.dtype).endswith("bool") else x.double()
    values = x.reshape(-1).tolist()
    if not values:
        return ""
    nan = sum(v != v for v in values)
    if nan:
        return " nan" if nan == len(values) else " partly nan"
    if not any(values):
        return " 0"
    return " inf" if math.inf in map(abs, values) else " numbers"


FILE = Path(__file__).parent / "against_torch" / "empty.txt"
HEADER = """\
What PyTorch makes of tensors without elements, as `empty_cases` describes it: dtype
(`same` as that of the operands), shape, history and kind of value of each result, and
of the gradient of each operand or parameter, - where it has no elements or is none.
Below an outcome are the calls that have it."""
#: What ends PyTorch's process.
CRASHES = ("m.pdist(x(0,3))",)


def expected():
    """Return {expression: outcome} as the file has it."""
    found = {}
    for block in FILE.read_text(encoding="utf-8").split("\n\n")[1:]:
        outcome, calls = block.split("\n", 1)
        joined = " ".join(line.strip() for line in calls.splitlines())
        found.update(dict.fromkeys(joined.strip().split("; "), outcome))
    return found


def outcomes(module):
    """Return {expression: outcome} of a library."""
    every = [call for calls in CALLS.values() for call in calls]
    return {
        call: "crash" if call in CRASHES else outcome(module, call) for call in every
    }


def outcome(module, call):
    """Return an outcome in which `same` is the dtype of the operands."""
    one, other = (str(Outcome(module, call, d)) for d in ("float32", "float64"))
    dtypes = iter(re.findall(r"float\d+", other))
    return re.sub(
        r"float\d+",
        lambda found: found[0] if next(dtypes, "") == found[0] else "same",
        one,
    )


def write(module):
    """Write the file from what `module` does."""
    groups = {}
    for call, found in outcomes(module).items():
        groups.setdefault(found, []).append(call)
    blocks = [HEADER]
    for found, calls in groups.items():
        names = textwrap.fill(
            "; ".join(calls), 88, break_long_words=False, break_on_hyphens=False
        )
        blocks.append(f"{found}\n{textwrap.indent(names, '  ')}")
    FILE.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


if __name__ == "__main__":
    import torch

    write(torch)
