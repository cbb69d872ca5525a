# SPDX-License-Identifier: MIT
# Written by tools/alias_stubs.py; do not edit.
from autocalc.data import DataLoader as DataLoader
from autocalc.data import default_collate as default_collate
from autocalc.data._own_loaders import _DatasetKind as _DatasetKind
from autocalc.data._own_loaders import (
    _SingleProcessDataLoaderIter as _SingleProcessDataLoaderIter,
)
