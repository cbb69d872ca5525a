# SPDX-License-Identifier: MIT
"""Hooks of modules: functions called around calls, states and gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple
from weakref import ref

from autocalc._dispatch._callers import warn
from autocalc._graph._grad_mode import is_grad_enabled
from autocalc._tensor import RemovableHandle, Tensor, node_and_slot
from autocalc.autograd._early import watch
from autocalc.autograd._function import Function
from autocalc.errors import AutocalcWarning, GradError


class Hook(NamedTuple):
    """A user's function, and how it is called.

    With `with_kwargs`, the hook also gets the keyword arguments.  With `with_module`,
    it gets the module.  With `replaces`, its result replaces the state.  With `always`,
    it is also called if `forward` raises, with None as the output.
    """

    function: Callable[..., Any]
    with_kwargs: bool = False
    with_module: bool = True
    replaces: bool = False
    always: bool = False


class Hooks:
    """The hooks of one module, by kind; made when the first one is registered."""

    __slots__ = ("backward", "backward_pre", "forward", "forward_pre",
                 "load_state_post", "load_state_pre", "on_node", "state_post",
                 "state_pre")  # fmt: skip

    def __init__(self) -> None:
        self.forward_pre: dict[int, Hook] = {}
        self.forward: dict[int, Hook] = {}
        self.backward_pre: dict[int, Hook] = {}
        self.backward: dict[int, Hook] = {}
        #: Hooks on the node of the last step: PyTorch's older backward hooks.
        self.on_node: dict[int, Hook] = {}
        self.state_pre: dict[int, Hook] = {}
        self.state_post: dict[int, Hook] = {}
        self.load_state_pre: dict[int, Hook] = {}
        self.load_state_post: dict[int, Hook] = {}

    def __getstate__(self) -> dict[str, dict[int, Hook]]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: dict[str, dict[int, Hook]]) -> None:
        """Restore hooks that were copied or pickled, and reserve their keys."""
        self.__init__()  # type: ignore[misc]  # for kinds that an older state lacks
        for name, hooks in state.items():
            setattr(self, name, hooks)
            RemovableHandle.keep_free_of(hooks)


#: Hooks of the process on every module call, with their kinds (`global_hooks`).
ON_CALLS: dict[int, tuple[str, Hook]] = {}


def with_those_of_all(hooks: Hooks | None) -> Hooks:
    """Return the hooks of all modules, followed by the hooks of this module."""
    own, merged = hooks or Hooks(), Hooks()
    for name in ("forward_pre", "forward", "backward_pre", "backward", "on_node"):
        first = {key: hook for key, (kind, hook) in ON_CALLS.items() if kind == name}
        setattr(merged, name, {**first, **getattr(own, name)})
    return merged


def call_forward(
    module: Any, hooks: Hooks, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a module's forward() between its hooks."""
    if not any(hook.always for hook in hooks.forward.values()):
        return _call_forward(module, hooks, args, kwargs, set())
    called: set[int] = set()
    try:
        return _call_forward(module, hooks, args, kwargs, called)
    except Exception:
        for key, hook in tuple(hooks.forward.items()):
            if hook.always and key not in called:
                _call_after_error(hook, module, args, kwargs)
        raise


def _call_after_error(
    hook: Hook, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    given = (args, kwargs) if hook.with_kwargs else (args,)
    try:
        hook.function(module, *given, None)
    except Exception as error:
        warnings.warn(
            f"{type(module).__name__}: a forward hook raised {error!r} after forward "
            f"had raised; the first error counts.",
            AutocalcWarning,
            stacklevel=4,
        )


def _call_forward(
    module: Any,
    hooks: Hooks,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    called: set[int],
) -> Any:
    for hook in tuple(hooks.forward_pre.values()):
        if hook.with_kwargs:
            changed = hook.function(module, args, kwargs)
            if changed is not None:
                args, kwargs = changed
        else:
            changed = hook.function(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    backward_hook = None
    if (hooks.backward or hooks.backward_pre) and is_grad_enabled():
        backward_hook = BackwardHook(module, hooks.backward, hooks.backward_pre)
        args = backward_hook.setup_input_hook(args)
    output = module.forward(*args, **kwargs)
    for key, hook in tuple(hooks.forward.items()):
        called.add(key)
        given = (args, kwargs) if hook.with_kwargs else (args,)
        changed = hook.function(module, *given, output)
        output = output if changed is None else changed
    if hooks.on_node:
        _hook_node(module, hooks.on_node, args, output)
    return output if backward_hook is None else backward_hook.setup_output_hook(output)


def _hook_node(module: Any, hooks: dict[int, Hook], args: Any, output: Any) -> None:
    """Register hooks on the node that made the first tensor of an output."""
    wrong = _misled(args, output)
    if wrong:
        warn(
            f"{type(module).__name__}: its backward hooks see only the last step of "
            f"the call, and {wrong}. Use register_full_backward_hook.",
            FutureWarning,
        )
    while not isinstance(output, Tensor):
        mapping = isinstance(output, Mapping)
        output = next(iter(output.values() if mapping else output))
    node = output.grad_fn
    for hook in () if node is None else tuple(hooks.values()):
        node.register_hook(partial(hook.function, module))


def _misled(args: Any, output: Any) -> str:
    """Return why hooks on the last node miss gradients of a call, or ""."""
    if not all(isinstance(x, Tensor) for x in args):
        return "the module does not take as input a single Tensor or a tuple of Tensors"
    outputs = (output,) if isinstance(output, Tensor) else output
    if not isinstance(outputs, tuple) or not all(
        isinstance(y, Tensor) for y in outputs
    ):
        return "the module does not return a single Tensor or a tuple of Tensors"
    made = {id(y.grad_fn): y.grad_fn for y in outputs if y.grad_fn is not None}
    if len(made) > 1:
        return "the outputs are generated by different autograd Nodes"
    given = {id(x.grad_fn) for x in args}
    before = [node for last in made.values() for node, _ in last.next_functions]
    inner = [x for x in before if x is not None and x.next_functions]
    if any(id(node) not in given for node in inner):
        return "the forward contains multiple autograd Nodes"
    return ""


def one_kind_only(where: str, others: dict[int, Any]) -> None:
    """Refuse to mix backward hooks of the last step and of the whole call."""
    if others:
        raise GradError(
            f"{where}: the module has backward hooks of the other kind. Use either "
            f"register_full_backward_hook or register_backward_hook, not both."
        )


class _BackwardHookFunction(Function):
    """Return the tensors unchanged; call a function on all their gradients together."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.passed = args[0]
        return tuple(x.view(x.shape) for x in args[1:])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None, *ctx.passed(grads))


class BackwardHook:
    """The backward hooks of one call of a module.

    The inputs enter through one node, and the outputs leave through another one.  So a
    backward pass delivers the gradients of all of them together.
    """

    def __init__(
        self, module: Any, hooks: dict[int, Hook], pre_hooks: dict[int, Hook]
    ) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.n_inputs = 0
        self.places: list[int] = []
        self.grad_output: tuple[Any, ...] = ()
        #: The pass that reached the output, and whether the same pass is now at the
        #: input.
        self.begun: Callable[[], Any] = _nobody
        self.is_whole = False

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Pass the positional arguments that require a gradient through one node."""
        self.n_inputs = len(args)
        self.places = [i for i, x in enumerate(args) if _differentiable(x)]
        if not self.places:
            return args
        passed = _BackwardHookFunction.apply(
            self._input_grads, *(args[i] for i in self.places)
        )
        watch(node_and_slot(passed[0]._edge)[0], self._at_input)
        through = dict(zip(self.places, passed, strict=True))
        return tuple(through.get(i, x) for i, x in enumerate(args))

    def _at_input(self, walk: Any, _node: Any) -> None:
        self.is_whole = self.begun() is walk

    def _at_output(self, walk: Any, _node: Any) -> None:
        self.begun = ref(walk)

    def setup_output_hook(self, output: Any) -> Any:
        """Pass the output, a tensor or a tuple of tensors, through one node."""
        outputs = (output,) if isinstance(output, Tensor) else output
        if not isinstance(outputs, (tuple, list)):
            warnings.warn(
                f"{type(self.module).__name__}: its backward hooks are not called, "
                f"because its `forward` returned a {type(output).__name__}. The output "
                "should be a Tensor or a tuple of Tensors.",
                AutocalcWarning,
                stacklevel=5,
            )
            return output
        places = [i for i, y in enumerate(outputs) if _differentiable(y)]
        if not places:
            return output
        n = len(outputs)

        def output_grads(grads: tuple[Any, ...]) -> tuple[Any, ...]:
            return self._output_grads(n, places, grads)

        passed = _BackwardHookFunction.apply(
            output_grads, *(outputs[i] for i in places)
        )
        watch(node_and_slot(passed[0]._edge)[0], self._at_output)
        if isinstance(output, Tensor):
            return passed[0]
        through = dict(zip(places, passed, strict=True))
        parts = [through.get(i, y) for i, y in enumerate(outputs)]
        named = hasattr(output, "_fields")
        return type(output)(*parts) if named else type(output)(parts)

    def _output_grads(
        self, n: int, places: list[int], grads: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        given = _spread(n, places, grads)
        for hook in tuple(self.pre_hooks.values()):
            given = _replaced(hook.function(self.module, given), given)
        self.grad_output = given
        if not self.places:  # no input node will call the hooks
            self._run((None,) * self.n_inputs)
        return tuple(given[i] for i in places)

    def _input_grads(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        if not self.is_whole:
            # A second derivative reaches the input without passing the output.
            return grads
        found = self._run(_spread(self.n_inputs, self.places, grads))
        return tuple(found[i] for i in self.places)

    def _run(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        for hook in tuple(self.hooks.values()):
            changed = hook.function(self.module, given, self.grad_output)
            given = _replaced(changed, given)
            if not self.places and any(one is not None for one in given):
                raise GradError(
                    "backward hook: returned gradients for a call where no input "
                    "requires gradient; return None."
                )
        self.grad_output = ()
        self.begun = _nobody
        return given


def _nobody() -> None:
    """Return None, like a weak reference to a deleted object."""


def _differentiable(x: Any) -> bool:
    return isinstance(x, Tensor) and x.requires_grad


def _spread(n: int, places: list[int], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return `values` at their places among `n`, with None elsewhere."""
    at = dict(zip(places, values, strict=True))
    return tuple(at.get(i) for i in range(n))


def _replaced(changed: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the gradients that a hook returned; None keeps the given ones."""
    if changed is None:
        return given
    result = changed if isinstance(changed, tuple) else (changed,)
    if len(result) != len(given):
        raise GradError(
            f"backward hook: got {len(result)}, but expected {len(given)} gradients; "
            f"return None, or one for each."
        )
    return result


def run(hooks: dict[int, Hook], *args: Any) -> None:
    """Call each hook and ignore its result."""
    for hook in tuple(hooks.values()):
        hook.function(*args)
