# SPDX-License-Identifier: MIT
"""The interface of kernel packages: kernel sets and their implementations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from autocalc._kernels.device_library import DeviceLibrary
from autocalc._kernels.spec import Array, DType, Shape

#: The contract's number.  A set made for another number is refused, naming both.
KERNEL_API_VERSION = 1

#: The most dimensions of an operand in the C form of kernels: `AC_MAX_DIMS`.
MAX_DIMS = 8

#: The entry-point group in which kernel packages announce themselves.
ENTRY_POINT_GROUP = "autocalc.kernels"

Function = Callable[..., None]


class DispatchKey(NamedTuple):
    """The key of a decision.

    Attributes
    ----------
    kernel
        The kernel's name.
    dtypes
        One entry for each operand in signature order, outputs first: its dtype, None
        where it is absent or not wanted; a list counts by its first array.
    attributes
        The call's attributes by position.
    accumulate
        Bit i set: output i is added into.
    shapes, strides
        Like `dtypes`, for kernels whose spec has the key ``"shapes"``, else None.
    device
        The device of the operands: ``"cpu"``, or the name that a kernel set gave.

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


#: ``key_of(*operands)``: the dtypes, shapes and strides of arrays, of None and of lists
#: of them, as one value: equal for equal ones, different for different ones.
KeyOf = Callable[..., Hashable]

Supports = Callable[[DispatchKey], "str | None"]
Describe = Callable[[DispatchKey], "str | None"]


@dataclass(frozen=True)
class KernelImpl:
    """One kernel of a set, with more to say than a bare function.

    Parameters
    ----------
    function
        ``fn(*outputs, *inputs, *attributes) -> None``, all by position.
    native
        The C form (`autocalc_kernel.h`) as a capsule, for native replay.
    supports
        ``supports(key) -> None`` accepts; a string is the reason of a refusal.
    rank
        Overrides the set's rank for this kernel.
    exception
        One of the spec's `exceptions`: the error budget that this kernel keeps in
        place of the spec's own.
    channels_last
        For a spec that prefers channels-last: ``channels_last(key)`` says whether
        this call is faster with images stored so.  It then gets them so, whatever the
        caller has, and gives its results so.
    transposed_weight
        A function for kernels of `linear` and `gemm`. ``transposed_weight(key)`` is
        True if a call would be faster with its second operand transposed; the rows of
        that operand run along the axis of the sums. Compiled programs then keep a
        transposed copy of a weight that they do not write.
    halves
        Whether the kernel reads and writes float16 or bfloat16 itself, computes in
        float32 and rounds each result once; `supports` says which calls it takes.
        Other kernels are given float32.
    describe
        ``describe(key)`` of a call that is accepted: in which of several ways the
        kernel will run it, for `autocalc.kernels.explain` to print, or None.

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
    """Memory for results; the first usable set that has one provides it."""

    def empty(self, shape: Shape, dtype: DType, /) -> Array:
        """Return a new C-contiguous array, its values undefined."""

    def stats(self) -> dict[str, int]:
        """Return the counters shown by `ac.memory.stats()`."""

    def trim(self) -> None:
        """Return cached memory to the system."""


class PoolTimes(NamedTuple):
    """The activity of a pool's threads in a stretch of time, in nanoseconds.

    Attributes
    ----------
    start, stop
        The limits of the time span, in nanoseconds of `time.perf_counter_ns`.
    waited
        The time that threads waited for each other. A job that n threads share for the
        time t adds n * t, less the time that they worked.
    helped
        The work of all threads in jobs, beyond the time that the jobs took. A job that
        takes t subtracts t; the value is 0 if one thread does all.
    phases
        The time of each phase of the kernels, by name, summed over threads; empty if no
        phase is known.

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
    """Measures the threads of a kernel set's pool: waiting times and phases.

    A profile takes a reading before each call of a kernel and one after it, and asks
    for the differences when it is over.
    """

    def measure(self, on: bool, /) -> None:
        """Measure from now on, or no longer."""

    def now(self) -> Any:
        """Return a reading: the time and all counters, as one small object.

        It should touch little memory: kernels leave the caches cold.
        """

    def between(self, begin: Any, end: Any, /) -> PoolTimes:
        """Return the measurements between two readings."""


@runtime_checkable
class JobRecorder(Protocol):
    """A `PoolClock` that can also record jobs, to predict many threads.

    A job is work that threads share.  While jobs are recorded they are cut as for a
    number of threads, and their parts run one after another.
    """

    def record_jobs(self, threads: int, /) -> None:
        """Forget all records, and record jobs as those of `threads`; 0: no longer."""

    def job_records(self) -> Sequence[tuple[int, Sequence[int], int]]:
        """Return of each job its tasks, and the nanoseconds of each part and of all.

        The last counts from its beginning to its end.
        """

    def hand_off_ns(self, jobs: int, /) -> int:
        """Return how long an empty job takes, the median of so many."""


class ExecutorCall(NamedTuple):
    """One call of a program that an executor runs.

    Attributes
    ----------
    function
        The implementation; what the host does takes no arguments, and a callback of
        the user's one list of arrays.
    native
        Its C form as a capsule, None if it has none.
    arguments
        Outputs, inputs and attributes, in the order of the signature.  An operand is an
        array, None, or a list of arrays.
    slots
        For each operand the number of the slot that holds its array, or a tuple of
        them; None where it is absent.

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
    """A program bound to memory, as `ac.compile` replays it.

    It holds the arrays that its calls use, each by the owner of its memory.  One thread
    at a time: `run` and `move` of an executor that is at work raise `CompileError`.
    """

    def move(self, slot: int, root: Array, offset: int, /) -> None:
        """Let every call use the memory at `offset` bytes of `root` for a slot."""

    def run(self) -> None:
        """Call everything once, in order; the first error ends it and is raised."""


#: ``executor(calls, places)``: a place is a slot's memory, an array that owns memory
#: and bytes after its first element.
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
        The number of a value for each operand in signature order, the output first;
        None where it is absent.
    attributes
        The attributes of the kernel's call.

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
    """Elementwise kernels of one set that could run in one pass over memory.

    Values are numbered: first the outputs, then the inputs, then what only the chain
    sees.  Each is written by one step at most; an output may share the memory of an
    input that no later step reads.

    Attributes
    ----------
    shape
        The shape of all arrays. Inputs that are repeated have strides of 0.
    outputs, inputs
        How many there are.
    dtypes
        The dtype of each value.
    steps
        In the order in which they run.

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
    """A chain as one kernel: ``function(outputs, inputs, *attributes)``, of two lists.

    It gives the same bits as the kernels of its steps one after another.  `native` is
    its C form as a capsule, None if it has none.

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


#: ``fuse(chain)``: the chain as one kernel, or None where the set does not take it.
Fuse = Callable[[Chain], "FusedKernel | None"]


@dataclass(frozen=True)
class KernelSet:
    """A named bundle of kernels for one machine feature level.

    Parameters
    ----------
    name, family
        ``"simd-avx2"`` of the family ``"simd"``.
    load
        ``load() -> {kernel name: function or KernelImpl}``, called on first use and
        only where the CPU has all of `requires` (names as in ``archspec``).  A
        `PluginError` says that the set cannot run here, for want of a library say:
        its text becomes the reason of a refusal, without a warning.
    api
        `KERNEL_API_VERSION` of the contract that the set was written for.
    rank
        Higher wins; the reference is 0, BLAS 100, SIMD 200 to 300.
    device
        Whose arrays the kernels take: ``"cpu"``, or a name of the set's own such as
        ``"cuda"``, on which tensors are then put with ``.to("cuda")``.
    decomposes
        Whether composites that the set lacks run as its primitives, where it has their
        lead.  False for a set that adds to another: its calls alone are its own.
    determinism
        None, ``"run"`` (same bits in each run) or ``"threads"`` (also for any number
        of threads).
    precision
        For a set whose products of float32 are less exact than float32: ``"high"`` or
        ``"medium"``. Its kernels run once `ac.set_float32_matmul_precision` was called
        with this value. "medium" also allows what "high" allows.
    allocator
        Makes the set's allocator when it is first needed; without one AutoCalc's engine
        allocates.
    pool_clock
        For a set with threads of its own: a function that returns the clock of its
        threads, called when a clock is first needed. The profiler reads from the clock
        how long threads wait, and how the kernels' time divides into phases. If the
        clock also has ``record_jobs``, ``job_records`` and ``hand_off_ns``, ``autocalc
        bench scaling`` predicts the gain of more threads.
    fuser
        Gives, when it is first needed, what makes one kernel of a chain of the set's
        elementwise kernels; without it each of them is a call of its own.
    set_num_threads
        For a set with threads of its own: a function that is called with the thread
        budget when the set is loaded, and whenever the budget changes.
    info
        More lines for ``autocalc kernels``: libraries, versions, threads.
    flushes_subnormals
        Whether numbers too small for a full significand count as 0, as on devices whose
        compilers do so.  The conformance kit then takes them as 0.
    device_library
        Gives, when it is first needed, the arrays of a device other than the CPU.
        References run on them for the kernels that the set lacks.
    strided_outputs
        Whether kernels write outputs by their strides, as in ``b[:, ::2].relu_()``.
        With False each output is contiguous: where the caller's is not, the kernel
        writes temporary memory, and AutoCalc copies the result.

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
