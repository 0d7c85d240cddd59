"""A program in the place of docker: it builds and pushes nothing, and records what it is asked to do."""

from __future__ import annotations

import json
import sys
from pathlib import Path

_PROGRAM = """\
#!{python} -IS
import json, os, sys
root = {root!r}
words = sys.argv[1:]
directory = os.environ.get("DOCKER_CONFIG", "")
config = os.path.join(directory, "config.json")
seen = {{
    "words": words,
    "given": sys.stdin.read() if "--password-stdin" in words else "",
    "config": json.load(open(config)) if words[0] in ("login", "push") and os.path.exists(config) else None,
    "files": sorted(os.listdir(directory)) if words[0] in ("login", "push") and directory else [],
    "directory": directory,
}}
with open(root + "/asked", "a") as log:
    log.write(json.dumps(seen) + "\\n")
images = set(open(root + "/images").read().split())
if words[0] == "buildx":
    sys.exit(1)
if words[:2] == ["image", "inspect"]:
    sys.exit(0 if words[2] in images else 1)
if words[0] == "build":
    images.add(words[words.index("--tag") + 1])
    open(root + "/images", "w").write(" ".join(sorted(images)))
if words[0] == "push":
    lines = open(root + "/pushes").read().split("\\n")
    open(root + "/pushes", "w").write("\\n".join(lines[1:]))
    if lines[0].startswith("error "):
        sys.exit(lines[0][6:])
    print("0123456789ab: Preparing\\nba9876543210: Preparing\\n0123456789ab: Pushed")
    print("ba9876543210: Layer already exists\\n" + lines[0])
"""


class FakeClient:
    """``directory`` belongs on PATH. A push gets the next line: its output, or after ``error`` why it fails."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.directory = root / "bin"
        self.directory.mkdir(parents=True)
        program = self.directory / "docker"
        program.write_text(_PROGRAM.format(python=sys.executable, root=str(root)))
        program.chmod(0o755)
        for name in ("images", "pushes", "asked"):
            (root / name).write_text("")

    def will_push(self, *lines: str) -> None:
        (self._root / "pushes").write_text("\n".join(lines))

    def asked(self, command: str) -> list[dict]:
        """Return what was recorded of a command."""
        records = map(json.loads, (self._root / "asked").read_text().splitlines())
        return [record for record in records if record["words"][0] == command]
