# SPDX-License-Identifier: MIT
"""Pruning: a parameter is the product of its values and a mask of zeros and ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from autocalc._ops.creation import like
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DimensionError, DTypeError, ShapeError
from autocalc.nn._module.module import Module

if TYPE_CHECKING:
    from typing_extensions import Self


class BasePruningMethod(ABC):
    """The base class of pruning rules, which set elements of a parameter to 0.

    A subclass defines `PRUNING_TYPE` and `compute_mask`.  The method `apply` replaces
    the parameter ``name`` by a parameter ``name_orig`` and a buffer ``name_mask``.  A
    hook sets ``name`` to their product before each forward.

    Attributes
    ----------
    PRUNING_TYPE
        The part of the parameter that another rule can still prune after this one.
        ``"unstructured"``: the elements that are not pruned yet.  ``"structured"``: the
        slices along `dim` that are not pruned yet.  ``"global"``: all elements.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.utils import prune
    >>> class EveryOther(prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask.view(-1)[::2] = 0
    ...         return mask
    >>> layer = ac.nn.Linear(2, 2)
    >>> _ = EveryOther.apply(layer, "weight")
    >>> layer.weight_mask
    tensor([[0., 1.],
            [0., 1.]])
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        """Set the parameter before each forward."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of `t`; it is 0 wherever `default_mask` is 0."""

    def apply_mask(self, module: Module) -> Tensor:
        """Return the product of the parameter's values and the mask."""
        name = self._tensor_name
        values = getattr(module, f"{name}_orig")
        mask: Tensor = getattr(module, f"{name}_mask")
        pruned: Tensor = mask.to(values.dtype) * values
        return pruned

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> Self:
        """Prune the parameter ``module.name``; pruned elements stay pruned.

        `args` and `kwargs` are the arguments of the class.  `compute_mask` gets
        `importance_scores` instead of the values of the parameter; they have its shape.
        """
        method = cls(*args, **kwargs)
        method._tensor_name = name
        before = pruning_of(module, name)
        values = getattr(module, name)
        scores = values if importance_scores is None else importance_scores
        if scores.shape != values.shape:
            raise ShapeError(
                f"{cls.__name__}: `importance_scores` has shape {scores.shape}, but "
                f"the parameter {name!r} has shape {values.shape}; they must be equal."
            )
        if before is None:
            mask = method.compute_mask(scores.detach(), like.ones_like(values.detach()))
            delattr(module, name)
            module.register_parameter(f"{name}_orig", values)
            run: BasePruningMethod = method
        else:
            run = PruningContainer(*_methods_of(before), method)
            old = getattr(module, f"{name}_mask").detach().clone()
            mask = run.compute_mask(scores.detach(), old)
            _forget(module, before)
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, run.apply_mask(module))
        module.register_forward_pre_hook(run)
        return method

    def prune(
        self,
        t: Tensor,
        default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:
        """Return a pruned copy of the tensor `t`; no module is involved."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise ShapeError(
                f"prune: `importance_scores` has shape {scores.shape}, `t` {t.shape}; "
                f"they must be equal."
            )
        mask = like.ones_like(t) if default_mask is None else default_mask
        pruned: Tensor = t * self.compute_mask(scores, mask)
        return pruned

    def remove(self, module: Module) -> None:
        """Store the pruned values as an ordinary parameter; remove the mask."""
        name = self._tensor_name
        pruned = self.apply_mask(module).detach()
        values = getattr(module, f"{name}_orig")
        values.data = pruned
        for one in (name, f"{name}_orig", f"{name}_mask"):
            delattr(module, one)
        setattr(module, name, values)


class PruningContainer(BasePruningMethod):
    """A sequence of pruning rules for one parameter.

    Each rule is applied to the elements that the earlier ones did not prune.

    Examples
    --------
    >>> from autocalc.nn.utils import prune
    >>> rules = prune.PruningContainer()
    >>> rule = prune.L1Unstructured(amount=0.5)
    >>> rule._tensor_name = "weight"
    >>> rules.add_pruning_method(rule)
    >>> len(rules)
    1
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add a pruning rule for the same parameter."""
        if method is None:
            return
        if not isinstance(method, BasePruningMethod):
            raise DTypeError(
                f"PruningContainer: `method` is a {type(method).__name__}; it must be "
                f"a BasePruningMethod."
            )
        name = getattr(method, "_tensor_name", None)
        if not self._pruning_methods and name is not None:
            self._tensor_name = getattr(self, "_tensor_name", name)
        if name != getattr(self, "_tensor_name", name):
            raise ArgumentError(
                f"PruningContainer: this method prunes {name!r}, but the others prune "
                f"{self._tensor_name!r}; all must prune the same parameter."
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return `default_mask` combined with the mask of the last rule."""
        method = self._pruning_methods[-1]
        left = _left_to(method, t, default_mask)
        mask = default_mask.clone()
        mask[left] = method.compute_mask(t[left], default_mask[left]).to(mask.dtype)
        return mask


def _left_to(method: BasePruningMethod, t: Tensor, mask: Tensor) -> Any:
    """Return the index of the elements that a rule may still prune."""
    kind = method.PRUNING_TYPE
    if kind == "global":
        return ...
    if kind == "unstructured":
        return mask == 1
    if kind != "structured":
        raise ArgumentError(
            f"{type(method).__name__}: `PRUNING_TYPE` is {kind!r}; it must be "
            f"'unstructured', 'structured' or 'global'."
        )
    dim = checked_dim(type(method).__name__, t, method.dim)  # type: ignore[attr-defined]  # of structured rules
    others = tuple(d for d in range(t.ndim) if d != dim)
    return (slice(None),) * dim + (mask.sum(others) != 0,)


def checked_dim(where: str, t: Tensor, dim: int) -> int:
    """Return a dimension of `t`, counted from 0."""
    if not -t.ndim <= dim < t.ndim:
        raise DimensionError(
            f"{where}: `dim`={dim} is out of range for {t.ndim} dimensions of shape "
            f"{t.shape}."
        )
    return dim % t.ndim


def _methods_of(method: BasePruningMethod) -> tuple[BasePruningMethod, ...]:
    return tuple(method) if isinstance(method, PruningContainer) else (method,)


def prunings(module: Any) -> list[BasePruningMethod]:
    """Return the pruning rules that a module's hooks apply."""
    hooks = () if module._hooks is None else module._hooks.forward_pre.values()
    found = (hook.function for hook in hooks)
    return [method for method in found if isinstance(method, BasePruningMethod)]


def pruning_of(module: Any, name: str) -> BasePruningMethod | None:
    """Return the pruning rule of a parameter, or None."""
    for method in prunings(module):
        if method._tensor_name == name:
            return method
    return None


def take_away(module: Any, method: BasePruningMethod) -> None:
    """Remove a pruning rule and its hook; keep the pruned values."""
    method.remove(module)
    _forget(module, method)


def _forget(module: Any, method: BasePruningMethod) -> None:
    hooks = module._hooks.forward_pre
    for key in [key for key, hook in hooks.items() if hook.function is method]:
        del hooks[key]
