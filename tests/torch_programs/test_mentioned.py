# SPDX-License-Identifier: MIT
"""Names that programs mention and do not use."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.core


def prints(text):
    """Return the lines that a program prints."""
    start = "import autocalc.torch\nautocalc.torch.install()\nimport torch\n"
    done = subprocess.run(
        [sys.executable, "-c", start + textwrap.dedent(text)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_name_is_a_class_that_raises_when_it_is_called():
    lines = prints(
        """
        from typing import Optional
        import torch.fx.experimental.symbolic_shapes as shapes
        from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
        from torch.fx import Tracer

        class Mine(Tracer):
            def trace(self) -> Optional[torch.fx.Graph]:
                pass

        def f(x: "torch.fx.Node | None" = None, y: FSDP | None = None): ...

        assert not isinstance(3, FSDP)
        assert issubclass(Mine, Tracer)
        assert torch.fx.Tracer is Tracer
        assert {FSDP: 1}[FSDP] == 1
        for call in (Mine, FSDP, shapes.is_symbolic, torch.cond, torch.cuda.Stream):
            try:
                call(1)
            except NotImplementedError as error:
                print(error)
        """
    )
    assert lines[0].startswith("torch.fx.Tracer is not in AutoCalc: nothing is traced")
    assert "FullyShardedDataParallel is not in AutoCalc: parameters" in lines[1]
    assert "symbolic_shapes.is_symbolic is not in AutoCalc" in lines[2]
    assert lines[3].startswith("torch.cond is not in AutoCalc: AutoCalc runs control")
    assert lines[4].startswith("torch.cuda.Stream is not in AutoCalc: the streams")


def test_a_name_is_not_iterable():
    lines = prints(
        """
        for use in (list, sum, lambda x: [*x], lambda x: 1 in x):
            try:
                use(torch.fx.Graph)
            except NotImplementedError as error:
                print(str(error)[:38])
        """
    )
    assert lines == ["torch.fx.Graph is not in AutoCalc: not"] * 4


def test_errors_of_devices_can_be_caught():
    assert prints(
        """
        try:
            raise RuntimeError("memory")
        except torch.OutOfMemoryError:
            print("other")
        except RuntimeError:
            print("runtime")
        """
    ) == ["runtime"]


def test_decorators_return_the_function():
    assert prints(
        """
        @torch.jit.script
        def a(x): return x + 1

        @torch.jit.ignore
        def b(x): return x + 2

        @torch.jit.unused
        def c(x): return x + 3

        @torch.compiler.disable(recursive=False)
        def d(x): return x + 4

        @torch.fx.wrap
        def e(x): return x + 5

        print([f(0) for f in (a, b, c, d, e)])
        model = torch.nn.Linear(1, 1)
        assert torch.jit.script(model) is model
        assert torch.jit.trace(model, torch.ones(2, 1)) is model
        print(torch.jit.is_scripting(), torch.compiler.is_compiling())
        class M(torch.nn.Module):
            size: torch.jit.Final[int]
        """
    ) == ["[1, 2, 3, 4, 5]", "False False"]


def test_dtypes_are_values():
    lines = prints(
        """
        import copy, pickle
        for name in ("complex32", "float8_e4m3fn", "quint8", "qint8"):
            dtype = getattr(torch, name)
            assert isinstance(dtype, torch.dtype) and dtype is getattr(torch, name)
            assert dtype != torch.float32 and {dtype: 1}[dtype] == 1
            assert pickle.loads(pickle.dumps(dtype)) is dtype
            print(name, dtype.is_complex, dtype.is_floating_point, dtype.itemsize)
        print(torch.finfo(torch.float8_e4m3fn).max, torch.iinfo(torch.quint8).max)
        print(torch.finfo(torch.complex32).eps == torch.finfo(torch.float16).eps)
        for call in (
            lambda: torch.zeros(2, dtype=torch.quint8),
            lambda: torch.ones(2).to(torch.complex32),
            lambda: torch.ones(2).to(dtype=torch.float8_e5m2),
        ):
            try:
                call()
            except TypeError as error:
                print(error)
        """
    )
    assert lines[:4] == [
        "complex32 True False 4",
        "float8_e4m3fn False True 1",
        "quint8 False False 1",
        "qint8 False False 1",
    ]
    assert lines[4:6] == ["448.0 255", "True"]
    assert all(
        "is not supported: no kernel computes with it" in line for line in lines[6:]
    )
    assert len(lines) == 9


def test_devices_are_values():
    lines = prints(
        """
        assert torch.device("cuda", 1) != torch.device("cpu")
        print(torch.device("cuda:1"), torch.device("meta"), torch.xpu.is_available())
        with torch.device("meta"):
            print(torch.nn.Linear(2, 2).weight.shape)
        for call in (
            lambda: torch.ones(2).to("mps"),
            lambda: torch.zeros(2, device=torch.device("mps")),
            lambda: torch.nn.Linear(2, 2).to(torch.device("xpu")),
        ):
            try:
                call()
            except ValueError as error:
                print(error)
        """
    )
    assert lines[0] == "cuda:1 meta False"
    assert all("is not available; available are:" in line for line in lines[2:])
    assert len(lines) == 5


def test_operators_of_programs():
    assert prints(
        """
        @torch.library.custom_op("mine::double", mutates_args=())
        def double(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @double.register_fake
        def _(x):
            return torch.empty_like(x)

        def backward(ctx, g):
            return g * ctx.factor

        def setup(ctx, inputs, output):
            ctx.factor = 2 + inputs[0].numel()

        print(torch.ops.mine.double(torch.ones(2)).tolist())
        try:
            torch.ops.mine.triple
        except AttributeError as error:
            print(error)
        try:
            torch.ops.load_library("x.so")
        except OSError as error:
            print(error)
        """
    ) == [
        "[2.0, 2.0]",
        "there is no operator mine::triple",
        "torch.ops.load_library: x.so is compiled for PyTorch.",
    ]


def test_processes_are_started_and_joined(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import autocalc.torch
            autocalc.torch.install()
            import torch
            import torch.multiprocessing as mp

            def work(rank, folder):
                total = torch.ones(rank + 1).sum().item()
                open(f"{folder}/{rank}", "w").write(str(total))

            def fail(rank):
                if rank == 1:
                    raise ValueError("rank one")

            if __name__ == "__main__":
                import sys
                mp.spawn(work, (sys.argv[1],), nprocs=2)
                try:
                    mp.spawn(fail, nprocs=2)
                except mp.ProcessRaisedException as error:
                    print("ValueError: rank one" in str(error), error.error_index)
            """
        ),
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, program, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.stdout == "True 1\n", done.stderr
    assert [(tmp_path / str(i)).read_text() for i in range(2)] == ["1.0", "2.0"]


def test_checks_that_libraries_call():
    lines = prints(
        """
        import torch._tensor_str

        def says(function, *args):
            try:
                function(*args)
            except Exception as error:
                bases = (TypeError, IndexError, RuntimeError)
                kind = next(one.__name__ for one in bases if isinstance(error, one))
                print(kind, str(error)[:40])
            else:
                print("passes")

        says(torch._check, True)
        says(torch._check, False, lambda: "too small")
        says(torch._check, torch.tensor(True))
        says(torch._check, False, "too small")
        says(torch._check_index, False, lambda: "out of range")
        says(torch._check_is_size, -1)
        says(torch._check_is_size, 3)
        says(torch._check_tensor_all, torch.tensor([True, False]))
        says(torch._check_tensor_all, True)
        says(torch._assert_async, torch.tensor(0), "is zero")
        says(torch._assert_async, torch.tensor(2))
        print(torch._shape_as_tensor(torch.ones(2, 3)))
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y, g = x.softmax(0), torch.tensor([1.0, 0.0, 0.0])
        y.backward(g)
        found = torch._softmax_backward_data(g, y.detach(), 0, torch.float32)
        print(torch.allclose(found, x.grad))
        with torch._tensor_str.printoptions(precision=2):
            print(torch.tensor(1.23456))
        print(torch.tensor(1.23456), torch.legacy_contiguous_format)
        print(torch.cuda.get_rng_state_all(), torch.cuda.default_generators)
        print(torch.backends.opt_einsum.is_available(), str(torch.float32))
        print(torch.ones(1).type(), torch.typename(torch.ones(1)), torch.ones(2).shape)
        """
    )
    assert lines == [
        "passes",
        "RuntimeError too small",
        "TypeError torch._check: `cond` is a Tensor; it mus",
        "TypeError torch._check: `message` is a str; it mus",
        "IndexError out of range",
        "RuntimeError a condition does not hold",
        "passes",
        "RuntimeError a condition does not hold",
        "TypeError torch._check_tensor_all: cond must be a ",
        "RuntimeError is zero",
        "passes",
        "tensor([2, 3])",
        "True",
        "tensor(1.23)",
        "tensor(1.2346) torch.contiguous_format",
        "[] ()",
        "False torch.float32",
        "torch.FloatTensor torch.FloatTensor torch.Size([2])",
    ]


def test_products_of_bytes():
    lines = prints(
        """
        a = torch.tensor([[100, -128]], dtype=torch.int8)
        out = torch.empty(0, dtype=torch.int32)
        print(torch._int_mm(a, a.t(), out=out) is out, out.tolist(), out.dtype)
        try:
            torch._int_mm(a.int(), a.t())
        except TypeError as error:
            print(error)
        """
    )
    assert lines[0] == "True [[26384]] torch.int32"
    assert "takes int8, not int32" in lines[1]


def test_conversions_may_keep_or_replace_all_objects():
    lines = prints(
        """
        def kept(name, value, device):
            model = torch.nn.Linear(2, 2, device=device)
            weight = model.weight
            end = f"et_{name}_module_params_on_conversion"
            getattr(torch.__future__, f"s{end}")(value)
            assert getattr(torch.__future__, f"g{end}")() is value
            print(model.to_empty(device="cpu").weight is weight)
            getattr(torch.__future__, f"s{end}")(False)

        kept("swap", False, "meta")
        kept("swap", True, "meta")
        kept("overwrite", False, "cpu")
        kept("overwrite", True, "cpu")
        try:
            torch.__future__.set_swap_module_params_on_conversion(1)
        except ValueError as error:
            print(error)
        """
    )
    assert lines[:4] == ["False", "True", "True", "False"]
    assert lines[4].endswith("conversion: `value` is 1; it must be True or False.")


def test_the_byte_order_of_files_that_do_not_say_it():
    lines = prints(
        """
        from autocalc._io.torch_zip import ORDERS
        from torch.serialization import (
            LoadEndianness, get_default_load_endianness, set_default_load_endianness
        )

        assert get_default_load_endianness() is None
        for one in (LoadEndianness.BIG, LoadEndianness.LITTLE, LoadEndianness.NATIVE):
            set_default_load_endianness(one)
            assert get_default_load_endianness() is one
            print(ORDERS["no record"])
        set_default_load_endianness(None)
        try:
            set_default_load_endianness("big")
        except TypeError as error:
            print(error)
        """
    )
    native = "<" if sys.byteorder == "little" else ">"
    assert lines[:3] == [">", "<", native]
    assert "`endianness` is 'big'; it must be a member of torch" in lines[3]


def test_the_switch_for_filling_new_memory():
    lines = prints(
        """
        print(torch.utils.deterministic.fill_uninitialized_memory)
        torch.use_deterministic_algorithms(True)
        print(torch.empty(2).tolist())
        torch.utils.deterministic.fill_uninitialized_memory = False
        print(torch.utils.deterministic.fill_uninitialized_memory)
        try:
            torch.utils.deterministic.fill_uninitialized_memory = 2
        except ValueError as error:
            print(error)
        """
    )
    assert lines[:3] == ["True", "[nan, nan]", "False"]
    assert "`fill_uninitialized_memory` is 2; it must be True or False" in lines[3]


def test_storages_are_saved_and_loaded():
    lines = prints(
        """
        import io

        x = torch.arange(4.0)
        file = io.BytesIO()
        torch.save([x, x.storage(), x[2:]], file)
        file.seek(0)
        y, memory, part = torch.load(file)
        print(type(memory).__name__, memory.tolist(), memory.dtype)
        y[2] = 9
        print(memory[2], part.tolist())
        """
    )
    assert lines == [
        "TypedStorage [0.0, 1.0, 2.0, 3.0] torch.float32",
        "9.0 [9.0, 3.0]",
    ]
