"""`smspec check` with real interpreters, packages, and processes."""

from __future__ import annotations

import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from support.local.local_jobs import DEADLINE, LocalJob
from support.wording import faults

HOST = f"{sys.version_info[0]}.{sys.version_info[1]}"
SPEC = """
image: {{base: "python:{version}-slim-bookworm"{more}}}
source: src/
entry_point: train.py
"""
PARSER = """
import argparse, os
parser = argparse.ArgumentParser()
for name, kind in {"lr": float, "epochs": int}.items():
    parser.add_argument(f"--{name}", type=kind)
"""
MARK = "open(os.environ['MARK'], 'w').close()"


class Checked:
    """A job that is checked; packages come from a directory."""

    def __init__(self, tmp_path: Path) -> None:
        self.job = LocalJob(tmp_path / "job")
        self.outside = tmp_path / "outside"
        self.outside.mkdir()
        self.wheels = tmp_path / "wheels"
        self.wheels.mkdir()
        self.temporary = tmp_path / "tmp"
        self.temporary.mkdir()
        self.environment = {
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "SMSPEC_CACHE_DIR": str(tmp_path / "cache"),
            "UV_CACHE_DIR": str(tmp_path / "uv"),
            "TMPDIR": str(self.temporary),
            "HOME": str(self.outside),
            "PYENV_ROOT": os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv"),
            "AWS_SECRET_ACCESS_KEY": "of-the-author",
        }

    def spec(self, rest: str = "", version: str = HOST, more: str = "") -> None:
        self.job.spec(SPEC.format(version=version, more=more) + rest)

    def start(self, *options: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", "smspec", "check", "--format", "json", *options],
            cwd=self.job.directory,
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def check(self, *options: str) -> tuple[int, list[dict], str]:
        """Return the exit status, the findings, and standard error; nothing may be left."""
        process = self.start(*options)
        out, err = process.communicate(timeout=DEADLINE)
        assert "Traceback" not in err, err
        self.assert_nothing_left()
        records = json.loads(out) if out else []
        assert [(record["message"], wrong) for record in records if (wrong := faults(record))] == []
        return process.returncode, records, err

    def assert_nothing_left(self) -> None:
        """Neither a process nor a file is left, and the author's directories are unchanged."""
        end = time.monotonic() + 10
        while self.processes() and time.monotonic() < end:
            time.sleep(0.05)
        assert self.processes() == []
        assert list(self.temporary.iterdir()) == []
        assert [path for path in self.outside.rglob("*") if path.is_file() and "uv" not in path.parts] == []
        assert {path.name for path in self.job.directory.iterdir()} == {"job.yaml", "src"}
        assert not list(self.job.directory.rglob("__pycache__"))

    def processes(self) -> list[str]:
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                variables = Path("/proc", name, "environ").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if str(self.temporary) in variables:
                found.append(name)
        return found


@pytest.fixture
def checked(tmp_path):
    return Checked(tmp_path)


def codes(records):
    return [(record["severity"], record["code"]) for record in records]


def wheel(directory: Path, name: str, text: str, requires: str = "") -> None:
    """Write a wheel by hand."""
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": text,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(directory / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for file, content in files.items():
            archive.writestr(file, content)


def other_python() -> str:
    """Return the oldest version below ~/.pyenv that the runtime supports and that is not this one."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = sorted(
        tuple(map(int, os.path.basename(path).split(".")[:2]))
        for path in glob.glob(os.path.join(root, "versions", "3.*"))
    )
    usable = [version for version in found if version >= (3, 8) and version < sys.version_info[:2]]
    if not usable:
        pytest.skip("there is no older Python below ~/.pyenv")
    return f"{usable[0][0]}.{usable[0][1]}"


def test_right_job_is_proven_without_running_it(checked):
    """The packages of the image, the arguments of the job, and nothing after the parser."""
    wheel(checked.wheels, "greeting", "import os\nassert 'AWS_SECRET_ACCESS_KEY' not in os.environ\n")
    checked.spec("hyperparameters: {lr: 1e-3, epochs: 5}", more=", python_packages: [greeting==1.0]")
    checked.job.write("src/train.py", f"import greeting\n{PARSER}\nargs = parser.parse_args()\nraise SystemExit(7)\n")
    status, records, err = checked.check("--strict")
    assert (status, records) == (0, []), err
    assert f"proven: Python {sys.version.split()[0]}, 1 package, 1 module compiled, 1 imported" in err
    assert "arguments parsed by train.py" in err


def test_script_changes_nothing_outside(checked):
    """What it writes before its parser stays in its copy; everything else is refused and left as it was."""
    checked.spec()
    checked.job.write(
        "src/train.py",
        f"""
        import multiprocessing, os, socket, subprocess, sys
        open("in-the-copy", "w").close()
        open("/dev/null", "w").write("nothing")
        try:
            open("/dev/shm/of-smspec-check", "w").close()
            multiprocessing.Lock()
        except OSError:
            pass  # this system has no mounts of its own
        open(os.path.expanduser("~/in-its-home"), "w").close()
        for path in {[str(checked.outside / "file"), str(checked.job.directory / "src" / "file")]!r}:
            try:
                open(path, "w").close()
            except OSError:
                continue
            print("wrote", path)
        try:
            socket.create_connection(("192.0.2.1", 80), 5)
        except OSError:
            pass
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        {PARSER.replace(chr(10), chr(10) + " " * 8)}
        parser.parse_args()
        """,
    )
    status, records, err = checked.check()
    assert (status, records) == (0, []), err
    assert sorted(path.name for path in (checked.job.directory / "src").iterdir()) == ["train.py"]
    assert not os.path.exists("/dev/shm/of-smspec-check")


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


def test_each_failing_import_is_reported_once(checked):
    """A package without one that it needs, a script that hangs, and one that forks and crashes."""
    wheel(checked.wheels, "needy", "import absent_package\n")
    checked.spec(more=", python_packages: [needy==1.0]")
    checked.job.write("src/train.py", "import user\nimport needy\nimport hanging\nimport forking\n")
    checked.job.write("src/user.py", "import needy\n")
    checked.job.write("src/hanging.py", "import time\ntime.sleep(600)\n")
    checked.job.write(
        "src/forking.py",
        "import os, signal, time\n"
        "if os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n"
        "os.kill(os.getpid(), signal.SIGABRT)\n",
    )
    status, records, _ = checked.check("--timeout", "4")
    assert status == 1
    assert codes(records) == [("error", "SM544"), ("error", "SM546"), ("warning", "SM547")]
    assert "No module named 'absent_package'" in records[0]["note"]
    assert records[0]["help"] == "add `absent_package` to `image.python_packages`"
    assert "SIGABRT" in records[1]["message"]


def test_missing_data_and_drivers_are_notes(checked):
    """Data, devices, and drivers of the job are not on this machine."""
    checked.spec()
    checked.job.write(
        "src/train.py",
        """
        import argparse, os
        import data
        parser = argparse.ArgumentParser()
        parser.add_argument("--classes", default=data.classes())
        parser.parse_args()
        """,
    )
    checked.job.write("src/data.py", "def classes():\n    return open('/opt/ml/input/data/train/classes.txt').read()\n")
    status, records, _ = checked.check("--strict")
    assert (status, codes(records)) == (0, [("note", "SM550")])
    checked.job.write(
        "src/data.py", "raise ImportError('libcuda.so.1: cannot open shared object file: No such file')\n"
    )
    status, records, _ = checked.check("--strict")
    assert (status, codes(records)) == (0, [("note", "SM550")])


def test_slow_script_ends_at_the_time_limit(checked):
    checked.spec()
    checked.job.write(
        "src/train.py", "import time\ntime.sleep(600)\nimport argparse\nargparse.ArgumentParser().parse_args()\n"
    )
    started = time.monotonic()
    status, records, _ = checked.check("--timeout", "2")
    assert (status, codes(records)) == (0, [("note", "SM550")])
    assert "did not reach its parser in 2 s" in records[0]["message"]
    assert time.monotonic() - started < 30


def test_launcher_and_overlays_are_proven_once_each(checked):
    checked.spec(
        "distribution: torchrun\nhosts: {instance_type: ml.m5.large, count: 3, volume: 1GB}\nhyperparameters: {lr: 1}\n"
        "overlays: {same: {retries: 2}, other: {hyperparameters: {lr: 2, epochs: x}}}\n"
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


def test_missing_python_exits_3(checked):
    checked.spec(version="3.99")
    checked.job.write("src/train.py", "print(1)\n")
    status, records, err = checked.check()
    assert (status, records) == (3, [])
    assert "cannot find Python 3.99 of the image" in err
    assert "uv python install 3.99" in err


def test_no_install_exits_3_without_the_packages(checked):
    wheel(checked.wheels, "greeting", "")
    checked.spec(more=", python_packages: [greeting==1.0]")
    checked.job.write("src/train.py", "import greeting\n")
    status, _, err = checked.check("--no-install")
    assert status == 3
    assert "run `smspec check` once without --no-install" in err
    assert checked.check()[0] == 0
    assert checked.check("--no-install")[0] == 0


def test_packages_that_cannot_be_installed_exit_3(checked):
    checked.spec(more=", python_packages: [greeting==99.1]")
    checked.job.write("src/train.py", "import greeting\n")
    status, records, err = checked.check()
    assert (status, records) == (3, [])
    last = err.splitlines()[-1]
    assert last.startswith("smspec: cannot install the job's Python packages (exit status 1); pass `--python EXE`")
    assert last.endswith("to use a Python that has them")


def test_variables_of_the_author_prove_nothing(checked):
    """The container has none of them; those of the image, the launcher, and AWS are unknown."""
    checked.environment |= {"TRACKING_USER": "of-the-author", "GPG_KEY": "of-the-author"}
    checked.spec()
    for name, found in {"GPG_KEY": ("note", "SM550"), "TRACKING_USER": ("error", "SM549")}.items():
        read = f"import os\nfor name in ['{name}']:\n    os.environ[name]\n"
        checked.job.write("src/train.py", f"{read}{PARSER}parser.parse_args()\n")
        records = checked.check()[1]
        assert codes(records) == [found]
        assert f"KeyError: '{name}'" in records[0]["note"]


def test_interrupt_leaves_nothing(checked):
    checked.spec()
    checked.job.write(
        "src/train.py",
        "import signal, time, subprocess, sys\n"
        "for number in (signal.SIGTERM, signal.SIGINT): signal.signal(number, signal.SIG_IGN)\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "print('waiting', flush=True)\ntime.sleep(600)\nimport argparse\nargparse.ArgumentParser().parse_args()\n",
    )
    process = checked.start()
    end = time.monotonic() + DEADLINE
    while len(checked.processes()) < 4 and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    checked.assert_nothing_left()


def test_two_checks_at_once_share_one_installation(checked):
    wheel(checked.wheels, "greeting", "")
    checked.spec("hyperparameters: {lr: 1}", more=", python_packages: [greeting==1.0]")
    checked.job.write("src/train.py", f"import greeting\n{PARSER}parser.parse_args()\n")
    both = [checked.start(), checked.start()]
    ended = [process.communicate(timeout=DEADLINE) for process in both]
    assert [process.returncode for process in both] == [0, 0], ended
    assert sum("installing `greeting" in err for _, err in ended) == 1
    checked.assert_nothing_left()


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


def test_secrets_have_other_values(checked):
    """Neither the author's variable nor AWS is needed, and the script does not get what the author has."""
    checked.environment["WANDB_API_KEY"] = "of-the-author"
    secrets = "arn:aws:secretsmanager:us-west-2:111122223333:secret"
    checked.spec(f"secrets: {{WANDB_API_KEY: '{secrets}:wandb-AbCdEf', OTHER: '{secrets}:other-AbCdEf'}}\n")
    checked.job.write(
        "src/train.py",
        "import os\nassert os.environ['WANDB_API_KEY'] == os.environ['OTHER'] != 'of-the-author'\n"
        + PARSER
        + "parser.parse_args()\n",
    )
    status, records, err = checked.check()
    assert (status, records) == (0, []), err
    assert "arguments parsed by train.py" in err


def test_unreachable_module_is_not_compiled(checked):
    checked.spec()
    checked.job.write("src/train.py", "print(1)\n")
    checked.job.write("src/tests/python2.py", "print 'old'\n")
    assert checked.check("--strict")[:2] == (0, [])


@pytest.mark.skipif(shutil.which("uv") is None, reason="there is no uv")
def test_unknown_image_is_a_note(checked):
    checked.job.spec("image: {base: 'example.com/training:7'}\nsource: src/\nentry_point: train.py\n")
    checked.job.write("src/train.py", "import numpy\n")
    status, records, _ = checked.check("--strict")
    assert (status, codes(records)) == (0, [("note", "SM550")])
    assert "the Python of the image is unknown" in records[0]["message"]
