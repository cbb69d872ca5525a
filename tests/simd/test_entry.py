# SPDX-License-Identifier: MIT
"""The Python entry of kernel tables (autocalc_kernel_python.h): what it refuses."""

import numpy as np
import pytest
from tests.kernel_table import MOST_DIMS

from autocalc.errors import KernelDataError
from autocalc.plugin import DispatchKey

F4 = np.dtype("float32")


class Sub(np.ndarray):
    pass


@pytest.fixture
def add(kernels):
    return kernels["add"]


def test_a_kernel_describes_itself(add):
    assert add.name == "add"
    assert add.signature == "~ out ; a b"
    assert "autocalc.kernel" in repr(add.native)
    assert repr(add) == "<kernel add: ~ out ; a b>"


def test_inputs_broadcast_to_the_output(add, rng):
    out = np.empty((4, 3, 5))
    for a_shape, b_shape in [((5,), (4, 1, 1)), ((), (3, 5)), ((1, 5), (4, 3, 1))]:
        a, b = rng.standard_normal(a_shape), rng.standard_normal(b_shape)
        add(out, np.asarray(a), np.asarray(b))
        np.testing.assert_array_equal(out, np.broadcast_to(a + b, out.shape))


def unaligned(count):
    return np.zeros(4 * count + 1, np.uint8)[1:].view(F4)


def read_only(count):
    array = np.zeros(count, F4)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"a": [1.0, 2.0, 3.0]}, TypeError, "add: `a` is a list, but a numpy.ndarray"),
        ({"a": np.zeros(3, F4).view(Sub)}, TypeError, "`a` is a Sub"),
        ({"b": None}, TypeError, "`b` is None, but this operand is not optional"),
        ({"a": np.zeros(3, ">f4")}, TypeError, "native byte order"),
        ({"a": np.zeros(3, np.complex64)}, TypeError, "dtype.*complex64"),
        ({"a": np.zeros(3, F4)[::-1]}, ValueError, "stride -4 in dimension 0"),
        ({"a": unaligned(3)}, ValueError, "`a` are not aligned"),
        ({"out": read_only(3)}, ValueError, "output `out` is read-only"),
        ({"a": np.zeros(4, F4)}, ValueError, r"`a` of shape \(4,\) does not broadcast"),
        ({"a": np.zeros((2, 3), F4)}, ValueError, r"the output's shape \(3,\)"),
        ({"a": np.zeros((1,) * 9, F4)}, ValueError, "9 dimensions, but at most 8"),
    ],
)
def test_operands_that_are_refused(add, change, error, text):
    operands = {name: np.zeros(3, F4) for name in ("out", "a", "b")} | change
    with pytest.raises(error, match=text):
        add(*operands.values())


def test_arguments_are_counted(add):
    with pytest.raises(TypeError, match=r"add takes 3 arguments.*~ out ; a b.*2 were"):
        add(np.zeros(3), np.zeros(3))
    with pytest.raises(TypeError, match="add takes 3 arguments"):
        add(np.zeros(3), np.zeros(3), b=np.zeros(3))


def test_attributes_are_checked(kernels):
    out, a = np.zeros((), F4), np.zeros((2, 3), F4)
    with pytest.raises(TypeError, match=r"sum: `axes` is \[0\], but a tuple"):
        kernels["sum"](out, a, [0], False)
    text = "compare: `op` is 'is', but one of .*'eq'.* is needed"
    with pytest.raises(ValueError, match=text):
        kernels["compare"](np.zeros((2, 3), bool), a, a, "is")
    kernels["compare"](np.zeros((2, 3), bool), a, a, "".join(["e", "q"]))


def test_bad_values_become_the_errors_of_core(kernels):
    weight, out = np.zeros((4, 2), F4), np.zeros((3, 2), F4)
    with pytest.raises(KernelDataError, match="`indices` holds 9 at element 1"):
        kernels["embedding"](out, weight, np.array([0, 9, 1]))


def test_lists_of_arrays(kernels):
    params = [np.ones(3, F4), np.ones((2, 2), F4)]
    grads = [np.full(3, 2, F4), np.full((2, 2), 4, F4)]
    rate, step = np.array(0.5, F4), np.array(1)
    kernels["sgd"](params, [], grads, rate, step, 0.0, 0.0, 0.0, False, False)
    assert (params[0] == 0).all()
    assert (params[1] == -1).all()
    with pytest.raises(TypeError, match=r"`params` is a numpy\.ndarray, but a"):
        kernels["sgd"](params[0], [], grads, rate, step, 0.0, 0.0, 0.0, False, False)


def key(dtypes):
    return DispatchKey("add", dtypes)


def test_supports_answers_for_a_dispatch_key(add):
    assert add.supports(key((F4, F4, F4))) is None
    assert "dtype of `a`" in add.supports(key((F4, *(np.dtype("complex64"),) * 2)))
    with pytest.raises(TypeError, match="not a dispatch key of `~ out ; a b`"):
        add.supports(key((F4,)))


def test_describe_has_nothing_to_say_of_a_kernel_with_one_way(add):
    assert add.describe(key((F4, F4, F4))) is None
    with pytest.raises(TypeError, match="not a dispatch key of `~ out ; a b`"):
        add.describe(key((F4,)))


def lines(kernel, ndim):
    """Return operands of so many dimensions for a kernel, and its attributes."""
    outputs, inputs, attributes = (*kernel.signature.split(" ;"), "")[:3]
    names = (outputs + inputs).replace("~", "").split()
    x = np.ones((1,) * ndim, F4)
    values = {"int": 0, "bool": False, "float": 1.0, "ints": (0,)}
    kinds = [word.partition(":")[2] for word in attributes.split()]
    given = [values.get(kind, kind.split(",")[0]) for kind in kinds]
    return [[x.copy()] if "*" in name else x.copy() for name in names], given


@pytest.mark.parametrize("ndim", [9, 12, 16, 17, 32, 33, MOST_DIMS])
def test_more_than_8_dimensions_are_refused(kernels, ndim):
    for name, kernel in kernels.items():
        operands, attributes = lines(kernel, ndim)
        with pytest.raises(ValueError, match=f"^{name}: .*{ndim} dimensions, but at"):
            kernel(*operands, *attributes)
        shapes = tuple([(1,) * ndim] * len(operands))
        dtypes = (F4,) * len(operands)
        asked = DispatchKey(name, dtypes, tuple(attributes), 0, shapes, shapes)
        assert kernel.supports(asked) == "takes at most 8 dimensions"


@pytest.mark.parametrize("ndim", [9, 33, MOST_DIMS])
def test_more_than_8_dimensions_are_left_to_who_takes_them(kernels, ndim):
    for kernel in kernels.values():
        operands, attributes = lines(kernel, ndim)
        seen = []
        kernel.beyond = lambda *args, seen=seen: seen.append(args)
        try:
            kernel(*operands, *attributes)
        finally:
            kernel.beyond = None
        assert kernel.beyond is None
        ((itself, *given),) = seen
        assert itself is kernel
        pairs = zip(given, [*operands, *attributes], strict=True)
        assert all(x is y for x, y in pairs)


def test_one_operand_of_many_dimensions_is_enough(kernels):
    x, wide = np.ones(3, F4), np.ones((1,) * 9, F4)
    rate, step = np.array(0.5, F4), np.array(1)
    calls = {
        "add": [(wide, x, x), (x, wide, x), (x, x, wide)],
        "sgd": [([x, wide], [], [x, x], rate, step, 0.0, 0.0, 0.0, False, False)],
    }
    for name, some in calls.items():
        for operands in some:
            with pytest.raises(ValueError, match="9 dimensions, but at most 8"):
                kernels[name](*operands)


def test_errors_of_who_takes_many_dimensions_are_passed_on(kernels):
    def fail(*_):
        raise KernelDataError(text)

    text, x = "not for me", np.ones((1,) * 9, F4)
    kernels["add"].beyond = fail
    try:
        with pytest.raises(KernelDataError, match=text):
            kernels["add"](x, x, x)
    finally:
        kernels["add"].beyond = None
