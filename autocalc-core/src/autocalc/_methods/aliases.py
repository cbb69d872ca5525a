# SPDX-License-Identifier: MIT
"""Methods that have two names."""

from __future__ import annotations

from autocalc._methods.elementwise_methods import Elementwise
from autocalc._methods.pointwise import Pointwise
from autocalc._methods.pointwise_writes import PointwiseWrites
from autocalc._methods.products import Products
from autocalc._methods.special import LessCommon
from autocalc._methods.writes import Writes


class Aliases:
    """The other names, as NumPy's users know them."""

    __slots__ = ()

    arctanh = LessCommon.atanh
    arctanh_ = LessCommon.atanh_
    arccosh = LessCommon.acosh
    arccosh_ = LessCommon.acosh_
    arcsinh = LessCommon.asinh
    arcsinh_ = LessCommon.asinh_
    absolute = Elementwise.abs
    absolute_ = PointwiseWrites.abs_
    arccos = Pointwise.acos
    arccos_ = PointwiseWrites.acos_
    arcsin = Pointwise.asin
    arcsin_ = PointwiseWrites.asin_
    arctan = Pointwise.atan
    arctan2 = Pointwise.atan2
    arctan2_ = PointwiseWrites.atan2_
    arctan_ = PointwiseWrites.atan_
    clip = Elementwise.clamp
    clip_ = Writes.clamp_
    divide = Elementwise.div
    divide_ = Writes.div_
    fix = Elementwise.trunc
    fix_ = PointwiseWrites.trunc_
    ger = Products.outer
    greater = Elementwise.gt
    greater_ = PointwiseWrites.gt_
    greater_equal = Elementwise.ge
    greater_equal_ = PointwiseWrites.ge_
    less = Elementwise.lt
    less_ = PointwiseWrites.lt_
    less_equal = Elementwise.le
    less_equal_ = PointwiseWrites.le_
    multiply = Elementwise.mul
    multiply_ = Writes.mul_
    negative = Elementwise.neg
    negative_ = PointwiseWrites.neg_
    not_equal = Elementwise.ne
    not_equal_ = PointwiseWrites.ne_
    sgn = Pointwise.sign
    sgn_ = PointwiseWrites.sign_
    subtract = Elementwise.sub
    subtract_ = Writes.sub_
    true_divide_ = Writes.div_
