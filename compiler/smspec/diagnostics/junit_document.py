"""Documents of JUnit XML: suites of test cases."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

from smspec.diagnostics.visible import multiline_visible, visible


def document(suites: ElementTree.Element) -> str:
    """Return the text of an XML document."""
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def suite_in(suites: ElementTree.Element, name: str, seconds: float, counts: Mapping[str, int]) -> ElementTree.Element:
    """Add a suite with numbers of test cases."""
    attributes = {
        "name": visible(name),
        "time": f"{seconds:.3f}",
        **{kind: str(count) for kind, count in counts.items()},
    }
    return ElementTree.SubElement(suites, "testsuite", attributes)


def case_in(
    suite: ElementTree.Element, job: str, name: str, seconds: float, kind: str | None, message: str, text: str
) -> None:
    """Add a test case; ``kind`` is that of its result, None for success."""
    classname = visible(job)
    case = ElementTree.SubElement(suite, "testcase", classname=classname, name=visible(name), time=f"{seconds:.3f}")
    if kind is not None:
        result = ElementTree.SubElement(case, kind, message=multiline_visible(message))
        result.text = multiline_visible(text)
    elif text:
        ElementTree.SubElement(case, "system-out").text = multiline_visible(text)
