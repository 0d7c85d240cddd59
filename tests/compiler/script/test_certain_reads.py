"""Files that the source lacks: those that every run reads are reported, in functions, methods, and other modules."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.script.certain_calls import CERTAIN, DOUBTFUL
from support.script.read_programs import directory_findings

READ = "open('absent.txt').read()"
IN_MODULES = {
    "json": {"train.py": "import conf\n", "conf.py": f"import json\nALL = json.loads({READ})\n"},
    "a file next to a module": {
        "train.py": "from app.conf import TEXT\n",
        "app/__init__.py": "",
        "app/conf.py": "from pathlib import Path\nTEXT = (Path(__file__).parent / 'absent.txt').read_text()\n",
    },
    "an INI file": {
        "train.py": "import conf\n",
        "conf.py": "import configparser\nc = configparser.ConfigParser()\n"
        "c.read('absent.ini')\nN = c.getint('a', 'n')\n",
    },
    "a section that an INI file lacks": {
        "train.py": "import configparser\nc = configparser.ConfigParser()\nc.read('absent.ini')\nprint(c['a']['n'])\n"
        "print(c.getint('b', 'n'))\n",
        "absent.ini": "[a]\nn = 1\n[c]\n",
    },
    "a section that an INI file of a module lacks": {
        "train.py": "import conf\n",
        "conf.py": "import configparser\nimport os\nc = configparser.ConfigParser()\n"
        "c.read(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'absent.ini'))\nN = c['b']\n",
        "absent.ini": "[a]\nn = 1\n",
    },
    "a module of a module": {"train.py": "import a\n", "a.py": "import b\n", "b.py": f"TEXT = {READ}\n"},
    "a constructor": {
        "train.py": "import conf\nconf.Config()\n",
        "conf.py": "class Config:\n    def __init__(self, path='absent.txt'):\n        self.text = open(path).read()\n",
    },
    "a function that gets the name": {
        "train.py": "from tools import load\nload('absent.txt')\n",
        "tools.py": "def load(path):\n    with open(path) as f:\n        return f.read()\n",
    },
}
QUIET = {
    "a function that nothing calls": {"train.py": "import conf\n", "conf.py": f"def load():\n    return {READ}\n"},
    "a handler": {"train.py": "import conf\n", "conf.py": f"try:\n    {READ}\nexcept OSError:\n    pass\n"},
    "a handler around the import": {
        "train.py": "try:\n    import conf\nexcept Exception:\n    conf = None\n",
        "conf.py": f"TEXT = {READ}\n",
    },
    "an import of some runs": {"train.py": "def use():\n    import conf\n", "conf.py": f"TEXT = {READ}\n"},
    "a question": {
        "train.py": "import conf\n",
        "conf.py": f"import os\nif os.path.exists('absent.txt'):\n    {READ}\n",
    },
    "a file that the script writes": {
        "train.py": "with open('absent.txt', 'w') as f:\n    f.write('a')\nimport conf\n",
        "conf.py": f"TEXT = {READ}\n",
    },
    "a file that a module writes": {
        "train.py": "import make\nimport conf\n",
        "make.py": "with open('absent' + '.txt', 'w') as f:\n    f.write('a')\n",
        "conf.py": f"TEXT = {READ}\n",
    },
    "a default of an INI file": {
        "train.py": "import conf\n",
        "conf.py": "import configparser\nc = configparser.ConfigParser()\n"
        "c.read('absent.ini')\nc.get('a', 'b', fallback=1)\n",
    },
    "another directory": {
        "train.py": "import os\nos.chdir('more')\nimport conf\n",
        "conf.py": f"TEXT = {READ}\n",
        "more/absent.txt": "a",
    },
    "another open": {
        "train.py": f"import builtins\nimport io\nbuiltins.open = lambda *a: io.StringIO()\nTEXT = {READ}\n"
    },
    "a class with another maker": {
        "train.py": f"class T:\n    def __new__(cls):\n        return []\n"
        f"    def copy(self):\n        {READ}\nT().copy()\n"
    },
    "another look-up": {
        "train.py": f"class T:\n    def __getattribute__(self, name):\n"
        f"        return print\n    def a(self):\n        {READ}\nT().a()\n"
    },
    "another class of an instance": {
        "train.py": f"class A:\n    def a(self):\n        pass\nclass T:\n"
        f"    def a(self):\n        {READ}\nt = T()\nt.__class__ = A\nt.a()\n"
    },
}

INI = "import configparser\nc = configparser.ConfigParser()\nc.read('absent.ini')\n"
SECTIONS = {
    name: {"train.py": f"{INI}{text}\n", "absent.ini": "[a]\nn = 1\n", "more.ini": "[b]\nn = 1\n"}
    for name, text in {
        "a section that is there": "c['a']['n']",
        "the defaults": "c['DEFAULT']",
        "a question for a section": "'b' in c and c['b']",
        "a fallback": "c.get('b', 'n', fallback=1)",
        "a second file": "c.read('more.ini')\nc['b']",
        "a section that the script adds": "c.add_section('b')\nc['b']",
        "a handler for a section": "try:\n    c['b']\nexcept KeyError:\n    pass",
    }.items()
}
WRITES = "with open(NAME, 'w') as f:\n            f.write('a')\n        return iter('a')\n"
NAMED = f"NAME = 'absent.txt'\nclass T:\n    def {{}}(self, *a):\n        {WRITES}"
USED = "\nprint(open(NAME).read())\n"
WRITTEN = {
    "an item": {"train.py": NAMED.format("__getitem__") + "T()[1]" + USED},
    "a loop": {"train.py": NAMED.format("__iter__") + "for a in T(): pass" + USED},
    "an operator": {"train.py": NAMED.format("__add__") + "T() + 1" + USED},
    "a key to sort by": {
        "train.py": f"NAME = 'absent.txt'\ndef key(a):\n        {WRITES}sorted([1], key=key)".replace("iter('a')", "1")
        + USED
    },
    "a logger": {
        "train.py": "import logging\nNAME = 'absent.txt'\nsorted([1], key=lambda a: logging.FileHandler(NAME).level)"
        + USED
    },
}


def missing(directory, files):
    """Return the messages about files that are missing; ``files``: the texts of the source, by their paths."""
    for path, text in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text)
    return [found.message for found in directory_findings(directory) if found.code == "SM556"]


def runs(directory):
    return (
        subprocess.run([sys.executable, "-S", "train.py"], cwd=directory, capture_output=True, text=True).returncode
        == 0
    )


def reading(files):
    """Return a source that reads a file in place of an import."""
    return {path: text.replace("import absent", READ).replace("ImportError", "OSError") for path, text in files.items()}


@pytest.mark.parametrize("files", [*map(reading, CERTAIN.values()), *IN_MODULES.values()], ids=[*CERTAIN, *IN_MODULES])
def test_missing_file_that_every_run_reads(files, tmp_path):
    [message] = missing(tmp_path, files)
    assert "absent." in message
    assert not runs(tmp_path)


NOT_LACKED = {**{name: reading(files) for name, files in DOUBTFUL.items()}, **QUIET, **SECTIONS, **WRITTEN}


@pytest.mark.parametrize("files", NOT_LACKED.values(), ids=NOT_LACKED)
def test_missing_file_that_not_every_run_reads(files, tmp_path):
    assert missing(tmp_path, files) == []
    assert runs(tmp_path)
