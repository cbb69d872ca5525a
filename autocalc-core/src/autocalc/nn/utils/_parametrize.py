# SPDX-License-Identifier: MIT
"""Parameters that are computed from others at each access.

``module.weight`` of a parametrized weight is ``parametrization(original)``.  The
original is a parameter of ``module.parametrizations.weight``.  The module gets a class
of its own, in which the weight is a property.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag, check_type
from autocalc.errors import ArgumentError, DTypeError, ModuleError, ShapeError
from autocalc.nn._layers.containers.container import ModuleList
from autocalc.nn._layers.containers.named import ModuleDict
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter

#: The attribute in which a module keeps its parametrizations, by name of the tensor.
_PLACE = "parametrizations"


class _Cache:
    """Results that were computed within `cached`."""

    depth = 0
    values: dict[tuple[int, str], Tensor] = {}  # noqa: RUF012  there is one cache


@contextmanager
def cached() -> Iterator[None]:
    """Return a context in which each parametrized tensor is computed only once.

    The underlying parameters must not be changed in this context.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.utils import parametrize, parametrizations
    >>> layer = parametrizations.weight_norm(ac.nn.Linear(2, 2))
    >>> with parametrize.cached():
    ...     layer.weight is layer.weight
    True
    >>> layer.weight is layer.weight
    False
    """
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.values.clear()


def is_cached() -> bool:
    """Return whether parametrized tensors are cached at the moment, in `cached`."""
    return _Cache.depth > 0


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied one after the other.

    Parameters
    ----------
    modules
        The parametrizations, in the order in which they are applied.
    original
        The tensor to parametrize.  If the parametrizations have a method
        ``right_inverse``, the result of this method is stored instead of `original`.
        The result may be several tensors.
    unsafe
        True if the parametrizations may change the shape and the dtype.

    Attributes
    ----------
    original
        The stored parameter.  If there are several, they are ``original0``,
        ``original1`` and so on.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Doubled(ac.nn.Module):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> parametrize = ac.nn.utils.parametrize
    >>> given = ac.tensor([1.0, 3.0])
    >>> parametrize.ParametrizationList([Doubled(), Doubled()], given)()
    tensor([ 4., 12.])
    """

    def __init__(
        self, modules: Sequence[Module], original: Tensor, unsafe: bool = False
    ) -> None:
        super().__init__(modules)
        self.unsafe = unsafe
        with no_grad():
            kept = self._inverted(original, strict=False)
            if not unsafe:
                parts = (kept,) if isinstance(kept, Tensor) else kept
                _check_like(self._applied(parts), original, "the parametrizations give")
        if isinstance(kept, Tensor) and kept.dtype is not original.dtype:
            raise DTypeError(
                "register_parametrization: if `right_inverse` outputs one tensor, it "
                f"may not change the dtype from {original.dtype.name} to "
                f"{kept.dtype.name}."
            )
        self.is_tensor = isinstance(kept, Tensor)
        self.ntensors = 1 if isinstance(kept, Tensor) else len(kept)
        if isinstance(kept, Tensor):
            self._keep("original", original, kept)
        else:
            for i, part in enumerate(kept):
                self._keep(f"original{i}", original, part)

    def _keep(self, name: str, original: Tensor, kept: Tensor) -> None:
        """Register `kept` as the kind of the tensor before: a parameter or a buffer."""
        if not isinstance(original, Parameter):
            self.register_buffer(name, kept.detach())
        elif kept is original:
            self.register_parameter(name, original)
        elif kept.shape == original.shape and name == "original":
            original.data = kept.detach()
            self.register_parameter(name, original)  # the one in the optimizers
        else:
            made = Parameter(kept.detach(), original.requires_grad)
            self.register_parameter(name, made)

    def _inverted(self, value: Any, *, strict: bool) -> Any:
        """Return the originals from which the parametrizations compute `value`."""
        for module in reversed(list(self)):
            inverse = getattr(module, "right_inverse", None)
            if inverse is None:
                if strict:
                    raise ModuleError(
                        f"{type(module).__name__}: it has no right_inverse(), so "
                        "nothing can be assigned to the parametrized tensor."
                    )
                continue
            try:
                value = inverse(value)
            except NotImplementedError:
                if strict:
                    raise
        _check_inverse(value)
        return value

    def originals(self) -> tuple[Tensor, ...]:
        """Return the stored parameters as a list."""
        numbers = range(self.ntensors)
        names = ["original"] if self.is_tensor else [f"original{i}" for i in numbers]
        return tuple(getattr(self, name) for name in names)

    def right_inverse(self, value: Tensor) -> None:
        """Store parameters from which the parametrizations compute `value`."""
        with no_grad():
            kept = self._inverted(value, strict=True)
            kept = (kept,) if isinstance(kept, Tensor) else tuple(kept)
            given = [k._array.shape for k in kept]
            needed = [o._array.shape for o in self.originals()]
            if given != needed:
                raise ShapeError(
                    f"right_inverse: returned the shapes {given}, but the original "
                    f"tensors have the shapes {needed}."
                )
            for original, part in zip(self.originals(), kept, strict=True):
                original.copy_(part)

    def forward(self) -> Tensor:
        """Return the parametrized tensor."""
        return self._applied(self.originals())

    def _applied(self, originals: Sequence[Tensor]) -> Tensor:
        """Return the parametrized tensor, computed from the originals."""
        first, *rest = self
        value: Tensor = first(*originals)
        for module in rest:
            value = module(value)
        return value


def _check_inverse(value: Any) -> None:
    """Raise unless a `right_inverse` returned a tensor or several of them."""
    several = isinstance(value, (tuple, list))
    for i, part in enumerate(value if several else (value,)):
        if not isinstance(part, Tensor):
            which = f"element {i} of the sequence with type" if several else "a"
            raise DTypeError(
                "right_inverse: it must return a Tensor or a Sequence of tensors, but "
                f"it returned {which} {type(part).__name__}."
            )


# ---- the classes of parametrized modules ---------------------------------------------


@cache
def _class_with(base: type[Module], names: frozenset[str]) -> type[Module]:
    """Return a subclass of `base` that has these tensors as properties."""
    properties: dict[str, Any] = {name: _property(name) for name in names}
    properties["_parametrized_base"] = base
    properties["__reduce_ex__"] = _reduced
    return type(f"Parametrized{base.__name__}", (base,), properties)


def _reduced(self: Module, protocol: Any) -> Any:
    """Make copies and pickles find the class, which cannot be imported by name."""
    reduced: Any = object.__reduce_ex__(self, max(int(protocol), 2))
    names = frozenset(getattr(self, _PLACE).keys())
    return (_made_with, (type_before_parametrizations(self), names), *reduced[2:])


def _made_with(base: Any, names: frozenset[str]) -> Module:
    found = _class_with(base, names)
    return found.__new__(found)


def _property(name: str) -> property:
    def read(self: Module) -> Tensor:
        found = getattr(self, _PLACE)[name]
        if not _Cache.depth:
            return found()  # type: ignore[no-any-return]  # a tensor
        key = id(self), name
        if key not in _Cache.values:
            _Cache.values[key] = found()
        return _Cache.values[key]

    def assign(self: Module, value: Tensor) -> None:
        getattr(self, _PLACE)[name].right_inverse(value)

    return property(read, assign)


def type_before_parametrizations(module: Module) -> type[Module]:
    """Return the class of a module before it was parametrized.

    Parameters
    ----------
    module
        The module.  If it is not parametrized, its class is returned.

    Examples
    --------
    >>> import autocalc as ac
    >>> parametrize = ac.nn.utils.parametrize
    >>> layer = ac.nn.Linear(2, 2)
    >>> layer = parametrize.register_parametrization(layer, "weight", ac.nn.Tanh())
    >>> type(layer).__name__, parametrize.type_before_parametrizations(layer).__name__
    ('ParametrizedLinear', 'Linear')
    """
    base: type[Module] = getattr(module, "_parametrized_base", type(module))
    return base


def _let_be_computed(module: Module) -> None:
    """Give the module the class for its current parametrizations."""
    base: Any = type_before_parametrizations(module)
    lists = module.__dict__.get(_PLACE, {})
    names = frozenset(lists.keys()) if lists else frozenset()
    module.__class__ = _class_with(base, names) if names else base


# ---- what users call -----------------------------------------------------------------


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Parametrize a tensor of a module: compute it at each access from another tensor.

    Parameters
    ----------
    module
        The module.  It is changed in place and returned.
    tensor_name
        The name of a parameter or buffer.  If it is parametrized already, the new
        parametrization is applied last.
    parametrization
        A module whose ``forward`` computes the tensor from the stored parameter.  If it
        has a method ``right_inverse``, the tensor can be assigned.  If
        ``parametrization(right_inverse(x))`` is x, the tensor keeps its current value.
        ``right_inverse`` may return several tensors; they are then the arguments of
        ``forward``.
    unsafe
        True if the parametrization may change the shape and the dtype.

    Raises
    ------
    ModuleError
        If the module has no such tensor.
    ShapeError, DTypeError
        If the result has another shape or dtype and `unsafe` is False.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.utils import parametrize
    >>> class Symmetric(ac.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = ac.nn.Linear(3, 3)
    >>> _ = parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> ac.equal(layer.weight, layer.weight.T)
    True
    >>> list(layer.state_dict())
    ['bias', 'parametrizations.weight.original']
    """
    where = "register_parametrization"
    check_flag(where, "unsafe", unsafe)
    given: dict[str, Any] = {"module": module, "parametrization": parametrization}
    for name, value in given.items():
        check_type(where, name, value, Module, "a Module")
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _append(module, tensor_name, parametrization, unsafe)
        return module
    original = _own_tensor(where, module, tensor_name)
    made = ParametrizationList([parametrization], original, unsafe)
    delattr(module, tensor_name)
    if _PLACE not in module.__dict__:
        module.register_module(_PLACE, ModuleDict())
    getattr(module, _PLACE)[tensor_name] = made
    _let_be_computed(module)
    return module


def _own_tensor(where: str, module: Module, name: Any) -> Tensor:
    for registry in (module._parameters, module._buffers):
        if isinstance(name, str) and registry.get(name) is not None:
            return registry[name]  # type: ignore[no-any-return]  # a tensor
    known = ", ".join([*module._parameters, *module._buffers]) or "none"
    raise ModuleError(
        f"{where}: {type(module).__name__} does not have a parameter or buffer "
        f"{name!r}; it has {known}."
    )


def _append(module: Module, name: str, parametrization: Module, unsafe: bool) -> None:
    """Apply one more parametrization after the others."""
    if not unsafe:
        now = getattr(module, name)
        found = parametrization(now)
        _check_like(found, now, "the parametrization gives")
        if hasattr(parametrization, "right_inverse"):
            _check_inverse_like(parametrization.right_inverse(found), now)
    kept = getattr(module, _PLACE)[name]
    kept.append(parametrization)
    kept.unsafe |= unsafe


def _check_inverse_like(found: Any, wanted: Tensor) -> None:
    """Raise unless `found` is a tensor that another parametrization can compute."""
    where = "register_parametrization: right_inverse must"
    if not isinstance(found, Tensor):
        raise DTypeError(
            f"{where} return a tensor, because it is not the first parametrization; it "
            f"returned a {type(found).__name__}."
        )
    if found.dtype is not wanted.dtype or found.shape != wanted.shape:
        kind = "shape" if found.dtype is wanted.dtype else "dtype"
        raise ShapeError(
            f"{where} return a tensor; it must have the same {kind} as before: "
            f"{getattr(wanted, kind)}, not {getattr(found, kind)}. Pass unsafe=True to "
            "allow it."
        )


def _check_like(found: Any, wanted: Tensor, what: str) -> None:
    """Raise unless `found` has the shape and dtype of `wanted`."""
    if not isinstance(found, Tensor):
        raise DTypeError(
            "register_parametrization: a parametrization must return a tensor, but "
            f"{what} a {type(found).__name__}."
        )
    if found.dtype is not wanted.dtype:
        raise DTypeError(
            "register_parametrization: Registering a parametrization may not change "
            f"the dtype of the tensor, {wanted.dtype.name}, but {what} "
            f"{found.dtype.name}; pass unsafe=True to allow it."
        )
    if found.shape != wanted.shape:
        raise ShapeError(
            "register_parametrization: Registering a parametrization may not change "
            f"the shape of the tensor, {wanted.shape}, but {what} {found.shape}; pass "
            "unsafe=True to allow it."
        )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a tensor of a module is parametrized.

    Parameters
    ----------
    module
        The module to examine.
    tensor_name
        The name of the tensor.  None tests whether any tensor of the module is
        parametrized.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.utils.parametrize.is_parametrized(ac.nn.Linear(2, 2))
    False
    """
    lists = getattr(module, "__dict__", {}).get(_PLACE)
    if not isinstance(lists, ModuleDict):
        return False
    return len(lists) > 0 if tensor_name is None else tensor_name in lists


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Turn a parametrized tensor back into an ordinary parameter or buffer.

    Parameters
    ----------
    module
        The module.  It is changed in place and returned.
    tensor_name
        The name of the parametrized tensor.
    leave_parametrized
        True to keep the current value.  False to restore the stored parameter.

    Raises
    ------
    ModuleError
        If the tensor is not parametrized.
    ArgumentError
        If `leave_parametrized` is False and several parameters are stored.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.utils import parametrize, parametrizations
    >>> layer = parametrizations.weight_norm(ac.nn.Linear(2, 2))
    >>> parametrize.remove_parametrizations(layer, "weight")
    Linear(in_features=2, out_features=2, bias=True)
    """
    where = "remove_parametrizations"
    check_flag(where, "leave_parametrized", leave_parametrized)
    if not is_parametrized(module, tensor_name):
        raise ModuleError(
            f"{where}: {type(module).__name__} does not have a parametrization on "
            f"{tensor_name!r}."
        )
    lists = getattr(module, _PLACE)
    found = lists[tensor_name]
    if not leave_parametrized and not found.is_tensor:
        raise ArgumentError(
            f"{where}: leave_parametrized=False works only if a parameter is computed "
            f"from one original tensor, but {tensor_name!r} is computed from "
            f"{found.ntensors}."
        )
    tensor = _plain(found, leave_parametrized)
    del lists[tensor_name]
    _let_be_computed(module)
    if not len(lists):
        delattr(module, _PLACE)
    if isinstance(tensor, Parameter):
        module.register_parameter(tensor_name, tensor)
    else:
        module.register_buffer(tensor_name, tensor)
    return module


def _plain(found: ParametrizationList, leave_parametrized: bool) -> Tensor:
    """Return the plain tensor that replaces a parametrized one."""
    first, *others = found.originals()
    if not leave_parametrized:
        return first
    with no_grad():
        value: Tensor = found().detach().clone()
    if not isinstance(first, Parameter):
        return value
    if others or first.dtype is not value.dtype:
        return Parameter(value, first.requires_grad)
    first.data = value  # the parameter in the optimizers
    return first
