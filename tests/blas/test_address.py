# SPDX-License-Identifier: MIT
import numpy as np
import pytest

from autocalc_kernels_blas import _address

ARRAYS = [
    np.zeros((3, 4)),
    np.zeros((3, 4))[1:, 1:].T,
    np.zeros((2, 0), np.float32),
    np.frombuffer(bytes(range(16)), np.float32, offset=4),
]


@pytest.mark.parametrize("find", [_address.address, _address.portable])
@pytest.mark.parametrize("array", ARRAYS)
def test_address_of_the_first_element(find, array):
    assert find(array).value == array.ctypes.data


def test_the_layout_is_only_trusted_on_cpython(monkeypatch):
    assert _address.layout_is_known()
    monkeypatch.setattr(_address.sys.implementation, "name", "other")
    assert not _address.layout_is_known()
