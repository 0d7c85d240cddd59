"""Scripts of libraries that smspec does not follow have a note that says so, and no other finding about arguments."""

import pytest

from support.script.read_programs import findings

FUNCTION = "def main(epochs=1):\n    pass\n"
READ = "import os\nprint(os.environ['SM_CHANNEL_OTHER'])\n"
CLICK = f"import click\n@click.command()\n@click.option('--epochs')\n{FUNCTION}"
PROGRAMS = {
    "absl": f"from absl import app, flags\nflags.DEFINE_integer('epochs', 3, 'x')\n{FUNCTION}app.run(main)\n",
    "absl, of TensorFlow 1": "import tensorflow as tf\nflags = tf.app.flags\nflags.DEFINE_integer('epochs', 3, 'x')\n"
    f"{FUNCTION}tf.app.run()\n",
    "absl, of TensorFlow": f"import tensorflow.compat.v1 as tf\n{FUNCTION}tf.app.run(main)\n",
    "click": f"{CLICK}if __name__ == '__main__':\n    main()\n",
    "click, without a call of the decorator": f"import click\n@click.command\n{FUNCTION}main()\n",
    "click, in a loop": f"import click\n{FUNCTION}for n in ['epochs']:\n    main = click.option('--' + n)(main)\n"
    "main = click.command()(main)\nmain()\n",
    "click, by hand": f"import click\n{FUNCTION}main = click.command()(click.option('--epochs')(main))\nmain()\n",
    "click, by its method": f"{CLICK}main.main(standalone_mode=False)\n",
    "click, to another module": f"{CLICK}import others\nothers.start(main)\n",
    "click, group": f"import click\n@click.group()\ndef top():\n    pass\n@top.command()\n{FUNCTION}top()\n",
    "fire": f"import fire\n{FUNCTION}fire.Fire(main)\n",
    "fire, by another name": f"from fire import Fire as start\n{FUNCTION}start(main)\n",
    "hydra": f"import hydra\n@hydra.main(version_base=None)\n{FUNCTION}main()\n",
    "hydra, without a call": f"import hydra\n@hydra.main\n{FUNCTION}main()\n",
    "jsonargparse": f"from jsonargparse import CLI\n{FUNCTION}CLI(main)\n",
    "jsonargparse, parser": "import jsonargparse\np = jsonargparse.ArgumentParser()\np.add_argument('--lr')\n"
    "p.parse_args()\n",
    "LightningCLI": "from lightning.pytorch.cli import LightningCLI\nLightningCLI(Model, Data)\n",
    "LightningCLI, below a condition": "from lightning.pytorch.cli import LightningCLI\n"
    "if __name__ == '__main__':\n    LightningCLI()\n",
    "omegaconf": "from omegaconf import OmegaConf\nprint(OmegaConf.merge({'lr': 0.01}, OmegaConf.from_cli()))\n",
    "typer": f"import typer\n{FUNCTION}typer.run(main)\n",
    "typer, app": f"import typer\napp = typer.Typer()\n@app.command()\n{FUNCTION}app()\n",
    "typer, imported module": f"import typer as t\n@t.Typer().command()\n{FUNCTION}t.run(main)\n",
    "tyro": f"import tyro\n{FUNCTION}tyro.cli(main)\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_unread_options_have_a_note(name):
    *errors, found = sorted(findings(PROGRAMS[name], hyperparameters={"batch_size": 3}), key=lambda each: each.severity)
    assert [each.code for each in errors] == ["SM501"] * name.startswith("hydra")
    library = name.partition(",")[0]
    assert (found.code, found.severity) == ("SM513", "note")
    proof = "" if library == "omegaconf" else "; `smspec check` proves them"
    assert found.message.endswith(f": smspec does not follow how `{library}` reads them{proof}")


@pytest.mark.parametrize("name", PROGRAMS)
def test_job_without_arguments_has_no_note(name):
    assert findings(PROGRAMS[name]) == []


@pytest.mark.parametrize("name", ["absl", "absl, of TensorFlow", "click", "hydra", "typer", "typer, app"])
def test_call_that_may_end_the_script_is_one(name):
    assert [one.code for one in findings(READ + PROGRAMS[name])] == ["SM506"]
    assert findings(PROGRAMS[name] + READ) == []


@pytest.mark.parametrize("name", ["fire", "jsonargparse, parser", "tyro", "omegaconf"])
def test_other_call_does_not_end_the_script(name):
    assert [one.code for one in findings(PROGRAMS[name] + READ)] == ["SM506"]


def test_given_words_are_no_arguments():
    own = "from omegaconf import OmegaConf\nOmegaConf.from_cli(['lr=1'])\n"
    assert findings(own, hyperparameters={"batch_size": 3}) == []


@pytest.mark.parametrize("use", ["click.echo('x')", "OmegaConf.load('x')", "lightning.Trainer()", "logging.info('x')"])
def test_other_uses_leave_the_parser_known(use):
    text = "import click, lightning\nfrom absl import logging\nfrom omegaconf import OmegaConf\nimport argparse\n"
    text += f"p = argparse.ArgumentParser()\np.add_argument('--lr')\np.parse_args()\n{use}\n"
    assert [one.code for one in findings(text, hyperparameters={"batch_size": 3})] == ["SM501"]


def test_class_that_extends_a_parser_is_not_followed():
    text = "import argparse\nclass P(argparse.ArgumentParser):\n    pass\n"
    text += "p = P()\np.add_argument('--lr')\np.parse_args()\n"
    (found,) = findings(text, hyperparameters={"batch_size": 3})
    assert (found.code, found.severity) == ("SM513", "note")


HYDRA = PROGRAMS["hydra"]


@pytest.mark.parametrize(
    ("args", "unknown"),
    [
        (["lr=1", "+model.lr=2", "~a", "--config-name=small", "-cn", "other", "-m", "--cfg", "job"], []),
        (["--config-na", "small", "--info", "plugins", "hydra.run.dir=/opt/ml/model"], []),
        (["--lr=1"], ["--lr=1"]),
        (["--model.lr", "1", "a=2"], ["--model.lr"]),
    ],
    ids=" ".join,
)
def test_options_that_hydra_has_not_are_errors(args, unknown):
    found = [
        each for each in findings(HYDRA, entry_point={"script": "train.py", "args": args}) if each.severity == "error"
    ]
    assert [each.message for each in found] == [f"`train.py` has no argument `{name}`" for name in unknown]
    assert all("lr=…` in `entry_point.args`" in each.help for each in found)


@pytest.mark.parametrize(
    "program",
    [
        HYDRA.replace("main()\n", "main({'lr': 1})\n"),
        HYDRA.replace("main()\n", "import sys\nsys.argv = [a.lstrip('-') for a in sys.argv]\nmain()\n"),
        HYDRA.replace("main()\n", "if ready():\n    main()\n"),
    ],
    ids=["a given config", "changed words", "a condition"],
)
def test_words_that_hydra_may_not_read_are_no_errors(program):
    assert [each.code for each in findings(program, hyperparameters={"batch_size": 3})] == ["SM513"]
