# SPDX-License-Identifier: MIT
"""The reference of all public names: a page for each module and for each class.

Written as reStructuredText into docs/reference/api before Sphinx reads its sources.
What is public is what `__all__` of a public module lists; functions of tensors are
grouped by the file that defines them (`HEADINGS`).
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import autocalc

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PACKAGE = "autocalc"
#: The repository's address, once the package's metadata has one.
ADDRESS = next(
    (
        line.partition(", ")[2].removesuffix("/")
        for line in metadata.metadata("autocalc-core").get_all("Project-URL", ())
        if line.startswith("Source, ")
    ),
    None,
)
#: Public modules that no other lists.
APART = (
    "autocalc.cuda.amp",
    "autocalc.errors",
    "autocalc.func",
    "autocalc.nested",
    "autocalc.plugin",
    "autocalc.sparse",
    "autocalc.testing.conformance",
    "autocalc.torch",
)

#: Headings of the functions of `autocalc`, with the files of `_ops` that they are in.
HEADINGS = {
    "Creation": "constants like ranges from_data asarray window_functions flat_indices",
    "Views and shapes": "view moving named_views view_copies view_scatter striding "
    "diagonal rearranging broadcasting dtype_views windows",
    "Joining and splitting": "joining splitting",
    "Indexing": "indexing masking scattering scatter_reduction index_put slicing",
    "Arithmetic": "arithmetic rounding divisors powers_of_two clamping lerp "
    "numerical_derivatives bitwise nextafter foreach",
    "Complex numbers and Fourier transforms": "making parts spectrograms",
    "Exponentials, angles and special functions": "exponential trigonometric "
    "gamma_functions special_functions smooth softmax rectifiers thresholds "
    "dot_product",
    "Comparison and logic": "comparison logical",
    "Sums, means and other reductions": "reduction variance quantiles nan_reductions "
    "extrema vector_norms scans covariance mode distance",
    "Sorting, searching and counting": "sorting searching histograms segments",
    "Products and linear algebra": "matmul products product_sums einsum linear_systems "
    "cholesky_systems pseudo_inverses matrix_exponential factorizations "
    "grouped_products matrix_systems ex_forms linalg_vectors determinants lu_factors "
    "low_rank",
    "Random numbers": "random_draws distributions count_draws rng_state dropout "
    "alpha_dropout",
    "Gradients, devices and threads": "inspection conversion platform callback",
}


#: The heading of functions that are no operators.
REST = "Gradients, devices and threads"


class Name(NamedTuple):
    """A public name: where it is imported from, and what it is."""

    place: str
    name: str
    value: Any

    @property
    def path(self) -> str:
        return f"{self.place}.{self.name}"

    @property
    def is_class(self) -> bool:
        return inspect.isclass(self.value)

    @property
    def summary(self) -> str:
        """The first sentence of the docstring."""
        text = inspect.getdoc(self.value) or "" if self.is_documented else ""
        return " ".join(text.split("\n\n", 1)[0].split())

    @property
    def is_documented(self) -> bool:
        return self.is_class or callable(self.value)


def modules() -> dict[str, ModuleType]:
    """Return the public modules, by the names that they are imported by."""
    found: dict[str, ModuleType] = {}

    def walk(module: ModuleType, name: str) -> None:
        if module in found.values():
            return
        found[name] = module
        for word in getattr(module, "__all__", ()):
            value = getattr(module, word)
            if isinstance(value, ModuleType):
                walk(value, f"{name}.{word}")

    walk(autocalc, PACKAGE)
    for name in APART:
        walk(import_module(name), name)
    return found


def names(place: str, module: ModuleType) -> list[Name]:
    """Return the public names of a module, without those of modules in it."""
    listed = getattr(module, "__all__", None)
    if listed is None:  # autocalc.errors
        own = (v for v in vars(module).values() if inspect.isclass(v))
        listed = [v.__name__ for v in own if v.__module__ == place]
    found = [Name(place, word, getattr(module, word)) for word in listed]
    return [name for name in found if not isinstance(name.value, ModuleType)]


@lru_cache(maxsize=1)
def defined_in() -> dict[str, str]:
    """Return the files of `_ops`, by the names that they define."""
    folder = Path(autocalc.__file__).parent / "_ops"
    found: dict[str, str] = {}
    for file in sorted(folder.rglob("[a-z]*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = file.stem
            elif isinstance(node, ast.Assign):
                targets = [t for t in node.targets if isinstance(t, ast.Name)]
                found.update((target.id, file.stem) for target in targets)
    return found


def heading_of(name: Name) -> str | None:
    """Return the heading of a function of `_ops`; None if its file is in no list."""
    module = getattr(name.value, "__module__", None) or ""
    stem = module.rpartition(".")[2]
    if stem.startswith("_"):  # made by a factory; an alias bears the first name
        own = getattr(name.value, "__name__", name.name)
        stem = defined_in().get(own) or defined_in().get(name.name, "")
    return next((h for h, files in HEADINGS.items() if stem in files.split()), None)


# ---- reStructuredText


def titled(text: str, line: str = "=") -> Iterator[str]:
    yield text
    yield line * len(text)
    yield ""


def literal(text: str) -> str:
    """Return text for a cell: code stays, other markup is shown as it is."""
    return text.replace("\\", "\\\\").replace("*", "\\*").replace("|", "\\|")


def table(rows: Iterable[Name], seen: dict[Any, str]) -> Iterator[str]:
    """Yield a table of names, each linked to where it is described."""
    rows = list(rows)
    if not rows:
        return
    yield ".. list-table::"
    yield "   :widths: 35 65"
    yield ""
    for name in rows:
        role = "class" if name.is_class else "func"
        path = seen.get(name.value, name.path) if name.is_class else name.path
        link = f":py:{role}:`{name.name} <{path}>`"
        shown = link if name.is_documented else f"``{name.name}``"
        yield f"   * - {shown}"
        yield f"     - {literal(name.summary) or constant(name)}"
    yield ""


def constant(name: Name) -> str:
    return f"``{name.value!r}``" if not name.is_documented else "."


def source(name: Name) -> Iterator[str]:
    """Yield the line that says in which file a name is defined."""
    value = inspect.unwrap(name.value)
    module = getattr(value, "__module__", None) or ""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or not module.startswith(f"{PACKAGE}."):
        return
    path = Path(file).relative_to(Path(autocalc.__file__).parent.parent)
    address = ADDRESS and f"{ADDRESS}/blob/main/autocalc-core/src/{path}"
    shown = f"`{path} <{address}>`__" if address else f"``{path}``"
    yield f"   Source: {shown}"
    yield ""


def described(name: Name) -> Iterator[str]:
    """Yield the directive that shows a docstring, and where the source is."""
    if name.is_class:
        yield f".. autoclass:: {name.path}"
        yield "   :members:"
        yield "   :show-inheritance:"
    else:
        yield f".. autofunction:: {name.path}"
    yield ""
    yield from source(name)


def toctree(pages: Iterable[str], hidden: bool = True) -> Iterator[str]:
    yield ".. toctree::"
    yield "   :maxdepth: 1"
    if hidden:
        yield "   :hidden:"
    yield ""
    for page in pages:
        yield f"   {page}"
    yield ""


# ---- pages


def class_page(name: Name) -> Iterator[str]:
    yield from titled(name.name)
    yield from described(name)


def tensor_page(name: Name) -> Iterator[str]:
    """All members, each with its docstring; methods of functions among them."""
    yield from titled("Tensor")
    yield f".. autoclass:: {name.path}"
    yield ""
    members = [
        word
        for word in sorted(dir(name.value))
        if not word.startswith("_") and hasattr(name.value, word)
    ]
    methods = [w for w in members if callable(getattr(name.value, w))]
    for title, words, directive in (
        ("Attributes", [w for w in members if w not in methods], "autoattribute"),
        ("Methods", methods, "automethod"),
    ):
        yield from titled(title, "-")
        for word in words:
            yield f".. {directive}:: {name.path}.{word}"
            yield ""


def module_page(
    place: str, module: ModuleType, children: list[str], seen: dict[Any, str]
) -> dict[str, Iterable[str]]:
    """Return the page of a module and those of its classes.

    `seen` has the classes that another module's pages show, which are linked.
    """
    found = names(place, module)
    classes = [n for n in found if n.is_class]
    others = [n for n in found if not n.is_class]
    own = [n for n in classes if seen.setdefault(n.value, n.path) == n.path]
    pages: dict[str, Iterable[str]] = {n.path: class_page(n) for n in own}
    lines = list(titled(place.replace(PACKAGE, "ac", 1)))
    summary = inspect.getdoc(module) or ""
    lines += [literal(summary.split("\n\n", 1)[0]), ""]
    lines += toctree([*children, *pages])
    for title, part in (("Classes", classes), ("Functions and constants", others)):
        if part:
            lines += [*titled(title, "-"), *table(part, seen)]
    functions = [n for n in others if n.is_documented]
    if functions:
        lines += titled("Details", "-")
        lines += [line for n in functions for line in described(n)]
    return {place: lines, **pages}


def top_pages(children: list[str], seen: dict[Any, str]) -> dict[str, Iterable[str]]:
    """Return the pages of `autocalc` itself: functions by heading, and classes."""
    found = names(PACKAGE, autocalc)
    seen.update((n.value, n.path) for n in found if n.is_class)
    classes = [n for n in found if n.is_class and n.name != "Tensor"]
    tensor = next(n for n in found if n.name == "Tensor")
    constants = [n for n in found if not n.is_documented]
    functions = [n for n in found if n.is_documented and not n.is_class]
    pages: dict[str, Iterable[str]] = {
        tensor.path: tensor_page(tensor),
        **{n.path: class_page(n) for n in classes},
    }
    headings = {}
    for heading in HEADINGS:
        part = [n for n in functions if (heading_of(n) or REST) == heading]
        page = "functions-" + heading.split(",")[0].lower().replace(" ", "-")
        headings[heading] = page
        lines = [*titled(heading), *table(part, seen)]
        lines += [line for n in part for line in described(n)]
        pages[page] = lines
    index = list(titled("Functions and classes"))
    index += ["All public names (``import autocalc as ac``), read from the code.", ""]
    index += [*titled("Tensors and their functions", "-")]
    index += toctree([tensor.path, *headings.values()], hidden=False)
    index += [*titled("Modules", "-"), *toctree(children, hidden=False)]
    index += titled("Classes and constants of ac", "-")
    index += toctree(n.path for n in classes)
    index += [*table([*classes, *constants], seen)]
    return {"index": index, **pages}


def all_pages() -> dict[str, Iterable[str]]:
    """Return the lines of each page, by its name."""
    found = modules()
    places = [place for place in found if place != PACKAGE]

    def children(of: str) -> list[str]:
        return [p for p in places if p.rpartition(".")[0] == of]

    seen: dict[Any, str] = {}
    pages = top_pages(children(PACKAGE), seen)
    for place in places:
        pages |= module_page(place, found[place], children(place), seen)
    return pages


def write_pages(folder: Path, texts: dict[str, str]) -> None:
    """Make a folder hold these files and no others.

    What is the same stays untouched, so that Sphinx does not read it again.
    """
    folder.mkdir(exist_ok=True)
    for stale in {*folder.iterdir()} - {folder / name for name in texts}:
        stale.unlink()
    for name, text in texts.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def write(app: Sphinx) -> None:
    texts = {f"{name}.rst": "\n".join(ls) + "\n" for name, ls in all_pages().items()}
    write_pages(Path(app.srcdir) / "reference" / "api", texts)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
