# SPDX-License-Identifier: MIT
"""Every kernel over the shapes of models, against the machine's peaks and the peers."""
