# SPDX-License-Identifier: MIT
"""Classes and modes that take over calls by ``__torch_function__``."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.core


@pytest.fixture
def prints(tmp_path):
    """Return a function that runs a program, and returns what it prints, by lines."""

    def run(text, **settings):
        file = tmp_path / "program.py"
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "autocalc.torch", str(file)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env=os.environ | settings,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run


KEPT = """
    import copy
    import torch
    import torch.nn.functional as F
    from torch.nn.functional import relu

    class Image(torch.Tensor):
        pass

    def kinds(*values):
        print(" ".join(type(value).__name__ for value in values))

    x = torch.arange(4.0).reshape(2, 2).as_subclass(Image)
    plain = torch.ones(2, 2)
    kinds(x + 1, 1 + x, plain + x, 1 - x, x @ plain, -x, x > 0, x == x, x[0], x.T)
    kinds(x.sum(), torch.sum(x, dim=0), x.max(0).values, x.unbind()[0])
    kinds(relu(x), F.linear(plain, x), torch.nn.Linear(2, 2)(x), x.double(), x.data)
    kinds(torch.zeros_like(x), x.new_zeros(2), F.softmax(x, 0), x.add_(1), x.clone())
    kinds(torch.stack([plain, x]), torch.linalg.norm(x))
    kinds(torch.tensor(x), x.shape, x.sum().item(), x.numpy(), x.tolist(), plain + 1)
    x.requires_grad_()
    y = (x * 2).sum()
    y.backward()
    kinds(y, x.grad)
    print(repr(x.detach()[0]), copy.deepcopy(x) is x)
    kinds(torch.nn.Parameter(plain) * 2, torch.nn.Linear(2, 2)(plain))
"""


@pytest.mark.parametrize("engine", ["native", "python"])
def test_results_keep_the_class_of_a_subclass(prints, engine):
    settings = {"AUTOCALC_EAGER": "python"} if engine == "python" else {}
    assert prints(KEPT, **settings) == [
        " ".join(["Image"] * 10),
        " ".join(["Image"] * 4),
        " ".join(["Image"] * 5),
        " ".join(["Image"] * 5),
        " ".join(["Image"] * 2),
        "Tensor Size float ndarray list Tensor",
        "Image Tensor",
        "Image([1., 2.]) False",
        "Tensor Tensor",
    ]


def test_a_class_that_is_no_tensor_takes_calls_over(prints):
    lines = prints(
        """
        import functools
        import torch
        from torch import cat

        HANDLED = {}

        class Diagonal:
            def __init__(self, n, value):
                self.n, self.value = n, value

            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                if func not in HANDLED or not all(
                    issubclass(t, (torch.Tensor, Diagonal)) for t in types
                ):
                    return NotImplemented
                return HANDLED[func](*args, **(kwargs or {}))

        def implements(function):
            def register(own):
                HANDLED[function] = own
                return own
            return register

        @implements(torch.mean)
        def mean(x):
            return x.value / x.n

        @implements(torch.add)
        def add(a, b, **words):
            if isinstance(b, Diagonal):
                return b.value * torch.eye(b.n) + a
            return a.value * torch.eye(a.n) + b

        @implements(cat)
        def joined(values, dim=0):
            return len(values), dim

        d = Diagonal(2, 3)
        print(torch.mean(d), torch.add(d, 1).tolist(), (torch.ones(2) + d).tolist())
        print(cat([d, torch.ones(2)], dim=1), torch.overrides.is_tensor_like(d))
        try:
            torch.mul(d, 2)
        except TypeError as error:
            print(error)
        print(torch.overrides.has_torch_function((1, d)),
              torch.overrides.has_torch_function_unary(torch.ones(2)))
        """
    )
    assert lines == [
        "1.5 [[4.0, 1.0], [1.0, 4.0]] [[4.0, 1.0], [1.0, 4.0]]",
        "(2, 1) True",
        (
            "mul: __torch_function__ of ['Diagonal'] returned NotImplemented. It must "
            "return the result, or the function cannot be called with them."
        ),
        "True False",
    ]


def test_a_subclass_sees_each_call_and_is_asked_first(prints):
    lines = prints(
        """
        import torch

        class Logged(torch.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                seen.append(f"{cls.__name__} {func.__name__} {len(types)}")
                return super().__torch_function__(func, types, args, kwargs)

        class Below(Logged):
            pass

        class Silent(torch.Tensor):
            __torch_function__ = torch._C._disabled_torch_function_impl

        seen = []
        x, y = torch.ones(2).as_subclass(Logged), torch.ones(2).as_subclass(Below)
        z = x + y
        x[0] = 3
        torch.nn.functional.mse_loss(x, torch.ones(2), reduction="sum")
        print(seen, type(z).__name__)
        seen.clear()
        with torch._C.DisableTorchFunctionSubclass():
            print(type(x + 1).__name__, seen)
        print(type(torch.ones(2).as_subclass(Silent) + 1).__name__)
        """
    )
    assert lines == [
        "['Below add 2', 'Logged __setitem__ 1', 'Logged mse_loss 1'] Below",
        "Tensor []",
        "Tensor",
    ]


def test_a_mode_sees_each_call_of_its_block(prints):
    lines = prints(
        """
        import torch
        from torch.overrides import TorchFunctionMode

        class Log(TorchFunctionMode):
            def __init__(self, mark):
                self.mark = mark

            def __torch_function__(self, func, types, args=(), kwargs=None):
                if func in (torch.add, torch.zeros, torch.nn.functional.linear):
                    print(self.mark, func.__name__)
                if func is torch.cos:
                    return "taken"
                return func(*args, **(kwargs or {}))

        layer = torch.nn.Linear(2, 2)
        with Log("a"), Log("b"):
            x = torch.zeros(2)
            layer(x) + 1
            print(x.cos())
        print(torch.add(x, 1).tolist(), torch.cos(x).tolist())
        try:
            with Log("c"):
                torch.add(x, "text")
        except TypeError as error:
            print("add" in str(error))
        """
    )
    assert lines == [
        *("b zeros", "a zeros", "b linear", "a linear", "b add", "a add", "taken"),
        *("[1.0, 1.0] [1.0, 1.0]", "c add", "True"),
    ]


def test_autocast_and_compile_work_with_gates_shut(prints):
    lines = prints(
        """
        import inspect
        import pickle
        import torch

        class Image(torch.Tensor):
            pass

        x = torch.ones(2, 2).as_subclass(Image)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            print((x @ x).dtype, torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype)
        twice = torch.compile(lambda a: a * 2 + 1)
        print((x @ x).dtype, type(twice(torch.ones(2))).__name__)
        print(list(inspect.signature(torch.where).parameters))
        print(pickle.loads(pickle.dumps(torch.add)) is torch.add)
        """
    )
    assert lines == [
        "torch.bfloat16 torch.bfloat16",
        "torch.float32 Tensor",
        "['condition', 'input', 'other', 'out']",
        "True",
    ]


def test_frames_of_functions_with_gates_can_be_looked_at(prints):
    lines = prints(
        """
        import torch
        from types import FunctionType

        class Image(torch.Tensor):
            pass

        torch.ones(1).as_subclass(Image)
        looked_at = 0
        for place in (torch.nn.functional, torch.linalg, torch.special, torch.Tensor):
            for name, function in sorted(vars(place).items()):
                if isinstance(function, FunctionType) and name != "__init_subclass__":
                    try:
                        function(object())
                    except Exception as error:
                        frame = error.__traceback__
                        while frame is not None:
                            looked_at += len(frame.tb_frame.f_locals) > 0
                            frame = frame.tb_next
        print(looked_at > 200)
        """
    )
    assert lines == ["True"]
