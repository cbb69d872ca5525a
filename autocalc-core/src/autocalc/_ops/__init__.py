# SPDX-License-Identifier: MIT
"""Operators by family: kernel call, backward rule, public function and methods.

This layer imports `_tensor` and the layers below it.  The public function `x` calls
`x_op`, the operator of one kernel.  Files whose names begin with an underscore hold
code that several families share.
"""
