# SPDX-License-Identifier: MIT
"""Transforms of images: crops, flips, sizes, and how images come in."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc.data.transforms import (
    CenterCrop,
    Compose,
    Lambda,
    Normalize,
    RandomCrop,
    RandomHorizontalFlip,
    RandomTransform,
    Resize,
    ToTensor,
)


def numbered(*shape):
    return np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)


TRANSFORMS = [
    RandomCrop(5),
    RandomCrop((4, 9), padding=(1, 2), padding_mode="edge"),
    RandomCrop(12, padding=1, pad_if_needed=True),
    RandomHorizontalFlip(),
    CenterCrop((3, 10)),
    Resize(4),
    Resize((9, 3), "nearest"),
    ToTensor(),
    Lambda(lambda image: image + 1),
]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda t: type(t).__name__)
def test_a_batch_gives_what_its_samples_give(transform):
    batch = ac.from_numpy(numbered(6, 3, 7, 8))
    before = batch.clone()
    ac.manual_seed(1)
    whole = transform.batch(batch)
    ac.manual_seed(1)
    samples = [transform(sample) for sample in batch]
    for got, expected in zip(samples, whole, strict=True):
        assert np.allclose(got.numpy(), expected.numpy(), rtol=1e-6)
    assert (batch == before).all().item()


def test_random_crop_takes_every_place_equally_often():
    images = np.broadcast_to(numbered(3, 4), (6000, 1, 3, 4))
    corners = RandomCrop((2, 2)).batch(images)[:, 0, 0, 0].astype(int)
    counts = np.bincount(corners, minlength=8)
    assert set(np.flatnonzero(counts)) == {1, 2, 3, 5, 6, 7}
    assert counts[counts > 0].min() > 850
    parts = RandomCrop((2, 2)).batch(images[:50])[:, 0]
    assert np.array_equal(parts[:, 1], parts[:, 0] + 4)


@pytest.mark.parametrize(
    ("mode", "row"),
    [
        ("constant", [7, 7, 1, 2, 3, 7, 7]),
        ("edge", [1, 1, 1, 2, 3, 3, 3]),
        ("reflect", [3, 2, 1, 2, 3, 2, 1]),
        ("symmetric", [2, 1, 1, 2, 3, 3, 2]),
    ],
)
def test_random_crop_pads_first(mode, row):
    crop = RandomCrop((1, 7), padding=(2, 0), fill=7, padding_mode=mode)
    assert crop(numbered(1, 3)).tolist() == [row]


def test_random_crop_pads_the_sides_that_are_named():
    crop = RandomCrop((5, 4), padding=(0, 1, 2, 3))
    assert crop(numbered(1, 2)).tolist() == [
        [0, 0, 0, 0],
        [1, 2, 0, 0],
        *([[0, 0, 0, 0]] * 3),
    ]


def test_random_flip_flips_as_often_as_it_should():
    images = np.broadcast_to(numbered(2, 3), (3000, 2, 3))
    flipped = RandomHorizontalFlip(0.3).batch(images)
    turned = (flipped == numbered(2, 3)[:, ::-1]).all((1, 2))
    kept = (flipped == numbered(2, 3)).all((1, 2))
    assert (turned | kept).all()
    assert abs(turned.mean() - 0.3) < 0.03
    assert np.array_equal(RandomHorizontalFlip(0.0).batch(images), images)


def test_center_crop_cuts_and_adds_zeros():
    assert CenterCrop((1, 2))(numbered(3, 4)).tolist() == [[6, 7]]
    assert CenterCrop((2, 5))(numbered(1, 2)).tolist() == [
        [0, 1, 2, 0, 0],
        [0, 0, 0, 0, 0],
    ]


@pytest.mark.parametrize(
    ("size", "most", "expected"),
    [
        (5, None, (5, 10)),
        ([5], None, (5, 10)),
        (7, 8, (4, 8)),
        ((3, 4), None, (3, 4)),
        (10, None, (10, 20)),
    ],
)
def test_resize_chooses_the_size(size, most, expected):
    image = numbered(2, 10, 20)
    assert Resize(size, max_size=most)(image).shape == (2, *expected)
    turned = image.transpose(0, 2, 1)
    if not isinstance(size, tuple):
        assert Resize(size, max_size=most)(turned).shape == (2, *expected[::-1])


def test_resize_keeps_lines_straight_and_means():
    image = np.tile(np.arange(12.0), (4, 1))
    half = Resize((4, 6), antialias=False)(image)
    assert np.allclose(half, np.arange(12.0).reshape(6, 2).mean(1))
    third = Resize((4, 4))(image)  # a triangle over 6 pixels; the ends are cut off
    assert np.allclose(third[:, 1:3], [4.0, 7.0])
    twice = Resize((4, 24))(image)
    assert np.allclose(twice[0, 1:-1], np.arange(1, 23) / 2 - 0.25)


def test_resize_of_bytes_rounds():
    image = np.array([[0, 255, 0, 255]], np.uint8)
    assert Resize((1, 2), antialias=False)(image).tolist() == [[128, 128]]


@pytest.mark.torch
@pytest.mark.parametrize("antialias", [True, False])
def test_resize_agrees_with_pytorch(antialias):
    torch = pytest.importorskip("torch")
    image = np.random.default_rng(0).random((2, 3, 17, 23))
    for size in [(5, 40), (34, 9), (16, 22)]:
        got = Resize(size, antialias=antialias).batch(image)
        expected = torch.nn.functional.interpolate(
            torch.from_numpy(image), size, mode="bilinear", antialias=antialias
        )
        assert np.abs(got - expected.numpy()).max() < 1e-12
        near = Resize(size, "nearest").batch(image)
        expected = torch.nn.functional.interpolate(torch.from_numpy(image), size)
        assert np.array_equal(near, expected.numpy())


def test_to_tensor_takes_what_others_call_an_image():
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    tensor = ToTensor()(image)
    assert tensor.dtype is ac.float32
    expected = image.transpose(2, 0, 1) / np.float32(255)
    assert np.array_equal(tensor.numpy(), expected)
    assert ToTensor()(image[..., 0]).shape == (1, 2, 4)
    assert ToTensor()(np.ones((2, 4), np.float64)).dtype is ac.float64
    assert ToTensor().batch(image[None]).shape == (1, 3, 2, 4)
    assert ToTensor()(tensor) is tensor


def test_to_tensor_takes_a_picture_of_pillow():
    class Picture:
        __array_interface__ = np.full((2, 3, 3), 51, np.uint8).__array_interface__

    assert np.allclose(ToTensor()(Picture()).numpy(), 0.2)


def test_the_usual_augmentation_over_a_loader_follows_the_seed():
    class Images(ac.data.Dataset):
        transform = Compose(
            [
                ToTensor(),
                RandomCrop(6, padding=2, padding_mode="reflect"),
                RandomHorizontalFlip(),
                Normalize([0.5] * 3, [0.25] * 3),
            ]
        )

        def __len__(self):
            return 9

        def __getitem__(self, index):
            image = np.arange(108, dtype=np.uint8).reshape(6, 6, 3)
            return self.transform(image + np.uint8(index))

    def images(workers, seed):
        loader = ac.data.DataLoader(
            Images(), 4, shuffle=True, num_workers=workers, generator=seed
        )
        return np.concatenate([batch.numpy() for batch in loader])

    assert np.array_equal(images(0, 1), images(2, 1))
    assert not np.array_equal(images(0, 1), images(0, 2))


test_what_cannot_be_is_refused = refusals(
    r"""
    RandomCrop(0) -> ArgumentError: RandomCrop: `size` is 0; use one positive int or
    CenterCrop((1, 2, 3)) -> ArgumentError: CenterCrop: `size` is \(1, 2, 3\); use
    RandomCrop(3, padding=-1) -> ArgumentError: `padding` is -1; use an int, .*negative
    RandomCrop(3, padding=(1, 2, 3)) -> ArgumentError: `padding` is \(1, 2, 3\); use
    RandomCrop(3, padding_mode='wrap') -> ArgumentError: is 'wrap'; use one of constant
    RandomCrop(3)(numbered(2, 5)) -> ShapeError: included\) are smaller than the
    RandomCrop(3)(numbered(5)) -> ShapeError: RandomCrop: got shape \(1, 5\); its la
    RandomHorizontalFlip(1.5) -> ArgumentError: `p` is 1.5; it must be from 0 to 1
    Resize(3, 'cubic') -> ArgumentError: is 'cubic'; use one of bilinear, nearest
    Resize(3, max_size=2) -> ArgumentError: `max_size` is 2 and `size` is 3; `max_size`
    Resize(3)(np.zeros((0, 4))) -> ArgumentError: got shape \(0, 4\); an image needs
    Resize(3)(np.zeros((4, 4), int)) -> DTypeError: got int64, needs float32, float64
    Resize(3)(numbered(4)) -> ShapeError: Resize: got shape \(4,\); its last two dim
    ToTensor()('text') -> DTypeError: ToTensor: got str; it must be an array, a Pillow
    ToTensor()(numbered(3)) -> ShapeError: shape \(3,\); it must be \(height, width\) or
    Lambda(3) -> DTypeError: Lambda: got int; it must be a
    """,
    globals(),
)


def test_the_base_class_says_what_is_missing():
    with pytest.raises(NotImplementedError, match="a transform needs a `change`"):
        RandomTransform()(numbered(2))
