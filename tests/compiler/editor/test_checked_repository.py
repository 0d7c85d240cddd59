"""The findings that an editor shows are those of `smspec validate`, and a change checks only what it affects."""

import json
import os
import shutil
from pathlib import Path

import pytest

from smspec.diagnostics.formats import json_record
from smspec.editor.checking import CheckedRepository
from smspec.editor.open_documents import OpenDocuments, column_of, path_of, uri_of
from support.small_job import READY
from support.smspec_command import smspec

ROOT = Path(__file__).resolve().parents[3]
CASES = sorted(path for path in (ROOT / "tests/rejected").iterdir() if (path / "job.yaml").is_file())


def last(results):
    return list(results)[-1]


def checked(path, contents=None, changed=None):
    return last(CheckedRepository(path).results(contents or {}, changed, lambda: False))


@pytest.mark.parametrize("case", CASES[::12], ids=lambda case: case.name)
def test_findings_are_those_of_validate(case, tmp_path, monkeypatch):
    """Also where every spec is an unsaved text, and the disk has something else."""
    here = tmp_path / case.name
    shutil.copytree(case, here, symlinks=True)
    monkeypatch.chdir(here)
    printed = json.loads(smspec("validate", ".", "--format", "json", cwd=here).out or "[]")
    files = [path for path in here.rglob("*.y*ml") if path.is_file() and not path.is_symlink()]
    specs = [path for path in files if path.parent.name != "rules"]
    contents = {os.path.realpath(path): path.read_bytes() for path in specs}
    for path in specs:
        path.write_text("smspec: v1\nname: other\n")
    assert [json_record(one) for one in checked(".", contents).diagnostics] == printed


def test_change_checks_only_affected_jobs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "base.yaml").write_text("smspec: v1\nretries: 1\n")
    for name in ("a", "b", "c"):
        base = "extends: [../base.yaml]\n" if name != "c" else ""
        text = READY.replace("smspec: v1\n", f"smspec: v1\n{base}").replace("small", name)
        (tmp_path / name).mkdir()
        (tmp_path / name / "job.yaml").write_text(text)
    repository = CheckedRepository(".")
    whole = last(repository.results({}, None, lambda: False))
    assert (len(whole.jobs), whole.diagnostics) == (3, ())
    before = dict(repository._checked)
    real = os.path.realpath("base.yaml")
    changed = last(repository.results({real: b"smspec: v1\nretries: x\n"}, frozenset({real}), lambda: False))
    assert [one.code for one in changed.diagnostics] == ["SM203"]
    same = [os.path.basename(os.path.dirname(at)) for at, one in repository._checked.items() if before[at] is one]
    assert same == ["c"]


def test_stale_work_stops_and_is_taken_up_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    for number in range(4):
        (tmp_path / f"{number}.yaml").write_text(READY.replace("small", f"job-{number}"))
    repository = CheckedRepository(".")
    answers = iter([False, False, True])
    assert list(repository.results({}, None, lambda: next(answers))) == []
    assert len(last(repository.results({}, frozenset(), lambda: False)).jobs) == 4


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c/%F0%9F%9A%80.yaml", "/a/b c/🚀.yaml"),
        ("file:///c%3A/jobs/job.yaml", "/c:/jobs/job.yaml"),
        ("untitled:Untitled-1", None),
        ("file://server/share/job.yaml", None),
        ("file:///a%00b", None),
        ("http://[", None),
        ("", None),
    ],
)
def test_path_of_a_uri(uri, path):
    assert path_of(uri) == path
    assert path is None or path_of(uri_of(path)) == path


def test_columns_count_utf16_units():
    assert [column_of("a🚀模b", units) for units in range(7)] == [0, 1, 1, 2, 3, 4, 4]


def test_document_without_a_file_is_not_checked():
    documents = OpenDocuments()
    assert documents.put("untitled:Untitled-1", READY, 1).is_spec
    assert documents.contents() == {}
    assert not documents.put("file:///x/job.yaml", "a" * (1 << 23), 1).is_spec
