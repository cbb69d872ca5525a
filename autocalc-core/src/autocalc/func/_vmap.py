# SPDX-License-Identifier: MIT
"""`vmap`: run a function of one example on all examples at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

from autocalc._dispatch.device.batches import Level
from autocalc._dispatch.device.device import host_dtype, is_batched, united
from autocalc._dispatch.device.levels import levels_of
from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops.arranging.joining import cat
from autocalc._ops.views.levels import hide, show
from autocalc._tensor import Tensor
from autocalc._tensor.generator import (
    Generator,
    default_generator,
    draw,
    drawing_from,
    generator_here,
)
from autocalc.autograd._levels import entered
from autocalc.errors import ArgumentError, DimensionError, VmapError
from autocalc.func._function_rules import spread
from autocalc.utils._pytree import TreeSpec, tree_flatten, tree_unflatten


def is_count(chunk_size: Any) -> bool:
    """Return whether this is None or a positive integer."""
    return chunk_size is None or (isinstance(chunk_size, int) and chunk_size > 0)


_RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that maps `func` over a dimension of its arguments.

    `func` computes for one example.  The returned function computes for all examples
    with the same number of kernel calls: inside of it, each tensor hides the dimension
    of the examples.  Calls of `vmap` can be nested, and combined with `grad`, `jvp` and
    the other transforms.

    Parameters
    ----------
    func
        A function of tensors, or of lists, tuples and dicts of tensors, that returns
        one or several tensors.
    in_dims
        The dimension of each argument that counts the examples; None for an argument
        that all examples share.  One number for all arguments, or a tuple with one
        entry for each.  An entry can have the structure of its argument.
    out_dims
        The place of this dimension in each result: one number, or a structure like the
        result's.
    randomness
        ``"error"`` to raise an error if `func` calls a random function,
        ``"different"`` to draw other numbers for each example, or ``"same"`` to draw
        the same numbers for all examples.
    chunk_size
        The largest number of examples that are computed at once, to save memory.  None
        means all of them.

    Returns
    -------
    function
        It takes the arguments of `func`, with the additional dimension.  Keyword
        arguments are passed on without a change.

    Raises
    ------
    ArgumentError
        If dimensions do not fit the arguments, or the arguments have different numbers
        of examples.
    VmapError
        If `func` reads values in Python, or writes results of each example into a
        tensor that all examples share.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ac.vmap(lambda row: row.sum() * row)(x)
    tensor([[ 3.,  6.],
            [21., 28.]])
    """
    if randomness not in _RANDOMNESS:
        raise ArgumentError(
            f"vmap: `randomness` is {randomness!r}; Only allowed values for randomness "
            f"are 'error', 'different', or 'same'."
        )
    if not is_count(chunk_size):
        raise ArgumentError(
            f"vmap: chunk_size should be None or greater than 0. (got {chunk_size!r})"
        )

    @wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = tree_flatten(args)
        dims = _in_dims(in_dims, args, spec, leaves)
        size = _batch_size(leaves, dims)

        def run(parts: list[Any], count: int) -> Any:
            with _entered(count, randomness) as level:
                inputs = [
                    x if dim is None else hide(x, level, dim)
                    for x, dim in zip(parts, dims, strict=True)
                ]
                results = func(*tree_unflatten(inputs, spec), **kwargs)
                given = {
                    id(x): (whole, dim)
                    for x, whole, dim in zip(inputs, parts, dims, strict=True)
                    if dim is not None
                }
                return _shown(results, level, out_dims, given)

        if chunk_size is None or chunk_size >= size:
            return run(leaves, size)
        same = randomness == "same"
        return _in_chunks(run, leaves, dims, size, chunk_size, out_dims, same)

    return mapped


# ---- dimensions of arguments ---------------------------------------------------------


def _in_dims(
    in_dims: Any, args: tuple[Any, ...], spec: TreeSpec, leaves: list[Any]
) -> list[int | None]:
    """Return the dimension of each leaf of the arguments, counted from the front."""
    if not isinstance(in_dims, (int, tuple)):
        raise ArgumentError(
            f"vmap: `in_dims` is a {type(in_dims).__name__}; expected `in_dims` to be "
            f"int or a (potentially nested) tuple matching the structure of inputs."
        )
    if not leaves:
        raise ArgumentError(
            "vmap: the function got no inputs. Maybe you forgot to add inputs, or you "
            "are trying to vmap over a function with no inputs. Give at least one "
            "tensor."
        )
    dims = spread(in_dims, spec)
    if dims is None:
        raise ArgumentError(
            f"vmap: in_dims is not compatible with the structure of `inputs`: it is "
            f"{in_dims!r} for {len(args)} arguments; give one number, or a tuple with "
            f"one entry for each argument."
        )
    return [_checked_dim(x, dim) for x, dim in zip(leaves, dims, strict=True)]


def _checked_dim(x: Any, dim: int | None) -> int | None:
    if dim is None:
        return None
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise ArgumentError(
            f"vmap: an entry of `in_dims` is {dim!r}; expected `in_dims` to be an int "
            f"or None for each input."
        )
    if not isinstance(x, Tensor):
        raise ArgumentError(
            f"vmap: Got in_dim={dim} for an input but the input is of type "
            f"{type(x).__name__}. We cannot vmap over non-Tensor arguments, please use "
            f"None as the respective in_dim."
        )
    if not -x.ndim <= dim < x.ndim:
        raise ArgumentError(
            f"vmap: Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {x.ndim} so expected in_dim to satisfy "
            f"-{x.ndim} <= in_dim < {x.ndim}."
        )
    return dim % x.ndim


def _batch_size(leaves: list[Any], dims: list[int | None]) -> int:
    """Return the number of examples, which must be the same in all arguments."""
    sizes = [
        x.shape[dim] for x, dim in zip(leaves, dims, strict=True) if dim is not None
    ]
    if not sizes:
        raise ArgumentError(
            "vmap: at least one Tensor must have a dimension of examples, but all "
            "entries of `in_dims` are None. Use 0 for one of them."
        )
    if len(set(sizes)) > 1:
        raise ArgumentError(
            f"vmap: Expected all tensors to have the same size in the mapped "
            f"dimension, got sizes {sizes} for the mapped dimension."
        )
    return int(sizes[0])


# ---- levels --------------------------------------------------------------------------


@contextmanager
def _entered(size: int, randomness: str) -> Iterator[Level]:
    """Make a level for one call, and the generator of random numbers inside of it."""
    above = generator_here()
    with entered(size) as level:
        level.randomness = randomness
        drawn = _Draws(level, randomness, above)
        with drawing_from(lambda: drawn):
            yield level


class _Draws(Generator):
    """The generator of random numbers inside of `vmap`."""

    __slots__ = ("_above", "_level", "_randomness")

    def __init__(self, level: Level, randomness: str, above: Generator) -> None:
        super().__init__()
        self._level, self._randomness, self._above = level, randomness, above

    def draw(self, words: int) -> tuple[Any, Any]:
        """Take words for one example, or for all of them."""
        if self._randomness == "error":
            raise VmapError(
                "vmap: a random function was called, and it is not known whether all "
                "examples get the same numbers: called random operation while in "
                "randomness error mode. Specify randomness='different' or 'same', or "
                "draw the numbers outside of vmap."
            )
        if self._randomness == "same":
            return self._drawn(words)
        size = self._level.size
        seed, offset = self._drawn(words * size)
        steps = arrays.mul(arrays.arange(size, seed), arrays.constant(words, like=seed))
        return seed, arrays.hidden(arrays.add(steps, offset), self._level, 0)

    def _drawn(self, words: int) -> tuple[Any, Any]:
        above = self._above
        if above is default_generator:  # whose own method would come back here
            return draw(above, words)
        return above.draw(words)

    def _drawn_dtype(self, dtype: Any) -> Any:
        """Return the dtype of memory for the numbers of all examples."""
        dtype = self._above._drawn_dtype(dtype)
        if self._randomness != "different":
            return dtype
        one = np.empty((self._level.size,), host_dtype(dtype))
        mine = arrays.hidden(one, self._level, 0).dtype
        return united([dtype, mine]) if is_batched(dtype) else mine

    def _over(self, generator: Generator) -> Generator:
        """Return a generator that draws from `generator` for each example."""
        above = self._above
        above = above._over(generator) if isinstance(above, _Draws) else generator
        return _Draws(self._level, self._randomness, above)

    def _for_all(self, draws: Callable[..., Any], *operands: Any) -> Any:
        """Draw for all examples at once, or once for all of them."""
        level, above = self._level, self._above
        if self._randomness == "error":
            self.draw(0)  # raises
        if self._randomness == "same":
            if any(level in levels_of(x._array) for x in operands):
                raise VmapError(
                    "vmap: randomness='same', but the distribution differs between the "
                    "examples, and they need different numbers of draws. Vmap does not "
                    "currently support same randomness with a batched tensor input to "
                    "this function. Use randomness='different'."
                )
            return above._for_all(draws, *operands)
        full = [show(x, level, 0) for x in operands]
        return hide(above._for_all(draws, *full), level, 0)

    def get_state(self) -> dict[str, int]:
        """Return the state of the generator outside of `vmap`."""
        if self._above is default_generator:
            return Generator.get_state(self._above)
        return self._above.get_state()

    def set_state(self, state: dict[str, int]) -> Generator:
        """Restore the state of the generator outside of `vmap`."""
        if self._above is default_generator:
            Generator.set_state(self._above, state)
        else:
            self._above.set_state(state)
        return self

    def manual_seed(self, seed: int) -> Generator:
        """Seed the generator outside of `vmap`."""
        if self._above is default_generator:
            Generator.manual_seed(self._above, seed)
        else:
            self._above.manual_seed(seed)
        return self


# ---- results -------------------------------------------------------------------------


def _shown(
    results: Any, level: Level, out_dims: Any, given: dict[int, tuple[Any, int]]
) -> Any:
    """Return the results with the dimension of the examples.

    `given` has the arguments by the identities of their tensors inside: an argument
    that is returned in place is itself.
    """
    leaves, spec = tree_flatten(results)
    dims = _out_dims(out_dims, spec)
    found = []
    for y, dim in zip(leaves, dims, strict=True):
        whole, place = given.get(id(y), (None, None))
        same = dim is not None and dim == place
        found.append(whole if same else _result(y, level, dim))
    return tree_unflatten(found, spec)


def _result(y: Any, level: Level, dim: int | None) -> Any:
    """Return one result with its dimension of examples, if it gets one."""
    if isinstance(y, Tensor):
        if dim is not None:
            return show(y, level, _place(y, dim))
        if level in levels_of(y._array):
            raise ArgumentError(
                f"vmap: a result of shape {tuple(y.shape)} differs between the "
                f"examples: vmap can not return a BatchedTensor when out_dim is None. "
                f"Give a number for it in `out_dims`."
            )
    elif dim is not None:
        raise ArgumentError(
            f"vmap: the function must only return Tensors, got type {type(y)} as a "
            f"return. Return tensors, or lists, tuples and dicts of them, or use None "
            f"in `out_dims`."
        )
    return y


def _out_dims(out_dims: Any, spec: TreeSpec) -> list[int | None]:
    given = out_dims
    if spec.is_leaf() and isinstance(given, (tuple, list)) and len(given) == 1:
        given = given[0]
    dims = spread(given, spec)
    if dims is None or any(
        dim is not None and (isinstance(dim, bool) or not isinstance(dim, int))
        for dim in dims
    ):
        raise ArgumentError(
            f"vmap: out_dims is not compatible with the structure of `outputs`: it is "
            f"{out_dims!r} for {spec.num_leaves} results; give one number, or one for "
            f"each result. `out_dims` must be an int, None or a python collection of "
            f"ints that represents where the dimension of the examples is."
        )
    return dims


def _place(y: Tensor, dim: int) -> int:
    if not -y.ndim - 1 <= dim <= y.ndim:
        raise DimensionError(
            f"vmap: Dimension out of range: `out_dims` is {dim} for a result of shape "
            f"{tuple(y.shape)}; it must be from {-y.ndim - 1} to {y.ndim}."
        )
    return dim % (y.ndim + 1)


def _in_chunks(
    run: Callable[[list[Any], int], Any],
    leaves: list[Any],
    dims: list[int | None],
    size: int,
    chunk_size: int,
    out_dims: Any,
    same_numbers: bool,
) -> Any:
    """Run on some examples at a time, and join the results."""
    found, spec = [], None
    state = generator_here().get_state() if same_numbers else None
    for start in range(0, size, chunk_size):
        if state is not None:
            generator_here().set_state(state)
        count = min(chunk_size, size - start)
        parts = [
            x if dim is None else x.narrow(dim, start, count)
            for x, dim in zip(leaves, dims, strict=True)
        ]
        results, spec = tree_flatten(run(parts, count))
        found.append(results)
    assert spec is not None  # there is at least one chunk
    places = _out_dims(out_dims, spec)
    joined = [
        column[0] if dim is None else cat(list(column), dim)
        for column, dim in zip(zip(*found, strict=True), places, strict=True)
    ]
    return tree_unflatten(joined, spec)
