# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.autograd import Function as Function
from autocalc.autograd import FunctionContext as FunctionContext
from autocalc.autograd import once_differentiable as once_differentiable

FunctionCtx = FunctionContext
