# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.autograd import enable_grad as enable_grad
from autocalc.autograd import inference_mode as inference_mode
from autocalc.autograd import no_grad as no_grad
from autocalc.autograd import set_grad_enabled as set_grad_enabled
