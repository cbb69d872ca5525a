# SPDX-License-Identifier: MIT
"""Stand-ins for what PyTorch's test helpers need and AutoCalc does not have.

The helpers themselves are files of an installed PyTorch.  What they import of its
engine is replaced here, only in the processes of the tests.
"""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from autocalc._absent import stand_in_by
from autocalc._ops._operator.view_tracker import base_of
from autocalc.distributions._transform import Inverse
from autocalc.torch import _mentioned

#: Modules that are files of PyTorch.
THEIRS = (
    "torch.testing._internal",
    "torch.testing._comparison",
    "torch.testing._creation",
    "torch.testing._utils",
    "torchgen",
    "torch.utils._import_utils",
    "torch.nn._reduction",
    "torch.utils._foreach_utils",
)

#: Modules that a file of this folder replaces.
OURS = {
    "torch.testing._internal.common_methods_invocations": "databases.py",
    "torch.testing._internal.custom_op_db": "databases.py",
    "torch.autograd.gradcheck": "jacobians.py",
}


class _Finder:
    """Finds the helpers in an installed PyTorch."""

    folder = Path(os.environ.get("PYTORCH_TESTS_FILES", "."))

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002  the import system's
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if fullname in OURS:
            place = Path(__file__).with_name(OURS[fullname])
            return importlib.util.spec_from_file_location(fullname, place)
        if not fullname.startswith(THEIRS):
            return None
        place = self.folder.joinpath(*fullname.split("."))
        if fullname.endswith(".opinfo"):  # without the databases
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(place)]
            return spec
        if place.is_dir():
            return importlib.util.spec_from_file_location(
                fullname, place / "__init__.py", submodule_search_locations=[str(place)]
            )
        return importlib.util.spec_from_file_location(fullname, f"{place}.py")


class _Switch:
    """A switch, always off, for a feature that AutoCalc does not have."""

    is_enabled = staticmethod(lambda: False)
    enable = disable = staticmethod(lambda: None)


class _Registry:
    """An operator of PyTorch's dispatcher, whose implementations are never called."""

    def __init__(self, *args: Any, **words: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return lambda *_: lambda function: function


def _same_metadata(equal: Callable[[Any, Any], None], a: Any, b: Any) -> None:
    """Compare everything about two tensors except their elements and their device."""
    for name in ("dtype", "shape", "requires_grad", "is_leaf", "layout"):
        equal(getattr(a, name), getattr(b, name))
    equal((a.stride(), a.storage_offset()), (b.stride(), b.storage_offset()))
    equal(_is_view(a), _is_view(b))
    equal(a.grad is None, b.grad is None)
    if a.grad is not None:
        _same_metadata(equal, a.grad, b.grad)


#: Values that helpers read from PyTorch's engine when they are imported.
VALUES: dict[str, Any] = {
    "torch.backends.xnnpack.enabled": False,
    "torch._utils_internal.IS_FBSOURCE": False,
    "torch._logging.scribe.open_source_signpost": lambda **_: None,
    "torch._C._get_privateuse1_backend_name": lambda: "privateuseone",
    "torch.backends.disable_global_flags": lambda: None,
    "torch.cpu.get_capabilities": dict,
    "torch._utils._is_privateuse1_backend_available": lambda: False,
    "torch._inductor.utils.GPU_TYPES": (),
    "torch._subclasses.meta_utils.assert_metadata_eq": _same_metadata,
    "torch._ops.HigherOrderOperator": _Registry,
    "torch._C._debug_only_are_vmap_fallback_warnings_enabled": lambda: False,
    "torch._C._debug_only_display_vmap_fallback_warnings": lambda _: None,
    "torch._C._functorch._is_vmap_fallback_enabled": lambda: True,
    "torch._C._functorch._set_vmap_fallback_enabled": lambda _: None,
    "torch.cuda.is_initialized": lambda: False,
    "torch.sparse.check_sparse_tensor_invariants": _Switch,
    "torch.cpu._is_avx2_supported": lambda: True,
    "torch.cpu._is_avx512_supported": lambda: True,
    "torch.cpu._is_vnni_supported": lambda: True,
    "torch.cpu._is_amx_tile_supported": lambda: False,
    "torch._dynamo.config.compiled_autograd": False,
    "torch._dynamo.config.suppress_errors": False,
    "torch.compiler.set_stance": lambda _: None,
    "torch._C._TorchFunctionState.ENABLED": 0,
    "torch.ao.nn.quantized.__all__": (),
    "torch.ao.nn.quantizable.__all__": (),
    "torch.ao.nn.qat.__all__": (),
    "torch.ao.nn.quantized.modules.__all__": (),
    "torch.ao.nn.quantizable.modules.__all__": (),
    "torch.ao.nn.qat.modules.__all__": (),
    "torch.storage.TypedStorage": _Switch,
    "torch.is_warn_always_enabled": lambda: False,
    "torch.set_warn_always": lambda _: None,
    "torch.cuda.is_tf32_supported": lambda: False,
    "torch.cuda.is_bf16_supported": lambda: False,
    "torch._utils._element_size": lambda dtype: dtype.itemsize,
    "torch.is_deterministic_algorithms_warn_only_enabled": lambda: False,
    "torch._utils_internal.get_writable_path": lambda path: path,
    "torch._utils_internal.get_file_path_2": os.path.join,
    "torch.utils._mode_utils.no_dispatch": nullcontext,
    "torch._C._DisableFuncTorch": nullcontext,
    "torch.utils.deterministic.fill_uninitialized_memory": False,
    "torch.backends.quantized.supported_engines": (),
    "torch.backends.quantized.engine": "none",
    "torch.distributions.transforms._InverseTransform": Inverse,
    "torch._C._len_torch_function_stack": lambda: 0,
    "torch._C._get_torch_function_state": lambda: 0,
    "torch._C._set_torch_function_state": lambda _: None,
    "torch._C._get_cpu_capability": lambda: "DEFAULT",
}


class _Anything(ModuleType):
    """A module that AutoCalc lacks; calling one of its names is an error."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        path = f"{self.__name__}.{name}"
        return _mentioned.stand_in(self.__name__, name, f"{path} is not in AutoCalc")


ROOTS = ("torch.", "functorch")


class _LastFinder:
    """Finds each module below torch that a test file imports and AutoCalc lacks."""

    collecting = False

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        place = _Finder.folder.joinpath(*fullname.split("."))
        theirs = place.is_dir() or place.with_suffix(".py").exists()
        if not self.collecting or not fullname.startswith(ROOTS) or not theirs:
            return None
        return ModuleSpec(fullname, cast("Any", self), is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Anything(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty."""


_last = _LastFinder()


def collecting(on: bool) -> None:
    """Set whether test files are being imported; they may use absent names."""
    _LastFinder.collecting = on
    builtins.__import__ = _import if on else _python_import


def _import(name: str, *args: Any, **kwargs: Any) -> Any:
    """Import, and give a module of AutoCalc the names that a test file imports."""
    module = _python_import(name, *args, **kwargs)
    if name == "common_utils":  # that of functorch, which looks into the databases
        for one in ("opsToleranceOverride", "skipOps"):
            setattr(module, one, lambda *_, **__: lambda function: function)
    names = args[2] if len(args) > 2 else kwargs.get("fromlist")
    if name.startswith(ROOTS):
        for one in names or ():
            if one != "*" and not hasattr(module, one):
                why = f"{name}.{one} is not in AutoCalc"
                setattr(module, one, _mentioned.stand_in(name, one, why))
    return module


_python_import = builtins.__import__


def _answer(error: AttributeError, place: str, name: str) -> Any:
    try:
        return _mentioned._answer(error, place, name)
    except AttributeError:
        if not _LastFinder.collecting or name.startswith("__"):
            raise
        return _mentioned.stand_in(place, name, str(error))


def _called(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Decorate with an absent name in a test file: return the function unchanged."""
    if _LastFinder.collecting:
        return _mentioned.returns_its_function(*args)
    return _refuse(cls, *args, **kwargs)


_refuse = _mentioned.Mentioned.__call__


def install() -> None:
    """Make the helpers, and what they need, importable."""
    mentioned: Any = _mentioned.Mentioned
    mentioned.__call__ = _called
    finder: Any = _Finder()
    last: Any = _last
    sys.meta_path.insert(0, finder)
    sys.meta_path.append(last)
    stand_in_by(_answer)
    for path, value in VALUES.items():
        place, _, name = path.rpartition(".")
        found = getattr(_module(place), name, None)
        if found is None or isinstance(found, _mentioned.Mentioned):
            setattr(_module(place), name, value)  # what AutoCalc has stays
    tensor: Any = import_module("torch").Tensor
    tensor._base = property(lambda x: base_of(x) if _is_view(x) else None)
    tensor._is_view = _is_view
    tensor._cdata = property(id)
    storage: Any = import_module("torch.storage").TypedStorage
    storage._cdata = property(lambda x: x.data_ptr())
    tensor._grad = tensor.grad
    inverse: Any = Inverse
    inverse._inv = property(lambda x: x.inv)
    import_module("torch.testing._utils")
    _keep("torch.autograd", "gradcheck")
    creation = import_module("torch.testing._creation")
    vars(import_module("torch.testing"))["make_tensor"] = creation.make_tensor


def _module(name: str) -> ModuleType:
    """Return a module, or an empty one if there is none."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        sys.modules[name] = made = ModuleType(name)
        parent, _, last = name.rpartition(".")
        setattr(_module(parent), last, made)
        return made


def _is_view(x: Any) -> bool:
    return base_of(x) is not x


def _keep(place: str, name: str) -> None:
    """Import a module with the name of a function, and keep the function in place."""
    parent = import_module(place)
    function = getattr(parent, name)
    import_module(f"{place}.{name}")
    setattr(parent, name, function)


@contextmanager
def real_random() -> Iterator[None]:
    """Make `randn` of complex numbers return real ones, for tables made at import."""
    torch: Any = import_module("torch")
    randn = torch.randn

    def real(*shape: Any, dtype: Any = None, **settings: Any) -> Any:
        dtype = torch.float64 if dtype == torch.cdouble else dtype
        return randn(*shape, dtype=dtype, **settings)

    torch.randn = real
    try:
        yield
    finally:
        torch.randn = randn
