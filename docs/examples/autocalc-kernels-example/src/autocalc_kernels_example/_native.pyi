# SPDX-License-Identifier: MIT
# The extension module; `csrc/module.c` makes it.

from typing import Any

kernels: dict[str, Any]
