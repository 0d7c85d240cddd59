"""Unset variables and unread arguments are reported only where this is certain."""

import json

import pytest

from smspec.script.script_environment import SET
from smspec_runtime.environment import Machine, sagemaker_variables
from smspec_runtime.input_config import read_input_config
from smspec_runtime.layout import Layout
from support.script.read_programs import codes, findings

READ = "import os\nx = os.environ['{}']\n"
PARSER = "import argparse, os, sys\np = argparse.ArgumentParser()\np.add_argument('--epochs', type=int)\n"


def found(text, **changes):
    return [code for code, _ in codes(text, **changes)]


@pytest.mark.parametrize("name", sorted(SET))
def test_sagemaker_variables_are_known(name):
    assert found(READ.format(name)) == []


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("SM_MODEL_DIRECTORY", "SM_MODEL_DIR"),
        ("SM_NUM_GPU", "SM_NUM_GPUS"),
        ("SM_OUTPUT_DATADIR", "SM_OUTPUT_DATA_DIR"),
        ("SM_HOST", "SM_HOSTS"),
        ("S_MODEL_DIR", "SM_MODEL_DIR"),
        ("SMNUM_GPUS", "SM_NUM_GPUS"),
        ("SM_HYPERPARAMETERS", None),
        ("SM_MASTER_ADDR", None),
        ("SM_CURRENT_HOST_RANK", None),
        ("SM_ROLE_ARN", None),
    ],
)
def test_unset_variable_is_reported(name, near):
    (finding,) = findings(READ.format(name))
    assert (finding.code, finding.severity) == (("SM514", "error") if near else ("SM515", "warning"))
    assert finding.label == (f"did you mean `{near}`?" if near else "")
    assert findings(READ.format(name), environment={name: "x"}) == []


VARIABLES = {
    "get": "import os\nos.environ.get('SM_MODEL_DIRECTORY')\n",
    "a default": "import os\nos.getenv('SM_MODEL_DIRECTORY', '/x')\n",
    "a condition": "import os\nif 'SM_MODEL_DIRECTORY' in os.environ:\n    os.environ['SM_MODEL_DIRECTORY']\n",
    "a caught error": "import os\ntry:\n    os.environ['SM_MODEL_DIRECTORY']\nexcept KeyError:\n    pass\n",
    "an image of AWS": READ.format("SM_INPUT_TRAINING_CONFIG_FILE"),
    "another prefix": READ.format("SAGEMAKER_MODEL_DIRECTORY"),
    "set before": "import os\nos.environ['SM_MODEL_DIRECTORY'] = '/x'\nos.environ['SM_MODEL_DIRECTORY']\n",
    "updated before": "import os\nos.environ.update(SM_X='/x')\nos.environ['SM_MODEL_DIRECTORY']\n",
}


@pytest.mark.parametrize("text", VARIABLES.values(), ids=VARIABLES)
def test_optional_variable_is_not_reported(text):
    assert found(text) == []


@pytest.mark.parametrize("name", ["SM_MODEL_DIRECTORY", "SM_CHANNEL_EVAL", "SM_HP_RATE"])
@pytest.mark.parametrize(
    "after", ["os.environ.update(x)", "os.environ['{}'] = '/x'", "import dotenv\ndotenv.load_dotenv()", "exec(x)"]
)
def test_variable_is_unset_before_its_assignment(name, after):
    assert len(found(READ.format(name) + after.format(name) + "\n")) == 1
    assert found(f"import os\n{after.format(name)}\nx = os.environ['{name}']\n") == []


def test_variables_equal_those_of_the_runtime(tmp_path):
    (tmp_path / "input" / "config").mkdir(parents=True)
    cluster = {"current_host": "algo-1", "hosts": ["algo-1"], "topology": ["x"]}
    (tmp_path / "input" / "config" / "resourceconfig.json").write_text(json.dumps(cluster))
    for name in ("hyperparameters.json", "inputdataconfig.json"):
        (tmp_path / "input" / "config" / name).write_text("{}")
    layout = Layout(str(tmp_path))
    made = sagemaker_variables(read_input_config(layout), layout, Machine(1), "train.py", [], [], {})
    assert {name for name in made if name.startswith("SM_")} == SET


DROPPING = [
    "args, _ = p.parse_known_args()\n",
    "args, unknown = p.parse_known_args()\nprint(unknown)\n",
    "args = p.parse_known_args()[0]\n",
    "def parse():\n    return p.parse_known_args()\nargs, _ = parse()\n",
]


@pytest.mark.parametrize("end", DROPPING)
def test_dropped_argument_is_reported(end):
    (finding,) = findings(PARSER.replace(", sys", "") + end, hyperparameters={"epohcs": 3})
    assert (finding.code, finding.severity, finding.path) == ("SM516", "warning", ("hyperparameters", "epohcs"))
    assert finding.label == "did you mean `epochs`?"
    assert found(PARSER.replace(", sys", "") + end, hyperparameters={"epochs": 3}) == []


@pytest.mark.parametrize(
    ("written", "name", "meant"),
    [
        ("--train-batch-size", "train_batch_size", "train-batch-size"),
        ("--train_batch_size", "train-batch-size", "train_batch_size"),
        ("--epochs", "Epochs", "epochs"),
        ("--lr", "--lr", "lr"),
        ("-e", "-e", "e"),
    ],
)
def test_spelling_that_the_script_does_not_fold_is_reported(written, name, meant):
    """The option itself is no use of the hyperparameter: argparse compares whole names."""
    script = (
        f"import argparse\np = argparse.ArgumentParser()\np.add_argument({written!r})\nargs, _ = p.parse_known_args()\n"
    )
    (finding,) = findings(script, hyperparameters={name: 4})
    assert (finding.code, finding.label) == ("SM516", f"did you mean `{meant}`?")
    assert found(script, hyperparameters={meant: 4, "mp_parameters": {"ddp": True}}) == []


@pytest.mark.parametrize("name", ["train-batch", "t"])
@pytest.mark.parametrize("abbreviates", [True, False])
def test_beginning_of_an_option_is_used_if_the_parser_allows_it(abbreviates, name):
    script = (
        f"import argparse\np = argparse.ArgumentParser(allow_abbrev={abbreviates})\n"
        "p.add_argument('--train-batch-size')\nargs, _ = p.parse_known_args()\n"
    )
    assert found(script, hyperparameters={name: 4}) == ([] if abbreviates and len(name) > 1 else ["SM516"])


CLASSES = (
    "from dataclasses import dataclass\nfrom transformers import HfArgumentParser\n"
    "@dataclass\nclass A:\n    lr: float = 1.0\n@dataclass\nclass B:\n    epochs: int = 3\n"
    "p = HfArgumentParser((A, B))\n"
)


@pytest.mark.parametrize(
    ("end", "reported"),
    [
        ("a, b, rest = p.parse_args_into_dataclasses(return_remaining_strings=True)\n", True),
        ("a, b, rest = p.parse_args_into_dataclasses(return_remaining_strings=True)\nother(rest)\n", False),
        ("p.add_argument('--x')\nfound = p.parse_args_into_dataclasses(return_remaining_strings=True)\n", False),
        ("found = p.parse_args_into_dataclasses(return_remaining_strings=True)\nother(found)\n", False),
    ],
)
def test_remaining_strings_of_dataclasses_are_dropped(end, reported):
    codes = found(CLASSES + end, hyperparameters={"epohcs": 4, "lr": 2})
    assert ("SM516" in codes) is reported, codes


KEPT = {
    "used": "args, rest = p.parse_known_args()\nother(rest)\n",
    "returned to others": "def parse():\n    return p.parse_known_args()\nother(parse())\n",
    "looked through": "args, rest = p.parse_known_args()\nfor word in rest:\n    print(word)\n",
    "a member": "args, rest = p.parse_known_args()\nrest.pop()\n",
    "SM_HPS": "args, _ = p.parse_known_args()\nx = os.environ.get('SM_HPS')\n",
    "SM_HP_": "args, _ = p.parse_known_args()\nx = os.environ.get('SM_HP_' + 'RATE')\n",
    "SM_USER_ARGS": "args, _ = p.parse_known_args()\nx = os.environ.get('SM_USER_ARGS')\n",
    "sys.argv": "args, _ = p.parse_known_args()\nprint(sys.argv)\n",
    "the file": "args, _ = p.parse_known_args()\nopen('/opt/ml/input/config/hyperparameters.json')\n",
    "a second parser": "q = argparse.ArgumentParser()\nq.add_argument('--rate')\n"
    "p.parse_known_args()\nq.parse_known_args()\n",
    "a name elsewhere": "args, _ = p.parse_known_args()\nx = getattr(args, 'rate', 1)\n",
    "a library": "import hydra\nargs, _ = p.parse_known_args()\n",
    "names in a loop": "for n in x:\n    p.add_argument('--' + n)\nargs, _ = p.parse_known_args()\n",
    "a positional": "p.add_argument('data', nargs='*')\nargs, _ = p.parse_known_args()\n",
    "a condition": "if os.environ.get('X'):\n    p.add_argument('--rate')\nargs, _ = p.parse_known_args()\n",
    "parse_args": "p.add_argument('--rate')\np.parse_args()\n",
}


@pytest.mark.parametrize("end", KEPT.values(), ids=KEPT)
def test_possibly_used_argument_is_not_reported(end):
    assert found(PARSER + end, hyperparameters={"rate": 3}) == []


def test_argument_mentioned_in_another_module_is_used():
    text = PARSER + "import options\nargs, _ = p.parse_known_args()\n"
    assert found(text, beside={"options": "x = {'rate': 1}\n"}, hyperparameters={"rate": 3}) == []


LOOKED_AT = {
    "its end": "print(sys.argv[1].endswith('.json'))",
    "a path of it": "print(os.path.abspath(sys.argv[1]))",
    "other code": "import model\nmodel.load(sys.argv[-1])",
    "the examples of transformers": "if len(sys.argv) == 2 and sys.argv[1].endswith('.json'):\n"
    "    print(os.path.abspath(sys.argv[1]))",
}


@pytest.mark.parametrize("name", LOOKED_AT)
def test_word_that_a_script_looks_at_leaves_its_options_known(name):
    text = "import argparse, os, sys\np = argparse.ArgumentParser()\np.add_argument('--lr', type=float)\n"
    text += f"{LOOKED_AT[name]}\np.parse_args()\n"
    assert codes(text, hyperparameters={"lr": "high"}) == [("SM503", "hyperparameters.lr")]


@pytest.mark.parametrize(
    ("option", "after", "value", "reported"),
    [
        *(("'--resume'", "", word, ["SM215"]) for word in ("none", "NONE", "nil", "NaN", "nan", "null")),
        ("'--log-file', default=''", "", "none", ["SM215"]),
        ("'--resume', help='weights to start from (default: none)'", "", "none", ["SM215"]),
        ("'--resume', help='Defaults to none.'", "", "none", ["SM215"]),
        ("'--resume', help='last, or none'", "", "none", []),
        ("'--resume', help='(default: none)'", "print(a.resume.lower() == 'none')", "none", []),
        ("'--resume', default='last.ckpt'", "", "none", []),
        ("'--resume', required=True", "", "none", []),
        ("'--resume', choices=['none', 'last']", "", "none", []),
        ("'--resume', type=lambda text: text", "", "none", []),
        ("'--resume'", "print(a.resume.upper() == 'NONE')", "none", []),
        ("'--resume'", "print(a.resume in 'none null'.split())", "none", []),
        ("'--resume'", "", "None", []),  # reported without the script, where it is not in quotes
        ("'--resume'", "", "nano", []),
        ("'--padding'", "", "none", []),
        ("'--profile'", "", "none", []),
        ("'--lr', type=float", "", "nan", []),
        ("'--weights'", "if a.weights:\n    open(a.weights)", "nan", ["SM215"]),
        ("'--weights'", "import torch\ntorch.load(a.weights)", "none", ["SM215"]),
        ("'--init'", "from pathlib import Path\ninit = a.init\nPath(init).open()", "null", ["SM215"]),
        ("'--init'", "if a.init is not None:\n    print('starts from', a.init)", "nil", ["SM215"]),
        ("'--init'", "size = a.init or 3\nprint(size)", "none", ["SM215"]),
        ("'--init'", "def main(args):\n    if args.init:\n        print(1)\nmain(a)", "null", ["SM215"]),
        ("'--init'", "size = a.init or 3\nprint(repr(vars(a)))", "none", ["SM215"]),
        ("'--init', default='x'", "open(a.init)", "null", []),
        ("'--init'", "print(a.init)", "null", []),
        ("'--init'", "import torch\ntorch.load(model.init)", "null", []),
        ("'--init'", "if a.init == 'null':\n    a.init = None\nif a.init:\n    open(a.init)", "null", []),
        ("'--padding'", "if a.padding:\n    pad(x, mode=a.padding)", "none", []),
        ("'--padding'", "mode = a.padding or 'same'\npad(x, mode=mode)", "none", []),
        ("'--padding'", "if a.padding:\n    print(PADS[a.padding])", "none", []),
        ("'--padding'", "if a.padding:\n    pad(a)", "none", []),
        ("'--padding'", "if a.padding:\n    pad(**vars(a))", "none", []),
        ("'--weight'", "if a.weight is not None:\n    print(float(a.weight))", "nan", []),
    ],
)
def test_text_for_no_file_is_reported_unless_it_is_read(option, after, value, reported):
    text = f"import argparse\np = argparse.ArgumentParser()\np.add_argument({option})\na = p.parse_args()\n{after}\n"
    name = option.split("'")[1].lstrip("-")
    assert [code for code, _ in codes(text, hyperparameters={name: value})] == reported


@pytest.mark.parametrize(
    ("word", "help"),
    [
        ("--lr 0.1", 'write one word per item: `"--lr", "0.1"`'),
        ("--lr=0.1 --name x", ""),
        ("--rate 0.1", "declare it in the script, or remove the argument; argparse exits with status 2"),
    ],
)
def test_option_and_value_in_one_item_are_two(word, help):
    text = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr')\np.parse_args()\n"
    reported = findings(text, entry_point={"script": "train.py", "args": [word]})
    assert [one.help for one in reported] == ([help] if help else [])


@pytest.mark.parametrize(
    ("option", "after", "style", "value", "is_reported"),
    [
        ("'--use', nargs='?', const=True, default=False", "if a.use:\n    print(1)", "toolkit", False, True),
        ("'--use', nargs='?', const=True, default=False", "if a.use:\n    print(1)", "json", False, True),
        ("'--use', nargs='?', const=True, default=False", "if a.use:\n    print(1)", "flags", False, False),
        ("'--use'", "if a.use is not None:\n    open(a.use)", "flags", "False", True),
        ("'--use', default=True", "print(1 if not a.use else 2)", "toolkit", False, True),
        ("'--use', default=''", "name = a.use or 'y'\nprint(name)", "toolkit", "false", True),
        ("'--use', default='y'", "if a.use:\n    print(1)", "toolkit", False, False),
        ("'--use', type=json.loads", "if a.use:\n    print(1)", "json", False, False),
        ("'--use', type=lambda t: t == 'True'", "if a.use:\n    print(1)", "toolkit", False, False),
        ("'--use'", "a.use = eval(a.use)\nif a.use:\n    print(1)", "toolkit", False, False),
        ("'--use'", "if a.use and a.use.lower() != 'false':\n    print(1)", "toolkit", False, False),
        ("'--use'", "if a.use:\n    tool.start(a.use)", "toolkit", False, False),
        ("'--use'", "if a.use:\n    tool.start(a)", "toolkit", False, False),
        ("'--use'", "print(a.use)", "toolkit", False, False),
    ],
)
def test_false_for_an_option_without_a_type_is_reported(option, after, style, value, is_reported):
    text = f"import argparse, json\np = argparse.ArgumentParser()\np.add_argument({option})\na = p.parse_args()\n"
    entry = {"script": "train.py", "args_style": style}
    found = codes(f"{text}{after}\n", hyperparameters={"use": value}, entry_point=entry)
    assert found == ([("SM505", "hyperparameters.use")] if is_reported else [])
