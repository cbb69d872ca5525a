# SPDX-License-Identifier: MIT
"""The graph as users see it: nodes by name, hooks on them, and what they save."""

from __future__ import annotations

import gc

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.autograd import Function, graph
from autocalc.errors import ArgumentError, DTypeError, GradError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core


def leaf(*shape):
    return (ac.rand(*shape) * 0.5 + 0.2).requires_grad_()


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.factor = 3
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


# ---- names ---------------------------------------------------------------------------

#: What PyTorch 2.13 calls the last node of each.
NAMES = {
    "AddBackward0": lambda x: x + x,
    "SubBackward0": lambda x: x - x,
    "MulBackward0": lambda x: x * 2,
    "DivBackward0": lambda x: x / x,
    "NegBackward0": lambda x: -x,
    "PowBackward0": lambda x: x**2,
    "PowBackward1": lambda x: x**x,
    "PowBackward2": lambda x: 2**x,
    "MmBackward0": lambda x: x @ x,
    "MvBackward0": lambda x: x @ x[0],
    "DotBackward0": lambda x: x[0].dot(x[1]),
    "BmmBackward0": lambda x: ac.bmm(x[None], x[None]),
    "AddmmBackward0": lambda x: F.linear(x, x, x[0]),
    "SumBackward0": lambda x: x.sum(),
    "SumBackward1": lambda x: x.sum(0),
    "MeanBackward0": lambda x: x.mean(),
    "MeanBackward1": lambda x: x.mean(0),
    "MaxBackward1": lambda x: x.max(),
    "MaxBackward0": lambda x: x.max(1)[0],
    "AmaxBackward0": lambda x: x.amax(1),
    "ProdBackward0": lambda x: x.prod(),
    "TBackward0": lambda x: x.t(),
    "ViewBackward0": lambda x: x.view(9),
    "UnsqueezeBackward0": lambda x: x.unsqueeze(0),
    "SqueezeBackward1": lambda x: x[None].squeeze(0),
    "SelectBackward0": lambda x: x[0],
    "SliceBackward0": lambda x: x[:, 1:],
    "IndexSelectBackward0": lambda x: x.index_select(0, ac.tensor([0])),
    "ExpandBackward0": lambda x: x.expand(2, 3, 3),
    "CloneBackward0": lambda x: x.clone(),
    "ToCopyBackward0": lambda x: x.double(),
    "ReluBackward0": lambda x: x.relu(),
    "LeakyReluBackward0": F.leaky_relu,
    "SoftmaxBackward0": lambda x: x.softmax(0),
    "LogSoftmaxBackward0": lambda x: x.log_softmax(0),
    "ClampBackward1": lambda x: x.clamp(0, 1),
    "WhereBackward0": lambda x: ac.where(x > 0.3, x, x),
    "CatBackward0": lambda x: ac.cat([x, x]),
    "ConvolutionBackward0": lambda x: F.conv1d(x[None], x[:, :, None]),
    "AvgPool2DBackward0": lambda x: F.avg_pool2d(x[None, None], 2),
    "MaxPool2DWithIndicesBackward0": lambda x: F.max_pool2d(x[None, None], 2),
    "NativeLayerNormBackward0": lambda x: F.layer_norm(x, (3,)),
    "NativeBatchNormBackward0": lambda x: F.batch_norm(x, None, None, training=True),
    "EmbeddingBackward0": lambda x: F.embedding(ac.tensor([0]), x),
    "NllLossBackward0": lambda x: F.cross_entropy(x, ac.tensor([0, 1, 2])),
    "LinalgDetBackward0": lambda x: x.det(),
    "LinalgInvExBackward0": lambda x: (x + ac.eye(3)).inverse(),
    "FloorBackward0": lambda x: x.floor(),
    "Log1PBackward0": lambda x: x.log1p(),
    "ExpBackward": Exp.apply,
}


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    node = NAMES[name](leaf(3, 3)).grad_fn
    assert type(node).__name__ == node.name() == name
    assert isinstance(node, graph.Node)


def test_the_same_node_each_time_and_leaves_have_none():
    x = leaf(2)
    y = x * 2
    assert y.grad_fn is y.grad_fn
    assert (y * 3).grad_fn.next_functions[0][0] is y.grad_fn
    assert x.grad_fn is None
    assert x.detach().grad_fn is None


def test_next_functions_lead_to_the_leaves():
    x, y = leaf(2), leaf(2)
    product = x * y
    ((first, _), (second, _)) = product.grad_fn.next_functions
    assert (first.variable is x, second.variable is y) == (True, True)
    assert type(first).__name__ == "AccumulateGrad"
    assert first.name() == "torch::autograd::AccumulateGrad"
    assert first.next_functions == ()
    assert isinstance(first, graph.Node)
    assert (x * 2).grad_fn.next_functions == ((first, 0), (None, 0))


def test_next_functions_tell_outputs_apart():
    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, g, h):
            return g + 2 * h

    a, b = Two.apply(leaf(2))
    assert [slot for _, slot in (a * b).grad_fn.next_functions] == [0, 1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: leaf(2),
        lambda: nn.Linear(2, 2).weight,
        lambda: nn.Parameter(ac.ones(2)),
        lambda: ac.ones(2).double().requires_grad_(),
    ],
    ids=["tensor", "module", "parameter", "double"],
)
def test_variable(make):
    x = make()
    (end, _) = (x * 2).grad_fn.next_functions[0]
    assert end.variable is x


def test_variable_of_a_copy_and_of_what_is_gone():
    import copy

    x = copy.deepcopy(leaf(2))
    (end, _) = (x * 2).grad_fn.next_functions[0]
    assert end.variable is x
    del x
    assert end.variable is None


def test_a_walk_over_the_graph_as_tools_do_it():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    found, todo = set(), [net(ac.ones(2, 3)).sum().grad_fn]
    while todo:
        node = todo.pop()
        if hasattr(node, "variable"):
            found.add(node.variable)
        todo += [one for one, _ in node.next_functions if one is not None]
    assert found == set(net.parameters())


def test_metadata_stays_with_the_node():
    y = leaf(2) * 2
    y.grad_fn.metadata["seen"] = 1
    gc.collect()
    assert y.grad_fn.metadata == {"seen": 1}
    y.sum().backward()


def test_named_nodes_count_and_go():
    before = ac.live_node_count()
    y = leaf(2) * 2
    assert y.grad_fn.name() == "MulBackward0"
    assert ac.live_node_count() == before + 1
    del y
    assert ac.live_node_count() == before


def test_a_users_function_gives_its_context():
    y = Exp.apply(leaf(2))
    assert y.grad_fn.factor == 3
    assert ac.equal(y.grad_fn.saved_tensors[0], y)
    with pytest.raises(AttributeError, match="other"):
        _ = y.grad_fn.other
    y.sum().backward()
    with pytest.raises(GradError, match="were freed"):
        _ = y.grad_fn.saved_tensors


def test_gradients_are_the_same_through_named_nodes():
    x = leaf(3, 3)

    def loss(look):
        y = x @ x
        z = (y.relu() * y[1:, 1:].sum()).softmax(0)
        total = (z * z.t()).sum() + ac.stack(z.unbind()).max()
        todo = [total.grad_fn] if look else []
        while todo:
            todo += [one for one, _ in todo.pop().next_functions if one is not None]
        return total

    plain, named = (ac.autograd.grad(loss(look), x)[0] for look in (False, True))
    assert ac.equal(plain, named)
    plain, named = (
        ac.autograd.grad(ac.autograd.grad(loss(look), x, create_graph=True)[0].sum(), x)
        for look in (False, True)
    )
    assert ac.equal(plain[0], named[0])


# ---- hooks on nodes ------------------------------------------------------------------


def test_hooks_see_what_a_rule_gets_and_returns():
    x, seen = leaf(2), []
    y = x * 3
    y.grad_fn.register_prehook(lambda outs: seen.append(("pre", outs)))
    y.grad_fn.register_hook(lambda ins, outs: seen.append(("post", ins, outs)))
    (y * 2).sum().backward()
    (pre, got), (post, ins, outs) = seen
    assert (pre, post) == ("pre", "post")
    assert [g.tolist() for g in (*got, *outs, ins[0])] == [[2, 2], [2, 2], [6, 6]]
    assert ins[1] is None
    assert x.grad.tolist() == [6, 6]


def test_hooks_replace_and_are_removed():
    x = leaf(2)
    y = x * 3
    before = y.grad_fn.register_prehook(lambda outs: (outs[0] * 10,))
    after = y.grad_fn.register_hook(lambda ins, outs: (ins[0] + 1, None))
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [31, 31]
    before.remove()
    after.remove()
    x.grad = None
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_hooks_on_a_slice_see_the_whole():
    x, seen = leaf(3), []
    y = x[1:]
    y.grad_fn.register_hook(lambda ins, outs: seen.append(ins[0].tolist()))
    y.sum().backward()
    assert seen == [[0, 1, 1]]
    assert x.grad.tolist() == [0, 1, 1]


def test_hooks_run_where_the_pass_is_recorded():
    x = leaf(2)
    y = x * x
    y.grad_fn.register_hook(lambda ins, outs: tuple(g * 2 for g in ins))
    (g,) = ac.autograd.grad(y.sum(), x, create_graph=True)
    assert ac.allclose(g, 4 * x)
    (h,) = ac.autograd.grad(g.sum(), x)
    assert h.tolist() == [4, 4]


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16])
def test_hooks_see_halves(dtype):
    x, seen = leaf(2).to(dtype).detach().requires_grad_(), []
    y = x * x
    y.grad_fn.register_hook(lambda ins, outs: seen.extend([*ins, *outs]))
    y.sum().backward()
    assert [g.dtype for g in seen] == [dtype] * 3
    plain = x.detach().requires_grad_()
    (plain * plain).sum().backward()
    assert ac.equal(plain.grad, x.grad)


def test_hooks_at_a_leaf():
    x, seen = leaf(2), []
    end = (x * 2).grad_fn.next_functions[0][0]
    end.register_prehook(lambda outs: (outs[0] * 5,))
    handle = end.register_hook(
        lambda ins, outs: seen.append((ins, outs[0].tolist(), x.grad.tolist()))
    )
    (x * 2).sum().backward()
    assert seen == [((), [10, 10], [10, 10])]
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [20, 20]
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("found", "error", "text"),
    [
        (
            3,
            DTypeError,
            "hook '<lambda>': returned a int; it must return None or a tup",
        ),
        ((1,), DTypeError, "value 0 is a int; it must be a tensor or None"),
        ((None, None), GradError, "got 2, but expected 1 gradients; return None"),
        ((ac.ones(3),), GradError, r"value 0 has shape \(3,\) and dtype float32, but"),
    ],
)
@pytest.mark.parametrize("kind", ["register_hook", "register_prehook"])
def test_hooks_that_return_nonsense(found, error, text, kind):
    y = leaf(2).tanh()
    getattr(y.grad_fn, kind)(lambda *given: found)
    with pytest.raises(error, match=text):
        y.sum().backward()


@pytest.mark.parametrize("kind", ["register_hook", "register_prehook"])
def test_hooks_are_functions(kind):
    y = leaf(2) * 2
    for node in (y.grad_fn, y.grad_fn.next_functions[0][0]):
        with pytest.raises(ArgumentError, match=f"{kind}: `fn` is a int; give a func"):
            getattr(node, kind)(3)


# ---- edges ---------------------------------------------------------------------------


def test_gradient_edges_take_the_place_of_tensors():
    x = leaf(2)
    y = x * 3
    z = (y * y).sum()
    edge = graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn
    (g,) = ac.autograd.grad(z, edge, retain_graph=True)
    assert ac.allclose(g, 2 * y)
    (g,) = ac.autograd.grad(edge, x, ac.ones(2), retain_graph=True)
    assert g.tolist() == [3, 3]
    (g,) = ac.autograd.grad(z, graph.get_gradient_edge(x), retain_graph=True)
    assert ac.allclose(g, 18 * x)
    ac.autograd.backward(edge, ac.ones(2))
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(GradError, match="a GradientEdge was given with a NoneType as"):
        ac.autograd.grad(edge, x)
    with pytest.raises(GradError, match="which a GradientEdge does not have; give the"):
        ac.autograd.grad(leaf(1) * 2, edge, materialize_grads=True)
    with pytest.raises(
        GradError, match=r"get_gradient_edge: the tensor of shape \(2,\)"
    ):
        graph.get_gradient_edge(ac.ones(2))


def test_increment_version():
    x, y = leaf(2), ac.ones(2)
    z = (x * y).sum()
    graph.increment_version([y])
    with pytest.raises(GradError, match="was changed in place after it was saved"):
        z.backward()
    with pytest.raises(DTypeError, match=r"`tensor\[0\]` is 3; it must be a t"):
        graph.increment_version([3])


# ---- hooks on several tensors --------------------------------------------------------


def test_multi_grad_hook_waits_for_what_the_pass_computes():
    a, b, c = leaf(2), leaf(2), leaf(2)
    seen = []
    handle = graph.register_multi_grad_hook((a, b, c), seen.append)
    (a * 2).sum().backward()
    assert [g if g is None else g.tolist() for g in seen[0]] == [[2, 2], None, None]
    (a * b).sum().backward()
    assert [g is None for g in seen[1]] == [False, False, True]
    ac.autograd.grad((a * b * c).sum(), [a, b])
    assert [g is None for g in seen[2]] == [False, False, True]
    handle.remove()
    (a * b).sum().backward()
    assert len(seen) == 3


def test_multi_grad_hook_of_inner_tensors():
    a, seen = leaf(2), []
    y = a * 2
    z = y * 3
    graph.register_multi_grad_hook(
        [y, z, a], lambda g: seen.append([x.tolist() for x in g])
    )
    (z + y).sum().backward(retain_graph=True)
    assert seen == [[[4, 4], [1, 1], [8, 8]]]
    (z + y).sum().backward()
    assert seen[1] == seen[0]


def test_multi_grad_hook_of_any():
    a, b = leaf(2), leaf(2)
    seen = []
    graph.register_multi_grad_hook(
        [a, b], lambda g: seen.append(g.tolist()), mode="any"
    )
    (a * 2 + b * 2).sum().backward()
    assert seen == [[2, 2]]
    with pytest.raises(
        ArgumentError, match="register_multi_grad_hook: Expects mode to be one of"
    ):
        graph.register_multi_grad_hook([a], print, mode="one")
    with pytest.raises(GradError, match=r"register_multi_grad_hook: `tensors\[0\]`"):
        graph.register_multi_grad_hook([ac.ones(1)], print)


# ---- gradients of tensors that are no leaves -----------------------------------------


@pytest.mark.parametrize("retains", [False, True])
def test_backward_to_inner_tensors(retains):
    x = ac.ones(2, requires_grad=True)
    h = x * 2
    if retains:
        h.retain_grad()
    y = (h * h).sum()
    y.backward(inputs=[h], retain_graph=True)
    assert (x.grad, h.grad.tolist()) == (None, [4, 4])
    y.backward(inputs=[h, x])
    assert (x.grad.tolist(), h.grad.tolist()) == ([8, 8], [8, 8])


def test_backward_to_the_root_a_part_and_what_is_not_reached():
    x = ac.ones(4, requires_grad=True)
    a, b = (x * 2).split(2)
    other = leaf(2) * 3
    y = (a * b).sum()
    y.backward(inputs=[y, b, other])
    assert y.grad.item() == 1
    assert (b.grad.tolist(), other.grad, x.grad) == ([2, 2], None, None)


def test_hooks_of_inner_tensors_run_before_their_gradient_is_kept():
    x = ac.ones(2, requires_grad=True)
    h = x * 2
    h.register_hook(lambda g: g * 10)
    y = (h * h).sum()
    assert ac.autograd.grad(y, h, retain_graph=True)[0].tolist() == [40, 40]
    y.backward(inputs=h)
    assert h.grad.tolist() == [40, 40]


def test_backward_to_what_requires_no_gradient():
    with pytest.raises(GradError, match=r"`inputs\[0\]` of shape \(2,\)"):
        leaf(2).sum().backward(inputs=[ac.ones(2)])
