"""Writes docs/diagnostics.md, the index of all codes: ``python docs/diagnostics.py``. A test keeps the page current."""

from pathlib import Path

from smspec.diagnostics.explanation import explained_codes, explanation

PAGE = Path(__file__).with_name("diagnostics.md")
PAGES = "../compiler/smspec/diagnostics/explanations"

KINDS = {
    "SM1": "YAML, JSON, bases, overlays and variables",
    "SM2": "shape, and values that a Dockerfile cannot hold",
    "SM3": "parts that contradict each other, or have no effect",
    "SM4": "requests that the API would refuse",
    "SM5": "the script, and what the spec gives it",
    "SM6": "security",
    "SM7": "repositories of specs, and the policy of an organisation",
    "SM8": "places in AWS: S3 addresses, regions, and partitions",
}

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
CreateTrainingJob request, at its own lines. A request has no `checks`: there the `rules` of a [policy](policy.md) make
an error a warning, or turn it off. `--format` picks the form:

| format | for |
|---|---|
| `text` | people: each finding with its line |
| `json` | programs: one array of flat objects, empty when all is well |
| `sarif` | code scanning: SARIF 2.1.0 with the pages of the codes; fingerprints stay when lines move |
| `junit` | test results in CI: a failed test case for each error, with `--strict` also for each warning; others pass |
| `github` | GitHub Actions: annotations at the lines; the last one counts what GitHub does not show of more than ten |
| `mermaid` | Markdown: no findings, but [a graph](repository.md) of who reads what another job writes |
"""


def page() -> str:
    """Return the whole page."""
    lines = [HEAD]
    for kind, what in KINDS.items():
        if not any(code.startswith(kind) for code in explained_codes()):
            continue
        lines += [f"## {kind}: {what}\n", "| code | |", "|---|---|"]
        for code in explained_codes():
            if code.startswith(kind):
                title = (explanation(code) or "").partition("\n")[0].partition(": ")[2]
                lines.append(f"| [{code}]({PAGES}/{code}.md) | {title} |")
        lines.append("")
    retired = ", ".join(f"{code} ({title})" for code, title in RETIRED.items())
    lines.append(f"No longer in use, and never used again: {retired}.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
