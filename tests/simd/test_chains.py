# SPDX-License-Identifier: MIT
"""Chains of elementwise kernels give the bits of the kernels one after another."""

import itertools

import numpy as np
import pytest
from tests.kernel_table import TABLE, Make, meta_of
from tests.simd.conftest import ISAS
from tests.simd.sets import chains, loader

from autocalc.errors import KernelError
from autocalc.plugin import Chain, ChainStep

CHECKING = {"floor_divide", "fmod", "remainder"}
NAMES = sorted(
    name
    for name, kernel in loader.load(ISAS[0]).items()
    if kernel.signature.startswith("~") and name not in CHECKING
)
F4, F8, BOOL = map(np.dtype, ("f4", "f8", "?"))


@pytest.fixture(params=ISAS)
def isa(request):
    """Each instruction set that this CPU has."""
    return request.param


@pytest.fixture
def fuse(isa):
    return chains.Fuser(isa)


def step(kernel, *operands, attributes=()):
    return ChainStep(kernel, operands, attributes)


def chain(outputs, inputs, steps, others=()):
    """Describe a chain over arrays, and `others`, the dtypes of its own values."""
    dtypes = [a.dtype for a in (*outputs, *inputs)] + [np.dtype(d) for d in others]
    shape = outputs[0].shape
    return Chain(shape, len(outputs), len(inputs), tuple(dtypes), tuple(steps))


def run(fuse, outputs, inputs, steps, others=()):
    kernel = fuse(chain(outputs, inputs, steps, others))
    assert kernel is not None
    kernel.function(outputs, inputs, *kernel.attributes)


def run_apart(kernels, outputs, inputs, steps, others=()):
    """Call the kernels of a chain one after another."""
    arrays = [*outputs, *inputs, *(np.empty(outputs[0].shape, d) for d in others)]
    for one in steps:
        operands = [None if v is None else arrays[v] for v in one.operands]
        kernels[one.kernel](*operands, *one.attributes)


def bits(array):
    """Return the bits of an array; the sign of NaN is nobody's promise."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return array.tobytes()


def same(a, b):
    assert list(map(bits, a)) == list(map(bits, b))


@pytest.mark.parametrize("name", NAMES)
def test_each_kernel(isa, fuse, name):
    kernels, spec, seen = loader.load(isa), TABLE[name], 0
    for dtype in spec.dtypes:
        for sample in spec.samples(Make(dtype)):
            found = [None if a is None else np.asarray(a) for a in sample.inputs]
            out = spec.rule(*map(meta_of, found), *sample.attributes)
            if 0 in out.shape or sample.label.startswith("large"):
                continue
            want, have = np.zeros(out.shape, out.dtype), np.ones(out.shape, out.dtype)
            kernels[name](want, *found, *sample.attributes)
            given = [
                None if a is None else np.broadcast_to(a, out.shape) for a in found
            ]
            arrays = [a for a in given if a is not None]
            places = iter(range(1, len(arrays) + 1))
            made = len(arrays) + 1
            operands = [None if a is None else next(places) for a in given]
            steps = [
                step(name, made, *operands, attributes=sample.attributes),
                step("copy", 0, made),
            ]
            run(fuse, [have], arrays, steps, [out.dtype])
            assert bits(want) == bits(have), (dtype, sample.label)
            seen += 1
    assert seen


#: Values: 0 a float, 1 a bool, 2 a float written; 3 to 5 read; 6 on its own.
STEPS = [
    step("mul", 6, 3, 4),
    step("exp", 7, 6),
    step("compare", 1, 7, 5, attributes=("gt",)),
    step("where", 2, 1, 6, 3),
    step("leaky_relu", 8, 2, attributes=(0.25,)),
    step("softplus", 6 + 3, 8, attributes=(1.5, 20.0)),
    step("sub", 0, 9, 7),
]


def layouts(rng, shape, dtype):
    double = tuple(2 * n for n in shape)
    halves = tuple(slice(None, None, 2) for _ in shape)
    return [
        rng.normal(size=shape).astype(dtype),
        rng.normal(size=shape[::-1]).astype(dtype).T,
        rng.normal(size=double).astype(dtype)[halves],
        np.broadcast_to(rng.normal(size=shape[-1:]).astype(dtype), shape),
        np.broadcast_to(rng.normal(size=(*shape[:-1], 1)).astype(dtype), shape),
        np.broadcast_to(rng.normal(size=()).astype(dtype), shape),
    ]


def written(shape, dtype, transposed):
    shape = shape[::-1] if transposed else shape
    made = [np.zeros(shape, d) for d in (dtype, BOOL, dtype)]
    return [a.T for a in made] if transposed else made


@pytest.mark.parametrize("dtype", [F4, F8], ids=str)
@pytest.mark.parametrize(
    "shape", [(1,), (7,), (1023,), (1030,), (5, 40), (30, 70), (40, 3, 9), (3, 700)]
)
@pytest.mark.parametrize("transposed", [False, True])
def test_layouts(isa, fuse, rng, shape, dtype, transposed):
    kernels = loader.load(isa)
    lists = [layouts(rng, shape, dtype) for _ in range(3)]
    for inputs in itertools.islice(itertools.product(*lists), 0, None, 5):
        want = written(shape, dtype, transposed)
        have = written(shape, dtype, transposed)
        others = [dtype] * 4
        run_apart(kernels, want, list(inputs), STEPS, others)
        run(fuse, have, list(inputs), STEPS, others)
        same(want, have)


@pytest.mark.parametrize("values", [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e38, -1e-42])
def test_special_numbers(isa, fuse, rng, values):
    kernels = loader.load(isa)
    inputs = [rng.normal(size=333).astype("f4") for _ in range(3)]
    for a in inputs:
        a[rng.integers(0, 333, 50)] = values
    want, have = written((333,), F4, False), written((333,), F4, False)
    run_apart(kernels, want, inputs, STEPS, [F4] * 4)
    run(fuse, have, inputs, STEPS, [F4] * 4)
    same(want, have)


@pytest.mark.parametrize("size", [100_003, 9_000_000])
def test_threads_and_streams(isa, fuse, rng, set_threads, size):
    kernels = loader.load(isa)
    inputs = [rng.random(size, dtype="f4") - 0.5 for _ in range(3)]
    want = written((size,), F4, False)
    run_apart(kernels, want, inputs, STEPS, [F4] * 4)
    for threads in (1, 2, 5, 64):
        set_threads(threads)
        have = written((size,), F4, False)
        run(fuse, have, inputs, STEPS, [F4] * 4)
        same(want, have)


def test_in_place(isa, fuse, rng):
    a, b = rng.normal(size=(2, 5000)).astype("f4")
    want, have = a.copy(), a.copy()
    steps = [step("mul", 3, 1, 2), step("exp", 4, 3), step("sub", 0, 1, 4)]
    run_apart(loader.load(isa), [want], [want, b], steps, [F4, F4])
    run(fuse, [have], [have, b], steps, [F4, F4])
    same([want], [have])


def test_registers_are_used_again(isa, fuse, rng):
    a = rng.normal(size=2000).astype("f4")
    want, have = np.empty_like(a), np.empty_like(a)
    steps = [step("sigmoid", 2, 1), *(step("neg", i, i - 1) for i in range(3, 16))]
    steps.append(step("sub", 0, 15, 1))
    run_apart(loader.load(isa), [want], [a], steps, [F4] * 14)
    run(fuse, [have], [a], steps, [F4] * 14)
    same([want], [have])


def test_what_it_does_not_take(fuse):
    a = np.ones(5, "f4")
    negations = [step("neg", i, i - 1) for i in range(2, 18)]
    halves = np.ones(5, "f2")
    for outputs, inputs, steps, others in (
        ([a], [a], [*negations, step("neg", 0, 17)], [F4] * 16),
        ([a] * 7, [a], [step("neg", i, 7) for i in range(7)], []),
        ([a], [a] * 16, [step("add", 0, 1, 2)], []),
        ([a], [a, a], [step("fmod", 0, 1, 2)], []),
        ([a], [a, a], [step("neg", 3, 2), step("pow", 0, 1, 3)], [F4]),
        ([a], [halves], [step("copy", 0, 1)], []),
        ([a], [a], [step("cumsum", 0, 1)], []),
    ):
        assert fuse(chain(outputs, inputs, steps, others)) is None


def test_too_many_values_at_once_are_not_taken(fuse):
    a = np.ones(5, "f4")
    steps = [step("neg", i, 1) for i in range(2, 11)]
    steps += [step("clamp", 11 + i, *range(2 + 3 * i, 5 + 3 * i)) for i in range(3)]
    steps += [step("clamp", 0, 11, 12, 13)]
    assert fuse(chain([a], [a], steps, [F4] * 12)) is None
    fewer = [s for s in steps if s.operands[0] != 10]
    fewer[-2] = step("add", 13, 8, 9)
    assert fuse(chain([a], [a], fewer, [F4] * 12)) is not None


@pytest.mark.parametrize(
    "program",
    [
        (),
        (0,),
        (9, 0),  # nine registers
        (0, 60_000 | 2 << 20),  # no such kernel
        (0, 2 | 7 << 20),  # seven operands
        (0, 2 | 3 << 20 | 40 << 24),  # no such register
        (0, 2 | 3 << 16 | 3 << 20),  # attributes are missing
        (0, *[2 | 3 << 20] * 17),  # seventeen steps
    ],
)
def test_words_that_are_no_program(isa, program):
    kernel = loader.load(isa, "chain")["elementwise_chain"]
    a = np.ones(5, "f4")
    with pytest.raises(KernelError, match="cannot run this call"):
        kernel([a], [a, a], program)


def test_arrays_of_other_shapes(isa, fuse):
    a, b = np.ones(5, "f4"), np.ones(4, "f4")
    made = fuse(chain([a], [a], [step("neg", 0, 1)]))
    with pytest.raises(KernelError, match="cannot run this call"):
        made.function([a], [b], *made.attributes)
