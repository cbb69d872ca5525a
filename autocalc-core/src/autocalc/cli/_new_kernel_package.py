# SPDX-License-Identifier: MIT
"""``autocalc new-kernel-package``."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import click

from autocalc._dispatch.plugins.discovery import registry
from autocalc._dispatch.plugins.trust import is_own
from autocalc._kernels.kernel_set import KERNEL_API_VERSION
from autocalc._version import __version__
from autocalc.cli._common import check_folder

PREFIX = "autocalc-kernels-"
_IN_PYTHON = (
    "They are in `src/@MODULE@/_kernels.py` and are listed in\n"
    "`src/@MODULE@/_plugin.py`"
)
#: The text of the README for each kind: its language, its requirements, and where to
#: begin.
KINDS = {
    "python": ("two kernels in NumPy", "Nothing else is needed.", _IN_PYTHON),
    "numba": ("two kernels compiled by Numba", "Numba comes with it.", _IN_PYTHON),
    "c": (
        "two kernels in C",
        "It takes a C compiler, and the headers of Python and of AutoCalc here.",
        "They are in `csrc/kernels.c`, with the table of them at its end",
    ),
}
_INSTALL = ('pip install ".[test]"',)
#: The commands that install a package of each kind, run in its folder.
INSTALL = {
    "python": _INSTALL,
    "numba": _INSTALL,
    "c": (
        "pip install scikit-build-core cmake ninja",
        'pip install --no-build-isolation ".[test]"',
    ),
}
#: A project name that package metadata permit; folder names need a limit, too.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")


@click.command("new-kernel-package")
@click.argument("name")
@click.option(
    "--python", "kind", flag_value="python", help="Write kernels in NumPy.  [default]"
)
@click.option(
    "--numba", "kind", flag_value="numba", help="Write kernels that Numba compiles."
)
@click.option("--c", "kind", flag_value="c", help="Write kernels in C, built by CMake.")
@click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder to create.  [default: autocalc-kernels-NAME]",
)
def new_kernel_package_command(
    name: str, kind: str | None, folder: Path | None
) -> None:
    """Create a kernel package of your own as a starting point.

    The package has two working kernels, a test that checks them with the conformance
    kit, and a README with the commands to install, test and measure them.  NAME is the
    name of the kernel set; the name of the package is autocalc-kernels-NAME.  An
    existing folder is never changed.

    \b
    Examples:
      autocalc new-kernel-package fast
      autocalc new-kernel-package fast --c --folder ~/fast-kernels
    """
    name = _set_name(name)
    folder = folder or Path(PREFIX + name)
    check_folder("--folder", folder)
    kind = kind or "python"
    _write(folder, _package(kind, name))
    click.echo(f"{folder}: the kernel set {name}, {KINDS[kind][0]}.")
    click.echo(f"Next, the commands of {folder / 'README.md'}:")
    for command in (f"cd {shlex.quote(str(folder))}", *_commands(kind, name)):
        click.echo(f"  {command}")


def _commands(kind: str, name: str) -> tuple[str, ...]:
    """Return the commands that install, test and measure a package."""
    return (
        *INSTALL[kind],
        f"pytest --pyargs autocalc.testing.conformance --kernels {name}",
        f"autocalc bench kernels --kernels {name}",
    )


def _set_name(given: str) -> str:
    """Return the name of the set in normal form; raise if it is invalid."""
    name = re.sub(r"[-_.]+", "-", given).lower().removeprefix(PREFIX)
    if _NAME.fullmatch(given) is None or not name:
        raise click.BadParameter(
            f"{given!r} is not a valid name of a package; use up to 64 ASCII letters "
            "and digits, with '-', '_' or '.' between them.",
            param_hint="NAME",
        )
    found = registry()
    if name in found.known or is_own(PREFIX + name):
        raise click.BadParameter(
            f"{name!r} is already the name of a kernel set or family; choose another "
            f"name (in use: {', '.join(sorted(found.known))}).",
            param_hint="NAME",
        )
    return name


def _package(kind: str, name: str) -> dict[str, str]:
    """Return the files of a package, by their path in its folder."""
    written, needs, kernels = KINDS[kind]
    module = (PREFIX + name).replace("-", "_")
    words = {
        "@KERNELS@": kernels,
        "@COMMANDS@": "\n".join(_commands(kind, name)),
        "@WRITTEN@": written,
        "@NEEDS@": needs,
        "@VERSION@": __version__,
        "@API@": str(KERNEL_API_VERSION),
        "@DISTRIBUTION@": PREFIX + name,
        "@SET@": name,
        "@MODULE@": module,
    }
    root = Path(__file__).parent / "_kernel_package"
    found = [*_templates(root / "common"), *_templates(root / kind)]
    return {
        path.replace("MODULE", module): _filled(text, words) for path, text in found
    }


def _templates(folder: Path, within: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path, without ``.in``, and the text of each template in a folder."""
    for entry in folder.iterdir():
        path = f"{within}{entry.name}"
        if entry.is_dir():
            yield from _templates(entry, f"{path}/")
        elif path.endswith(".in"):
            yield path.removesuffix(".in"), entry.read_text(encoding="utf-8")


def _filled(text: str, words: dict[str, str]) -> str:
    for placeholder, word in words.items():
        text = text.replace(placeholder, word)
    return text


def _write(folder: Path, texts: dict[str, str]) -> None:
    """Write a package into a new folder: either all of it or nothing."""
    if os.path.lexists(folder):
        raise click.ClickException(
            f"{folder} already exists and was not changed; name another folder with "
            "--folder, or remove it first."
        )
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        for name, text in texts.items():
            path = part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        part.rename(folder)
    except OSError as error:
        raise click.ClickException(
            f"{folder} cannot be written: {error.strerror or error}; nothing of it was "
            "kept. Free some space there, or name another folder with --folder."
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
