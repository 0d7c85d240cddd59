"""The files of a wheel in an image are those that pip installs."""

import stat
import subprocess
import sys
from pathlib import Path

from smspec.publishing.packages.installed_files import BasePython, installed_files
from smspec.publishing.packages.wheel import read_wheel
from support.wheels import DATA, INFO, write_wheel

MINOR = f"3.{sys.version_info[1]}"
ENTRY_POINTS = b"""\
[console_scripts]
ctr = ctr_model.main:run
ctr-fit = ctr_model.main:Model.fit [extra]
pip = ctr_model.main:run
pip3.1 = ctr_model.main:Model.fit

[gui_scripts]
Ctr.Window = ctr_model.main:run

[other]
x = y
"""
FILES = {
    "ctr_model/__init__.py": b"",
    "ctr_model/main.py": b"def run(): return 3\n",
    "ctr_model/tool": b"#!/bin/sh\n",
    "ctr_model/a, b.txt": b"x",
    "ctr_model/\xe9t\xe9.txt".encode("latin-1").decode("latin-1"): b"summer",
    "ctr_model/link": b"main.py",
    f"{DATA}/purelib/pure.py": b"pure = 1\n",
    f"{DATA}/platlib/fast.so": b"\x7fELF",
    f"{DATA}/scripts/ctr-run": b"#!python\nprint(1)\n",
    f"{DATA}/scripts/ctr-window": b"#!pythonw -s\r\nprint(1)\r\n",
    f"{DATA}/scripts/ctr-sh": b"#!/bin/sh\necho\n",
    f"{DATA}/scripts/ctr": b"#!python\nan old wrapper\n",
    f"{DATA}/headers/ctr.h": b"int ctr;\n",
    f"{DATA}/data/share/ctr/words.txt": b"a\n",
    f"{INFO}/entry_points.txt": ENTRY_POINTS,
    f"{INFO}/licenses/LICENSE": b"free\n",
}


def tree(directory):
    """Return {path: (is executable, content)} of the files that are not compiled."""
    return {
        str(path): (bool(stat.S_IMODE(path.stat().st_mode) & 0o100), command(path.read_bytes()))
        for path in directory.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def command(content):
    """Return a command without the lines that remove a suffix of Windows: they differ from pip 25 on."""
    lines = content.split(b"\n")
    if not content.startswith(b"#!") or not any(b"sys.argv[0] = " in line for line in lines):
        return content
    words = (b"import re", b"# -*- coding")
    return b"\n".join(line for line in lines if b"sys.argv[0] = " not in line and not line.startswith(words))


def rows(record):
    """Return the lines of a RECORD without those of the installer, and of a script that pip leaves out.

    Those of commands are without the digest, which depends on the version of pip.
    """
    apart = (b"INSTALLER,", b"direct_url.json,", f"{DATA}/scripts/ctr,".encode())
    lines = (line for line in record.splitlines() if not any(each in line for each in apart))
    return sorted(line.split(b",")[0] if b"../bin/" in line else line for line in lines)


def test_files_are_those_that_pip_installs(tmp_path):
    path = write_wheel(tmp_path, FILES, executable=("ctr_model/tool",), links=("ctr_model/link",))
    root = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True)
    before = tree(root).keys()
    words = ["install", "--no-deps", "--no-compile", "--no-index", "--quiet", "--disable-pip-version-check", path]
    subprocess.run([sys.executable, "-m", "pip", "--python", root, *words], check=True)
    python = BasePython(
        program=str(next((root / "bin").glob("python"))),
        minor=MINOR,
        prefix=str(root),
        packages=f"{root}/lib/python{MINOR}/site-packages",
        others=(),
    )
    expected = {name: found for name, found in tree(root).items() if name not in before}
    wheel = read_wheel(path, "ctr-model")
    sha256 = "0" * 64
    found = {
        each.path: (each.is_executable, command(b"".join(each.chunks())))
        for each in installed_files(wheel, python, Path(path).as_uri(), sha256)
    }
    info = f"{python.packages}/{INFO}"
    headers = f"{root}/include/site/python{MINOR}/ctr-model/ctr.h"  # where only environments have them
    expected[python.headers("ctr-model") + "/ctr.h"] = expected.pop(headers)
    for name in ("INSTALLER", "RECORD", "direct_url.json"):
        (_, ours), (_, theirs) = found.pop(f"{info}/{name}"), expected.pop(f"{info}/{name}")
        if name == "RECORD":
            theirs = theirs.replace(f"include/site/python{MINOR}".encode(), f"include/python{MINOR}".encode())
            assert rows(ours) == rows(theirs)
    assert found == expected
