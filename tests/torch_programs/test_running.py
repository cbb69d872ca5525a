# SPDX-License-Identifier: MIT
"""Programs of PyTorch that run as they are, each in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.core


def run(*arguments, **settings):
    return subprocess.run(
        [sys.executable, "-m", "autocalc.torch", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **settings,
    )


@pytest.fixture
def program(tmp_path):
    """Return a function that writes a program, runs it, and returns what it prints."""

    def run_program(text, *options, arguments=()):
        file = tmp_path / "program.py"
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        done = run(*options, file, *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done

    return run_program


def test_import_torch_means_autocalc(program):
    done = program(
        """
        import torch
        import torch.nn.functional as F
        import torch.utils.data
        from torch import nn
        from torch.optim.lr_scheduler import StepLR
        import autocalc

        assert torch.nn is nn is autocalc.nn
        assert F is autocalc.nn.functional
        assert torch.torch is torch
        assert torch.Tensor is autocalc.Tensor
        assert torch.utils.data.DataLoader is autocalc.data.DataLoader
        assert autocalc.nn.__spec__.name == "autocalc.nn"
        model = nn.Linear(2, 1)
        model(torch.ones(3, 2)).sum().backward()
        print(model.weight.grad.tolist(), __name__)
        """
    )
    assert done.stdout == "[[3.0, 3.0]] __main__\n"


def test_libraries_are_told_a_version(program):
    done = program(
        """
        import importlib.metadata, importlib.util

        print(importlib.metadata.version("torch"))
        print(importlib.util.find_spec("torch").name)
        import torch

        print(torch.__version__, torch.version.__version__, torch.version.cuda)
        import autocalc

        assert autocalc.__version__ != torch.__version__
        """
    )
    assert done.stdout.split() == ["2.13.0", "torch", "2.13.0", "2.13.0", "None"]


def test_other_processes_find_the_same(program):
    done = program(
        """
        import subprocess, sys

        code = (
            "import torch, importlib.metadata as m;"
            "print(torch.__name__, m.version('torch'), torch.ones(2).sum().item())"
        )
        print(subprocess.check_output([sys.executable, "-c", code], text=True))
        """
    )
    assert done.stdout.split() == ["torch", "2.13.0", "2.0"]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_loader_find_the_same(program, method):
    done = program(
        f"""
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Squares(Dataset[int]):
            def __len__(self):
                return 4

            def __getitem__(self, i):
                import torch
                return torch.tensor(i * i)

        if __name__ == "__main__":
            loader = DataLoader(
                Squares(),
                batch_size=2,
                num_workers=2,
                multiprocessing_context={method!r},
            )
            print([batch.tolist() for batch in loader])
        """
    )
    assert done.stdout == "[[0, 1], [4, 9]]\n"


def test_arguments_belong_to_the_program(program):
    done = program(
        """
        import sys

        print(sys.argv[1:], sys.argv[0].endswith("program.py"))
        """,
        arguments=["--report", "-m", "x"],
    )
    assert done.stdout == "['--report', '-m', 'x'] True\n"


def test_files_next_to_a_program_are_its_modules(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "helper.py").write_text("value = 3\n", encoding="utf-8")
    program = folder / "program.py"
    program.write_text("import helper\nprint(helper.value)\n", encoding="utf-8")
    assert run(program, cwd=tmp_path).stdout == "3\n"


def test_a_module_runs_as_main(tmp_path):
    text = "import sys, torch\nprint(__name__, torch.zeros(1).item(), sys.argv[1:])\n"
    (tmp_path / "trainer.py").write_text(text, encoding="utf-8")
    done = run("-m", "trainer", "--fast", cwd=tmp_path)
    assert done.stdout == "__main__ 0.0 ['--fast']\n", done.stderr


def test_the_exit_of_a_program_is_ours(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import sys, torch\nsys.exit(7)\n", encoding="utf-8")
    assert run(program).returncode == 7


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "no program is named"),
        (("-m",), "no program is named"),
        (("--fast", "x.py"), "--fast is no option"),
        (("absent.py",), "there is no file 'absent.py'"),
    ],
)
def test_a_wrong_command_line_is_explained(arguments, text):
    done = run(*arguments)
    assert done.returncode == 2
    assert text in done.stderr
    assert "usage: python -m autocalc.torch" in done.stderr


def test_help_teaches():
    done = run("--help")
    assert done.returncode == 0
    for text in (
        "train.py --epochs 3",
        "-m pytest",
        "--report",
        "--no-deps",
        "install()",
    ):
        assert text in done.stdout


def test_pytorch_on_the_disk_is_not_looked_at(tmp_path):
    package = tmp_path / "site" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemError\n", encoding="utf-8")
    program = tmp_path / "program.py"
    text = f"import sys\nsys.path.insert(1, {str(package.parent)!r})\n"
    text += "import torch, torch.nn\nprint(torch.ones(1).item())\n"
    program.write_text(text, encoding="utf-8")
    done = run(program)
    assert done.stdout == "1.0\n", done.stderr


def test_install_comes_before_pytorch(tmp_path):
    (tmp_path / "torch.py").write_text("", encoding="utf-8")
    text = "import torch, autocalc.torch\nautocalc.torch.install()\n"
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "autocalc.torch.install: PyTorch has already been" in done.stderr
    assert "Call install() before the first `import torch`" in done.stderr


def test_install_in_a_first_line(tmp_path):
    text = """
        import autocalc.torch
        autocalc.torch.install()
        autocalc.torch.install()
        import torch
        print(torch.full((2,), 3).tolist(), autocalc.torch.ones(1).item())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "[3, 3] 1.0\n", done.stderr


def test_the_plugin_of_pytest(tmp_path):
    text = (
        "import torch\n\n\ndef test_it():\n    assert torch.__version__ == '2.13.0'\n"
    )
    (tmp_path / "test_program.py").write_text(text, encoding="utf-8")
    plugin = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "autocalc.torch.pytest",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [sys.executable, *plugin, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "1 passed" in done.stdout, done.stdout


def test_a_report_has_each_name_and_its_line(program, tmp_path):
    text = """
        import torch
        from torch.fx import Tracer

        hasattr(torch, "npu")
        torch.ones(1).to_mkldnn if hasattr(torch.ones(1), "to_mkldnn") else None
        try:
            Tracer()
        except NotImplementedError:
            pass
    """
    done = program(text, "--report")
    assert re.search(r"4 names were asked for that are not there", done.stderr)
    for name, line in {
        "torch.npu": 5,
        "torch.fx.Tracer": 3,
        "torch.Tensor.to_mkldnn": 6,
        r"torch.fx.Tracer \(used\)": 8,
    }.items():
        assert re.search(
            rf"^{name}\n    .*program.py:{line}$", done.stderr, re.MULTILINE
        )
    program(text, f"--report={tmp_path}/names.txt")
    assert "torch.npu" in (tmp_path / "names.txt").read_text(encoding="utf-8")
    assert "npu" not in program(text).stderr


def test_any_object_can_be_saved(program, tmp_path):
    done = program(
        """
        import argparse, io, torch

        args = argparse.Namespace(lr=0.1, start=torch.ones(2))
        torch.save(args, "args.bin")
        try:
            torch.load("args.bin")
        except RuntimeError as error:
            print(error)
        print(torch.load("args.bin", weights_only=False).start.tolist())
        file = io.BytesIO()
        torch.save({"args": args}, file)
        file.seek(0)
        print(torch.load(file, weights_only=False)["args"].lr)
        torch.save({"x": torch.ones(1)}, "x.pt")
        print(torch.load("x.pt")["x"].item())
        """
    )
    lines = done.stdout.splitlines()
    text = r"load: the file contains argparse\.Namespace, whose creation may run"
    assert re.match(text, lines[0])
    assert lines[1:] == ["[1.0, 1.0]", "0.1", "1.0"]
