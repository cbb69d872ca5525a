# SPDX-License-Identifier: MIT
"""Check what the library of an instruction set shows to others.

    python tools/exports.py kernels_avx2.so gemm.cpp.o ...

A library may export one function, ``autocalc_kernels_<isa>``, and need no C++ runtime;
neither it nor its object files may define a weak symbol.  A linker keeps one copy of an
inline function, of whichever instruction set, and hides that it did: object files still
show it.  Prints what is wrong, and ends with 1 if anything is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

#: Of ``nm``: W, w, V, v are weak, u is unique in the process.
WEAK = frozenset("WVu")
CPP_RUNTIME = ("_Z", "__gxx", "__cxa_t")


def nm_for(library: Path) -> str:
    """Return the `nm` to use: a cross compiler's, where there is one, for its code."""
    machine = library.read_bytes()[18:20]
    arm = machine == b"\xb7\x00" and shutil.which("aarch64-linux-gnu-nm")
    found = arm or shutil.which("nm")
    if not found:
        message = (
            "exports: no `nm` here; on Debian and Ubuntu: apt-get install binutils"
        )
        raise FileNotFoundError(message)
    return found


def symbols(library: Path, *options: str) -> list[tuple[str, str]]:
    """Return (kind, name) of each symbol that `nm` lists."""
    command = [nm_for(library), *options, str(library)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = (line.split()[-2:] for line in run.stdout.splitlines())
    return [(kind, name.partition("@")[0]) for kind, name in lines]


def faults(library: Path) -> list[str]:
    """Return what is wrong with a library or an object file, in words."""
    defined = symbols(library, "--defined-only")
    weak = [f"defines the weak symbol {name}" for kind, name in defined if kind in WEAK]
    found = weak if library.suffix == ".o" else weak + library_faults(library)
    return [f"{library.name} {fault}" for fault in found]


def library_faults(library: Path) -> list[str]:
    """Return what only a library can do wrong."""
    wanted = f"autocalc_kernels_{library.stem.removeprefix('kernels_')}"
    exported = symbols(library, "-D", "--defined-only")
    needed = [name for _, name in symbols(library, "-D", "--undefined-only")]
    found = []
    if ("T", wanted) not in exported:
        found.append(f"does not export the function {wanted}")
    found += [f"exports {name}" for _, name in exported if name != wanted]
    found += [f"needs {name} of C++" for name in needed if name.startswith(CPP_RUNTIME)]
    return found


def main(paths: list[str]) -> int:
    """Check each library."""
    if not paths:
        print(__doc__)
        return 2
    found = [fault for path in paths for fault in faults(Path(path))]
    print("\n".join(found) or f"{len(paths)} files: one function is exported")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
