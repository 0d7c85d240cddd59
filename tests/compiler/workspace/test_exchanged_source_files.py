"""A source file exchanged for a link while it is read does not lead outside."""

import os

import pytest

from smspec.source.real_file import open_real
from smspec.workspace.source_listing import scan_source


@pytest.fixture
def source(tmp_path):
    root = tmp_path / "repository/job/src"
    root.mkdir(parents=True)
    return root


def write(path, content="x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


@pytest.mark.parametrize("exchanged", ["pkg/a.py", "pkg", "../src"])
def test_file_exchanged_for_a_link_is_not_followed(source, exchanged, tmp_path, monkeypatch):
    """Files are opened after they are found, and may be exchanged between."""
    write(source / "pkg/a.py")
    for name in ("a.py", "pkg/a.py"):
        write(tmp_path / "secrets" / name, "AKIA" + "Z7Y6X5W4V3U2T1S0")

    def exchange(path):
        place = os.path.normpath(source / exchanged)
        os.rename(place, tmp_path / "was")
        os.symlink(tmp_path / "secrets" / ("a.py" if exchanged.endswith(".py") else ""), place)
        return open_real(path)

    monkeypatch.setattr("smspec.workspace.source_listing.open_real", exchange)
    scanned = scan_source(str(source))
    assert (scanned.listing.files, scanned.secrets) == ((), ())
    assert [(fault.kind, fault.path) for fault in scanned.faults] == [("unreadable", "pkg/a.py")]


@pytest.mark.parametrize("name", ["manifest.json", "run.json"])
def test_marker_that_is_a_link_is_not_opened(source, name, tmp_path):
    write(source / "train.py")
    write(source / "pkg/a.py")
    write(tmp_path / name, '{"smspec": "1", "files": {}, "kind": "smspec run"}')
    (source / "pkg" / name).symlink_to(tmp_path / name)
    scanned = scan_source(str(source))
    assert [(fault.kind, fault.path) for fault in scanned.faults] == [("outside", f"pkg/{name}")]
    assert [file.path for file in scanned.listing.files] == ["pkg/a.py", "train.py"]
