# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.optim import Optimizer as Optimizer
from autocalc.optim._for_own_optimizers import capturable_devices as capturable_devices
from autocalc.optim._for_own_optimizers import default_to_foreach as default_to_foreach
from autocalc.optim._for_own_optimizers import grad_for_step as grad_for_step
from autocalc.optim._for_own_optimizers import required as required
from autocalc.optim._hooks import (
    register_optimizer_step_post_hook as register_optimizer_step_post_hook,
)
from autocalc.optim._hooks import (
    register_optimizer_step_pre_hook as register_optimizer_step_pre_hook,
)
from autocalc.optim._optimizer import Params as Params

ParamsT = Params
_params_t = Params
_default_to_fused_or_foreach = default_to_foreach
_use_grad_for_differentiable = grad_for_step
_get_capturable_supported_devices = capturable_devices
