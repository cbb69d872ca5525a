# SPDX-License-Identifier: MIT
"""Load and run damaged ONNX files: each gives a result or one of AutoCalc's errors.

``python -m tools.onnx_mutants COUNT [--seed N]``

The files are the backend tests of the package `onnx` with bytes or parts changed.  Each
may take 10 seconds, and the process 4 GiB of memory.
"""

from __future__ import annotations

import argparse
import resource
import signal
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from tools import onnx_tests

import autocalc as ac
from autocalc.errors import AutocalcError

#: The limits of one file.
SECONDS, BYTES = 10, 4 << 30

Rng = np.random.Generator


def changed_bytes(content: bytes, rng: Rng) -> bytes:
    """Change a bit, change a byte, cut out a part, repeat a part, or cut the end."""
    place, length = int(rng.integers(len(content))), int(rng.integers(40))
    how = rng.integers(5)
    if how < 2:
        changed = bytearray(content)
        new = changed[place] ^ (1 << int(rng.integers(8)))
        changed[place] = new if how else int(rng.integers(256))
        return bytes(changed)
    if how == 2:
        return content[:place] + content[place + length :]
    if how == 3:
        return content[: place + length] + content[place:]
    return content[:place]


def _node(model: Any, rng: Rng) -> Any:
    return model.graph.node[int(rng.integers(len(model.graph.node)))]


def _other_input(model: Any, rng: Rng) -> None:
    """Let a node read another value, or none."""
    node, names = _node(model, rng), [one.name for one in model.graph.input]
    if node.input:
        node.input[int(rng.integers(len(node.input)))] = str(rng.choice(["", *names]))


def _fewer_inputs(model: Any, rng: Rng) -> None:
    node = _node(model, rng)
    if node.input:
        node.input.pop()


def _other_attribute(model: Any, rng: Rng) -> None:
    """Change the number or text of an attribute, or remove it."""
    node = _node(model, rng)
    if not node.attribute:
        return
    one = node.attribute[int(rng.integers(len(node.attribute)))]
    number = int(rng.choice([-(2**62), -2, -1, 0, 1, 3, 99, 2**31, 2**62]))
    if one.HasField("i"):
        one.i = number
    elif one.ints:
        one.ints[int(rng.integers(len(one.ints)))] = number
    elif one.HasField("f"):
        one.f = float(rng.choice([np.nan, np.inf, -1.0, 0.0, 1e30]))
    elif one.HasField("s"):
        one.s = b"nothing"
    else:
        node.attribute.remove(one)


def _other_operator(model: Any, rng: Rng) -> None:
    names = sorted(one.name for one in onnx.defs.get_all_schemas())
    _node(model, rng).op_type = str(rng.choice(names))


def _other_version(model: Any, rng: Rng) -> None:
    model.opset_import[0].version = int(rng.integers(1, 30))


def _other_dtype(model: Any, rng: Rng) -> None:
    if model.graph.input:
        kind = model.graph.input[int(rng.integers(len(model.graph.input)))].type
        kind.tensor_type.elem_type = int(rng.integers(0, 25))


PARTS: Sequence[Callable[[Any, Rng], None]] = (
    _other_input,
    _fewer_inputs,
    _other_attribute,
    _other_attribute,
    _other_operator,
    _other_version,
    _other_dtype,
)


def mutant(case: onnx_tests.Case, rng: Rng) -> bytes:
    """Return the content of a damaged file."""
    if rng.integers(2):
        return changed_bytes(case.model.SerializeToString(), rng)
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    PARTS[int(rng.integers(len(PARTS)))](model, rng)
    return bytes(model.SerializeToString())


def outcome(case: onnx_tests.Case, content: bytes, path: Path) -> str:
    """Return "answered", "refused at load", "raised in the call", or a defect."""
    path.write_bytes(content)
    with limited():
        return _outcome(case, path)


def _outcome(case: onnx_tests.Case, path: Path) -> str:
    step = "refused at load"
    try:
        module = ac.onnx.load(path)
        step = "raised in the call"
        values = onnx_tests.inputs_of(case)
        names = [name for name in module.input_names if name in values]
        with ac.no_grad():
            module(**{name: values[name] for name in names})
    except AutocalcError:
        return step
    except (Exception, TooLongError) as error:  # each is a defect
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"DEFECT {type(error).__name__}: {error} ({place.name}, {step})"
    return "answered"


class TooLongError(BaseException):
    """A file took too long; no part of AutoCalc catches this."""


def _too_long(*_: Any) -> None:
    raise TooLongError(f"it took more than {SECONDS} s")


@contextmanager
def limited() -> Iterator[None]:
    """Limit the time of a file, and the memory that is added to the process."""
    old = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(
        resource.RLIMIT_AS, (pages * resource.getpagesize() + BYTES, old[1])
    )
    before = signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, old)


def main() -> None:
    """Run as many mutants as the command line asks for, and print the counts."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = [*onnx_tests.node_cases(), *onnx_tests.stored_cases()]
    cases = [one for one in cases if not one.name.startswith("light_")]
    rng, counts = np.random.default_rng(given.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(given.count):
            case = cases[int(rng.integers(len(cases)))]
            content = mutant(case, rng)
            found = outcome(case, content, Path(folder) / "m.onnx")
            if found.startswith("DEFECT"):
                print(case.name, found[:300], flush=True)
            counts[found.partition(" ")[0] if "DEFECT" in found else found] += 1
    print(dict(counts))
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak of memory: {peak / 2**30:.2f} GiB of {BYTES >> 30}")


if __name__ == "__main__":
    main()
