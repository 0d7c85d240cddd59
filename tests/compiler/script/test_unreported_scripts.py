"""Uncertain cases are not reported: each script may accept its arguments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.rules.script import script_findings
from smspec.script.program import Program
from smspec.script.script_environment import Argument, ScriptEnvironment
from smspec.source import SourceText
from support.script.read_programs import codes, program

MADE = "import argparse, os, sys\np = argparse.ArgumentParser()\n"
READ = "p.add_argument('--lr', type=float, required=True)\np.parse_args()\n"

SILENT = {
    "parse_known_args": MADE + "p.add_argument('--lr', type=int)\nos.others(p.parse_known_args())",
    "other words than the program's": MADE + "p.add_argument('--lr', required=True)\np.parse_args(['--lr', '1'])",
    "words from elsewhere": MADE + "p.add_argument('--lr', required=True)\np.parse_args(os.environ['HOME'].split())",
    "a condition": MADE + "if os.environ.get('X'):\n    " + READ.replace("\n", "\n    "),
    "a condition that leaves": "import os, sys\nif os.environ.get('X'):\n    sys.exit()\n" + MADE + READ,
    "a function that may return": "import os\n"
    + MADE
    + "def main():\n    if os.environ.get('X'):\n        return\n    p.parse_args()\nmain()",
    "a function that nobody calls": MADE + "def main():\n    p.parse_args()\n",
    "a method of others": MADE + "import deepspeed\np = deepspeed.add_config_arguments(p)\n" + READ,
    "an argument of others": MADE + "import lightning\nlightning.add(p)\n" + READ,
    "keywords that are hidden": MADE + "p.add_argument('--lr', **{'required': True})\np.parse_args()",
    "names in a loop": MADE + "for n in ('a', 'x'):\n    p.add_argument('--' + n)\np.parse_args()",
    "a parser of its own kind": "import argparse\nclass P(argparse.ArgumentParser):\n"
    "    def error(self, message):\n        print(message)\np = P()\n" + READ,
    "subcommands": MADE + "s = p.add_subparsers()\ns.add_parser('a')\np.parse_args()",
    "a parent from nowhere": "import argparse, other\np = argparse.ArgumentParser(parents=[other.p])\n" + READ,
    "options of a dictionary": "import argparse\np = argparse.ArgumentParser(**{})\n" + READ,
    "arguments from files": "import argparse\np = argparse.ArgumentParser(fromfile_prefix_chars='@')\n" + READ,
    "an option by its beginning": MADE + "p.add_argument('--name1')\np.parse_args()",
    "a changed command line": MADE + "sys.argv.append('--lr=1')\n" + READ,
    "a new command line": MADE + "sys.argv = ['train.py', '--lr', '1']\n" + READ,
    "a caught end": MADE
    + "p.add_argument('--lr', required=True)\ntry:\n    p.parse_args()\nexcept SystemExit:\n    pass",
    "a suppressed end": MADE + "import contextlib\nwith contextlib.suppress(SystemExit):\n    p.parse_args()",
    "a type of its own": MADE + "p.add_argument('--name', type=lambda t: t)\np.parse_args()",
    "an action of its own": MADE
    + "class A(argparse.Action):\n    pass\np.add_argument('--name', action=A)\np.parse_args()",
    "choices from elsewhere": MADE + "p.add_argument('--name', choices=os.listdir('.'))\np.parse_args()",
    "a parser of two kinds": MADE + "if os.environ.get('X'):\n    p = None\n" + READ,
    "a parser that is set twice": MADE + "class O:\n    def __init__(self):\n        self.p = p\n"
    "        self.p = os.make()\n        self.p.parse_args()\nO()",
    "a parser that may be another": MADE + "class O:\n    def __init__(self):\n        self.p = p\n"
    "        if os.environ.get('X'):\n            self.p = None\n        self.p.parse_args()\nO()",
    "an object that others have": MADE + "class O:\n    def __init__(self):\n        self.p = p\no = O()\n"
    "os.fill(o)\no.p.parse_args()",
    "a method of a base of others": MADE + "class O(os.Options):\n    def __init__(self):\n        self.p = p\n"
    "        self.add_more()\n        self.p.parse_args()\nO()",
    "an argument that is changed": MADE + "a = p.add_argument('--lr', required=True)\na.required = False\n"
    "p.add_argument('--name')\np.parse_args()",
    "arguments that are changed": MADE + "p.add_argument('--name', type=int)\nfor a in p._actions:\n"
    "    a.type = str\np.parse_args()",
    "choices that are appended to": MADE
    + "c = ['b']\nc.append('a')\np.add_argument('--name', choices=c)\np.parse_args()",
    "choices that a function may replace": MADE + "c = ['a']\ndef f():\n    global c\n    if os.path.exists('x'):\n"
    "        c = ['b']\nf()\np.add_argument('--name', choices=c)\np.parse_args()",
    "choices that are appended to behind": MADE
    + "c = ['b']\np.add_argument('--name', choices=c)\nc.append('a')\np.parse_args()",
    "choices of a parent that are appended to": MADE + "c = ['b']\nq = argparse.ArgumentParser(add_help=False)\n"
    "q.add_argument('--name', choices=c)\np = argparse.ArgumentParser(parents=[q])\nc.append('a')\np.parse_args()",
    "choices that a function adds to": MADE + "def add(c):\n    c.append('a')\nc = ['b']\nadd(c)\n"
    "p.add_argument('--name', choices=c)\np.parse_args()",
    "choices that others fill": MADE + "c = ['b']\nos.fill(c)\np.add_argument('--name', choices=c)\np.parse_args()",
    "choices under two names": MADE
    + "c = ['b']\nd = c\nc += ['a']\np.add_argument('--name', choices=d)\np.parse_args()",
    "a choice that is replaced": MADE + "c = ['b']\nc[0] = 'a'\np.add_argument('--name', choices=c)\np.parse_args()",
    "a name of an outer function": MADE + "def main():\n    kind = int\n    def choose():\n        nonlocal kind\n"
    "        kind = str\n    choose()\n    p.add_argument('--name', type=kind)\n    p.parse_args()\nmain()",
    "a constant that may be imported over": MADE + "c = ('b',)\nfrom elsewhere import *\n"
    "p.add_argument('--name', choices=c)\np.parse_args()",
    "a default that is made": "import typer\ndef main(x: str = typer.Argument(default_factory=str), name: str = ''):\n"
    "    pass\ntyper.run(main)",
    "a newer Python": MADE + READ + "type X[T] = list[T]\nx = f'{'a' 'b'}' if t'{1}' else 0\n",
    "no Python at all": "argparse: this is no program (",
    "options by computed names of a second parser": MADE + "import json\nknown, rest = p.parse_known_args()\n"
    "q = argparse.ArgumentParser()\nfor n in json.load(open('x')):\n    q.add_argument(f'--{n}')\nq.parse_args(rest)\n",
    "a hidden click group": "import click\n@click.group()\ndef main():\n    pass\nmain()",
    "click with settings": "import click\n"
    "@click.command(context_settings={'ignore_unknown_options': True})\ndef main():\n    pass\nmain()",
    "a decorator of others": "import click, other\n@click.command()\n@other.options\ndef main():\n    pass\nmain()",
    "click words": "import click\n@click.command()\ndef main():\n    pass\nmain(['a'])",
    "a required option of the environment": "import click\n@click.command()\n@click.option('--name')\n"
    "@click.option('--y', required=True, envvar='Y')\ndef main(x, y):\n    pass\nmain()",
    "two commands of typer": "import typer\napp = typer.Typer()\n@app.command()\ndef a():\n    pass\n"
    "@app.command()\ndef b():\n    pass\napp()",
    "flags of a module of others": "from absl import app\nimport models\napp.run(print)",
    "dataclasses of a library": "from transformers import HfArgumentParser, TrainingArguments\n"
    "p = HfArgumentParser(TrainingArguments)\np.parse_args_into_dataclasses()",
    "metadata with other names": "from dataclasses import dataclass, field\n"
    "from transformers import HfArgumentParser\n@dataclass\n"
    "class A:\n    y: int = field(default=1, metadata={'aliases': ['--name']})\n"
    "HfArgumentParser(A).parse_args_into_dataclasses()",
    "a function under a decorator of others": MADE + "@p.wrap\ndef main():\n    p.parse_args()\nmain()",
    "help": MADE + "p.add_argument('--lr', required=True, default=1)\np.print_help()",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_arguments_are_not_reported(text):
    assert codes(text, hyperparameters={"name": "a"}) == []


@pytest.mark.parametrize("name", SILENT)
def test_unchecked_reading_has_a_note(name):
    read = program(SILENT[name])
    if read is not None and not read.command_lines:
        assert read.stop is not None, SILENT[name]


CHANNELS = {
    "get": "import os\nos.environ.get('SM_CHANNEL_TEST')\nos.getenv('SM_CHANNEL_EVAL')",
    "a condition": "import os\nif 'SM_CHANNEL_TEST' in os.environ:\n    os.environ['SM_CHANNEL_TEST']",
    "an expression": "import os\nx = os.environ['SM_CHANNEL_TEST'] if os.environ.get('X') else None",
    "a shortcut": "import os\nx = os.environ.get('X') and os.environ['SM_CHANNEL_TEST']",
    "a caught error": "import os\ntry:\n    os.environ['SM_CHANNEL_TEST']\nexcept KeyError:\n    pass",
    "a variable that it sets": "import os\nos.environ['SM_CHANNEL_TEST'] = '/x'\nos.environ['SM_CHANNEL_TEST']",
    "variables that it sets": "import os\nos.environ.update(x)\nos.environ['SM_CHANNEL_TEST']",
    "a default": "import os\nos.environ.setdefault('SM_CHANNEL_TEST', '/x')\nos.environ['SM_CHANNEL_TEST']",
    "a name that is made": "import os\nfor n in x:\n    os.environ[f'SM_CHANNEL_{n}']",
    "a channel of the job": "import os\nos.environ['SM_CHANNEL_TRAIN']\nopen('/opt/ml/input/data/train/a.csv')",
    "a function that nobody calls": "import os\ndef test():\n    return os.environ['SM_CHANNEL_TEST']",
    "a variable of the spec": "import os\nos.environ['SM_CHANNEL_SET']",
    "a path as a default": "import argparse\np = argparse.ArgumentParser()\n"
    "p.add_argument('--d', default='/opt/ml/input/data/test')\n"
    "p.parse_args()",
    "a path in a text": "'''Reads /opt/ml/input/data/test/.'''\nprint('/opt/ml/input/data/test')",
    "a path that is asked for": "import os\nif os.path.exists('/opt/ml/input/data/test'):\n"
    "    open('/opt/ml/input/data/test/x')",
    "the FIFO of a channel": "open('/opt/ml/input/data/train_0', 'rb')",
    "the manifest of a channel": "open('/opt/ml/input/data/train-manifest')",
    "a path that is written": "open('/opt/ml/input/data/test/x', 'w')",
    "keys that are asked for": "import smspec_runtime\nj = smspec_runtime.job()\nj.hyperparameters.get('x')\n"
    "if 'y' in j.hyperparameters:\n    j.hyperparameters['y']\nj.channel('train')",
    "keys that it sets": "import smspec_runtime\nj = smspec_runtime.job()\nj.hyperparameters['x'] = 1\n"
    "j.hyperparameters['x']",
}


@pytest.mark.parametrize("text", CHANNELS.values(), ids=CHANNELS)
def test_channels_are_not_reported(text):
    assert (
        codes(text, environment={"SM_CHANNEL_SET": "/data"}, entry_point={"script": "train.py", "args_style": "none"})
        == []
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"entry_point": {"script": "train.py", "args_style": "none"}},
        {"entry_point": {"command": ["./start"]}},
    ],
)
def test_additional_arguments_disable_the_check(changes):
    assert codes(MADE + "p.parse_args()", hyperparameters={"x": 1}, **changes) == []


HOSTILE = {
    "brackets": "import argparse\n" + "(" * 100_000,
    "operators": "import argparse\nx = " + "-" * 50_000 + "1",
    "sums": "import argparse\nx = " + "+".join(["1"] * 50_000),
    "attributes": "import argparse\nx" + ".a" * 100_000,
    "calls": "import argparse\nx" + "()" * 100_000,
    "nots": "import argparse\nx = " + "not " * 50_000 + "1",
    "functions": "import argparse\nx = " + "lambda: " * 50_000 + "1",
    "branches": "import argparse\nif 1:\n x\n" + "elif 1:\n x\n" * 20_000,
    "levels": "import argparse\n" + "".join(" " * n + "if x:\n" for n in range(99)) + " " * 99 + "y",
    "lines": "import argparse\n" + "a\n" * 400_000,
    "items": "import argparse\nx = [" + "1," * 400_000 + "]",
    "a number": "import argparse\nx = " + "9" * 900_000,
    "a text": "import argparse\nx = '" + "a" * 900_000 + "'",
    "an open text": "import argparse\nx = '''" + '\\"' * 400_000,
    "open quotes": "import argparse\n" + "'\\" * 200_000,
    "NUL": "import argparse\n\0",
    "a function that calls itself": "import argparse\ndef f():\n    f()\n    f()\nf()",
    "functions that call each other": "import argparse\n"
    + "".join(f"def f{n}():\n" + f"    f{n + 1}()\n" * 9 for n in range(30))
    + "def f30():\n    pass\nf0()",
    "carriage returns": "import argparse\r" * 10_000,
    "a large range": MADE + "p.add_argument('--name', choices=range(10**12))\np.parse_args()",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_script_is_not_reported(text):
    program(text)
    assert codes(text, hyperparameters={"name": 1}) == []


WORDS = st.sampled_from(("--config", "--lr", "-x", "a.yaml", "1", "", "train", "{}"))
NAMES = st.lists(st.sampled_from(("lr", "config", "train", "sagemaker_x")), unique=True).map(tuple)
PATHS = st.sampled_from((("hyperparameters", "lr"), ("entry_point", "args", 0)))
ARGUMENTS = st.builds(
    Argument,
    words=st.lists(WORDS, min_size=1, max_size=2).map(tuple),
    path=PATHS,
    hyperparameter=st.none() | st.just("lr"),
    value=st.none() | st.integers() | st.dictionaries(WORDS, WORDS, max_size=1),
)
ENVIRONMENTS = st.builds(
    ScriptEnvironment,
    arguments=st.none() | st.lists(ARGUMENTS, max_size=4).map(tuple),
    hyperparameters=NAMES,
    channels=NAMES,
    variables=NAMES.map(frozenset),
    forms_groups=st.booleans(),
    isolation_path=st.none() | st.just(("network", "isolation")),
    piped=NAMES,
    is_bare=st.booleans(),
    hyperparameters_path=PATHS,
    channels_path=PATHS,
    program_path=PATHS,
)


@given(ENVIRONMENTS)
def test_script_that_shows_nothing_has_no_findings(environment):
    """So what its job passes to it need not be planned."""
    silent = Program(texts=(SourceText("train.py", "print()"),))
    assert silent.shows_nothing
    assert script_findings(silent, environment) == []
