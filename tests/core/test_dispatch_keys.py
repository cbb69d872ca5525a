# SPDX-License-Identifier: MIT
"""Keys of decisions: equal for equal operands, different for all others.

The way in Python and that of the engine hold the same promises.
"""

import numpy as np
import pytest
from tests.dispatcher import key_of, native


@pytest.fixture(params=["python", "engine"])
def way(request):
    if request.param == "python":
        return key_of
    if native.native is None:
        pytest.skip("the engine is not installed")
    return native.key_of


def a(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


DIFFERENT = {
    "nothing": (),
    "one": (a(2, 3),),
    "another shape": (a(3, 2),),
    "another dtype": (a(2, 3, dtype=np.float64),),
    "a dtype of the same size": (a(2, 3, dtype=np.int32),),
    "the other byte order": (a(2, 3, dtype=">f4"),),
    "booleans": (a(2, 3, dtype=bool),),
    "bytes": (a(2, 3, dtype=np.uint8),),
    "other strides": (a(3, 2).T,),
    "every other column": (a(2, 6)[:, ::2],),
    "one more dimension": (a(2, 3, 1),),
    "no dimension": (a(),),
    "none": (None,),
    "none, one": (None, a(2, 3)),
    "one, none": (a(2, 3), None),
    "two": (a(2, 3), a(2, 3)),
    "an empty list": ([],),
    "a list of one": ([a(2, 3)],),
    "a list of two": ([a(2, 3), a(2, 3)],),
    "two lists": ([a(2, 3)], [a(2, 3)]),
    "one, a list": (a(2, 3), [a(2, 3)]),
    "a list, one": ([a(2, 3)], a(2, 3)),
    "a list of one and none": ([a(2, 3), None],),
}


def test_different_operands_have_different_keys(way):
    keys = {name: way(*operands) for name, operands in DIFFERENT.items()}
    assert len(set(keys.values())) == len(DIFFERENT)


@pytest.mark.parametrize("name", DIFFERENT)
def test_equal_operands_have_equal_keys(way, name):
    def copied(x):
        if isinstance(x, list):
            return [copied(one) for one in x]
        if x is None:
            return None
        other = np.full(10000, 7, np.uint8)[: 8 * x.size].view(x.dtype)[: x.size]
        return np.lib.stride_tricks.as_strided(other, x.shape, x.strides)

    operands = DIFFERENT[name]
    same = way(*map(copied, operands))
    assert same == way(*operands)
    assert hash(same) == hash(way(*operands))


def test_a_tuple_counts_as_a_list(way):
    assert way((a(2), a(3))) == way([a(2), a(3)])


def test_views_and_subclasses_count_as_arrays(way):
    class Mine(np.ndarray):
        pass

    assert way(a(2, 3).view(Mine)) == way(a(2, 3))


def test_many_dimensions(way):
    wide = a(*(1,) * 30)
    assert way(wide) == way(wide.copy())
    assert way(wide) != way(wide[0])
