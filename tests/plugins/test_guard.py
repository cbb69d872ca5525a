# SPDX-License-Identifier: MIT
"""Kernel packages that would end the process, or spoil it: each is kept out of it.

They are real packages, with an entry point each, in a folder on Python's path.
"""

from __future__ import annotations

import json
import platform
import re
import sys

import pytest
from tests.plugins.conftest import run

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(sys.platform == "win32", reason="faults made by POSIX calls"),
]

#: Machine code of x86-64: no instruction, and one that flushes subnormals to zero.
ILLEGAL = "0f0b"
FLUSH = "50 0fae1c24 810c2440800000 0fae1424 58 c3"
HAS_CODE = platform.machine() == "x86_64"

HEAD = """
import ctypes, mmap, os, time
import numpy as np
from autocalc.plugin import KERNEL_API_VERSION, KernelSet, hookimpl


def run_code(text):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex(text))
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    ctypes.CFUNCTYPE(None)(address)()


def right(out, a):
    np.maximum(a, 0, out=out)
"""

TAIL = """

@hookimpl
def autocalc_kernel_sets():
    return [KernelSet(NAME, family=NAME, api=KERNEL_API_VERSION, rank=900, load=load)]
"""

RELU = """
def relu(out, a):
    {fault}
    right(out, a)

def load():
    return {{"relu": relu}}
"""

#: Set -> its code, and what must be said of it.
FAULTS = {
    "aborts": (RELU.format(fault="os.abort()"), r"it aborted its process \(SIGABRT\) "),
    "segfaults": (
        RELU.format(fault="ctypes.string_at(0)"),
        r"it touched memory that is not there \(SIG",
    ),
    "loops": (RELU.format(fault="while True: pass"), "it did not end within 2 s "),
    "hangs-in-c": (
        RELU.format(fault="ctypes.PyDLL(None).pause()"),
        "it did not end within 2 s ",
    ),
    "illegal": (
        RELU.format(fault=f"run_code('{ILLEGAL}')"),
        r"it ran an instruction that this CPU does not have \(SIGILL\) ",
    ),
    "flushes": (
        RELU.format(fault=f"run_code('{FLUSH}')"),
        "it changed the floating-point state in .*subnormal results become zero",
    ),
    "strays": (
        RELU.format(fault="ctypes.memset(out.ctypes.data + out.nbytes, 0, 1)"),
        "it wrote outside of its outputs in .*: the kernel wrote outside its operands",
    ),
    "exits": (
        RELU.format(fault="os._exit(3)"),
        "it ended its process with exit code 3 ",
    ),
    "exits-at-import": (
        "os._exit(0)\n",
        "it ended its process with exit code 0 while its module was imported",
    ),
    "crashes-at-import": (
        "ctypes.string_at(0)\n",
        r"it touched memory that is not there \(SIG.*while its module was imported",
    ),
    "hangs-at-import": (
        "ctypes.PyDLL(None).pause()\n",
        "it did not end within 2 s while its module was imported",
    ),
    "interrupts-at-import": (
        "raise KeyboardInterrupt\n",
        "it raised KeyboardInterrupt while it was imported",
    ),
    "raises-at-import": (
        "class Stop(BaseException): pass\nraise Stop\n",
        "it raised Stop while it was imported",
    ),
    "flushes-at-import": (
        f"run_code('{FLUSH}')\n" + RELU.format(fault="pass"),
        "it changed the floating-point state when it was imported: subnormal results",
    ),
    "crashes-in-hook": (
        "load = property(lambda self: 0)\ndef KernelSet(*a, **k):\n    os.abort()\n",
        r"it aborted its process \(SIGABRT\) while its hook ran",
    ),
    "crashes-at-load": (
        "def load():\n    os.abort()\n",
        r"it aborted its process \(SIGABRT\) while its load\(\) ran",
    ),
}

USE = """
import json, warnings
from autocalc._dispatch.plugins import trial as _trial
_trial.LIMIT = 2.0
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import autocalc as ac
    result = ac.tensor([-1.0, 0.0, 3.0]).relu().tolist()
    tiny = (ac.tensor([1e-38]) * 0.1).item()
    report = ac.kernels.show()
print(json.dumps({
    "result": result,
    "tiny": tiny,
    "refusals": {r.subject: [r.reason, r.traceback] for r in report.refusals},
    "warnings": [str(w.message) for w in caught],
    "sets": {s.name: s.info for s in report.sets},
}))
"""


def write_package(folder, name, code):
    """Write a package as pip would install it."""
    module = name.replace("-", "_")
    path = folder / f"{module}.py"
    path.write_text(f"NAME = {name!r}\n{HEAD}{code}{TAIL}")
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir(exist_ok=True)
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    (metadata / "METADATA").write_text(about)
    points = f"[autocalc.kernels]\n{name} = {module}\n"
    (metadata / "entry_points.txt").write_text(points)
    return path


@pytest.fixture
def use(tmp_path):
    """Use relu in a fresh process; return what it saw, and what it wrote to stderr."""

    def use(*folders, program=USE, **environment):
        environment.setdefault("AUTOCALC_CACHE_DIR", str(tmp_path / "cache"))
        environment.setdefault("AUTOCALC_EAGER", "python")
        done = run(sys.executable, "-c", program, path=folders, **environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1]), done.stderr

    return use


def quarantined(reason):
    return f"quarantined by its self-test: {reason}"


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """All packages at fault, and what the first process saw that used them."""
    folder = tmp_path_factory.mktemp("faulty")
    chosen = {
        name: reason
        for name, (code, reason) in FAULTS.items()
        if HAS_CODE or "run_code" not in code
    }
    for name in chosen:
        write_package(folder, name, FAULTS[name][0])
    cache = str(folder / "cache")
    done = run(sys.executable, "-c", USE, path=[folder], AUTOCALC_CACHE_DIR=cache)
    assert done.returncode == 0, done.stderr
    return folder, chosen, json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.mark.parametrize("name", FAULTS)
def test_the_process_lives_and_the_reason_is_known(faulty, name):
    _, chosen, seen, _ = faulty
    if name not in chosen:
        pytest.skip("no machine code for this CPU")
    reason, _ = seen["refusals"][name]
    assert re.match(quarantined(chosen[name]), reason), reason
    assert f"`autocalc kernels --forget {name}` lifts this" in reason
    elsewhere = "load()", "wrote", "import", "hook"
    if not any(word in reason for word in elsewhere):
        assert "relu (float" in reason
    about = [w for w in seen["warnings"] if f"kernels: {name} ({name} 1.0)" in w]
    assert len(about) == 1
    assert name not in seen["sets"]


def test_results_are_right_in_spite_of_all_of_them(faulty):
    _, _, seen, said = faulty
    assert seen["result"] == [0.0, 0.0, 3.0]
    assert seen["tiny"] == pytest.approx(1e-39, rel=1e-5)
    assert "testing the kernel set hangs-in-c of hangs-in-c 1.0 in a process of" in said


def test_the_childs_last_words_are_kept(faulty):
    _, _, seen, _ = faulty
    assert "Fatal Python error: Aborted" in seen["refusals"]["aborts"][1]


def test_the_command_says_it_without_another_test(faulty):
    folder, chosen, _, _ = faulty
    command = (sys.executable, "-m", "autocalc", "kernels")
    cache = str(folder / "cache")
    done = run(*command, path=[folder], AUTOCALC_CACHE_DIR=cache)
    assert done.returncode == 0, done.stderr
    for name in chosen:
        assert f"{name}  " in done.stdout
        assert f"autocalc kernels --forget {name}" in done.stdout
    assert "testing the kernel set" not in done.stderr


# ---- records -------------------------------------------------------------------------

GOOD = RELU.format(fault="pass")
COUNT = USE.replace(
    "import json, warnings\n",
    "import json, warnings\nfrom autocalc._dispatch.plugins import trial as _trial\n"
    "plain, tests = _trial.run_trial, []\n"
    "def counted(*args):\n    tests.append(args)\n    return plain(*args)\n"
    "_trial.run_trial = counted\n",
).replace('"tiny": tiny,', '"tiny": tests,')


def trials(seen):
    return [name for name, _, task in seen[0]["tiny"] if task == "set"]


def imports(seen):
    return [name for name, _, task in seen[0]["tiny"] if task == "import"]


def test_a_good_set_is_tested_once(tmp_path, use):
    write_package(tmp_path, "good", GOOD)
    first = use(tmp_path, program=COUNT)
    assert trials(first) == imports(first) == ["good"]
    assert first[0]["sets"]["good"]["self-test"].startswith("passed: ")
    assert not [name for name in first[0]["refusals"] if "good" in name]
    assert use(tmp_path, program=COUNT)[0]["tiny"] == []


def test_an_import_at_fault_is_tested_once_until_it_is_mended(tmp_path, use):
    path = write_package(tmp_path, "mended", "os._exit(3)\n" + GOOD)
    match = quarantined("it ended its process with exit code 3 while its module was im")
    for tests in (["mended"], []):
        seen = use(tmp_path, program=COUNT)
        assert imports(seen) == tests
        assert re.match(match, seen[0]["refusals"]["mended"][0])
        assert seen[0]["result"] == [0.0, 0.0, 3.0]
    path.write_text(path.read_text().replace("os._exit(3)", ""))
    seen = use(tmp_path, program=COUNT)
    assert imports(seen) == trials(seen) == ["mended"]
    assert "mended" in seen[0]["sets"]


def test_a_fault_is_forgotten_by_the_command(tmp_path, use):
    write_package(tmp_path, "forgotten", "os._exit(3)\n")
    use(tmp_path, program=COUNT)
    command = (sys.executable, "-m", "autocalc", "kernels", "--forget", "forgotten")
    cache = str(tmp_path / "cache")
    assert run(*command, path=[tmp_path], AUTOCALC_CACHE_DIR=cache).returncode == 0
    assert imports(use(tmp_path, program=COUNT)) == ["forgotten"]


@pytest.mark.parametrize("fault", ["", "os._exit(3)\n"])
def test_where_the_cache_cannot_be_written(tmp_path, use, fault):
    write_package(tmp_path, "uncached", fault + GOOD)
    (tmp_path / "file").write_text("")  # no folder can be in it, not even root's
    seen, said = use(tmp_path, AUTOCALC_CACHE_DIR=str(tmp_path / "file"))
    assert seen["result"] == [0.0, 0.0, 3.0]
    assert "the self-test of uncached cannot be recorded" in said
    assert ("uncached" in seen["sets"]) == (not fault)


def test_importing_autocalc_imports_and_tests_no_plugin(tmp_path, use):
    write_package(tmp_path, "late", "os._exit(3)\n" + GOOD)
    program = "import sys, json, autocalc\nprint(json.dumps('late' in sys.modules))"
    assert use(tmp_path, program=program)[0] is False
    assert not (tmp_path / "cache").exists()


def test_one_package_does_not_spoil_the_test_of_another(tmp_path, use):
    """Each child looks at one package, whatever the others do."""
    write_package(tmp_path, "a-bad", "os._exit(3)\n")
    write_package(tmp_path, "b-good", GOOD)
    write_package(tmp_path, "c-bad", "ctypes.string_at(0)\n")
    seen, _ = use(tmp_path)
    assert sorted(n for n in seen["refusals"] if n[1:2] == "-") == ["a-bad", "c-bad"]
    assert seen["sets"]["b-good"]["self-test"].startswith("passed: ")


def test_a_module_that_computes_when_it_is_imported(tmp_path, use):
    """Its import asks for the kernels, and so for itself."""
    code = "import autocalc\nautocalc.ones(2).relu()\n" + GOOD
    write_package(tmp_path, "computes", code)
    seen, _ = use(tmp_path)
    assert seen["result"] == [0.0, 0.0, 3.0]


def test_the_guard_can_be_switched_off(tmp_path, use):
    write_package(tmp_path, "trusted", GOOD)
    seen = use(tmp_path, program=COUNT, AUTOCALC_GUARD="off")
    assert seen[0]["tiny"] == []
    assert "trusted" in seen[0]["sets"]


# ---- verdicts that are milder --------------------------------------------------------


def test_a_wrong_kernel_alone_is_left_out(tmp_path, use):
    code = """
def gelu_backward(out, g, a, approximate):
    from autocalc._kernels._plugin import load
    load()["gelu_backward"](out, g, a, approximate)
    out *= 1.001

def tanh(out, a):
    raise ValueError("not today")

def load():
    return {"relu": right, "gelu_backward": gelu_backward, "tanh": tanh}
"""
    write_package(tmp_path, "mixed", code)
    seen, _ = use(tmp_path)
    gelu, _ = seen["refusals"]["mixed: gelu_backward"]
    assert gelu.startswith("wrong in the set's self-test: gelu_backward (float")
    assert "ULP" in gelu
    assert "it raised ValueError: not today" in seen["refusals"]["mixed: tanh"][0]
    assert "2 of them left out" in seen["sets"]["mixed"]["self-test"]


def test_a_set_that_cannot_be_loaded_says_so_itself(tmp_path, use):
    code = """
from autocalc.errors import PluginError

def load():
    raise PluginError("there is no library here")
"""
    write_package(tmp_path, "lacking", code)
    seen = use(tmp_path, program=COUNT)
    assert trials(seen) == ["lacking"]
    assert seen[0]["refusals"]["lacking"][0] == "there is no library here"
    assert seen[0]["warnings"] == []
