# SPDX-License-Identifier: MIT
"""The graph: what it keeps, when it is freed, how large it may be."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
from tests.operator_table import FREED

import autocalc as ac
from autocalc.nn.functional import cross_entropy, linear


@pytest.fixture(autouse=True)
def without_the_collector():
    """Let reference counts do the work, as they must."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def ran(calls):
    """Return the kernels that ran, whichever set they were of."""
    result: dict[str, int] = {}
    for (kernel, _), n in calls.items():
        result[kernel] = result.get(kernel, 0) + n
    return result


def activation_of(function):
    """Return whether an activation lives on after `function` used it."""
    x = ac.ones(4, requires_grad=True)
    h = x + 1
    alive = weakref.ref(h._array)
    y = function(h)
    del h
    return alive() is not None, y


# ---- what is kept --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "kept"),
    [
        (lambda h: h + 1, False),
        (lambda h: h - 1, False),
        (lambda h: -h, False),
        (lambda h: h * 2, False),
        (lambda h: h / 2, False),
        (lambda h: h.exp(), False),
        (lambda h: h.sqrt(), False),
        (lambda h: h.tanh(), False),
        (lambda h: h.sigmoid(), False),
        (lambda h: h.relu(), False),
        (lambda h: h.softmax(0), False),
        (lambda h: h.log_softmax(0), False),
        (lambda h: h.sum(), False),
        (lambda h: h.mean(), False),
        (lambda h: ac.where(h > 0, h, 0.0), False),
        (lambda h: h[ac.tensor([0])], False),
        (lambda h: ac.cat([h, h]), False),
        (lambda h: h.clone(), False),
        (lambda h: linear(h, ac.ones(2, 4)), False),
        (lambda h: h @ ac.ones(4), False),
        (lambda h: h.double(), False),
        (lambda h: h * h, True),
        (lambda h: h.log(), True),
        (lambda h: h.sin(), True),
        (lambda h: h.var(), True),
        (lambda h: h.reshape(2, 2), True),
        (lambda h: linear(h, ac.ones(2, 4, requires_grad=True)), True),
    ],
)
def test_an_activation_that_no_rule_needs_is_freed_at_once(function, kept):
    assert activation_of(function)[0] is kept


def test_saved_arrays_are_freed_as_the_walk_passes():
    x = ac.ones(4, requires_grad=True)
    h = x + 1
    y = (h * h).sum()
    node = y.grad_fn.edges[0]
    alive = weakref.ref(h._array)
    del h
    assert alive() is not None
    y.backward()
    assert alive() is None
    assert node.saved is FREED
    assert repr(node.saved) == "FREED"


def test_a_node_never_holds_a_tensor():
    x = ac.ones(4, requires_grad=True)
    h = x * 2
    alive = weakref.ref(h)
    y = (h * h).sum()
    del h
    assert alive() is None
    y.backward()


def test_without_recording_nothing_is_kept():
    before = ac.live_node_count()
    x = ac.ones(4, requires_grad=True)
    with ac.no_grad():
        y = x * x
    assert ac.live_node_count() == before
    assert y._version is None


# ---- when it is freed ----------------------------------------------------------------


def training_step(parameters, x, target):
    w, b, v = parameters
    h = linear(x, w, b).relu()
    loss = cross_entropy(h @ v, target)
    loss.backward()
    with ac.no_grad():
        for p in parameters:
            p.sub_(p.grad * 0.1)
            p.grad = None
    return loss.item()


def test_a_training_loop_leaves_no_nodes_behind():
    parameters = [ac.rand(*size, requires_grad=True) for size in [(8, 4), (8,), (8, 3)]]
    x, target = ac.rand(5, 4), ac.tensor([0, 1, 2, 0, 1])
    before = ac.live_node_count()
    losses = [training_step(parameters, x, target) for _ in range(5)]
    assert ac.live_node_count() == before
    assert losses[-1] < losses[0]


def test_a_graph_is_freed_with_its_last_tensor():
    before = ac.live_node_count()
    x = ac.ones(2, requires_grad=True)
    y = (x * x).exp().sum()
    assert ac.live_node_count() == before + 3
    del y
    assert ac.live_node_count() == before


def test_a_graph_is_freed_after_an_error():
    before = ac.live_node_count()
    x = ac.ones(2, requires_grad=True)
    y = x * x
    with pytest.raises(ac.errors.GradError) as caught:
        y.backward()
    del y, caught
    gc.collect()  # the traceback holds frames
    assert ac.live_node_count() == before


def test_a_recorded_walk_leaves_no_cycle_when_the_gradient_is_returned():
    before = ac.live_node_count()
    x = ac.ones(2, requires_grad=True)
    y = (x * x * x).sum()
    (g,) = ac.autograd.grad(y, x, create_graph=True)
    (g * g).sum().backward()
    del y, g
    assert ac.live_node_count() == before


def test_create_graph_into_grad_is_a_cycle_that_the_collector_or_the_user_ends():
    before = ac.live_node_count()
    x = ac.ones(2, requires_grad=True)
    (x * x).sum().backward(create_graph=True)
    assert ac.live_node_count() > before
    x.grad = None
    assert ac.live_node_count() == before
    (x * x).sum().backward(create_graph=True)
    del x
    gc.collect()
    assert ac.live_node_count() == before


def test_a_hook_that_holds_its_tensor_is_a_cycle_that_the_collector_ends():
    before = ac.live_node_count()
    x = ac.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g, y=y: g * y.detach())
    del y
    assert ac.live_node_count() == before + 1
    gc.collect()
    assert ac.live_node_count() == before


# ---- how large it may be -------------------------------------------------------------


def test_a_chain_of_100_000_operators():
    before = ac.live_node_count()
    x = ac.ones(1, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1.0
    assert ac.live_node_count() == before + 100_000
    del y
    assert ac.live_node_count() == before


def test_a_long_chain_is_freed_without_a_walk_and_from_its_middle():
    before = ac.live_node_count()
    x = ac.ones(1, requires_grad=True)
    y = x
    for i in range(40_000):
        y = y * 1.0
        if i == 20_000:
            middle = y
    del y
    assert ac.live_node_count() == before + 20_001
    del middle
    assert ac.live_node_count() == before


def test_a_long_chain_through_grad_and_views():
    x = ac.ones(2, requires_grad=True)
    y = x
    for _ in range(5_000):
        y = y.reshape(2, 1).reshape(2)
    (g,) = ac.autograd.grad(y.sum(), x)
    assert g.tolist() == [1.0, 1.0]
    del y, g


def slices(n):
    x = ac.ones(n, 4, requires_grad=True)
    total = x[0].sum()
    for i in range(1, n):
        total = total + x[i].sum()
    with ac.kernels.count() as calls:
        total.backward()
    assert x.grad.tolist() == [[1.0] * 4] * n
    return ran(calls)


def test_a_loop_over_slices_is_linear():
    few, many = slices(10), slices(40)
    assert many["fill"] - few["fill"] <= 1  # one buffer, however many slices
    assert sum(many.values()) <= 4.2 * sum(few.values())


def test_wide_fan_out_adds_into_one_sum():
    x = ac.ones(4, requires_grad=True)
    total = ac.zeros(4)
    for _ in range(50):
        total = total + x * 2
    with ac.kernels.count() as calls:
        total.sum().backward()
    assert x.grad.tolist() == [100.0] * 4
    assert ran(calls)["mul"] == 50


# ---- gradients that nobody needs -----------------------------------------------------


def test_gradients_that_nobody_needs_are_not_computed():
    x = ac.ones(2, 3)
    w = ac.ones(3, 4, requires_grad=True)
    y = (x @ w).sum()
    with ac.kernels.count() as calls:
        y.backward()
    assert ran(calls)["gemm"] == 1
    frozen = ac.ones(4, 3)
    h = ac.ones(2, 3, requires_grad=True)
    z = linear(h, frozen, ac.ones(4)).sum()
    with ac.kernels.count() as calls:
        z.backward()
    counted = ran(calls)
    assert counted.get("linear_backward", 0) + counted.get("gemm", 0) == 1


def test_constants_do_not_enter_the_graph():
    x = ac.ones(2, requires_grad=True)
    y = ac.ones(2) * 3 + 1
    assert y.grad_fn is None
    z = x * y
    assert z.grad_fn.edges[1] is None
    assert z.grad_fn.saved[0] is None  # x is needed only for the other's gradient


def test_a_product_with_a_number_computes_one_gradient():
    x = ac.ones(2, requires_grad=True)
    y = (x * 3).sum()
    with ac.kernels.count() as calls:
        y.backward()
    assert ran(calls).get("mul", 0) == 1


# ---- nodes are data ------------------------------------------------------------------


def test_nodes_can_be_read():
    x = ac.ones(2, requires_grad=True)
    y = (x * x).reshape(1, 2)
    node = y.grad_fn
    assert node.op.name == "reshape"
    assert node.shapes == ((2,),)
    assert node.attributes == ((1, 2),)
    (product,) = node.edges
    assert product.serial < node.serial
    assert [type(edge).__name__ for edge in product.edges] == ["Leaf", "Leaf"]
    assert repr(product).startswith(f"<Node {product.serial} mul(")


def test_graphs_of_several_threads():
    x = ac.ones(16, requires_grad=True)
    failures = []

    def work():
        try:
            for _ in range(50):
                (g,) = ac.autograd.grad(((x * x) * x).sum(), x)
                assert g.tolist() == [3.0] * 16
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_graph_can_be_walked_by_another_thread():
    x = ac.ones(2, requires_grad=True)
    y = (x * x).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    assert x.grad.tolist() == [2.0, 2.0]
