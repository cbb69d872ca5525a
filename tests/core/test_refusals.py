# SPDX-License-Identifier: MIT
"""What looks like a call and is a mistake: refused, with words that say so."""

from __future__ import annotations

import inspect

import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc.errors import (
    ArgumentError,
    AutocalcError,
    AutocalcWarning,
    DimensionError,
    DTypeError,
    GradError,
    KernelIndexError,
    ShapeError,
)
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

X = ac.tensor([[1.0, 2.0], [3.0, 4.0]])
I8 = ac.tensor([1, 2, 3], dtype=ac.int8)
MASK = ac.tensor([True, False, True])
NAN = float("nan")


@pytest.mark.parametrize("make", [ac.zeros, ac.ones, ac.empty, ac.rand, ac.randn])
def test_sizes_are_asked_for(make):
    with pytest.raises(ArgumentError, match=f"{make.__name__}: no sizes were given"):
        make()
    assert make(()).shape == make(size=()).shape == make([]).shape == ()


@pytest.mark.parametrize("name", ["new_zeros", "new_ones", "new_empty"])
def test_methods_that_make_tensors_ask_for_sizes(name):
    with pytest.raises(ArgumentError, match="no sizes were given"):
        getattr(X, name)()


@pytest.mark.parametrize(
    "name",
    ["view", "reshape", "permute", "expand", "repeat", "tile", "flip", "sum_to_size"],
)
def test_sizes_of_a_method_are_asked_for(name):
    scalar = ac.tensor(1.0)
    with pytest.raises(ArgumentError, match=f"{name}: no sizes were given; give"):
        getattr(scalar, name)()
    assert getattr(scalar, name)(()).shape == ()


@pytest.mark.parametrize("big", [2**64, 2**70, -(2**63) - 1, 10**4000])
def test_a_huge_python_integer_is_refused_wherever_a_number_is_taken(big):
    index = ac.tensor([0, 1])
    assert (
        (X * 2.0**70).isfinite().all()
    )  # an equal float before it makes no difference
    for call in (
        lambda: X + big,
        lambda: X * big,
        lambda: big < X,
        lambda: X.masked_fill(X > 1, big),
        lambda: X.clone().masked_fill_(X > 1, big),
        lambda: X.clone().fill_(big),
        lambda: X.clone().add_(big),
        lambda: X.clamp(max=big),
        lambda: ac.where(X > 1, X, big),
        lambda: ac.full((2,), big, dtype=ac.float32),
        lambda: ac.full_like(MASK, big),
        lambda: X.clone().__setitem__(0, big),
        lambda: X.index_fill(0, index, big),
        lambda: X.scatter(0, index[None], big),
        lambda: F.pad(X, (1, 1), value=big),
    ):
        with pytest.raises(ArgumentError, match="does not fit into"):
            call()


def test_huge_floats_are_floats():
    assert (X + 1e30).max().item() == pytest.approx(1e30)
    assert (ac.zeros(1, dtype=ac.float64) + 2**63).item() == 2.0**63


test_mistakes = refusals(
    r"""
    X.var(True, True) -> ArgumentError: `unbiased`=True was given with
    X.std(False, None, True) -> ArgumentError: std: `unbiased`=False
    X.var(0, True, correction=2) -> ArgumentError: the same; give one
    X.squeeze(None) -> ArgumentError: squeeze: `dim` is None; do not give it
    X.clone().squeeze_(None) -> ArgumentError: squeeze: `dim` is None
    ac.multinomial(X, 0) -> ArgumentError: `num_samples` is 0; it
    MASK - 1 -> DTypeError: sub: an operand is boolean; write ~mask
    1 - MASK -> DTypeError: sub: an operand is boolean
    I8 - MASK -> DTypeError: sub: an operand is boolean
    I8.clone().sub_(MASK) -> DTypeError: sub: an operand is boolean
    I8.sub(MASK, alpha=2) -> DTypeError: sub: an operand is boolean
    ac.rsub(MASK, 1, alpha=2) -> DTypeError: sub: an operand is boolean
    I8.add(I8, I8) -> DTypeError: follow one of type Tensor; give `alpha`
    I8.add(1, alpha=0.5) -> DTypeError: add: `alpha` is 0.5, but it multiplies int8
    I8.sub(1, alpha=True) -> DTypeError: sub: `alpha` is True, but it multiplies
    I8.clone().add_(1, alpha=0.5) -> DTypeError: add_: `alpha` is 0.5
    MASK.clone().add_(1) -> DTypeError: type Long can't be cast .* Bool
    MASK.clone().mul_(I8) -> DTypeError: type Char can't be cast .* Bool
    MASK.clone().square_() -> DTypeError: type Long can't be cast .* Bool
    I8 ** (-1) -> ArgumentError: exponent -1 of a tensor of int8 has no
    I8.clone().pow_(-2) -> ArgumentError: exponent -2 .* with .float
    MASK.argmax() -> DTypeError: argmax: many elements of a bool tensor are equal
    MASK.argmin(0) -> DTypeError: argmin: many elements .* with .int()
    MASK.topk(1) -> DTypeError: topk: a tensor of bool
    MASK.median() -> DTypeError: median: a tensor of bool
    MASK.kthvalue(1) -> DTypeError: kthvalue: a tensor of bool
    MASK.floor() -> DTypeError: floor: a tensor of bool is not rounded
    MASK.round() -> DTypeError: round: a tensor of bool is not rounded
    I8.round(decimals=1) -> DTypeError: round: needs float32 or float64
    I8.frac() -> DTypeError: frac: needs float32 or float64, not int8
    I8.nanmean() -> DTypeError: nanmean\(\): expected input to have floating point
    I8.cumsum(0, dtype=ac.bool) -> DTypeError: `dtype` is bool, in which
    +MASK -> DTypeError: positive: a tensor of bool has no sign
    X @ X.double() -> DTypeError: are float32 and float64; they must have the same
    X.mv(X[0].long()) -> DTypeError: matmul: the tensors are float32 and
    ac.isclose(X, X.double()) -> DTypeError: isclose: the tensors are
    X.heaviside(X.double()) -> DTypeError: heaviside is not yet implemented
        for tensors with different dtypes
    X.masked_scatter(X > 1, X.double()) -> DTypeError: masked_scatter: the
    ac.cross(ac.ones(3), I8) -> DTypeError: cross: the tensors are float32
    X.lerp(X.double(), 0.5) -> DTypeError: lerp: the tensors are float32,
    I8.lerp(I8, 0.5) -> DTypeError: int8, int8; they must all be float32
    X.addcmul(X, 2) -> DTypeError: addcmul: needs a Tensor, not int
    MASK.addcmul(MASK, MASK) -> DTypeError: addcmul: the tensors are bool
    I8.addcdiv(I8, I8) -> DTypeError: Integer division with addcdiv .* int8 by int8
    ac.zeros(2, size=(3,)) -> ArgumentError: give only one of
    X.tile(2, dims=(2,)) -> ArgumentError: tile: the sizes \(2,\) are given
    ac.zeros(2, device=False) -> ArgumentError: 'False' is not available
    X.to(device=True) -> ArgumentError: device: 'True' is not available
    X.new_zeros(2, dtype=()) -> DTypeError: dtype \(\) is not supported
    I8.nan_to_num(X) -> DTypeError: nan_to_num: `nan` is tensor
    ac.zeros(0).bernoulli(-1.0) -> ArgumentError: `p` is -1\.0; it must be a
    X.max(keepdim=True) -> ArgumentError: max: `keepdim` needs `dim`;
    X.min(keepdim=True) -> ArgumentError: min: `keepdim` .* or use amin
    (X > 1).trace() -> DTypeError: trace: .* of a bool tensor
    ac.nn.Hardtanh(1.0, 1.0) -> ArgumentError: Hardtanh: `min_val`=1\.0 must be below
    ac.nn.Hardtanh('a') -> DTypeError: Hardtanh: `limits` is 'a'
    ac.nn.TripletMarginLoss(0) -> ArgumentError: `margin` is 0; it must be
    ac.nn.ParameterList(X) -> DTypeError: is one tensor of shape \(2, 2\)
    ac.nn.ParameterList(0) -> DTypeError: `values` is 0; it must be a list
    X.clone().fill_(X) -> ShapeError: fill_: `value` has shape \(2, 2\)
    """,
    globals(),
)


@pytest.mark.parametrize("bad", [-0.1, 1.5, NAN])
@pytest.mark.parametrize("place", ["input", "target"])
def test_probabilities_lie_from_0_to_1(bad, place):
    words = {"input": ac.tensor([0.5, 0.5]), "target": ac.tensor([0.0, 1.0])}
    words[place] = ac.tensor([0.5, bad])
    with pytest.raises(ArgumentError, match=f"`{place}` has elements from"):
        F.binary_cross_entropy(**words)


def test_gradients_that_pytorch_has_not():
    x = ac.tensor([3.0, 5.0], requires_grad=True)
    with pytest.raises(GradError, match="floor_divide: has no derivative; use"):
        (x // 2).sum().backward()
    with pytest.raises(GradError, match="'multiply' has no derivative; multiply by"):
        x.scatter(0, ac.tensor([0]), 2.0, reduce="multiply").sum().backward()
    ac.div(x, 2, rounding_mode="floor").sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_scatter_multiplies():
    index, src = ac.tensor([1, 1, 0]), ac.tensor([2.0, 3.0, 5.0])
    product = ac.ones(3).scatter(0, index, src, reduce="multiply")
    assert product.tolist() == [5.0, 6.0, 1.0]
    assert I8.scatter(0, ac.tensor([2]), 7, reduce="multiply").tolist() == [1, 2, 21]


#: Methods whose first operand may be a number, as in ``ac.add(3, x)``: they are the
#: functions themselves.
NUMBER_FIRST = {
    *("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide"),
    *("pow", "float_power", "floor_divide", "remainder", "fmod", "maximum", "minimum"),
    *("fmax", "fmin", "atan2", "arctan2", "hypot", "logaddexp", "logaddexp2", "xlogy"),
    *("copysign", "clamp_min", "clamp_max", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("bitwise_left_shift", "bitwise_right_shift", "eq", "ne", "not_equal", "lt"),
    *("less", "le", "less_equal", "gt", "greater", "ge", "greater_equal"),
}
METHODS = {
    name: method
    for name in dir(ac.Tensor)
    if not name.startswith("_") and name not in NUMBER_FIRST
    for method in [inspect.getattr_static(ac.Tensor, name)]
    if inspect.isfunction(inspect.unwrap(method))
}


@pytest.mark.parametrize("stranger", [3, "x", [1.0], None])
@pytest.mark.parametrize("name", METHODS)
def test_a_method_of_what_is_no_tensor(name, stranger):
    """Operators raise AutoCalc's error; Python's own methods ask for an attribute."""
    parameters = list(inspect.signature(METHODS[name]).parameters.values())[1:]
    needed = sum(p.default is p.empty and p.kind in (0, 1) for p in parameters)
    for argument in (X, 1, (1,)):
        with pytest.raises((AutocalcError, AttributeError, TypeError)):
            METHODS[name](stranger, *[argument] * needed)


def test_to_of_what_is_no_tensor():
    with pytest.raises(DTypeError, match="to: needs a Tensor, not int"):
        ac.Tensor.to(3, ac.float64)


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin", "atan2"])
@pytest.mark.parametrize("operands", [(X, 2.0), (2.0, X)])
def test_a_number_where_two_tensors_are_needed(name, operands):
    with pytest.raises(DTypeError, match=f"{name}: needs a Tensor, not float"):
        getattr(ac, name)(*operands)


@pytest.mark.parametrize("name", ["hypot", "logaddexp", "logaddexp2"])
def test_two_tensors_of_floats_are_needed(name):
    function = getattr(ac, name)
    for operands in ((X, 2.0), (2.0, X)):
        with pytest.raises(DTypeError, match=f"{name}: needs a Tensor, not float"):
            function(*operands)
    with pytest.raises(DTypeError, match=f"{name}: needs float32 or .*, not int8"):
        function(I8, I8)
    assert function(I8, ac.ones(3)).dtype is ac.float32


@pytest.mark.parametrize("name", ["eq", "lt", "fmod", "copysign", "clamp_min", "rsub"])
def test_a_number_is_the_second_operand(name):
    with pytest.raises(DTypeError, match=f"{name}: needs a Tensor, not int"):
        getattr(ac, name)(2, X)
    assert getattr(ac, name)(X, 2).shape == X.shape


def test_limits_are_both_numbers_or_both_tensors():
    with pytest.raises(DTypeError, match="both must be numbers, or both tensors"):
        ac.clamp(I8, 1, I8)
    assert ac.clamp(I8, 1, ac.tensor(2)).tolist() == [1, 2, 2]


def test_booleans_are_clamped_by_booleans():
    all_true, all_false = ac.ones(3, dtype=ac.bool), ac.zeros(3, dtype=ac.bool)
    assert ac.clamp(MASK, all_true).tolist() == [True, True, True]
    assert ac.clamp(MASK, None, all_false).tolist() == [False, False, False]
    assert MASK.clone().clamp_(all_false, all_true).tolist() == MASK.tolist()


@pytest.mark.parametrize("name", ["gather", "scatter_add", "index_select", "index_add"])
def test_positions_are_int64_or_int32(name):
    index, small = ac.tensor([0, 1], dtype=ac.int32), ac.tensor([0, 1], dtype=ac.int16)
    more = (ac.ones(2),) if "add" in name else ()
    assert getattr(X[0], name)(0, index, *more).shape == (2,)
    with pytest.raises(DTypeError, match=f"{name}: .* int16; it must be int64 or"):
        getattr(X[0], name)(0, small, *more)


@pytest.mark.parametrize("name", ["index_copy", "index_fill", "put", "take"])
def test_positions_are_int64(name):
    index = ac.tensor([0, 1], dtype=ac.int32)
    args = {"put": (index, X[0]), "take": (index,), "index_fill": (0, index, 1)}
    with pytest.raises(DTypeError, match=f"{name}: .* int32; it must be int64"):
        getattr(X[0], name)(*args.get(name, (0, index, X[0])))


def test_values_at_indices_have_the_dtype_of_the_tensor():
    x = ac.zeros(3)
    for index in ([0, 1, 2], MASK | True, ac.tensor([0, 1, 2])):
        with pytest.raises(DTypeError, match=r"index assignment: .* and int8"):
            x[index] = I8
    x[MASK] = ac.tensor(2)  # one element where a mask holds is a number
    x[:1] = I8[:1]
    assert x.tolist() == [1.0, 0.0, 2.0]
    with pytest.raises(DTypeError, match="index_put: needs a Tensor"):
        x.index_put((MASK,), 2.0)
    with pytest.raises(DTypeError, match=r"put: .* are float32 and int8"):
        x.put(ac.tensor([0, 1, 2]), I8)


def test_booleans_at_indices():
    index = ac.tensor([0, 0, 2])
    none = ac.zeros(3, dtype=ac.bool)
    for found in (none.index_add(0, index, MASK), none.scatter_add(0, index, MASK)):
        assert found.tolist() == [True, False, True]
    assert none.clone().index_add_(0, index, MASK, alpha=2.5).tolist()[0]
    assert none.index_put((index,), MASK, accumulate=True).tolist()[0]
    assert (~none).scatter_reduce(0, index, MASK, "prod").tolist() == [
        False,
        True,
        True,
    ]
    with pytest.raises(DTypeError, match="booleans have no mean"):
        none.scatter_reduce(0, index, MASK, "mean")
    with pytest.raises(DTypeError, match=": needs numbers, not bool; convert a"):
        none.index_reduce(0, index, MASK, "amax")


@pytest.mark.parametrize("name", ["isin", "searchsorted"])
def test_booleans_are_not_searched(name):
    with pytest.raises(DTypeError, match=f"{name}: needs numbers, not bool"):
        getattr(ac, name)(MASK, MASK)


def test_tensor_split_takes_a_tensor_of_int64():
    parts = ac.arange(5).tensor_split(ac.tensor([1, 3]))
    assert [part.tolist() for part in parts] == [[0], [1, 2], [3, 4]]
    assert len(ac.arange(5).tensor_split(ac.tensor(2))) == 2
    for wrong in (ac.tensor([1], dtype=ac.int32), ac.tensor([[1]])):
        with pytest.raises(
            DTypeError, match="tensor_split expected tensor_indices_or_sections"
        ):
            ac.arange(5).tensor_split(wrong)


def test_float_power_in_place_needs_float64():
    with pytest.raises(
        DTypeError, match="float_power_: the operation's result requires dtype float64"
    ):
        X.clone().float_power_(2)
    assert X.double().float_power_(2).tolist() == [[1.0, 4.0], [9.0, 16.0]]


def test_embedding_of_integers():
    rows = F.embedding(ac.tensor([[1, 0]]), ac.tensor([[1, 2], [3, 4]]))
    assert rows.tolist() == [[[3, 4], [1, 2]]]
    with pytest.raises(DTypeError, match="embedding_bag: needs float32 or float64"):
        F.embedding_bag(ac.tensor([[1, 0]]), ac.tensor([[1, 2], [3, 4]]))


@pytest.mark.parametrize("function", [F.silu, lambda x: ac.logcumsumexp(x, 0), ac.norm])
def test_floats_are_needed(function):
    with pytest.raises(DTypeError, match=": needs float32 or float64, not"):
        function(I8)


def test_integers_within_limits():
    assert F.relu6(I8 * 5).tolist() == [5, 6, 6]
    assert F.hardtanh(-I8, -2, 2).dtype is ac.int8
    x = I8 * 5
    assert F.hardtanh(x, -6, 6, inplace=True) is x
    assert x.tolist() == [5, 6, 6]
    with pytest.raises(DTypeError, match=r"hardtanh: 0\.0 to 2\.5 cannot be the"):
        F.hardtanh(I8, 0, 2.5)
    with pytest.raises(DTypeError, match=r"hardtanh: -1.0 to 1.0 cannot be the"):
        F.hardtanh(I8.to(ac.uint8))
    for function in (F.relu6, F.hardtanh, lambda x: F.threshold(x, 1, 2)):
        with pytest.raises(DTypeError, match=": needs numbers, not bool; convert"):
            function(MASK)


@pytest.mark.parametrize("mode", ["reflect", "replicate"])
def test_booleans_have_no_border(mode):
    with pytest.raises(DTypeError, match=": needs numbers, not bool; convert a"):
        F.pad(MASK.reshape(1, -1), (1, 1), mode=mode)


def test_booleans_have_no_area():
    with pytest.raises(DTypeError, match=": needs numbers, not bool; convert a"):
        ac.trapezoid(MASK)


def test_what_has_no_dimension_is_not_rolled_along_one():
    with pytest.raises(DimensionError, match=r"roll: `dims`=.* without dimensions"):
        ac.tensor(1.0).roll(1, 0)
    assert ac.tensor(1.0).roll(1).item() == 1.0


def test_slopes_have_the_dtype_of_the_input():
    with pytest.raises(DTypeError, match="prelu: the tensors are float32 and float64"):
        F.prelu(X, ac.ones(2, dtype=ac.float64))


@pytest.mark.parametrize(
    "function",
    [F.relu, F.relu6, F.hardtanh, F.hardswish, F.leaky_relu, F.silu],
    ids=lambda f: f.__name__,
)
def test_an_activation_in_place_needs_no_other_memory(function):
    x = ac.linspace(-9, 9, 100_000)
    expected, start = function(x).tolist(), x.data_ptr()
    before = ac.memory.stats()
    assert function(x, inplace=True) is x
    assert ac.memory.stats() == before  # nothing is allocated, nor taken from a cache
    assert x.tolist() == expected
    assert x.data_ptr() == start

    leaf = ac.linspace(-9, 9, 5, dtype=ac.float64).requires_grad_()
    (slope,) = ac.autograd.grad(function(leaf * 1, inplace=True).sum(), leaf)
    (other,) = ac.autograd.grad(function(leaf).sum(), leaf)
    assert slope.tolist() == other.tolist()


Y = ac.tensor([1.0, 2.0, 3.0])


def test_losses_of_integers_and_of_two_dtypes():
    assert F.l1_loss(I8, Y).item() == F.smooth_l1_loss(I8, Y).item() == 0.0
    assert F.l1_loss(I8, I8, reduction="none").dtype is ac.int8
    with pytest.warns(AutocalcWarning, match=r"mse_loss: .* are broadcast"):
        assert F.mse_loss(Y, Y[0].double()).dtype is ac.float64
    assert F.huber_loss(Y, Y.double()).dtype is ac.float32
    assert F.poisson_nll_loss(I8, I8).dtype is ac.float32
    assert F.pairwise_distance(I8, I8).dtype is ac.float32
    assert F.cosine_embedding_loss(I8, I8, ac.tensor(1)).item() == 0.0
    for loss in (F.mse_loss, F.smooth_l1_loss):
        with pytest.raises(DTypeError, match=": needs float32 or float64, not"):
            loss(I8, I8, reduction="none")
    with pytest.raises(DTypeError, match="huber_loss: needs float32 or float64"):
        F.huber_loss(I8, Y)


def test_targets_of_bytes_hold_no_minus_one():
    ones = ac.ones(3, dtype=ac.uint8)
    expected = F.hinge_embedding_loss(Y, ac.ones(3)).item()
    assert F.hinge_embedding_loss(Y, ones).item() == expected


def test_labels_are_int64_or_uint8():
    for dtype in (ac.int64, ac.uint8):
        assert F.cross_entropy(Y, ac.tensor(1, dtype=dtype)).ndim == 0
    small = ac.tensor(1, dtype=ac.int16)
    with pytest.raises(DTypeError, match=r"cross_entropy: .* int16; labels must"):
        F.cross_entropy(Y, small)
    with pytest.raises(DTypeError, match=r"nll_loss: .* int16; labels must be"):
        F.nll_loss(Y, small)
    with pytest.raises(DTypeError, match="multi_margin_loss: `target` has dtype int16"):
        F.multi_margin_loss(Y, small)


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss", "multi_margin_loss"])
def test_a_weight_has_the_dtype_of_the_scores(name):
    with pytest.raises((DTypeError, ArgumentError), match="float64"):
        getattr(F, name)(Y, ac.tensor(1), weight=Y.double())


def test_what_multiplies_a_loss_broadcasts_to_it():
    p = Y / 4
    for loss, name in (
        (F.binary_cross_entropy, "weight"),
        (F.binary_cross_entropy_with_logits, "weight"),
        (F.binary_cross_entropy_with_logits, "pos_weight"),
    ):
        assert loss(p, p, **{name: Y.double()}).dtype is ac.float32
        with pytest.raises(ShapeError, match=f"`{name}` has shape .* not broadcast to"):
            loss(p, p, **{name: ac.ones(2, 3)})
        with pytest.raises(DTypeError, match="needs a Tensor, not float"):
            loss(p, p, **{name: 2.0})
    with pytest.raises(DTypeError, match="binary_cross_entropy: the tensors are"):
        F.binary_cross_entropy(p, p.double())
    with pytest.raises(ShapeError, match="soft_margin_loss: `target` has shape"):
        F.soft_margin_loss(Y, ac.ones(2, 3))


def test_three_vectors_have_one_number_of_dimensions():
    with pytest.raises(ShapeError, match="triplet_margin_loss: the tensors have sh"):
        F.triplet_margin_loss(Y, Y, Y.reshape(1, -1))


def test_booleans_rank_nothing():
    for call in (
        lambda: F.margin_ranking_loss(Y, Y, MASK),
        lambda: F.poisson_nll_loss(Y, MASK, full=True),
        lambda: F.binary_cross_entropy_with_logits(Y, Y, pos_weight=MASK),
    ):
        with pytest.raises(DTypeError, match=": needs numbers, not bool; convert"):
            call()


def test_distances_are_of_one_float_dtype():
    with pytest.raises(DTypeError, match="cdist: the tensors are float32 and float64"):
        ac.cdist(X, X.double())
    with pytest.raises(DTypeError, match="cosine_similarity: needs float32 or float64"):
        F.cosine_similarity(I8, I8, 0)


def test_a_variance_is_a_tensor_or_a_float():
    assert F.gaussian_nll_loss(Y, 2.0, 1.0).ndim == 0
    assert F.gaussian_nll_loss(I8, Y, 1.0).dtype is ac.float32
    with pytest.raises(DTypeError, match="gaussian_nll_loss: needs a Tensor, not int"):
        F.gaussian_nll_loss(Y, Y, 1)


def test_layers_of_integers_are_of_one_dtype():
    whole = ac.tensor([[1, 2], [3, 4]])
    for call in (
        lambda: F.linear(whole, whole.int()),
        lambda: F.linear(whole, whole, I8[:2]),
        lambda: F.bilinear(whole, whole.int(), whole.reshape(1, 2, 2)),
        lambda: F.conv1d(whole.reshape(1, 2, 2), whole.int().reshape(1, 2, 2)),
        lambda: ac.linalg.solve(X, X.double()),
        lambda: F.group_norm(X, 1, X[0].double()),
    ):
        with pytest.raises(DTypeError, match="they must have the same dtype"):
            call()
    with pytest.raises(DTypeError, match="addmm: Input dtypes must be the same"):
        ac.addmm(X.double(), X, X)
    with pytest.raises(ShapeError, match=r"linear: `input` has shape \(2, 2\), `wei"):
        F.linear(whole, ac.tensor([[1, 2, 3]]))
    with pytest.raises(ShapeError, match=r"linear: `bias` has shape \(3,\) for 2 out"):
        F.linear(whole, whole, ac.tensor([1, 2, 3]))
    with pytest.raises(ShapeError, match=r"conv1d: `weight` has shape .* not be empty"):
        F.conv1d(whole.reshape(1, 2, 2), ac.zeros(1, 2, 0, dtype=ac.int64))
    with pytest.raises(DTypeError, match=": needs numbers, not bool; convert a"):
        F.max_pool2d(MASK.reshape(1, 1, 3), 1)


@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("addmm", (ac.ones(4, 2), X[:1], X)),
        ("addmv", (ac.ones(4), X[:1], X[0])),
        ("addr", (ac.ones(2, 3, 3), Y, Y)),
    ],
)
def test_what_is_added_broadcasts_to_the_product(name, operands):
    with pytest.raises(ShapeError, match=f"{name}: `input` has shape .* the product"):
        getattr(ac, name)(*operands)


def test_factors_of_integers_have_no_fraction():
    whole = ac.tensor([[1, 2], [3, 4]])
    for call in (
        lambda: ac.addmm(whole, whole, whole, alpha=0.5),
        lambda: ac.addmm(whole, whole, whole, beta=0.5),
        lambda: ac.addcmul(whole, whole, whole, value=0.5),
    ):
        with pytest.raises(DTypeError, match=r"`(alpha|beta)` is .*but it multiplies"):
            call()


def test_a_share_without_dimensions_takes_its_dtype_along():
    assert ac.lerp(I8, I8 * 2, ac.tensor(0.5)).tolist() == [1.5, 3.0, 4.5]
    assert ac.full((2,), ac.tensor(3, dtype=ac.int8)).dtype is ac.int64
    assert ac.block_diag(I8, ac.tensor(2.0)).dtype is ac.float32
    assert F.rms_norm(X, (2,), X[0].double()).dtype is ac.float32


@pytest.mark.parametrize("call", [lambda i: Y[i], lambda i: Y.gather(0, i)])
def test_an_index_out_of_range_is_an_index_error(call):
    for error in (IndexError, ValueError, KernelIndexError):
        with pytest.raises(error, match=r"`.*` holds 7 at element 0, which"):
            call(ac.tensor([7]))
