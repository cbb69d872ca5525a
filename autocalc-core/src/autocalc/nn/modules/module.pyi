# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.nn import Module as Module
from autocalc.nn._module.global_hooks import (
    register_module_backward_hook as register_module_backward_hook,
)
from autocalc.nn._module.global_hooks import (
    register_module_buffer_registration_hook as register_module_buffer_registration_hook,
)
from autocalc.nn._module.global_hooks import (
    register_module_forward_hook as register_module_forward_hook,
)
from autocalc.nn._module.global_hooks import (
    register_module_forward_pre_hook as register_module_forward_pre_hook,
)
from autocalc.nn._module.global_hooks import (
    register_module_full_backward_hook as register_module_full_backward_hook,
)
from autocalc.nn._module.global_hooks import (
    register_module_full_backward_pre_hook as register_module_full_backward_pre_hook,
)
from autocalc.nn._module.global_hooks import (
    register_module_module_registration_hook as register_module_module_registration_hook,
)
from autocalc.nn._module.global_hooks import (
    register_module_parameter_registration_hook as register_module_parameter_registration_hook,
)
from autocalc.nn._module.state import EXTRA as EXTRA
from autocalc.nn._module.state import IncompatibleKeys as IncompatibleKeys

_IncompatibleKeys = IncompatibleKeys
_EXTRA_STATE_KEY_SUFFIX = EXTRA
