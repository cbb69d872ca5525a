# SPDX-License-Identifier: MIT
"""Kernels in CUDA C++, compiled on first use by NVRTC, CUDA's own compiler.

A source is a file of the folder `cuda`.  Its ``#include "name.cuh"`` are put in place
here, not by the compiler: CuPy keeps compiled code in files under the hash of the text
that it is given, so a changed header is a changed text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from typing import Any

#: No --use_fast_math: it would give up the error budgets of every kernel.
OPTIONS = ("-std=c++17",)

_INCLUDE = re.compile(r'^#include "([\w.]+)"[^\n]*$', re.MULTILINE)


@lru_cache(None)
def kernel(source_file: str, name_expression: str) -> Any:
    """Return a kernel of a source file: ``kernel(grid, block, arguments)``.

    `name_expression` names it as C++ would, a template with its arguments:
    ``"fill<float>"``.  The first call for a name compiles it; later ones find it.
    """
    import cupy

    module = cupy.RawModule(
        code=source(source_file), options=OPTIONS, name_expressions=[name_expression]
    )
    return module.get_function(name_expression)


@lru_cache(None)
def source(source_file: str) -> str:
    """Return the text of a file of the folder `cuda`, its headers put in, each once."""
    return _with_headers(source_file, set())


def _with_headers(source_file: str, seen: set[str]) -> str:
    seen.add(source_file)
    folder = resources.files("autocalc_kernels_cuda").joinpath("cuda")
    text = folder.joinpath(source_file).read_text("utf-8")

    def header(match: re.Match[str]) -> str:
        name = match.group(1)
        return "" if name in seen else _with_headers(name, seen)

    return _INCLUDE.sub(header, text)
