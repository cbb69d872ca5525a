# SPDX-License-Identifier: MIT
"""Quantiles, histograms and covariances."""
