# SPDX-License-Identifier: MIT
"""Pages made from the code: kernels, environment variables, and absent names.

They are written as MyST into docs/_generated before Sphinx reads its sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from api_pages import write_pages

from autocalc import _config
from autocalc._absent import GROUPS
from autocalc._absent.instead import INSTEAD
from autocalc._kernels.table import TABLE

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from autocalc._kernels.spec import KernelSpec

KINDS = {
    "primitive": "Primitives",
    "composite": "Composites",
    "standalone": "Standalone kernels",
}


def escaped(text: str) -> str:
    """Escape what Markdown would take for markup, except in `code`."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([\\*_\[\]<>|$#])", r"\\\1", part)
        for part in parts
    )


def list_table(title: str, widths: str, rows: Iterable[Iterable[str]]) -> Iterator[str]:
    yield f":::{{list-table}} {title}"
    yield ":header-rows: 1"
    yield f":widths: {widths}"
    yield ""
    for row in rows:
        for i, cell in enumerate(row):
            yield f"{'* -' if i == 0 else '  -'} {cell}".rstrip()
    yield ":::"
    yield ""


def budgets(spec: KernelSpec) -> str:
    """Return the error budget, and those of algorithms that have one of their own."""
    more = (f"{name}: {budget.text}" for name, budget in spec.exceptions.items())
    return "; ".join((spec.budget.text, *more))


def kernels_page() -> Iterator[str]:
    """Return the tables of names, by kind: each kernel has a page of its own."""
    for kind, title in KINDS.items():
        specs = [spec for spec in TABLE.values() if spec.kind == kind]
        if not specs:
            continue
        yield f"## {title}"
        yield ""
        rows = [["Kernel", "What it computes"]]
        rows += [[link(spec.name), escaped(spec.doc)] for spec in specs]
        yield from list_table("", "25 75", rows)


def link(kernel: str) -> str:
    return f"{{doc}}`{kernel} <kernel/{kernel}>`"


def operands(spec: KernelSpec) -> Iterator[list[str]]:
    """Yield a row for each operand and attribute: its name, and what is known of it."""
    for place, found in (("result", spec.outputs), ("operand", spec.inputs)):
        for operand in found:
            words = [place]
            words += ["optional"] * operand.optional
            words += ["a list of arrays"] * operand.is_list
            words += ["written in place"] * (operand.name in spec.writes)
            words += ["subnormal values become 0"] * (operand.name in spec.flushes)
            words += ["can be added into"] * (operand.name in spec.accumulates)
            partners = [i for o, i in spec.alias if o == operand.name]
            words += [f"may share the memory of `{other}`" for other in partners]
            yield [f"`{operand.name}`", ", ".join(words)]
    for word in spec.signature.rpartition(";")[2].split() if spec.attributes else ():
        name, _, kind = word.partition(":")
        yield [f"`{name}`", f"attribute, `{kind}`"]


def kernel_page(spec: KernelSpec) -> Iterator[str]:
    """Return the page of a kernel: all that its spec says."""
    yield f"# {spec.name}"
    yield ""
    yield escaped(spec.doc)
    yield ""
    yield "```text"
    yield spec.signature
    yield "```"
    yield ""
    yield from list_table("", "25 75", [["Name", "Description"], *operands(spec)])
    yield "## Error budget"
    yield ""
    yield escaped(spec.budget.text)
    yield ""
    for name, budget in spec.exceptions.items():
        yield f"- `{name}`: {escaped(budget.text)}"
    yield ""
    yield "## Dispatch and source"
    yield ""
    yield from facts(spec)


def facts(spec: KernelSpec) -> Iterator[str]:
    """Return a list of the rest."""
    dtypes = ", ".join(str(dtype) for dtype in spec.dtypes)
    key = "dtypes, shapes, strides and attributes" if spec.key == "shapes" else "dtypes"
    yield f"- Kind: {spec.kind}."
    yield f"- Dtypes of the first operand: {dtypes}."
    yield f"- A dispatch decision applies to all calls with equal {key}."
    yield f"- Memory layout of four-dimensional results: {spec.layout}."
    if spec.decomposition:
        yield (
            "- A set without this kernel runs its decomposition, if the set has its "
            f"lead kernel `{spec.lead}`."
        )
    if spec.elementwise:
        yield "- It is elementwise: operands are broadcast to the shape of the result."
    yield "- {doc}`../support` lists the kernel sets that implement it."
    file = spec.reference.__module__.replace(".", "/") + ".py"
    yield f"- Reference, decomposition, budget and samples are in `{file}`."


def environment_page() -> Iterator[str]:
    rows = [["Variable", "Meaning"]]
    rows += [[f"`{name}`", escaped(text)] for name, text in _config.VARIABLES.items()]
    yield from list_table("", "35 65", rows)
    yield "These old names still work, with a notice: " + ", ".join(
        f"`{old}` for `{new}`" for old, new in _config.OLD_NAMES.items()
    )


def absent_page() -> Iterator[str]:
    """Return the names of PyTorch that are absent on purpose, by the reason."""
    for group in GROUPS:
        yield f"## {group.title[0].upper()}{group.title[1:]}"
        yield ""
        instead = f" Instead: {group.instead}." if group.instead else ""
        yield escaped(f"Absent because {group.reason}.{instead}")
        yield ""
        rows = [["Name", "Instead"]]
        for place, names in group.names.items():
            where = place.replace("autocalc", "ac", 1)
            own = INSTEAD.get(place, {})
            rows += [
                [f"`{where}.{n}`", escaped(own[n])] for n in names.split() if n in own
            ]
        if len(rows) > 1:
            yield from list_table("", "40 60", rows)
        for place, names in group.names.items():
            where, own = place.replace("autocalc", "ac", 1), INSTEAD.get(place, {})
            rest = ", ".join(f"`{name}`" for name in names.split() if name not in own)
            if rest:
                yield f"- `{where}`: {rest}"
        yield ""


def write(app: Sphinx) -> None:
    folder = Path(app.srcdir) / "_generated"
    folder.mkdir(exist_ok=True)
    pages = {"kernels.md": kernels_page(), "environment.md": environment_page()}
    pages["absent.md"] = absent_page()
    for name, lines in pages.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    head = ("---", "orphan: true", "---", "")
    texts = {
        f"{spec.name}.md": "\n".join((*head, *kernel_page(spec))) + "\n"
        for spec in TABLE.values()
    }
    write_pages(Path(app.srcdir) / "reference" / "kernel", texts)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
