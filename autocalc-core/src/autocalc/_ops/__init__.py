# SPDX-License-Identifier: MIT
"""Operators by family: kernel call, backward rule, public function and methods.

Imports `_tensor` and what is below.  `x_op` is the operator of one kernel, which the
public function `x` calls; the families share the files with an underscore.
"""
