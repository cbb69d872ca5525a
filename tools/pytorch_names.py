# SPDX-License-Identifier: MIT
"""Print which public names of PyTorch AutoCalc has, omits on purpose, or lacks.

``.venv-torch/bin/python tools/pytorch_names.py`` prints a count for each namespace and
the names that are absent without a reason; ``--all`` prints every name. ``--write``
writes the absent names to `tests/core/against_torch/absent.txt`; a test only permits
this file to get shorter.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autocalc._absent import SAME_PLACE, groups_by_name

ABSENT = Path(__file__).resolve().parents[1] / "tests/core/against_torch/absent.txt"

#: Maps namespaces of PyTorch to those of AutoCalc.
PLACES = {
    "torch": "autocalc",
    "torch.Tensor": "autocalc.Tensor",
    "torch.nn": "autocalc.nn",
    "torch.nn.functional": "autocalc.nn.functional",
    "torch.nn.utils": "autocalc.nn.utils",
    "torch.nn.init": "autocalc.nn.init",
    "torch.optim": "autocalc.optim",
    "torch.optim.lr_scheduler": "autocalc.optim.lr_scheduler",
    "torch.distributions": "autocalc.distributions",
    "torch.utils.data": "autocalc.utils.data",
    "torch.autograd": "autocalc.autograd",
    "torch.special": "autocalc.special",
    "torch.linalg": "autocalc.linalg",
}


def found(place: str) -> Any:
    """Return the module or class with a dotted name."""
    if not place.endswith(".Tensor"):
        return importlib.import_module(place)
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(module), name)


def public_names(place: str) -> list[str]:
    """Return the public names of a namespace of PyTorch; at the top without modules."""
    where = found(place)
    listed = None if place == "torch" else getattr(where, "__all__", None)
    names = [name for name in listed or dir(where) if not name.startswith("_")]
    if place == "torch":
        names = [n for n in names if not inspect.ismodule(getattr(where, n))]
    return sorted(set(names))


def is_module(place: str, name: str) -> bool:
    """Return whether a name of PyTorch is a module."""
    return importlib.util.find_spec(f"{place}.{name}") is not None


def state(place: str, name: str) -> str:
    """Return "present", the reason why a name is absent, or "absent"."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if hasattr(found(place), name):
            return "present"
    group = groups_by_name(SAME_PLACE.get(place, place)).get(name)
    return f"on purpose: {group.reason}" if group else "absent"


def rows() -> Iterator[tuple[str, str, str]]:
    """Yield the namespace, the name and the state of every name."""
    for theirs, ours in PLACES.items():
        for name in public_names(theirs):
            yield ours, name, state(ours, name)


def absent_names() -> list[str]:
    """Return the names that are absent without a reason, with their namespaces."""
    return [f"{place}.{name}" for place, name, state in rows() if state == "absent"]


def main() -> None:
    """Print the names that the arguments request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="print every name")
    parser.add_argument("--write", action="store_true", help="write the file again")
    options = parser.parse_args()
    every = list(rows())
    for place in PLACES.values():
        states = [state for where, _, state in every if where == place]
        present, absent = states.count("present"), states.count("absent")
        purpose = len(states) - present - absent
        print(f"{place}: {present} present, {purpose} on purpose, {absent} absent")
    for place, name, state in every:
        if options.all or state == "absent":
            print(f"{place}.{name}: {state}")
    if options.write:
        ABSENT.write_text("".join(f"{name}\n" for name in absent_names()))


if __name__ == "__main__":
    main()
