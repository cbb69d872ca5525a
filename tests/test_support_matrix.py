# SPDX-License-Identifier: MIT
"""The support matrix says what the registry and the sets' `supports` say."""

import numpy as np
import pytest
from tests.kernel_table import TABLE

from autocalc.plugin import KernelImpl, KernelSet
from autocalc.testing.conformance import Subject


@pytest.fixture
def matrix(monkeypatch, request):
    """Return the extension that writes the page."""
    folder = request.config.rootpath / "docs/_ext"
    monkeypatch.syspath_prepend(str(folder))
    import support_matrix

    return support_matrix


def made(supports=None):
    """Return a set of one kernel."""
    impl = KernelImpl(lambda out, a: np.exp(a, out), supports=supports)
    kernel_set = KernelSet("mine", family="mine", load=dict, requires={"avx2"})
    return Subject(kernel_set, {"exp": impl})


def test_a_set_that_refuses_nothing_takes_all(matrix):
    assert matrix.cell(made(), TABLE["exp"]) == "all"


def test_a_set_without_the_kernel_has_an_empty_cell(matrix):
    assert matrix.cell(made(), TABLE["add"]) == ""


def test_dtypes_are_those_that_a_set_accepts(matrix):
    def single(key):
        return None if key.dtypes[0] == np.float32 else "takes float32 only"

    assert matrix.cell(made(single), TABLE["exp"]) == "float32"


def test_a_set_that_takes_no_sample_says_so(matrix):
    assert matrix.cell(made(lambda key: "not today"), TABLE["exp"]) == "some calls"


def test_the_table_of_sets_names_what_they_need(matrix):
    text = "\n".join(matrix.sets([Subject.named("reference")]))
    assert "* - `reference`\n  - autocalc-core " in text
    assert f"  - any CPU\n  - {len(TABLE)}\n" in text


def test_each_kernel_has_a_row(matrix):
    lines = list(matrix.page())
    rows = [line for line in lines if line.startswith("* - {doc}`")]
    assert rows == [f"* - {matrix.link(name)}" for name in ordered(matrix)]


def tables(lines):
    """Yield the rows of list tables as lists of cells."""
    rows = []
    for line in lines:
        if line.startswith("* -"):
            rows.append([line[3:].strip()])
        elif line.startswith("  -"):
            rows[-1].append(line[3:].strip())
        elif line == ":::":
            yield rows
            rows = []


def cells(lines):
    """Return what sets take, by set and kernel."""
    return {
        (name, row[0]): cell
        for head, *rows in tables(lines)
        if head[0] == "Kernel"
        for row in rows
        for name, cell in zip(head[2:], row[2:], strict=True)
    }


def test_the_page_in_the_repository_is_that_of_the_sets(matrix):
    kept = cells(matrix.PAGE.read_text(encoding="utf-8").splitlines())
    now = cells(matrix.page())
    assert {kernel for _, kernel in kept} == {kernel for _, kernel in now}
    old = {key: kept[key] for key in now if key in kept and kept[key] != now[key]}
    assert not old, f"`make tables` writes these again: {old}"


def ordered(matrix):
    """Return the names of the kernels by kind, as the page has them."""
    return [n for kind in matrix.KINDS for n, s in TABLE.items() if s.kind == kind]
