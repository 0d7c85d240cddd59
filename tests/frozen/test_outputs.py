"""The comparison of outputs finds a deliberate change of a message, and nothing where nothing changed."""

import shutil

import pytest

from frozen.outputs import PACKAGES, ROOT, differences, outputs, recorded

CASE = "rejected/a-quote-that-is-never-closed"


@pytest.mark.slow
@pytest.mark.process
def test_changed_message_is_found(tmp_path):
    tree = tmp_path / "tree"
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tree / name)
    recorded({ROOT: tmp_path / "old", tree: tmp_path / "equal"}, CASE)
    old = outputs(tmp_path / "old")
    assert f"{CASE}/000 validate_job.yaml_--format_text.txt" in old
    assert differences(old, outputs(tmp_path / "equal")) == []

    changed = [
        path for path in (tree / "compiler").rglob("*.py") if "unclosed quote" in path.read_text(encoding="utf-8")
    ]
    assert changed
    for path in changed:
        path.write_text(path.read_text(encoding="utf-8").replace("unclosed quote", "open quote"), encoding="utf-8")
    recorded({tree: tmp_path / "new"}, CASE)
    found = "\n".join(differences(old, outputs(tmp_path / "new")))
    assert '-error[SM101]: unclosed quote `"`' in found
    assert '+error[SM101]: open quote `"`' in found
