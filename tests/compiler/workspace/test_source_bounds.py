"""Limits of a source scan: tried patterns, opened files, and searched bytes."""

import subprocess
import sys

import pytest

from smspec.workspace.source_listing import scan_source
from support.spec.source_tree import faults, write


@pytest.fixture
def source(tmp_path):
    root = tmp_path / "repository/src"
    root.mkdir(parents=True)
    return root


TOO_MANY = "has too many patterns for so many files"
HOSTILE = [f"*a*b*c{number}" for number in range(100)]


@pytest.mark.parametrize("name", [".gitignore", ".dockerignore", "../.gitignore", "source.ignore"])
def test_patterns_times_files_are_limited(source, monkeypatch, name):
    monkeypatch.setattr("smspec.workspace.ignore_rules.MOST_TRIED", 100 * 30 * 20)
    (source.parent / ".git").mkdir()
    write(source, *(f"{number}.py" for number in range(10)))
    ignore = HOSTILE if name == "source.ignore" else []
    if not ignore:
        (source / name).write_text("\n".join(HOSTILE))
    assert not faults(source, *ignore)
    write(source, *(f"{number}.py" for number in range(30)))
    ((kind, path, detail),) = faults(source, *ignore)
    assert (kind, path) == ("unbounded", "")
    assert detail.endswith(TOO_MANY)


def test_literal_names_do_not_count_as_patterns(source, monkeypatch):
    monkeypatch.setattr("smspec.workspace.ignore_rules.MOST_TRIED", 0)
    write(source, "kept.py", "made/a.py", "lists/one.txt", "one.txt", "made.py")
    names = [f"name{number}" for number in range(4_000)]
    (source / ".gitignore").write_text("\n".join([*names, "made/", "/lists/one.txt", "made.py", "!made.py"]))
    assert [file.path for file in scan_source(str(source)).listing.files] == [
        ".gitignore",
        "kept.py",
        "made.py",
        "one.txt",
    ]


def test_unreadable_ignore_file_is_read_once(source, monkeypatch):
    write(source, *(f"{number}.py" for number in range(20)))
    (source / ".gitignore").write_text("\n".join(map(str, range(5_001))))
    script = """
import sys
from smspec.workspace.source_listing import scan_source
sys.addaudithook(lambda event, details: event == "open" and str(details[0]).endswith(".gitignore") and print("open"))
print([(fault.kind, fault.path) for fault in scan_source(sys.argv[1]).faults])
"""
    done = subprocess.run([sys.executable, "-c", script, source], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["open", "[('unreadable', '.gitignore')]"]


def test_search_for_secrets_is_limited(source, monkeypatch):
    """Each expression reads the whole of a file that has a mark of it; other files cost nothing."""
    marks = "AKIA ghp_ sk- hf_\n" * 10
    monkeypatch.setattr("smspec.workspace.source_listing.MOST_MATCHED", 3 * 4 * len(marks))
    secret = "AKIA" + "IOSFODNN7ABCDEFG"
    write(source, "0.txt", content=f"key {secret}\n")
    write(source, "1.txt", "2.txt", "3.txt", content=marks)
    write(source, "9.txt", content="nothing of that kind\n" * 100)
    scanned = scan_source(str(source))
    assert [found.path for found in scanned.secrets] == ["0.txt"]
    assert scanned.unsearched == ("3.txt",)
