# SPDX-License-Identifier: MIT
"""Operators by family: kernel call, backward rule, public function and methods.

Imports `_tensor` and what is below.  `x_op` is the operator of one kernel behind the
public function `x`; files with an underscore are what the families share.
"""
