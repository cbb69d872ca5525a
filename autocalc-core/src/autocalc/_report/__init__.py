# SPDX-License-Identifier: MIT
"""The log of a training, and the page that is made of it.

`_logs` writes records, `_run` reads them again, `_page` makes the page.
"""

from autocalc._report._logs import Log, find_log, make_log
from autocalc._report._page import write_page
from autocalc._report._run import Run, read_run

__all__ = ["Log", "Run", "find_log", "make_log", "read_run", "write_page"]
