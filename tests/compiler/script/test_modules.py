"""Modules of a source: a parser that a module may change is not checked.

Each program is a small directory, read as the compiler reads it, and run as its job would run it.
"""

import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from support.examples import at_most
from support.script.programs_of_harmless_modules import FOUND
from support.script.programs_of_modules import CLI, RIGHT
from support.script.read_programs import codes, directory_findings, script_environment

READY = {"SM_CHANNEL_TRAIN": "/opt/ml/input/data/train", "SM_MODEL_DIR": "/opt/ml/model", "SM_HOSTS": '["algo-1"]'}
JOB = {"channels": {"train": {"s3": "s3://example-data/ctr/train/"}}}
GIVEN = {"epochs": 3}


def written(directory, files):
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return directory


def real(directory, hyperparameters):
    """Run the script of a directory like its job; return its error output if it fails."""
    words = script_environment(hyperparameters=hyperparameters, **JOB).words
    environment = {**os.environ, **READY, "PYTHONPATH": str(directory), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(directory / "train.py"), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr or str(done.returncode)


def errors(directory, hyperparameters):
    found = directory_findings(directory, hyperparameters=hyperparameters, **JOB)
    return [one for one in found if one.severity == "error"]


@pytest.mark.parametrize("name", RIGHT)
def test_valid_script_has_no_error(name, tmp_path):
    directory = written(tmp_path, RIGHT[name])
    assert real(directory, GIVEN) is None
    found = directory_findings(directory, hyperparameters=GIVEN, **JOB)
    assert [one.message for one in found if one.code != "SM513"] == []


@pytest.mark.parametrize("name", FOUND)
def test_module_without_parser_access_hides_no_error(name, tmp_path):
    directory = written(tmp_path, FOUND[name])
    assert "unrecognized arguments: --epochs" in real(directory, GIVEN)
    assert [one.code for one in errors(directory, GIVEN)] == ["SM501"]
    assert errors(directory, {"mode": "a"}) == []


# How a module comes by the parser, which is then called `p`, in the module `cli` or the package `pkg`.
COMING = {
    "from": "from {cli} import parser as p",
    "module": "import {cli} as c\np = c.parser",
    "relative": "from .cli import parser as p",
    "function": "def get():\n    from {cli} import parser\n    return parser\np = get()",
    "star": "from {cli} import *\np = parser",
    "by name": "import importlib\np = importlib.import_module('{cli}').parser",
    "sys.modules": "import sys\np = sys.modules['{cli}'].parser",
    "try": "try:\n    from {cli} import parser as p\nexcept ImportError:\n    raise",
    "getattr": "import {cli} as c\np = getattr(c, 'parser')",
    "list": "import {cli} as c\np = [c][0].parser",
    "hook": "import {cli} as c\np = c.held[0]",
}
# What it does with the parser, or to the program.
DOING = {
    "add": "p.add_argument('--{o}', {w})",
    "group": "p.add_argument_group('g').add_argument('--{o}', {w})",
    "later": "def go():\n    p.add_argument('--{o}', {w})",
    "later, by import": "def go():\n    from {cli} import parser\n    parser.add_argument('--{o}', {w})",
    "object": "class Go:\n    def __call__(self):\n        p.add_argument('--{o}', {w})\ngo = Go()",
    "replace": "import {cli}\nimport argparse, sys\nsys.modules['{cli}'].parser = argparse.ArgumentParser()",
    "leave": "import os, sys\nif os.environ.get('SM_HOSTS'):\n    sys.exit()",
    "leave later": "import sys\ndef go():\n    sys.exit()",
    "arguments": "import sys\nsys.argv[1:] = []",
    "variable": "import os\nos.environ['SM_CHANNEL_EVAL'] = '/x'",
    "variable later": "import os\ndef go():\n    os.environ['SM_CHANNEL_EVAL'] = '/x'",
    "nothing": "x = p",
}
# How the script, or a module between, imports that module.
BRINGING = {
    "import": "import {m} as m",
    "from": "from {m} import *",
    "names": "import {m} as m\nm.__name__",
    "try": "try:\n    import {m} as m\nexcept ImportError:\n    m = None",
    "function": "def bring():\n    import {m}\nbring()",
    "map": "def bring(_):\n    import {m}\nlist(map(bring, [1]))",
    "condition": "import os\nif os.environ.get('SM_HOSTS'):\n    import {m} as m",
    "dynamic": "import importlib\nm = importlib.import_module('{m}')",
    "class": "class Bring:\n    import {m} as m",
}
CALLING = {
    "not": "",
    "call": "import {m}\ngetattr({m}, 'go', print)()",
    "hooks": "import {m} as m\nfor h in [getattr(m, 'go', print)]:\n    h()",
    "plain": "import {m} as m\nif hasattr(m, 'go'):\n    m.go()",
    "thread": "import threading, {m} as m\nt = threading.Thread(target=getattr(m, 'go', None))\nt.start()\nt.join()",
}
READING = {
    "parser": "parser.parse_args()",
    "module": "import {cli}\n{cli}.parser.parse_args()",
    "known": "args, rest = parser.parse_known_args()",
    "channel": "import os\nos.environ['SM_CHANNEL_EVAL']",
    "both": "parser.parse_args()\nimport os\nos.environ['SM_CHANNEL_EVAL']",
}


@st.composite
def directories(draw):
    """Draw a program of a few modules."""
    is_package = draw(st.booleans())
    at = "pkg/" if is_package else ""
    names = {"cli": "pkg.cli" if is_package else "cli", "m": "pkg.options" if is_package else "options"}
    words = draw(st.sampled_from(["type=int", "type=float", "default=1", "required=True", "action='store_true'"]))
    ways = [way for way in COMING if is_package or way != "relative"]
    drawn = {
        "coming": draw(st.sampled_from(ways)),
        "doing": draw(st.sampled_from(list(DOING))),
        "bringing": draw(st.sampled_from(list(BRINGING))),
        "calling": draw(st.sampled_from(list(CALLING))),
        "reading": draw(st.sampled_from(list(READING))),
    }
    for kind, way in drawn.items():
        event(f"{kind}: {way}")
    files = {f"{at}cli.py": CLI + "held = [parser]\n"}
    files[f"{at}options.py"] = "\n".join(
        [COMING[drawn["coming"]].format(**names), DOING[drawn["doing"]].format(**names, o="epochs", w=words)]
    )
    between = draw(st.integers(0, 2))
    brought = names["m"]
    for number in range(between):
        files[f"between{number}.py"] = draw(st.sampled_from(list(BRINGING.values()))).format(m=brought)
        brought = f"between{number}"
    if is_package:
        files["pkg/__init__.py"] = draw(st.sampled_from(["", "from . import options\n", "from .cli import parser\n"]))
    first = f"from {names['cli']} import parser"
    bringing = BRINGING[drawn["bringing"]].format(m=brought)
    lines = [first, bringing] if draw(st.booleans()) else [bringing, first]
    calling, reading = CALLING[drawn["calling"]].format(**names), READING[drawn["reading"]].format(**names)
    files["train.py"] = "\n".join([*lines, calling, reading]) + "\n"
    return files


hyperparameters = st.dictionaries(st.sampled_from(["epochs", "mode"]), st.sampled_from([3, 0.5, "a", True]), max_size=2)


@pytest.mark.slow
@settings(max_examples=at_most(400), suppress_health_check=list(HealthCheck))
@given(directories(), hyperparameters)
def test_random_valid_script_has_no_error(tmp_path_factory, files, given_hyperparameters):
    directory = written(tmp_path_factory.mktemp("program"), files)
    found = errors(directory, given_hyperparameters)
    if found:
        said = real(directory, given_hyperparameters)
        assert said is not None, f"{files}\n{given_hyperparameters}\n{[one.message for one in found]}"
    event("an error" if found else "no error")


HEAD = "import argparse\np = argparse.ArgumentParser()\n"
CHOICES = {
    "a list": ("p.add_argument('--m', choices=models.NAMES)", "NAMES = ['a', 'b']\n"),
    "a mapping": ("p.add_argument('--m', choices=models.MODELS)", "MODELS = {'a': print, 'b': len}\n"),
    "the keys": ("p.add_argument('--m', choices=models.MODELS.keys())", "MODELS = {'a': print, 'b': len}\n"),
    "a list of keys": ("p.add_argument('--m', choices=list(models.MODELS))", "MODELS = {'a': print, 'b': len}\n"),
    "sorted keys": ("p.add_argument('--m', choices=sorted(models.MODELS.keys()))", "MODELS = {'b': print, 'a': len}\n"),
    "a tuple of a set": ("p.add_argument('--m', choices=tuple(models.NAMES))", "NAMES = {'a', 'b'}\n"),
}
OTHER_CHOICES = {
    "an assigned key": "MODELS = {'a': print}\nMODELS['c'] = len\n",
    "an updated mapping": "MODELS = {'a': print}\nMODELS.update(c=len)\n",
    "a merged mapping": "MODELS = {'a': print}\nMODELS |= {'c': len}\n",
    "another name": "MODELS = {'a': print}\nmore = MODELS\nmore |= {'c': len}\n",
    "a spread mapping": "MORE = {'c': 1}\nMODELS = {'a': print, **MORE}\n",
    "a function": "MODELS = {'a': print}\ndef add():\n    MODELS['c'] = len\nadd()\n",
    "a decorator": "MODELS = {'a': 1}\ndef register(name):\n    def add(f):\n        MODELS[name] = f\n    return add\n"
    "@register('c')\ndef c():\n    pass\n",
    "a class": "MODELS = {'a': 1}\nclass Add:\n    def __init__(self, name):\n        MODELS[name] = self\nAdd('c')\n",
    "a loop": "MODELS = {'a': 1}\nfor name in 'bc':\n    MODELS[name] = 1\n",
    "a view of keys": "M = {'a': 1}\nMODELS = M.keys()\nM['c'] = 1\n",
    "a bound method": "MODELS = {'a': 1}\nadd = MODELS.update\nadd(c=1)\n",
    "a list in which it is": "MODELS = {'a': 1}\nfor one in [MODELS]:\n    one['c'] = 1\n",
    "a default": "MODELS = {'a': 1}\nMODELS.setdefault('c', 1)\n",
    "a computed mapping": "MODELS = {name: 1 for name in 'abc'}\n",
    "a second mapping": "MODELS = {'a': 1}\ntry:\n    MODELS = {'c': 1}\nexcept OSError:\n    pass\n",
    "an item of a function": "MODELS = {'a': 1}\ndef add(into):\n    into['c'] = 1\nadd(MODELS)\n",
    "names of globals": "def c():\n    pass\nMODELS = {'a': 1}\nMODELS = {n: 1 for n in sorted(globals())}\n",
}


@pytest.mark.parametrize("how", CHOICES)
def test_choices_of_a_module_are_known(how):
    declared, module = CHOICES[how]
    text = f"{HEAD}import models\n{declared}\np.parse_args()\n".replace("--m", "--model")
    assert codes(text, {"models": module}, hyperparameters={"model": "c"}) == [("SM503", "hyperparameters.model")]
    assert codes(text, {"models": module}, hyperparameters={"model": "b"}) == []


@pytest.mark.parametrize("by", OTHER_CHOICES)
def test_choices_that_are_added_are_unknown(by):
    text = "p.add_argument('--model', choices=list(MODELS))\np.parse_args()\n"
    given = {"hyperparameters": {"model": "c"}}
    assert codes(f"{HEAD}from models import MODELS\n{text}", {"models": OTHER_CHOICES[by]}, **given) == []
    assert codes(HEAD + OTHER_CHOICES[by] + text, **given) == []


@pytest.mark.parametrize(
    "more", ["from registry import MODELS\nMODELS['c'] = 1\n", "import registry\n@registry.add\ndef c():\n    pass\n"]
)
def test_choices_that_another_module_adds_are_unknown(more):
    registry = "MODELS = {'a': 1}\ndef add(f):\n    MODELS[f.__name__] = f\n    return f\n"
    modules = {"registry": registry, "more": more, "models": "import more\nfrom registry import MODELS\n"}
    text = f"{HEAD}import models\np.add_argument('--model', choices=models.MODELS)\np.parse_args()\n"
    assert codes(text, modules, hyperparameters={"model": "c"}) == []
    modules["more"] = "def c():\n    pass\n"
    assert codes(text, modules, hyperparameters={"model": "c"}) == [("SM503", "hyperparameters.model")]


def test_too_many_modules_of_choices_hide_no_arguments():
    modules = {f"m{n}": f"import registry\nX{n} = 1\n" for n in range(80)}
    modules["registry"] = "MODELS = {'a': 1}\n"
    modules["models"] = "".join(f"import m{n}\n" for n in range(80)) + "from registry import MODELS\n"
    text = f"{HEAD}import models\np.add_argument('--model', choices=models.MODELS)\np.parse_args()\n"
    assert codes(text, modules, hyperparameters={"model": "c", "x2": 1}) == [("SM501", "hyperparameters.x2")]
