# SPDX-License-Identifier: MIT
"""Transforms of samples and of batches."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.data.transforms import (
    Compose,
    Flatten,
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
    with pytest.raises(TypeError, match="Normalize: got uint8, needs float32"):
        Normalize(0.5, 0.5)(np.zeros((1, 2, 2), np.uint8))


def test_normalize_refuses_other_channel_counts():
    transform = Normalize([0.1, 0.2], 1.0)
    with pytest.raises(ac.errors.ShapeError, match=r"2 channels .* sample .*\(3, 4, 4"):
        transform(images(3, 4, 4))
    with pytest.raises(ac.errors.ShapeError, match=r"2 channels .* batch .*\(2, 4, 4"):
        transform.batch(images(2, 4, 4))


def test_normalize_refuses_unequal_lengths():
    with pytest.raises(ac.errors.ShapeError, match="`mean` has 2 and `std` 3 values"):
        Normalize([0.1, 0.2], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("std", [0.0, -1.0, [1.0, 0.0], float("nan")])
def test_normalize_refuses_a_std_that_is_not_positive(std):
    with pytest.raises(ValueError, match="every value must be above 0"):
        Normalize(0.5, std)


def test_the_base_class_says_what_is_missing():
    with pytest.raises(NotImplementedError, match="a transform needs an `apply`"):
        Transform()(images(2))
