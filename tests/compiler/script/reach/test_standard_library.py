"""Modules of the source that hide one of Python's library, so that imports of others certainly fail, or may not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from smspec.pipeline.script_source import ProgramSource
from smspec.script.reach.names import TAKEN
from smspec.script.reach.reaching import _HIDING, Reaching

ALL = [(hidden, name, user) for hidden, names in TAKEN.items() for name, users in names.items() for user in users]
FINE = {
    "a module that takes nothing": {"train.py": "import json\n", "random.py": ""},
    "a module with the name": {"train.py": "import tempfile\n", "random.py": "class Random:\n    pass\n"},
    "a handler": {"train.py": "try:\n    import secrets\nexcept ImportError:\n    pass\n", "random.py": ""},
    "an import of no run": {"train.py": "def main():\n    import secrets\n", "random.py": ""},
    "a name that is set before": {
        "train.py": "import random\nrandom.Random = int\nimport tempfile\n",
        "random.py": "def randbelow(n):\n    return 1\n",
    },
    "another name for it": {
        "train.py": "import tempfile\n",
        "random.py": "def __getattr__(name):\n    return object\n",
    },
    "a file in another directory": {"train.py": "import secrets\n", "lib/random.py": ""},
}


def missing(directory, files):
    for path, text in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text)
    source = ProgramSource({path: str(directory / path) for path in files}, "src", ("",), searches=False)
    return Reaching(source, ("",), (3, 12), searches=False).from_script("train.py", None).missing


def runs(directory):
    """Run a script with the standard library alone: what else is installed may import modules before it."""
    done = subprocess.run([sys.executable, "-S", "train.py"], cwd=directory, capture_output=True, text=True)
    return done.returncode == 0


@pytest.mark.parametrize(("hidden", "name", "user"), ALL)
def test_module_cannot_be_imported_without_the_name(hidden, name, user, tmp_path):
    [found] = missing(tmp_path, {"train.py": f"import {user}\n", f"{hidden}.py": "def of_the_source():\n    pass\n"})[
        :1
    ]
    assert (found.name, found.hidden_by) == (user, f"{hidden}.py")
    assert not runs(tmp_path)


def test_module_that_imports_back_is_reported(tmp_path):
    files = {"train.py": "import random\n", "random.py": "import tempfile\n\ndef choice(items):\n    return items[0]\n"}
    assert [found.hidden_by for found in missing(tmp_path, files)] == ["random.py"]
    assert not runs(tmp_path)


def test_script_that_hides_is_reported(tmp_path):
    files = {"train.py": "", "random.py": "import secrets\n"}
    source = ProgramSource({"random.py": str(tmp_path / "random.py")}, "src", ("",), searches=False)
    assert not missing(tmp_path, files)
    found = Reaching(source, ("",), (3, 12), searches=False).from_script("random.py", None).missing
    assert [one.name for one in found] == ["secrets"]


@pytest.mark.parametrize("case", FINE)
def test_module_that_may_be_imported_is_not_reported(case, tmp_path):
    assert not missing(tmp_path, FINE[case])
    assert runs(tmp_path)


def test_every_module_of_the_table_is_looked_for():
    assert set(_HIDING) == TAKEN.keys()
