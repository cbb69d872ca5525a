# SPDX-License-Identifier: MIT
"""Every kernel over the shapes of models, beside the machine's peaks and the peers."""
