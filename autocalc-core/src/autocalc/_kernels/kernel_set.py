# SPDX-License-Identifier: MIT
"""The interface of kernel packages: kernel sets and their implementations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from autocalc._kernels.device_library import DeviceLibrary
from autocalc._kernels.spec import Array, DType, Shape

#: The version of the interface.  A set for another version is refused, and the error
#: names both versions.
KERNEL_API_VERSION = 1

#: The most dimensions of an operand in the C form of kernels: `AC_MAX_DIMS`.
MAX_DIMS = 8

#: The entry-point group in which kernel packages are registered.
ENTRY_POINT_GROUP = "autocalc.kernels"

Function = Callable[..., None]


class DispatchKey(NamedTuple):
    """The properties of a call on which the choice of its kernel depends.

    Attributes
    ----------
    kernel
        The kernel's name.
    dtypes
        One entry for each operand in the order of the signature, outputs first.  The
        entry is the operand's dtype, or None if the operand is absent or not wanted.
        If an operand is a list of arrays, its entry is that of the first array.
    attributes
        The attributes of the call, by position.
    accumulate
        Bit i is set if the result is added to output i.
    shapes, strides
        One entry for each operand, as in `dtypes`, if the spec of the kernel has the
        key ``"shapes"``; otherwise None.
    device
        The device of the operands: ``"cpu"``, or the name that a kernel set declares.

    Examples
    --------
    >>> import numpy as np
    >>> from autocalc.plugin import DispatchKey
    >>> DispatchKey("add", (np.dtype("f4"),) * 3).attributes
    ()
    """

    kernel: str
    dtypes: tuple[DType | None, ...]
    attributes: tuple[Any, ...] = ()
    accumulate: int = 0
    shapes: tuple[Shape | None, ...] | None = None
    strides: tuple[Shape | None, ...] | None = None
    device: str = "cpu"


#: ``key_of(*operands)`` returns the dtypes, shapes and strides of arrays, of None and
#: of lists of arrays as one value.  The values are equal if and only if all these
#: properties are equal.
KeyOf = Callable[..., Hashable]

Supports = Callable[[DispatchKey], "str | None"]
Describe = Callable[[DispatchKey], "str | None"]


@dataclass(frozen=True)
class KernelImpl:
    """One kernel of a set, with more properties than a bare function has.

    Parameters
    ----------
    function
        A function ``fn(*outputs, *inputs, *attributes) -> None``, with positional
        arguments.
    native
        The C form (`autocalc_kernel.h`) as a capsule, for replay without Python.
    supports
        A function ``supports(key)`` that returns None to accept a call, or a string
        with the reason of a refusal.  `key` has the dtypes, shapes and strides of the
        operands.
    rank
        The rank of this kernel, instead of the rank of the set.
    exception
        The name of a larger allowed error, one of the `exceptions` of the kernel's
        spec. The results of this kernel are tested with it instead of the allowed error
        of all other kernels.
    channels_last
        For kernels whose spec prefers channels-last images: a function
        ``channels_last(key)`` that returns True if the call is faster with images in
        this layout.  The kernel then receives and returns channels-last images,
        regardless of the caller's layout.
    transposed_weight
        A function for kernels of `linear` and `gemm`.  ``transposed_weight(key)`` is
        True if a call would be faster if its second operand, whose rows run along the
        axis of the sums, were stored column by column.  Compiled programs then keep
        such a copy of a weight that they do not write.
    halves
        True if the kernel itself reads and writes float16 or bfloat16, computes in
        float32 and rounds each result once; `supports` decides which calls it accepts.
        Other kernels receive float32.
    describe
        A function ``describe(key)`` that returns a text for an accepted call, or None.
        The text names the algorithm that the kernel will use for the call;
        `autocalc.kernels.explain` prints it.

    Examples
    --------
    >>> import numpy as np
    >>> from autocalc.plugin import DispatchKey, KernelImpl
    >>> def only_float32(key):
    ...     return None if key.dtypes[0] == np.float32 else "takes float32 only"
    >>> impl = KernelImpl(
    ...     lambda out, a: np.exp(a, out), supports=only_float32
    ... )
    >>> impl.supports(DispatchKey("exp", (np.dtype("f8"),) * 2))
    'takes float32 only'
    """

    function: Function
    native: object | None = None
    supports: Supports | None = None
    rank: int | None = None
    exception: str | None = None
    channels_last: Callable[[DispatchKey], bool] | None = None
    describe: Describe | None = None
    transposed_weight: Callable[[DispatchKey], bool] | None = None
    halves: bool = False


class Allocator(Protocol):
    """An allocator of memory for results, which a kernel set can provide.

    The first usable kernel set that has an allocator provides it.
    """

    def empty(self, shape: Shape, dtype: DType, /) -> Array:
        """Return a new C-contiguous array, whose elements are undefined."""

    def stats(self) -> dict[str, int]:
        """Return the counters that `ac.memory.stats()` shows."""

    def trim(self) -> None:
        """Return the cached memory to the operating system."""


class PoolTimes(NamedTuple):
    """The times of the threads of a pool in a span of time, in nanoseconds.

    Attributes
    ----------
    start, stop
        The beginning and the end of the span, as values of `time.perf_counter_ns`.
    waited
        The time in which threads waited for each other. A job that n threads share for
        the time t adds n * t, minus the time in which they worked.
    helped
        The time in which all threads worked in jobs, minus the duration of these jobs.
        The value is 0 if one thread does all the work.
    phases
        The time of each phase of the kernels, by name, summed over threads; empty if
        the phases are not known.

    Examples
    --------
    >>> from autocalc.plugin import PoolTimes
    >>> times = PoolTimes(100, 200, waited=30, helped=70, phases={"compute": 150})
    >>> times.stop - times.start + times.helped  # all that two threads worked
    170
    """

    start: int
    stop: int
    waited: int
    helped: int
    phases: Mapping[str, int]


class PoolClock(Protocol):
    """A clock that measures waiting times and phases of a kernel set's threads.

    A profile takes a reading before and after each call of a kernel.  After its end, it
    computes the differences.
    """

    def measure(self, on: bool, /) -> None:
        """Start or stop measuring."""

    def now(self) -> Any:
        """Return a reading: the time and all counters, as one small object.

        It should access little memory, because kernels evict other data from the
        caches.
        """

    def between(self, begin: Any, end: Any, /) -> PoolTimes:
        """Return the measured times between two readings."""


@runtime_checkable
class JobRecorder(Protocol):
    """A `PoolClock` that can also record jobs, to predict the speed with more threads.

    A job is work that threads share.  While jobs are recorded, they are divided as for
    a given number of threads, and the parts run one after another.
    """

    def record_jobs(self, threads: int, /) -> None:
        """Clear the records, and record jobs as for `threads`; 0 stops recording."""

    def job_records(self) -> Sequence[tuple[int, Sequence[int], int]]:
        """Return (tasks, nanoseconds of each part, nanoseconds of all) for each job.

        The last number is the time from the begin of the job to its end.
        """

    def hand_off_ns(self, jobs: int, /) -> int:
        """Return the median time of `jobs` empty jobs."""


class ExecutorCall(NamedTuple):
    """One call of a program that an executor runs.

    Attributes
    ----------
    function
        The implementation.  Work of the host takes no arguments; a callback of the user
        takes one list of arrays.
    native
        The C form of the function as a capsule, or None.
    arguments
        Outputs, inputs and attributes, in the order of the signature.  An operand is an
        array, None, or a list of arrays.
    slots
        For each operand, the number of the slot that holds its array, or a tuple of
        numbers for a list; None if the operand is absent.

    Examples
    --------
    >>> import numpy as np
    >>> from autocalc._kernels.kernel_set import ExecutorCall
    >>> def exp(out, a):
    ...     np.exp(a, out)
    >>> out = np.empty(2)
    >>> call = ExecutorCall(exp, None, (out, np.zeros(2)), (0, 1))
    >>> call.function(*call.arguments)
    >>> out
    array([1., 1.])
    """

    function: Function
    native: object | None
    arguments: tuple[Any, ...]
    slots: tuple[int | tuple[int, ...] | None, ...]


class Executor(Protocol):
    """A compiled program with its memory, as `ac.compile` replays it.

    It holds references to the owners of the memory that its calls use.  Only one thread
    at a time can use it: `run` and `move` raise `CompileError` while the executor is
    running.
    """

    def move(self, slot: int, root: Array, offset: int, /) -> None:
        """Make all calls use the memory at `offset` bytes of `root` for a slot."""

    def run(self) -> None:
        """Run all calls once, in order; the first error ends the run and is raised."""


#: ``executor(calls, places)`` makes an executor.  A place is the memory of a slot: an
#: array that owns memory, and an offset in bytes from its first element.
MakeExecutor = Callable[
    [Sequence[ExecutorCall], Mapping[int, tuple[Array, int]]], Executor
]


class ChainStep(NamedTuple):
    """One elementwise kernel of a chain.

    Attributes
    ----------
    kernel
        The name of the kernel.
    operands
        The number of the value of each operand, in the order of the signature, the
        output first; None for an absent operand.
    attributes
        The attributes of the call.

    Examples
    --------
    >>> from autocalc.plugin import ChainStep
    >>> ChainStep("mul", (0, 1, 2), ()).operands  # value 0 is made of 1 and 2
    (0, 1, 2)
    """

    kernel: str
    operands: tuple[int | None, ...]
    attributes: tuple[Any, ...]


class Chain(NamedTuple):
    """Elementwise kernels of one set that can run in one pass over memory.

    The values are numbered: first the outputs, then the inputs, then the intermediate
    values.  Each value is written by at most one step.  An output may share the memory
    of an input that no later step reads.

    Attributes
    ----------
    shape
        The shape of all arrays. An input that is broadcast has strides of 0.
    outputs, inputs
        The numbers of outputs and of inputs.
    dtypes
        The dtype of each value.
    steps
        The steps, in the order in which they run.

    Examples
    --------
    >>> import numpy as np
    >>> from autocalc.plugin import Chain, ChainStep
    >>> steps = ChainStep("mul", (3, 1, 2), ()), ChainStep("exp", (0, 3), ())
    >>> chain = Chain((4,), 1, 2, (np.dtype("f4"),) * 4, steps)  # exp(a * b)
    >>> [step.kernel for step in chain.steps]
    ['mul', 'exp']
    """

    shape: Shape
    outputs: int
    inputs: int
    dtypes: tuple[DType, ...]
    steps: tuple[ChainStep, ...]


class FusedKernel(NamedTuple):
    """A chain as one kernel: ``function(outputs, inputs, *attributes)``.

    `outputs` and `inputs` are lists.  The result has the same bits as if the kernels of
    the steps ran one after another.  `native` is its C form as a capsule, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from autocalc.plugin import FusedKernel
    >>> def exp_of_multiple(outputs, inputs, factor):
    ...     np.exp(factor * inputs[0], outputs[0])
    >>> fused = FusedKernel(exp_of_multiple, None, (2.0,))
    >>> out = np.empty(2)
    >>> fused.function([out], [np.zeros(2)], *fused.attributes)
    >>> out
    array([1., 1.])
    """

    function: Function
    native: object | None
    attributes: tuple[Any, ...]


#: ``fuse(chain)`` returns the chain as one kernel, or None if the set does not accept
#: it.
Fuse = Callable[[Chain], "FusedKernel | None"]


@dataclass(frozen=True)
class KernelSet:
    """A named set of kernels for one level of CPU features.

    Parameters
    ----------
    name, family
        The name, such as ``"simd-avx2"``, and the family, such as ``"simd"``.
    load
        A function ``load() -> {kernel name: function or KernelImpl}``.  The function is
        called on first use, and only if the CPU has all features in `requires`, which
        are named as in ``archspec``.  It raises a `PluginError` if the set cannot run
        on this machine, for example because a library is missing.  The text of the
        error is then reported as the reason, without a warning.
    api
        The `KERNEL_API_VERSION` for which the set was written.
    rank
        The rank: the set with the highest rank runs.  The reference kernels have the
        rank 0, BLAS has 100, and SIMD has 200 to 300.
    device
        The device whose arrays the kernels accept: ``"cpu"``, or a name that the set
        defines, such as ``"cuda"``.  Tensors are moved to it with ``.to("cuda")``.
    decomposes
        True to compute a composite kernel that the set lacks with the primitive kernels
        of the set, if the set has the most important one of them.  False for a set that
        complements another set: only the kernels that `load` returns run on it.
    determinism
        None, ``"run"`` if each run gives the same bits, or ``"threads"`` if the bits
        are also the same for any number of threads.
    precision
        ``"high"`` or ``"medium"`` for a set whose float32 products are less precise
        than float32. Its kernels run only after `ac.set_float32_matmul_precision` was
        called with this value; "medium" also allows a set with "high".
    allocator
        A function that makes the allocator of the set when it is first needed.  Without
        it, AutoCalc's engine allocates the memory.
    pool_clock
        For a set with its own threads: a function that returns the clock of its
        threads.  It is called when a clock is first needed. The profiler reads from the
        clock how long threads wait, and how the kernels' time divides into phases. If
        the clock also has ``record_jobs``, ``job_records`` and ``hand_off_ns``,
        ``autocalc bench scaling`` predicts the gain of more threads.
    fuser
        A function that returns an object, which turns a chain of elementwise kernels of
        the set into one kernel.  The function is called when the object is first
        needed.  Without it, each kernel is called separately.
    set_num_threads
        For a set with its own threads: a function that is called with the thread budget
        when the set is loaded, and whenever the budget changes.
    info
        Additional lines for the command ``autocalc kernels``: libraries, versions,
        threads.
    flushes_subnormals
        True if subnormal numbers may be treated as 0, as on devices whose compilers do
        so.  The conformance kit then expects 0.
    device_library
        For a set on another device than the CPU: a function that returns a
        `DeviceLibrary`, the functions for arrays of this device.  It is called when
        they are first needed.  If the set lacks a kernel, the reference kernel runs
        with these functions.
    strided_outputs
        True if kernels can write outputs with any strides, as in ``b[:, ::2].relu_()``.
        If False, the kernels only get contiguous outputs.  If the caller's output is
        not contiguous, the kernel writes to temporary memory, and AutoCalc copies the
        result.

    Examples
    --------
    >>> import numpy as np
    >>> from autocalc.plugin import KernelSet
    >>> def load():
    ...     return {"exp": lambda out, a: np.exp(a, out)}
    >>> mine = KernelSet("mine", family="mine", load=load, requires={"avx2"})
    >>> mine.rank, list(mine.load())
    (150, ['exp'])
    """

    name: str
    family: str
    load: Callable[[], Mapping[str, Function | KernelImpl]]
    api: int = KERNEL_API_VERSION
    rank: int = 150
    device: str = "cpu"
    requires: frozenset[str] | set[str] = frozenset()
    decomposes: bool = True
    determinism: Literal["run", "threads"] | None = None
    precision: Literal["highest", "high", "medium"] = "highest"
    allocator: Callable[[], Allocator] | None = None
    fuser: Callable[[], Fuse] | None = None
    pool_clock: Callable[[], PoolClock] | None = None
    set_num_threads: Callable[[int], None] | None = None
    info: Callable[[], Mapping[str, str]] | None = None
    flushes_subnormals: bool = False
    device_library: Callable[[], DeviceLibrary] | None = None
    strided_outputs: bool = True
