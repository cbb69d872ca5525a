# SPDX-License-Identifier: MIT
"""The base of modules that take sizes from their first input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from autocalc.errors import ModuleError
from autocalc.nn._module.module import Module
from autocalc.nn._module.uninitialized import is_lazy

M = TypeVar("M")

if TYPE_CHECKING:
    _Base = Module
else:  # the first base of `Module`, so that the class of an object can change
    _Base = Generic[M]


class LazyModuleMixin(_Base):
    """Lets a module get the shapes of its parameters from its first input.

    Name this class before the module class among the bases.  The first call of the
    module calls `initialize_parameters` with the arguments of `forward`, before all
    other hooks.  This method gives shapes to the parameters and buffers by
    `materialize`.

    Attributes
    ----------
    cls_to_become
        The class that the module has after its first call.  None means that it keeps
        its class.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.nn.modules.lazy import LazyModuleMixin
    >>> class Scale(LazyModuleMixin, ac.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.scale = ac.nn.UninitializedParameter()
    ...
    ...     def initialize_parameters(self, x):
    ...         self.scale.materialize(x.shape[-1:])
    ...         ac.nn.init.ones_(self.scale)
    ...
    ...     def forward(self, x):
    ...         return self.scale * x
    >>> module = Scale()
    >>> module.has_uninitialized_params()
    True
    >>> module(ac.zeros(2, 3)).shape, module.scale.shape
    (autocalc.Size([2, 3]), autocalc.Size([3]))
    """

    cls_to_become: type[Any] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._wait()

    def _wait(self) -> None:
        """Defer the shapes to the first call."""
        hook = self._infer_parameters
        self._initialize_hook = self.register_forward_pre_hook(hook, with_kwargs=True)

    def _infer_parameters(
        self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Set the shapes before the first forward pass, and change the class."""
        del module
        self.initialize_parameters(*args, **kwargs)
        if lazy := self._uninitialized():
            raise ModuleError(
                f"{type(self).__name__}: its `initialize_parameters` has not given a "
                f"shape to {', '.join(lazy)}; call `materialize` of each."
            )
        self._initialize_hook.remove()
        del self._initialize_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become

    def has_uninitialized_params(self) -> bool:
        """Return whether the shape of a parameter or buffer is not known yet."""
        return bool(self._uninitialized())

    def _uninitialized(self) -> list[str]:
        """Return the names of parameters and buffers whose shape is not known yet."""
        own = {**self._parameters, **self._buffers}
        return [name for name, tensor in own.items() if is_lazy(tensor)]

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give shapes and values to parameters and buffers; subclasses define it."""
        raise NotImplementedError(
            f"{type(self).__name__}: a lazy module needs a method "
            f"`initialize_parameters`, which takes what `forward` takes. Define it in "
            f"its class."
        )
