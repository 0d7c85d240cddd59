"""Where the driver stops scripts whose parser calls a function of theirs."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from smspec.proof.driver import starting

CLICK = """
import click
@click.group()
@click.option("--quiet", is_flag=True)
def cli(quiet): pass
@cli.command()
@click.option("--lr", type=float)
def fit(lr): print("ran on")
cli()
"""
TYPER = """
import typer
app = typer.Typer()
@app.callback()
def all(): pass
@app.command()
def fit(lr: float = 0.1): print("ran on")
app()
"""
FIRE = """
import fire
class Trainer:
    def __init__(self, seed=1): print("created")
    def fit(self, lr: float): print("ran on")
fire.Fire(Trainer)
"""
TYRO = """
import tyro
def main(lr: float): print("ran on")
tyro.cli(main)
"""
TYRO_CLASS = """
import dataclasses, tyro
@dataclasses.dataclass
class Args:
    lr: float
tyro.cli(Args)
print("ran on")
"""
HYDRA = """
import hydra
@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg): print("ran on")
if __name__ == "__main__":
    main()
"""


@pytest.fixture
def observed(tmp_path):
    """Return what the driver records of a script with a command line."""
    library, code = tmp_path / "lib", tmp_path / "src"
    library.mkdir()
    (code / "conf").mkdir(parents=True)
    (code / "conf" / "config.yaml").write_text("lr: 0.1\n")
    shutil.copytree(os.path.dirname(starting.__file__), library / "_smspec_check")
    (library / "sitecustomize.py").write_text("import _smspec_check.starting\n")

    def observe(text, words):
        script, result = code / "train.py", tmp_path / "result"
        script.write_text(text)
        asked = {"result": str(result), "writable": [str(tmp_path)], "code": str(code), "parsers": 1}
        asked |= {"taken": [], "open": []}
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(library), starting.PARSE: json.dumps(asked)}
        done = subprocess.run(
            [sys.executable, script, *words], env=environment, capture_output=True, text=True, cwd=tmp_path
        )
        assert "ran on" not in done.stdout, done
        return json.loads(result.read_text())

    return observe


@pytest.mark.parametrize(
    ("library", "script", "right", "wrong", "message"),
    [
        ("click", CLICK, "--quiet fit --lr 1", "fit --lr fast", "'fast' is not a valid float"),
        ("typer", TYPER, "fit --lr 1", "fit --lr fast", "Invalid value for '--lr'"),
        ("fire", FIRE, "fit --lr 1", "fit", "The function received no value for the required argument: lr"),
        ("tyro", TYRO, "--lr 1", "--rate 1", "--rate"),
        ("tyro", TYRO_CLASS, "--lr 1", "--lr fast", "fast"),
        ("hydra", HYDRA, "lr=1 +epochs=2", "epochs=2", "Could not override 'epochs'"),
        ("hydra", HYDRA, "lr=1", "--lr 1", "unrecognized arguments: --lr"),
    ],
)
def test_function_of_the_command_line_is_not_called(observed, library, script, right, wrong, message):
    pytest.importorskip(library)
    record = observed(script, right.split())
    assert (record["kind"], record.get("is_open")) == ("parsed", False), record
    record = observed(script, wrong.split())
    assert record["kind"] == "rejected", record
    assert message in record["message"]


def test_rest_of_a_function_of_fire_is_not_proven(observed):
    pytest.importorskip("fire")
    record = observed(FIRE, ["fit", "--lr", "1", "save"])
    assert (record["kind"], record["is_open"]) == ("parsed", True)


def test_configuration_in_data_of_the_job_is_not_judged(observed):
    pytest.importorskip("hydra")
    record = observed(HYDRA, ["--config-dir", "/opt/ml/input/data/config", "lr=2"])
    assert record["kind"] == "raised", record
