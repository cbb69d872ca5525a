# SPDX-License-Identifier: MIT
"""What `tools/first_steps.py` takes from the pages, and what it does with it."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import first_steps  # noqa: E402
from first_steps import Part  # noqa: E402

PAGE = """\
# A page

```console
$ echo "above: mine"   # a remark
what it prints
```

## One

```console
$ cd deep
$ pwd
```

```python
print(1 + 1)
```

```text
2
```

## Other

```console
$ false
```
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setattr(first_steps, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/page.md").write_text(PAGE, encoding="utf-8")
    here = tmp_path / "here"
    (here / "deep").mkdir(parents=True)
    return here


def follow(*parts, folder):
    environ = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return first_steps.follow(first_steps.script(parts), folder, environ)


def test_commands_of_the_chosen_sections_in_their_order():
    found = [command for part in first_steps.PARTS for command in commands_of(part)]
    assert found[0] == "python3 -m venv env"
    kinds = [c.partition("#")[0].strip() for c in found if "new-kernel" in c]
    assert kinds == [
        "autocalc new-kernel-package mine",
        "autocalc new-kernel-package mine-numba --numba",
        "autocalc new-kernel-package mine-c --c",
    ]
    assert "cd autocalc-kernels-mine-c" in found
    assert not [c for c in found if c.startswith("make")]  # that takes a clone
    assert all(first_steps.blocks(p) for p in first_steps.PARTS if p.python)


def commands_of(part):
    found = first_steps.commands(part)
    assert found or part.sections == ("",), part
    return found


def test_a_section_that_is_gone_is_an_error(page):
    with pytest.raises(ValueError, match=r"page\.md: no section Gone"):
        first_steps.commands(Part("page.md", ("One", "Gone")))


def test_parts_are_followed_word_for_word(page, capfd):
    words = (("mine", "yours"),)
    parts = Part("page.md", words=words), Part("page.md", ("One",), python=False)
    assert follow(*parts, folder=page) is None
    told = [line.split("s  ")[1] for line in capfd.readouterr().out.splitlines()]
    assert told == [
        'echo "above: yours"   # a remark',
        "the Python of page.md",
        "cd deep",
        "pwd",
    ]


def test_a_command_that_fails_ends_it_and_is_named(page, capfd):
    part = Part("page.md", ("", "Other"))
    assert follow(part, folder=page) == "status 1 of: false"
    assert "the Python" not in capfd.readouterr().out


@pytest.mark.parametrize(("status", "failure"), [(0, False), (3, False), (4, True)])
def test_warnings_of_doctor_are_no_failure(status, failure, page):
    program = page / "autocalc"
    program.write_text(f"#!/bin/sh\nexit {status}\n", encoding="utf-8")
    program.chmod(0o755)
    path = page.parent / "docs/page.md"
    path.write_text("```console\n$ autocalc doctor  # threads\n```\n", encoding="utf-8")
    environ = {"PATH": f"{page}:{os.environ['PATH']}"}
    lines = first_steps.script((Part("page.md"),))
    assert bool(first_steps.follow(lines, page, environ)) is failure


def test_a_page_that_prints_something_else_fails(page, capfd):
    path = page.parent / "docs/page.md"
    path.write_text(PAGE.replace("1 + 1", "1 + 2"), encoding="utf-8")
    found = follow(Part("page.md"), folder=page)
    assert found == "status 1 of: the Python of page.md"
    assert "WrongOutputError" in capfd.readouterr().out


def test_without_wheels_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["first_steps", str(tmp_path)])
    with pytest.raises(SystemExit, match=r"no wheels in .*make test-wheels"):
        first_steps.main()


def test_nothing_of_the_checkout_is_seen(tmp_path, monkeypatch):
    for name in ("PYTHONPATH", "PIP_FIND_LINKS", "AUTOCALC_KERNELS"):
        monkeypatch.setenv(name, "x")
    found = first_steps.environment(tmp_path)
    assert {"PYTHONPATH", "PIP_FIND_LINKS", "AUTOCALC_KERNELS"}.isdisjoint(found)
    assert found["XDG_CACHE_HOME"] == str(tmp_path)
