"""Why nothing was rehearsed: errors of the spec, or what this machine lacks."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from smspec.diagnostics import Diagnostic
from smspec.diagnostics.formats import json_record
from smspec.diagnostics.junit_format import case_in, document, error_in, suite_in
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """``spec``: its path. ``diagnostics``: those of the spec. ``sentence``: what this machine lacks, or nothing."""

    spec: str
    diagnostics: tuple[Diagnostic, ...] = ()
    sentence: str = ""

    @property
    def _errors(self) -> list[Diagnostic]:
        return [each for each in self.diagnostics if each.severity == "error"]

    def to_json(self) -> str:
        """Return a document like that of a rehearsal, without promises."""
        unplaced = {"code": None, "severity": "error", "message": self.sentence}
        errors = [*map(json_record, self._errors), *([unplaced] if self.sentence else [])]
        return f"{json.dumps({'job': None, 'failure': None, 'promises': [], 'errors': errors}, indent=2)}\n"

    def to_junit(self) -> str:
        """Return one suite with a test case for each error."""
        suites = ElementTree.Element("testsuites")
        count = len(self._errors) + bool(self.sentence)
        counts = {"tests": count, "failures": 0, "errors": count, "skipped": 0}
        suite = suite_in(suites, f"smspec rehearse {self.spec}", 0.0, counts)
        for each in self._errors:
            error_in(suite, self.spec, each, "error")
        if self.sentence:
            case_in(suite, self.spec, "this machine", 0.0, "error", self.sentence, self.sentence)
        return document(suites)
