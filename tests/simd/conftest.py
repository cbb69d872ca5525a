# SPDX-License-Identifier: MIT
"""The kernel tables themselves, one after another, below the dispatcher."""

import numpy as np
import pytest
from tests.engine import native
from tests.simd.sets import loader, plugin

#: Those with a complete table that this CPU runs, the best first.
ISAS = [isa.name for isa in plugin._ISAS if loader.cpu_runs(isa.name)]


@pytest.fixture(scope="session", params=ISAS)
def kernels(request):
    """Kernel name -> callable, of each instruction set that this CPU has."""
    return loader.load(request.param)


@pytest.fixture(scope="session")
def tables():
    """Instruction set -> its kernels, for tests whose oracle costs more than these."""
    return {isa: loader.load(isa) for isa in ISAS}


@pytest.fixture
def set_threads():
    """Set the number of threads; it is restored after the test."""
    before = native.num_threads()
    yield native.set_num_threads
    native.set_num_threads(before)


@pytest.fixture
def set_team(set_threads):
    """Set how many threads work, also where there are fewer processors."""

    def set_both(count):
        set_threads(count)
        native.set_team_limit(count)

    yield set_both
    native.set_team_limit(0)


@pytest.fixture
def rng():
    return np.random.default_rng(20)
