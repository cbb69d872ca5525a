# SPDX-License-Identifier: MIT
"""The checks of what is released, on files that are made here."""

import io
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import wheel_checks  # noqa: E402

X86 = "autocalc_kernels_simd-0.1.0-cp312-cp312-manylinux_2_28_x86_64.whl"
LIBRARIES = [
    f"autocalc_kernels_simd/kernels_{isa}.so"
    for isa in ("amx", "avx2", "avx512", "avx512_bf16", "sse2")
]
INFO = "autocalc_kernels_simd-0.1.0.dist-info"


def wheel(folder, names, name=X86, readme="How to use it."):
    path = folder / name
    with zipfile.ZipFile(path, "w") as made:
        made.writestr(f"{INFO}/METADATA", f"Name: autocalc-kernels-simd\n\n{readme}")
        for one in names:
            made.writestr(one, "")
    return path


@pytest.mark.parametrize(
    ("tag", "held", "fault"),
    [
        ("cp312-cp312-manylinux_2_28_x86_64", True, ""),
        ("py3-none-any", False, ""),
        ("cp312-cp312-manylinux_2_28_x86_64", False, "it is for one platform, but"),
        ("py3-none-any", True, "it is for any platform, but holds an engine"),
    ],
)
def test_a_wheel_of_core_for_a_platform_holds_the_engine(tmp_path, tag, held, fault):
    names = ["autocalc/_native.cpython-312-x86_64-linux-gnu.so"] * held
    name = f"autocalc_core-0.1.0-{tag}.whl"
    found = wheel_checks.faults(
        wheel(tmp_path, [*names, f"{INFO}/licenses/LICENSE"], name)
    )
    assert [fault in one for one in found] == [True] * bool(fault)


def sdist(folder, files):
    path = folder / "autocalc_kernels_simd-0.1.0.tar.gz"
    with tarfile.open(path, "w:gz") as made:
        for name, text in files.items():
            member = tarfile.TarInfo(f"autocalc_kernels_simd-0.1.0/{name}")
            member.size = len(text)
            made.addfile(member, io.BytesIO(text.encode()))
    return path


def test_a_whole_wheel_has_no_fault(tmp_path):
    path = wheel(tmp_path, [*LIBRARIES, f"{INFO}/licenses/LICENSE"])
    assert wheel_checks.faults(path) == []


def test_what_a_wheel_lacks_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(wheel_checks, "MAX_BYTES", {"autocalc_kernels_simd": 100})
    path = wheel(tmp_path, LIBRARIES[2:], readme="\n")
    size, *others = wheel_checks.faults(path)
    assert size.endswith(" bytes are more than 100")
    assert others == [
        f"{X86}: the README is missing from its metadata",
        f"{X86}: the licence is missing",
        f"{X86}: kernels are missing for amx, avx2",
    ]


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux_x86_64", {"amx", "avx2", "avx512", "avx512_bf16", "sse2"}),
        ("manylinux_2_27_aarch64.manylinux_2_28_aarch64", {"neon"}),
        ("macosx_11_0_x86_64", {"avx2", "avx512", "avx512_bf16", "sse2"}),
        ("macosx_11_0_arm64", {"neon"}),
    ],
)
def test_each_platform_has_its_instruction_sets(platform, expected):
    name = f"autocalc_kernels_simd-0.1.0-cp312-cp312-{platform}.whl"
    assert wheel_checks.instruction_sets(name) == expected


def test_a_platform_without_kernels_is_an_error():
    with pytest.raises(ValueError, match="no instruction sets are known for win_amd64"):
        wheel_checks.instruction_sets("a-1-cp312-cp312-win_amd64.whl")


def test_what_an_sdist_lacks_is_named(tmp_path):
    path = sdist(tmp_path, {"PKG-INFO": "", "README.md": "", "pyproject.toml": ""})
    lacking = [fault.partition(": ")[2] for fault in wheel_checks.faults(path)]
    assert lacking == ["CHANGELOG.md is missing", "LICENSE is missing"]


def test_an_sdist_is_compared_with_the_files_it_is_built_from(tmp_path):
    package = tmp_path / "package"
    for name in ("csrc/a.cpp", "csrc/deep/b.hpp", "src/m/__pycache__/m.pyc"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(name)
    same = {"csrc/a.cpp": "csrc/a.cpp", "csrc/deep/b.hpp": "csrc/deep/b.hpp"}
    assert wheel_checks.differences(sdist(tmp_path, same), package) == []
    path = sdist(tmp_path, {"csrc/a.cpp": "another"})
    assert wheel_checks.differences(path, package) == [
        f"{path.name}: csrc/a.cpp is not the checkout's",
        f"{path.name}: csrc/deep/b.hpp is missing",
    ]
