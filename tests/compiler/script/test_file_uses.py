"""Literal container paths in scripts: certain and possible uses."""

# ruff: noqa: E501  # a program a line reads best
from __future__ import annotations

import textwrap

import pytest

from smspec.pipeline.script_reading import read_script
from smspec.script.program import Program
from smspec.source import SourceText
from support.script.read_programs import InMemory, directory_findings

# What is published of SageMaker's bring-your-own examples and of people's own scripts, in its shortest form.
CERTAIN = {
    "open": 'open("/opt/ml/model/model.txt", "w")',
    "with open": 'with open("/opt/ml/output/metrics.json", "w") as f:\n    f.write("{}")',
    "read a channel": 'import pandas as pd\ndf = pd.read_csv("/opt/ml/input/data/train/train.csv")',
    "read hyperparameters": 'with open("/opt/ml/input/config/hyperparameters.json") as f:\n    f.read()',
    "constant": 'import torch\nMODEL = "/opt/ml/model"\ntorch.save({}, MODEL + "/model.pt")',
    "f-string": 'import torch\nMODEL = "/opt/ml/model"\ntorch.save({}, f"{MODEL}/model.pt")',
    "join": 'import os, joblib\nprefix = "/opt/ml/"\njoblib.dump(1, os.path.join(prefix, "model", "m.joblib"))',
    "prefix in a function": """
        import os, pickle, sys, traceback
        prefix = '/opt/ml/'
        training_path = os.path.join(prefix, 'input/data', 'training')
        def train():
            try:
                files = [os.path.join(training_path, f) for f in os.listdir(training_path)]
            except Exception as e:
                traceback.print_exc()
                sys.exit(255)
        if __name__ == '__main__':
            train()
            sys.exit(0)
        """,
    "makedirs": 'import os\nos.makedirs("/opt/ml/checkpoints", exist_ok=True)',
    "makedirs if absent": 'import os\nD = "/opt/ml/checkpoints"\nif not os.path.exists(D):\n    os.makedirs(D)',
    "pathlib mkdir": 'from pathlib import Path\nPath("/opt/ml/model").mkdir(parents=True, exist_ok=True)',
    "pathlib division": 'from pathlib import Path\n(Path("/opt/ml") / "model" / "a.txt").write_text("x")',
    "pathlib open": 'import pathlib\np = pathlib.Path("/opt/ml/output")\nwith (p / "failure").open("w") as f:\n    pass',
    "keyword": 'import pickle\npickle.dump(1, open(file="/opt/ml/model/m.pkl", mode="wb"))',
    "copy": 'import shutil\nshutil.copy("inference.py", "/opt/ml/model/inference.py")',
    "copy out of": 'import shutil\nshutil.copytree("/opt/ml/input/data/train", "data")',
    "rename": 'import os\nos.replace("best.pt", "/opt/ml/model/best.pt")',
    "numpy": 'import numpy as np\nnp.save("/opt/ml/model/w.npy", [1])',
    "keras": 'import tensorflow as tf\nm = tf.keras.Sequential()\nm.save("/opt/ml/model/1")',
    "transformers": 'from transformers import AutoModel\nm = AutoModel.from_pretrained("x")\nm.save_pretrained("/opt/ml/model")',
    "data frame": 'import pandas as pd\npd.DataFrame().to_csv("/opt/ml/output/data/p.csv", index=False)',
    "plot": 'import matplotlib.pyplot as plt\nplt.savefig("/opt/ml/output/data/loss.png")',
    "main": 'def main():\n    open("/opt/ml/model/x", "w")\nif __name__ == "__main__":\n    main()',
    "more slashes": 'open("//opt/ml///model/x", "w")',
    "there and back": 'open("/opt/../opt/ml/./model/x", "w")',
    "in pieces": 'import os\nos.makedirs("/opt/" + "ml/checkpoints")',
    "joined pieces": 'import os\nos.makedirs(os.path.join("/opt", "ml", "checkpoints"))',
    "parameter": 'import os\ndef save(to):\n    os.makedirs(to)\nsave("/opt/ml/model")',
}
NOT_CERTAIN = {
    "default of get": 'import os\nopen(os.environ.get("SM_MODEL_DIR", "/opt/ml/model") + "/m", "w")',
    "default of getenv": 'import os\nos.makedirs(os.getenv("SM_OUTPUT_DATA_DIR", "/opt/ml/output/data"), exist_ok=True)',
    "default of an argument": """
        import argparse, os
        p = argparse.ArgumentParser()
        p.add_argument("--model-dir", default=os.environ.get("SM_MODEL_DIR", "/opt/ml/model"))
        a = p.parse_args()
        os.makedirs(a.model_dir)
        """,
    "plain default of an argument": """
        import argparse
        p = argparse.ArgumentParser()
        p.add_argument("--train", type=str, default="/opt/ml/input/data/train")
        a, _ = p.parse_known_args()
        open(a.train + "/x.csv")
        """,
    "default of a function": 'import os\ndef save(to="/opt/ml/model"):\n    os.makedirs(to)\nsave(os.environ["SM_MODEL_DIR"])',
    "or": 'import os\nd = os.environ.get("SM_MODEL_DIR") or "/opt/ml/model"\nos.makedirs(d)',
    "conditional expression": 'import os\nd = "/opt/ml/model" if "SM_HOSTS" in os.environ else "."\nopen(d + "/m", "w")',
    "is it SageMaker": 'import os\nif os.path.exists("/opt/ml"):\n    os.makedirs("/opt/ml/model/x")\nelse:\n    os.makedirs("out")',
    "is it a directory": 'import os\nON = os.path.isdir("/opt/ml/input")\nprint(ON)',
    "try and go on": 'try:\n    f = open("/opt/ml/input/config/resourceconfig.json")\nexcept OSError:\n    f = None',
    "key error": 'import os\ntry:\n    d = os.environ["SM_MODEL_DIR"]\nexcept KeyError:\n    d = "/opt/ml/model"\nos.makedirs(d)',
    "print": 'print("the model goes to /opt/ml/model")',
    "comment and docstring": '"""Reads /opt/ml/input/data/train."""\n# open("/opt/ml/model")\nx = "/opt/ml/model"',
    "never called": 'def save():\n    open("/opt/ml/model/m", "w")',
    "other prefix": 'open("/opt/mlflow/x", "w")',
    "relative": 'open("opt/ml/model", "w")',
    "out of it": 'open("/opt/ml/../mlflow", "w")',
    "comparison": 'import os\nassert os.environ["SM_MODEL_DIR"] != "/opt/ml/data"',
    "replaced": 'import os\nd = "/opt/ml/model"\nd = os.environ["SM_MODEL_DIR"]\nos.makedirs(d)',
    "in a loop over nothing known": 'import os\nfor d in os.environ.get("DIRS", "").split():\n    open("/opt/ml/model/" + d, "w")',
    "only on the leader": 'import os\nif os.environ["RANK"] == "0":\n    open("/opt/ml/model/m", "w")',
    "a class of its own": 'class Log:\n    def save(self, name):\n        print(name)\nLog().save("/opt/ml/model")',
    "text methods": 'x = "/opt/ml/model".replace("/opt/ml", "/tmp")\nopen(x, "w")',
    "a callback": 'import atexit\natexit.register(lambda: open("/opt/ml/output/done", "w"))',
    "an open of its own": 'def open(name):\n    return name\nopen("/opt/ml/model")',
    "after an end that may come": 'import sys, os\nif os.environ.get("DRY"):\n    sys.exit(0)\nopen("/opt/ml/model/m", "w")',
    "click": """
        import click
        @click.command()
        @click.option("--out", default="/opt/ml/model")
        def main(out):
            open(out + "/m", "w")
        main()
        """,
}


def read(text: str) -> Program:
    return read_script(SourceText(name="train.py", text=textwrap.dedent(text)), InMemory({}))


@pytest.mark.parametrize("program", CERTAIN.values(), ids=CERTAIN)
def test_certain_path_of_a_file_operation_is_found(program):
    uses = read(program).file_uses
    assert uses
    assert all(use.path.startswith("/opt/ml") and use.place.line > 0 for use in uses)


@pytest.mark.parametrize("program", NOT_CERTAIN.values(), ids=NOT_CERTAIN)
def test_uncertain_path_is_not_found(program):
    assert read(program).file_uses == ()


def test_file_use_has_path_operation_and_line():
    (use,) = read('import torch\ntorch.save({}, "/opt/ml/model/m.pt")').file_uses
    assert (use.path, use.operation, use.place.line) == ("/opt/ml/model/m.pt", "torch.save", 2)


HEAD = "import json, logging, os, pathlib, random, subprocess, sys\n"
READS = {
    "open": "json.load(open('settings.json'))\n",
    "a block": "with open('conf/settings.json', encoding='utf-8') as f:\n    json.load(f)\n",
    "a path": "pathlib.Path('conf/settings.json').read_text()\n",
    "an open path": "with pathlib.Path('settings.json').open() as f:\n    json.load(f)\n",
    "pandas": "import pandas\npandas.read_csv('data/settings.json')\n",
    "next to the script": "HERE = os.path.dirname(os.path.abspath(__file__))\nopen(os.path.join(HERE, 'settings.json'))\n",
    "a path next to the script": "HERE = pathlib.Path(__file__).resolve().parent\n(HERE / 'conf' / 'settings.json').read_text()\n",
    "text next to the script": "open(os.path.dirname(os.path.realpath(__file__)) + '/settings.json')\n",
    "a name next to the script": "HERE = os.path.dirname(__file__)\nopen(f'{HERE}/conf/settings.json')\n",
    "a constant": "NAME = 'settings.json'\ndef read():\n    return open(os.path.join('conf', NAME))\nread()\n",
    "after the arguments": "import argparse\np = argparse.ArgumentParser()\np.parse_known_args()\nrandom.seed(1)\n"
    "log = logging.getLogger()\nlog.info('starts')\nopen('settings.json')\n",
}
OTHER_READS = {
    "of the source": "open('options.json')\n",
    "of a directory of the source": "os.listdir('more')\n",
    "next to the script": "open(os.path.join(os.path.dirname(__file__), 'options.json'))\n",
    "in a directory next to the script": "(pathlib.Path(__file__).parent / 'more' / 'a.txt').read_text()\n",
    "of the script": "open(__file__)\n",
    "above the source": "(pathlib.Path(__file__).parent.parent / 'settings.json').read_text()\n",
    "that a path next to the script writes": "P = pathlib.Path(__file__).parent / 'settings.json'\nP.write_text('{}')\nP.read_text()\n",
    "by a question": "P = pathlib.Path(__file__).with_name('settings.json')\nif P.exists():\n    P.read_text()\n",
    "by a condition": "if os.path.exists('settings.json'):\n    open('settings.json')\n",
    "that may fail": "try:\n    open('settings.json')\nexcept FileNotFoundError:\n    pass\n",
    "that writes": "open('settings.json', 'w')\n",
    "in an unknown mode": "open('settings.json', sys.argv[1])\n",
    "that another process makes": "subprocess.run(['make'])\nopen('settings.json')\n",
    "that the script has written": "with open(os.environ.get('F', 'x'), 'w') as f:\n    f.write('{}')\nopen('settings.json')\n",
    "that a path has written": "pathlib.Path('settings').with_suffix('.json').write_text('{}')\nopen('settings.json')\n",
    "that a function may make": "import prepared\nprepared.make()\nopen('settings.json')\n",
    "that a name may make": "from prepared import make\nmake()\nopen('settings.json')\n",
    "that a module names": "import writer\nopen('settings.json')\n",
    "that a module makes at its import": "import quiet\nopen('settings.json')\n",
    "in another directory": "os.chdir('/opt/ml/input')\nopen('settings.json')\n",
    "by an absolute path": "open('/etc/settings.json')\n",
    "of the directory above": "open('../settings.json')\n",
    "of an address": "import pandas\npandas.read_csv('https://example.com/settings.json')\n",
    "in a function that nothing calls": "def read():\n    open('settings.json')\n",
    "in a process": "if len(sys.argv) > 9:\n    open('settings.json')\n",
}


def in_a_directory(text, directory, **changes):
    if "import quiet" in text:
        (directory / "quiet.py").write_text("open('settings' + '.json', 'w').close()\n")
    (directory / "more").mkdir()
    (directory / "more" / "a.txt").write_text("")
    (directory / "options.json").write_text("{}")
    (directory / "prepared.py").write_text("def make():\n    pass\n")
    (directory / "writer.py").write_text("def write():\n    open('settings.json', 'w').close()\n")
    (directory / "train.py").write_text(HEAD + text)
    return [(one.code, one.message) for one in directory_findings(directory, **changes)]


@pytest.mark.parametrize("how", READS)
def test_file_that_the_source_lacks_is_reported(how, tmp_path):
    ((code, message),) = in_a_directory(READS[how].replace("settings", "setting"), tmp_path)
    assert (code, "setting.json`, but" in message) == ("SM556", True)


@pytest.mark.parametrize("what", OTHER_READS)
def test_file_that_may_exist_is_not_reported(what, tmp_path):
    assert in_a_directory(OTHER_READS[what], tmp_path) == []


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ({"base": "python:3.12"}, ["SM556"]),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.5.1-cpu-py311", ["SM556"]),
        ({"base": "python:3.12", "run": ["make"]}, []),
        ({"base": "example.com/team/base:1"}, []),
        ("111122223333.dkr.ecr.us-west-2.amazonaws.com/team:1", []),
    ],
)
def test_image_may_have_the_file(image, expected, tmp_path):
    found = in_a_directory("open('setting.json')\n", tmp_path, image=image)
    assert [code for code, _ in found] == expected
