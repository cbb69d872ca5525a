# SPDX-License-Identifier: MIT
"""The former package of transforms, and names of PyTorch's own that programs use."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.core

PROGRAM = """
import warnings

import functorch
import torch
from torch._functorch.eager_transforms import _slice_argnums
from torch._functorch.make_functional import (
    functional_init,
    functional_init_with_buffers,
)
from torch._functorch.vmap import restore_vmap

for name in ("vmap", "grad", "vjp", "functionalize"):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        call = (torch.sin, torch.ones(2)) if name == "vjp" else (torch.sin,)
        getattr(functorch, name)(*call)
    (one,) = seen
    assert one.category is FutureWarning, one
    assert "Please use `torch." in str(one.message), one

assert _slice_argnums((1, 2, 3), (0, -1)) == (1, 3)
assert _slice_argnums((1, 2, 3), 1) == (2,)

weights, call, names = functional_init(torch.nn.Linear, (4,))(3, 2)
assert names == ("weight", "bias")
assert torch.vmap(call)(weights, (torch.ones(4, 5, 3),)).shape == (4, 5, 2)

made = functional_init_with_buffers(torch.nn.BatchNorm1d, (4,))(3)
weights, buffers, call, names, more = made
assert (names, more[:2]) == (("weight", "bias"), ("running_mean", "running_var"))
found, dims = restore_vmap(lambda x, y: (x + 1, y), (1, None), 2, "error")(
    torch.zeros(3, 2), torch.ones(1)
)
assert (found[0].shape, dims) == ((2, 3), (0, None))

torch.manual_seed(0)
shares = torch._sample_dirichlet(torch.full((5, 3), 2.0))
assert torch.allclose(shares.sum(-1), torch.ones(5))
source = torch.Generator().manual_seed(1)
first = torch._standard_gamma(torch.ones(4), generator=source)
assert torch.equal(
    first, torch._standard_gamma(torch.ones(4), torch.Generator().manual_seed(1))
)
print("done")
"""


def test_former_names_of_transforms(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "autocalc.torch", str(script)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr
