# SPDX-License-Identifier: MIT
"""The log of a training run, and the HTML page that shows it.

`_logs` writes the records, `_run` reads them, and `_page` makes the page.
"""

from autocalc._report._logs import Log, find_log, make_log
from autocalc._report._page import write_page
from autocalc._report._run import Run, read_run

__all__ = ["Log", "Run", "find_log", "make_log", "read_run", "write_page"]
