"""`smspec init --from`: the spec of a script that exists."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from smspec_runtime.arguments import arguments_of
from smspec_runtime.hyperparameters import split_hyperparameters
from support.environment_jobs import index, packages
from support.smspec_command import smspec, smspec_process

__all__ = ["index", "packages"]

ARGUMENTS = """\
import argparse, json, os
import yaml
import neighbor
import not_installed_anywhere

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1e-5)
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--no-cuda", action="store_true")
parser.add_argument("--optimizer", choices=["adam", "sgd"], default="adam")
parser.add_argument("--layers", type=int, nargs="+", default=[1, 2])
parser.add_argument("--note", default="1e-5")
parser.add_argument("--scale", type=bool, default=True)
parser.add_argument("--count", default=10)
parser.add_argument("--seed", type=int)
parser.add_argument("--name", required=True)
parser.add_argument("--train", default=os.environ["SM_CHANNEL_TRAIN"])
parser.add_argument("--validation", default="/opt/ml/input/data/held-out")
parser.add_argument("--model-dir", default=os.environ.get("SM_MODEL_DIR"))
parser.add_argument("--checkpoints", default="/opt/ml/checkpoints")
"""
PRINTS = "args = parser.parse_args()\nprint(json.dumps(vars(args)))\n"
RUNS = """\
import argparse, os

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--train", default=os.environ["SM_CHANNEL_TRAIN"])
args = parser.parse_args()
rows = open(os.path.join(args.train, "rows.csv")).read().split()
for epoch in range(args.epochs):
    print(f"loss={1 / (epoch + len(rows)):.4f}")
"""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture(autouse=True)
def no_index(monkeypatch):
    """Packages that are not installed are in no index, unless a test serves one."""
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.fixture
def job(tmp_path):
    write(tmp_path / "src/train.py", ARGUMENTS + PRINTS)
    write(tmp_path / "src/neighbor.py", "")
    return tmp_path


def spec_of(directory):
    return yaml.safe_load((directory / "job.yaml").read_text())


def test_arguments_become_hyperparameters(job):
    done = smspec("init", "--from", "src/train.py", cwd=job)
    assert done.status == 0, done.err
    spec = spec_of(job)
    assert spec["entry_point"] == {"script": "train.py", "args_style": "flags"}
    assert {key: value for key, value in spec["hyperparameters"].items() if key != "lr"} == {
        "epochs": 3,
        "no-cuda": False,
        "optimizer": "adam",
        "layers": [1, 2],
        "name": "${{ vars.name }}",
    }
    assert "  lr: 1e-05\n" in (job / "job.yaml").read_text()
    assert (
        "#   --note --scale --count --seed --train --validation --model-dir --checkpoints\n"
        in (job / "job.yaml").read_text()
    )
    assert "next:\n  set the values of name in `vars` of job.yaml, each as `default: VALUE`\n" in done.err


def test_script_gets_its_own_defaults(job, tmp_path):
    smspec("init", cwd=job)
    rendered = smspec("render", "--api-json", "--set", "vars.name=x", cwd=job)
    given = split_hyperparameters(json.loads(rendered.out)["HyperParameters"])
    script = "\n".join(line for line in ARGUMENTS.splitlines() if line not in ("import yaml", "import neighbor"))
    write(tmp_path / "plain.py", script.replace("import not_installed_anywhere", "") + "\n" + PRINTS)

    def parsed(words):
        ran = subprocess.run(
            [sys.executable, "plain.py", *words],
            cwd=tmp_path,
            env={"SM_CHANNEL_TRAIN": "/opt/ml/input/data/train"},
            capture_output=True,
            check=True,
        )
        return json.loads(ran.stdout)

    assert parsed(arguments_of(given, "flags")) == parsed(["--name", "x"])


def test_channels_come_from_variables_and_paths(job):
    smspec("init", cwd=job)
    spec = spec_of(job)
    assert list(spec["channels"]) == ["train", "held-out"]
    assert spec["checkpoints"].startswith("s3://")


def test_imports_become_pinned_packages(job):
    done = smspec("init", cwd=job)
    assert spec_of(job)["image"]["python_packages"] == ["not_installed_anywhere", f"PyYAML=={yaml.__version__}"]
    assert "not installed here, and therefore not pinned: not_installed_anywhere" in done.err


def test_packages_that_an_index_has_get_their_newest_version(no_index, index, tmp_path):
    write(tmp_path / "job/src/train.py", "import ctr_features\nimport org_io\nimport not_installed_anywhere\n")
    done = smspec("init", cwd=tmp_path / "job")
    packages = spec_of(tmp_path / "job")["image"]["python_packages"]
    assert packages == ["ctr_features==1.1", "not_installed_anywhere", "org_io==3.0"]
    asked = "asking the package index for the versions of ctr_features, not_installed_anywhere, org_io\n"
    assert done.err.startswith(f"{asked}not installed here, and therefore not pinned: not_installed_anywhere\n")


def test_broken_index_leaves_packages_without_a_version(no_index, index, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    write(tmp_path / "job/src/train.py", "import ctr_features\n")
    done = smspec("init", cwd=tmp_path / "job")
    assert done.status == 0
    assert "versions not looked up: uv cannot reach a package index: " in done.err
    assert spec_of(tmp_path / "job")["image"]["python_packages"] == ["ctr_features"]


def test_next_commands_name_channels_without_data(tmp_path):
    write(tmp_path / "src/train.py", 'import os\nopen(os.environ["SM_CHANNEL_TRAIN"] + "/rows.csv")\n')
    done = smspec("init", cwd=tmp_path)
    assert "next:\n  smspec validate\n  smspec run --data train=PATH\n" in done.err
    write(tmp_path / "rows/rows.csv", "1\n")
    assert smspec_process("run", "--engine", "process", "--data", "train=rows", cwd=tmp_path).status == 0


def test_requirements_of_the_source_go_first(job):
    write(job / "src/requirements.txt", "pyyaml==6.0.2\n")
    smspec("init", cwd=job)
    assert spec_of(job)["image"].keys() == {"base", "python_requirements"}


def test_job_of_a_script_validates_and_runs(tmp_path):
    write(tmp_path / "src/train.py", RUNS)
    write(tmp_path / "data/train/rows.csv", "1\n2\n")
    before = (tmp_path / "src/train.py").read_bytes()
    assert smspec("init", cwd=tmp_path).status == 0
    assert spec_of(tmp_path)["metrics"] == [{"name": "loss", "regex": "loss=([0-9.eE+-]+)"}]
    assert smspec("validate", "--strict", cwd=tmp_path).status == 0
    done = smspec_process("run", "--engine", "process", cwd=tmp_path, timeout=120)
    assert done.status == 0, done.err
    assert "loss" in done.out
    assert (tmp_path / "src/train.py").read_bytes() == before


def test_process_group_needs_torchrun(tmp_path):
    write(tmp_path / "src/train.py", 'import torch.distributed as dist\ndist.init_process_group("gloo")\n')
    smspec("init", cwd=tmp_path)
    assert spec_of(tmp_path)["distribution"] == "torchrun"


def test_directory_that_is_a_default_is_a_channel(tmp_path):
    script = 'import argparse\np = argparse.ArgumentParser()\np.add_argument("--data-dir", default="./images")\n'
    write(tmp_path / "src/train.py", script + "p.parse_args()\n")
    write(tmp_path / "images/a.txt", "x")
    smspec("init", cwd=tmp_path)
    spec = spec_of(tmp_path)
    assert spec["hyperparameters"] == {"data-dir": "/opt/ml/input/data/data-dir"}
    assert spec["channels"]["data-dir"]["local"] == "images/"


def test_script_next_to_the_spec(tmp_path):
    write(tmp_path / "train.py", RUNS)
    write(tmp_path / "data/train/rows.csv", "1\n")
    smspec("init", "--from", "train.py", cwd=tmp_path)
    assert smspec("validate", "--strict", cwd=tmp_path).status == 0
    assert smspec("build", cwd=tmp_path).status == 0
    built = {path.name for path in (tmp_path / f"build/{spec_of(tmp_path)['name']}/source").rglob("*")}
    assert "train.py" in built and "rows.csv" not in built


def test_data_package_below_the_top_is_kept(tmp_path):
    write(tmp_path / "train.py", "import deep.data.loader\n")
    write(tmp_path / "deep/data/loader.py", "")
    smspec("init", "--from", "train.py", cwd=tmp_path)
    assert smspec("validate", "--strict", cwd=tmp_path).status == 0


@pytest.mark.parametrize(
    ("line", "packages"),
    [
        ("peft @ git+https://github.com/huggingface/peft@v0.12.0", ["git"]),
        ("-e git+ssh://git@github.com/example/tool#egg=tool", ["git"]),
        ("numpy==2.1.0  # not git+https://github.com/numpy/numpy", None),
    ],
)
def test_requirement_with_a_git_url_gets_git(line, packages, tmp_path):
    write(tmp_path / "src/train.py", "")
    write(tmp_path / "src/requirements.txt", f"# of the team\n{line}\n")
    smspec("init", cwd=tmp_path)
    assert spec_of(tmp_path)["image"].get("system_packages") == packages
    assert "SM328" not in smspec("validate", cwd=tmp_path).out


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("'--model', required=True", None),
        ("'--model', required=True, help='model name: small, large'", None),
        ("'--output', required=True, choices=['text', 'json']", None),
        ("'--model', required=True, help='where the model is saved'", "/opt/ml/model"),
        ("'--model-dir', required=True", "/opt/ml/model"),
    ],
)
def test_required_name_of_a_model_is_a_variable(option, value, tmp_path):
    write(tmp_path / "train.py", f"{PARSER}p.add_argument({option})\np.parse_args()\n")
    smspec("init", "--from", "train.py", cwd=tmp_path)
    (written,) = spec_of(tmp_path)["hyperparameters"].values()
    assert written == value if value else written.startswith("${{ vars.")


@pytest.mark.parametrize(
    ("files", "words", "reason"),
    [
        (["src/a.py", "src/b.py"], [], "not certain which script starts"),
        (["a.py"], ["sub", "--from", "a.py"], "is not below `sub`"),
        ([], ["--from", "gone.py"], "`gone.py` does not exist"),
        (["train.sh"], ["--from", "train.sh"], "`train.sh` is not a Python file"),
        (["my train.py"], ["--from", "my train.py"], "rename it"),
        (["src/train.py", "job.yaml"], [], "`./job.yaml` already exists"),
    ],
)
def test_refusal_writes_no_file(files, words, reason, tmp_path):
    for name in files:
        write(tmp_path / name, "")
    before = sorted(tmp_path.rglob("*"))
    done = smspec("init", *words, cwd=tmp_path)
    assert done.status == 1 and reason in done.err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "build/\nrun/\n"),
        ("*.log", "*.log\nbuild/\nrun/\n"),
        ("/build\nrun/\n", "/build\nrun/\n"),
        ("run\n", "run\nbuild/\n"),
    ],
)
def test_gitignore_gets_what_it_lacks(before, after, tmp_path):
    if before is not None:
        write(tmp_path / ".gitignore", before)
    done = smspec("init", cwd=tmp_path)
    assert (tmp_path / ".gitignore").read_text() == after
    assert ("./.gitignore" in done.out.split()) == (before != after)


PARSER = "import argparse\np = argparse.ArgumentParser()\n"
NAMED = "cifar10 | lsun | imagenet | folder | lfw | fake"


@pytest.mark.parametrize(
    ("options", "channels", "variables"),
    [
        ([("dataset", True, NAMED), ("dataroot", False, "path to dataset")], ["dataroot"], ["dataset"]),
        ([("dataset", True, "cifar10, lsun, folder")], [], ["dataset"]),
        ([("dataset", True, "name of the data set on the hub"), ("data_dir", True, "")], ["data_dir"], ["dataset"]),
        ([("dataset", True, ""), ("data-path", False, "")], ["data-path"], ["dataset"]),
        ([("dataset", True, "path to the dataset"), ("data_dir", False, "")], ["dataset"], []),
        ([("dataset", True, "")], ["dataset"], []),
        ([("data", True, "root directory of mnist or cifar")], ["data"], []),
        ([("train", True, "mode: full or lora")], [], ["train"]),
        ([("train_dir", True, "a | b | c")], ["train_dir"], []),
        ([("train", True, ""), ("eval_dir", False, "")], ["train"], []),
    ],
)
def test_names_of_data_sets_are_no_channels(options, channels, variables, tmp_path):
    lines = [f"p.add_argument('--{name}', required={needed}, help={text!r})\n" for name, needed, text in options]
    write(tmp_path / "train.py", PARSER + "".join(lines) + "p.parse_args()\n")
    assert smspec("init", "--from", "train.py", cwd=tmp_path).status == 0
    spec = spec_of(tmp_path)
    assert (list(spec.get("channels", {})), list(spec.get("vars", {}))) == (channels, variables)
    assert all(spec["hyperparameters"][name] == f"/opt/ml/input/data/{name}" for name in channels)


@pytest.mark.parametrize(
    ("option", "channels"),
    [
        ("'--data-path', default='/datasets01/imagenet'", ["data-path"]),
        ("'--dataroot', default='/home/me/coco'", ["dataroot"]),
        ("'--data-dir', default='/tmp/mnist'", []),
        ("'--data-dir', default='./data'", []),
        ("'--dataset', default='/home/me/coco'", []),
    ],
)
def test_default_of_another_machine_is_a_channel(option, channels, tmp_path):
    write(tmp_path / "train.py", f"{PARSER}p.add_argument({option})\np.add_argument('--eval-dir')\np.parse_args()\n")
    smspec("init", "--from", "train.py", cwd=tmp_path)
    assert list(spec_of(tmp_path).get("channels", {})) == (channels or ["eval-dir"])


@pytest.mark.parametrize(
    ("line", "is_name"),
    [
        ("if a.dataset == 'mnist':\n    pass", True),
        ("if 'x' and a.dataset != \"mnist\":\n    pass", True),
        ("assert a.dataset in ['cifar10', 'svhn']", True),
        ("assert a.dataset.lower() not in ('cifar10', 'svhn')", True),
        ("if vars(a)['dataset'] == 'mnist':\n    pass", False),
        ("if a.dataset == '/data/x':\n    pass", False),
        ("if a.dataset == '':\n    pass", False),
        ("if a.dataset_name == 'mnist':\n    pass", False),
        ("open(a.dataset)", False),
    ],
)
def test_data_set_compared_with_names_gets_no_channel(line, is_name, tmp_path):
    write(tmp_path / "train.py", f"{PARSER}p.add_argument('--dataset', required=True)\na = p.parse_args()\n{line}\n")
    assert smspec("init", "--from", "train.py", cwd=tmp_path).status == 0
    spec = spec_of(tmp_path)
    assert (list(spec.get("channels", {})), list(spec.get("vars", {}))) == (
        ([], ["dataset"]) if is_name else (["dataset"], [])
    )


def test_modules_of_the_repository_are_no_requirements(tmp_path):
    text = "import own.models, deep, above, helper, data.loader, not_installed, datasets, yaml\n"
    here = ("scripts/helper.py", "own/models.py", "data/loader.py", "other/deep.py", "lib/datasets.py", "lib/yaml.py")
    for path in (*here, "../code/above.py", "../.git/HEAD"):
        write(tmp_path / "job" / path, "")
    write(tmp_path / "job/scripts/train.py", text)
    done = smspec("init", "--from", "scripts/train.py", cwd=tmp_path / "job")
    spec = spec_of(tmp_path / "job")
    packages = [each.partition("=")[0] for each in spec["image"]["python_packages"]]
    assert packages == ["datasets", "not_installed", "PyYAML"], "a namesake of a package is not meant"
    assert (spec["source"], spec["entry_point"]) == ({"dir": ".", "ignore": ["/build/", "/run/"]}, "scripts/train.py")
    assert "outside of `source`, to copy there: `above`, `deep`\n" in done.err
    assert "copy them there:\n#   above deep\n" in (tmp_path / "job/job.yaml").read_text()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("import importlib\nm = importlib.import_module(open('x').read())\n", "`importlib.import_module` may get"),
        ("def f():\n    pass\nx = f.__globals__\n", "`__globals__` may get"),
        ("def f():\n    '''Train.'''\np.description = f.__doc__\nprint(f.__name__)\n", ""),
    ],
)
def test_reason_of_unknown_arguments_is_named(line, said, tmp_path):
    write(tmp_path / "train.py", f"{PARSER}{line}p.add_argument('--lr', type=float, default=0.1)\np.parse_args()\n")
    done = smspec("init", "--from", "train.py", cwd=tmp_path)
    assert said in done.err and ("not known" in done.err) == bool(said)
    assert ("hyperparameters" in spec_of(tmp_path)) != bool(said)
