# SPDX-License-Identifier: MIT
"""Hooks on what operators save for the backward pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

from autocalc._dispatch.selection.state import enter, leave
from autocalc._graph._node import Node
from autocalc._graph._noticed import listen, stop
from autocalc._graph._packed import Packed
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import check_type
from autocalc.errors import ArgumentError, DTypeError, GradError


class _Thread(local):
    """The blocks that a thread is in, and why it may enter no other."""

    def __init__(self) -> None:
        self.blocks: list[saved_tensors_hooks] = []
        self.refusal: str | None = None


_thread = _Thread()


class saved_tensors_hooks:
    """Transform the tensors that are saved for the backward pass, and restore them.

    In the ``with`` block, each tensor that an operator saves is passed to `pack_hook`.
    The hook's result is kept instead of the tensor: for example the name of a file, a
    compressed form, or a tensor on another device. The backward pass passes this result
    to `unpack_hook` to get the tensor back. If blocks are nested, only the hooks of the
    inner block are called. In-place changes of a saved tensor are not detected, because
    the packed value is used.

    In the block, Python code records the operators, and compiled functions run eagerly.

    Parameters
    ----------
    pack_hook
        A function ``pack_hook(tensor)`` that returns any object. It must not write into
        the tensor.
    unpack_hook
        A function ``unpack_hook(packed)`` that returns a tensor with the same values.

    Raises
    ------
    ArgumentError
        If one of the two hooks is not a function.
    GradError
        If `disable_saved_tensors_hooks` forbids hooks, or a hook has written into its
        tensor.
    DTypeError
        In the backward pass, if `unpack_hook` does not return a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> def pack(x):
    ...     return x.bfloat16()
    >>> def unpack(x):
    ...     return x.float()
    >>> x = ac.tensor([1.001], requires_grad=True)
    >>> with ac.autograd.graph.saved_tensors_hooks(pack, unpack):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor([2.])
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise ArgumentError(
                    f"saved_tensors_hooks: `{name}` is a {type(hook).__name__}; give a "
                    f"function."
                )
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        """Pack from now on."""
        if _thread.refusal is not None:
            raise GradError(_thread.refusal)
        _thread.blocks.append(self)
        listen(self._pack_node)

    def __exit__(self, *error: object) -> None:
        """Pack no longer."""
        _thread.blocks.pop()
        stop(self._pack_node)

    def _pack_node(self, node: Node) -> None:
        """Pack what a new node of this thread has saved."""
        if node.saved and _thread.blocks and _thread.blocks[-1] is self:
            node.saved = Packed(tuple(map(self._pack, node.saved)), self._unpack)
            node.versions = ()

    def _pack(self, array: Any) -> Any:
        if array is None:
            return None
        tensor = make(array, None)
        before = tensor._cell().count
        token = enter(grad=False)
        try:
            packed = self.pack_hook(tensor)
        finally:
            leave(token)
        if tensor._cell().count != before:
            raise GradError(
                "saved_tensors_hooks: A saved tensor pack hook is modifying its "
                f"input in place. The input has shape {tensor.shape}; change a "
                "clone() instead."
            )
        return (packed,)

    def _unpack(self, packed: Any) -> Any:
        tensor = self.unpack_hook(packed[0])
        if not isinstance(tensor, Tensor):
            raise DTypeError(
                f"saved_tensors_hooks: `unpack_hook` returned a "
                f"{type(tensor).__name__}; it must return a tensor."
            )
        return tensor._array


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors in the CPU's memory until the backward pass.

    Without another device, it has no effect, because all tensors are on the CPU.

    Parameters
    ----------
    pin_memory, device_type
        Accepted so that programs for PyTorch run; they have no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([3.0], requires_grad=True)
    >>> with ac.autograd.graph.save_on_cpu():
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor([6.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        del pin_memory, device_type
        super().__init__(_to_cpu, _from_cpu)


def _to_cpu(x: Tensor) -> Any:
    return x.device, x.cpu()


def _from_cpu(packed: Any) -> Tensor:
    device, x = packed
    moved: Tensor = x.to(device)
    return moved


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Raise an error if `saved_tensors_hooks` is used in a ``with`` block.

    Parameters
    ----------
    error_message
        The text of the error.

    Raises
    ------
    GradError
        If the block is inside a block of `saved_tensors_hooks`; the text of the error
        is `error_message`.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.autograd.graph.disable_saved_tensors_hooks("not in here"):
    ...     with ac.autograd.graph.save_on_cpu():
    ...         pass
    Traceback (most recent call last):
    autocalc.errors.GradError: not in here
    """
    check_type(
        "disable_saved_tensors_hooks", "error_message", error_message, str, "a text"
    )
    if _thread.blocks:
        raise GradError(error_message)
    before, _thread.refusal = _thread.refusal, error_message
    try:
        yield
    finally:
        _thread.refusal = before
