"""Errors in typical scripts, with their positions."""

import argparse

import pytest

from support.script.read_programs import codes, findings

CLASSIC = """\
import argparse
import json
import logging
import os
import sys

logger = logging.getLogger(__name__)
logger.addHandler(logging.StreamHandler(sys.stdout))


def train(args):
    if args.epochs < 1:
        raise ValueError("epochs")
    with open(os.path.join(args.model_dir, "model.json"), "w") as file:
        json.dump(vars(args), file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64, metavar="N", help="for training")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--backend", type=str, default=None)
    parser.add_argument("--hosts", type=list, default=json.loads(os.environ["SM_HOSTS"]))
    parser.add_argument("--model-dir", type=str, default=os.environ["SM_MODEL_DIR"])
    parser.add_argument("--data-dir", type=str, default=os.environ["SM_CHANNEL_TRAINING"])
    parser.add_argument("--num-gpus", type=int, default=os.environ["SM_NUM_GPUS"])
    train(parser.parse_args())
"""
FACTORY = """\
import argparse as ap


def build(description=None):
    parser = ap.ArgumentParser(description=description)
    common(parser)
    group = parser.add_argument_group("model")
    group.add_argument("-w", "--width", type=int, choices=(64, 128), required=True)
    return parser


def common(p):
    p.add_argument("--seed", type=int)


def main(argv=None):
    args = build("trains").parse_args(argv)
    return args.seed


if __name__ == "__main__":
    raise SystemExit(main())
"""
SPLIT = "from options import get_parser\nargs = get_parser().parse_args()\n"
OPTIONS = """\
import argparse
def get_parser():
    p = argparse.ArgumentParser()
    p.add_argument('--lr', type=float)
    return p
"""
HF = """\
from dataclasses import dataclass, field
from typing import Optional
from transformers import HfArgumentParser, TrainingArguments


@dataclass
class ModelArguments:
    model_name: str = field(metadata={"help": "the model"})
    revision: Optional[str] = None
    frozen: bool = False


def main():
    parser = HfArgumentParser((ModelArguments, TrainingArguments))
    model, training = parser.parse_args_into_dataclasses()


if __name__ == "__main__":
    main()
"""
TRAINING = {"training": "s3://example-data/x/"}


@pytest.mark.parametrize(
    ("text", "hyperparameters", "expected"),
    [
        (CLASSIC, {"batch-size": 32, "lr": "1e-3", "epoch": 3}, []),
        (CLASSIC, {"batch_size": 32}, [("SM501", "hyperparameters.batch_size")]),
        (CLASSIC, {"lr": "fast"}, [("SM503", "hyperparameters.lr")]),
        (CLASSIC, {"epochs": 2.5}, [("SM503", "hyperparameters.epochs")]),
        (FACTORY, {"width": 64, "seed": 1}, []),
        (FACTORY, {"w": 64}, []),
        (FACTORY, {"width": 32}, [("SM503", "hyperparameters.width")]),
        (FACTORY, {"seed": 1}, [("SM502", "hyperparameters")]),
        (FACTORY, {"width": 64, "sed": 1}, [("SM501", "hyperparameters.sed")]),
        (HF, {"model_name": "m", "learning_rate": 0.1, "frozen": True}, []),
        (HF, {"frozen": "perhaps", "model_name": "m"}, [("SM503", "hyperparameters.frozen")]),
        (HF, {"frozen": True}, [("SM502", "hyperparameters")]),
    ],
)
def test_argument_errors_are_reported(text, hyperparameters, expected):
    assert codes(text, hyperparameters=hyperparameters, channels=TRAINING) == expected


def test_parser_in_another_module_is_read():
    found = findings(SPLIT, {"options": OPTIONS}, hyperparameters={"rate": 1, "lr": "x"})
    assert [finding.code for finding in found] == ["SM501", "SM503"]
    assert [(note.span.file, note.span.line) for finding in found for note in finding.notes] == [
        ("src/train.py", 2),
        ("src/options.py", 4),
    ]
    assert codes(SPLIT, hyperparameters={"rate": 1}) == []


@pytest.mark.parametrize("read", ["torch.load", "pandas.read_csv", "numpy.load"])
def test_path_of_a_missing_channel_is_reported(read):
    text = f"import {read.partition('.')[0]}\n{read}('/opt/ml/input/data/valid/a')\n"
    assert ("SM507", "channels") in codes(text)


def test_missing_channel_suggests_the_nearest():
    assert codes(CLASSIC) == [("SM506", "channels")]
    near = findings("import os\nx = os.environ.get('SM_CHANNEL_TRIAN')")
    assert [(finding.code, finding.label) for finding in near] == [("SM507", "did you mean `train`?")]


def test_columns_count_code_points():
    text = "import os\nx = '\u00e4\u00f6\u00fc'; y = os.environ['SM_CHANNEL_B']\n"
    (found,) = findings(text)
    assert (found.notes[0].span.line, found.notes[0].span.column) == (2, 16)


def test_arguments_of_the_entry_point_are_checked():
    text = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr', type=float)\np.parse_args()"
    entry = {"script": "train.py", "args": ["--lr", "-0.5", "--config", "a.yaml"]}
    assert codes(text, entry_point=entry) == [("SM501", "entry_point.args.2")]
    command = {"command": ["python", "train.py", "--lrr", "1"], "args_style": "json"}
    assert codes(text, entry_point=command, hyperparameters={"lr": "x"}) == [
        ("SM501", "entry_point.command.2"),
        ("SM503", "hyperparameters.lr"),
    ]


OPTIONS_OF_A_CLASS = """\
import argparse
class Base:
    def parse(self):
        self.args = self.parser.parse_args()
        return self.args
class Options(Base):
    def __init__(self):
        self.parser = argparse.ArgumentParser()
        self.parser.add_argument('--lr', type=float)
        self.parser._action_groups[0].title = 'all'
if __name__ == '__main__':
    Options().parse()
"""


def test_parser_in_an_attribute_is_read():
    assert codes(OPTIONS_OF_A_CLASS, hyperparameters={"lr": "x"}) == [("SM503", "hyperparameters.lr")]


OPTIONS_OF_THREE_CLASSES = """\
import argparse
class Base:
    def add(self, parser):
        parser.add_argument('--epochs', type=int)
class Options(Base):
    def add(self, parser):
        super().add(parser)
        parser.add_argument('--lr', type=float)
class More(Options):
    pass
parser = argparse.ArgumentParser()
More().add(parser)
parser.parse_args()
"""


def test_arguments_of_class_above_are_known():
    written = {"epochs": "x", "lr": 0.1}
    assert codes(OPTIONS_OF_THREE_CLASSES, hyperparameters=written) == [("SM503", "hyperparameters.epochs")]


def test_star_import_is_followed():
    text = "from options import *\nif __name__ == '__main__':\n    get_parser().parse_args()\n"
    assert codes(text, {"options": OPTIONS}, hyperparameters={"rate": 1}) == [("SM501", "hyperparameters.rate")]


def test_choices_in_a_loop_are_read():
    text = (
        "import argparse\nc = ['a']\np = argparse.ArgumentParser()\nfor one in c:\n    print(one)\n"
        "p.add_argument('--name', choices=c + ['b'], help=', '.join(c))\np.parse_args()"
    )
    (found,) = findings(text, hyperparameters={"name": "c"})
    assert "is not one of `a`, `b`" in found.message


@pytest.mark.parametrize(
    ("line", "is_read"),
    [
        ("sys.stdout = open(os.devnull, 'w')", True),
        ("if os.environ.get('RANK'):\n    sys.stderr = sys.stdout = Log()", True),
        ("sys.excepthook = lambda *a: print(a)", True),
        ("sys.argv = Log()", False),
    ],
)
def test_replaced_stream_hides_no_argument(line, is_read):
    text = f"import argparse, os, sys\nfrom log import Log\n{line}\np = argparse.ArgumentParser()\np.parse_args()\n"
    assert codes(text, hyperparameters={"lr": 1}) == ([("SM501", "hyperparameters.lr")] if is_read else [])


@pytest.mark.parametrize("end", ["raise", "print(1)\n    sys.exit(255)", "raise ValueError('data') from None"])
def test_caught_failure_that_fails_again_is_reported(end):
    text = f"import os, sys\ntry:\n    x = os.environ['SM_CHANNEL_B']\nexcept KeyError:\n    {end}\n"
    assert codes(text) == [("SM506", "channels")]


@pytest.mark.parametrize("end", ["sys.exit(0)", "if x:\n        sys.exit()\n    raise", "os._exit(x)", "print(1)"])
def test_caught_failure_is_not_reported(end):
    text = f"import os, sys\ntry:\n    x = os.environ['SM_CHANNEL_B']\nexcept KeyError:\n    {end}\n"
    assert codes(text) == []


def test_hyperparameter_variable_is_checked():
    text = "import os\nx = os.environ['SM_HP_LR']\ny = os.environ.get('SM_HP_Z')\n"
    assert codes(text, hyperparameters={"lr": 1}) == []
    (found,) = findings(text, hyperparameters={"lrr": 1})
    assert (found.code, found.label, found.notes[0].span.line) == ("SM508", "did you mean `lrr`?", 2)
    assert codes("import os\nos.environ['SM_HP_LR'] = '1'\n" + text, hyperparameters={"a": 1}) == []
    assert codes(text, environment={"SM_HP_LR": "1"}) == []


def test_one_letter_name_gets_one_dash():
    text = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', required=True)\np.parse_args()"
    (found,) = findings(text, hyperparameters={"n": 1})  # and not also that `--n` is missing
    assert (found.code, found.label) == ("SM501", "becomes `-n`")
    assert "declare `-n` in the script" in found.help


def test_nearly_right_choice_suggests_the_right_one():
    text = "import argparse\np = argparse.ArgumentParser()\n"
    text += "p.add_argument('--name', choices=['adam', 'sgd'])\np.parse_args()"
    (found,) = findings(text, hyperparameters={"name": "adma"})
    assert (found.code, found.label) == ("SM503", "did you mean `adam`?")
    (found,) = findings(text, hyperparameters={"name": "lamb"})
    assert found.label == ""


def test_function_with_an_inner_generator_is_followed():
    text = "import os\ndef read():\n    def rows():\n        yield 1\n    return os.environ['SM_CHANNEL_B']\nread()\n"
    assert codes(text) == [("SM506", "channels")]


def test_variable_of_a_method_does_not_shadow_the_parser():
    text = (
        "import argparse, os\np = argparse.ArgumentParser()\np.add_argument('--lr', type=float)\n"
        "class Model(os.Module):\n    def forward(self, x):\n        p = x.shape\n        return p\n"
        "Model()\np.parse_args()\n"
    )
    assert codes(text, hyperparameters={"lr": "x"}) == [("SM503", "hyperparameters.lr")]


@pytest.mark.parametrize("status", ["1", "-1", "'no data'", "True"])
def test_failing_exit_does_not_make_a_read_optional(status):
    text = f"import os, sys\ndef check(x):\n    if not x:\n        sys.exit({status})\nos.each(check)\n"
    assert codes(text + "os.environ['SM_CHANNEL_B']\n") == [("SM506", "channels")]
    assert codes(text.replace(status, "256") + "os.environ['SM_CHANNEL_B']\n") == []


POSITIONS = {
    "wrong choice": (["trian", "3"], {"epochs": 3, "lr": 0.1}, ["`train.py` rejects `trian`"]),
    "wrong type": (["train", "three"], {"epochs": 3}, ["`train.py` rejects `three`"]),
    "one too few": (["train"], {"epochs": 3}, ["`train.py` requires `size`"]),
    "one too many": (["train", "3", "4"], {"epochs": 3}, ["`train.py` has no argument `4`"]),
    "wrong option": (["train", "3"], {"epochs": 3, "lrate": 0.1}, ["`train.py` has no argument `--lrate`"]),
    "after a flag": (["--fast", "train", "3"], {"epochs": "x"}, ["`train.py` rejects `--epochs`"]),
    "right ones": (["train", "3"], {"epochs": 3, "lr": 0.1}, []),
}


@pytest.mark.parametrize("name", POSITIONS)
def test_fault_of_a_position_blames_no_option(name):
    text = "import argparse\np = argparse.ArgumentParser()\np.add_argument('mode', choices=['train', 'test'])\n"
    text += "p.add_argument('size', type=int)\np.add_argument('--epochs', type=int)\np.add_argument('--lr')\n"
    text += "p.add_argument('--fast', action='store_true')\np.parse_args()\n"
    args, given, expected = POSITIONS[name]
    found = findings(text, entry_point={"script": "train.py", "args": args}, hyperparameters=given)
    assert [one.message.partition(":")[0].partition(",")[0] for one in found] == expected


def test_remainder_takes_what_looks_like_options():
    text = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--epochs', type=int)\n"
    text += "p.add_argument('rest', nargs=argparse.REMAINDER)\np.parse_args()\n"
    entry = {"script": "train.py", "args": ["run.py"]}
    assert findings(text, entry_point=entry, hyperparameters={"epochs": "many", "lr": 1}) == []


REPEATED = {
    "by a group": "g = p.add_argument_group('g')\ng.add_argument('--lr')\np.add_argument('-l', '--lr')\n",
    "by parents": "q = argparse.ArgumentParser(parents=[p], add_help=False)\nq.add_argument('-h')\n",
    "by the help of parents": "q = argparse.ArgumentParser(parents=[p])\n",
    "by the help": "p.add_argument('-h', '--hidden')\n",
    "by a function": "def add(one):\n    one.add_argument('--lr')\nadd(p)\nadd(p)\n",
    "by a negated option": "p.add_argument('--no-a')\np.add_argument('--a', action=argparse.BooleanOptionalAction)\n",
}


@pytest.mark.parametrize("how", REPEATED)
def test_option_that_is_declared_twice_is_reported(how):
    text = "import argparse\np = argparse.ArgumentParser()\n" + REPEATED[how] + "p.parse_args([])\n"
    (found,) = findings(text)
    assert (found.code, len(found.notes)) == ("SM555", 2)
    with pytest.raises(argparse.ArgumentError):
        exec(text, {})


COMMANDS = """\
import argparse
p = argparse.ArgumentParser()
p.add_argument('--seed', type=int)
s = p.add_subparsers(dest='command', required=True)
t = s.add_parser('train', aliases=['fit'], help='trains')
t.add_argument('--lr', type=float)
t.set_defaults(run=print)
a = p.parse_args()
a.run(a)
"""


@pytest.mark.parametrize(
    ("args", "hyperparameters", "expected"),
    [
        (["train"], {"lr": 0.1}, []),
        (["--seed", "1", "fit"], {"lr": 0.1}, []),
        ([], {"lr": 0.1}, [("SM502", "hyperparameters")]),
        (["trian"], {"lr": 0.1}, [("SM503", "entry_point.args.0")]),
        (["train"], {"rl": 0.1}, [("SM501", "hyperparameters.rl")]),
        (["train"], {"lr": "x"}, [("SM503", "hyperparameters.lr")]),
        (["--seed", "x", "train"], {}, [("SM503", "entry_point.args.0")]),
        (["train"], {"seed": 1}, [("SM501", "hyperparameters.seed")]),
    ],
)
def test_arguments_of_a_command_are_checked(args, hyperparameters, expected):
    entry = {"script": "train.py", **({"args": args} if args else {})}
    assert codes(COMMANDS, entry_point=entry, hyperparameters=hyperparameters) == expected
    assert codes(COMMANDS.replace(", required=True", ""), hyperparameters={"seed": 1}) == []


READ = "import json, os, pathlib\nF = '/opt/ml/input/config/hyperparameters.json'\n"
PARSED = {
    "from a file": "h = json.load(open(F))\nh['epoch']\n",
    "from a file in a block": "with open(F) as f:\n    h = json.load(f)\nint(h['epoch'])\n",
    "from a joined path": "f = open(os.path.join('/opt/ml/', F[8:]))\njson.load(f)['epoch']\n",
    "from a text": "json.loads(open(F, 'r').read())['epoch']\n",
    "from a path": "json.loads(pathlib.Path(F).read_text())['epoch']\n",
    "from an open path": "with pathlib.Path(F).open() as f:\n    h = json.load(f)\nh['epoch']\n",
    "from a variable": "h = json.loads(os.environ['SM_HPS'])\nh['epoch']\n",
    "from a variable with a default": "h = json.loads(os.environ.get('SM_HPS', '{}'))\nh['epoch']\n",
    "in a function": "def read():\n    with open(F) as f:\n        return json.load(f)\nread()['epoch']\n",
}
PARSED_OTHERWISE = {
    "a condition": "h = json.load(open(F))\nif 'epoch' in h:\n    h['epoch']\n",
    "a default": "h = json.load(open(F))\nh.get('epoch', 1)\n",
    "what the script adds": "h = json.load(open(F))\nh.setdefault('epoch', 1)\nh['epoch']\n",
    "what the script assigns": "h = json.load(open(F))\nh['epoch'] = 1\nh['epoch']\n",
    "what a function adds": "import more\nh = json.load(open(F))\nmore.fill(h)\nh['epoch']\n",
    "what exec assigns": "h = json.load(open(F))\nexec('h[\"epoch\"] = 1')\nh['epoch']\n",
    "a merged mapping": "h = {'epoch': 1, **json.load(open(F))}\nh['epoch']\n",
    "a hook": "h = json.load(open(F), object_hook=lambda d: {'epoch': 1})\nh['epoch']\n",
    "a caught error": "h = json.load(open(F))\ntry:\n    h['epoch']\nexcept KeyError:\n    pass\n",
    "a name of the SDK": "h = json.load(open(F))\nh['sagemaker_region']\n",
    "a file that is written": "h = json.load(open(F, 'w+'))\nh['epoch']\n",
    "a variable that is set": "os.environ['SM_HPS'] = '{}'\nh = json.loads(os.environ['SM_HPS'])\nh['epoch']\n",
    "another file": "h = json.load(open(F.replace('hyperparameters', 'resourceconfig')))\nh['epoch']\n",
}


@pytest.mark.parametrize("how", PARSED)
def test_missing_key_of_parsed_hyperparameters_is_reported(how):
    (found,) = findings(READ + PARSED[how], hyperparameters={"epochs": 3})
    assert (found.code, found.label) == ("SM508", "did you mean `epochs`?")
    assert codes(READ + PARSED[how], hyperparameters={"epoch": 3}) == []


@pytest.mark.parametrize("what", PARSED_OTHERWISE)
def test_other_hyperparameters_are_not_reported(what):
    assert codes(READ + PARSED_OTHERWISE[what], hyperparameters={"epochs": 3}) == []
