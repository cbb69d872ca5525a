# SPDX-License-Identifier: MIT
"""Run the backend tests of the package `onnx` and count the outcomes.

``python -m tools.onnx_tests [PATTERN] [--every N] [--list OUTCOME]``

A test is a model with inputs and expected outputs.  Its outcome is "right", "wrong",
"refused" (`ac.onnx.load` raises one of AutoCalc's errors) or "raised" (the call does).
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

import autocalc as ac
from autocalc.errors import AutocalcError

#: The relative and absolute tolerance of each dtype; float32 for all others.
TOLERANCES = {np.dtype(np.float16): 2e-3, np.dtype(ml_dtypes.bfloat16): 1.6e-2}
TOLERANCE = 1e-4

#: The tests of random operators fix shapes and dtypes, not numbers.
RANDOM = ("bernoulli", "random", "multinomial", "training_dropout")

#: Tests whose answer is another one here.  Their factors make 2.4 and 3.2 pixels of 4,
#: and they count the fraction as a part of the new image.  AutoCalc counts whole
#: pixels, as ONNX Runtime and PyTorch do.
OTHERWISE = {
    "test_resize_downsample_scales_linear_align_corners",
    "test_resize_downsample_scales_cubic_align_corners",
}

OUTCOMES = ("right", "wrong", "refused", "raised")


@dataclass
class Case:
    """One backend test: a model, and pairs of inputs and outputs."""

    name: str
    model: Any
    pairs: Sequence[tuple[Sequence[Any], Sequence[Any]]]


def node_cases() -> list[Case]:
    """Return the tests of single operators, which `onnx` makes in about 10 s."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some examples overflow on purpose
        from onnx.backend.test.case.node import collect_testcases

        return [case_of(one) for one in collect_testcases(None)]


@cache
def module_cases(name: str) -> list[Case]:
    """Return the tests in one module of ``onnx.backend.test.case.node``."""
    from importlib import import_module

    from onnx.backend.test.case import node

    before = len(node._NodeTestCases)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module(f"{node.__name__}.{name}")
    return [case_of(one) for one in node._NodeTestCases[before:]]


def case_of(one: Any) -> Case:
    return Case(one.name, one.model, one.data_sets)


def stored_cases() -> Iterator[Case]:
    """Yield the tests that `onnx` stores as files: whole models, and PyTorch's."""
    from onnx.backend.test import loader

    root = Path(loader.DATA_DIR)
    for path in sorted(root.glob("*/*/model.onnx")):
        pairs = [
            (_arrays(folder, "input"), _arrays(folder, "output"))
            for folder in sorted(path.parent.glob("test_data_set_*"))
        ]
        yield Case(path.parent.name, onnx.load(path), pairs)
    for path in sorted(root.glob("light/*.onnx")):
        yield _light(path)


def _light(path: Path) -> Case:
    """Return a test of a large model; its only input is all ones."""
    model = onnx.load(path)
    held = {one.name for one in model.graph.initializer}
    (given,) = (one for one in model.graph.input if one.name not in held)
    shape = [one.dim_value for one in given.type.tensor_type.shape.dim]
    count = int(np.prod(shape))
    x = (np.arange(count, dtype=np.float32).reshape(shape) / count).astype(np.float32)
    wanted = numpy_helper.to_array(
        onnx.load_tensor(path.with_name(f"{path.stem}_output_0.pb"))
    )
    return Case(path.stem, model, [([x], [wanted])])


def _arrays(folder: Path, kind: str) -> list[Any]:
    files = sorted(
        folder.glob(f"{kind}_*.pb"), key=lambda path: int(path.stem.split("_")[1])
    )
    return [path.read_bytes() for path in files]


def _decoded(one: Any, info: Any) -> Any:
    """Return an array, a list of arrays or None; `one` may be a stored message."""
    if isinstance(one, onnx.TensorProto):
        return numpy_helper.to_array(one)
    if not isinstance(one, bytes):
        return one
    kind = info.type.WhichOneof("value")
    if kind == "sequence_type":
        message = onnx.SequenceProto.FromString(one)
        return numpy_helper.to_list(message)
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(one))
    return numpy_helper.to_array(onnx.TensorProto.FromString(one))


def _given(one: Any) -> Any:
    """Return a value as what a loaded module takes."""
    if one is None:
        return None
    if isinstance(one, list):
        return [_given(part) for part in one]
    return ac.from_numpy(np.array(one))


def inputs_of(case: Case, given: Any = None) -> dict[str, Any]:
    """Return the inputs of a test by name; those of its first pair by default."""
    held = {one.name for one in case.model.graph.initializer}
    inputs = [one for one in case.model.graph.input if one.name not in held]
    arrays = case.pairs[0][0] if given is None else given
    return {
        one.name: _given(_decoded(x, one))
        for one, x in zip(inputs, arrays, strict=False)
    }


def outcome(case: Case, folder: Path) -> tuple[str, str]:
    """Return the outcome of a test, and the first line of its reason."""
    path = folder / "m.onnx"
    onnx.save(case.model, path)
    try:
        module = ac.onnx.load(path)
    except AutocalcError as error:
        return "refused", _first_line(error)
    except Exception as error:  # it is to be one of AutoCalc's
        return "raised", f"at load: {type(error).__name__}: {_first_line(error)}"
    for given, wanted in case.pairs:
        try:
            values = inputs_of(case, given)
            with ac.no_grad():
                found = module(**values)
        except Exception as error:  # every error counts
            return "raised", f"{type(error).__name__}: {_first_line(error)}"
        found = found if isinstance(found, tuple) else (found,)
        outputs = [
            _decoded(x, one)
            for x, one in zip(wanted, case.model.graph.output, strict=True)
        ]
        loose = any(word in case.name for word in RANDOM)
        for one, other in zip(found, outputs, strict=True):
            wrong = difference(one, other, loose)
            if wrong:
                return "wrong", wrong
    return "right", ""


def difference(found: Any, wanted: Any, loose: bool = False) -> str:
    """Return how a result differs from what is expected, or ""."""
    if wanted is None or isinstance(wanted, list):
        many = isinstance(found, list) and isinstance(wanted, list)
        if not many or len(found) != len(wanted):
            same = found is None and wanted is None
            return "" if same else f"{found} for {wanted}"
        parts = [difference(a, b, loose) for a, b in zip(found, wanted, strict=True)]
        return next(filter(None, parts), "")
    found, wanted = found.detach().numpy(), np.asarray(wanted)
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return f"{found.dtype}{found.shape} for {wanted.dtype}{wanted.shape}"
    bound = TOLERANCES.get(wanted.dtype, TOLERANCE)
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    if loose or np.allclose(found, wanted, rtol=bound, atol=bound, equal_nan=True):
        return ""
    return f"{found} for {wanted}".replace("\n", " ")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def outcomes(cases: Sequence[Case]) -> dict[str, tuple[str, str]]:
    """Return the outcome and the reason of each test, by its name."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: outcome(case, Path(folder)) for case in cases}


def main() -> None:
    """Run the tests that the command line selects and print a table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("pattern", nargs="?", default="*", help="of names of tests")
    parser.add_argument("--every", type=int, default=1, help="take each Nth test")
    parser.add_argument("--list", default="wrong,raised", help="outcomes to list")
    given = parser.parse_args()
    cases = [*node_cases(), *stored_cases()]
    cases = [one for one in cases if fnmatchcase(one.name, given.pattern)]
    found = outcomes(cases[:: given.every])
    for name, (result, reason) in sorted(found.items()):
        if result in given.list.split(","):
            print(f"{result:8} {name}: {reason[:300]}")
    counts = Counter(result for result, _ in found.values())
    print(", ".join(f"{counts[one]} {one}" for one in OUTCOMES), "of", len(found))


if __name__ == "__main__":
    main()
