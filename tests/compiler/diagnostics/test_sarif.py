"""SARIF: the official schema, the limits of GitHub, and stable fingerprints."""

import gzip
import json
from pathlib import Path

import jsonschema
import pytest

from smspec.diagnostics import Diagnostic, Note
from smspec.diagnostics.explanation import explained_codes, reference
from smspec.diagnostics.sarif import MOST_RESULTS, sarif, uri_of
from smspec.source import SourceText, Span
from support.small_job import READY
from support.smspec_command import smspec

SCHEMA = json.loads(Path(__file__).with_name("sarif").joinpath("sarif-schema-2.1.0.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def log(diagnostics, *texts):
    """Return the log as data; it fits the schema."""
    text = sarif(diagnostics, texts)
    assert text.isascii()
    data = json.loads(text)
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []
    return data


def diagnostic(code="SM204", *, line=2, path=("nme",), file="specs/a/job.yaml", **more):
    span = Span(file, line, 3, line, 6)
    return Diagnostic(**{"code": code, "severity": "error", "message": "x", "span": span, "path": path, **more})


def test_schema_rejects_malformed_logs():
    assert list(VALIDATOR.iter_errors({"version": "2.1.0", "runs": [{"results": []}]}))
    assert list(VALIDATOR.iter_errors({"version": "2.1.0", "runs": [], "more": 1}))


def test_clean_run_has_no_results():
    (run,) = log([])["runs"]
    assert run["results"] == run["tool"]["driver"]["rules"] == []
    assert run["columnKind"] == "unicodeCodePoints"


def test_every_code_is_described_by_its_page():
    codes = explained_codes()
    (run,) = log([diagnostic(code, path=(code,)) for code in codes])["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(codes)
    for rule in rules:
        assert rule["name"].isprintable()
        assert " " not in rule["name"]
        assert len(rule["shortDescription"]["text"]) <= 1024
        assert len(rule["fullDescription"]["text"]) <= 1024
        assert rule["help"]["markdown"].startswith(f"# {rule['id']}: ")
        assert rule.get("helpUri", "") == reference(rule["id"])
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_only_occurring_rules_are_described():
    (run,) = log([diagnostic("SM204"), diagnostic("SM204", line=5, path=("mne",)), diagnostic("SM202")])["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["SM202", "SM204"]
    assert [result["ruleIndex"] for result in run["results"]] == [1, 1, 0]


def test_severity_note_has_the_level_note():
    (run,) = log([diagnostic(severity="note")])["runs"]
    assert run["results"][0]["level"] == "note"
    assert run["tool"]["driver"]["rules"][0]["defaultConfiguration"]["level"] == "note"


def test_result_contains_message_and_location():
    note = Note("used through an alias here", Span("org/base.yaml", 7, 1, 7, 4))
    found = diagnostic(
        severity="warning", label="did you mean `name`?", help="see", notes=(note, Note("with the overlay `dev`"))
    )
    (result,) = log([found])["runs"][0]["results"]
    assert result["level"] == "warning"
    assert result["message"]["text"] == "x\ndid you mean `name`?\nnote: with the overlay `dev`\nhelp: see"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "specs/a/job.yaml"}
    assert place["region"] == {"startLine": 2, "startColumn": 3, "endLine": 2, "endColumn": 6}
    (related,) = result["relatedLocations"]
    assert related["message"]["text"] == "used through an alias here"
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "org/base.yaml"


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("job.yaml", "job.yaml"),
        ("./specs/../job.yaml", "job.yaml"),
        ("../job.yaml", "../job.yaml"),
        ("a b/ü#1?.yaml", "a%20b/%C3%BC%231%3F.yaml"),
        ("c:job.yaml", "c%3Ajob.yaml"),
        ("100%.yaml", "100%25.yaml"),
        ("\udcff.yaml", "%FF.yaml"),
        ("<stdin>", "%3Cstdin%3E"),
        ("/srv/job.yaml", "file:///srv/job.yaml"),
    ],
)
def test_file_is_a_uri_reference(file, uri):
    assert uri_of(file) == uri
    log([diagnostic(file=file)])


def fingerprints(*diagnostics, text=""):
    results = log(diagnostics, SourceText("specs/a/job.yaml", text))["runs"][0]["results"]
    return [result["partialFingerprints"]["smspecPlace/v1"] for result in results]


def test_fingerprints_survive_moved_lines():
    one, two = diagnostic(line=2), diagnostic(line=4, path=("mne",))
    assert fingerprints(one, two) == fingerprints(diagnostic(line=12), diagnostic(line=14, path=("mne",)))
    assert len(set(fingerprints(one, one, two, diagnostic("SM202"), diagnostic(file="b.yaml")))) == 5
    # Where a text is no tree, the words of the line take the place of a path.
    broken = diagnostic("SM101", line=2, path=())
    assert fingerprints(broken, text="a\n b: [\n") == fingerprints(
        diagnostic("SM101", line=3, path=()), text="\n\nb: ["
    )
    assert fingerprints(broken, text="a\nb: [\n") != fingerprints(broken, text="a\nc: [\n")


@pytest.mark.slow
def test_log_stays_within_the_limits_of_github():
    many = [
        diagnostic(line=n + 1, path=("hyperparameters", str(n)), severity="error" if n % 2 else "warning")
        for n in range(MOST_RESULTS + 1000)
    ]
    text = sarif(many, [])
    (run,) = json.loads(text)["runs"]
    assert len(run["results"]) == MOST_RESULTS
    assert sum(result["level"] == "error" for result in run["results"]) == (MOST_RESULTS + 1000) // 2
    assert "1000 more" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert len(gzip.compress(text.encode())) < 10_000_000
    log(many[:3])


def test_validate_writes_sarif(tmp_path):
    (tmp_path / "job.yaml").write_text(READY + "retries: 99\noverlays: {dev: {retries: 98}}\n")
    done = smspec("validate", "--format", "sarif", cwd=tmp_path)
    assert done.status == 1
    data = json.loads(done.out)
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []
    assert [result["ruleId"] for result in data["runs"][0]["results"]] == ["SM409", "SM409"]


@pytest.mark.parametrize(
    ("key", "fixed"), [("retires", "retries"), ('"retires"', '"retries"'), ("'retires'", "'retries'")]
)
def test_certain_repairs_are_fixes(key, fixed, tmp_path):
    """Applied as SARIF defines it, the fix writes what `validate --fix` writes; other findings have none."""
    path = tmp_path / "job.yaml"
    path.write_text(READY + f"{key}: 3\nno_such_key_at_all: 1\n")
    results = json.loads(smspec("validate", "--format", "sarif", cwd=tmp_path).out)["runs"][0]["results"]
    VALIDATOR.validate(json.loads(smspec("validate", "--format", "sarif", cwd=tmp_path).out))
    (fix,) = [one for result in results for one in result.get("fixes", ())]
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    region = replacement["deletedRegion"]
    lines = path.read_text().split("\n")
    line = lines[region["startLine"] - 1]
    text = replacement["insertedContent"]["text"]
    lines[region["startLine"] - 1] = line[: region["startColumn"] - 1] + text + line[region["endColumn"] - 1 :]
    smspec("validate", "--fix", cwd=tmp_path)
    assert "\n".join(lines) == path.read_text()
    assert f"{fixed}: 3\n" in path.read_text()
