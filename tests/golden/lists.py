# SPDX-License-Identifier: MIT
"""Golden lists: what users, kernel authors and files rely on, one entry a line.

``python tests/golden/lists.py`` (``make golden``) writes the lists next to this file;
the test compares them.  A difference is a decision: `CHANGES.md` says why in one line.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import autocalc as ac
from autocalc import nn
from autocalc._absent import Refusal
from autocalc._kernels.table import TABLE
from autocalc.nn.parameter import is_lazy

HERE = Path(__file__).parent
SOURCES = Path(ac.__file__).parent

# ---- names ---------------------------------------------------------------------------


def public_modules() -> Iterator[ModuleType]:
    """Yield `autocalc` and its modules whose names have no underscore."""
    yield ac
    for found in pkgutil.walk_packages(ac.__path__, "autocalc."):
        parts = found.name.split(".")
        if any(part.startswith(("_", "test_", "conftest")) for part in parts):
            continue
        if parts[1] == "cli":
            continue
        yield importlib.import_module(found.name)
    for stub in sorted(SOURCES.rglob("*.pyi")):  # PyTorch's other paths
        parts = stub.relative_to(SOURCES).with_suffix("").parts
        if parts[0].startswith("_"):
            continue
        yield importlib.import_module(
            ".".join(("autocalc", *parts)).removesuffix(".__init__")
        )


def signature(function: Any, *, method: bool = False) -> str:
    """Return names, kinds and defaults of parameters, without annotations."""
    if inspect.isclass(function) and issubclass(function, enum.Enum):
        return "(value)"
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return "(...)"
    parameters = list(found.parameters.values())
    parameters = parameters[1:] if method else parameters
    texts = []
    for one in parameters:
        default = "" if one.default is one.empty else f"={default_text(one.default)}"
        texts.append(f"{one.kind.name[:3]} {one.name}{default}")
    return f"({', '.join(texts)})"


def default_text(value: Any) -> str:
    """Return a default as text that is the same in each run."""
    if isinstance(value, (int, float, str, bool, type(None), tuple)):
        return repr(value)
    return getattr(value, "__name__", type(value).__name__)


def names() -> Iterator[str]:
    """Yield every public name with its signature."""
    modules, seen = list(public_modules()), set[int]()
    classes = {
        id(value)
        for module in modules
        for value in vars(module).values()
        if inspect.isclass(value)
    }
    for module in modules:
        public = getattr(module, "__all__", None)
        every = set(public or ()) | {n for n in dir(module) if not n.startswith("_")}
        for name in sorted(every):
            value = getattr(module, name)
            if isinstance(value, ModuleType) or name == "annotations":
                continue
            if public is None and getattr(value, "__module__", "") != module.__name__:
                continue
            full = f"{module.__name__}.{name}"
            if inspect.isclass(value):
                yield f"{full} class {signature(value)}"
                if id(value) not in seen:
                    yield from members(full, value, classes)
                seen.add(id(value))
            elif callable(value):
                yield f"{full} {signature(value)}"
            else:
                yield f"{full} {type(value).__name__}"


#: Methods of Python's protocols that every class has.
_USUAL = set(dir(object)) | {"__module__", "__dict__", "__weakref__", "__slots__"}


def members(full: str, cls: type, public: set[int]) -> Iterator[str]:
    """Yield the members of a class that no public base of it has."""
    if not cls.__module__.startswith("autocalc"):
        return
    if issubclass(cls, enum.Enum):
        yield from (f"{full}.{one.name} {one.value}" for one in cls)
        return
    listed = {b for one in cls.__mro__[1:] if id(one) in public for b in one.__mro__}
    bases = [base for base in cls.__mro__ if base not in listed]
    for name in sorted({name for base in bases for name in vars(base)}):
        own = name == "__init__" or (name.startswith("__") and name not in _USUAL)
        if name.startswith("_") and not own:
            continue
        if name.startswith("__") and cls is not ac.Tensor:
            continue
        value = inspect.getattr_static(cls, name)
        if isinstance(value, Refusal):
            continue
        if isinstance(value, property):
            yield f"{full}.{name} property"
        elif callable(getattr(cls, name)):
            static = isinstance(value, (staticmethod, classmethod))
            function = getattr(cls, name)
            yield f"{full}.{name} {signature(function, method=not static)}"
        else:
            yield f"{full}.{name} {type(value).__name__}"


# ---- kernels -------------------------------------------------------------------------


def kernels() -> Iterator[str]:
    """Yield what kernel packages rely on: signature, dtypes, budget, aliases."""
    for name, spec in sorted(TABLE.items()):
        parts = [spec.signature, " ".join(map(str, spec.dtypes)), spec.budget.text]
        parts += [f"{own}: {one.text}" for own, one in sorted(spec.exceptions.items())]
        parts += [f"defaults {spec.defaults}"] * bool(spec.defaults)
        parts += [f"subnormal {out} is 0" for out in spec.flushes]
        parts += [f"{out} may be {of}" for out, of in spec.alias]
        yield f"{name}: {' | '.join(parts)}"


# ---- keys of modules -----------------------------------------------------------------

#: Constructor arguments of modules, where none would fail or say little.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "BatchNormReLU1d": (3,), "BatchNormReLU2d": (3,), "GroupNorm": (2, 4),
    "LayerNorm": (4,), "RMSNorm": (4,), "Bilinear": (2, 3, 4),
    "Embedding": (5, 3), "EmbeddingBag": (5, 3), "Linear": (3, 2), "Fold": ((4, 4), 2),
    "Unfold": (2,), "PixelShuffle": (2,), "PixelUnshuffle": (2,), "GRU": (3, 4, 2),
    "LSTM": (3, 4, 2), "RNN": (3, 4, 2), "GRUCell": (3, 4), "LSTMCell": (3, 4),
    "RNNBase": ("LSTM", 3, 4), "RNNCellBase": ("GRU", 3, 4, True, None, None),
    "RNNCell": (3, 4), "MultiheadAttention": (4, 2), "Transformer": (4, 2, 1, 1, 8),
    "TransformerEncoderLayer": (4, 2, 8), "TransformerDecoderLayer": (4, 2, 8),
    "Threshold": (0.1, 0.0), "UpsamplingNearest2d": (None, 2),
    "UpsamplingBilinear2d": (None, 2), "Upsample": (None, 2), "Unflatten": (1, (2, 2)),
    **{f"{kind}Pool{d}d": (2,) for d in (1, 2, 3)
       for kind in ("Avg", "Max", "AdaptiveAvg", "AdaptiveMax")},
    **{f"{kind}Norm{d}d": (3,) for d in (1, 2, 3) for kind in ("Batch", "Instance")},
    **{f"{kind}{d}d": (2, 4, 3) for d in (1, 2, 3)
       for kind in ("Conv", "ConvTranspose")},
    **{f"ConstantPad{d}d": (1, 0.0) for d in (1, 2, 3)},
    **{f"{kind}Pad{d}d": (1,) for d in (1, 2, 3)
       for kind in ("Zero", "Reflection", "Replication", "Circular")},
    "ChannelShuffle": (2,), "LPPool1d": (2, 2), "LPPool2d": (2, 2), "MaxUnpool1d": (2,),
    "MaxUnpool2d": (2,), "MaxUnpool3d": (2,), "LPPool3d": (2, 2),
    "LocalResponseNorm": (2,), "QuantizedEmbedding": (5, 32),
    "QuantizedLinear": (32, 2),
    "LazyLinear": (2,), "SyncBatchNorm": (3,),
    **{f"Lazy{kind}{d}d": (4, 3) for d in (1, 2, 3)
       for kind in ("Conv", "ConvTranspose")},
    "FractionalMaxPool2d": (2, 3), "FractionalMaxPool3d": (2, 3),
    "LinearCrossEntropyLoss": (4, 9),
    "AdaptiveLogSoftmaxWithLoss": (4, 9, (3, 5), 2.0, True),
}  # fmt: skip


def modules() -> Iterator[tuple[str, nn.Module]]:
    """Yield every public module class, made with small arguments."""
    for name in sorted(nn.__all__):
        cls = getattr(nn, name)
        if not (inspect.isclass(cls) and issubclass(cls, nn.Module)):
            continue
        if name == "DataParallel":
            yield name, cls(nn.Linear(3, 2))
        elif name == "TransformerEncoder":
            yield name, cls(nn.TransformerEncoderLayer(4, 2, 8), 2)
        elif name == "TransformerDecoder":
            yield name, cls(nn.TransformerDecoderLayer(4, 2, 8), 2)
        else:
            yield name, cls(*ARGUMENTS.get(name, ()))


def state_dict_keys() -> Iterator[str]:
    """Yield the keys and shapes of every module's state."""
    for name, module in modules():
        state = module.state_dict()
        shapes = {
            key: None if is_lazy(value) else tuple(value.shape)
            for key, value in state.items()
        }
        keys = [f"{key} {shape}" for key, shape in shapes.items()]
        yield f"{name}: {'; '.join(keys)}"


# ---- error texts ---------------------------------------------------------------------


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts of an expression, each value in them as {}."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = [
            one.value if isinstance(one, ast.Constant) else "{}" for one in node.values
        ]
        yield "".join(map(str, parts))
    elif isinstance(node, ast.IfExp):
        yield from texts(node.body)
        yield from texts(node.orelse)


#: Functions that check and make the text -> places of function, parameter and need.
DECLARED = {
    "require": (0, 1, 4, "is"),
    "check_type": (0, 1, 4, "is"),
    "check_shape": (0, 1, 3, "has shape"),
}


def declared(node: ast.Call, where: int, name: int, needed: int, verb: str) -> ast.AST:
    """Return the text of a declared check."""
    parts = ["".join(texts(node.args[at])) or "{}" for at in (where, name, needed)]
    return ast.Constant(f"{parts[0]}: `{parts[1]}` {verb} {{}}; it must be {parts[2]}.")


def message_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield expressions that are raised, warned or named `message`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            if isinstance(target, ast.Name) and target.id.endswith("message"):
                yield node.value
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from node.exc.args
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name.endswith(("Error", "Warning", "warn")) and node.args:
                yield node.args[0]
            elif name in DECLARED:
                yield declared(node, *DECLARED[name])


def errors() -> Iterator[str]:
    """Yield every error and warning text in the sources."""
    for path in sorted(SOURCES.rglob("*.py")):
        for node in message_nodes(ast.parse(path.read_text(encoding="utf-8"))):
            for text in texts(node):
                line = " ".join(text.split())
                if len(line) > 12:
                    yield line


# --------------------------------------------------------------------------------------

LISTS: dict[str, Callable[[], Iterator[str]]] = {
    "names": names,
    "kernels": kernels,
    "state_dict_keys": state_dict_keys,
    "errors": errors,
}


def lines(name: str) -> list[str]:
    """Return a list as it is now."""
    return sorted(set(LISTS[name]()))


def main() -> None:
    """Write all lists, or those that are named."""
    for name in sys.argv[1:] or LISTS:
        path = HERE / f"{name}.txt"
        path.write_text("\n".join(lines(name)) + "\n", encoding="utf-8")
        print(f"{path.name}: {len(lines(name))} lines")


if __name__ == "__main__":
    main()
