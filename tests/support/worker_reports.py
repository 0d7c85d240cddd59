"""Workers of pytest-xdist for 20,000 tests of milliseconds: to send and to share them out cost as much as to run them.

The names are pytest-xdist's own. Where it has others, tests cost more, and their results are the same.
"""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadGroupScheduling

SHORT = (
    *(f"tests/compiler/{name}/" for name in ("diagnostics", "pipeline", "plan", "render", "review", "rules")),
    *(f"tests/compiler/{name}/" for name in ("importer", "script", "service", "source", "spec")),
    *(f"tests/{name}/" for name in ("golden", "imported", "rejected")),
)
"""Where most tests take milliseconds, in the process of their worker."""


class Scheduling(LoadGroupScheduling):
    """Give a worker all parameters of a test at once.

    What needs Docker begins first, and what takes milliseconds is left for the end, where it keeps all workers busy.
    """

    _is_ordered = False

    def _split_scope(self, nodeid):
        group = super()._split_scope(nodeid)
        return nodeid.partition("[")[0] if group == nodeid else group

    def add_node_collection(self, node, collection):
        """Keep the names of a worker's tests so that one is found without a search of all of them, each time."""
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = _Names(collection)

    def _assign_work_unit(self, node):
        if not self._is_ordered:
            self._is_ordered = True
            for scope in [scope for scope in self.workqueue if scope.startswith(SHORT)]:
                self.workqueue.move_to_end(scope)
            for group in ("docker runs", "docker"):  # which take one worker each the longest
                if group in self.workqueue:
                    self.workqueue.move_to_end(group, last=False)
        super()._assign_work_unit(node)


class _Names(list):
    def __init__(self, names):
        super().__init__(names)
        self._places = {name: place for place, name in enumerate(self)}

    def index(self, name, *_):
        return self._places[name]


class FewReports:
    """A plugin of a worker: of a test that passes it sends what the summary shows, one report of three."""

    def __init__(self, config):
        interactor = next(each for each in config.pluginmanager.get_plugins() if hasattr(each, "sendevent"))
        self._send = interactor.sendevent
        interactor.sendevent = self._send_shown

    def _send_shown(self, name, **content):
        if name != "logstart" and not (name == "testreport" and content["data"].get("is_unimportant")):
            self._send(name, **content)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_to_serializable(self, report):
        """Return what is not sent for the set-up and the end of a test without a word."""
        if report.passed and getattr(report, "when", "call") != "call" and not report.sections:
            return {"is_unimportant": True}
        return None


def is_asked_for_all(config):
    """Whether the options ask for more of a test than how it ended."""
    names = ("durations", "xmlpath", "debug", "setupshow", "hypothesis_show_statistics")
    return config.option.verbose > 0 or any(getattr(config.option, name, None) for name in names)
