# SPDX-License-Identifier: MIT
"""The name of the package in texts: "torch" for PyTorch programs that read them."""

from __future__ import annotations

#: `autocalc.torch.install` changes it.
package = "autocalc"
