# SPDX-License-Identifier: MIT
"""`vmap`: a function of one example runs on many, as a loop would."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
from tests.func.cases import numbers

import autocalc as ac
from autocalc import nn, vmap
from autocalc.errors import ArgumentError, DimensionError, VmapError, VmapWarning
from autocalc.nn import functional as F

pytestmark = pytest.mark.core


def loop(function, *args):
    """Return the results of one call for each example, stacked."""
    return ac.stack([function(*one) for one in zip(*args, strict=True)])


def alike(found, expected, tolerance=1e-12):
    assert found.dtype is expected.dtype
    assert found.shape == expected.shape
    a, b = found.detach().numpy(), expected.detach().numpy()
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


# ---- dimensions of arguments and results ---------------------------------------------


def test_each_example_is_seen_without_its_dimension():
    seen = []
    vmap(lambda x: seen.append((x.shape, x.ndim, x.numel(), len(x))) or x)(
        numbers(5, 2, 3)
    )
    assert seen == [((2, 3), 2, 6, 2)]


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_in_dims_chooses_the_dimension_of_examples(dim):
    x = numbers(2, 3, 4)
    alike(vmap(lambda y: y.cumsum(0), in_dims=dim)(x), loop(
        lambda y: y.cumsum(0), x.unbind(dim)))  # fmt: skip


def test_an_argument_with_none_is_shared():
    x, y = numbers(3, 2), numbers(2)
    alike(vmap(ac.dot, in_dims=(0, None))(x, y), x @ y)


def test_arguments_that_are_not_tensors_are_passed_on_with_none():
    x = numbers(3, 2)
    found = vmap(lambda x, n, s: x * n + len(s), in_dims=(0, None, None))(x, 2, "abc")
    alike(found, x * 2 + 3)


def test_in_dims_can_have_the_structure_of_the_arguments():
    x, y, z = numbers(3, 2), numbers(2, 3), numbers(2)

    def total(first, pair):
        return first["x"] + pair[0] * pair[1]

    found = vmap(total, in_dims=({"x": 0}, (1, None)))({"x": x}, (y, z))
    alike(found, x + y.T * z)


def test_one_number_in_in_dims_counts_for_a_whole_structure():
    x, y = numbers(3, 2), numbers(3, 2, seed=1)
    alike(vmap(lambda d: d["x"] * d["y"][0])({"x": x, "y": [y]}), x * y)
    alike(vmap(lambda d, s: d["x"] * s, in_dims=(0, None))({"x": x}, 2.0), x * 2)


def test_keyword_arguments_are_shared():
    x, y = numbers(3, 2), numbers(3, 2, seed=1)
    alike(vmap(lambda x, *, scale: (x * scale).sum())(x, scale=y), (
        x[:, None] * y).sum((1, 2)))  # fmt: skip


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_out_dims_places_the_dimension_of_examples(dim):
    x = numbers(3, 2, 4)
    alike(vmap(lambda y: y * 2, out_dims=dim)(x), (x * 2).movedim(0, dim))


def test_out_dims_can_have_the_structure_of_the_results():
    x = numbers(3, 2)
    one, two = vmap(lambda y: (y, {"d": y * 2}), out_dims=(0, {"d": 1}))(x)
    alike(one, x)
    alike(two["d"], x.T * 2)
    one, two = vmap(lambda y: (y, [y, y]), out_dims=1)(x)
    assert [one.shape, *[y.shape for y in two]] == [(2, 3)] * 3


def test_a_result_that_does_not_depend_on_the_examples_is_repeated():
    found = vmap(lambda x: ac.arange(2))(numbers(3, 4))
    assert found.tolist() == [[0, 1]] * 3
    found = vmap(lambda x: ac.arange(2), out_dims=1)(numbers(3, 4))
    assert found.tolist() == [[0] * 3, [1] * 3]


def test_a_result_with_none_in_out_dims_is_returned_as_it_is():
    x, y = numbers(3, 2), numbers(2)
    one, two = vmap(lambda x: (x, y * 2), out_dims=(0, None))(x)
    alike(one, x)
    alike(two, y * 2)


def test_the_mapped_function_keeps_its_name_and_docstring():
    def function(x):
        """Return it."""
        return x

    mapped = vmap(function)
    assert (mapped.__name__, mapped.__doc__) == ("function", "Return it.")


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 100, None])
def test_chunks_give_the_same_results(chunk):
    x, y = numbers(7, 2), numbers(4, 7)

    def function(a, b, c):
        return a.sum() * b, {"c": c * a}

    mapped = vmap(function, (0, 1, None), (1, 0), chunk_size=chunk)
    one, two = mapped(x, y, 3.0)
    alike(one, x.sum(1) * y)
    alike(two["c"], x * 3)


def test_no_examples_give_empty_results():
    x = numbers(0, 3)
    assert vmap(lambda y: y.exp().sum())(x).shape == (0,)
    assert vmap(nn.Linear(3, 2).double())(x).shape == (0, 2)


def test_one_example_and_empty_examples():
    alike(vmap(lambda y: y.softmax(0))(numbers(1, 3)), numbers(1, 3).softmax(1))
    assert vmap(lambda y: y.sum())(numbers(3, 0)).tolist() == [0.0] * 3


@pytest.mark.parametrize("dtype", [ac.float32, ac.int64, ac.bool, ac.bfloat16])
def test_dtypes_are_those_of_a_loop(dtype):
    x = (numbers(3, 4) > 0).to(dtype)

    def function(y):
        return (y + y).sum(0, keepdim=True)

    found, expected = vmap(function)(x), loop(function, x)
    assert found.dtype is expected.dtype
    assert found.tolist() == expected.tolist()


# ---- nested calls --------------------------------------------------------------------


def test_nested_calls_over_both_dimensions_of_one_tensor():
    x = numbers(3, 4)
    alike(vmap(vmap(ac.sin))(x), x.sin())
    alike(vmap(vmap(ac.sin, in_dims=0), in_dims=1)(x), x.sin().T)


def test_nested_calls_over_different_tensors_make_an_outer_product():
    x, y = numbers(3), numbers(4)
    outer = vmap(vmap(ac.mul, in_dims=(None, 0)), in_dims=(0, None))
    alike(outer(x, y), x[:, None] * y)


def test_the_inner_call_may_map_what_only_the_outer_one_sees():
    x, y = numbers(3, 2), numbers(5, 2)

    def rows(a):
        return vmap(lambda b: (a * b).sum() + b[0])(y)

    alike(vmap(rows)(x), x @ y.T + y[:, 0])


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a @ b,
        lambda a, b: (a * b[:, 0]).softmax(0),
        lambda a, b: ac.cat([a, b[0]]),
        lambda a, b: b[a.argmax()],
        F.linear,
        lambda a, b: ac.linalg.solve(b @ b.T + ac.eye(2, dtype=b.dtype), a),
        lambda a, b: F.conv1d(a[None, None], b[:, None], padding=1),
    ],
    ids=["matmul", "softmax", "cat", "index", "linear", "solve", "conv"],
)
def test_two_levels_equal_two_loops(function):
    x, y = numbers(3, 2), numbers(4, 2, 2)
    mapped = vmap(vmap(function, (None, 0)), (0, None))
    alike(mapped(x, y), loop(lambda a: loop(lambda b: function(a, b), y), x))
    mapped = vmap(vmap(function, (0, None)), (None, 0))
    alike(mapped(x, y), loop(lambda b: loop(lambda a: function(a, b), x), y))


def test_three_levels():
    x = numbers(2, 3, 4, 5)
    alike(vmap(vmap(vmap(ac.logsumexp, (0, None)), (1, None)), (2, None))(x, 0), (
        x.logsumexp(3).permute(2, 1, 0)))  # fmt: skip


def test_a_tensor_of_the_outer_level_is_used_in_the_inner_one():
    x, y = numbers(3, 2), numbers(4, 2)

    def function(a):
        doubled = a * 2
        return vmap(lambda b: doubled.dot(b) + doubled.sum())(y)

    alike(vmap(function)(x), 2 * (x @ y.T) + 2 * x.sum(1, keepdim=True))


# ---- refused arguments ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: vmap(ac.sin, randomness="maybe"),
            (
                r"`randomness` is 'maybe'; Only "
                r"allowed values for randomness are 'error', 'different', or 'same'"
            ),
        ),
        (
            lambda x: vmap(ac.sin, chunk_size=0),
            (
                r"chunk_size should be None or greater "
                r"than 0. \(got 0\)"
            ),
        ),
        (lambda x: vmap(ac.sin, chunk_size=1.5), r"chunk_size should be None or"),
        (vmap(ac.sin, in_dims="0"), r"`in_dims` is a str; expected"),
        (vmap(ac.sin, in_dims=None), r"`in_dims` is a NoneType"),
        (lambda x: vmap(lambda: x)(), r"got no inputs. Maybe you forgot to add inputs"),
        (
            vmap(ac.sin, in_dims=(0, 0)),
            (
                r"in_dims is not compatible with the structure of `inputs`: it "
                r"is \(0, 0\) for 1 arguments; give one number"
            ),
        ),
        (vmap(ac.sin, in_dims=((0,),)), r"is not compatible"),
        (lambda x: vmap(ac.sin, in_dims=({"a": 0},))({"b": x}), r"is not compatible"),
        (vmap(ac.sin, in_dims=(0.5,)), r"is not compatible"),
        (
            vmap(ac.sin, in_dims=(True,)),
            (
                r"an entry of `in_dims` is True; "
                r"expected `in_dims` to be an int or None"
            ),
        ),
        (
            lambda x: vmap(ac.add)(x, 2),
            (
                r"Got in_dim=0 for an input but the input is of type int. We "
                r"cannot vmap over non-Tensor arguments, please use None"
            ),
        ),
        (
            lambda x: vmap(ac.sin)(x[0, 0]),
            (
                r"Got in_dim=0 for some input, but that "
                r"input is a Tensor of dimensionality 0 so expected"
            ),
        ),
        (vmap(ac.sin, in_dims=2), r"-2 <= in_dim < 2"),
        (vmap(ac.sin, in_dims=[0]), r"`in_dims` is a list; expected `in_dims` to be"),
        (vmap(ac.sin, in_dims=-3), r"-2 <= in_dim < 2"),
        (
            vmap(ac.sin, in_dims=(None,)),
            (
                r"at least one Tensor must have a "
                r"dimension of examples, but all entries of `in_dims` are None"
            ),
        ),
        (
            lambda x: vmap(ac.add)(x, x.T),
            (
                r"Expected all tensors to have the same size "
                r"in the mapped dimension, got sizes \[2, 3\]"
            ),
        ),
        (
            vmap(lambda a: 1.0),
            (
                r"must only return Tensors, got type <class "
                r"'float'> as a return"
            ),
        ),
        (
            vmap(lambda a: (a, None)),
            (
                r"must only return Tensors, got type "
                r"<class 'NoneType'>"
            ),
        ),
        (
            vmap(ac.sin, out_dims=(0, 0)),
            (
                r"out_dims is not compatible with "
                r"the structure of `outputs`: it is \(0, 0\) for 1 results"
            ),
        ),
        (vmap(lambda a: (a, a), out_dims=(0,)), r"it is \(0,\) for 2"),
        (
            vmap(ac.sin, out_dims="0"),
            (
                r"must be an int, None or a python "
                r"collection of ints"
            ),
        ),
        (
            vmap(lambda a: a, out_dims=None),
            r"can not return a BatchedTensor when out_dim is None\. Give a number",
        ),
    ],
)
def test_refused_arguments(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(numbers(2, 3))


@pytest.mark.parametrize("dim", [2, -3])
def test_a_place_outside_of_a_result_is_refused(dim):
    with pytest.raises(
        DimensionError,
        match=rf"Dimension out of range: `out_dims` is {dim} for a result of shape "
        r"\(3,\); it must be from -2 to 1",
    ):
        vmap(ac.sin, out_dims=dim)(numbers(2, 3))


def test_results_without_examples_can_be_anything():
    found, word = vmap(lambda a: (a * 2, "same"), out_dims=(0, None))(ac.ones(2))
    assert (found.tolist(), word) == ([2.0, 2.0], "same")


def test_an_index_outside_of_the_table_of_each_example_is_refused():
    tables, i = numbers(3, 4, 2), ac.tensor([[0], [1], [4]])
    with pytest.raises(VmapError, match=r"embedding: an index is 0 or 4, but the table "
                       r"of each example has 4 rows. index out of range"):  # fmt: skip
        vmap(F.embedding)(i, tables)


def test_an_integer_of_each_example_apart_from_other_indices_is_refused():
    a, i, j = numbers(3, 4, 5, 6), ac.tensor([0, 1, 2]), ac.tensor([1, 0])
    with pytest.raises(VmapError, match=r"index: an integer that differs.*have "
                       r"dimensions between them. Index in two steps"):  # fmt: skip
        vmap(lambda a, i: a[i, :, j])(a, i)
    found = vmap(lambda a, i: a[i][:, j])(a, i)
    alike(found, loop(lambda a, i: a[i, :, j], a, i))


def test_a_view_that_needs_a_copy_is_refused_as_without_vmap():
    x = numbers(3, 2, 4)
    with pytest.raises(RuntimeError, match="view"):
        vmap(lambda a: a.T.view(-1))(x)


def test_an_error_inside_leaves_nothing_behind():
    def broken(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        vmap(broken)(numbers(3, 2))
    alike(vmap(ac.sin)(numbers(3, 2)), numbers(3, 2).sin())
    ac.rand(2)  # the generator is the one outside


# ---- kernels without a rule ----------------------------------------------------------


def test_a_kernel_without_a_rule_runs_in_a_loop_and_says_so_once(monkeypatch):
    from autocalc._batching import calls

    monkeypatch.setattr(calls, "_LOOPED", {})
    a = numbers(3, 3, 3)
    r = ac.tensor([0.1, 0.2, 0.3], dtype=ac.float64)

    def function(x, tolerance):
        return ac.linalg.pinv(x, rtol=tolerance)

    with pytest.warns(VmapWarning, match=r"pinv has no batching rule and runs once for "
                      r"each example. ac.func.loops\(\) lists"):  # fmt: skip
        found = vmap(function)(a, r)
    alike(found, loop(function, a, r))
    vmap(function)(a, r)  # no second warning: it would be an error
    assert ac.func.loops() == ["pinv"]


# ---- views, threads and memory -------------------------------------------------------


def test_a_result_can_be_a_view_of_an_argument():
    x = numbers(3, 4)
    row = vmap(lambda a: a[0])(x)
    row.add_(1)
    assert ac.equal(row, x[:, 0])


def test_views_of_results_are_ordinary_tensors():
    x = numbers(3, 4)
    y = vmap(lambda a: a.view(2, 2).T, out_dims=2)(x)
    assert y.device == x.device
    alike(y, x.view(3, 2, 2).permute(2, 1, 0))
    y.numpy()


def test_a_write_through_a_view_that_came_out_is_recorded():
    x = numbers(3, 4).requires_grad_()
    y = x * 1
    vmap(lambda a: a[0])(y).mul_(5)
    (g,) = ac.autograd.grad((x * 1).sum(), x)
    alike(g, ac.ones(3, 4, dtype=ac.float64))


def test_threads_map_at_the_same_time():
    x = numbers(6, 5)
    expected = x.softmax(1) @ x.T
    failures = []

    def work(count):
        for _ in range(20):
            found = vmap(lambda a: vmap(lambda b: a.softmax(0).dot(b))(x))(x[:count])
            if not np.allclose(found.numpy(), expected[:count].numpy()):
                failures.append(count)

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 4, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_nothing_is_left_after_a_call():
    from autocalc._dispatch.device.batches import _LEVELS

    x, w = numbers(3, 2).requires_grad_(), numbers(2).requires_grad_()

    def run():
        y = vmap(vmap(lambda a: a * w.sum()))(x)
        y.sum().backward()

    run()
    gc.collect()
    nodes, levels = ac.live_node_count(), len(_LEVELS)
    for _ in range(5):
        run()
    gc.collect()
    assert (ac.live_node_count(), len(_LEVELS)) == (nodes, levels)


def test_reference_counting_alone_frees_the_tensors_inside():
    kept = []

    def function(a):
        b = a * 2
        kept.append(weakref.ref(b))
        return b + 1

    gc.disable()
    try:
        vmap(function)(numbers(3, 2))
        assert kept[0]() is None
    finally:
        gc.enable()


def test_a_batched_tensor_that_escapes_says_what_it_is():
    escaped = []
    vmap(lambda a: escaped.append(a) or a)(numbers(3, 2))
    with pytest.raises(VmapError, match="differ between the 3 examples"):
        escaped[0].tolist()
