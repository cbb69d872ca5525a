# SPDX-License-Identifier: MIT
"""Transforms of samples and of batches."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.data._transform import as_transform
from autocalc.data.transforms import (
    Compose,
    Flatten,
    Lambda,
    Normalize,
    Transform,
    apply_to_batch,
)


def images(*shape):
    count = int(np.prod(shape))
    return (np.arange(count, dtype=np.float32) / count).reshape(shape)


TRANSFORMS = [
    Normalize(0.5, 0.25),
    Normalize([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]),
    Normalize([0.1, 0.2, 0.3], 0.5),
    Flatten(),
    Compose([Normalize(0.5, 0.25), Flatten()]),
    Compose([lambda image: image * 2, Flatten()]),
    Compose([]),
]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda t: type(t).__name__)
def test_a_batch_gives_what_its_samples_give(transform):
    batch = images(4, 3, 5, 6)
    whole = transform.batch(ac.from_numpy(batch)).numpy()
    for sample, expected in zip(batch, whole, strict=True):
        assert np.array_equal(transform(ac.from_numpy(sample)).numpy(), expected)


def bytes_of(*shape):
    return np.random.default_rng(0).integers(256, size=shape, dtype=np.uint8)


@pytest.mark.parametrize(
    "transform",
    [*TRANSFORMS, Lambda(lambda image: image * 2)],
    ids=lambda t: type(t).__name__,
)
def test_a_batch_of_bytes_gives_what_its_images_give(transform):
    batch = bytes_of(4, 3, 5, 6)
    whole = transform.from_bytes(batch, 255, 1).numpy()
    assert whole.dtype == np.float32
    for image, expected in zip(batch, whole, strict=True):
        assert np.array_equal(transform.from_bytes(image, 255, 0).numpy(), expected)


@pytest.mark.parametrize(
    "transform", [Flatten(), as_transform(None), as_transform(lambda image: image)]
)
def test_bytes_are_scaled_exactly_where_nothing_is_normalised(transform):
    batch = np.arange(256, dtype=np.uint8).reshape(2, 1, 8, 16)
    expected = np.arange(256, dtype=np.float32) / np.float32(255)
    result = transform.from_bytes(batch, 255, 1).numpy()
    assert np.array_equal(result.ravel(), expected)


@pytest.mark.parametrize("white", [16, 255])
@pytest.mark.parametrize(
    ("mean", "std"),
    [
        (0.1307, 0.3081),
        (0.0, 1.0),
        (0.5, 0.01),
        (-0.3, 0.7),
        ([0.4914, 0.4822, 0.4465], [0.247, 0.2435, 0.2616]),
        ([0.4914, 0.4822, 0.4465], 0.25),
        (0.5, [0.247, 0.2435, 0.2616]),
    ],
)
def test_bytes_are_normalised_to_the_last_bits(mean, std, white):
    batch = bytes_of(2, 3, 16, 16)
    normalize = Normalize(mean, std)
    m, s = (np.broadcast_to(v, 3).reshape(3, 1, 1) for v in (mean, std))
    largest = max((batch / white / s).max(), np.abs(m / s).max())
    result = normalize.from_bytes(batch, white, 1).numpy()
    assert np.abs(result - (batch / white - m) / s).max() <= 3e-7 * largest
    from_floats = normalize.batch((batch / np.float32(white)).astype(np.float32))
    assert np.abs(result - from_floats).max() <= 5e-7 * largest


class Named(Normalize):
    """Its values alone are its own."""

    def __init__(self):
        super().__init__(0.1307, 0.3081)


class Doubled(Named):
    def __call__(self, sample):
        return super().__call__(sample) * 2

    def batch(self, samples):
        return super().batch(samples) * 2


class Negated(Named):
    def apply(self, array, first):
        return -super().apply(array, first)


@pytest.mark.parametrize(("cls", "factor"), [(Named, 1), (Doubled, 2), (Negated, -1)])
@pytest.mark.parametrize("first", [0, 1])
def test_a_class_derived_from_normalize_is_asked_for_what_it_overrides(
    cls, factor, first
):
    pixels = bytes_of(1, 4, 4, 4)
    expected = factor * Normalize(0.1307, 0.3081).from_bytes(pixels, 255, first).numpy()
    result = cls().from_bytes(pixels, 255, first).numpy()
    assert np.allclose(result, expected, rtol=0, atol=1e-6)
    assert factor != 1 or np.array_equal(result, expected)


def test_normalize_is_minus_mean_by_std():
    batch = images(2, 3, 4, 4)
    mean, std = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]
    result = Normalize(mean, std).batch(batch)
    expected = (batch - np.reshape(mean, (3, 1, 1))) / np.reshape(std, (3, 1, 1))
    assert result.dtype == np.float32
    assert np.allclose(result, expected, atol=1e-6)


def test_transforms_leave_their_input_alone():
    sample = images(1, 2, 2)
    before = sample.copy()
    Normalize(0.5, 0.5)(sample)
    assert np.array_equal(sample, before)


def test_an_array_gives_an_array_and_a_tensor_a_tensor():
    assert isinstance(Flatten()(images(1, 2, 2)), np.ndarray)
    assert isinstance(Flatten()(ac.from_numpy(images(1, 2, 2))), ac.Tensor)


def test_normalize_keeps_float64():
    assert Normalize(0.0, 1.0)(np.zeros(3)).dtype == np.float64


def test_flatten_of_empty_and_of_scalar_samples():
    assert Flatten().batch(np.zeros((0, 1, 8, 8))).shape == (0, 64)
    assert Flatten()(np.zeros(())).shape == (1,)


def test_any_function_works_on_a_batch():
    batch = ac.from_numpy(images(2, 1, 2, 2))
    assert tuple(apply_to_batch(lambda x: x.reshape(4), batch).shape) == (2, 4)
    assert apply_to_batch(None, batch) is batch


def test_reprs_show_the_call():
    transform = Compose([Normalize(0.5, [1.0]), Flatten()])
    assert repr(transform) == "Compose([Normalize(mean=0.5, std=[1.0]), Flatten()])"


def test_normalize_refuses_bytes():
    with pytest.raises(TypeError, match="Normalize: got uint8; float32 or float64"):
        Normalize(0.5, 0.5)(np.zeros((1, 2, 2), np.uint8))


def test_normalize_refuses_other_channel_counts():
    transform = Normalize([0.1, 0.2], 1.0)
    with pytest.raises(ac.errors.ShapeError, match="2 channels, but the sample has"):
        transform(images(3, 4, 4))
    with pytest.raises(ac.errors.ShapeError, match="2 channels, but the batch has"):
        transform.batch(images(2, 4, 4))
    with pytest.raises(ac.errors.ShapeError, match="2 channels, but the sample has"):
        transform.from_bytes(bytes_of(3, 4, 4), 255, 0)


def test_normalize_refuses_unequal_lengths():
    with pytest.raises(ac.errors.ShapeError, match="`mean` has 2 values and `std`"):
        Normalize([0.1, 0.2], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("std", [0.0, -1.0, [1.0, 0.0], float("nan")])
def test_normalize_refuses_a_std_that_is_not_positive(std):
    with pytest.raises(ValueError, match="every value must be above 0"):
        Normalize(0.5, std)


def test_the_base_class_says_what_is_missing():
    with pytest.raises(NotImplementedError, match="a transform needs an `apply`"):
        Transform()(images(2))
