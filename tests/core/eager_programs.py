# SPDX-License-Identifier: MIT
"""Random programs, and all that can be seen of what they compute.

A program draws operators, operands and arguments, right and wrong ones, from a seed.
`trace` runs it and returns a line for each step: values, shapes, strides, versions,
nodes, relations of views, errors.  Two ways of running calls that mean the same give
the same lines.
"""

from __future__ import annotations

import hashlib
import random
import warnings

import numpy as np

import autocalc as ac

F = ac.nn.functional

UNARY = (
    *("abs", "exp", "log", "sqrt", "tanh", "sigmoid", "neg", "square", "floor"),
    *("sign", "relu", "isnan", "reciprocal", "rsqrt", "sin", "cos", "clone"),
    *("detach", "log1p", "expm1"),
)
BINARY = (
    *("add", "sub", "mul", "div", "maximum", "minimum", "pow", "eq", "ne", "lt"),
    *("le", "gt", "ge", "fmod", "remainder"),
)
REDUCTIONS = (
    *("sum", "mean", "prod", "amax", "amin", "logsumexp", "argmax", "any"),
    *("all", "var", "max"),
)
ALONG = ("softmax", "log_softmax", "cumsum", "cumprod", "unbind")
IN_PLACE = (
    *("add_", "sub_", "mul_", "div_", "sqrt_", "abs_", "exp_", "neg_", "copy_"),
    *("fill_", "zero_", "clamp_min_", "relu_", "tanh_"),
)
NUMBERS = (0, 1, -2, 2.0, 0.5, -0.0, float("inf"), True, 2**40, 10**30, None, "x")
SHAPES = ((), (1,), (3,), (4,), (2, 3), (3, 1), (1, 4), (0,), (2, 0), (2, 3, 4),
          (1, 2, 3, 3), (2, 4, 3, 3))  # fmt: skip


class Program:
    """A pool of tensors, and steps that add to it."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.pool = [self.fresh() for _ in range(5)]
        self.leaves = [x for x in self.pool if x.requires_grad]

    def fresh(self) -> ac.Tensor:
        """Return a new tensor, of floats more often than of others."""
        shape = self.draw.choice(SHAPES)
        values = self.numbers.standard_normal(shape)
        kind = self.draw.choice(["f4"] * 6 + ["f8", "i8", "i4", "?", "u1"])
        if kind not in {"f4", "f8"}:
            values = self.numbers.integers(0, 3, shape)
        x = ac.from_numpy(np.asarray(values, kind).copy())
        if kind in {"f4", "f8"} and self.draw.random() < 0.5:
            x.requires_grad_()
        if len(shape) == 4 and self.draw.random() < 0.5:
            x = x.detach().to(memory_format=ac.channels_last)
        if self.draw.random() < 0.1 and x.is_floating_point():
            x = ac.nn.Parameter(x.detach())
        return x

    def tensor(self) -> ac.Tensor:
        return self.draw.choice(self.pool)

    def operand(self) -> object:
        number = self.draw.random() < 0.25
        return self.draw.choice(NUMBERS) if number else self.tensor()

    def dim(self) -> int:
        return self.draw.choice([0, 0, 1, -1, -2, 2, 5])

    # ---- steps -------------------------------------------------------------------

    def unary(self):
        return getattr(ac, self.draw.choice(UNARY))(self.operand())

    def binary(self):
        x, y = self.operand(), self.operand()
        return getattr(ac, self.draw.choice(BINARY))(x, y)

    def python_operator(self):
        x, y = self.operand(), self.operand()
        way = self.draw.choice("+-*/<=@")
        return {
            "+": lambda: x + y,
            "-": lambda: x - y,
            "*": lambda: x * y,
            "/": lambda: x / y,
            "<": lambda: x < y,
            "=": lambda: x == y,
            "@": lambda: x @ y,
        }[way]()

    def reduction(self):
        name, x = self.draw.choice(REDUCTIONS), self.tensor()
        words = {}
        if self.draw.random() < 0.4:
            words["keepdim"] = self.draw.choice([True, False, 1])
        if self.draw.random() < 0.6:
            words["dim"] = self.draw.choice([self.dim(), (0, 1), None])
        if self.draw.random() < 0.5 and "dim" in words:
            return getattr(x, name)(words.pop("dim"), **words)
        return getattr(ac, name)(x, **words)

    def along(self):
        name, x = self.draw.choice(ALONG), self.tensor()
        return getattr(ac, name)(x, self.dim())

    def view(self):
        x = self.tensor()
        sizes = self.draw.choice([(-1,), (2, -1), (3, 4), (), (x.numel(),), (2.0,)])
        ways = (
            lambda: x.view(*sizes),
            lambda: x.reshape(sizes),
            lambda: ac.reshape(x, sizes),
            lambda: x.transpose(self.dim(), self.dim()),
            x.t,
            lambda: x.permute(*self.draw.sample(range(x.ndim), x.ndim)),
            lambda: x.permute(0, -1),
            lambda: x.unsqueeze(self.dim()),
            x.squeeze,
            lambda: x.squeeze(self.dim()),
            x.flatten,
            lambda: x.flatten(self.draw.choice([0, 1]), self.dim()),
            lambda: x.expand(3, *x.shape),
            lambda: x.expand(*x.shape[:-1], self.draw.choice([-1, 4])),
            lambda: ac.squeeze(x, dim=self.dim()),
        )
        return self.draw.choice(ways)()

    def part(self):
        x = self.tensor()
        index = self.draw.choice([
            0, -1, 7, slice(1, None), slice(None, 2), slice(None, None, 2), None, ...,
            (0, 0), (slice(None), 0), (..., 0), (0, None), (0, slice(0, 2)), True,
            (slice(0, 1), ..., None), 1.0, (0, 0, 0, 0, 0), [0, 1],
        ])  # fmt: skip
        return x[index]

    def join(self):
        first = self.tensor()
        parts = [first, self.draw.choice([first, first, self.tensor()])]
        parts = tuple(parts) if self.draw.random() < 0.3 else parts
        function = self.draw.choice([ac.cat, ac.stack])
        if self.draw.random() < 0.5:
            return function(parts)
        return function(parts, dim=self.dim())

    def choose(self):
        return ac.where(self.tensor() > 0, self.operand(), self.operand())

    def compound(self):
        x = self.tensor()
        ways = (
            lambda: F.layer_norm(x, x.shape[-1:]),
            lambda: F.gelu(x),
            lambda: F.linear(x, self.tensor()),
            lambda: x.matmul(self.tensor()),
            lambda: x.clamp(-0.5, 0.5),
            lambda: F.cross_entropy(x, ac.zeros(x.shape[:1], dtype=ac.int64)),
            lambda: F.max_pool2d(x, 2, return_indices=True),
            lambda: ac.zeros(2, 3) + x,
            lambda: ac.ones((1,)) * x,
            lambda: ac.zeros(2, -1),
            lambda: F.batch_norm(x, None, None, training=True),
        )
        return self.draw.choice(ways)()

    def write(self):
        x, name = self.tensor(), self.draw.choice(IN_PLACE)
        method = getattr(x, name)
        takes = name[:-1] in {"add", "sub", "mul", "div", "copy", "fill", "clamp_min"}
        if self.draw.random() < 0.5:
            with ac.no_grad():
                return method(self.operand()) if takes else method()
        return method(self.operand()) if takes else method()

    def backward(self):
        x = self.tensor()
        keep = self.draw.random() < 0.5
        if x.ndim:
            x = x.sum()
        x.backward(retain_graph=keep)
        return x

    def hook(self):
        x = self.tensor()
        x.register_hook(lambda g: g * 2)
        return x

    def gradients(self):
        x, leaf = self.tensor(), self.draw.choice(self.leaves or self.pool)
        create = self.draw.random() < 0.5
        words = {"create_graph": create, "retain_graph": True, "allow_unused": True}
        return ac.autograd.grad(x.sum(), leaf, **words)

    def new(self):
        x = self.fresh()
        if x.requires_grad:
            self.leaves.append(x)
        return x

    STEPS = (
        *("unary",) * 4,
        *("binary",) * 6,
        *("python_operator",) * 6,
        *("reduction",) * 4,
        *("view",) * 6,
        *("part",) * 4,
        *("along", "join", "join", "choose", "compound", "compound"),
        *("write",) * 4,
        *("backward", "gradients", "hook", "new", "new"),
    )

    def step(self) -> str:
        """Take a step, keep what it gives, and say what can be seen of it."""
        name = self.draw.choice(self.STEPS)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = getattr(self, name)()
        except Exception as error:
            return f"{name}: {type(error).__name__}: {error}"
        found = result if isinstance(result, (tuple, list)) else (result,)
        for one in found:
            if isinstance(one, ac.Tensor):
                self.pool[self.draw.randrange(len(self.pool))] = one
        seen = [self.describe(one) for one in found]
        return f"{name}: {seen}"

    # ---- what can be seen ----------------------------------------------------------

    def describe(self, x: object) -> str:
        """Return all of a tensor that a program, or a rule, could notice."""
        if not isinstance(x, ac.Tensor):
            return f"{type(x).__name__} {x!r}"
        a = x._array
        version = x._version.count if x._version else 0  # made when it is shared
        digest = hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()[:12]
        flags = a.flags.c_contiguous, a.flags.writeable
        return (
            f"{type(x).__name__} {x.dtype} {a.shape} {a.strides} {flags} {digest} "
            f"v{version} {self.node(x._edge)} {self.relation(x)}"
        )

    @staticmethod
    def node(edge: object, depth: int = 2) -> str:
        """Return an edge, and those that it leads to."""
        if edge is None or not hasattr(getattr(edge, "node", edge), "op"):
            return "leaf" if edge is not None else "none"
        slot = getattr(edge, "slot", "")
        node = getattr(edge, "node", edge)
        behind = [Program.node(e, depth - 1) for e in node.edges] if depth else ""
        saved = node.saved if isinstance(node.saved, tuple) else "freed"
        kept = [None if s is None else getattr(s, "shape", "?") for s in saved]
        counts = [v if isinstance(v, int) else v is not None for v in node.versions]
        return (
            f"<{node.op.name}{slot} {node.shapes} {node.dtype} {node.attributes!r} "
            f"{kept} {counts} {node.hooks is not None} {behind}>"
        )

    def relation(self, x: ac.Tensor) -> str:
        """Return what a tensor is a view of, or which views it has."""
        if x._view.__class__ is tuple:
            base, chain = x._view
            steps = []
            while chain is not None:
                chain, op, attributes, shape = chain
                steps.append((op.name, attributes, shape))
            return f"view {base._array.shape} {steps}"
        tracked = [] if x._view is None else [one() for one in x._view.views]
        known = [i for i, p in enumerate(self.pool) if any(p is one for one in tracked)]
        return f"has views {known}"  # those that a program can reach


def trace(seed: int, steps: int = 25) -> list[str]:
    """Run the program of a seed; return its lines."""
    ac.manual_seed(seed)
    program = Program(seed)
    lines = [program.step() for _ in range(steps)]
    lines += [f"end: {program.describe(x)}" for x in program.pool]
    lines += [f"grad: {program.describe(x.grad)}" for x in program.leaves]
    return lines
