"""What `smspec check` proves of arguments and versions, with real interpreters and processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.metadata import version

import pytest

from support.local.checked_jobs import PARSER, Checked, codes, other_python, wheel


@pytest.fixture
def checked(tmp_path):
    return Checked(tmp_path)


def test_right_job_is_proven_without_running_it(checked):
    """The packages of the image, the arguments of the job, and nothing after the parser."""
    wheel(checked.wheels, "greeting", "import os\nassert 'AWS_SECRET_ACCESS_KEY' not in os.environ\n")
    checked.spec("hyperparameters: {lr: 1e-3, epochs: 5}", more=", python_packages: [greeting==1.0]")
    checked.job.write("src/train.py", f"import greeting\n{PARSER}\nargs = parser.parse_args()\nraise SystemExit(7)\n")
    status, records, err = checked.check("--strict")
    assert (status, records) == (0, []), err
    assert f"proven: Python {sys.version.split()[0]}, 1 package, 1 module compiled, 1 imported" in err
    assert "arguments parsed by train.py" in err


def test_older_python_of_the_image_compiles_and_parses(checked):
    """Only the interpreter itself knows that 3.11 and older reject this f-string."""
    version = other_python()
    checked.spec("hyperparameters: {lr: slow}", version=version)
    checked.job.write("src/train.py", PARSER + "import late\nparser.parse_args()\n")
    checked.job.write("src/late.py", "def show(key):\n    import later\n    return later\n")
    checked.job.write("src/later.py", 'import os\nname = f"{os.environ["HOME"]}"\n')
    status, records, err = checked.check()
    assert status == 1
    assert f"proven: Python {version}." in err
    assert codes(records) == [("warning", "SM551"), ("error", "SM548")]
    assert records[1]["path"] == "hyperparameters.lr"
    assert "invalid float value: 'slow'" in records[1]["note"]


def test_launcher_and_overlays_are_proven_once_each(checked):
    checked.spec(
        "distribution: torchrun\nhosts: {instance_type: ml.m5.large, count: 3, volume: 1GB}\nhyperparameters: {lr: 1}\n"
        "overlays: {same: {retries: 2}, other: {hyperparameters: {lr: 2, epochs: x}}}\n"
        "checks: {ignore: [{rule: SM558, because: the base has it}]}\n"
    )
    checked.job.write(
        "src/train.py",
        "import os\nassert os.environ['SM_HOSTS'].count('algo-') == 3 and os.environ['WORLD_SIZE'] == '3'\n"
        + PARSER
        + "parser.parse_args()\n",
    )
    status, records, err = checked.check()
    assert (status, codes(records)) == (1, [("error", "SM548")])
    assert "with the overlay `other`" in records[0]["note"]
    assert err.count("until its parser") == 2


def test_click_and_absl_are_stopped_after_their_parsers(checked):
    for library in ("click", "absl"):
        pytest.importorskip(library)
    image = "image: {base: 'example.com/training:7'}\nsource: src/\nentry_point: train.py\n"
    checked.job.spec(f"{image}hyperparameters: {{lr: fast}}\n")
    checked.job.write(
        "src/train.py",
        "import click\nOPTIONS = {'--lr': float}\ndef main(lr):\n    raise SystemExit(7)\n"
        "for name, kind in OPTIONS.items():\n    main = click.option(name, type=kind)(main)\nclick.command()(main)()\n",
    )
    status, records, err = checked.check("--python", sys.executable)
    assert (status, codes(records)[-1]) == (1, ("error", "SM548")), err
    assert "'fast' is not a valid float" in records[-1]["note"]
    checked.job.write(
        "src/train.py",
        "from absl import app, flags\nfor name in ['lr']:\n    flags.DEFINE_string(name, '', 'rate')\n"
        "def main(_):\n    raise SystemExit(7)\napp.run(main)\n",
    )
    status, records, err = checked.check("--python", sys.executable)
    assert status == 0, records
    assert "arguments parsed by train.py" in err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has private environments in /opt")
@pytest.mark.parametrize("depth", ["the environment", "a directory above it"])
def test_environment_that_only_root_can_enter_compiles(checked, depth):
    checked.job.spec("image: {base: 'example.com/training:7'}\nsource: src/\nentry_point: train.py\n")
    checked.job.write("src/train.py", f"{PARSER}parser.parse_args()\n")
    with tempfile.TemporaryDirectory(dir="/opt", prefix="smspec-") as above:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", f"{above}/environment"], check=True)
        os.chmod(f"{above}/environment", 0o700 if depth == "the environment" else 0o755)
        os.chmod(above, 0o755 if depth == "the environment" else 0o700)
        status, records, err = checked.check("--python", f"{above}/environment/bin/python")
    assert (status, len(records)) == (0, 1), records  # that `--python` was used
    assert "1 module compiled" in err


@pytest.mark.parametrize(
    ("packages", "line", "severity"),
    [
        ("[click=={}]", "from click import nothing_here", "error"),
        ("[click=={}]", "import click.nothing_here", "error"),
        ("[click=={}]", "import click\nSIZE = click.nothing_here", "error"),
        ("[click=={}]", "import click\nclick.echo(nothing=1)", "error"),
        ("[click]", "from click import nothing_here", "note"),
        ("['click==7.0']", "from click import nothing_here", "note"),
        ("[click=={}, no-such-package==1.0]", "import no_such_package", "note"),
    ],
)
def test_named_python_of_the_same_versions_stands_for_the_image(checked, packages, line, severity):
    pytest.importorskip("click")
    checked.spec(more=f", python_packages: {packages.format(version('click'))}")
    checked.job.write("src/train.py", f"{line}\n{PARSER}parser.parse_args()\n")
    status, records, err = checked.check("--python", sys.executable)
    found = [record for record in records if "was used in place" not in record["message"]]
    assert [record["severity"] for record in found] == [severity], err
    assert status == int(severity == "error")
