"""What Python's own functions refuse where the system cannot confine a process."""

import json
import os
import subprocess
import sys

from smspec.proof.driver import starting

MODULE = """
import os, socket
outside = os.environ["OUTSIDE"]
open(os.path.join(os.environ["INSIDE"], "file"), "w").close()
attempts = [
    lambda: open(os.path.join(outside, "file"), "w"),
    lambda: os.mkdir(os.path.join(outside, "directory")),
    lambda: os.remove(os.path.join(outside, "there")),
    lambda: os.rename(os.path.join(os.environ["INSIDE"], "file"), os.path.join(outside, "moved")),
    lambda: socket.create_connection(("127.0.0.1", 9)),
    lambda: socket.create_connection(("localhost", 9)),
]
for number, attempt in enumerate(attempts):
    try:
        attempt()
    except OSError as error:
        assert "smspec check" in str(error), (number, error)
    else:
        raise AssertionError(number)
print(open(os.path.join(outside, "there")).read())
socket.socketpair()
"""


def test_python_refuses_writes_and_connections(tmp_path):
    inside, outside, source = tmp_path / "inside", tmp_path / "outside", tmp_path / "src"
    for directory in (inside, outside, source):
        directory.mkdir()
    (outside / "there").write_text("of the author")
    (source / "module.py").write_text(MODULE)
    asked = {"result": str(inside / "result"), "writable": [str(inside)], "argv": [], "place": str(source)}
    variables = {
        "OUTSIDE": str(outside),
        "INSIDE": str(inside),
        starting.OPEN: "network,files",
        starting.IMPORT: json.dumps({**asked, "modules": ["module"]}),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(
        [sys.executable, starting.__file__], env={**os.environ, **variables}, capture_output=True, text=True
    )
    record = json.loads((inside / "result").read_text())
    assert record["kind"] == "imported", (record, done.stderr)
    assert [path.name for path in outside.iterdir()] == ["there"]
