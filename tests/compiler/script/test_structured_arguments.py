"""Mappings and config files as arguments, in each style of arguments."""

import json

import pytest

from support.script.read_programs import codes, runs, script_environment

PARSER = "import argparse, ast, json\np = argparse.ArgumentParser()\np.add_argument('--model'{})\na = p.parse_args()\n"
NESTED = {"model": {"layers": [64, 32]}}


def found(text, style, **changes):
    return [code for code, _ in codes(text, entry_point={"script": "train.py", "args_style": style}, **changes)]


@pytest.mark.parametrize("kind", ["json.loads", "ast.literal_eval"])
@pytest.mark.parametrize("style", ["toolkit", "json", "flags"])
@pytest.mark.parametrize("value", [{"a": 1}, {}, [1, 2], ["a"], True, None, 5, "text", '{"a": 1}', {"a": {"b": None}}])
def test_parsed_structure_is_rejected_as_the_script_does(kind, style, value):
    text = PARSER.format(f", type={kind}")
    given = script_environment(
        entry_point={"script": "train.py", "args_style": style}, hyperparameters={"model": value}
    )
    said = runs(text, given.words)
    reported = found(text, style, hyperparameters={"model": value})
    assert bool(set(reported) & {"SM503", "SM501"}) == (said is not None)


@pytest.mark.parametrize(("style", "reported"), [("toolkit", ["SM533"]), ("json", []), ("flags", [])])
def test_nested_mapping_is_reported_where_it_is_lost(style, reported):
    text = PARSER.format("")
    assert found(text, style, hyperparameters=NESTED) == reported
    given = script_environment(entry_point={"script": "train.py", "args_style": style}, hyperparameters=NESTED)
    try:
        is_kept = json.loads(given.words[-1]) == NESTED["model"]
    except ValueError:
        is_kept = False
    assert is_kept == (not reported)


@pytest.mark.parametrize("value", [{"a": 1, "b": 2}, [[1], [2]], "a={'b': 1}", 5])
def test_other_values_are_not_reported(value):
    assert found(PARSER.format(""), "toolkit", hyperparameters={"model": value}) == []
    assert (
        found(PARSER.format(", type=parse").replace("p =", "parse = f()\np =", 1), "toolkit", hyperparameters=NESTED)
        == []
    )


CLI = "from jsonargparse import CLI\ndef train(batch_size: int = 16, lr: float = 1.0):\n    pass\nCLI(train)\n"


@pytest.mark.parametrize(
    ("style", "hyperparameters", "reported"),
    [
        ("toolkit", {"config": "base.yaml", "batch_size": 64}, ["SM538"]),
        ("toolkit", {"config": "base.yaml", "lr": 0.5}, []),
        ("toolkit", {"batch_size": 64}, []),
        ("json", {"config": "base.yaml", "batch_size": 64}, []),
        ("json", {"batch_size": 64, "config": "base.yaml"}, ["SM538"]),
    ],
)
def test_arguments_before_a_config_file_are_reported(style, hyperparameters, reported):
    assert found(CLI, style, hyperparameters=hyperparameters) == reported


ACTION = """\
import argparse, json
class Load(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None):
        {}
p = argparse.ArgumentParser()
p.add_argument("--cfg", action=Load)
p.add_argument("--batch_size", type=int, default=2)
args = p.parse_args()
"""
ITEMS = "for key, value in json.load(open(values)).items():\n            "
ACTIONS = {
    "each value": ITEMS + "setattr(namespace, key, value)",
    "each value, inside with": "with open(values) as f:\n            for k, v in json.load(f).items():\n"
    "                setattr(namespace, k, v)",
    "dictionary": "namespace.__dict__.update(json.load(open(values)))",
    "words": "words = [w for k, v in json.load(open(values)).items() for w in ('--' + k, str(v))]\n"
    "        parser.parse_args(words, namespace)",
    "keyword": "parser.parse_args(open(values + '.txt').read().split(), namespace=namespace)",
    "missing values": ITEMS + "if getattr(namespace, key) == 2:\n                setattr(namespace, key, value)",
    "defaults": "parser.set_defaults(**json.load(open(values)))",
    "its own name": "setattr(namespace, self.dest, json.load(open(values)))",
}


@pytest.mark.parametrize("body", ACTIONS.values(), ids=ACTIONS)
def test_action_that_replaces_arguments_is_reported(body, tmp_path, monkeypatch):
    """argparse itself shows which actions lose the value of the job."""
    (tmp_path / "base.json").write_text('{"batch_size": 8}')
    (tmp_path / "base.json.txt").write_text("--batch_size 8")
    monkeypatch.setattr("sys.argv", ["train.py", "--batch_size", "64", "--cfg", str(tmp_path / "base.json")])
    names = {}
    exec(ACTION.format(body), names)
    given = {"batch_size": 64, "cfg": "base.json"}
    assert found(ACTION.format(body), "toolkit", hyperparameters=given) == ["SM538"] * (names["args"].batch_size == 8)
    assert found(ACTION.format(body), "json", hyperparameters={"cfg": "base.json", "batch_size": 64}) == []


@pytest.mark.parametrize("action", ["'config'", "jsonargparse.ActionConfigFile"])
def test_config_option_of_any_name_is_found(action):
    text = f"import jsonargparse\np = jsonargparse.ArgumentParser()\np.add_argument('--cfg', action={action})\n"
    text += "p.add_argument('--batch_size', type=int)\np.parse_args()\n"
    assert found(text, "toolkit", hyperparameters={"cfg": "base.yaml", "batch_size": 64}) == ["SM538"]
    assert found(text, "json", hyperparameters={"cfg": "base.yaml", "batch_size": 64}) == []


def test_config_of_lightning_is_before_its_values():
    text = "from lightning.pytorch.cli import LightningCLI\nLightningCLI()\n"
    assert "SM538" in found(text, "json", hyperparameters={"seed_everything": 1, "config": "base.yaml"})
    assert "SM538" not in found(text, "toolkit", hyperparameters={"seed_everything": 1, "config": "base.yaml"})
