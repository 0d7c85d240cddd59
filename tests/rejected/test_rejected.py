"""Each directory contains a faulty spec or request and its exact diagnostics.

``job.yaml`` is what `smspec validate job.yaml` is given in that directory, ``request.json`` what `smspec validate
--api-json request.json` is; a file ``command.txt`` has the words where another command finds the fault, or where it
takes several specs to find it: `validate .`. ``make.py`` is run there first, for links and files that git cannot hold.
``expected.txt`` is what it says. `make golden` rewrites it; then read the diff.
"""

import ast
import functools
import json
import re
import runpy
import shutil
from pathlib import Path

import pytest

from smspec.diagnostics.explanation import explained_codes, explanation
from smspec.diagnostics.text_format import BRIEF
from support.sampled_cases import sampled
from support.smspec_command import smspec
from support.wording import faults

HERE = Path(__file__).parent
COMPILER = HERE.parents[1] / "compiler" / "smspec"
CASES = sorted({path.parent for name in ("job.yaml", "request.json", "command.txt") for path in HERE.glob(f"*/{name}")})
HEAD = re.compile(r"^(error|warning|note)\[((?:SM|ORG)[0-9]{3})\]: (.*)$", re.MULTILINE)


@functools.cache
def rules():
    """Return [(code, name)] of every `Rule` in the compiler."""
    found = []
    for path in sorted(COMPILER.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "Rule(" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rule":
                found.append(tuple(argument.value for argument in node.args[:2]))
    return sorted(found)


def command(case):
    """Return the words of the command that finds the fault."""
    written = case / "command.txt"
    if written.exists():
        return written.read_text().split()
    return ["validate", "--api-json", "request.json"] if (case / "request.json").exists() else ["validate", "job.yaml"]


@pytest.fixture
def diagnosed(monkeypatch, tmp_path):
    """Copy a case, run its command there, and return the directory, how it ended and what it said."""

    def diagnose(case, *more):
        shutil.rmtree(tmp_path / "case", ignore_errors=True)
        shutil.copytree(case, tmp_path / "case", symlinks=True)
        words = command(case)
        if (case / "make.py").exists():
            with monkeypatch.context() as there:
                there.chdir(tmp_path / "case")
                runpy.run_path("make.py")
        done = smspec(*words, *more, cwd=tmp_path / "case")
        return tmp_path / "case", done, done.out if words[0] in ("validate", "check") else done.err

    return diagnose


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_diagnostics_equal_the_expected_text(case, diagnosed, update):
    _, done, said = diagnosed(case)
    expected = case / "expected.txt"
    assert done.status in (0, 1), done.err
    if update:
        expected.write_text(said, encoding="utf-8", newline="\n")
    assert said == expected.read_text(encoding="utf-8")
    heads = HEAD.findall(said)
    assert heads, "nothing is wrong with it"
    assert done.status == (1 if any(severity == "error" for severity, _, _ in heads) else 0)


@sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_records_are_self_contained_and_located(case, diagnosed):
    if command(case)[0] != "validate":
        pytest.skip("the command has no --format")
    directory, _, said = diagnosed(case, "--format", "json")
    records = json.loads(said)
    text = (case / "expected.txt").read_text(encoding="utf-8")
    shown = sorted(records, key=lambda record: record["code"] in BRIEF)  # these are lines after the others
    assert [(r["severity"], r["code"]) for r in shown] == [head[:2] for head in HEAD.findall(text)]
    for record in records:
        file = directory / record["file"]
        read = b"" if file.is_symlink() else file.read_bytes()  # what a link leads to is not read
        content = read.decode("utf-8", "replace").removeprefix("\ufeff")
        lines = content.split("\n")
        start, end = (record["line"], record["column"]), (record["end_line"], record["end_column"])
        assert (1, 1) <= start <= end
        for line, column in (start, end):
            assert 1 <= line <= len(lines)
            assert 1 <= column <= len(lines[line - 1]) + 1
        assert record["message"] == record["message"].strip()
        assert not record["message"].endswith(".")
        assert faults(record) == [], record["message"]
        assert (
            record["message"][0] in "`\"'(<$" or not record["message"][0].isupper() or record["message"][:2].isupper()
        )


def test_only_secrets_are_masked():
    """A message whose words look like an assignment to a secret would hide the name that it is about."""
    texts = {case.name: (case / "expected.txt").read_text(encoding="utf-8") for case in CASES}
    masked = {name: text for name, text in texts.items() if "****" in text}
    assert [name for name, text in masked.items() if "secret" not in name and "DB_PASSWORD" not in text] == []


def test_code_has_one_rule():
    assert len(rules()) > 300
    assert len({code for code, _ in rules()}) == len(rules())
    assert len({name for _, name in rules()}) == len(rules())


def test_every_code_has_a_rejected_spec():
    texts = [path.read_text(encoding="utf-8") for path in HERE.glob("*/expected.txt")]
    expected = {code for text in texts for code in re.findall(r"\[(SM[0-9]{3})\]", text)}
    missing = sorted({code for code, _ in rules()} - expected)
    assert missing == [], "no directory in tests/rejected expects these"


def test_every_code_has_one_page_named_after_its_rule():
    for code, name in rules():
        page = explanation(code)
        assert page is not None, f"add `## {code}: {name}` to the page of its module, and run docs/diagnostics.py"
        assert page.partition("\n")[0].replace("`", "") == f"# {code}: {name}"


def test_every_page_has_a_code():
    assert sorted(set(explained_codes()) - {code for code, _ in rules()}) == []


def test_rule_name_is_plain_words():
    """The title of its page may have backticks."""
    names = [name for _, name in rules()]
    assert [name for name in names if name != name.strip() or {"_", "`"} & set(name) or name.endswith(".")] == []


# Of what is no job, or no request, no check can be ignored; nor of what is said about ignoring.
KEPT = re.compile(r"SM(1|2|40[1-9]|41[0-2]|330|331|723|731|74|75[0-2]|75[4-7]|76)")


@sampled(4)
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if command(case)[0] == "validate" and (case / "job.yaml").exists()],
    ids=lambda c: c.name,
)
def test_shown_path_can_be_ignored(case, diagnosed):
    """Each finding's code and path, written into `checks.ignore` of its file, silence it and nothing else."""
    directory, _, said = diagnosed(case, "--format", "json")
    findings = json.loads(said)
    for finding in findings:
        if KEPT.match(finding["code"]) and finding["severity"] != "warning":
            continue
        spec = directory / finding["file"]
        before = spec.read_text(encoding="utf-8")
        if finding["code"] in ("SM330", "SM331") or "\nchecks:" in before:
            continue
        entry = {"rule": finding["code"], "at": finding["path"], "because": "a test"}
        spec.write_text(f"{before}\nchecks: {{ignore: [{json.dumps(entry)}]}}\n", encoding="utf-8")
        after = json.loads(smspec(*command(case), "--format", "json", cwd=directory).out)
        spec.write_text(before, encoding="utf-8")
        assert after == [other for other in findings if not is_silenced(other, finding)]
        assert finding not in after


def is_silenced(other, finding):
    """Return whether a finding is of the same rule in the same file, at or below the path of the other."""
    return (other["code"], other["file"]) == (finding["code"], finding["file"]) and (
        re.match(re.escape(finding["path"]) + r"($|[.\[])", other["path"]) is not None
    )
