# SPDX-License-Identifier: MIT
"""`pytest --kernels NAME`: the tests of operators and models, with that set preferred.

Other tests are left out: they ask which set is chosen, or never call a kernel.
"""

from __future__ import annotations

import re
from textwrap import wrap

import pytest
from tests.dispatcher import Selection, find_set, registry

import autocalc as ac
from autocalc.errors import ConfigError

#: The files that compute with whatever kernels there are.
COMPUTING = re.compile(
    r"tests/(models|operators)/"
    r"|tests/core/test_(nn|ops|optim|autograd|linalg|distributions|view|views)(_\w+)?\.py"
    r"|tests/core/test_(attention|compositions|dtype_rules|fuzz|halves|histograms"
    r"|less_common|odds_and_ends|rotary|scatter_reduction|special_functions"
    r"|derivatives|writes_at_indices)\.py"
)


class Preferred:
    """Prefers a kernel set for a whole session, and keeps which of its kernels ran.

    Parameters
    ----------
    choice
        The name of a set, or of a family: the best of its sets.
    """

    def __init__(self, choice: str) -> None:
        try:
            ac.kernels.use(choice)
            kernel_set = find_set(registry(), choice)
        except ConfigError as error:
            raise pytest.UsageError(str(error)) from error
        self.name = kernel_set.name
        self.kernels = set(registry().kernels(self.name))
        self.ran: set[str] = set()
        self._listen()

    def _listen(self) -> None:
        """See every choice, of whatever selection: it is made before the first call."""
        note = Selection.note

        def heard(selection, key, name):
            if name == self.name:
                self.ran.add(key.kernel)
            note(selection, key, name)

        Selection.note = heard

    def lines(self) -> list[str]:
        """Return what there is to report."""
        own, idle = self.ran & self.kernels, self.kernels - self.ran
        composed = self.ran - self.kernels
        lines = [f"{self.name}: {len(own)} of its {len(self.kernels)} kernels ran"]
        for what, names in (
            ("ran", own),
            ("ran as the set's primitives", composed),
            ("not called by these tests, or refused each call", idle),
        ):
            text = f"{what}: {', '.join(sorted(names))}"
            lines += wrap(text, 88, subsequent_indent="  ") if names else []
        return lines

    # ---- pytest's hooks --------------------------------------------------------------

    def pytest_collection_modifyitems(self, config, items):
        """Leave out what does not compute."""
        kept = [item for item in items if COMPUTING.match(item.nodeid)]
        config.hook.pytest_deselected(items=[i for i in items if i not in set(kept)])
        items[:] = kept

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        """Take over what a worker of pytest-xdist saw."""
        self.ran |= set(getattr(node, "workeroutput", {}).get("kernels_that_ran", ()))

    def pytest_sessionfinish(self, session):
        """Fail a run in which no kernel of the set ran."""
        worker = getattr(session.config, "workeroutput", None)
        if worker is not None:
            worker["kernels_that_ran"] = sorted(self.ran)
        elif session.testscollected and not self.ran and not _only_lists(session):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        """Say which kernels ran."""
        terminalreporter.section("preferred kernels")
        for line in self.lines():
            terminalreporter.write_line(line)


def _only_lists(session: pytest.Session) -> bool:
    return session.config.option.collectonly
