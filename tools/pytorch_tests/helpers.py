# SPDX-License-Identifier: MIT
"""PyTorch's test helpers, prepared for older tests or for AutoCalc."""

from __future__ import annotations

import os
from contextlib import nullcontext
from importlib import import_module
from typing import Any

INTERNAL = "torch.testing._internal"

#: Names that test files import and that PyTorch 2.13 no longer has.
GONE: dict[str, Any] = {
    "testing._internal.common_cuda.tf32_is_not_fp32": lambda: False,
    "testing._internal.common_mkldnn.bf32_on_and_off": lambda *_, **__: (
        lambda function: function
    ),
    "testing._internal.common_mkldnn.bf32_on": None,
    "testing._internal.common_mkldnn.bf32_off": None,
    "autograd._functions.utils.check_onnx_broadcast": None,
    "autograd._functions.utils.prepare_onnx_paddings": None,
    "testing._internal.common_methods_invocations.binary_ufuncs_and_refs": [],
}


UNDER_AUTOCALC = os.environ["PYTORCH_TESTS_UNDER"] == "autocalc"
if UNDER_AUTOCALC:
    from tools.pytorch_tests import stand_ins


def collecting(on: bool) -> None:
    """Set whether test files are being imported."""
    if UNDER_AUTOCALC:
        stand_ins.collecting(on)


def after_test() -> None:
    """Remove hooks of all modules, because tests exchange their private dicts."""
    if UNDER_AUTOCALC:
        from autocalc.nn._module.hooks import ON_CALLS

        ON_CALLS.clear()


def prepare() -> None:
    """Import the helpers and set them up."""
    if UNDER_AUTOCALC:
        stand_ins.install()
    import torch

    torch.set_num_threads(1)
    collecting(True)
    for path, value in GONE.items():
        module, _, name = path.rpartition(".")
        vars(import_module(f"torch.{module}")).setdefault(name, value)
    collecting(False)
    with stand_ins.real_random() if UNDER_AUTOCALC else nullcontext():
        common: Any = import_module(f"{INTERNAL}.common_nn")
        common.new_module_tests = common.get_new_module_tests()
    import_module(f"{INTERNAL}.common_device_type").ops._parametrize_test = _none


def _none(*_: Any) -> Any:
    """Make no test of a test over a database of operators."""
    return iter(())


def mend(test: type) -> None:
    """Drop the `setUp` of an older test class that newer helpers would make recursive.

    It calls ``super(self.__class__, self)``, which assumes that its class has no
    subclasses.
    """
    for cls in test.__mro__:
        for name in ("setUp", "tearDown"):
            code = getattr(vars(cls).get(name), "__code__", None)
            if code and {"super", "__class__"} <= {*code.co_names}:
                delattr(cls, name)
