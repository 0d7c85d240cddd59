"""Right and wrong programs of every shape of parser under `smspec check`, with the paths of a container.

A right program is accused of nothing: what depends on data, devices, or an image that this machine lacks is a note.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from smspec.proof.sandbox import Sandbox
from support.local.checked_jobs import Checked, codes

HEAD = """
import argparse, os
def directory(path):
    if not os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"no directory {path}")
    return path
def filled(path):
    if not os.listdir(path):
        raise argparse.ArgumentTypeError("is empty")
    return path
def switch(word):
    if word not in ("yes", "no"):
        raise argparse.ArgumentTypeError("Boolean value expected")
    return word == "yes"
parser = argparse.ArgumentParser()
add = parser.add_argument
"""
CHANNEL = "channels: {train: s3://bucket-one/data/}\n"
CHECKPOINTS = "checkpoints: {s3: s3://bucket-one/checkpoints/, local: /opt/ml/saved}\n"


@pytest.fixture
def checked(tmp_path):
    return Checked(tmp_path)


def proven(checked: Checked, spec: str, declared: str, *options: str, more: str = "") -> tuple[list, list[dict]]:
    checked.spec(spec, more=more)
    checked.job.write("src/train.py", f"{HEAD}{declared}\nparser.parse_args()\nraise SystemExit(7)\n")
    status, records, err = checked.check(*options)
    found = codes(records)
    assert status == int(any(severity == "error" for severity, _ in found)), err
    return found, records


def values(**words: str) -> str:
    return f"hyperparameters: {{{', '.join(f'{name}: {value}' for name, value in words.items())}}}\n"


@pytest.mark.parametrize(
    ("spec", "declared"),
    [
        (values(out="/opt/ml/model"), "add('--out', type=directory)"),
        (values(out="/opt/ml/output/data"), "add('--out', type=directory)"),
        (values(code="/opt/ml/code"), "add('--code', type=directory)"),
        (values(conf="/opt/ml/input/config/resourceconfig.json"), "add('--conf', type=argparse.FileType())"),
        (CHANNEL + values(data="/opt/ml/input/data/train"), "add('--data', type=directory)"),
        (CHECKPOINTS + values(saved="/opt/ml/saved"), "add('--saved', type=directory)"),
        ("", "add('--saved', type=directory, default='/opt/ml/checkpoints')"),
        ("", "add('--log', type=argparse.FileType('w'), default='/opt/ml/output/data/log.txt')"),
        ("", "add('--model', type=directory, default=os.environ['SM_MODEL_DIR'])"),
        (CHANNEL, "add('--train', type=directory, default=os.environ['SM_CHANNEL_TRAIN'])"),
        ("", "add('--script', type=argparse.FileType(), default='train.py')"),
        ("", "add('--script', type=argparse.FileType(), default=os.path.abspath(__file__))"),
        (values(on="yes"), "add('--on', type=switch)"),
    ],
)
def test_right_paths_of_the_container_are_accepted(checked, spec, declared):
    assert proven(checked, spec, declared, "--strict")[0] == []


@pytest.mark.parametrize(
    ("spec", "declared"),
    [
        (CHANNEL + values(data="/opt/ml/input/data/train/a.csv"), "add('--data', type=argparse.FileType())"),
        (CHANNEL + values(data="/opt/ml/input/data/train"), "add('--data', type=filled)"),
        (
            CHANNEL + values(data="/opt/ml/input/data"),
            "add('--data', type=lambda path: next(os.scandir(path + '/train/x')))",
        ),
        (CHANNEL, "add('--data', type=filled, default=os.environ['SM_CHANNEL_TRAIN'])"),
        (CHANNEL + values(name="a"), "add('--name', choices=os.listdir('/opt/ml/input/data/train'))"),
        (CHECKPOINTS + values(start="/opt/ml/saved/last.pt"), "add('--start', type=argparse.FileType('rb'))"),
        (values(log="/root/train.log"), "add('--log', type=argparse.FileType('w'))"),
        (values(log="/var/log/train.log"), "add('--log', type=argparse.FileType('w'))"),
        (values(gpu="0"), "add('--gpu', type=int, choices=range(len(os.environ.get('CUDA_VISIBLE_DEVICES', ''))))"),
        (values(tool="/usr/local/bin/no-such-tool"), "add('--tool', type=argparse.FileType())"),
    ],
)
def test_values_that_this_machine_cannot_prove_are_notes(checked, spec, declared):
    assert proven(checked, spec, declared)[0] == [("note", "SM550")]


@pytest.mark.parametrize(
    ("spec", "declared"),
    [
        (values(data="/opt/ml/input/dataset"), "add('--data', type=directory)"),
        (CHANNEL + values(data="/opt/ml/input/data/valid"), "add('--data', type=directory)"),
        (CHANNEL + values(conf="conf.yaml"), "add('--conf', type=argparse.FileType())"),
        (CHANNEL, "add('--conf', type=argparse.FileType(), default='conf.yaml')"),
        (values(data="/data/a.csv"), "add('--data', type=argparse.FileType())"),
        (CHANNEL + values(on="maybe"), "add('--on', type=switch)"),
        (CHANNEL + values(gpus="two"), "add(*['--gpus'], type=int)"),
        (CHANNEL, "add(*['--needed'], required=True)"),
    ],
)
def test_values_that_the_container_rejects_are_errors(checked, spec, declared):
    found, records = proven(checked, spec, declared)
    assert [code for severity, code in found if severity == "error"] in (["SM548"], ["SM503"], ["SM502"]), records
    assert not any(str(checked.temporary) in str(record) for record in records)


END = "parser.parse_args()\n"
CYCLE = {"a.py": "from b import y\nx = 1\n", "b.py": "from a import x\ny = 2\n"}
READS = "import json, os\nSETTINGS = json.load(open({}))\n"
MAIN = "def main():\n    {}\nif __name__ == '__main__':\n    main()\n"


THIRD = {"third/zlibx.py": "x = 1\n"}
MODE = "import os\nMODE = os.environ['MODE']\n"
REGISTERED = "from reg import SEEN\nif not SEEN:\n    raise TypeError\n"
ADDS = "import sys\nfrom pathlib import Path\nsys.path.insert(0, str(Path(__file__).parent / 'third'))\n"


@pytest.mark.parametrize(
    ("script", "files"),
    [
        (f"{ADDS}import zlibx\n", THIRD),
        ("import paths\nimport zlibx\n", {**THIRD, "paths.py": ADDS}),
        (f"{HEAD}args = {END}{ADDS}import zlibx\n", THIRD),
        (f"{HEAD}{END}os.environ['MODE'] = 'x'\nimport conf\n", {"conf.py": MODE}),
        ("from os import environ as e\ne.update(MODE='x')\nimport conf\n", {"conf.py": MODE}),
        (
            "from st import load\nload()\nimport conf\n",
            {"conf.py": MODE, "st.py": "import os\ndef load():\n    os.environ['MODE'] = 'x'\n"},
        ),
        ("import json\njson.absent = 1\nimport old\n", {"old.py": "import json\njson.absent\n"}),
        ("import json\njson.absent = 1\nfrom json import absent\n", {}),
        ("import os\nos.chdir(os.path.dirname(__file__) + '/c')\nimport rd\n", {"rd.py": "open('a')\n", "c/a": ""}),
        ("from reg import SEEN\nSEEN.append(1)\nimport use\n", {"reg.py": "SEEN = []\n", "use.py": REGISTERED}),
    ],
)
def test_imports_after_a_change_are_notes(checked, script, files):
    checked.spec()
    for name, text in {"train.py": script, **files}.items():
        checked.job.write(f"src/{name}", text)
    status, records, err = checked.check()
    assert (status, {*codes(records)}) == (0, {("note", "SM550")}), err


@pytest.mark.parametrize(
    ("script", "files", "code"),
    [
        (f"{HEAD}import a\n{END}", CYCLE, "SM544"),
        ("import a\nprint(a.x)\n", CYCLE, "SM544"),
        ("import b\nprint(b.y)\n", CYCLE, "SM544"),
        (f"{HEAD}import conf\n{END}", {"conf.py": READS.format("'settings.json'")}, "SM556"),
        ("import conf\n", {"conf.py": READS.format("os.path.dirname(__file__) + '/settings.json'")}, "SM556"),
        ("import conf\n", {"conf.py": READS.format("'/opt/ml/input/config/setting.json'")}, "SM544"),
        (f"{HEAD}C = open('names.txt').read()\n{END}", {}, "SM556"),
        (MAIN.format("from json import absent"), {}, "SM544"),
        (HEAD + MAIN.format("parser.parse_args(); from collections import absent"), {}, "SM544"),
        (MAIN.format("from os import path, absent"), {}, "SM544"),
        ("import zlibx\nimport sys\nsys.path.append('third')\n", THIRD, "SM544"),
        ("import os\nos.environ['OTHER'] = '1'\nimport conf\n", {"conf.py": MODE}, "SM544"),
        ("import json\njson.other = 1\nimport old\n", {"old.py": "import json\njson.absent\n"}, "SM544"),
        ("import conf\nimport os\nos.environ['MODE'] = '1'\n", {"conf.py": MODE}, "SM544"),
        ("from json import absent\nimport json\njson.absent = 1\n", {}, "SM544"),
    ],
)
def test_certain_deaths_are_errors(checked, script, files, code):
    checked.spec()
    for name, text in {"train.py": script, **files}.items():
        checked.job.write(f"src/{name}", text)
    status, records, err = checked.check()
    assert (status, codes(records)) == (1, [("error", code)]), err


@pytest.mark.parametrize(
    ("script", "files"),
    [
        ("import a\n", {"a.py": "x = 1\nfrom b import y\n", "b.py": "from a import x\ny = 2\n"}),
        (f"{HEAD}import a\n{END}", {"a.py": "import b\nx = 1\n", "b.py": "import a\ndef y():\n    return a.x\n"}),
        (HEAD + END + MAIN.format("import c"), {**CYCLE, "a.py": "x = 1\nimport b\n", "c.py": "import a\nimport b\n"}),
        ("import conf\n", {"conf.py": READS.format("'settings.json'"), "settings.json": "{}"}),
        ("import conf\n", {"conf.py": f"open('s.json', 'w').write('1')\n{READS.format(repr('s.json'))}"}),
        ("import conf\n", {"conf.py": "try:\n    open('s.json')\nexcept OSError:\n    pass\n"}),
        ("import conf\n", {"conf.py": READS.format("'/opt/ml/input/config/hyperparameters.json'")}),
        (MAIN.format("from xml import etree; from concurrent.futures import wait; from email.mime import text"), {}),
        ("def main():\n    try:\n        from json import absent\n    except ImportError:\n        pass\nmain()\n", {}),
        ("import sys\nif sys.version_info < (3,):\n    from json import absent\n", {}),
        (MAIN.format("from calendars import mine"), {"calendars.py": "mine = 1\n"}),
    ],
)
def test_right_sources_are_accused_of_nothing(checked, script, files):
    checked.spec()
    for name, text in {"train.py": script, **files}.items():
        checked.job.write(f"src/{name}", text)
    status, records, err = checked.check("--strict")
    assert (status, records) == (0, []), err


GETOPT = "import getopt, sys\ntry:\n    getopt.getopt(sys.argv[1:], 'e:', ['epochs='])\n"
GETOPT += "except getopt.GetoptError{}\nsys.exit(7)\n"
OPTPARSE = "import optparse\np = optparse.OptionParser()\np.add_option('--epochs', type='int')\np.parse_args()\n1 / 0\n"


@pytest.mark.parametrize(
    ("script", "words", "found"),
    [
        (GETOPT.format(" as error:\n    print(error)\n    sys.exit(2)"), {"rate": "1"}, [("error", "SM548")]),
        (GETOPT.format(":\n    pass"), {"rate": "1"}, [("note", "SM550")]),
        (GETOPT.format(":\n    sys.exit(2)"), {"epochs": "3"}, []),
        (OPTPARSE, {"rate": "1"}, [("error", "SM548")]),
        (OPTPARSE, {"epochs": "x"}, [("error", "SM548")]),
        (OPTPARSE, {"epochs": "3"}, []),
    ],
)
def test_older_parsers_are_stopped(checked, script, words, found):
    checked.spec(CHANNEL + values(**words))
    checked.job.write("src/train.py", script)
    _, records, err = checked.check()
    assert codes(records) == found, err


CLICK = "import click\n@click.group()\ndef cli(): pass\n@cli.command()\ndef fit(): raise SystemExit(7)\ncli()\n"
TYPER = (
    "import typer\ncli = typer.Typer()\n@cli.command()\ndef fit(): raise SystemExit(7)\n"
    "@cli.command()\ndef test(): ...\ncli()\n"
)
HYDRA = (
    "import hydra\n@hydra.main(version_base=None, config_path='conf', config_name='base')\n"
    "def main(c): raise SystemExit(7)\nmain()\n"
)


@pytest.mark.parametrize(
    ("library", "program", "right", "wrong", "reason"),
    [
        ("click", CLICK, "fit", "fitt", "No such command 'fitt'"),
        ("typer", TYPER, "fit", "fitt", "No such command 'fitt'"),
        ("hydra", HYDRA, "model=small", "model=huge", "Could not find 'model/huge'"),
    ],
)
def test_wrong_word_of_a_library_is_rejected(checked, library, program, right, wrong, reason):
    pytest.importorskip(library)
    spec = "image: {base: 'example.com/training:7'}\nsource: src/\nentry_point: {script: train.py, args: [%s]}\n"
    found = {}
    for word in (right, wrong):
        checked.job.spec(spec % word)
        checked.job.write("src/train.py", program)
        checked.job.write("src/conf/base.yaml", "defaults: [{model: small}]\n")
        checked.job.write("src/conf/model/small.yaml", "width: 3\n")
        _, records, _ = checked.check("--python", sys.executable)
        found[word] = [record for record in records if record["severity"] == "error"]
    assert found[right] == []
    assert [record["code"] for record in found[wrong]] == ["SM548"]
    assert reason in found[wrong][0]["note"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has mounts")
@pytest.mark.parametrize("is_link", [False, True])
def test_host_is_shown_unless_it_leads_out_of_the_sandbox(tmp_path, is_link):
    outside, box = tmp_path / "outside", Path(os.path.realpath(tmp_path)) / "box"
    outside.mkdir()
    host = box / "host"
    box.mkdir()
    host.symlink_to(outside) if is_link else host.mkdir()
    sandbox = Sandbox(directory=str(box), seconds=60, host=str(host), places=(sys.prefix, sys.base_prefix))
    program = "import os; open('/opt/ml/written', 'w').close(); print(sorted(os.listdir('/opt/ml')))"
    ended = sandbox.run([sys.executable, "-I", "-c", program], {}, str(box), recorded=True)
    if not sandbox.enforced().get("tree"):
        pytest.skip("this system allows no mounts")
    assert not list(outside.iterdir())
    assert (ended.status == 0) is not is_link, ended.output
    assert is_link or ended.last_line == "['written']"
