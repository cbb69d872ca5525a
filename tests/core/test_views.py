# SPDX-License-Identifier: MIT
"""Views share memory; what cannot be a view is a copy or an error."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import (
    ArgumentError,
    AutocalcError,
    DimensionError,
    GradError,
    ShapeError,
)

VIEWS = {
    "reshape": lambda x: x.reshape(3, 2),
    "view": lambda x: x.view(-1),
    "flatten": lambda x: x.flatten(),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "permute": lambda x: x.permute(1, 0),
    "transpose": lambda x: x.transpose(0, 1),
    "t": lambda x: x.t(),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "row": lambda x: x[0],
    "element": lambda x: x[0, 0],
    "slices": lambda x: x[:, ::2],
    "new dim": lambda x: x[None, ..., 0],
    "0-d index tensor": lambda x: x[ac.tensor(0)],
    "reshape of slices": lambda x: x[:, :2].reshape(2, 2, 1),
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
    "expand": lambda x: x.unsqueeze(0).expand(2, 2, 3),
    "same reshape": lambda x: x.reshape(2, 3),
}
COPIES = {
    "reshape of a transpose": lambda x: x.t().reshape(6),
    "clone": lambda x: x.clone(),
    "contiguous": lambda x: x.t().contiguous(),
    "index tensor": lambda x: x[ac.tensor([0, 1])],
    "index list": lambda x: x[[0, 1]],
    "cat": lambda x: ac.cat([x]),
    "cast": lambda x: x.double(),
    "tensor": ac.tensor,
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_write_shows_through_a_view(name):
    x = ac.arange(6.0).reshape(2, 3)
    y = VIEWS[name](x)
    assert np.shares_memory(y.numpy(), x.numpy())
    x.fill_(7)
    assert set(y.flatten().tolist()) == {7.0}
    if name != "expand":
        y.zero_()
        assert 0.0 in x.flatten().tolist()


@pytest.mark.parametrize("name", COPIES)
def test_a_write_does_not_show_in_a_copy(name):
    x = ac.arange(6.0).reshape(2, 3)
    y = COPIES[name](x)
    assert not np.shares_memory(y.numpy(), x.numpy())


@pytest.mark.parametrize("name", VIEWS)
def test_views_hold_what_numpy_gives(name):
    if name in {"squeeze", "unsqueeze", "permute", "flatten", "view", "expand"}:
        x = ac.arange(6.0).reshape(2, 3)
        a = np.arange(6.0, dtype=np.float32).reshape(2, 3)
        expected = {
            "squeeze": a,
            "unsqueeze": a[:, None],
            "permute": a.T,
            "flatten": a.ravel(),
            "view": a.ravel(),
            "expand": np.broadcast_to(a, (2, 2, 3)),
        }[name]
        assert VIEWS[name](x).tolist() == expected.tolist()


INDICES = [
    np.s_[0], np.s_[-1], np.s_[1:], np.s_[:-1], np.s_[::2], np.s_[...], np.s_[None],
    np.s_[0, 1], np.s_[..., 1], np.s_[:, None, 1:, 0], np.s_[1:1], np.s_[5:9],
    np.s_[0, ..., None, 2], np.s_[np.int64(1)], np.s_[:, 1:3, ::3], np.s_[()],
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_basic_indexing(index):
    a = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    x = ac.from_numpy(a)
    y = x[index]
    assert y.shape == a[index].shape
    assert y.tolist() == a[index].tolist()


def test_strides_that_allow_a_view_give_one():
    x = ac.arange(24.0).reshape(2, 3, 4)
    assert np.shares_memory(x[:, :, ::2].reshape(2, 6).numpy(), x.numpy())
    assert np.shares_memory(x.permute(1, 0, 2).reshape(3, 2, 2, 2).numpy(), x.numpy())
    assert x.permute(0, 2, 1).reshape(2, 12).tolist() == (
        x.numpy().transpose(0, 2, 1).reshape(2, 12).tolist()
    )


def test_0d_and_empty_views():
    assert ac.tensor(3.0).reshape(1, 1).tolist() == [[3.0]]
    assert ac.tensor(3.0).flatten().shape == (1,)
    assert ac.tensor(3.0).transpose(0, -1).shape == ()
    assert ac.zeros(0, 3).t().shape == (3, 0)
    assert ac.zeros(0, 3).reshape(3, -1).shape == (3, 0)
    assert ac.zeros(2, 0).view(0).shape == (0,)
    assert ac.ones(3, 1).expand(-1, 4).shape == (3, 4)
    assert ac.ones(1).expand(0).shape == (0,)


def test_writes_through_views_are_counted_by_one_cell():
    x = ac.ones(2, 3)
    y = x[0].detach().reshape(3, 1)
    assert y._version is x._version
    before = x._version.count
    y.add_(1)
    assert x._version.count == before + 1


def test_as_strided_without_a_gradient_is_an_error():
    w = ac.arange(6.0).requires_grad_()
    x = (w * 2)[2:]
    with pytest.raises(GradError, match=r"as_strided: the view has elements"):
        x.as_strided((2,), (1,), 0)
    with ac.no_grad():
        assert x.as_strided((2,), (1,), 0).tolist() == [0.0, 2.0]
    with pytest.raises(GradError, match=r"elements that are not in the tensor"):
        (w * 2)[::2].as_strided((3,), (1,))
    with pytest.raises(GradError, match=r"whose elements share their memory"):
        w[:1].expand(3).as_strided((2,), (0,))


def test_as_strided_names_memory_that_is_not_there():
    with pytest.raises(ArgumentError, match="need the elements 1 to 3 of a memory"):
        ac.ones(3).as_strided((3,), (1,), 1)
    with pytest.raises(ShapeError, match="size and stride must have the same length"):
        ac.ones(3).as_strided((3,), ())
    with pytest.raises(ArgumentError, match="is expanded or has overlapping"):
        ac.ones(3).as_strided((2, 2), (1, 1)).add_(1)
    with pytest.raises(
        ArgumentError, match="unfold: `size`=4 for dimension 0 of size 3;"
    ):
        ac.ones(3).unfold(0, 4, 1)
    with pytest.raises(ArgumentError, match="is expanded or has overlapping"):
        ac.ones(3).unfold(0, 2, 1).add_(1)


WRONG = {
    "transpose(True, 0)": lambda x: x.transpose(True, 0),
    "transpose(0, 2)": lambda x: x.transpose(0, 2),
    "permute(True, 0)": lambda x: x.permute((True, 0)),
    "movedim(0, 2)": lambda x: x.movedim(0, 2),
    "reshape(True, 6)": lambda x: x.reshape(True, 6),
    "view(-2, -3)": lambda x: x.view(-2, -3),
    "squeeze(2)": lambda x: x.squeeze(2),
    "unsqueeze(3)": lambda x: x.unsqueeze(3),
    "expand(3, 3)": lambda x: x.expand(3, 3),
    "expand(3)": lambda x: x.expand(3),
    "select(0, 2)": lambda x: x.select(0, 2),
    "x[2]": lambda x: x[2],
    "x[0, 0, 0]": lambda x: x[0, 0, 0],
    "x[..., ...]": lambda x: x[..., ...],
    "x[::0]": lambda x: x[::0],
    "x[2] = 1": lambda x: x.__setitem__(2, 1.0),
    "x[0, 3] = 1": lambda x: x.__setitem__((0, 3), 1.0),
}
RIGHT = (
    lambda x: x.transpose(1, 0),
    lambda x: x.permute((1, 0)),
    lambda x: x.movedim(0, 1),
    lambda x: x.reshape(1, 6),
    lambda x: x.expand(2, 3),
)


@pytest.mark.parametrize("name", WRONG)
def test_what_fits_once_lets_nothing_else_pass(name):
    """Orders and sizes are kept by value, where 1 and True are equal."""
    x = ac.ones(2, 3)
    for right in RIGHT:
        right(x)
    texts = []
    for _ in range(2):
        with pytest.raises(AutocalcError) as caught:
            WRONG[name](x)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    where = name.partition("(")[0] if "(" in name else "index"
    assert texts[0].startswith(f"{where}:")


@pytest.mark.parametrize("dtype", [ac.float32, ac.bfloat16, ac.float16, ac.bool])
@pytest.mark.parametrize("turn", [False, True])
def test_expand_repeats_what_numpy_repeats(dtype, turn):
    x = ac.arange(6).reshape(3, 2, 1).to(dtype)
    x = x.transpose(0, 1) if turn else x
    for sizes in ((4, *x.shape), (*x.shape[:2], 5), (2, -1, -1, 3), (0, *x.shape)):
        full = tuple(
            x.shape[i - len(sizes)] if n == -1 else n for i, n in enumerate(sizes)
        )
        seen = x.expand(sizes).detach().numpy()
        expected = np.broadcast_to(x.numpy(), full)
        np.testing.assert_array_equal(seen.astype("f4"), expected.astype("f4"))
        assert seen.strides == expected.strides
        assert not seen.flags.writeable
    assert ac.ones(0, 1).expand(0, 3).shape == (0, 3)


def test_a_number_is_written_where_a_plain_index_says():
    x, y = ac.zeros(3, 4), np.zeros((3, 4), np.float32)
    x[0], y[0] = 1, 1
    x[1:, -1], y[1:, -1] = 2.0, 2.0
    x[..., 1], y[..., 1] = 3.0, 3.0
    x[None, 2, 0], y[None, 2, 0] = 4.0, 4.0
    np.testing.assert_array_equal(x.numpy(), y)
    with pytest.raises(ArgumentError, match=r"memory location\. Call clone\(\)"):
        ac.ones(1, 3).expand(2, 3)[:] = ac.ones(2, 3)
    with pytest.raises(ArgumentError, match=r"memory location\. Call clone\(\)"):
        ac.ones(1, 3).expand(2, 3)[:, 0] = ac.ones(2)


def test_a_number_written_into_a_part_is_counted_and_recorded():
    w = ac.ones(3, requires_grad=True)
    x = ac.ones(3)
    y = w * x
    x[0] = 5.0
    with pytest.raises(GradError, match="changed"):
        y.sum().backward()
    z = w * 2.0
    row = z[:2]
    row[0] = 7.0
    z.sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), [0, 2, 2])
    with pytest.raises(GradError, match="leaf"):
        w[0] = 1.0
    with ac.no_grad():
        w[0] = 9.0
    assert w.tolist() == [9, 1, 1]


def test_windows_are_seen_in_contiguous_and_in_turned_memory():
    x = ac.arange(12).reshape(3, 4)
    for one in (x, x.t(), x[:, 1:]):
        expected = np.lib.stride_tricks.sliding_window_view(one.numpy(), 2, 0)
        np.testing.assert_array_equal(one.unfold(0, 2, 1).numpy(), expected)
        assert np.shares_memory(one.unfold(0, 2, 1).numpy(), x.numpy())


def test_a_mask_alone_picks_in_front_and_must_fit():
    x = ac.arange(24).reshape(2, 3, 4)
    for mask in (x[:, 0, 0] > 5, x[:, :, 0] > 5, x > 5, (x > 5).transpose(0, 1)[:, :0]):
        if mask.shape == x.shape[: mask.ndim]:
            np.testing.assert_array_equal(x[mask].numpy(), x.numpy()[mask.numpy()])
        else:
            with pytest.raises(ShapeError, match="a mask of shape"):
                x[mask]
    turned = x.permute(2, 1, 0)
    mask = turned > 5
    np.testing.assert_array_equal(turned[mask].numpy(), turned.numpy()[mask.numpy()])
    with pytest.raises(DimensionError, match="4 indices"):
        x[ac.ones(2, 3, 4, 1) > 0]
