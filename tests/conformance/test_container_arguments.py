"""Arguments of the script."""

import pytest

from support.runtime.container import SHOW, Container


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


HYPERPARAMETERS = {
    "zeta": "1",
    "lr": "1e-5",
    "Big": "1e3",
    "e": "true",
    "off": "false",
    "none": "null",
    "text": "a b",
    "quoted": '"5"',
    "list": '[1, 2.5, "x", null, true]',
    "map": '{"b": 1, "a": {"c": [2]}}',
    "empty": "{}",
    "dash": "--flag=x",
    "nan": "NaN",
    "low": "-Infinity",
    "version": "1.10",
    "accent": "é",
    "": "nameless",
}
TOOLKIT = [
    *("", "nameless"),
    *("--Big", "1000.0"),
    *("--accent", "é"),
    *("--dash", "--flag=x"),
    *("-e", "True"),
    *("--empty", ""),
    *("--list", "[1, 2.5, 'x', None, True]"),
    *("--low", "-inf"),
    *("--lr", "1e-05"),
    *("--map", "a={'c': [2]},b=1"),
    *("--nan", "nan"),
    *("--none", ""),
    *("--off", "False"),
    *("--quoted", "5"),
    *("--text", "a b"),
    *("--version", "1.1"),
    *("--zeta", "1"),
]


def test_arguments_equal_those_of_the_toolkit(any_python, tmp_path):
    """Sorted by code point, every key with one value, values as Python prints them."""
    container = Container(tmp_path / "ml", any_python)
    container.configure(HYPERPARAMETERS)
    shown = container.run_script(SHOW).shown
    assert shown["argv"] == ["train.py", *TOOLKIT]
    assert shown["cwd"] == str(container.base / "code")
    assert shown["environ"]["SM_MODULE_NAME"] == "train"


STYLES = {
    "json": [
        *("--lr", "1e-3"),
        *("--flag", "true"),
        *("--off", "false"),
        *("--none", "null"),
        *("--layers", "[256, 64]"),
        *("--name", "a b"),
        *("--five", "5"),
        *("--k", '{"b": 1}'),
    ],
    "flags": [
        *("--lr", "1e-3"),
        "--flag",
        *("--none", "null"),
        *("--layers", "256", "64"),
        *("--name", "a b"),
        *("--five", "5"),
        *("--k", '{"b": 1}'),
    ],
    "none": [],
}


@pytest.mark.parametrize("style", STYLES)
def test_each_style_has_its_arguments(container, style):
    """Own arguments first; then those of hyperparameters, in the order of the file and as the author spelled them."""
    container.configure(
        {
            "lr": "1e-3",
            "flag": "true",
            "off": "false",
            "none": "null",
            "layers": "[256, 64]",
            "name": "a b",
            "five": '"5"',
            "k": '{"b": 1}',
        }
    )
    container.write("code/train.py", SHOW)
    plan = {"kind": "script", "program": "train.py", "arguments": ["--config", "a.yaml"], "args_style": style}
    shown = container.run(plan=plan).shown
    assert shown["argv"] == ["train.py", "--config", "a.yaml", *STYLES[style]]


def test_shell_script_gets_its_arguments_unchanged(container):
    """No shell reads them on the way: blanks, quotes and `$(…)` arrive as they are."""
    container.configure({"a": "x  y", "b": "$(touch /tmp/never)", "c": 'it\'s "quoted"'})
    container.write("code/run.sh", '#!/bin/sh\nprintf "%s|" "$0" "$@"\n')
    done = container.run(environ={"SAGEMAKER_PROGRAM": "run.sh"})
    assert done.stdout.decode() == './run.sh|-a|x  y|-b|$(touch /tmp/never)|-c|it\'s "quoted"|'


def test_command_gets_hyperparameters_only_on_request(container):
    """A command is what its author wrote; the style makes the rest."""
    container.configure({"lr": "0.1"})
    container.write("code/show.py", SHOW)
    command = {"kind": "command", "command": [container.python, "show.py", "--fast"], "args_style": "none"}
    assert container.run(plan=command).shown["argv"] == ["show.py", "--fast"]
    assert container.run(plan={**command, "args_style": "json"}).shown["argv"] == ["show.py", "--fast", "--lr", "0.1"]
