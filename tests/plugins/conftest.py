# SPDX-License-Identifier: MIT
"""Fixtures: kernel packages installed for real, seen by a fresh process."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGES = {
    "primitives-only": HERE / "primitives_only",
    "example": HERE.parents[1] / "docs" / "examples" / "autocalc-kernels-example",
    **{p.parent.name: p.parent for p in HERE.glob("faulty/*/pyproject.toml")},
}


def run(*command, path=(), cwd=None, **environment):
    """Run a command with folders on Python's path; return the finished process."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("AUTOCALC_")}
    folders = [*map(str, path), *filter(None, [inherited.get("PYTHONPATH")])]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=600,
        cwd=cwd,
        check=False,
        env={**inherited, "PYTHONPATH": os.pathsep.join(folders), **environment},
    )


@pytest.fixture(scope="session")
def install(tmp_path_factory):
    """Install packages of `PACKAGES` into a folder, once for each choice."""
    done = {}

    def install(*names):
        if names not in done:
            backend = "scikit_build_core" if "example" in names else "hatchling"
            if importlib.util.find_spec(backend) is None:
                pytest.skip(f"{backend} is not installed: nothing can be built here")
            done[names] = tmp_path_factory.mktemp("installed")
            finished = run(
                *(sys.executable, "-m", "pip", "install", "--quiet"),
                *("--disable-pip-version-check", "--no-index"),
                *("--no-deps", "--no-build-isolation"),
                *("--target", done[names], *(PACKAGES[name] for name in names)),
            )
            assert finished.returncode == 0, finished.stdout + finished.stderr
        return done[names]

    return install


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Where the self-tests of this session's packages are recorded."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def python(tmp_path, cache):
    """Run a program that sees an installed folder; return what it printed last."""

    def python(program, *folders, **environment):
        environment.setdefault("AUTOCALC_CACHE_DIR", str(cache))
        finished = run(
            *(sys.executable, "-c", program), path=folders, cwd=tmp_path, **environment
        )
        assert finished.returncode == 0, finished.stderr
        return json.loads(finished.stdout.splitlines()[-1])

    return python


@pytest.fixture
def conformance(tmp_path):
    """Run the conformance command over a set of an installed folder."""

    def conformance(name, folder, *options):
        return run(
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("--pyargs", "autocalc.testing.conformance", "--kernels", name),
            *options,
            path=[folder],
            cwd=tmp_path,
        )

    return conformance
