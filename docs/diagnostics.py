"""Writes docs/diagnostics.md and ``diagnostics/pages.txt`` of the package: ``python docs/diagnostics.py``.

They are the index of all codes for readers and for smspec. A test keeps both current.
"""

import re
from pathlib import Path

from smspec.cli.explain import FAMILIES

PAGE = Path(__file__).with_name("diagnostics.md")
PACKAGE = Path(__file__).parents[1] / "compiler/smspec"
INDEX = PACKAGE / "diagnostics/pages.txt"

RETIRED = {"SM326": "launcher that the runtime lacks"}
"""Codes whose fault cannot be made any more. Their numbers stay taken."""

HEAD = """\
# Diagnostics

<!-- Written by docs/diagnostics.py from the pages of the codes: change those and run it. -->

Every code has a page that says what is wrong, why it is, and what to write instead; `smspec explain SM204` prints it.
Codes are never reused or renumbered. A warning, and an error that the API itself does not raise, can be expected:
`checks: {ignore: [{rule: SM3xx, at: channels.train, because: …}]}`.

An error leaves every check that does not need the part at fault: a misspelled key, an unknown variable, and a bad
bucket are reported together. Only a job file that is not YAML ends everything. If a base spec cannot be read, the keys
that the job's own file sets are checked, and SM147 reports that the rest was not.

`smspec validate` says what it finds in a spec, and with `--api-json FILE` (`-` is standard input) in a raw
CreateTrainingJob request, at its own lines. A request has no `checks`: there the `rules` of a
[policy](repository.md#organization-policy) make an error a warning, or turn it off. `--format` picks the form:

| format | for |
|---|---|
| `text` | people: each finding with its line |
| `json` | programs: one array of flat objects, empty when all is well |
| `sarif` | code scanning: SARIF 2.1.0 with the pages of the codes; fingerprints stay when lines move |
| `junit` | test results in CI: a failed test case for each error, with `--strict` also for each warning; others pass |
| `github` | GitHub Actions: annotations at the lines; the last one counts what GitHub does not show of more than ten |
| `mermaid` | Markdown: no findings, but [a graph](repository.md) of who reads what another job writes |
"""


def titles() -> dict[str, dict[str, str]]:
    """Return the titles of the pages in each file of the package, by code."""
    heading = re.compile(r"^## (SM\d{3}): (.*)$", re.MULTILINE)
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.md"))}
    return {file: dict(heading.findall(text)) for file, text in texts.items()}


def index() -> str:
    """Return the codes of each file with pages, a file a line."""
    return "".join(f"{file} {' '.join(codes)}\n" for file, codes in titles().items())


def links() -> dict[str, tuple[str, str]]:
    """Return for each code the link from a page of docs/ to its heading, as GitHub names it, and its title."""
    found = {}
    for file, of_file in titles().items():
        for code, title in of_file.items():
            anchor = re.sub(r"[^\w -]", "", f"{code} {title}".lower()).replace(" ", "-")
            found[code] = f"[{code}](../compiler/smspec/{file}#{anchor})", title
    return dict(sorted(found.items()))


def page() -> str:
    """Return the whole page."""
    lines = [HEAD]
    rows = {code: f"| {link} | {title} |" for code, (link, title) in links().items()}
    for kind, what in FAMILIES.items():
        lines += [f"## {kind}: {what}\n", "| code | |", "|---|---|"]
        lines += [row for code, row in rows.items() if code.startswith(kind)]
        lines.append("")
    retired = ", ".join(f"{code} ({title})" for code, title in RETIRED.items())
    lines.append(f"No longer in use, and never used again: {retired}.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    INDEX.write_text(index(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
